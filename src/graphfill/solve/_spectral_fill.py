"""The spectral fill as a plain function: a matrix and a graph in, a Result out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import (
    ConvergenceWarning,
    InputError,
    check_flag,
    check_number,
    parameter,
    warn_caller,
)
from ..graph import Graph
from ..kernels import default_threads
from ._field_fill import FieldModel, scaled
from ._field_graph import FieldGraph
from ._matrix import graph_of_rows, open_matrix
from ._memory import parse_bytes, readable
from ._problem import PropagationOptions, Result, warn_of
from ._propagate import progress_bar
from ._spectral import (
    N_VECTORS,
    Array,
    Floats,
    Mask,
    SpectralModel,
    fit_spectral,
    leading_eigenvectors,
)
from ._spectral_choice import HeldOut, hold_out, propagated

SEARCH = 0.5  # of the progress
ROOM = 6  # tables of float64 that exist at once


@dataclass(frozen=True, kw_only=True)
class SpectralOptions:
    """The options of :func:`graphfill.fill_spectral`, where each is described."""

    fallback: bool = True
    seed: int = 0
    memory_limit: Any = None  # as given: 4e9 or "4GB"; in bytes once checked
    threads: int | None = None

    def __post_init__(self) -> None:
        check_flag("fallback", self.fallback)
        check_number("seed", self.seed, low=0, integer=True)
        if self.threads is not None:
            check_number("threads", self.threads, low=1, integer=True)
        object.__setattr__(self, "memory_limit", parse_bytes(self.memory_limit))

    @property
    def propagation(self) -> PropagationOptions:
        """Of the columns that are left to Feature Propagation: the paper's 40 steps."""
        return PropagationOptions(unreached="mean", threads=self.threads)


@dataclass
class SpectralResult(Result):
    """What :func:`fill_spectral` returns, besides what every :class:`Result` has.

    Attributes
    ----------
    n_vectors : int
        Eigenvectors that columns are made of.
    side : {"either", "agree", "oppose"}
        Whether these are the leading ones of either sign, what neighbours share, or what they
        oppose each other in.
    spectral : ndarray of bool [columns]
        Which columns were filled by them; the others by Feature Propagation.
    errors : ndarray [columns, 3]
        Mean squared errors on cells held out, in variances of the column: by eigenvectors, by
        Feature Propagation, by the mean. NaN where nothing was held out.
    """

    __module__ = "graphfill"

    n_vectors: int
    side: str
    spectral: Mask
    errors: Floats


@dataclass(frozen=True)
class LearntSpectral:
    """What a later fill of the same nodes needs: scales, eigenvectors, the choice of columns."""

    scale: FieldModel
    model: SpectralModel
    held_out: HeldOut
    n_products: int
    residual: float
    converged: bool

    @property
    def centre(self) -> Floats:
        """The mean of each column."""
        return np.ldexp(self.scale.centre, -self.scale.exponent)


