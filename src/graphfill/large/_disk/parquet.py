"""Parquet files that are read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...io import (
    Options,
    Sheet,
    check_columnar,
    check_header,
    check_is_file,
    check_some_rows,
    finish,
    grouping_of,
    unreadable,
)
from ...table import _refuse_tables
from ...table._edge_ends import checked_weights, guess_ends
from ...table._id_column import Ids
from ...table._naming import Naming

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[Any]

EDGES_AT_ONCE = 1 << 21


def open_parquet(path: Path) -> Any:
    """The file's reader, which reads pages as they are needed and not whole columns ahead."""
    import pyarrow as pa
    from pyarrow import parquet

    check_is_file(path)
    check_columnar(path, "parquet")
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise unreadable(path, error) from None


class EdgeFile:
    """The edges of a Parquet file, in chunks.

    Parameters
    ----------
    path : path
    source, target, weight : names of columns, optional
        The ends are guessed as :func:`graphfill.impute` does, `guesses` saying so.
    """

    def __init__(
        self,
        path: Path,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
    ):
        self.path, self.weight = path, weight
        self.naming = Naming(edges=path.name, edge_row=lambda row: f"row {row + 1}")
        self.guesses: list[str] = []
        with open_parquet(path) as file:
            self.n_edges = file.metadata.num_rows
            schema = file.schema_arrow
        check_header(path, schema.names)
        for name in (source, target, weight):
            if name is not None:
                _refuse_tables.check_column_name(name, schema.names, path.name)
        _refuse_tables.check_two_ends_named(source, target, path.name)
        if source is None:
            source, target = guess_ends(schema.names, self.naming, self.guesses)
        self.source, self.target = source, target
        for name in (source, target):
            nested = schema.field(name).type.num_fields > 0
            _refuse_tables.check_not_nested(nested, name, path.name)

    def chunks(self, size: int = EDGES_AT_ONCE) -> Iterator[tuple[Ids, Ids, Array | None]]:
        """Both ends and the weights of some edges at a time, in order."""
        import narwhals as nw
        import pyarrow as pa

        names = [self.source, self.target, *([] if self.weight is None else [self.weight])]
        start = 0
        with open_parquet(self.path) as file:
            try:
                for batch in file.iter_batches(size, columns=list(dict.fromkeys(names))):
                    ends = [Ids(batch.column(name)) for name in names[:2]]
                    for role, ids in zip(("source", "target"), ends, strict=True):
                        row = ids.missing()
                        if row is not None:
                            where = self.naming.edge_row(start + row)
                            raise _refuse_tables.edge_without_end(self.path.name, where, role)
                    weights = None
                    if self.weight is not None:
                        column = pa.chunked_array([batch.column(self.weight)])
                        series = nw.from_native(pa.table({self.weight: column}), eager_only=True)
                        here = replace(self.naming, edge_row=self._from(start))
                        cells = checked_weights(series.get_column(self.weight), here)
                        weights = np.asarray(cells).astype(np.float64)
                    yield ends[0], ends[1], weights
                    start += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                raise unreadable(self.path, error) from None

    def _from(self, start: int) -> Any:
        return lambda row: self.naming.edge_row(start + row)


class TableFile:
    """The columns of a Parquet file, a few at a time, and its rows, group by group."""

    def __init__(self, path: Path, types: dict[str, str] | None = None):
        self.path, self._options = path, Options(None, types or {})
        with open_parquet(path) as file:
            self.schema = file.schema_arrow
            self.n_rows = file.metadata.num_rows
            self.grouping = grouping_of(file.metadata)
        check_header(path, self.schema.names)
        check_some_rows(path, self.n_rows > 0, False)
        for name in self._options.types:
            _refuse_tables.check_column_name(name, self.schema.names, path.name)

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def arrow(self, names: Sequence[str]) -> pa.Table:
        """Whole columns, in the order asked for."""
        import pyarrow as pa

        with open_parquet(self.path) as file:
            try:
                groups = [
                    file.read_row_group(number, columns=list(names), use_threads=False)
                    for number in range(file.metadata.num_row_groups)
                ]
            except (pa.ArrowException, OSError) as error:
                raise unreadable(self.path, error) from None
        return pa.concat_tables(groups).select(list(names))

    def sheet(self, names: Sequence[str]) -> Sheet:
        """Some columns as :func:`graphfill.io.read_table` reads them."""
        types = {name: kind for name, kind in self._options.types.items() if name in names}
        sheet = Sheet(self.path, "parquet", self.arrow(names), source=self.grouping)
        return finish(sheet, replace(self._options, types=types))

    def row_groups(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns of one group of rows after the other."""
        import pyarrow as pa

        with open_parquet(self.path) as file:
            for number in range(file.metadata.num_row_groups):
                try:
                    yield file.read_row_group(number, columns=list(names), use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    raise unreadable(self.path, error) from None

    def cell_bytes(self) -> dict[str, float]:
        """Bytes per cell of each column as Arrow holds it, as far as the file tells."""
        packed: dict[str, int] = dict.fromkeys(self.names, 0)
        with open_parquet(self.path) as file:
            meta = file.metadata
            for group in map(meta.row_group, range(meta.num_row_groups)):
                for column in map(group.column, range(group.num_columns)):
                    name = column.path_in_schema.partition(".")[0]
                    packed[name] = packed.get(name, 0) + column.total_uncompressed_size
        sizes = {}
        for field in self.schema:
            try:
                sizes[field.name] = field.type.bit_width / 8
            except ValueError:  # text: what the file holds, and where each begins
                sizes[field.name] = packed[field.name] / self.n_rows + 8
        return sizes
