"""CSV and similar text: read as the text that each cell is, typed afterwards, and written again.

The text of every known cell is written as it stood, and filled cells in the form of their column.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ...errors import InputError, check_column_name
from .._columns import (
    content,
    mark_blank,
    mark_equal,
    mark_missing,
    missing_notes,
    n_cells,
    null_where,
    parse_column,
    put,
)
from .._path import unreadable
from .._sheet import Options, Output, Sheet, check_some_rows
from .dialect import WHITESPACE, Dialect
from .head import TextFile, sniff
from .margins import footer_rows
from .neighbours import read_neighbours
from .stream import NotUtf8, Stream, compressed

BLOCK = 4 << 20
WIDEST_BLOCK = 1 << 30
BATCH_BYTES = 16 << 20  # written at a time


def read(path: Path, options: Options) -> Sheet:
    """A text file as a sheet; what is no UTF-8 is read again as Windows-1252, with a note."""
    try:
        return _read(path, options)
    except NotUtf8 as error:
        line = error.args[0]
    sheet = _read(path, replace(options, encoding="cp1252"))
    note = f"{path.name} is read as Windows-1252, since it is no UTF-8 (line {line})."
    sheet.notes.insert(0, note)
    return sheet


def _read(path: Path, options: Options) -> Sheet:
    if options.edges and (found := read_neighbours(path, options)) is not None:
        return found
    file = sniff(path, options)
    for name in options.types:
        check_column_name(name, file.names, path.name)
    columns, stream = _read_texts(file)
    n_rows = len(columns[0])
    final_line_end = stream.last in (b"\n", b"\r") or bool(file.dialect.epilogue)

    def line_of(row: int) -> int:
        n_lines = stream.line - file.first_line + (not final_line_end)
        if n_lines == n_rows + (_line_ends(sheet, n_rows) if stream.quotes else 0):
            return file.first_line + row + (_line_ends(sheet, row) if stream.quotes else 0)
        # There are blank lines somewhere.
        lines = (record.line for number, record in enumerate(file.records()) if number == row)
        return next(lines, file.first_line + row)

    if stream.comments:
        one = stream.comments == 1
        lines, are = ("line", "is read as a comment") if one else ("lines", "are read as comments")
        where = f"{path.name} with # or % in front"
        file.notes.append(f"{stream.comments} {lines} of {where} {are}.")
    dialect = replace(file.dialect, final_line_end=final_line_end)
    sheet = Sheet(path, "csv", pa.table({}), dialect=dialect, notes=file.notes, line_of=line_of)
    _type_columns(sheet, file.names, columns, options)
    return sheet


def _read_texts(file: TextFile, block: int = BLOCK) -> tuple[list[pa.ChunkedArray], Stream]:
    """Every column as text, null where a cell is empty and not quoted."""
    path, options = file.path, file.options
    keys = [str(number) for number in range(len(file.names))]
    settings: dict[str, Any] = {
        "read_options": csv.ReadOptions(column_names=keys, block_size=block),
        "parse_options": csv.ParseOptions(
            delimiter=file.separator,
            quote_char='"' if file.quotes else False,
            newlines_in_values=file.quotes,
            # A blank line is a missing cell where there is only one column.
            ignore_empty_lines=len(keys) > 1,
        ),
        "convert_options": csv.ConvertOptions(
            check_utf8=False,
            column_types={key: pa.string() for key in keys},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }
    batches = []
    with file.open() as stream:
        try:
            with csv.open_csv(stream, **settings) as reader:
                for batch in reader:
                    batches.append(batch)
                    options.progress(stream.position, stream.size)
        except Exception as error:
            if stream.error is not None:
                raise stream.error from None
            if not isinstance(error, pa.ArrowInvalid):
                raise
            if file.cut_footer():
                return _read_texts(file, block)
            file.check_records()
            check_some_rows(path, "Empty CSV" not in str(error), options.edges)
            if "straddling" in str(error) and block < WIDEST_BLOCK:
                return _read_texts(file, WIDEST_BLOCK)
            raise unreadable(path, error) from None
        check_some_rows(path, any(batch.num_rows for batch in batches), options.edges)
        options.progress(stream.size, stream.size)
    columns = [
        pa.chunked_array([batch.column(number) for batch in batches], pa.string())
        for number in range(len(keys))
    ]
    # Arrow lets the end of the file close a quote.
    ends_inside = any("\n" in (column[-1].as_py() or "") for column in columns)
    if stream.quotes % 2 or (stream.quotes and ends_inside):
        file.check_records()
    n_footers = 0 if options.edges else footer_rows(columns)
    if n_footers and file.cut_footer(len(columns[0]) - n_footers):
        return _read_texts(file, block)
    return columns, stream


def _line_ends(sheet: Sheet, n_rows: int) -> int:
    """Line ends inside the cells of the first rows."""
    columns = (sheet.originals.get(name, texts) for name, texts in sheet.texts.items())
    counts = (pc.sum(pc.count_substring(column[:n_rows], "\n")) for column in columns)
    return sum(count.as_py() or 0 for count in counts)


def _type_columns(
    sheet: Sheet, names: list[str], columns: list[pa.ChunkedArray], options: Options
) -> None:
    assert sheet.dialect is not None
    marked: Counter[str] = Counter()
    typed, empties = {}, []
    columns.reverse()
    for name in names:
        column = columns.pop()  # so that its memory is free as soon as possible
        texts, counts = mark_missing(column, options.markers)
        texts = mark_blank(texts, empty=sheet.dialect.all_quoted)
        marked += counts
        known = null_where(pc.equal(texts, ""), texts)
        parsed, text_format, note = parse_column(known, name, sheet, kind=options.types.get(name))
        if parsed is known:  # still text: then "" is a text like any other
            parsed = texts
        elif known is not texts:
            count = n_cells(known.null_count - texts.null_count)
            empties.append(f'An empty text in column "{name}" counts as missing ({count}).')
            texts = known
        parsed, texts, counts = mark_equal(parsed, texts, options.named_markers)
        marked += counts
        if texts.null_count > column.null_count:
            sheet.originals[name] = column
        typed[name], sheet.texts[name], sheet.text_formats[name] = parsed, texts, text_format
        sheet.notes += [note] if note else []
    sheet.table = pa.table(typed)
    sheet.notes += [*missing_notes(marked, options.named_markers), *empties]


def write(file: IO[bytes], output: Output) -> None:
    """Write the rows with the filled cells in place."""
    dialect = output_dialect(output)
    names, n_rows = output.table.column_names, output.table.num_rows
    columns = [_cells(name, output, dialect.decimal) for name in names]
    if output.formula_safe:
        columns = list(map(without_formulas, columns))
        names = without_formulas(pa.chunked_array([names], "string")).to_pylist()
    size = sum(column.nbytes for column in columns)
    step = max(1, n_rows * BATCH_BYTES // max(size, 1))
    head = dialect.preamble.encode()
    if dialect.header:
        head += _header(names, dialect, len(output.like.table.column_names))
    with compressed(file, output.path) as packed:
        packed.write(dialect.bom + _encoded(head, output, dialect))
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            lines = _lines([column[start:stop] for column in columns], dialect)
            if stop == n_rows and not dialect.final_line_end:
                lines = lines[: -len(dialect.line_end)]
            packed.write(_encoded(lines, output, dialect))
            output.progress(size * stop // n_rows, size)
        packed.write(_encoded(dialect.epilogue.encode(), output, dialect))


def _header(names: list[str], dialect: Dialect, n_read: int) -> bytes:
    """The line of names, with as many separators as it had."""
    quoting = replace(dialect, quoted=frozenset(), all_quoted=dialect.quoted_header)
    shown = ["" if at in dialect.unnamed else name for at, name in enumerate(names)]
    if dialect.surplus < 0 and len(names) == n_read:
        shown.pop()
    line = _lines([pa.chunked_array([[name or None]], "string") for name in shown], quoting)
    if dialect.surplus > 0:
        line = line.removesuffix(dialect.line_end.encode())
        line += (dialect.separator + dialect.line_end).encode()
    return line


def output_dialect(output: Output) -> Dialect:
    """The input's dialect, with the separator that the output's ending asks for if that differs."""
    dialect = output.like.dialect or Dialect()
    endings, input_endings = (
        {".tsv" if suffix.lower() == ".tab" else suffix.lower() for suffix in path.suffixes}
        for path in (output.path, output.like.path)
    )
    if ".tsv" in endings:
        if ".tsv" not in input_endings:
            dialect = replace(dialect, separator="\t", preamble="", epilogue="")
    elif ".csv" in endings - input_endings and dialect.separator in ("\t", WHITESPACE):
        dialect = replace(dialect, separator=";" if dialect.decimal == "," else ",")
    if dialect.separator == WHITESPACE:
        dialect = replace(dialect, separator="\t")
    return dialect


def _cells(name: str, output: Output, decimal: str) -> pa.ChunkedArray:
    """A column as text, not yet quoted; null where a cell stays empty."""
    filled, like, changed = output.table[name], output.like, output.changed.get(name)
    if not like.has(name):
        return as_text(filled, decimal)
    texts = like.texts.get(name)
    if texts is None:
        texts = as_text(like.originals.get(name, like.table[name]), decimal)
    elif like.format == "csv":
        texts = like.originals.get(name, texts)
    if changed is None or not changed.any():
        return texts
    values, text_format = filled.filter(changed), like.text_formats.get(name)
    new = as_text(values, decimal) if text_format is None else text_format.format(values)
    return put(texts.cast("large_string") if texts.nbytes >= 2**31 else texts, changed, new)


def without_formulas(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """A "'" before cells that a spreadsheet would compute; signed numbers and dashes stay.

    >>> without_formulas(pa.chunked_array([["=A1", "-5.1", "-", "@x", "a", None]])).to_pylist()
    ["'=A1", '-5.1', '-', "'@x", 'a', None]
    """
    computed = pc.match_substring_regex(cells, "^[=+@\\t\\r\uff1d\uff0b\uff0d\uff20-]")
    plain = pc.match_substring_regex(cells, r"^[+-]\S?[0-9][0-9., ]*([eE][+-]?[0-9]+)?\s?%?$|^-+$")
    marks, none = (pa.scalar(text, cells.type) for text in ("'", ""))
    marked = pc.binary_join_element_wise(marks, cells, none)
    return pc.if_else(pc.and_not(computed, plain), marked, cells)


def as_text(column: pa.ChunkedArray, decimal: str = ".") -> pa.ChunkedArray:
    """Typed values as text that reads back the same: ISO dates, the shortest floats."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        texts = pc.if_else(pc.is_nan(column), None, pc.cast(column, pa.string()))
        # So that a column of 1.0 and 2.0 does not come back as one of integers.
        texts = pc.replace_substring_regex(texts, "^(-?[0-9]+)$", r"\1.0")
        return texts if decimal == "." else pc.replace_substring(texts, ".", decimal)
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists, structs, bytes
        cells = [
            None if cell is None else json.dumps(cell, default=str, ensure_ascii=False)
            for cell in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(cells, pa.string())])


