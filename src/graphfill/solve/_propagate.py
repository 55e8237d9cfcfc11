"""Feature Propagation as a plain function: a matrix and a graph in, a Result out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import errors, kernels
from ..graph import _refuse_matrices
from ..graph._components import graph_components
from ..graph._graph import Graph
from ._convergence import has_converged, warn_of_residual
from ._matrix import open_matrix
from ._options import PropagationOptions
from ._plan import lay_out
from ._solvers import Progress, chebyshev, conjugate_gradients, diffusion, direct, resolution
from ._tiles import Solver, fill
from ._weight_span import Span

Array = np.ndarray

DIRECT_NODES = 64  # up to here elimination beats iteration
EXPECTED_PRODUCTS = 15  # of conjugate gradients, for deciding what pays
DEFAULT_TOL = {"float32": 1e-6, "float64": 1e-10}


@dataclass
class Result:
    """What :func:`propagate` returns.

    Attributes
    ----------
    X : same kind as the input
        The filled matrix; known cells have the bits they had.
    n_iter : int
        Steps taken: the most any column took.
    residual : float
        The largest relative residual of any column; see :func:`propagate`.
    residuals : ndarray [columns]
    converged : bool or None
        Whether every column reached ``tol``, and weights lie near enough to each other for that
        to tell; None when no ``tol`` was asked for.
    n_unreached : int
        How many missing cells cannot be inferred from the graph.
    unreached : ndarray of bool [nodes, columns]
        Which they are; made on first use.
    """

    X: Any
    n_iter: int
    residual: float
    residuals: Array
    converged: bool | None
    n_unreached: int
    _label: Array = field(repr=False)
    _reached: Array = field(repr=False)

    @cached_property
    def unreached(self) -> Array:
        return ~self._reached[self._label]


def propagate(
    X: Any,
    graph: Any,
    *,
    missing_mask: Any = None,
    normalization: str = "sym",
    solver: str = "diffusion",
    n_iter: int = 40,
    tol: float | None = None,
    max_iter: int = 10_000,
    start: Any = None,
    self_loops: bool = False,
    shrinkage: float = 0.0,
    unreached: str = "zero",
    reorder: bool | str = "auto",
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    r"""Fill the missing cells of a matrix by diffusing the known ones along the edges.

    Repeats, with A the adjacency and D its degrees, known cells held fixed,

    .. math:: X \leftarrow D^{-1/2} A D^{-1/2} X

    (``normalization="sym"``, the paper) or :math:`X \leftarrow D^{-1} A X` (``"rw"``), or solves
    for the limit (``solver="exact"``), which under ``"rw"`` keeps every filled value within the
    range of the known ones; steps start at 0 and may end between it and them.

    Parameters
    ----------
    X : array, torch tensor or data frame of shape (nodes, columns) or (nodes,)
        NaN, None or null is missing. Never changed.
    graph : Graph, or anything ``Graph.of`` recognises
        Row i of X belongs to node i.
    missing_mask : array of bool like X, optional
        True where a cell is missing; must cover every NaN.
    normalization : {"sym", "rw"}
    solver : {"diffusion", "chebyshev", "exact"}
        ``diffusion`` takes ``n_iter`` steps; ``chebyshev`` computes the same answer from
        fewer products (within 1e-6 of it); ``exact`` solves for the limit.
    n_iter : int
        Steps of diffusion; the paper uses 40.
    tol : float, optional
        Relative residual. ``exact`` stops there (default 1e-6 for float32, 1e-10 for
        float64); ``diffusion`` takes its steps regardless. A warning says when it was not
        reached.
    max_iter : int
        Most iterations of ``exact``.
    start : matrix like X, optional
        Where missing cells start; zeros by default.
    self_loops : bool
        Link every node to itself first, as the paper's code (not its text) does.
    shrinkage : float
        Pull every filled value towards the column's mean (``"rw"``) or zero (``"sym"``):
        solves (L + shrinkage D)_uu z_u = A_uk z_k + shrinkage D_uu m.
    unreached : {"zero", "mean", "nan"}
        What to put where no known cell of the column is connected to the node.
    reorder : {"auto", True, False}
        Renumber nodes internally so that neighbours lie near each other; the result of
        diffusion has the same bits either way.
    memory_limit : int or str, optional
        Bytes (or "4GB") this call may allocate, its result included. On top come a graph that
        has to be built first, the copies that anything but a C-contiguous float32 or float64
        array takes to be read and given back, and two numbers a column and component where
        ``exact`` measures those apart.
    threads : int, optional
        All available cores by default; the result has the same bits for any number.
    progress : bool or callable
        Show a progress bar, or call this with each further share of the work that is done.

    Returns
    -------
    Result
        ``X``, ``n_iter``, ``residual``, ``unreached`` and more.

    Notes
    -----
    The residual of z (= D^-1/2 x under "sym", x under "rw") is r = A_uk z_k - L_uu z_u, in
    the norm of D^-1, relative to that of the plain start: zeros for diffusion, the column's
    mean for ``exact``. Where that start is next to solved, it is relative to 2 eps / tol (at
    most 1) of the known values' norm, which is what the arithmetic can resolve.

    Weights count by their ratios: a common factor changes nothing. Where they lie more than
    some four decades apart, ``exact`` computes in float64 whatever X is, and to a smaller
    residual; beyond some twelve, a warning says that weakly tied parts may be off. Where the
    values of a column's components differ in size by more than a factor of 100, ``exact``
    measures each component from its own mean and on its own scale.

    Examples
    --------
    >>> import graphfill as gf
    >>> path = gf.Graph.from_edges([0, 1], [1, 2])
    >>> gf.propagate([1.0, None, 3.0], path, normalization="rw", solver="exact").X
    array([1., 2., 3.])
    """
    options = PropagationOptions(
        normalization=normalization,
        solver=solver,
        n_iter=n_iter,
        tol=tol,
        max_iter=max_iter,
        self_loops=self_loops,
        shrinkage=shrinkage,
        unreached=unreached,
        reorder=reorder,
        memory_limit=memory_limit,
        threads=threads,
    )
    return propagate_with(
        X, graph, options, missing_mask=missing_mask, start=start, progress=progress
    )


def propagate_with(
    X: Any,
    graph: Any,
    options: PropagationOptions,
    *,
    missing_mask: Any = None,
    start: Any = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    """:func:`propagate` with its options as one object."""
    opened = open_matrix(X, missing_mask=missing_mask)
    values = opened.values
    if not isinstance(graph, Graph):
        graph = Graph.of(graph, n_nodes=len(values))
    _refuse_matrices.check_row_count(len(values), graph.n_nodes)
    started = (
        None if start is None else _refuse_matrices.check_start(open_matrix(start).values, values)
    )

    missing_in_row, known_in_column, _ = kernels.survey(values, options.n_threads)
    solver = options.solver
    if solver == "exact" and graph.n_nodes <= DIRECT_NODES:
        solver = "direct"
    exact = solver in ("exact", "direct")
    span = Span.of(graph, self_loops=options.self_loops, shrinkage=options.shrinkage)
    dtype = span.dtype(values.dtype, exact=exact)
    tolerance = DEFAULT_TOL[values.dtype.name] if options.tol is None else options.tol
    label = graph_components(graph)[1]
    layout = lay_out(
        values,
        graph,
        dtype=dtype,
        missing_in_row=missing_in_row,
        solver=solver,
        products=EXPECTED_PRODUCTS if exact else options.n_iter,
        reorder=options.reorder,
        memory_limit=options.memory_limit,
        threads=options.n_threads,
        normalization=options.normalization,
        self_loops=options.self_loops,
        shrinkage=options.shrinkage,
    )
    del graph  # if it was made here and rewritten in another order, its memory is needed

    centre = "zero"
    if options.shrinkage > 0:
        centre = "mean" if options.normalization == "rw" else "zero"
    elif exact:
        centre = "degree"
    with progress_bar(progress, len(layout.tiles)) as tick:
        filled = fill(
            values,
            layout.operator,
            _solver(
                solver,
                options.n_iter,
                span.tolerance(tolerance),
                options.max_iter,
                options.shrinkage,
            ),
            layout.tiles,
            centre=centre,
            start=started,
            fill_values=_fill_values(values, known_in_column, options.unreached),
            interior=layout.interior,
            resolution=resolution(tolerance, dtype) if exact else 0.0,
            # Where digits are lost between parts, they are lost to numbers of any size.
            keep_range=options.normalization == "rw" and solver == "exact" and span.blurs(dtype),
            tick=tick,
        )
    n_missing = int(missing_in_row.sum(dtype=np.int64))
    asked = tolerance if exact else options.tol
    blurred = solver == "exact" and n_missing > 0 and span.blurs(dtype)
    result = Result(
        opened.rebuild(filled.X),
        n_iter=int(filled.n_iter.max()),
        residual=float(filled.residual.max()),
        residuals=filled.residual,
        converged=has_converged(filled.residual, asked, blurred),
        n_unreached=int(layout.operator.components.sizes @ (~filled.reached).sum(axis=1)),
        _label=label,
        _reached=filled.reached,
    )
    warn_of(result, n_missing, options.unreached, known_in_column, opened.feature_names)
    if result.converged is False:
        warn_of_residual(
            result.n_iter,
            result.residual,
            asked,
            solver,
            options.max_iter,
            dtype,
            span if blurred else None,
        )
    return result


def _solver(name: str, n_iter: int, tol: float, max_iter: int, shrinkage: float) -> Solver:
    if name == "diffusion":
        return lambda system, tick: diffusion(system, n_iter, tick)
    if name == "chebyshev":
        return lambda system, tick: chebyshev(system, n_iter, tick)
    if name == "direct":
        return lambda system, tick: direct(system, shrinkage, tick)
    return lambda system, tick: conjugate_gradients(system, tol, max_iter, tick)


def _fill_values(values: Array, known_in_column: Array, unreached: str) -> Array:
    """What unreached cells of each column get; a column without known cells has mean 0."""
    if unreached != "mean":
        return np.full(values.shape[1], 0.0 if unreached == "zero" else np.nan)
    sums = [np.nansum(values[:, c], dtype=np.float64) for c in range(values.shape[1])]
    return np.array(sums) / np.maximum(known_in_column, 1)


@contextmanager
def progress_bar(progress: bool | Callable[[float], None], parts: int = 1) -> Iterator[Progress]:
    """What to tell each further share of one of `parts` equal parts of the work."""
    if callable(progress):
        yield lambda share: progress(share / parts)
    elif not progress:
        yield lambda share: None
    else:
        from tqdm import tqdm

        looks = "{desc} {percentage:3.0f}% |{bar:30}| {elapsed} so far, {remaining} left"
        with tqdm(total=parts, desc="graphfill", bar_format=looks) as bar:
            yield bar.update


def warn_of(
    result: Result, n_missing: int, unreached: str, known_in_column: Array, names: list | None
) -> None:
    """Say which cells the graph cannot tell."""
    if not result.n_unreached:
        return
    filler = {"zero": "filled with 0", "mean": "filled with the column mean", "nan": "left NaN"}
    text = (
        f"{result.n_unreached} of {n_missing} missing cells cannot be inferred from the graph "
        f"(no known cell of their column is connected to them) and were {filler[unreached]}"
    )
    empty = np.flatnonzero(known_in_column == 0)
    if len(empty):
        shown = [names[c] if names else int(c) for c in empty[:5]]
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        text += f"; columns without any known cell: {', '.join(map(repr, shown))}{more}"
    warnings.warn(text, errors.UnreachedWarning, stacklevel=4)
