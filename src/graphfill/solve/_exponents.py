"""Powers of two that bring numbers to a size which can be added up, or squared.

Multiplying by a power of two is exact, so what is computed on another scale and brought back has
the bits it would have had.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def exponents(X: NDArray[np.floating], bits: int) -> NDArray[np.intc]:
    """What brings the largest known number of each column near one.

    0 where it lies between 2^-bits and 2^bits, so that ordinary columns stay as they are.

    Examples
    --------
    >>> exponents(np.array([[1.5, 2.0**600], [np.nan, -(2.0**700)]]), 500)
    array([   0, -701], dtype=int32)
    """
    high, low = (end.reduce(X, axis=0, initial=np.nan) for end in (np.fmax, np.fmin))
    largest = np.fmax(high, -low)
    exponent = np.frexp(np.nan_to_num(largest))[1]
    return np.where(np.abs(exponent) > bits, -exponent, 0).astype(np.intc)
