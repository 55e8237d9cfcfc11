"""Fill the missing cells of a table of real columns from the links between its rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import validate
from .alignment import Alignment, Naming, align
from .channels import Tick, fill_channels
from .folds import PATTERNS
from .judgement import Judgement, judge, sure_columns
from .memory import parse_bytes
from .portrait import portrait
from .solve import Result, progress_bar, propagate
from .survey import (
    informative_columns,
    notes_on,
    open_columns,
    survey_columns,
    unreached_cells,
)
from .table_result import TableResult
from .validate import GraphfillWarning, UnreachedWarning

if TYPE_CHECKING:
    import narwhals as nw

Array = NDArray[Any]

LEARNT = ("hybrid", "auto")  # from cells held out
METHODS = ("propagation", "neighbors", "mean", *LEARNT)


def impute(
    table: Any,
    edges: Any,
    *,
    id: Any = None,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    columns: Sequence[Any] | None = None,
    exclude: Sequence[Any] = (),
    types: Mapping[Any, str] | None = None,
    missing: Sequence[Any] = (),
    method: str = "propagation",
    reliance: float | str = "held-out",
    normalization: str = "rw",
    solver: str = "exact",
    n_iter: int = 40,
    tol: float | None = None,
    shrinkage: float = 0.0,
    unreached: str = "mean",
    mark: bool = False,
    intervals: float | None = None,
    scores: bool | str = False,
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: bool = False,
    return_result: bool = False,
) -> Any:
    """Fill the missing cells of a table from the rows linked to theirs.

    Numbers, dates and times become one channel each, categories and texts one per value; the
    channels are propagated along the edges, and turned back into cells of the column's own type.
    Known cells come back as they were. A filled number lies within the range of the known ones;
    a filled category is one that was seen.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or another that narwhals reads
        One row per node. Null, NaN, NaT and None are missing.
    edges : table of edges, or anything ``Graph.of`` recognises
        Nodes that the table lacks pass information on and are not added to the result.
    id, source, target, weight : names of columns, optional
        `id` is guessed (the column whose values are the ends of edges) and so are `source` and
        `target` (by name, or the first two columns); a guess is said in a warning. Edges count
        equally unless `weight` is named.
    columns, exclude : names of columns, optional
        Fill only these; leave these alone.
    types : mapping from column to kind, optional
        "number", "integer", "boolean", "category", "date", "time", "duration" or "leave".
    missing : values that mean missing, such as -1 or "unknown"
    method : {"propagation", "neighbors", "mean", "hybrid", "auto"}
        Diffusion along the edges; the mean (or most frequent value) of the neighbours; that of
        the column, which does not look at the graph; learners that look at the graph and at the
        row's other columns; or, column by column, the best of all by held-out score.
    intervals : float, optional
        A level such as 0.9: columns ``<name>_low`` and ``<name>_high`` are added that hold the
        truth of so many filled numbers, and ``<name>_probability`` and ``<name>_set`` for
        categories.
    scores : bool, "random", "rows", "high" or "region"
        Score the method on held-out cells, beside the column's mean and the neighbours'. With a
        word, also on a fifth of the known cells hidden at random, as whole rows, high values (or
        rare categories) first, or all around some nodes of the graph.
    reliance : "held-out", or a number from 0 to 1
        How far to go from the column's mean towards what the graph says. By default fitted per
        column on a fifth of its known cells, hidden for it; 1 where those are too few.
    normalization, solver, n_iter, tol, shrinkage, memory_limit, threads
        As in :func:`propagate`. Channels are standardised first, so that diffusion starts from the
        column's mean.
    unreached : {"mean", "nan"}
        What cells get that nothing known is connected to: the column's mean (or most frequent
        value), or nothing: they stay missing.
    mark : bool
        Add a column ``<name>_filled`` per filled column that says which cells were filled.
    seed : int
        For what is sampled: pairs of neighbours whose agreement is measured.
    progress : bool
        Show a progress bar.
    return_result : bool
        Return a :class:`TableResult`, which holds the table and tells what was done.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"name": ["ann", "bob", "cat"], "age": [30, None, 40]})
    >>> friends = pl.DataFrame({"a": ["ann", "bob"], "b": ["bob", "cat"]})
    >>> impute(people, friends, id="name")["age"].to_list()
    [30, 35, 40]
    """
    with progress_bar(progress) as tick:
        result = fill_table(
            table,
            edges,
            id=id,
            source=source,
            target=target,
            weight=weight,
            columns=columns,
            exclude=exclude,
            types=types,
            missing=missing,
            method=method,
            reliance=reliance,
            normalization=normalization,
            solver=solver,
            n_iter=n_iter,
            tol=tol,
            shrinkage=shrinkage,
            unreached=unreached,
            mark=mark,
            intervals=intervals,
            scores=scores,
            portraits=return_result and (bool(scores) or intervals is not None or method in LEARNT),
            memory_limit=memory_limit,
            threads=threads,
            seed=seed,
            progress=tick,
        )
    _warn(result)
    return result if return_result else result.table


def fill_table(
    table: Any,
    edges: Any,
    *,
    columns: Sequence[Any] | None = None,
    exclude: Sequence[Any] = (),
    types: Mapping[Any, str] | None = None,
    missing: Sequence[Any] = (),
    method: str = "propagation",
    reliance: float | str = "held-out",
    normalization: str = "rw",
    solver: str = "exact",
    unreached: str = "mean",
    mark: bool = False,
    intervals: float | None = None,
    add_intervals: bool = True,
    scores: bool | str = False,
    portraits: bool = False,
    memory_limit: int | float | str | None = None,
    seed: int = 0,
    progress: Tick | None = None,
    fill: bool = True,
    naming: Naming | None = None,
    alignment_options: Mapping[str, Any] | None = None,
    alignment: Alignment | None = None,
    propagate: Callable[..., Result] = propagate,
    id: Any = None,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    **solver_options: Any,
) -> TableResult:
    """:func:`impute` without its warnings, whose place the result's notes take.

    Parameters
    ----------
    fill : bool
        False surveys the columns and leaves the table as it is.
    add_intervals : bool
        False makes intervals for the summary alone.
    portraits : bool
        Add what a report shows of each column to its summary.
    naming, alignment_options : as `align` takes them
    alignment : Alignment, optional
        Made already; `edges` and their columns are then not looked at.
    propagate : what solves the channels, with the arguments of :func:`graphfill.propagate`
    progress : called with the share of the work done since the last call
    """
    import narwhals as nw

    validate.check_choice("method", method, METHODS)
    validate.check_choice("unreached", unreached, ("mean", "nan"))
    validate.check_reliance(reliance)
    validate.check_level(intervals)
    validate.check_scores(scores, PATTERNS)
    validate.check_number("seed", seed, low=0, integer=True)
    limit = parse_bytes(memory_limit)
    naming = naming or Naming()
    began = time.perf_counter()
    validate.check_table(table, naming.table)
    frame = nw.from_native(table, eager_only=True)
    if alignment is None:
        alignment = align(
            frame,
            edges,
            id=id,
            source=source,
            target=target,
            weight=weight,
            naming=naming,
            **(alignment_options or {}),
        )
    linked = time.perf_counter()
    with validate.places(naming.cell_row or naming.row):
        opened = open_columns(frame, alignment, columns, exclude, types or {}, missing, naming)
    summaries = survey_columns(opened, frame.columns, alignment, seed)
    todo = [c for c in opened.values() if c.n_channels and c.missing.any()]
    validate.check_something_known(bool(todo), opened.values(), naming.table)
    beyond_reach = unreached_cells(todo, alignment)
    result = TableResult(
        table,
        list(summaries.values()),
        filled={},
        unreached=beyond_reach,
        alignment=alignment,
        notes=[],
        settings={
            "method": method,
            "reliance": reliance,
            "intervals": intervals,
            "scores": scores,
            "normalization": normalization,
            "solver": solver,
            "unreached": unreached,
            "seed": seed,
            **solver_options,
        },
    )
    for name, cells in beyond_reach.items():
        summaries[name].n_unreached = int(cells.sum())
    surveyed = time.perf_counter()
    tick = progress or (lambda share: None)
    judged: dict[str, Judgement] = {}
    if todo and (scores or intervals is not None or method in LEARNT):
        judged = judge(
            {name: column for name, column in opened.items() if column.n_channels},
            [column.name for column in todo],
            alignment.graph,
            informative_columns(opened, summaries, alignment, seed),
            method=method,
            level=intervals,
            pattern=scores if isinstance(scores, str) else None,
            seed=seed,
            reliance=reliance,
            progress=tick,
            propagation={"normalization": normalization, "solver": solver, **solver_options},
        )
        for name, judgement in judged.items():
            summaries[name].details |= judgement.details(opened[name])
            summaries[name].explained = judgement.explained
    if fill and todo:
        for name, judgement in judged.items():
            cells = judgement.found.filled.copy()
            if unreached == "nan":
                cells[beyond_reach[name][opened[name].missing]] = np.nan
            opened[name].decode_levels(cells)
        rest = [column for column in todo if column.name not in judged]
        solved = fill_channels(
            rest,
            alignment.graph,
            method="propagation" if method in LEARNT else method,
            reliance=reliance,
            seed=seed,
            left_missing=beyond_reach if unreached == "nan" else {},
            memory_limit=limit,
            propagate=propagate,
            progress=(lambda share: None) if judged else tick,
            normalization=normalization,
            solver=solver,
            **solver_options,
        )
        result.n_iter, result.residual = solved.n_iter, solved.residual
        result.converged = solved.converged
        for name, held in solved.held_out.items():
            summaries[name].reliance, summaries[name].explained = held.reliance, held.explained
        rebuilt = [column.rebuild() for column in todo]
        result.filled = {column.name: column.filled_cells for column in todo}
        added = _marks(result.filled, frame) if mark else []
        for name, judgement in judged.items() if add_intervals else ():
            added += sure_columns(opened[name], judgement)
        for series in added:
            validate.check_free_name(series.name, frame.columns)
        result.table = nw.to_native(frame.with_columns(*rebuilt, *added))
        for column in todo:
            summaries[column.name].n_filled = int(result.filled[column.name].sum())
            if column.fills_alike or summaries[column.name].reliance == 0.0:
                summaries[column.name].verdict = "not from this graph"
    if portraits:
        ids = frame.get_column(alignment.id).to_list() if alignment.id in frame.columns else None
        for column in todo:
            summaries[column.name].details |= portrait(
                column,
                alignment,
                ids or list(range(alignment.n_rows)),
                beyond_reach[column.name],
                judged.get(column.name),
            )
    result.notes = notes_on(alignment, summaries, opened, naming)
    done = time.perf_counter()
    result.seconds = {
        "link": linked - began,
        "survey": surveyed - linked,
        "fill": done - surveyed,
    }
    return result


def _marks(filled: dict[str, Array], frame: nw.DataFrame[Any]) -> list[nw.Series[Any]]:
    import narwhals as nw

    marks = []
    for name, cells in filled.items():
        if not cells.any():
            continue
        mark = nw.new_series(f"{name}_filled", cells, nw.Boolean, backend=frame.implementation)
        marks.append(mark)
    return marks


def _warn(result: TableResult) -> None:
    if result.notes:
        warnings.warn(" ".join(result.notes), GraphfillWarning, stacklevel=3)
    n_unreached = sum(column.n_unreached for column in result.columns)
    if n_unreached:
        got = (
            "left missing"
            if result.settings["unreached"] == "nan"
            else "given their column's mean or most frequent value"
        )
        warnings.warn(
            f"{n_unreached:,} of {result.n_missing:,} missing cells cannot be inferred from the "
            f"graph (nothing known of their column is connected to them) and were {got}",
            UnreachedWarning,
            stacklevel=3,
        )
    if result.converged is False:
        warnings.warn(
            f"stopped after {result.n_iter} iterations at a relative residual of "
            f"{result.residual:.1e}: allow more iterations",
            validate.ConvergenceWarning,
            stacklevel=3,
        )
