"""Parquet files that are read piece by piece, and what they tell of their own size."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, check_column_name
from ...io import Options, Sheet, check_columnar, check_header, check_is_file, check_some_rows
from ...table._alignment import edge_without_end
from ...table._codes import recognize_code
from ...table._columns import open_column
from ...table._edge_ends import check_two_ends_named, checked_weights, guess_ends
from ...table._id_column import Ids, check_not_nested
from ...table._options import Naming

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[Any]
Name = str | None

EDGES_AT_ONCE = 1 << 21
SAMPLE_ROWS = 1 << 12
TEXT_ROWS = 1 << 16  # of columns whose values have to be counted


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """The file's reader, which reads pages as they are needed and not whole columns ahead."""
    from pyarrow import parquet

    from ...io._columnar import refusing_broken

    check_is_file(path)
    check_columnar(path, "parquet")
    with (
        refusing_broken(path),
        parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as reader,
    ):
        yield reader


class EdgeFile:
    """The edges of a Parquet file, in chunks.

    Ends that are not named are guessed as :func:`graphfill.impute` does, and `guesses` says so.
    """

    def __init__(self, path: Path, source: Name = None, target: Name = None, weight: Name = None):
        self.path, self.weight = path, weight
        self.naming = Naming(edges=path.name, edge_row=lambda row: f"row {row + 1}")
        self.guesses: list[str] = []
        with open_parquet(path) as file:
            self.n_edges: int = file.metadata.num_rows
            schema = file.schema_arrow
        check_header(path, schema.names)
        for name in (source, target, weight):
            if name is not None:
                check_column_name(name, schema.names, path.name)
        check_two_ends_named(source, target, path.name)
        if source is None:
            source, target = guess_ends(schema.names, self.naming, self.guesses)
        self.source, self.target = source, target
        for name in (source, target):
            check_not_nested(schema.field(name).type.num_fields > 0, name, path.name)

    def chunks(self, size: int = EDGES_AT_ONCE) -> Iterator[tuple[Ids, Ids, Array | None]]:
        """Both ends and the weights of some edges at a time, in order."""
        from ...io._columnar import checked

        names = [self.source, self.target, *([] if self.weight is None else [self.weight])]
        start = 0
        with open_parquet(self.path) as file:
            for batch in map(checked, file.iter_batches(size, columns=list(dict.fromkeys(names)))):
                ends = [Ids(batch.column(name)) for name in names[:2]]
                for role, ids in zip(("source", "target"), ends, strict=True):
                    row = ids.missing()
                    if row is not None:
                        where = self.naming.edge_row(start + row)
                        raise edge_without_end(self.path.name, where, role)
                yield ends[0], ends[1], self._weights(batch, start)
                start += batch.num_rows

    def _weights(self, batch: pa.RecordBatch, start: int) -> Array | None:
        """The weights of a batch whose first edge is row `start` of the file."""
        import narwhals as nw
        import pyarrow as pa

        if self.weight is None:
            return None
        frame = nw.from_native(pa.table({self.weight: batch.column(self.weight)}), eager_only=True)
        naming = replace(self.naming, edge_row=lambda row: self.naming.edge_row(start + row))
        return np.asarray(checked_weights(frame[self.weight], naming)).astype(np.float64)

    def edge_bytes(self) -> tuple[float, bool]:
        """Bytes of an edge as Arrow holds it; whether its ends are other than whole numbers."""
        first = next(self.chunks(SAMPLE_ROWS), None)
        if first is None:
            return 16.0, False
        source, target, weights = first
        if source.kind == "objects":
            return 128.0, True
        size = (source.values.nbytes + target.values.nbytes) / len(source)
        return size + 8 * (weights is not None), source.kind != "whole numbers"


@dataclass(frozen=True)
class ColumnSize:
    """What decides how much memory a column takes.

    Channels are the floats per row that are solved for: one for numbers, one per value for
    categories, none for what is left alone or has no missing cell.
    """

    cell_bytes: float  # as Arrow holds it
    channels: int
    missing: float  # share of the cells
    has_nan: bool  # then the column is kept twice: as it was read, and with nulls


