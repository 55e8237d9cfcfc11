"""JSON lines, one object each: rows without a filled cell are written as the lines they were."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .. import errors
from ..table import _refuse_tables
from . import _refuse_files
from ._csv.stream import Stream, compressed
from ._markers import counted, mark_missing
from ._options import Options
from ._sheet import NESTED, Progress, Sheet
from ._text import parse_column

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 14  # written at a time
_BETWEEN = re.compile(r"[ \t\r\n]*[:,]?[ \t\r\n]*")  # a key, its value and the next key
_DECODER = json.JSONDecoder()
_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a text"}


@dataclass
class Lines:
    """The lines of a file as read, and the number of each: blank lines hold no row."""

    text: pa.Array
    numbers: list[int]
    separators: tuple[str, str]


class Column:
    """The values of one key, of one type."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[Any] = []
        self.kind = ""
        self.line = 0

    def add(self, value: Any, row: int, line: int, path: Path) -> None:
        if value is None or value != value:  # NaN
            return
        kind = _KINDS.get(type(value), "a list or object")
        if not self.kind:
            self.kind, self.line = kind, line
        elif kind != self.kind:
            raise _refuse_files.mixed_types(path, self.name, (self.kind, self.line), (kind, line))
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise _refuse_files.large_integer(path, self.name, line)
        if kind == "a list or object":
            value = json.dumps(value)
        elif kind == "a text" and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise _refuse_files.json_line(
                    path, line, "has half a character (\\ud800)"
                ) from None
        self.values += [None] * (row - len(self.values))
        self.values.append(value)

    def array(self, n_rows: int) -> tuple[pa.Field, pa.ChunkedArray]:
        import pyarrow as pa

        values = self.values + [None] * (n_rows - len(self.values))
        if self.kind == "a number":
            whole = all(type(value) is int for value in values if value is not None)
            kind = pa.int64() if whole else pa.float64()
            values = values if whole else [None if v is None else float(v) for v in values]
        else:
            kind = pa.bool_() if self.kind == "a boolean" else pa.string()
        field = pa.field(
            self.name, kind, metadata=NESTED if self.kind == "a list or object" else None
        )
        return field, pa.chunked_array([pa.array(values, kind)])


def read(path: Path, compression: str | None, options: Options) -> Sheet:
    """A file of JSON lines as a sheet; columns in order of first appearance."""
    import pyarrow as pa

    columns: dict[str, Column] = {}
    texts: list[str] = []
    numbers: list[int] = []
    encoding = options.encoding or "utf-8"
    with Stream(path, compression, encoding, options.limit, edges=options.edges) as stream:
        for number, line in enumerate(_lines(stream), 1):
            if not line.strip():
                continue
            for name, value in _object(line, path, number).items():
                column = columns.get(name) or columns.setdefault(name, Column(name))
                column.add(value, len(texts), number, path)
            texts.append(line)
            numbers.append(number)
            if number % ROWS == 0:
                options.report(stream.position, stream.size)
        options.report(stream.size, stream.size)
    _refuse_files.check_some_lines(path, bool(columns), options.edges)
    _refuse_files.check_header(path, list(columns), None)
    compact = '": ' not in texts[0] and '":' in texts[0]
    separators = (",", ":") if compact else (", ", ": ")
    found = [column.array(len(texts)) for column in columns.values()]
    table = pa.table([array for _, array in found], pa.schema([field for field, _ in found]))
    lines = Lines(pa.array(texts, pa.large_string()), numbers, separators)
    sheet = Sheet(path, "json", table, source=lines, locate=numbers.__getitem__)
    _type_texts(sheet, options)
    return sheet


def _lines(stream: Stream) -> Iterator[str]:
    rest = b""
    while chunk := stream.read():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode()
    if rest:
        yield rest.decode()


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twin = next(name for name in names if names.count(name) > 1)
            raise _refuse_files.twin_keys(path, number, twin)
        return found

    try:
        value = json.loads(line, object_pairs_hook=without_twins)
    except errors.InputError:
        raise
    except json.JSONDecodeError as error:
        what = f"is no JSON (column {error.colno}: {error.msg})"
        raise _refuse_files.json_line(path, number, what) from None
    except (ValueError, RecursionError):  # an integer of 5,000 digits, or 5,000 brackets
        raise _refuse_files.json_line(path, number, "is no JSON that can be read") from None
    if not isinstance(value, dict):
        raise _refuse_files.json_line(path, number, "is no object")
    return value