def _lines(batch: list[pa.ChunkedArray], dialect: Dialect) -> bytes:
    """The rows of a batch as they stand in the file."""
    large = any(pa.types.is_large_string(column.type) for column in batch)
    kind = pa.large_string() if large else pa.string()
    cells = [
        _quote_cells(column.combine_chunks().cast(kind), dialect, number)
        for number, column in enumerate(batch)
    ]
    separator, none, end = (
        pa.scalar(text, kind) for text in (dialect.separator, "", dialect.line_end)
    )
    options: Any = {"null_handling": "replace", "null_replacement": ""}
    rows = pc.binary_join_element_wise(*cells, separator, **options) if cells[1:] else cells[0]
    return content(pc.binary_join_element_wise(rows, none, end, **options))


def _quote_cells(cells: pa.Array, dialect: Dialect, number: int) -> pa.Array:
    """Quotes around cells that need them, and where the whole column has them."""
    kind = cells.type
    mark, none = pa.scalar('"', kind), pa.scalar("", kind)
    if dialect.all_quoted:
        cells = pc.fill_null(cells, "")
        needed = pc.is_valid(cells)
    elif number in dialect.quoted:
        needed = pc.not_equal(cells, "NA")  # as R writes it
    else:
        needed = pc.equal(cells, "")
        joined = content(cells)
        for special in (dialect.separator, '"', "\r", "\n"):
            if special.encode() in joined:  # looking through all cells at once is faster
                needed = pc.or_(needed, pc.match_substring(cells, special))
    if not pc.any(needed).as_py():
        return cells
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise(mark, doubled, mark, none), cells)


def _encoded(text: bytes, output: Output, dialect: Dialect) -> bytes:
    """UTF-8 in the encoding of the file."""
    if dialect.encoding == "utf-8":
        return text
    try:
        return text.decode().encode(dialect.encoding)
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise InputError(
            f"{output.path} cannot hold {bad!r} in its encoding {dialect.encoding}: save the input "
            "as UTF-8 first."
        ) from None
