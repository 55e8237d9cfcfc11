"""One sheet of a workbook (xlsx, ods) as a table, and written back with only its blanks changed.

Values are read, not formulas. What a workbook claims to unfold to is looked at before it is opened.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from ..errors import InputError, check_column_name
from ._columns import mark_missing, missing_notes, parse_column
from ._missing_words import AMONG_NUMBERS
from ._path import split_sheet, unreadable
from ._sheet import CELL_BYTES, Options, Output, Sheet, check_header, check_some_rows

TIMES = 10  # the memory that a workbook takes, as a multiple of its unfolded size
MOST_PARTS = 10_000
# An element must begin near the start of a part, so that nothing is declared behind a long comment.
DECLARED, ELEMENT = re.compile(rb"<!(DOCTYPE|ENTITY)"), re.compile(rb"<[A-Za-z_]")
Row = tuple[int, list[Any]]  # its number in the sheet, and its values from the first column on


@dataclass(frozen=True)
class Grid:
    """Where the cells of a table stand in a workbook; rows and columns are counted from 1."""

    sheet: str
    header: int
    rows: list[int]
    columns: list[int]


def read(path: Path, options: Options) -> Sheet:
    """The sheet that the path names, or the only one."""
    file, name = split_sheet(path)
    format = "ods" if file.suffix.lower() == ".ods" else "xlsx"
    check_workbook(file, options)
    try:
        sheet_name, rows, notes = _module(format).read_rows(file, name, options)
        rows = [(number, values) for number, values in rows if any(v is not None for v in values)]
    except InputError:
        raise
    except Exception as error:  # its readers raise whatever a broken part makes them stumble on
        raise unreadable(file, error) from None
    sheet = Sheet(file, format, pa.table({}), notes=notes)
    header, names, columns, body = _header(file, rows, options)
    numbers = [number for number, _ in body]
    sheet.line_of = numbers.__getitem__
    sheet.source = Grid(sheet_name, header, numbers, columns)
    _type_columns(sheet, names, columns, body, options)
    return sheet


def _module(format: str) -> Any:
    return import_module({"ods": "._ods", "xlsx": "._xlsx"}[format], __package__)


def check_workbook(path: Path, options: Options) -> None:
    """Refuse what is no zip, unfolds beyond memory, or declares entities, before it is opened."""
    try:
        with zipfile.ZipFile(path) as parts:
            listed = parts.infolist()
            total = sum(part.file_size for part in listed)
            options.check_size(path, total, TIMES)
            if len(listed) > MOST_PARTS:
                raise InputError(
                    f"{path} has {len(listed)} parts but a workbook has at most {MOST_PARTS}: "
                    "export the sheet as CSV."
                )
            for part in listed:
                if part.filename.endswith((".xml", ".rels")):
                    with parts.open(part) as file:
                        start = file.read(1 << 12)
                    if start and (DECLARED.search(start) or not ELEMENT.search(start)):
                        raise InputError(
                            f"The part {part.filename!r} of {path} declares entities, which no "
                            "spreadsheet program writes: export the sheet as CSV."
                        )
    except InputError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise unreadable(path, error) from None
    except Exception:  # zipfile hands on what each way of packing raises
        raise InputError(
            f"{path} is no workbook, or one with a password: save it again, or export it as CSV."
        ) from None


def choose_sheet(path: Path, name: str | None, names: Sequence[str]) -> str:
    """The sheet to read: the one that was named, or the only one."""
    listed = ", ".join(map(repr, names))
    if name is None:
        if len(names) != 1:
            example = f"{path.name}#{names[0] if names else 'Sheet1'}"
            raise InputError(f"{path} has the sheets {listed}: name one, as in {example!r}.")
        return names[0]
    if name not in names:
        raise InputError(f"{path} has no sheet {name!r}: it has {listed}.")
    return name


def _header(
    path: Path, rows: list[Row], options: Options
) -> tuple[int, list[str], list[int], list[Row]]:
    """The number of the row of names, the names, their columns, and the rows below.

    Rows above it that have one cell alone are a title.
    """
    if not rows:
        what = "every row must name two nodes" if options.edges else "there is nothing to fill"
        raise InputError(f"{path} is empty: {what}.")
    width = max(len(values) for _, values in rows)
    options.check_size(path, len(rows) * width * CELL_BYTES)
    filled = [sum(value is not None for value in values) for _, values in rows]
    most = max(filled)
    first = next(place for place, count in enumerate(filled) if count > 1 or most == 1)
    number, values = rows[first]
    body = rows[first + 1 :]
    if options.header is False:
        columns = [at for at, value in enumerate(values, 1) if value is not None]
        names = ["source", "target", *(f"column_{at}" for at in range(3, len(columns) + 1))]
        return 0, names[: len(columns)], columns, rows[first:]
    used = {
        at for _, cells in rows[first:] for at, value in enumerate(cells, 1) if value is not None
    }
    columns = sorted(used)
    names = [_text(values[at - 1]).strip() if at <= len(values) else "" for at in columns]
    check_header(path, names, number, unnamed_first=True)
    check_some_rows(path, bool(body), options.edges)
    return number, names, columns, body


def _type_columns(
    sheet: Sheet, names: list[str], columns: list[int], rows: list[Row], options: Options
) -> None:
    for name in options.types:
        check_column_name(name, names, sheet.path.name)
    typed = {}
    for name, at in zip(names, columns, strict=True):
        values = [cells[at - 1] if at <= len(cells) else None for _, cells in rows]
        typed[name] = _typed(values, name, sheet, options)
    sheet.table = pa.table(typed)


def _typed(values: list[Any], name: str, sheet: Sheet, options: Options) -> pa.ChunkedArray:
    """A column of one type, or else as text, which is read as that of a text file is."""
    texts = {value for value in values if isinstance(value, str)}
    others = {type(value) for value in values if not isinstance(value, str | None)}
    exempt = {value.strip().casefold() for value in options.values}
    known = {word for word in texts if word.strip().lower() in AMONG_NUMBERS}
    if others and texts and texts == known and not {w.strip().casefold() for w in texts} & exempt:
        counts = {word: values.count(word) for word in texts}
        sheet.notes += missing_notes(counts, options.named_markers, name)
        values = [None if isinstance(value, str) else value for value in values]
        texts = set()
    array = None if texts or options.types.get(name) else _array(values, others)
    if array is not None:
        return pa.chunked_array([array])
    column = pa.chunked_array([pa.array([v and _text(v) for v in map(_or_none, values)], "string")])
    marked, counts = mark_missing(column, options.markers)
    sheet.notes += missing_notes(counts, options.named_markers)
    parsed, text_format, note = parse_column(marked, name, sheet, kind=options.types.get(name))
    sheet.notes += [note] if note else []
    if parsed is not marked and texts:
        sheet.texts[name], sheet.text_formats[name] = marked, text_format
    return parsed


def _or_none(value: Any) -> Any:
    return None if value is None else _text(value)


def _array(values: list[Any], kinds: set[type]) -> pa.Array | None:
    """Values of one kind as Arrow; None if they are of several."""
    if not kinds:
        return pa.array(values, pa.string())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        floats = [None if value is None else float(value) for value in values]
        whole = all(value is None or value.is_integer() for value in floats)
        if whole and all(value is None or abs(value) < 2**53 for value in floats):
            return pa.array([None if v is None else int(v) for v in floats], pa.int64())
        return pa.array(floats, pa.float64())
    if kinds <= {dt.datetime, dt.date}:
        moments = [_moment(value) for value in values]
        if all(value is None or value.time() == dt.time() for value in moments):
            return pa.array([None if v is None else v.date() for v in moments], pa.date32())
        return pa.array(moments, pa.timestamp("us"))
    if kinds == {dt.time}:
        return pa.array(values, pa.time64("us"))
    return pa.array(values, pa.duration("us")) if kinds == {dt.timedelta} else None


def _moment(value: dt.date | None) -> dt.datetime | None:
    if value is None or isinstance(value, dt.datetime):
        return value
    return dt.datetime(value.year, value.month, value.day)


def _text(value: Any) -> str:
    """A cell as a text file would hold it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    return value.isoformat() if hasattr(value, "isoformat") else str("" if value is None else value)


