"""The exact solution of a tiny system, by elimination."""

from __future__ import annotations

import numpy as np

from ...kernels import known_cells
from .system import Progress, Solution, System, relative

WIDE = 1e4  # largest by smallest weight, from which differences of weights lose digits


def direct(system: System, shrinkage: float, tick: Progress) -> Solution:
    """Solve (L + shrinkage D)_uu z_u = A_uk z_k by dense elimination, columns alike at once.

    Meant for some dozens of nodes, where it is faster than any iteration and as exact as
    float64 allows, however far apart the weights are.
    """
    n, width = system.z.shape
    A = _dense(system)
    # Summed from the very weights in use: a degree rounded apart from them is a leak.
    degree = A.sum(axis=1)
    L = np.diag((1.0 + shrinkage) * degree) - A
    weights = A[A > 0]
    wide = weights.size > 0 and weights.max() > WIDE * weights.min()
    linked = (A > 0) | np.eye(n, dtype=bool)
    for _ in range(int(np.ceil(np.log2(max(n, 2))))):
        linked = linked.astype(float) @ linked > 0  # paths of twice the length

    known = known_cells(system.known, width)
    z = system.z.astype(np.float64)
    groups: dict[bytes, list[int]] = {}
    for column in range(width):
        groups.setdefault(known[:, column].tobytes(), []).append(column)
    for alike in groups.values():
        columns = np.array(alike)
        k = known[:, columns[0]]
        u = ~k & (linked[:, k].any(axis=1))
        b = A[np.ix_(u, k)] @ z[np.ix_(k, columns)]
        inner = np.ix_(u, u)
        if wide:
            outside = A[np.ix_(u, k)].sum(axis=1) + shrinkage * degree[u]
            z[np.ix_(u, columns)] = _eliminate(A[inner], outside, b)
        else:
            z[np.ix_(u, columns)] = np.linalg.solve(L[inner], b)
        z[np.ix_(~k & ~u, columns)] = 0.0
    tick(1.0)

    spare = system.tile()
    zero = system.z * known
    at_start = system.passes.residual(system.diagonal, system.known, zero, spare, system.source)
    system.z[...] = z
    squared = system.passes.residual(system.diagonal, system.known, system.z, spare, system.source)
    # Rounding the right answer to the tile's type leaves this much, which is no error of it.
    least = system.resolution**2 * system.passes.squares(system.diagonal, system.known, system.z)
    residual = relative(squared, np.maximum(system.reference_or(at_start), least))
    return Solution(system.z, np.ones(width, dtype=int), residual)


def _eliminate(A: np.ndarray, outside: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve (diag(A 1 + outside) - A) z = b, A and outside being non-negative.

    Subtracts nothing: a node taken out hands its weights on to its neighbours in proportion,
    so that every pivot is a sum of weights and none of their digits is lost (Grassmann, Taksar
    and Heyman, 1985).

    Examples
    --------
    >>> A = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> _eliminate(A, np.array([1e-20, 3e-20]), np.array([[0.0], [3e-20]])).round(6)
    array([[0.75],
           [0.75]])
    """
    A, outside, b = A.copy(), outside.copy(), b.copy()
    n = len(A)
    pivots = np.empty(n)
    for j in range(n - 1, -1, -1):
        pivots[j] = A[j, :j].sum() + outside[j]
        share = A[:j, j] / pivots[j]
        A[:j, :j] += np.outer(share, A[j, :j])
        outside[:j] += share * outside[j]
        b[:j] += np.outer(share, b[j])
    for j in range(n):
        b[j] = (b[j] + A[j, :j] @ b[:j]) / pivots[j]
    return b


def _dense(system: System) -> np.ndarray:
    passes, n = system.passes, len(system.z)
    A = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(passes.indptr))
    A[rows, passes.indices] = 1.0 if passes.weights is None else passes.weights
    return A
