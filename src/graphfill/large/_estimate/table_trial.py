"""How fast cells are read, made channels of and back, and written here."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ...errors import InputError
from ...graph._graph import Graph
from ...io._columnar import grouping_of, parquet_writer
from ...table._columns import open_column
from ...table._inspect import column_agreement
from ...table._numeric import Column
from .._disk.parquet import open_parquet
from .outline import Outline
from .timing import timed

TRIED_ROWS, TRIED_COLUMNS, SURVEYED = 1 << 16, 6, 2
TOGETHER = 16  # channels


def table_speeds(seen: Outline) -> tuple[float, float, float, float]:
    """Seconds per cell to read, to work on and to write; and per column, to survey it."""
    import narwhals as nw

    sizes = seen.sizing.columns
    lacking = [name for name in sizes if sizes[name].channels] or list(sizes)
    names = lacking[:TRIED_COLUMNS]
    if not names:
        return 0.0, 0.0, 0.0, 0.0
    reading, cells = timed(_first_rows, seen, names)
    frame = nw.from_native(cells, eager_only=True)
    graph = Graph.from_edges(*(seen.ends % cells.num_rows), n_nodes=cells.num_rows)
    working, surveying, n_worked, n_surveyed = 0.0, 0.0, 0, 0
    for name in names:
        try:
            opening, column = timed(open_column, frame.get_column(name))
        except InputError:  # said when it is filled
            continue
        if not (column.n_channels and column.missing.any()):
            continue
        working += opening + timed(_there_and_back, column)[0]
        n_worked += len(column.missing)
        if n_surveyed < SURVEYED:
            surveying += timed(column_agreement, column, graph, 0)[0]
            n_surveyed += 1
    writing, _ = timed(_write, seen, cells)
    n_cells = max(cells.num_rows * len(names), 1)
    survey = surveying / max(n_surveyed, 1)
    return reading / n_cells, working / max(n_worked, 1), writing / n_cells, survey


def _first_rows(seen: Outline, names: list[str]) -> Any:
    import pyarrow as pa

    with open_parquet(seen.table.path) as file:
        batches = file.iter_batches(TRIED_ROWS, columns=names)
        return pa.Table.from_batches([next(batches)]).select(names)


def _there_and_back(column: Column) -> Any:
    """What happens to a column beside being solved; reliance is fitted on a second encoding."""
    n_missing = int(column.missing.sum())
    for start in range(0, column.n_channels, TOGETHER):
        channels = range(start, min(start + TOGETHER, column.n_channels))
        X = np.empty((len(column.missing), len(channels)))
        for _ in range(2):
            column.encode(channels, X)
        column.decode(channels, np.zeros((n_missing, len(channels))))
    return column.rebuild()


def _write(seen: Outline, cells: Any) -> None:
    with open_parquet(seen.table.path) as file:
        grouping = grouping_of(file.metadata)
    with io.BytesIO() as file, parquet_writer(file, cells.schema, grouping) as writer:
        writer.write_table(cells)