def write(file: IO[bytes], output: Output) -> None:
    """Put the filled cells into a copy of the workbook, or write a new one."""
    like, format = output.like, "ods" if output.path.suffix.lower() == ".ods" else "xlsx"
    module = _module(format)
    if like.format != format:
        names = output.table.column_names
        rows = zip(*(_values(output, name) for name in names), strict=True)
        module.write_new(file, names, rows)
        return
    module.write_filled(file, like.path, like.source, dict(_changes(output)))


def _values(output: Output, name: str) -> list[Any]:
    """The cells of a column as the workbook is to hold them."""
    column = output.table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type) or "binary" in str(column.type):
        return [None if value is None else str(value) for value in column.to_pylist()]
    return [None if value != value else value for value in column.to_pylist()]


def _changes(output: Output) -> Iterator[tuple[tuple[int, int], Any]]:
    """Row and column of each cell to write, and what; new columns come after the others."""
    like, grid = output.like, output.like.source
    last = max(grid.columns)
    places = dict(zip(like.table.column_names, grid.columns, strict=True))
    for name in output.table.column_names:
        marks = output.changed.get(name)
        if name not in places:
            last += 1
            if grid.header:
                yield (grid.header, last), name
            values = _values(output, name)
            yield from (((row, last), v) for row, v in zip(grid.rows, values, strict=True))
        elif marks is not None and marks.any():
            column = output.table[name].filter(marks)
            if name in like.text_formats:
                column = like.text_formats[name].format(column)
            new = iter(column.to_pylist())
            for row, mark in zip(grid.rows, marks, strict=True):
                if mark:
                    yield (row, places[name]), next(new)
