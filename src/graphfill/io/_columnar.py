"""Parquet and Arrow (Feather) files: typed columns, read and written by pyarrow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .. import errors
from ..table import _refuse_tables
from . import _refuse_files, _refuse_formats
from ._markers import mark_missing
from ._options import Options
from ._sheet import Progress, Sheet
from ._text import parse_column

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 1 << 20  # of a file that is made from another format


@dataclass(frozen=True)
class Grouping:
    """How a columnar file is cut into groups of rows, and how each column is packed."""

    rows: list[int]
    compression: Any
    stream: bool = False


def read(path: Path, format: str, options: Options) -> Sheet:
    """A columnar file as a sheet, one group of rows after the other."""
    import pyarrow as pa

    with open_or_refuse(path) as file:
        _refuse_formats.check_columnar(path, file.read(8), format)
    try:
        reader = _read_parquet if format == "parquet" else _read_arrow
        table, grouping = reader(path, options)
    except errors.InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _refuse_files.unreadable(path, error) from None
    _refuse_files.check_header(path, table.column_names, None)
    _refuse_files.check_some_rows(path, table.num_rows > 0, options.edges)
    return finish(Sheet(path, format, table, source=grouping), options)


def finish(sheet: Sheet, options: Options) -> Sheet:
    """Columns as they were read, with NaN as missing and texts as what the user says they are."""
    _nan_as_null(sheet)
    _apply_types(sheet, options)
    return sheet


def open_or_refuse(path: Path) -> IO[bytes]:
    """Open a file for reading, or say in a sentence why it cannot be."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise _refuse_files.unreadable(path, error) from None


def _read_parquet(path: Path, options: Options) -> tuple[pa.Table, Grouping]:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        meta = file.metadata
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
        total = sum(group.total_byte_size for group in groups)
        # A page of one repeated value is a few bytes however many rows it stands for.
        if max(total, meta.num_rows * meta.num_columns) > options.limit:
            raise _refuse_files.too_large(path, options.limit)
        tables, done, size = [], 0, 0
        for number, group in enumerate(groups):
            tables.append(file.read_row_group(number))
            done, size = done + group.total_byte_size, size + tables[-1].nbytes
            if size > options.limit:
                raise _refuse_files.too_large(path, options.limit)
            options.report(done, total)
        table = pa.concat_tables(tables) if tables else file.schema_arrow.empty_table()
        return table, grouping_of(meta)


def grouping_of(meta: Any) -> Grouping:
    """The groups of a Parquet file, and how its columns are packed."""
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    compression = {}
    for number in range(groups[0].num_columns if groups else 0):
        column = groups[0].column(number)
        codec = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}.get(
            column.compression, column.compression
        )
        compression[column.path_in_schema] = codec
    return Grouping([group.num_rows for group in groups], compression)


def _read_arrow(path: Path, options: Options) -> tuple[pa.Table, Grouping]:
    import pyarrow as pa

    size = path.stat().st_size
    with pa.OSFile(str(path)) as file:
        magic = file.read(6)
        file.seek(0)
        if magic[:4] == b"FEA1":  # Feather as it was before 2020
            return _read_old_feather(path), Grouping([], "lz4")
        codec = _codec(file, magic)
        file.seek(0)
        stream = magic != b"ARROW1"
        reader = pa.ipc.open_stream(file) if stream else pa.ipc.open_file(file)
        batches, unpacked = [], 0
        for batch in _batches(reader, stream):
            batches.append(batch)
            unpacked += batch.nbytes
            if unpacked > options.limit:
                raise _refuse_files.too_large(path, options.limit)
            options.report(min(file.tell(), size), size)
        table = pa.Table.from_batches(batches, reader.schema)
    return table, Grouping([batch.num_rows for batch in batches], codec, stream)


def _codec(file: Any, magic: bytes) -> str | None:
    """How the first batch is packed: its header says so, but pyarrow does not pass it on.

    The header is a flatbuffer, a tree of tables each of which begins with the distance back to
    the list of its fields' places.
    """
    import pyarrow as pa

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


