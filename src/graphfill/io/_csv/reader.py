"""Read CSV and its kin: every cell as the text it is, typed afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...table import _refuse_tables
from .. import _refuse_files
from .._markers import counted, mark_blank, mark_equal, mark_missing, without_empty
from .._options import Options
from .._sheet import Sheet
from .._text import parse_column
from . import dialect as dialects
from .head import Layout, sniff
from .stream import NotUtf8, Stream

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 4 << 20
WIDEST_BLOCK = 1 << 30


def read(path: Path, compression: str | None, options: Options) -> Sheet:
    """A text file as a sheet; what is no UTF-8 is read again as Windows-1252, with a note."""
    try:
        return _read(path, compression, options)
    except NotUtf8 as error:
        line = error.line
    sheet = _read(path, compression, replace(options, encoding="cp1252"))
    note = f"{path.name} is read as Windows-1252, since it is no UTF-8 (line {line})."
    sheet.notes.insert(0, note)
    return sheet


def _read(path: Path, compression: str | None, options: Options) -> Sheet:
    import pyarrow as pa

    layout = sniff(path, compression, options)

    def open_stream() -> Stream:
        stream = Stream(
            path,
            compression,
            options.encoding,
            options.limit,
            separator=layout.dialect.separator,
            edges=options.edges,
            comments=options.edges,
        )
        _skip(stream, layout)
        return stream

    for name in options.types:
        _refuse_tables.check_column_name(name, layout.names, path.name)
    columns, stream = _read_texts(open_stream, layout, options)
    n_rows = len(columns[0])
    final_line_end = stream.last in (b"\n", b"\r")
    dialect = replace(layout.dialect, final_line_end=final_line_end)

    def line_of(row: int) -> int:
        n_lines = stream.line - layout.first_line + (not final_line_end)
        if n_lines == n_rows + (_line_ends(sheet, n_rows) if stream.quotes else 0):
            return layout.first_line + row + (_line_ends(sheet, row) if stream.quotes else 0)
        return _nth_record(open_stream, layout, row)  # there are blank lines somewhere

    if stream.comments:
        one = stream.comments == 1
        lines, are = ("line", "is read as a comment") if one else ("lines", "are read as comments")
        where = f"{path.name} with # or % in front"
        layout.notes.append(f"{stream.comments} {lines} of {where} {are}.")
    sheet = Sheet(path, "csv", pa.table({}), dialect=dialect, notes=layout.notes, locate=line_of)
    _type_columns(sheet, layout.names, columns, options)
    return sheet


def _skip(stream: Stream, layout: Layout) -> None:
    """Pass over the header, in bytes of the clean text."""
    left = layout.start
    while left:
        chunk = stream.read()
        if len(chunk) > left:
            stream.push_back(chunk[left:])
        left -= min(left, len(chunk))


def _read_texts(
    open_stream: Callable[[], Stream], layout: Layout, options: Options, block: int = BLOCK
) -> tuple[list[pa.ChunkedArray], Stream]:
    """Every column as text, null where a cell is empty and not quoted."""
    import pyarrow as pa
    from pyarrow import csv

    keys = [str(number) for number in range(len(layout.names))]
    settings: dict[str, Any] = {
        "read_options": csv.ReadOptions(column_names=keys, block_size=block),
        "parse_options": csv.ParseOptions(
            delimiter=layout.cut,
            quote_char='"' if layout.quotes else False,
            newlines_in_values=layout.quotes,
            # A blank line is a missing cell where there is but one column.
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
    with open_stream() as stream:
        batches = []
        try:
            with csv.open_csv(stream, **settings) as reader:
                for batch in reader:
                    batches.append(batch)
                    options.report(stream.position, stream.size)
        except Exception as error:
            if stream.error is not None:
                raise stream.error from None
            if not isinstance(error, pa.ArrowInvalid):
                raise
            _check_records(open_stream, layout)
            _refuse_files.check_some_rows(stream.path, "Empty CSV" not in str(error), options.edges)
            if "straddling" in str(error) and block < WIDEST_BLOCK:
                return _read_texts(open_stream, layout, options, WIDEST_BLOCK)
            raise _refuse_files.unreadable(stream.path, error) from None
        some = any(batch.num_rows for batch in batches)
        _refuse_files.check_some_rows(stream.path, some, options.edges)
        options.report(stream.size, stream.size)
    columns = [
        pa.chunked_array([batch.column(number) for batch in batches], pa.string())
        for number in range(len(keys))
    ]
    # Arrow lets the end of the file close a quote.
    if stream.quotes % 2 or (stream.quotes and _ends_inside(columns)):
        _check_records(open_stream, layout)
    return columns, stream


def _ends_inside(columns: list[pa.ChunkedArray]) -> bool:
    return any("\n" in (column[-1].as_py() or "") for column in columns)


def _scan(open_stream: Callable[[], Stream], layout: Layout) -> Iterator[dialects.Record]:
    """The records after the header, one by one, for the few cases that need their lines."""
    with open_stream() as stream:
        text = b"".join(iter(stream.read, b"")).decode()
    for record in dialects.records(text, layout.cut, layout.first_line, quotes=layout.quotes):
        if len(layout.names) == 1 or record.cells != [""]:
            yield record


def _check_records(open_stream: Callable[[], Stream], layout: Layout) -> None:
    with open_stream() as stream:
        path = stream.path
    for record in _scan(open_stream, layout):
        _refuse_files.check_quote_closed(path, record.unclosed)
        _refuse_files.check_cell_count(
            path, record.line, len(record.cells), len(layout.names), layout.header_line is not None
        )


def _line_ends(sheet: Sheet, n_rows: int) -> int:
    """Line ends inside the cells of the first rows."""
    import pyarrow.compute as pc

    columns = (sheet.originals.get(name, texts) for name, texts in sheet.texts.items())
    counts = (pc.sum(pc.count_substring(column[:n_rows], "\n")) for column in columns)
    return sum(count.as_py() or 0 for count in counts)


def _nth_record(open_stream: Callable[[], Stream], layout: Layout, row: int) -> int:
    for number, record in enumerate(_scan(open_stream, layout)):
        if number == row:
            return record.line
    return layout.first_line + row


def _type_columns(
    sheet: Sheet, names: list[str], columns: list[pa.ChunkedArray], options: Options
) -> None:
    import pyarrow as pa

    assert sheet.dialect is not None
    found: Counter[str] = Counter()
    typed, empties = {}, {}
    for name in names:
        column = columns.pop(0)  # so that its memory is free as soon as may be
        texts, counts = mark_missing(column, options.markers)
        texts = mark_blank(texts, empty=sheet.dialect.all_quoted)
        found += counts
        settings: dict[str, Any] = {
            "decimal": sheet.dialect.decimal,
            "kind": options.types.get(name),
            "name": name,
            "where": sheet.path.name,
            "line_of": sheet.line_of,
        }
        known = without_empty(texts)
        parsed, text_format, note = parse_column(known, **settings)
        if parsed is known:  # still text: then "" is a text like any other
            parsed = texts
        elif known is not texts:
            empties[name] = known.null_count - texts.null_count
            texts = known
        parsed, texts, counts = mark_equal(parsed, texts, options.own_markers)
        found += counts
        if texts.null_count > column.null_count:
            sheet.originals[name] = column
        typed[name], sheet.texts[name], sheet.text_formats[name] = parsed, texts, text_format
        sheet.notes += [note] if note else []
    sheet.table = pa.table(typed)
    sheet.notes += counted(found)
    for name, count in empties.items():
        cells = "cell" if count == 1 else "cells"
        sheet.notes.append(f'An empty text in column "{name}" counts as missing ({count} {cells}).')
