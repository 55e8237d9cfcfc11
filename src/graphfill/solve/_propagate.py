"""Feature Propagation as a plain function: a matrix and a graph in, a Result out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import kernels
from ..errors import InputError, cell, first_cell
from ..graph import graph_components
from ._matrix import graph_of_rows, open_matrix
from ._operator import lay_out
from ._problem import Problem, PropagationOptions, Result, finish
from ._solvers import Progress
from ._tiles import Fill

Array = np.ndarray

DIRECT_NODES = 64  # up to here elimination beats iteration


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
        reached; by default float32 is held to 1e-4, as rounding may stop it above 1e-6.
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
        By default all available cores, or as many as OMP_NUM_THREADS and an imported torch (one in
        a worker of a DataLoader) allow; the result has the same bits for any number.
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
    graph = graph_of_rows(graph, len(values))
    started = None if start is None else _check_start(open_matrix(start).values, values)

    missing_in_row, known_in_column, _ = kernels.survey(values, options.n_threads)
    problem = Problem.of(options, graph, values.dtype, direct=graph.n_nodes <= DIRECT_NODES)
    label = graph_components(graph)[1]
    layout = lay_out(values, graph, problem, missing_in_row)
    del graph  # if it was made here and rewritten in another order, its memory is needed

    fill_values = _fill_values(values, known_in_column, options.unreached)
    filled = Fill(values, layout, problem, started, fill_values)
    with progress_bar(progress, len(layout.tiles)) as tick:
        filled.run(tick)
    return finish(
        problem,
        opened.rebuild(filled.X),
        n_iter=filled.n_iter,
        residuals=filled.residual,
        label=label,
        reached=filled.reached,
        known_in_column=known_in_column,
        names=opened.feature_names,
    )


propagate.__module__ = "graphfill"  # as users import it


def _check_start(start: Array, values: Array) -> Array:
    """Return the start as a matrix like ``values``; refuse another shape or a NaN."""
    if start.shape != values.shape:
        raise InputError(f"start has shape {start.shape} but X has shape {values.shape}.")
    gap = np.isnan(start) & np.isnan(values)
    if gap.any():
        row, column = first_cell(gap)
        raise InputError(
            f"start is NaN at {cell(row, column)}, where X is missing too: give it a number."
        )
    return np.ascontiguousarray(start, dtype=values.dtype)


def _fill_values(values: Array, known_in_column: Array, unreached: str) -> Array:
    """What unreached cells of each column get; a column without known cells has mean 0."""
    if unreached != "mean":
        return np.full(values.shape[1], 0.0 if unreached == "zero" else np.nan)
    sums = [np.nansum(values[:, c], dtype=np.float64) for c in range(values.shape[1])]
    return np.asarray(np.array(sums) / np.maximum(known_in_column, 1))


@contextmanager
def progress_bar(progress: bool | Callable[[float], None], parts: int = 1) -> Iterator[Progress]:
    """What to call with each further share of one of `parts` equal parts of the work."""
    if callable(progress):
        yield lambda share: progress(share / parts)
    elif not progress:
        yield lambda share: None
    else:
        from tqdm import tqdm

        looks = "{desc} {percentage:3.0f}% |{bar:30}| {elapsed} so far, {remaining} left"
        with tqdm(total=parts, desc="graphfill", bar_format=looks) as bar:
            yield bar.update