def _type_texts(sheet: Sheet, options: Options) -> None:
    """Markers of missing, and dates, in columns of text."""
    import pyarrow as pa

    for name in options.types:
        _refuse_tables.check_column_name(name, sheet.table.column_names, sheet.path.name)
    markers = options.own_markers
    for number, field in enumerate(sheet.table.schema):
        if field.type != pa.string() or field.metadata:
            continue
        column = sheet.table[field.name]
        texts, counts = mark_missing(column, markers)
        sheet.notes += counted(counts)
        if texts is not column:
            sheet.originals[field.name] = column
        where: dict[str, Any] = {"where": sheet.path.name, "line_of": sheet.line_of}
        kind = options.types.get(field.name)
        parsed, text_format, note = parse_column(
            texts, kind=kind, name=field.name, numbers=False, **where
        )
        sheet.notes += [note] if note else []
        if parsed is not texts:
            sheet.texts[field.name], sheet.text_formats[field.name] = texts, text_format
        sheet.table = sheet.table.set_column(number, field.name, parsed)


def write(
    file: IO[bytes],
    path: Path,
    filled: pa.Table,
    *,
    like: Sheet,
    changed: Mapping[str, Any],
    progress: Progress | None,
) -> None:
    """Write every row as a line; a row that was read as one keeps its keys and their order."""
    n_rows = filled.num_rows
    with compressed(file, path) as packed:
        for start in range(0, n_rows, ROWS):
            stop = min(start + ROWS, n_rows)
            if like.format == "json":
                text = _edited(filled, like, changed, start, stop)
            else:
                text = _objects(filled, start, stop)
            packed.write(text.encode())
            if progress is not None:
                progress(stop, n_rows)


def _edited(
    filled: pa.Table, like: Sheet, changed: Mapping[str, Any], start: int, stop: int
) -> str:
    """The lines as read, with the filled cells and new columns put in."""
    lines = like.source.text[start:stop].to_pylist()
    edits: list[dict[str, Any]] = [{} for _ in lines]
    for name in filled.column_names:
        is_new = name not in like.table.column_names
        if is_new or (name in changed and changed[name][start:stop].any()):
            values = _values(filled[name][start:stop], like.text_formats.get(name))
            for row, value in enumerate(values):
                if is_new or changed[name][start + row]:
                    edits[row][name] = value
    for row, edit in enumerate(edits):
        if edit:
            lines[row] = _spliced(lines[row], edit, like.source.separators)
    return "".join(f"{line}\n" for line in lines)


def _spliced(line: str, edit: Mapping[str, Any], separators: tuple[str, str]) -> str:
    """A line with other values for some keys, and new keys at its end; all else as it stands.

    Examples
    --------
    >>> _spliced('{"a": 1.50, "b": null }', {"b": 2, "c": "x"}, (", ", ": "))
    '{"a": 1.50, "b": 2, "c": "x" }'
    """
    new = {name: _dumped(value, separators) for name, value in edit.items()}
    pieces, done = [], line.index("{") + 1
    pieces.append(line[:done])
    places = list(_places(line, done))
    for name, start, end in places:
        if name in new:
            pieces += [line[done:start], new.pop(name)]
            done = end
    last = places[-1][2] if places else done
    pieces.append(line[done:last])
    comma, colon = separators
    added = [f"{_dumped(name, separators)}{colon}{value}" for name, value in new.items()]
    if added and places:
        pieces.append(comma)
    return "".join([*pieces, comma.join(added), line[last:]])


def _places(line: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Each key of an object that is known to be one, and where its value begins and ends."""
    at = _next(line, start)
    while line[at] == '"':
        name, end = _DECODER.raw_decode(line, at)
        begin = _next(line, end)
        _, end = _DECODER.raw_decode(line, begin)
        yield name, begin, end
        at = _next(line, end)


def _next(line: str, at: int) -> int:
    """Where the next key or value begins, or the brace that ends the object."""
    found = _BETWEEN.match(line, at)
    return at if found is None else found.end()


def _objects(filled: pa.Table, start: int, stop: int) -> str:
    columns = [_values(column[start:stop], None) for column in filled.columns]
    names = filled.column_names
    rows = zip(*columns, strict=True)
    return "".join(_dumped(dict(zip(names, row, strict=True)), (", ", ": ")) + "\n" for row in rows)


def _values(column: Any, text_format: Any) -> list[Any]:
    if text_format is not None:
        return text_format.format(column).to_pylist()
    return [None if value != value else value for value in column.to_pylist()]


def _dumped(value: Any, separators: tuple[str, str]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=separators, default=_as_json)


def _as_json(value: Any) -> Any:
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)
