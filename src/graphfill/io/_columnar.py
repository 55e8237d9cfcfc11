"""Parquet and Arrow (Feather) files: typed columns, read and written by pyarrow."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from ..errors import InputError, check_column_name
from ._columns import mark_missing, null_where, parse_column
from ._sheet import (
    Options,
    Output,
    Sheet,
    check_columnar,
    check_header,
    check_some_rows,
    split_name,
    unreadable,
)

GROUP_ROWS = 1 << 20  # of a file that is made from another format


@dataclass(frozen=True)
class Grouping:
    """How a columnar file is cut into groups of rows, and how each column is packed."""

    rows: list[int]
    compression: Any
    stream: bool = False


def read(path: Path, options: Options) -> Sheet:
    """A columnar file as a sheet, one group of rows after the other."""
    format = split_name(path)[0]
    check_columnar(path, format)
    with refusing_broken(path):
        reader = _read_parquet if format == "parquet" else _read_arrow
        table, grouping = reader(path, options)
    check_header(path, table.column_names)
    check_some_rows(path, table.num_rows > 0, options.edges)
    return finish(Sheet(path, format, table, source=grouping), options)


@contextmanager
def refusing_broken(path: Path) -> Iterator[None]:
    """A sentence in place of what pyarrow raises for a file that it cannot read."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise unreadable(path, error) from None


def finish(sheet: Sheet, options: Options) -> Sheet:
    """Columns as they were read, with NaN as missing and texts as what the user says they are.

    A column as it stood is kept for writing.
    """
    for number, field in enumerate(sheet.table.schema):
        column = sheet.table[field.name]
        if pa.types.is_floating(field.type):
            known = null_where(pc.is_nan(column), column)
            if known is not column:
                sheet.originals[field.name] = column
                sheet.table = sheet.table.set_column(number, field, known)
    for name, kind in options.types.items():
        check_column_name(name, sheet.table.column_names, sheet.path.name)
        column = sheet.table[name]
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        texts, _ = mark_missing(column.cast("string"), options.named_markers)
        parsed, text_format, _ = parse_column(texts, name, sheet, kind=kind)
        if parsed is not texts:
            number = sheet.table.schema.get_field_index(name)
            sheet.table = sheet.table.set_column(number, name, parsed)
            sheet.originals[name], sheet.texts[name] = column, texts
            sheet.text_formats[name] = text_format
    return sheet


def _read_parquet(path: Path, options: Options) -> tuple[pa.Table, Grouping]:
    with parquet.ParquetFile(path) as file:
        meta = file.metadata
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
        total = sum(group.total_byte_size for group in groups)
        # A page of one repeated value is a few bytes however many rows it stands for.
        options.check_size(path, max(total, meta.num_rows * meta.num_columns))
        tables, done, size = [], 0, 0
        for number, group in enumerate(groups):
            tables.append(file.read_row_group(number))
            done, size = done + group.total_byte_size, size + tables[-1].nbytes
            options.check_size(path, size)
            options.progress(done, total)
        table = pa.concat_tables(tables) if tables else file.schema_arrow.empty_table()
        return table, grouping_of(meta)


def grouping_of(meta: Any) -> Grouping:
    """The groups of a Parquet file, and how its columns are packed."""
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    first = [groups[0].column(number) for number in range(groups[0].num_columns)] if groups else []
    names = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}  # as a writer calls them
    compression = {
        column.path_in_schema: names.get(column.compression, column.compression) for column in first
    }
    return Grouping([group.num_rows for group in groups], compression)


