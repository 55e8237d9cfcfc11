"""A table looked over before it is filled: what each column is, lacks and has to go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..graph._components import graph_components
from ..graph._graph import Graph
from ..trust._agreement import Agreement, agreement
from . import _refuse_tables
from ._alignment import Alignment
from ._columns import Column, open_column
from ._naming import Naming
from ._result import ColumnSummary

if TYPE_CHECKING:
    import narwhals as nw

Array = NDArray[Any]


def open_columns(
    frame: nw.DataFrame[Any],
    alignment: Alignment,
    columns: Sequence[Any] | None,
    exclude: Sequence[Any],
    types: Mapping[Any, str],
    missing: Sequence[Any],
    naming: Naming,
    left_alone: Mapping[Any, str] | None = None,
) -> dict[str, Column]:
    """The columns that may be filled, by name; those asked for must exist.

    `left_alone` says why a column is not, which its cells do not show.
    """
    for name in [*(columns or ()), *exclude, *types]:
        _refuse_tables.check_column_name(name, frame.columns, naming.table)
    wanted = [name for name in frame.columns if columns is None or name in columns]
    _refuse_tables.check_not_the_ids(alignment.id, columns)
    _refuse_tables.check_in_one_list(columns, exclude)
    return {
        name: open_column(
            frame.get_column(name),
            kind=types.get(name),
            missing=missing,
            asked=columns is not None,
            left_alone=(left_alone or {}).get(name),
        )
        for name in wanted
        if name != alignment.id and name not in exclude
    }


def survey_columns(
    opened: dict[str, Column], names: Sequence[str], alignment: Alignment, seed: int
) -> dict[str, ColumnSummary]:
    """What each column is, what it lacks, and whether neighbours agree in it."""
    summaries = {}
    n_nodes = alignment.graph.n_nodes
    for name in names:
        if name == alignment.id:
            summaries[name] = ColumnSummary(name, "id", 0)
            continue
        if name not in opened:
            summaries[name] = ColumnSummary(name, "left alone", 0, note="not asked for")
            continue
        column = opened[name]
        summary = ColumnSummary(name, column.kind, int(column.missing.sum()), note=column.reason)
        summaries[name] = summary
        if column.n_channels and summary.n_missing:
            agreed = column_agreement(column, alignment.graph, n_nodes, seed)
            summary.agreement, summary.agreement_spread = agreed.value, agreed.spread
            summary.verdict = agreed.verdict
    return summaries


def column_agreement(column: Column, graph: Graph, n_nodes: int, seed: int) -> Agreement:
    """How much neighbours agree in a column of the table."""
    values = np.full(n_nodes, np.nan)
    values[: len(column.missing)] = column.levels()
    return agreement(graph, values, classes=column.is_class, seed=seed)


def informative_columns(
    opened: dict[str, Column], summaries: dict[str, ColumnSummary], alignment: Alignment, seed: int
) -> dict[str, bool]:
    """By column, whether neighbours agree in it."""
    n_nodes = alignment.graph.n_nodes
    return {
        name: summaries[name].verdict in ("inferable", "weakly")
        if summaries[name].verdict
        else column_agreement(column, alignment.graph, n_nodes, seed).beyond_chance
        for name, column in opened.items()
        if column.n_channels
    }


def unreached_cells(columns: Sequence[Column], alignment: Alignment) -> dict[str, Array]:
    """Missing cells of each column in whose component nothing is known of it."""
    count, label = graph_components(alignment.graph)[:2]
    label = label[: alignment.n_rows]
    cells = {}
    for column in columns:
        informed = np.zeros(count, dtype=bool)
        informed[label[~column.missing]] = True
        cells[column.name] = column.missing & ~informed[label]
    return cells


def notes_on(
    alignment: Alignment,
    summaries: dict[str, ColumnSummary],
    opened: dict[str, Column],
    naming: Naming,
) -> list[str]:
    notes = list(alignment.guesses)
    if alignment.n_outside:
        notes.append(
            f"{alignment.n_outside:,} node(s) named by {naming.edges} are not in {naming.table}: "
            "they pass information on but are not added."
        )
    if alignment.n_unlinked:
        notes.append(f"{alignment.n_unlinked:,} row(s) of {naming.table} have no edge.")
    for summary in summaries.values():
        own = opened[summary.name].notes if summary.name in opened else ()
        if summary.n_filled or summary.note:
            notes += own
        if summary.note and summary.n_missing and not own:
            notes.append(
                f"Column {summary.name!r} is left alone with {summary.n_missing:,} missing "
                f"cell(s): {summary.note}."
            )
        if summary.verdict == "not from this graph":
            notes.append(
                f"Neighbours hardly agree in column {summary.name!r}: the graph says next to "
                "nothing about its missing cells."
            )
        if "highest_level" in summary.details:
            said = summary.details
            notes.append(
                f"Column {summary.name!r} has {said['n_held_out']:,} known cells to learn from, "
                f"which bound {100 * said['highest_level']:.3g} % of the truths at most, not "
                f"{100 * said['interval_level']:.3g} %: its bounds are left empty."
            )
    return notes