def _batches(reader: Any, stream: bool) -> Any:
    return reader if stream else map(reader.get_batch, range(reader.num_record_batches))


def _read_old_feather(path: Path) -> pa.Table:
    import warnings

    from pyarrow import feather

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return feather.read_table(path, memory_map=False)


def _nan_as_null(sheet: Sheet) -> None:
    """NaN is missing too; the column as it stood is kept for writing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for number, name in enumerate(sheet.table.column_names):
        column = sheet.table[name]
        if pa.types.is_floating(column.type):
            nan = pc.is_nan(column)
            if pc.any(nan, min_count=0).as_py():
                sheet.originals[name] = column
                known = pc.if_else(pc.fill_null(nan, False), pa.scalar(None, column.type), column)
                field = sheet.table.schema.field(number)
                sheet.table = sheet.table.set_column(number, field, known)


def _apply_types(sheet: Sheet, options: Options) -> None:
    """Read columns of text as what the user says they are."""
    import pyarrow as pa

    for name, kind in options.types.items():
        _refuse_tables.check_column_name(name, sheet.table.column_names, sheet.path.name)
        column = sheet.table[name]
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        texts, _ = mark_missing(column.cast(pa.string()), options.own_markers)
        where: dict[str, Any] = {
            "where": sheet.path.name,
            "line_of": lambda row: f"row {sheet.line_of(row)}",
        }
        parsed, text_format, _ = parse_column(texts, kind=kind, name=name, **where)
        if parsed is not texts:
            number = sheet.table.schema.get_field_index(name)
            sheet.table = sheet.table.set_column(number, name, parsed)
            sheet.originals[name], sheet.texts[name] = column, texts
            sheet.text_formats[name] = text_format


def write(
    file: IO[bytes],
    path: Path,
    table: pa.Table,
    *,
    format: str,
    like: Sheet,
    progress: Progress | None,
) -> None:
    """Write a whole table, cut and packed like the input if that was of the same format."""
    import pyarrow as pa

    own = like.source if like.format == format else None
    grouping = own or Grouping([], "snappy" if format == "parquet" else "lz4")
    writer: Any
    if format == "parquet":
        writer = parquet_writer(file, table.schema, grouping)
    else:
        options = pa.ipc.IpcWriteOptions(compression=grouping.compression)
        new = pa.ipc.new_stream if grouping.stream else pa.ipc.new_file
        table = table.unify_dictionaries()  # a file holds one dictionary a column
        writer = new(file, table.schema, options=options)
    sizes = grouping.rows if sum(grouping.rows) == table.num_rows else []
    if not sizes:
        sizes = [GROUP_ROWS] * (table.num_rows // GROUP_ROWS) + [table.num_rows % GROUP_ROWS]
    with writer:
        start = 0
        for rows in filter(None, sizes):
            group = table.slice(start, rows)
            if format == "parquet":
                writer.write_table(group, row_group_size=rows)
            else:
                writer.write_table(group.combine_chunks(), max_chunksize=rows)
            start += rows
            if progress is not None:
                progress(table.nbytes * start // table.num_rows, table.nbytes)


def parquet_writer(file: IO[bytes], schema: pa.Schema, grouping: Grouping) -> Any:
    """A writer that packs columns like those of another file; new ones like its first."""
    from pyarrow import parquet

    compression = grouping.compression
    if isinstance(compression, dict):
        first = next(iter(compression.values()), "snappy")
        compression = {name: compression.get(name, first) for name in _leaf_paths(schema)}
    return parquet.ParquetWriter(file, schema, compression=compression)


def _leaf_paths(columns: pa.Schema) -> list[str]:
    """The columns as Parquet sees them, where a list or a struct is one or more leaves."""
    import io

    from pyarrow import parquet

    with io.BytesIO() as empty:
        parquet.write_table(columns.empty_table(), empty)
        schema = parquet.ParquetFile(empty).schema
        return [schema.column(number).path for number in range(len(schema))]
