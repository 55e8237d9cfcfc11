"""JSON lines, one object each: rows without a filled cell are written as the lines they were."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from ..errors import InputError, check_column_name, shown
from ._columns import mark_missing, missing_notes, parse_column
from ._csv.stream import Stream, compressed
from ._sheet import CELL_BYTES, NESTED, Options, Output, Sheet, check_header, check_width

if TYPE_CHECKING:
    from ._text import TextFormat

ROWS = 1 << 14  # written at a time
_BETWEEN = re.compile(r"[ \t\r\n]*[:,]?[ \t\r\n]*")  # a key, its value and the next key
_DECODER = json.JSONDecoder()
_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a text"}


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
            raise InputError(
                f"Column {self.name!r} of {path} has {self.kind} in line {self.line} but {kind} in "
                f"line {line}: write all of its values alike."
            )
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise InputError(
                f"{path}, line {line} has an integer beyond 64 bits in column {self.name!r}: write "
                "it as text."
            )
        if kind == "a list or object":
            value = json.dumps(value)
        elif kind == "a text":
            _check_whole(value, path, line)
        self.values += [None] * (row - len(self.values))
        self.values.append(value)

    def array(self, n_rows: int) -> tuple[pa.Field, pa.ChunkedArray]:
        values = self.values + [None] * (n_rows - len(self.values))
        kind = pa.bool_() if self.kind == "a boolean" else pa.string()
        if self.kind == "a number":
            kind = pa.int64()
            if any(type(value) is float for value in values):
                kind = pa.float64()
                values = [None if value is None else float(value) for value in values]
        metadata = NESTED if self.kind == "a list or object" else None
        return pa.field(self.name, kind, metadata=metadata), pa.chunked_array([values], kind)


def read(path: Path, options: Options) -> Sheet:
    """A file of JSON lines as a sheet; columns in order of first appearance."""
    columns: dict[str, Column] = {}
    texts: list[str] = []
    numbers: list[int] = []
    options = replace(options, encoding=options.encoding or "utf-8")
    with Stream(path, options) as stream:
        most = options.most(path)
        for number, line in enumerate(_lines(stream), 1):
            if not line.strip():
                continue
            for name, value in _object(line, path, number).items():
                if name not in columns:
                    check_width(path, len(columns) + 1)
                    _check_whole(name, path, number)
                    columns[name] = Column(name)
                columns[name].add(value, len(texts), number, path)
            texts.append(line)
            numbers.append(number)
            if len(columns) * len(texts) * CELL_BYTES > most:  # each has a cell in every line
                options.check_size(path, len(columns) * len(texts) * CELL_BYTES)
            if number % ROWS == 0:
                options.progress(stream.position, stream.size)
        options.progress(stream.size, stream.size)
    if not columns:
        what = "every line must name two nodes" if options.edges else "there is nothing to fill"
        raise InputError(f"{path} is empty: {what}.")
    check_header(path, list(columns))
    compact = '": ' not in texts[0] and '":' in texts[0]
    lines = pa.array(texts, pa.large_string()), (",", ":") if compact else (", ", ": ")
    fields, arrays = zip(*(column.array(len(texts)) for column in columns.values()), strict=True)
    table = pa.table(list(arrays), pa.schema(fields))
    sheet = Sheet(path, "json", table, source=lines, line_of=numbers.__getitem__)
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
    """The object that a line holds; one that names a key twice is refused."""

    def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twin, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise InputError(
                f"{path}, line {number} has the key {shown(twin)} twice: keep one of them."
            )
        return found

    try:
        value = json.loads(line, object_pairs_hook=without_twins)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        what = f"is no JSON (column {error.colno}: {error.msg})"
        raise _bad_line(path, number, what) from None
    except (ValueError, RecursionError):  # an integer of 5,000 digits, or 5,000 brackets
        raise _bad_line(path, number, "is no JSON that can be read") from None
    if not isinstance(value, dict):
        raise _bad_line(path, number, "is no object")
    return value


def _check_whole(text: str, path: Path, line: int) -> None:
    """Refuse half a character, which JSON can write and no file can hold."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _bad_line(path, line, "has half a character (\\ud800)") from None


