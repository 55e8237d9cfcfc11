"""How a table is filled: its columns surveyed, judged on held-out cells, solved and rebuilt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import errors
from ..solve._memory import parse_bytes
from ..solve._propagate import Result, propagate
from ..trust._assessment import FEWEST_KNOWN
from ..trust._channels import Tick, fill_channels
from ..trust._folds import PATTERNS
from ..trust._selection import Judgement, judge, sure_columns
from . import _refuse_tables
from ._alignment import Alignment, align
from ._columns import Column
from ._details import portrait
from ._inspect import informative_columns, notes_on, open_columns, survey_columns, unreached_cells
from ._naming import Naming
from ._result import ColumnSummary, TableResult

if TYPE_CHECKING:
    import narwhals as nw

Array = NDArray[Any]

LEARNT = ("hybrid", "auto")  # from cells held out
METHODS = ("propagation", "neighbors", "mean", *LEARNT)


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
    left_alone: Mapping[Any, str] | None = None,
    naming: Naming | None = None,
    alignment_options: Mapping[str, Any] | None = None,
    alignment: Alignment | None = None,
    propagate: Callable[..., Result] = propagate,
    id: Any = None,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    normalization: str = "rw",
    solver: str = "exact",
    **solver_options: Any,
) -> TableResult:
    """:func:`graphfill.impute` without its warnings, whose place the result's notes take.

    Parameters
    ----------
    fill : bool
        False surveys the columns and leaves the table as it is.
    add_intervals : bool
        False makes intervals for the summary alone.
    portraits : bool
        Add what a report shows of each column to its summary.
    left_alone : mapping from column to reason
        What is not to be filled for a reason that its cells do not show.
    naming, alignment_options : as `align` takes them
    alignment : Alignment, optional
        Made already; `edges` and their columns are then not looked at.
    propagate : what solves the channels, with the arguments of :func:`graphfill.propagate`
    progress : called with the share of the work done since the last call
    """
    import narwhals as nw

    errors.check_choice("method", method, METHODS)
    errors.check_choice("unreached", unreached, ("mean", "nan"))
    _refuse_tables.check_reliance(reliance)
    _refuse_tables.check_level(intervals)
    errors.check_scores(scores, PATTERNS)
    errors.check_number("seed", seed, low=0, integer=True)
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        missing = [missing]  # one marker, not its letters
    limit = parse_bytes(memory_limit)
    naming = naming or Naming()
    tick = progress or (lambda share: None)
    solver_options = {"normalization": normalization, "solver": solver, **solver_options}
    began = time.perf_counter()
    _refuse_tables.check_table(table, naming.table)
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
    with errors.places(naming.cell_row or naming.row):
        opened = open_columns(
            frame, alignment, columns, exclude, types or {}, missing, naming, left_alone
        )
    summaries = survey_columns(opened, frame.columns, alignment, seed)
    todo = [c for c in opened.values() if c.n_channels and c.missing.any()]
    _refuse_tables.check_something_known(bool(todo), opened.values(), naming.table)
    beyond_reach = unreached_cells(todo, alignment)
    settings = {
        "method": method,
        "reliance": reliance,
        "intervals": intervals,
        "scores": scores,
        "unreached": unreached,
        "seed": seed,
        **solver_options,
    }
    result = TableResult(
        table,
        list(summaries.values()),
        filled={},
        unreached=beyond_reach,
        alignment=alignment,
        notes=[],
        settings=settings,
    )
    for name, cells in beyond_reach.items():
        summaries[name].n_unreached = int(cells.sum())
    surveyed = time.perf_counter()
    judged: dict[str, Judgement] = {}
    unjudged: list[str] = []
    if todo and (scores or intervals is not None or method in LEARNT):
        judged = judge(
            {name: column for name, column in opened.items() if column.n_channels},
            [column.name for column in todo],
            alignment.graph,
            informative_columns(opened, summaries, alignment, seed),
            method=method,
            level=intervals,
            pattern=scores if isinstance(scores, str) else None,
            unreached=beyond_reach,
            seed=seed,
            reliance=reliance,
            progress=tick,
            propagation=solver_options,
        )
        for name, judgement in judged.items():
            summaries[name].details |= judgement.details(opened[name])
            summaries[name].explained = judgement.explained
        unjudged = [
            f"Column {column.name!r} has {int((~column.missing).sum())} known cell(s), fewer than "
            f"the {FEWEST_KNOWN} that scores and intervals take: it gets neither"
            f"{', and is left to propagation' if method in LEARNT else ''}."
            for column in todo
            if column.name not in judged
        ]
    if fill and todo:
        left_missing = beyond_reach if unreached == "nan" else {}
        for name, judgement in judged.items():
            _take(judgement, opened[name], left_missing.get(name))
        solved = fill_channels(
            [column for column in todo if column.name not in judged],
            alignment.graph,
            method="propagation" if method in LEARNT else method,
            reliance=reliance,
            seed=seed,
            left_missing=left_missing,
            memory_limit=limit,
            propagate=propagate,
            progress=(lambda share: None) if judged else tick,
            **solver_options,
        )
        result.n_iter, result.residual = solved.n_iter, solved.residual
        result.converged = solved.converged
        for name, held in solved.held_out.items():
            summaries[name].reliance, summaries[name].explained = held.reliance, held.explained
        rebuilt = [column.rebuild() for column in todo]
        result.filled = {column.name: column.filled_cells for column in todo}
        added = _marks(result.filled, frame) if mark else []
        for column in todo if add_intervals and intervals is not None else ():
            left = left_missing.get(column.name)
            added += sure_columns(column, judged.get(column.name), left)
        for series in added:
            _refuse_tables.check_free_name(series.name, frame.columns)
        result.table = nw.to_native(frame.with_columns(*rebuilt, *added))
        _count(result.filled, todo, summaries)
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
    result.notes = [*notes_on(alignment, summaries, opened, naming), *unjudged]
    done = time.perf_counter()
    result.seconds = {
        "link": linked - began,
        "survey": surveyed - linked,
        "fill": done - surveyed,
    }
    return result


def _take(judgement: Judgement, column: Column, left_missing: Array | None) -> None:
    """Put what was found while judging into the column's missing cells."""
    cells = judgement.found.filled.copy()
    if left_missing is not None:
        cells[left_missing[column.missing]] = np.nan
    column.decode_levels(cells)


def _count(
    filled: dict[str, Array], columns: list[Column], summaries: dict[str, ColumnSummary]
) -> None:
    """Note how many cells were filled, and where the graph had no part in it."""
    for column in columns:
        summary = summaries[column.name]
        summary.n_filled = int(filled[column.name].sum())
        usual = column.fills_as_usual and summary.verdict != "inferable"
        if usual or summary.reliance == 0.0:
            summary.verdict = "not from this graph"


def _marks(filled: dict[str, Array], frame: nw.DataFrame[Any]) -> list[nw.Series[Any]]:
    import narwhals as nw

    marks = []
    for name, cells in filled.items():
        if not cells.any():
            continue
        mark = nw.new_series(f"{name}_filled", cells, nw.Boolean, backend=frame.implementation)
        marks.append(mark)
    return marks
