"""The correlation step of PCFI: what the other columns of its row add to a cell."""

from __future__ import annotations

import numpy as np

from ..errors import InputError, parameter
from ._memory import readable

Array = np.ndarray

ROWS = 512  # multiplied at once, so that the sums do not depend on the threads
ROOMY_COLUMNS = 4096  # correlations with so many columns are held at once whatever the rows


def column_moments(X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column of a table without gaps, in float64.

    A column that varies by less than rounding may have made of a constant (the root of the
    smallest step of its type, relative to its size) has the deviation 0.

    Examples
    --------
    >>> column_moments(np.array([[1.0, 5.0], [3.0, 5.0 + 1e-12]]))
    (array([2., 5.]), array([1., 0.]))
    """
    n, total = len(X), np.zeros(X.shape[1])
    for lo in range(0, n, ROWS):
        total += X[lo : lo + ROWS].sum(axis=0, dtype=np.float64)
    mean, squares = total / n, np.zeros(X.shape[1])
    for lo in range(0, n, ROWS):
        squares += np.square(X[lo : lo + ROWS] - mean).sum(axis=0)
    deviation = np.sqrt(squares / n)
    size = np.sqrt(mean**2 + deviation**2)
    return mean, np.where(deviation > np.sqrt(np.finfo(X.dtype).eps) * size, deviation, 0.0)


def block_columns(X: Array, limit: int | None, besides: int) -> int:
    """Columns whose correlations with all others are held at once, within the limit."""
    n: int = len(X)
    n_columns: int = X.shape[1]
    # A block's matrix is then no larger than the table, whatever its shape.
    width = min(n_columns, max(n, ROOMY_COLUMNS))
    while limit is not None and bytes_needed(X, width) + besides > limit:
        if width == 1:
            raise InputError(
                f"{parameter('memory_limit')} is {readable(limit)} but correlating the columns of "
                f"{n} x {n_columns} cells takes at least {readable(bytes_needed(X, 1) + besides)}: "
                "raise the limit, pass beta=0, or fill fewer columns at a time."
            )
        width = -(-width // 2)
    return width


def bytes_needed(X: Array, width: int) -> int:
    """What the step allocates for blocks of so many columns."""
    n_columns: int = X.shape[1]
    size: int = X.dtype.itemsize
    rows = min(len(X), ROWS) * n_columns * (4 * size + 8)
    copy = X.size * size if width < n_columns else 0
    return rows + copy + 2 * n_columns * width * size


def add_correlated(X: Array, hops: Array, confidence: Array, beta: float, width: int) -> None:
    r"""Add to the missing cells of X, in place, what their rows' other columns say.

    .. math:: X_{ic} \leftarrow X_{ic} + \beta (1 - \xi_{ic})
              \sum_k \xi_{ik} R_{kc} (X_{ik} - \mu_k)

    with R the correlations of the columns (zero diagonal; 0 for columns that do not vary), mu
    their means and xi the confidence by number of hops, 0 of which are those of known cells.
    """
    mean, deviation = column_moments(X)
    varying = np.flatnonzero(deviation)
    n, n_varying = len(X), len(varying)
    mean = mean[varying].astype(X.dtype)
    inverse = (1.0 / (deviation[varying] * np.sqrt(n))).astype(X.dtype)
    # Unless all fit into one block, rows are written before they were read for the last time.
    given = X if width >= n_varying else X.copy()
    for first in range(0, n_varying, width):
        block = slice(first, min(first + width, n_varying))
        R = np.zeros((n_varying, block.stop - first), dtype=X.dtype)
        for lo in range(0, n, ROWS):
            standard = (_columns(given[lo : lo + ROWS], varying) - mean) * inverse
            R += standard.T @ standard[:, block]
        R[np.arange(first, block.stop), np.arange(block.stop - first)] = 0
        for lo in range(0, n, ROWS):
            rows = slice(lo, lo + ROWS)
            near = _columns(hops[rows], varying)
            xi = confidence[near]
            added = (xi * (_columns(given[rows], varying) - mean)) @ R
            added *= beta * (1 - xi[:, block])  # 0 at known cells, which may hold -0.0
            part = _columns(X[rows], varying[block])
            np.add(part, added, out=part, where=near[:, block] > 0)
            X[rows, varying[block]] = part


def _columns(rows: Array, which: Array) -> Array:
    """Some columns, copied only where they are not all."""
    return rows if len(which) == rows.shape[1] else rows[:, which]