def fill_spectral(
    X: Any,
    graph: Any,
    *,
    missing_mask: Any = None,
    fallback: bool = True,
    seed: int = 0,
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> SpectralResult:
    r"""Fill the missing cells of a matrix from a few eigenvectors of the graph.

    With F the leading eigenvectors of the normalised adjacency, rows of length 1, a standardised
    column is

    .. math:: z = F b + e, \quad b \sim N(0, s I), \quad e \sim N(0, (1 - s) I)

    and a missing cell its mean given the known ones. How many eigenvectors, whether neighbours
    agree (eigenvalues above 0) or oppose each other (below), and the share s of each column are
    those that make the known cells most likely. Known cells may be noisy, so that few of them and
    neighbours of which many differ still say where a node belongs.

    Parameters
    ----------
    X : array, torch tensor or data frame of shape (nodes, columns) or (nodes,)
        NaN, None or null is missing. Never changed.
    graph : Graph, or anything ``Graph.of`` recognises
        Row i of X belongs to node i.
    missing_mask : array of bool like X, optional
        True where a cell is missing; must cover every NaN.
    fallback : bool
        Fill a column by :func:`propagate` (its defaults) unless eigenvectors are better on known
        cells held out: than it and than the column's mean, each by more than a standard error,
        and explain a tenth of the variance. Columns with fewer than 100 known cells decide
        together.
    seed : int
        Of the held-out cells, and of where the search for eigenvectors starts.
    memory_limit : int or str, optional
        Bytes (or "4GB"). A matrix that would take more, by an estimate, is refused.
    threads : int, optional
        By default as in :func:`graphfill.propagate`; the result has the same bits for any number.
    progress : bool or callable
        Show a progress bar, or call this with each further share of the work that is done.

    Returns
    -------
    SpectralResult
        ``n_iter`` are products with the graph, ``residual`` is that of the eigenvectors.
        ``unreached`` are the cells to which no known cell of their column is connected. They get
        the column's mean, 0 where nothing is known of it.

    See Also
    --------
    fill_field : Columns inform each other, neighbours agree.
    SpectralImputer : The same as an estimator.

    Examples
    --------
    Links go between two sides only, and of every ten members one tells its side.

    >>> import numpy as np
    >>> import graphfill as gf
    >>> rng = np.random.default_rng(0)
    >>> graph = gf.Graph.from_edges(rng.integers(0, 200, 2000), rng.integers(200, 400, 2000))
    >>> x = np.repeat([1.0, -1.0], 200)
    >>> X = np.where(np.arange(400) % 10 == 0, x, np.nan)
    >>> bool((np.sign(gf.fill_spectral(X, graph).X) == x).all())
    True
    >>> bool((np.sign(gf.propagate(X, graph).X) == x).mean() < 0.6)
    True
    """
    options = SpectralOptions(
        fallback=fallback, seed=seed, memory_limit=memory_limit, threads=threads
    )
    result, _ = fill_spectral_with(X, graph, options, missing_mask=missing_mask, progress=progress)
    return result


fill_spectral.__module__ = "graphfill"  # as users import it


def fill_spectral_with(
    X: Any,
    graph: Any,
    options: SpectralOptions,
    *,
    missing_mask: Any = None,
    learnt: LearntSpectral | None = None,
    progress: bool | Callable[[float], None] = False,
) -> tuple[SpectralResult, LearntSpectral]:
    """:func:`fill_spectral` with its options as one object, as learnt before or now."""
    opened = open_matrix(X, missing_mask=missing_mask)
    graph = graph_of_rows(graph, len(opened.values))
    _check_memory(opened.values.shape, len(graph.indices), options)
    values = np.asarray(opened.values, np.float64)
    field = FieldGraph(graph, options.threads or default_threads())
    with progress_bar(progress) as tick, _one_thread():
        if learnt is None:
            learnt = _learn(values, field, options, tick)
        else:
            tick(1.0)
        reached = _reached(values, field)
        filled = _fill(opened.values, graph, learnt, options)
        # What eigenvectors say where nothing of the column is known is rounding.
        np.copyto(
            filled,
            learnt.centre.astype(filled.dtype),
            where=np.isnan(values) & ~reached[field.label],
        )
    sizes = np.bincount(field.label, minlength=len(reached))
    result = SpectralResult(
        opened.rebuild(filled),
        n_iter=learnt.n_products,
        residual=learnt.residual,
        residuals=np.full(values.shape[1], learnt.residual),
        converged=learnt.converged,
        n_unreached=int(sizes @ (~reached).sum(axis=1)),
        _label=field.label,
        _reached=reached,
        n_vectors=learnt.model.count,
        side=learnt.model.side,
        spectral=learnt.held_out.chosen,
        errors=learnt.held_out.errors,
    )
    known = (~np.isnan(values)).sum(axis=0)
    warn_of(result, int(np.isnan(values).sum()), "mean", known, opened.feature_names)
    if not result.converged:
        warn_caller(
            f"the search for eigenvectors stopped after {result.n_iter} products with the graph "
            "before all were found: columns are made of those that were",
            ConvergenceWarning,
        )
    return result, learnt


def _one_thread() -> AbstractContextManager[Any]:
    """BLAS on one thread: faster for small matrices, and sums in the same order everywhere."""
    import scipy.sparse.linalg  # noqa: F401  (SciPy's BLAS is loaded with it)
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


def _learn(
    X: Floats, field: FieldGraph, options: SpectralOptions, tick: Callable[[float], None]
) -> LearntSpectral:
    spectral = leading_eigenvectors(field, N_VECTORS, options.seed)
    tick(SEARCH)
    scale = scaled(X)
    if options.fallback:
        held_out = hold_out(
            X, field.graph, spectral, options.propagation, options.seed,
            lambda share: tick((1 - SEARCH) * share),
        )  # fmt: skip
    else:
        held_out = HeldOut(np.ones(X.shape[1], dtype=bool), np.full((X.shape[1], 3), np.nan))
        tick(1 - SEARCH)
    model = fit_spectral(scale.standardised(X), spectral, options.seed)
    return LearntSpectral(
        scale, model, held_out, spectral.n_products, spectral.residual, spectral.converged
    )


def _fill(X: Array, graph: Graph, learnt: LearntSpectral, options: SpectralOptions) -> Array:
    """Every column by what was chosen for it, in its own type."""
    chosen = np.flatnonzero(learnt.held_out.chosen)
    whole = len(chosen) == X.shape[1]
    filled = X.copy() if whole else propagated(X, graph, options.propagation)
    if len(chosen):
        values = np.asarray(X, np.float64)
        mean = learnt.model.mean(learnt.scale.standardised(values))
        most = np.finfo(X.dtype).max
        spectral = np.clip(learnt.scale.fill(values, mean)[:, chosen], -most, most)
        filled[:, chosen] = np.where(np.isnan(X[:, chosen]), spectral, X[:, chosen])
    return filled


def _reached(X: Floats, field: FieldGraph) -> Mask:
    """[components, columns]: whether a cell of the column is known there."""
    known = np.zeros((int(field.label.max(initial=-1)) + 1, X.shape[1]), dtype=bool)
    for column in range(X.shape[1]):
        known[field.label[~np.isnan(X[:, column])], column] = True
    return known


def _check_memory(shape: tuple[int, ...], n_entries: int, options: SpectralOptions) -> None:
    limit = options.memory_limit
    if limit is not None and (need := spectral_bytes(shape, n_entries, options)) > limit:
        raise InputError(
            f"{parameter('memory_limit')} is {readable(limit)} but eigenvectors and {shape[0]} x "
            f"{shape[1]} cells take about {readable(need)}: raise the limit, fill fewer columns "
            "at a time, or use propagate, which takes less."
        )


def spectral_bytes(shape: tuple[int, ...], n_entries: int, options: SpectralOptions) -> int:
    """About the most that a spectral fill allocates, its result among it."""
    n, p = shape
    search = 8 * n * (2 * N_VECTORS + 1 + 4) + 12 * n_entries
    tables = (ROOM + 7 * options.fallback) * 8 * n * p
    return int(200 * n + 8 * n * 3 * N_VECTORS + max(search, tables))
