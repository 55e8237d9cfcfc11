"""Where the default compares fewer methods: large tables, little memory, columns of many values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import parameter
from ..graph import Graph
from ..solve import field_bytes, readable
from ._assessment import MOST_CLASSES
from ._column import FillableColumn
from ._options import FillOptions
from ._runs import _blocks, field_channels

FEW_CELLS = 10_000  # below, the known cells are cut into more folds
MANY_CELLS = 100_000  # from here on fewer methods are compared
MANY_CHANNELS = 1_000_000  # cells of channels, from which on one form of propagation is compared
MANY_ROWS = 10_000  # known cells of a column, on average: from here on folds are hidden at once
LARGE_CELLS = 400_000  # from here on two folds of a tenth each, without trees
MOST_PROBABILITIES = 20_000_000  # of a column's classes; beyond, it is left to propagation


def known_cells(columns: Mapping[str, FillableColumn]) -> int:
    return sum(int((~column.missing).sum()) for column in columns.values())


def has_many_classes(column: FillableColumn) -> bool:
    """Whether a column has too many classes to be compared."""
    probabilities = column.n_classes * len(column.missing)
    return column.n_classes > MOST_CLASSES or probabilities > MOST_PROBABILITIES


def field_need(columns: Mapping[str, FillableColumn], graph: Graph) -> int:
    """About the bytes that a field of these columns takes."""
    need = 0
    for names in _blocks(columns):
        parts = []
        for name in names:
            missing = np.ones(graph.n_nodes, dtype=bool)
            missing[: len(columns[name].missing)] = columns[name].missing
            parts.append(np.repeat(missing[:, None], len(field_channels(columns[name])), axis=1))
        need = max(need, field_bytes(np.concatenate(parts, axis=1), len(graph.indices)))
    return need


def field_fits(columns: Mapping[str, FillableColumn], graph: Graph, limit: int | None) -> bool:
    return limit is None or not columns or field_need(columns, graph) <= limit


def left_out(
    columns: Mapping[str, FillableColumn], wanted: Sequence[str], graph: Graph, options: FillOptions
) -> list[str]:
    """Sentences on what was not compared."""
    limit, cells = options.propagation.memory_limit, known_cells(columns)
    few = {name: one for name, one in columns.items() if not has_many_classes(one)}
    fits = field_fits(few, graph, limit)
    notes = []
    if cells >= MANY_CELLS and options.method == "auto":
        methods = ["the mean", "propagation"]
        if cells < LARGE_CELLS:
            methods.insert(1, "the neighbours' mean")
        methods += ["the field by rank"] if fits else []
        how = ", on two tenths of them and without trees" if cells >= LARGE_CELLS else ""
        notes.append(
            f"The table has {cells:,} known cells, so that fewer methods were compared: "
            f"{', '.join(methods[:-1])} and {methods[-1]}{how}."
        )
    if not fits and limit is not None:
        notes.append(
            f"{parameter('memory_limit')} leaves {readable(limit)} but a field of these columns "
            f"takes about {readable(field_need(few, graph))}: columns were filled without fields "
            "and trees."
        )
    for name in wanted:
        if has_many_classes(columns[name]):
            notes.append(
                f"Column {name!r} has {columns[name].n_classes:,} different values in "
                f"{len(columns[name].missing):,} rows, too many to compare methods on: it was "
                "left to propagation."
            )
    return notes
