"""Parquet and Arrow (Feather) files: typed columns, read and written by pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from ..errors import InputError, check_column_name
from ._arrow import leaves, read_arrow, spread
from ._columns import mark_missing, null_where, parse_column
from ._footer import values_of_columns
from ._path import check_columnar, split_name, unreadable
from ._sheet import CELL_BYTES, Options, Output, Sheet, check_header, check_some_rows, check_width

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
        shared = sum(map(spread, table.columns))
        options.check_size(path, shared)
        table = without_views(table)
        options.check_size(path, table.nbytes + shared)
        check_header(path, table.column_names)
        check_some_rows(path, table.num_rows > 0, options.edges)
        return finish(Sheet(path, format, table, source=grouping), options)


def without_views(table: pa.Table) -> pa.Table:
    """The table with views of text as plain text, since pyarrow can do little with views."""
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    fields = [field.with_type(plain.get(str(field.type), field.type)) for field in table.schema]
    return table.cast(pa.schema(fields, table.schema.metadata))


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
    columns = []
    for field, column in zip(sheet.table.schema, sheet.table.columns, strict=True):
        columns.append(column)
        if pa.types.is_floating(field.type):
            columns[-1] = null_where(pc.is_nan(column), column)
            if columns[-1] is not column:
                sheet.originals[field.name] = column
    if sheet.originals:
        sheet.table = pa.table(columns, sheet.table.schema)
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
        check_parquet(path, file, options)
        tables, total = [], max(meta.num_rows, 1)
        for number in range(meta.num_row_groups):
            tables.append(checked(file.read_row_group(number)))
            options.progress(sum(map(len, tables)), total)
        table = pa.concat_tables(tables) if tables else file.schema_arrow.empty_table()
        return table, grouping_of(meta)


def check_parquet(path: Path, file: Any, options: Options) -> None:
    """Refuse a file that would unfold beyond memory, before any group of rows is read.

    A page of one repeated value is a few bytes however many rows it stands for, and so is a long
    text that many rows repeat, of which the file holds one copy.
    """
    meta, columns = file.metadata, range(file.metadata.num_columns)
    check_width(path, meta.num_columns)
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    if rows != meta.num_rows or any(group.num_rows < 0 for group in groups):
        raise pa.ArrowInvalid(f"it names {meta.num_rows} rows but its groups have {rows}")
    size = sum(max(group.total_byte_size, 0) for group in groups)
    # Before a row is read: one row may hold a list of any length.
    repeated = any(file.schema.column(place).max_repetition_level for place in columns)
    values = values_of_columns(path) if repeated else [[n.num_rows] * len(columns) for n in groups]
    size += max(sum(map(sum, values)), rows * meta.num_columns) * CELL_BYTES
    options.check_size(path, size)
    for number, counts in enumerate(values):
        longest = longest_texts(path, file, number)
        if sum(longest) * max(counts, default=0) > options.most(path) - size:
            with _repeating(path, file) as repeated:
                size += sum(map(spread, checked(repeated.read_row_group(number)).columns))
            options.check_size(path, size)


def _repeating(path: Path, file: Any) -> Any:
    """The file, with each text once however many rows repeat it."""
    found = map(file.schema.column, range(len(file.schema)))
    texts = [leaf for leaf in found if leaf.physical_type == "BYTE_ARRAY"]
    names = [leaf.path for leaf in texts if leaf.converted_type != "DECIMAL"]
    return parquet.ParquetFile(path, read_dictionary=names, pre_buffer=False)


def longest_texts(path: Path, file: Any, number: int) -> list[int]:
    """The lengths of the longest texts that rows of a group may repeat."""
    with _repeating(path, file) as repeated:
        # The first row comes with all values that the group holds.
        rows = repeated.iter_batches(1, row_groups=[number], use_threads=False)
        first = [checked(batch) for batch in islice(rows, 1)]
    parts = [part for batch in first for column in batch.columns for part in leaves(column)]
    found = [part.dictionary for part in parts if pa.types.is_dictionary(part.type)]
    return [pc.max(pc.binary_length(values)).as_py() or 0 for values in found]


def checked(table: Any) -> Any:
    """A table or batch as it was read, once it is known to be what it says."""
    table.validate(full=True)
    return table


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
    table, rows, codec, stream = read_arrow(path, options)
    return table, Grouping(rows, codec, stream)


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