def _bad_line(path: Path, line: int, what: str) -> InputError:
    """A line that is no JSON object, or a broken one."""
    return InputError(f"{path}, line {line} {what}: every line must be one JSON object.")


def _type_texts(sheet: Sheet, options: Options) -> None:
    """Find missing cells and dates in columns of text."""
    for name in options.types:
        check_column_name(name, sheet.table.column_names, sheet.path.name)
    typed = []
    for field, column in zip(sheet.table.schema, sheet.table.columns, strict=True):
        typed.append(column)
        if field.type != pa.string() or field.metadata:
            continue
        name = field.name
        texts, counts = mark_missing(column, options.named_markers)
        sheet.notes += missing_notes(counts, options.named_markers)
        if texts is not column:
            sheet.originals[name] = column
        kind = options.types.get(name)
        typed[-1], text_format, note = parse_column(texts, name, sheet, kind=kind, numbers=False)
        sheet.notes += [note] if note else []
        if typed[-1] is not texts:
            sheet.texts[name], sheet.text_formats[name] = texts, text_format
    fields = [
        field.with_type(column.type)
        for field, column in zip(sheet.table.schema, typed, strict=True)
    ]
    sheet.table = pa.table(typed, pa.schema(fields))


def write(file: IO[bytes], output: Output) -> None:
    """Write every row as a line; a row that was read as one keeps its keys and their order."""
    n_rows = output.table.num_rows
    lines = _edited_lines if output.like.format == "json" else _new_lines
    with compressed(file, output.path) as packed:
        for start in range(0, n_rows, ROWS):
            stop = min(start + ROWS, n_rows)
            packed.write("".join(f"{line}\n" for line in lines(output, start, stop)).encode())
            output.progress(stop, n_rows)


def _edited_lines(output: Output, start: int, stop: int) -> list[str]:
    """The lines as read, with the filled cells and new columns put in."""
    like, changed = output.like, output.changed
    text, separators = like.source
    lines = text[start:stop].to_pylist()
    edits: list[dict[str, Any]] = [{} for _ in lines]
    for name in output.table.column_names:
        is_new = not like.has(name)
        if is_new or (name in changed and changed[name][start:stop].any()):
            values = _values(output.table[name][start:stop], like.text_formats.get(name))
            for row, value in enumerate(values):
                if is_new or changed[name][start + row]:
                    edits[row][name] = value
    return [
        _spliced(line, edit, separators) if edit else line
        for line, edit in zip(lines, edits, strict=True)
    ]


def _new_lines(output: Output, start: int, stop: int) -> list[str]:
    table = output.table
    rows = zip(*(_values(column[start:stop]) for column in table.columns), strict=True)
    names = table.column_names
    return [_dumped(dict(zip(names, row, strict=True)), (", ", ": ")) for row in rows]


def _spliced(line: str, edit: Mapping[str, Any], separators: tuple[str, str]) -> str:
    """A line with other values for some keys, and new keys at its end; all else as it stands.

    >>> _spliced('{"a": 1.50, "b": null }', {"b": 2, "c": "x"}, (", ", ": "))
    '{"a": 1.50, "b": 2, "c": "x" }'
    """
    new = {name: _dumped(value, separators) for name, value in edit.items()}
    pieces, done = [], 0
    start = last = line.index("{") + 1
    while line[key := _next(line, last)] == '"':
        name, end = _DECODER.raw_decode(line, key)
        begin = _next(line, end)
        _, last = _DECODER.raw_decode(line, begin)
        if name in new:
            pieces += [line[done:begin], new.pop(name)]
            done = last
    comma, colon = separators
    added = [f"{_dumped(name, separators)}{colon}{value}" for name, value in new.items()]
    between = comma if added and last > start else ""
    return "".join([*pieces, line[done:last], between, comma.join(added), line[last:]])


def _next(line: str, at: int) -> int:
    """Where the next key or value begins, or the brace that ends the object."""
    match = _BETWEEN.match(line, at)
    return at if match is None else match.end()


def _values(column: Any, text_format: TextFormat | None = None) -> list[Any]:
    if text_format is not None:
        column = text_format.format(column)
    return [None if value != value else value for value in column.to_pylist()]


def _dumped(value: Any, separators: tuple[str, str]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=separators, default=_as_json)


def _as_json(value: Any) -> Any:
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)