def _read_arrow(path: Path, options: Options) -> tuple[pa.Table, Grouping]:
    size = path.stat().st_size
    with pa.OSFile(str(path)) as file:
        magic = file.read(6)
        file.seek(0)
        if magic[:4] == b"FEA1":  # Feather as it was before 2020
            from pyarrow import feather

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                return feather.read_table(path, memory_map=False), Grouping([], "lz4")
        codec = _codec(file, magic)
        file.seek(0)
        stream = magic != b"ARROW1"
        reader = pa.ipc.open_stream(file) if stream else pa.ipc.open_file(file)
        numbers = () if stream else range(reader.num_record_batches)
        batches, unpacked = [], 0
        for batch in reader if stream else map(reader.get_batch, numbers):
            batches.append(batch)
            unpacked += batch.nbytes
            options.check_size(path, unpacked)
            options.progress(min(file.tell(), size), size)
        table = pa.Table.from_batches(batches, reader.schema)
    return table, Grouping([batch.num_rows for batch in batches], codec, stream)


def _codec(file: Any, magic: bytes) -> str | None:
    """How the first batch is packed: its header says so, but pyarrow does not pass it on.

    The header is a flatbuffer, a tree of tables each of which begins with the distance back to
    the list of its fields' places.
    """

    def place(buffer: memoryview, table: int, field: int) -> int:
        fields = table - int.from_bytes(buffer[table : table + 4], "little", signed=True)
        entry = fields + 4 + 2 * field
        if entry >= fields + int.from_bytes(buffer[fields : fields + 2], "little"):
            return 0
        offset = int.from_bytes(buffer[entry : entry + 2], "little")
        return table + offset if offset else 0

    def follow(buffer: memoryview, position: int) -> int:
        return position + int.from_bytes(buffer[position : position + 4], "little")

    file.seek(8 if magic == b"ARROW1" else 0)  # a file is a stream between two marks
    for message in pa.ipc.MessageReader.open_stream(file):
        if message.type == "record batch":
            buffer = memoryview(message.metadata)
            batch = follow(buffer, place(buffer, follow(buffer, 0), 2))
            packed = place(buffer, batch, 3)
            if not packed:
                return None
            codec = place(buffer, follow(buffer, packed), 0)
            return "zstd" if codec and buffer[codec] == 1 else "lz4"
    return None


def write(file: IO[bytes], output: Output) -> None:
    """Write a whole table, cut and packed like the input if that was of the same format."""
    table, like, format = output.table, output.like, split_name(output.path)[0]
    grouping = like.source if like.format == format else None
    if grouping is None:
        grouping = Grouping([], "snappy" if format == "parquet" else "lz4")
    writer: Any
    if format == "parquet":
        writer = parquet_writer(file, table.schema, grouping)
    else:
        options = pa.ipc.IpcWriteOptions(compression=grouping.compression)
        new = pa.ipc.new_stream if grouping.stream else pa.ipc.new_file
        table = table.unify_dictionaries()  # a file holds one dictionary a column
        writer = new(file, table.schema, options=options)
    sizes = grouping.rows
    if sum(sizes) != table.num_rows:
        sizes = [GROUP_ROWS] * (table.num_rows // GROUP_ROWS) + [table.num_rows % GROUP_ROWS]
    with writer:
        start = 0
        for rows in filter(None, sizes):
            group = table.slice(start, rows)  # one group of rows, or one batch
            writer.write_table(group if format == "parquet" else group.combine_chunks(), rows)
            start += rows
            output.progress(table.nbytes * start // table.num_rows, table.nbytes)


def parquet_writer(file: IO[bytes], schema: pa.Schema, grouping: Grouping) -> Any:
    """A writer that packs columns like those of another file; new ones like its first."""
    compression = grouping.compression
    if isinstance(compression, dict):
        first = next(iter(compression.values()), "snappy")
        with io.BytesIO() as empty:  # columns as Parquet sees them: a list or a struct has leaves
            parquet.write_table(schema.empty_table(), empty)
            leaves = parquet.ParquetFile(empty).schema
        paths = (leaves.column(number).path for number in range(len(leaves)))
        compression = {path: compression.get(path, first) for path in paths}
    return parquet.ParquetWriter(file, schema, compression=compression)