class TableFile:
    """The columns of a Parquet file, a few at a time, and its rows, group by group."""

    def __init__(self, path: Path, types: dict[str, str] | None = None):
        from ...io._columnar import grouping_of, longest_texts

        self.path, self._options = path, Options(None, types or {})
        with open_parquet(path) as file:
            self.schema, self._meta = file.schema_arrow, file.metadata
            for number in range(self._meta.num_row_groups):
                longest_texts(path, file, number)  # refuses broken records
        self.n_rows: int = self._meta.num_rows
        self.grouping = grouping_of(self._meta)
        check_header(path, self.schema.names)
        check_some_rows(path, self.n_rows > 0, False)
        for name in self._options.types:
            check_column_name(name, self.schema.names, path.name)

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def row_groups(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns of one group of rows after the other."""
        from ...io._columnar import checked

        with open_parquet(self.path) as file:
            for number in range(file.metadata.num_row_groups):
                group = file.read_row_group(number, columns=list(names), use_threads=False)
                yield checked(group)

    def arrow(self, names: Sequence[str]) -> pa.Table:
        """Whole columns, in the order asked for."""
        import pyarrow as pa

        return pa.concat_tables(list(self.row_groups(names))).select(list(names))

    def first_rows(self, names: Sequence[str], n_rows: int, *, threads: bool = False) -> pa.Table:
        """The first rows of some columns, at most so many."""
        import pyarrow as pa

        from ...io._columnar import checked

        with open_parquet(self.path) as file:
            batches = file.iter_batches(n_rows, columns=list(names), use_threads=threads)
            return checked(pa.Table.from_batches([next(batches)])).select(list(names))

    def sheet(self, names: Sequence[str]) -> Sheet:
        """Some columns as :func:`graphfill.io.read_table` reads them."""
        from ...io._columnar import finish

        types = {name: kind for name, kind in self._options.types.items() if name in names}
        sheet = Sheet(self.path, "parquet", self.arrow(names), source=self.grouping)
        return finish(sheet, replace(self._options, types=types))

    # -- sizes --

    def _column_chunks(self) -> Iterator[Any]:
        """What the file says of each column in each group of rows."""
        for group in map(self._meta.row_group, range(self._meta.num_row_groups)):
            yield from map(group.column, range(group.num_columns))

    def cell_bytes(self) -> dict[str, float]:
        """Bytes per cell of each column as Arrow holds it, as far as the file tells."""
        stored: Counter[str] = Counter()
        for chunk in self._column_chunks():
            stored[chunk.path_in_schema.partition(".")[0]] += chunk.total_uncompressed_size
        sizes = {}
        for field in self.schema:
            try:
                sizes[field.name] = field.type.bit_width / 8
            except ValueError:  # text: what the file holds, and where each begins
                sizes[field.name] = stored[field.name] / self.n_rows + 8
        return sizes

    def column_sizes(self, names: Sequence[str]) -> dict[str, ColumnSize]:
        """Sizes of some columns; categories have the values that the first rows have."""
        import pyarrow as pa

        fixed = self.cell_bytes()
        nulls: dict[str, float] = defaultdict(float)  # NaN where the file does not say
        for chunk in self._column_chunks():
            stats = chunk.statistics
            known = stats is not None and stats.has_null_count
            nulls[chunk.path_in_schema] += stats.null_count / self.n_rows if known else np.nan
        # Cells of one width: none has to be read to know it.
        kinds = {name: self.schema.field(name).type for name in names}
        plain = [n for n in names if pa.types.is_primitive(kinds[n]) or pa.types.is_null(kinds[n])]
        texts = [name for name in names if name not in plain]
        sizes = {}
        for some, n_rows in ((plain, SAMPLE_ROWS), (texts, TEXT_ROWS)):
            sample = self.first_rows(some, n_rows)
            for name in some:
                width = fixed[name] if name in plain else sample[name].nbytes / len(sample)
                sizes[name] = _column_size(sample.select([name]), width, nulls.get(name, np.nan))
        return {name: sizes[name] for name in names}


def _column_size(sample: pa.Table, cell_bytes: float, nulls: float) -> ColumnSize:
    """The size of one column from some of its rows; `nulls` is their share, NaN if unknown."""
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = sample.column(0)
    nan = pc.sum(pc.is_nan(cells)).as_py() or 0 if pa.types.is_floating(cells.type) else 0
    missing = (cells.null_count / len(cells) if np.isnan(nulls) else nulls) + nan / len(cells)
    channels = 0
    if missing:
        frame = nw.from_native(sample, eager_only=True)
        try:
            column = open_column(frame[sample.column_names[0]])
            channels = recognize_code(column, None).n_channels
        except InputError:  # what is wrong with it is said when it is filled
            channels = 1
    return ColumnSize(cell_bytes, channels, min(missing, 1.0), nan > 0)
