"""The coupled field as a plain function: a matrix and a graph in, a Result out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import (
    ConvergenceWarning,
    InputError,
    UnreachedWarning,
    check_number,
    parameter,
    warn_caller,
)
from ..graph import Graph
from ..kernels import default_threads
from ._field import FieldSystem, Mask
from ._field_fill import FITTING, FieldModel, field_bytes, fill_learnt, learn_field
from ._field_graph import FieldGraph
from ._matrix import graph_of_rows, open_matrix
from ._memory import parse_bytes, readable
from ._problem import Result
from ._propagate import progress_bar

Array = np.ndarray

LEAST_TOL = 1e-12  # float64 holds no more digits


@dataclass(frozen=True, kw_only=True)
class FieldOptions:
    """The options of :func:`graphfill.fill_field`, where each is described."""

    tol: float = 1e-3
    seed: int = 0
    memory_limit: Any = None  # as given: 4e9 or "4GB"; in bytes once checked
    threads: int | None = None

    def __post_init__(self) -> None:
        check_number("tol", self.tol, low=LEAST_TOL)
        check_number("seed", self.seed, low=0, integer=True)
        if self.threads is not None:
            check_number("threads", self.threads, low=1, integer=True)
        object.__setattr__(self, "memory_limit", parse_bytes(self.memory_limit))


def fill_field(
    X: Any,
    graph: Any,
    *,
    missing_mask: Any = None,
    tol: float = 1e-3,
    seed: int = 0,
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Result:
    r"""Fill the missing cells of a matrix from the neighbours and from the row's other columns.

    One Gaussian field over all cells: with Z the standardised columns and L the Laplacian of the
    graph, the missing cells minimise

    .. math:: \operatorname{tr}(\Omega Z^T Z) + \operatorname{tr}(\Theta Z^T L Z)

    where the matrices :math:`\Omega`, which couples the columns of a row, and :math:`\Theta`,
    which couples those of neighbours, are fitted to the known cells. :func:`propagate`
    (``normalization="rw"``, ``solver="exact"``) is the case without :math:`\Omega` in which
    columns are apart.

    Parameters
    ----------
    X : array, torch tensor or data frame of shape (nodes, columns) or (nodes,)
        NaN, None or null is missing. Never changed.
    graph : Graph, or anything ``Graph.of`` recognises
        Row i of X belongs to node i.
    missing_mask : array of bool like X, optional
        True where a cell is missing; must cover every NaN.
    tol : float
        Where to stop: a root mean square residual, 1 being one standard deviation of a missing
        cell given all others. A warning says when it was not reached.
    seed : int
        Of the random numbers that the fit draws.
    memory_limit : int or str, optional
        Bytes (or "4GB"). A matrix that would take more, by an estimate, is refused.
    threads : int, optional
        By default as in :func:`graphfill.propagate`; the result has the same bits for any number.
    progress : bool or callable
        Show a progress bar, or call this with each further share of the work that is done.

    Returns
    -------
    Result
        ``residual`` is one number for all columns. ``unreached`` are the cells to which no known
        cell of any column is connected (for a column that does not vary: no known cell of its
        own). They get the column's mean, 0 where nothing is known of it.

    See Also
    --------
    propagate : Columns apart, nothing fitted, less memory.
    FieldImputer : The same as an estimator.

    Notes
    -----
    Filled values may leave the range of the known ones. A column with one known cell, or whose
    known cells are all the same, is filled with their mean and has no part in the rest.

    Examples
    --------
    The second column repeats the first, which knows the row better than the neighbours do.

    >>> import numpy as np
    >>> import graphfill as gf
    >>> x = np.sin(np.arange(200.0) ** 2)
    >>> X = np.column_stack([x, 2 * x])
    >>> X[7, 0] = np.nan
    >>> path = gf.Graph.from_edges(np.arange(199), np.arange(1, 200))
    >>> bool(abs(gf.fill_field(X, path).X[7, 0] - x[7]) < 0.05)
    True
    """
    options = FieldOptions(tol=tol, seed=seed, memory_limit=memory_limit, threads=threads)
    result, _ = fill_field_with(X, graph, options, missing_mask=missing_mask, progress=progress)
    return result


fill_field.__module__ = "graphfill"  # as users import it


def fill_field_with(
    X: Any,
    graph: Any,
    options: FieldOptions,
    *,
    missing_mask: Any = None,
    model: FieldModel | None = None,
    progress: bool | Callable[[float], None] = False,
) -> tuple[Result, FieldModel]:
    """:func:`fill_field` with its options as one object, by a model that was learnt before or now.

    The same bits in both cases, if the model was learnt of the same X.
    """
    opened = open_matrix(X, missing_mask=missing_mask)
    graph = graph_of_rows(graph, len(opened.values))
    missing = np.isnan(opened.values)
    _check_memory(missing, graph, options)
    values = np.asarray(opened.values, np.float64)
    field = FieldGraph(graph, options.threads or default_threads())
    with progress_bar(progress) as tick:
        if model is None:
            model, system, _ = learn_field(values, field, options.seed)
            if model.coupling is not None:
                system.use(model.coupling)
            tick(FITTING)
            left = 1.0 - FITTING
        else:
            system, left = model.system(values, field), 1.0
        filled = fill_learnt(
            values, model, system, None, options.tol, lambda done: tick(left * done)
        ).X
    reached = _reached(values, field, model)
    if filled.dtype != opened.values.dtype:
        most = np.finfo(opened.values.dtype).max
        filled = np.clip(filled, -most, most).astype(opened.values.dtype)
    result = _result(opened.rebuild(filled), system, field.label, reached)
    _warn(result, options.tol, np.asarray(missing.all(axis=0)), opened.feature_names)
    return result, model


def _check_memory(missing: Mask, graph: Graph, options: FieldOptions) -> None:
    limit, shape = options.memory_limit, missing.shape
    if limit is None:
        return
    need = field_bytes(missing, len(graph.indices), options.tol)
    if need > limit:
        raise InputError(
            f"{parameter('memory_limit')} is {readable(limit)} but a field of {shape[0]} x "
            f"{shape[1]} cells takes about {readable(need)}: raise the limit, fill fewer columns "
            "at a time, or use propagate, which takes less."
        )


def _reached(X: Array, graph: FieldGraph, model: FieldModel) -> Mask:
    """[components, columns]: whether anything known informs the missing cells there."""
    known = np.zeros((int(graph.label.max(initial=-1)) + 1, X.shape[1]), dtype=bool)
    for column in range(X.shape[1]):
        known[graph.label[~np.isnan(X[:, column])], column] = True
    known[:, model.varying] = known[:, model.varying].any(axis=1, keepdims=True)
    return known


def _result(X: Any, system: FieldSystem, label: Array, reached: Mask) -> Result:
    sizes = np.bincount(label, minlength=len(reached))
    return Result(
        X,
        n_iter=system.n_iter,
        residual=system.residual,
        residuals=np.full(reached.shape[1], system.residual),
        converged=system.converged,
        n_unreached=int(sizes @ (~reached).sum(axis=1)),
        _label=label,
        _reached=reached,
    )


def _warn(result: Result, tol: float, empty_columns: Mask, names: list[Any] | None) -> None:
    """Warn of cells that nothing informs, and of a solve that ended too early."""
    if result.n_unreached:
        text = (
            f"{result.n_unreached} missing cells have no known cell connected to them and were "
            "filled with the column mean"
        )
        empty = np.flatnonzero(empty_columns)
        if len(empty):
            shown = [names[c] if names else int(c) for c in empty[:5]]
            more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
            text += f"; columns without any known cell: {', '.join(map(repr, shown))}{more}"
        warn_caller(text, UnreachedWarning)
    if not result.converged:
        warn_caller(
            f"stopped after {result.n_iter} iterations at a residual of {result.residual:.1e}, "
            f"above tol={tol:.1e}: pass a larger tol",
            ConvergenceWarning,
        )
