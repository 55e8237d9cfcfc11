r"""How the channels of a field inform each other: two p x p matrices with common modes.

Omega couples the channels of a row, Theta those of neighbours. With W the modes,

.. math:: \Omega = W \operatorname{diag}(w) W^T, \qquad \Theta = W \operatorname{diag}(t) W^T .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Array = NDArray[Any]

GEMM_ROWS = 2048  # rows multiplied at once, so that the sums do not depend on the threads


@dataclass(frozen=True)
class Coupling:
    """Omega and Theta.

    Examples
    --------
    >>> Coupling(np.eye(2), rows=np.array([1.0, 2.0]), links=np.zeros(2)).omega
    array([[1., 0.],
           [0., 2.]])
    """

    modes: Floats  # W, [p, p]
    rows: Floats  # w, [p]
    links: Floats  # t, [p]

    @cached_property
    def omega(self) -> Floats:
        return np.asarray((self.modes * self.rows) @ self.modes.T)

    @cached_property
    def theta(self) -> Floats:
        return np.asarray((self.modes * self.links) @ self.modes.T)


def times(Z: Array, small: Array) -> Array:
    """Z times a p x p matrix, some rows at a time."""
    out = np.empty((len(Z), small.shape[1]), dtype=np.result_type(Z, small))
    for start in range(0, len(Z), GEMM_ROWS):
        np.matmul(Z[start : start + GEMM_ROWS], small, out=out[start : start + GEMM_ROWS])
    return out
