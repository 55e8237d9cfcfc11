"""Inverses of the blocks by which the rows of a field are preconditioned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._loops import loops
from ._threads import cut, share

Array = np.ndarray

PIECES = 8  # for each thread


def invert_blocks(
    cells: Array, degree: Array, omega: Array, theta: Array, dtype: Any, threads: int = 1
) -> Array:
    """For each row the inverse of Omega + d Theta on its cells, [rows, cells, cells].

    Parameters
    ----------
    cells : [rows, cells]
        Rows of Omega and Theta; a number beyond the last is a cell of the identity.
    degree : [rows]
    omega, theta : [p, p]
        Positive definite for every d.

    Examples
    --------
    >>> invert_blocks(np.array([[0, 1]]), np.array([3.0]), np.eye(2), np.eye(2), np.float64)
    array([[[ 0.25, -0.  ],
            [-0.  ,  0.25]]])
    """
    p, (n, m) = len(omega), cells.shape
    out = np.empty((n, m, m), dtype=dtype)
    matrices = [np.ascontiguousarray(one, dtype=np.float64) for one in (degree, omega, theta)]
    narrow = np.minimum(cells, p).astype(np.int32)

    def rows(lo: int, hi: int) -> None:
        loops.invert_blocks(narrow, *matrices, out, m, p, lo, hi)

    share(rows, cut(n, PIECES * threads if threads > 1 else 1), threads)
    return out
