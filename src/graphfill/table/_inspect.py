"""A table inspected before it is filled: what each column is, what it lacks, what it can use."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, check_column_name, option, places
from ..graph import Graph
from ..report import listed
from ..trust import Agreement, Recipe, agreement, propagated_agreement
from ._alignment import Alignment
from ._arrow import read
from ._codes import recognize_code
from ._column import Column
from ._columns import open_column
from ._markers import Reading
from ._options import Source, TableOptions
from ._result import ColumnSummary

if TYPE_CHECKING:
    import narwhals as nw

SAMPLE = 1000  # rows that show the decimal mark of a table


def open_columns(
    frame: nw.DataFrame[Any], alignment: Alignment, options: TableOptions, source: Source
) -> dict[str, Column]:
    """The columns that may be filled, by name, their cells in the order of the graph's nodes."""
    naming, columns = source.naming, options.columns
    for name in [*(columns or ()), *options.exclude, *options.types]:
        check_column_name(name, frame.columns, naming.table)
    check_not_the_ids(alignment.id, columns)
    names = [
        name for name in frame.columns if name != alignment.id and not _left_out(name, options)
    ]
    asked, reading = columns is not None, reading_of(frame, options, source)
    return {name: _open(name, frame, alignment, options, source, reading, asked) for name in names}


def reading_of(frame: nw.DataFrame[Any], options: TableOptions, source: Source) -> Reading:
    """How text may be read, by what the user says and what the rest of the table shows."""

    @cache
    def decimal() -> str | None:
        from ..io._number_marks import settled_decimal

        if source.decimal is not None:
            return source.decimal
        cells = (read(column.head(SAMPLE)) for column in frame.iter_columns())
        found = {settled_decimal(one.twin) for one in cells if one.family == "text"} - {None}
        return found.pop() if len(found) == 1 else None

    return Reading(options.values, bool(source.texts), decimal)


def informing_columns(
    frame: nw.DataFrame[Any], alignment: Alignment, options: TableOptions, source: Source
) -> dict[str, Column]:
    """The columns that are not to be filled, but say something about those that are."""
    informing, reading = {}, reading_of(frame, options, source)
    when = None if options.links is None else options.links.time  # has told all by its links
    for name in frame.columns:
        if name not in (alignment.id, when) and _left_out(name, options):
            with contextlib.suppress(InputError):  # what cannot be read says nothing
                informing[name] = _open(
                    name, frame, alignment, options, source, reading, asked=False
                )
    return informing


def _left_out(name: str, options: TableOptions) -> bool:
    if options.links and name in options.links.columns:
        return True
    return name in options.exclude or (options.columns is not None and name not in options.columns)


def _open(
    name: str,
    frame: nw.DataFrame[Any],
    alignment: Alignment,
    options: TableOptions,
    source: Source,
    reading: Reading,
    asked: bool,
) -> Column:
    with places(source.naming.cell_row or source.naming.row):
        column = open_column(
            frame.get_column(name),
            kind=options.types.get(name),
            missing=options.missing,
            asked=asked,
            left_alone=source.left_alone.get(name),
            reading=reading,
        )
    if alignment.order is not None:
        column = column.in_order(alignment.order)
    return column if name in options.types else recognize_code(column, alignment.graph)


def check_not_the_ids(id: Any, columns: Sequence[Any] | None) -> None:
    """Refuse to fill the column that holds the ids."""
    if columns is not None and id in columns:
        raise InputError(
            f"Column {id!r} holds the ids, which cannot be filled: leave it out of "
            f"{option('columns')}."
        )


def summarize_columns(
    opened: dict[str, Column], names: Sequence[str], alignment: Alignment, seed: int
) -> dict[str, ColumnSummary]:
    """What each column is, what it lacks, and whether neighbours agree in it."""
    summaries = {}
    for name in names:
        if name == alignment.id:
            summaries[name] = ColumnSummary(name, "id", 0)
            continue
        if name not in opened:
            summaries[name] = ColumnSummary(name, "left alone", 0, note="not asked for")
            continue
        column = opened[name]
        n_missing = int(column.blank.sum())
        summary = ColumnSummary(name, column.kind, n_missing, note=column.reason)
        summaries[name] = summary
        if column.n_channels and summary.n_missing and column.all_equal:
            summary.links = summary.verdict = "unknown"  # equal neighbours say nothing
        elif column.n_channels and summary.n_missing:
            agreed = column_agreement(column, alignment.graph, seed)
            summary.agreement, summary.agreement_spread = agreed.value, agreed.spread
            summary.links = summary.verdict = agreed.verdict
    return summaries


def judge_by_propagation(
    columns: Mapping[str, Column],
    summaries: Mapping[str, ColumnSummary],
    graph: Graph,
    recipe: Recipe,
) -> str:
    """Judge columns in which too few linked rows are both known, by hidden cells; say which."""
    unknown = [
        columns[name] for name, one in summaries.items()
        if one.links == "unknown" and not columns[name].all_equal
    ]  # fmt: skip
    agreed = propagated_agreement(unknown, graph, recipe) if unknown else {}
    for name, one in agreed.items():
        summary = summaries[name]
        summary.agreement, summary.agreement_spread = one.value, one.spread
        summary.explained = one.value
        summary.links = summary.verdict = one.verdict
    if not agreed:
        return ""
    names = listed([repr(name) for name in agreed])
    return (
        f"Too few linked rows are both known to compare them in {names}: a fifth of the known "
        "cells was hidden and propagated instead, and the share explained of them is given as "
        "the agreement."
    )


def column_agreement(column: Column, graph: Graph, seed: int) -> Agreement:
    """How much neighbours agree in a column of the table."""
    values = np.full(graph.n_nodes, np.nan)
    values[: len(column.missing)] = column.levels()
    return agreement(graph, values, classes=column.is_class, seed=seed)


def informative_columns(
    opened: Mapping[str, Column],
    summaries: Mapping[str, ColumnSummary],
    alignment: Alignment,
    seed: int,
) -> dict[str, bool]:
    """By column, whether neighbours agree in it."""
    return {
        name: summaries[name].links in ("inferable", "weakly")
        if summaries[name].links
        else column_agreement(column, alignment.graph, seed).beyond_chance
        for name, column in opened.items()
        if column.n_channels
    }
