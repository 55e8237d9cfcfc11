"""PCFI and FISF as plain functions: a matrix and a graph in, a Result out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, check_choice, check_number
from ..graph import Graph
from ..kernels import survey
from . import _correlation as correlation
from ._confidence import Planted, WeightedDiffusion, lay_out_for
from ._hops import FAR, Hops, negligible_from, powers
from ._matrix import Container, check_magnitudes, graph_of_rows, open_matrix
from ._neighbors import known_means, row_blocks
from ._problem import PropagationOptions, Result, warn_of
from ._propagate import progress_bar
from ._scaling import largest
from ._solvers import Progress

Array = np.ndarray

ADDED = " and what the row's other columns add"
FARTHEST_BITS = 400  # of the range of float64, for the confidence in what is made up


@dataclass(frozen=True, kw_only=True)
class PCFIOptions:
    """The options of :func:`graphfill.fill_pcfi`, where each is described."""

    alpha: float = 0.9
    beta: float = 1.0
    n_iter: int = 100
    unreached: str = "zero"
    memory_limit: Any = None
    threads: int | None = None

    def __post_init__(self) -> None:
        check_share("alpha", self.alpha)
        check_number("beta", self.beta, low=0)
        check_number("n_iter", self.n_iter, low=1, integer=True)
        check_choice("unreached", self.unreached, ("zero", "mean", "nan"))

    @property
    def added(self) -> str:
        """What cells out of the graph's reach get besides, in words."""
        return ADDED if self.beta else ""

    @property
    def propagation(self) -> PropagationOptions:
        """What the layout needs to know."""
        return PropagationOptions(
            normalization="rw",
            self_loops=True,
            n_iter=self.n_iter,
            memory_limit=self.memory_limit,
            threads=self.threads,
        )


@dataclass(frozen=True, kw_only=True)
class FISFOptions(PCFIOptions):
    """The options of :func:`graphfill.fill_fisf`, where each is described."""

    beta: float = 0.9
    gamma: float = 0.7
    seed: int = 0
    added = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("beta", self.beta)
        check_number("gamma", self.gamma, low=0)
        if self.gamma > 1:
            raise InputError(f"gamma is {self.gamma!r} but must be a share of columns, 0 to 1.")
        check_number("seed", self.seed, low=0, integer=True)


def check_share(name: str, value: Any) -> None:
    """Refuse what is no number between 0 and 1."""
    check_number(name, value, low=0)
    if not 0 < value < 1:
        raise InputError(f"{name} is {value!r} but must lie between 0 and 1.")


