"""Read CSV and similar text: every cell as the text it is, typed afterwards."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import check_column_name
from .._columns import (
    mark_blank,
    mark_equal,
    mark_missing,
    missing_notes,
    n_cells,
    null_where,
    parse_column,
)
from .._files import unreadable
from .._sheet import Options, Sheet, check_some_rows
from .head import TextFile, sniff
from .stream import NotUtf8, Stream

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 4 << 20
WIDEST_BLOCK = 1 << 30


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
    import pyarrow as pa

    file = sniff(path, options)
    for name in options.types:
        check_column_name(name, file.names, path.name)
    columns, stream = _read_texts(file)
    n_rows = len(columns[0])
    final_line_end = stream.last in (b"\n", b"\r")

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
    import pyarrow as pa
    from pyarrow import csv

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
                    options.report(stream.position, stream.size)
        except Exception as error:
            if stream.error is not None:
                raise stream.error from None
            if not isinstance(error, pa.ArrowInvalid):
                raise
            file.check_records()
            check_some_rows(path, "Empty CSV" not in str(error), options.edges)
            if "straddling" in str(error) and block < WIDEST_BLOCK:
                return _read_texts(file, WIDEST_BLOCK)
            raise unreadable(path, error) from None
        check_some_rows(path, any(batch.num_rows for batch in batches), options.edges)
        options.report(stream.size, stream.size)
    columns = [
        pa.chunked_array([batch.column(number) for batch in batches], pa.string())
        for number in range(len(keys))
    ]
    # Arrow lets the end of the file close a quote.
    ends_inside = any("\n" in (column[-1].as_py() or "") for column in columns)
    if stream.quotes % 2 or (stream.quotes and ends_inside):
        file.check_records()
    return columns, stream


def _line_ends(sheet: Sheet, n_rows: int) -> int:
    """Line ends inside the cells of the first rows."""
    import pyarrow.compute as pc

    columns = (sheet.originals.get(name, texts) for name, texts in sheet.texts.items())
    counts = (pc.sum(pc.count_substring(column[:n_rows], "\n")) for column in columns)
    return sum(count.as_py() or 0 for count in counts)


def _type_columns(
    sheet: Sheet, names: list[str], columns: list[pa.ChunkedArray], options: Options
) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    assert sheet.dialect is not None
    marked: Counter[str] = Counter()
    typed, empties = {}, []
    for name in names:
        column = columns.pop(0)  # so that its memory is free as soon as possible
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
    sheet.notes += [*missing_notes(marked), *empties]
