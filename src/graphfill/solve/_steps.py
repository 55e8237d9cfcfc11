"""The paper's steps, a series that replaces them, and elimination for tiny graphs."""

from __future__ import annotations

import numpy as np

from ..kernels import known_cells
from ._solvers import Progress, Solution, System, relative

SERIES_TOLERANCE = 4e-6
WIDE = 1e4  # largest by smallest weight, from which differences of weights lose digits


def is_measured(step: int, n_iter: int, reference: np.ndarray | None) -> bool:
    """Whether step 1, 2, ... measures the residual: the last does, for the answer, and the first
    where there is no ``reference`` yet, for what residuals are relative to."""
    return step == n_iter or (step == 1 and reference is None)


def diffusion(system: System, n_iter: int, tick: Progress) -> Solution:
    """Run z_u <- D_uu^-1 (A_uu z_u + A_uk z_k), known cells held fixed, ``n_iter`` times.

    The residual comes free with the last step: D (z_k+1 - z_k) is the residual of z_k. It
    only shrinks from step to step, so what is reported bounds that of the result.

    References
    ----------
    Rossi et al., On the Unreasonable Effectiveness of Feature Propagation in Learning on
    Graphs with Missing Node Features, 2022, Algorithm 1.
    """
    passes, scale, known = system.passes, system.scale, system.known
    z, spare = system.z, system.copy()
    width = z.shape[1]
    reference, squared = system.reference, np.zeros(width)
    for step in range(1, n_iter + 1):
        if is_measured(step, n_iter, reference):
            squared = passes.diffuse_measured(scale, known, z, spare, system.source)
            reference = squared if reference is None else reference
        else:
            passes.diffuse(scale, known, z, spare, system.source)
        z, spare = spare, z
        tick(1.0 / n_iter)
    if not n_iter:
        squared = passes.residual(system.diagonal, known, z, spare, system.source)
        reference = system.reference_or(squared)
    assert reference is not None
    return Solution(z, np.full(width, n_iter), relative(squared, reference))


def series(n_iter: int, tolerance: float) -> np.ndarray:
    """Chebyshev coefficients of 1 + t + ... + t^(n-1) on [-1, 1], cut at ``tolerance``.

    The coefficients are positive; those left out add up to at most ``tolerance``, which
    bounds the error of the series everywhere.

    Examples
    --------
    >>> series(3, 0.0)  # 1 + t + t^2 = 3/2 T_0 + T_1 + 1/2 T_2
    array([1.5, 1. , 0.5])
    >>> len(series(40, 4e-6))
    30
    """
    from scipy.fft import dct

    angle = np.pi * (np.arange(n_iter) + 0.5) / n_iter
    t, rest = np.cos(angle), 2.0 * np.sin(angle / 2.0) ** 2  # rest = 1 - t
    values = (1.0 - t**n_iter) / rest
    near = t > 0.5  # where the differences would lose digits
    values[near] = -np.expm1(n_iter * np.log1p(-rest[near])) / rest[near]
    coefficients = dct(values) / n_iter
    coefficients[0] /= 2.0
    left_out = np.cumsum(np.abs(coefficients[::-1]))[::-1]
    kept = max(1, int(np.sum(left_out > tolerance)))
    return np.asarray(coefficients[:kept].round(15))


def chebyshev(system: System, n_iter: int, tick: Progress) -> Solution:
    """What ``n_iter`` steps of diffusion give, as a short series.

    With T = D_uu^-1 A_uu and e = z_1 - z_0 the first step's change,

        z_n = z_0 + (1 + T + ... + T^(n-1)) e = z_0 + sum_k c_k T_k(T) e,

    since the spectrum of T lies in [-1, 1]; T_k are the Chebyshev polynomials, from the
    recurrence T_k+1 = 2 t T_k - T_k-1. For n = 40, 30 products replace the 40, and the
    answer is within 1e-6 of theirs.
    """
    passes, scale, known = system.passes, system.scale, system.known
    width = system.z.shape[1]
    if n_iter == 0:
        return diffusion(system, 0, tick)
    c = series(n_iter, SERIES_TOLERANCE)

    e = system.copy()
    squared = passes.diffuse_measured(scale, known, system.z, e, system.source)
    tick(1.0 / len(c))
    reference = system.reference_or(squared)
    e -= system.z  # zero at known cells
    x, now = system.z, e
    x += x.dtype.type(c[0]) * now
    before = system.tile(zero=True)
    for k in range(1, len(c)):
        # The first term is T_1 = t T_0; the recurrence starts from zeros with factor one.
        passes.chebyshev(scale, known, now, before, x, 1.0 if k == 1 else 2.0, float(c[k]))
        now, before = before, now
        tick(1.0 / len(c))
    squared = passes.residual(system.diagonal, known, x, before, system.source)
    return Solution(x, np.full(width, n_iter), relative(squared, reference))


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
