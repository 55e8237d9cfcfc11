"""What the first rows of a Parquet file, and its own counts, tell of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...table._columns import open_column
from .parquet import EdgeFile, TableFile, open_parquet

SAMPLE_ROWS = 1 << 12
TEXT_ROWS = 1 << 16  # of columns whose values have to be counted


@dataclass(frozen=True)
class ColumnSize:
    """What one column asks for.

    Attributes
    ----------
    cell_bytes : float
        Of a cell as Arrow holds it.
    channels : int
        Floats per row that are solved for: one for numbers, one per value for categories, none
        for what is left alone or lacks nothing.
    missing : float
        Share of the cells.
    has_nan : bool
        Then the column is kept twice: as it stood, and with nulls.
    """

    cell_bytes: float
    channels: int = 1
    missing: float = 0.5
    has_nan: bool = False


def column_sizes(table: TableFile, names: Sequence[str]) -> dict[str, ColumnSize]:
    """Sizes of some columns of a table; categories have the values that the first rows have."""
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc

    fixed, nulls = table.cell_bytes(), _nulls(table)
    texts = [name for name in names if not _is_plain(table.schema.field(name).type)]
    plain = [name for name in names if name not in texts]
    sizes = {}
    for some, rows in ((plain, SAMPLE_ROWS), (texts, TEXT_ROWS)):
        sample = _first_rows(table, some, rows)
        for name in some:
            cells = sample[name]
            width = fixed[name] if name in plain else cells.nbytes / max(len(cells), 1)
            nan = pc.sum(pc.is_nan(cells)).as_py() or 0 if pa.types.is_floating(cells.type) else 0
            lacking = nulls.get(name, cells.null_count / max(len(cells), 1))
            lacking += nan / max(len(cells), 1)
            channels = 0
            if lacking:
                frame = nw.from_native(sample.select([name]), eager_only=True)
                try:
                    channels = open_column(frame.get_column(name)).n_channels
                except InputError:  # what is wrong with it is said when it is filled
                    channels = 1
            sizes[name] = ColumnSize(width, channels, min(lacking, 1.0), nan > 0)
    return {name: sizes[name] for name in names}


def end_bytes(edges: EdgeFile) -> tuple[float, bool]:
    """Bytes of an edge as Arrow holds it, and whether its ends are anything but whole numbers."""
    first = next(edges.chunks(SAMPLE_ROWS), None)
    if first is None:
        return 16.0, False
    source, target, weights = first
    if source.kind == "objects":
        return 128.0, True
    size = (source.values.nbytes + target.values.nbytes) / len(source)
    return size + 8 * (weights is not None), source.kind != "whole numbers"


def _is_plain(kind: Any) -> bool:
    """Whether cells have one width, so that none has to be looked at to tell it."""
    import pyarrow as pa

    return pa.types.is_primitive(kind) or pa.types.is_null(kind)


def _first_rows(table: TableFile, names: Sequence[str], n_rows: int) -> Any:
    import pyarrow as pa

    with open_parquet(table.path) as file:
        batches = file.iter_batches(n_rows, columns=list(names), use_threads=False)
        first = next(batches, None)
    fields = [table.schema.field(name) for name in names]
    return pa.schema(fields).empty_table() if first is None else pa.table(first)


def _nulls(table: TableFile) -> dict[str, float]:
    """Share of nulls in each column, where the file says how many there are."""
    found: dict[str, int] = {}
    unsaid = set()
    with open_parquet(table.path) as file:
        meta = file.metadata
        for group in map(meta.row_group, range(meta.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                name, stats = column.path_in_schema, column.statistics
                if stats is None or not stats.has_null_count:
                    unsaid.add(name)
                else:
                    found[name] = found.get(name, 0) + stats.null_count
    n_rows = max(table.n_rows, 1)
    return {name: count / n_rows for name, count in found.items() if name not in unsaid}