def fill_pcfi(
    X: Any,
    graph: Any,
    *,
    missing_mask: Any = None,
    alpha: float = 0.9,
    beta: float = 1.0,
    n_iter: int = 100,
    unreached: str = "zero",
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    r"""Fill the missing cells of a matrix by PCFI, pseudo-confidence-based feature imputation.

    A cell s hops from the nearest known one of its column has the confidence :math:`\xi =
    \alpha^s`. From zero, with known cells held fixed, ``n_iter`` times

    .. math:: X \leftarrow [A (\xi \odot X)] \oslash [A \xi]

    with A the adjacency and a loop of weight one at every node; then once, with the means mu and
    the correlations R of the columns so filled (zero diagonal),

    .. math:: X_{ic} \leftarrow X_{ic} + \beta (1 - \xi_{ic})
              \sum_k \xi_{ik} R_{kc} (X_{ik} - \mu_k).

    Parameters
    ----------
    X : array, torch tensor or data frame of shape (nodes, columns) or (nodes,)
        NaN, None or null is missing. Never changed.
    graph : Graph, or anything ``Graph.of`` recognises
        Row i of X belongs to node i.
    missing_mask : array of bool like X, optional
        True where a cell is missing; must cover every NaN.
    alpha : float
        What a hop leaves of a cell's confidence, between 0 and 1.
    beta : float
        How much the row's other columns count; 0 leaves the second step out.
    n_iter : int
        Steps of the first; a value gets that many hops far.
    unreached : {"zero", "mean", "nan"}
        What the second step adds to where no known cell of the column is connected to the node: 0
        or the column's mean. "nan" leaves the cell missing.
    memory_limit, threads, progress
        As in :func:`graphfill.propagate`.

    Returns
    -------
    Result
        ``residual`` is the change of the last step relative to that of the first. ``unreached``
        are the cells that no known cell of their column is connected to; their confidence is 0.

    See Also
    --------
    PCFI : The same as an estimator.

    Notes
    -----
    The second step mixes columns as they are: where they have different units, standardise them
    first. Columns that vary by no more than rounding may make them count as constant in it.

    References
    ----------
    Um, Park, Park and Choi, Confidence-Based Feature Imputation for Graphs with Partially Known
    Features, ICLR 2023.

    Examples
    --------
    >>> import graphfill as gf
    >>> path = gf.Graph.from_edges([0, 1], [1, 2])
    >>> gf.fill_pcfi([1.0, None, 3.0], path).X.round(6)
    array([1., 2., 3.])
    """
    options = PCFIOptions(
        alpha=alpha,
        beta=beta,
        n_iter=n_iter,
        unreached=unreached,
        memory_limit=memory_limit,
        threads=threads,
    )
    return fill_pcfi_with(X, graph, options, missing_mask=missing_mask, progress=progress)


def fill_fisf(
    X: Any,
    graph: Any,
    *,
    missing_mask: Any = None,
    alpha: float = 0.9,
    beta: float = 0.9,
    gamma: float = 0.7,
    n_iter: int = 100,
    seed: int = 0,
    unreached: str = "zero",
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    r"""Fill the missing cells of a matrix by FISF, feature imputation with synthetic features.

    The first step of :func:`fill_pcfi`; then in each of the columns that vary least so far, one
    missing cell of a random node is made to hold a random number between 0 and 1 and the column is
    diffused again with the confidence

    .. math:: \xi = \alpha^s \beta^t

    of a cell s hops from the nearest known one and t hops from the made-up one. That cell itself
    comes back as the first step filled it.

    Parameters
    ----------
    X, graph, missing_mask, alpha, n_iter, memory_limit, threads, progress
        As in :func:`fill_pcfi`.
    beta : float
        What a hop from the made-up cell leaves of the confidence, between 0 and 1.
    gamma : float
        Share of columns that get a made-up cell, 0 to 1.
    seed : int
        Of the random numbers; those of a column depend on its number too.
    unreached : {"zero", "mean", "nan"}
        What to put where no known cell of the column is connected to the node.

    Returns
    -------
    Result
        As that of :func:`fill_pcfi`.

    See Also
    --------
    FISF : The same as an estimator.

    References
    ----------
    Um, Kim, Park and Park, Propagate and Inject: Revisiting Propagation-Based Feature Imputation
    for Graphs with Partially Observed Features, ICML 2025.

    Examples
    --------
    >>> import graphfill as gf
    >>> path = gf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> bool(gf.fill_fisf([1.0, None, None, 1.0], path, gamma=1).X[1] < 0.99)
    True
    """
    options = FISFOptions(
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        n_iter=n_iter,
        seed=seed,
        unreached=unreached,
        memory_limit=memory_limit,
        threads=threads,
    )
    return fill_pcfi_with(X, graph, options, missing_mask=missing_mask, progress=progress)


for _public in (fill_pcfi, fill_fisf):  # as users import them
    _public.__module__ = "graphfill"


def fill_pcfi_with(
    X: Any,
    graph: Any,
    options: PCFIOptions,
    *,
    missing_mask: Any = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    """:func:`fill_pcfi` or :func:`fill_fisf`, by the options' type."""
    opened = open_matrix(X, missing_mask=missing_mask)
    values = opened.values
    check_magnitudes(largest(values), values.dtype, opened.feature_names)
    graph = graph_of_rows(graph, len(values))
    twice = isinstance(options, FISFOptions)
    with progress_bar(progress) as tick:
        fill = _Fill(values, graph, options, (lambda share: tick(share / 2)) if twice else tick)
        fill.diffuse()
        if isinstance(options, FISFOptions):
            fill.plant(options)
        else:
            fill.correlate()
    return fill.result(opened)


class _Fill:
    """The steps in turn over one table, ``X``; ``filled`` is the result so far."""

    def __init__(self, X: Array, graph: Graph, options: PCFIOptions, tick: Progress):
        self.X, self.graph, self.options, self.tick = X, graph, options, tick
        self.propagation = options.propagation
        self.threads = self.propagation.n_threads
        self.most = max(options.n_iter + 1, negligible_from(options.alpha))
        self.change = np.zeros(X.shape[1])
        self.varied = largest(X) > 0  # of nothing but zeros come zeros

    def diffuse(self) -> None:
        """From known cells alone."""
        options, X = self.options, self.X
        self.hops = Hops.of(X, self.graph, self.most, self.threads)
        self.filled = X.copy()
        for rows in row_blocks(X):
            np.copyto(self.filled[rows], 0, where=self.hops.counts[rows] > 0)
        deepest = min(options.n_iter + 1, self.hops.deepest)
        smallest = options.alpha**deepest
        layout = lay_out_for(X, self.graph, self.propagation, smallest, self._kept())
        g = powers(options.alpha, deepest, layout.operator.dtype)
        WeightedDiffusion(
            X,
            self.filled,
            layout,
            options.n_iter,
            lambda rows, columns: g[self.hops.counts[rows, columns]],
            self.change,
        ).run(np.flatnonzero(self.varied), self.tick)

    def correlate(self) -> None:
        """What the row's other columns say."""
        options = self.options
        if options.beta and self.X.shape[1] > 1:
            limit, besides = self.propagation.memory_limit, self._kept() + self.X.nbytes
            width = correlation.block_columns(self.X, limit, besides)
            table = powers(options.alpha, min(self.most, self.hops.deepest), self.X.dtype)
            correlation.add_correlated(self.filled, self.hops.counts, table, options.beta, width)

    def plant(self, options: FISFOptions) -> None:
        """Diffuse the columns that vary least again, with a made-up cell each."""
        n_columns = self.X.shape[1]
        # To six digits: what rounding alone tells apart is ordered by the columns' numbers.
        digits, size = np.frexp(correlation.column_moments(self.filled)[1])
        least = np.argsort(np.ldexp(digits.round(6), size), kind="stable")
        columns = np.sort(least[: int(options.gamma * n_columns)])
        planted = self._drawn(columns, options.seed)
        columns = columns[planted.row[columns] >= 0]
        if not len(columns):
            self.tick(1.0)
            return
        sources = np.full((len(self.X), len(columns)), np.nan, dtype=np.float32)
        sources[planted.row[columns], np.arange(len(columns))] = 1.0
        # So far away that a further hop need not count for less: nothing made up gets there.
        most = max(options.n_iter, int(FARTHEST_BITS / -np.log2(options.beta)))
        near = Hops.of(sources, self.graph, most, self.threads)
        del sources
        known, deepest = self.hops, min(options.n_iter + 1, self.hops.deepest)
        smallest = options.alpha**deepest * options.beta**near.deepest
        besides = self._kept() + Hops.size(len(self.X), len(columns))
        layout = lay_out_for(self.X, self.graph, self.propagation, smallest, besides)
        a = powers(options.alpha, deepest, layout.operator.dtype)
        b = powers(options.beta, near.deepest, layout.operator.dtype)
        b[FAR] = b[near.deepest]  # or out of its reach: there any common factor cancels
        place = np.empty(n_columns, dtype=np.intp)
        place[columns] = np.arange(len(columns))
        kept = self.filled[planted.row[columns], columns]
        WeightedDiffusion(
            self.X,
            self.filled,
            layout,
            options.n_iter,
            lambda rows, some: a[known.counts[rows, some]] * b[near.counts[rows, place[some]]],
            self.change,
            planted,
        ).run(columns, self.tick)
        self.filled[planted.row[columns], columns] = kept

    def _drawn(self, columns: Array, seed: int) -> Planted:
        """A missing cell of each of these columns that has one, and a number for it."""
        row, value = np.full(self.X.shape[1], -1), np.zeros(self.X.shape[1])
        for column in columns:
            missing = np.flatnonzero(self.hops.counts[:, column])
            if len(missing):
                random = np.random.default_rng([seed, column])
                row[column] = missing[random.integers(len(missing))]
                value[column] = random.random()
        return Planted(row, value)

    def _kept(self) -> int:
        """Bytes of the hops."""
        return Hops.size(*self.X.shape)

    def result(self, opened: Container) -> Result:
        """The result, after what is put into unreached cells, and a warning of these."""
        hops, unreached = self.hops, self.options.unreached
        known_in_column = survey(self.X, self.threads)[1]
        result = Result(
            self.filled,
            n_iter=self.options.n_iter,
            residual=float(self.change.max()),
            residuals=self.change,
            converged=None,
            n_unreached=hops.n_unreached,
            _label=hops.label,
            _reached=hops.reached,
        )
        if result.n_unreached and unreached != "zero":
            value = np.nan if unreached == "nan" else np.nan_to_num(known_means(self.X))
            for rows in row_blocks(self.X):
                lost = ~hops.reached[hops.label[rows]]
                start = value if unreached == "nan" else self.filled[rows] + value
                np.copyto(self.filled[rows], start, where=lost, casting="same_kind")
        n_missing = self.X.size - int(known_in_column.sum())
        names = opened.feature_names
        warn_of(result, n_missing, unreached, known_in_column, names, self.options.added)
        return replace(result, X=opened.rebuild(self.filled))


# Doctests are looked for in the module that a function names, which is not this one.
__test__ = {"fill_pcfi": fill_pcfi, "fill_fisf": fill_fisf}
