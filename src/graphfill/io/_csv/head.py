"""What the first lines of a text file tell: its dialect, its columns, where its data begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import InputError, option, parameter
from .._sheet import Options, check_header, check_width
from . import dialect as dialects
from .dialect import LINE_END, WHITESPACE, Dialect, Record, unquote
from .margins import footer_place, header_place
from .stream import Stream, squeeze

SAMPLE = 1 << 16  # characters
FOOTER = "is read as a footer, and kept."
LARGEST = 1 << 26  # bytes of a file in which a footer is looked for, line by line
END_NAMES = re.compile(
    r"(?i:(source|target|src|dst|dest|from|to|u|v|node|head|tail|start|end|id|user|friend)"
    r"([ _.-]?(id|node|[0-9a-b]))?)\Z"
)
_PREAMBLE = re.compile(r"sep=(.)(\r\n|\n|\r)")
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?\Z")


@dataclass
class TextFile:
    """A text file whose first lines have been read."""

    path: Path
    options: Options
    dialect: Dialect
    start: int  # where the data begin, in bytes of the clean text
    first_line: int  # the line on which they begin
    names: list[str] = field(default_factory=list)  # of the columns
    length: int | None = None  # of the data, where something else follows them
    notes: list[str] = field(default_factory=list)  # what had to be guessed

    @property
    def separator(self) -> str:
        """What separates cells in the clean text."""
        return "\t" if self.dialect.separator == WHITESPACE else self.dialect.separator

    @property
    def quotes(self) -> bool:
        return self.dialect.separator != WHITESPACE

    def open(self) -> Stream:
        """The clean text after the header."""
        options = self.options
        stream = Stream(self.path, options, self.dialect.separator, comments=options.edges)
        stream.read(self.start)
        stream.left = self.length
        return stream

    def records(self) -> Iterator[Record]:
        """The rows one by one, for the few cases that need their lines."""
        with self.open() as stream:
            text = b"".join(iter(stream.read, b"")).decode()
        for record in dialects.records(text, self.separator, self.first_line, self.quotes):
            if len(self.names) == 1 or record.cells != [""]:
                yield record

    def cut_footer(self, n_rows: int | None = None) -> bool:
        """Leave out what follows the first rows, or shorter lines at the end; whether there is any.

        It is written as it stands.
        """
        if self.options.edges or self.path.stat().st_size > LARGEST:
            return False
        found = list(self.records())
        place = footer_place(found, len(self.names)) if n_rows is None else n_rows
        if not place:
            return False
        with self.open() as stream:
            text = b"".join(iter(stream.read, b"")).decode()
        end = found[place - 1].end
        self.length = len(text[:end].encode())
        self.dialect = replace(self.dialect, epilogue=text[end:] + self.dialect.epilogue)
        first = next((cell for cell in map(unquote, found[place].cells) if cell.strip()), "")
        self.notes = [note for note in self.notes if not note.endswith(FOOTER)]
        self.notes.append(
            f"What stands below line {found[place].line - 1} of {self.path.name} "
            f'("{first.strip()[:40]}") {FOOTER}'
        )
        return True

    def check_records(self) -> None:
        """Refuse the first row that is longer or shorter than the header, or has half a quote."""
        for record in self.records():
            self.check_quotes(record.unclosed)
            n_cells, n_names = len(record.cells), len(self.names)
            if n_cells != n_names:
                first = "the header" if self.dialect.header else "the first line"
                raise InputError(
                    f"{self.path}, line {record.line} has {n_cells} "
                    f"{'cell' if n_cells == 1 else 'cells'} but {first} has {n_names}: put quotes "
                    "around cells that hold a separator, or add what is missing."
                )

    def check_quotes(self, line: int) -> None:
        """Refuse a quote that nothing closes; line 0 is none."""
        if line:
            raise InputError(
                f"{self.path}, line {line} opens a quote that is never closed: close it, or double "
                "it inside a quoted cell if it is part of the text."
            )


def sniff(path: Path, options: Options) -> TextFile:
    """Look at the first lines; what had to be guessed is in the notes."""
    with Stream(path, options, comments=options.edges) as stream:
        text, whole = _first_lines(stream)
    _check_is_table(path, text, options.edges)
    preamble = _PREAMBLE.match(text)
    separator, body = options.separator, text
    if preamble:
        separator, body = separator or preamble.group(1), text[preamble.end() :]
    if separator is None:
        separator = dialects.sniff_separator(body[:SAMPLE], whole, blanks=options.edges)
    if len(separator) != 1 or separator in '"\r\n' or not separator.isascii():
        raise InputError(
            f"{parameter('separator', options.edges)} is {separator!r} but must be one ASCII "
            "character, such as ; or a tab."
        )
    clean_separator = separator
    if separator == WHITESPACE:
        body, clean_separator = squeeze(body.encode()).decode(), "\t"
    check_width(path, LINE_END.split(body, 1)[0].count(clean_separator) + 1)
    rows = dialects.sample(body[:SAMPLE], clean_separator, whole)
    if not rows:  # a header longer than the sample
        rows = dialects.sample(body, clean_separator, whole=True)[:1]
    title = 0 if options.edges or options.header is False else header_place(rows)
    above = body[: rows[title].start] if title else ""
    rows = rows[title:]
    quoted, quoted_header, all_quoted = dialects.sniff_quotes(rows)
    decimal, settled = dialects.sniff_decimal(rows, separator)
    line_end = LINE_END.search(text)
    dialect = Dialect(
        separator=separator,
        decimal=options.decimal or decimal,
        settled=settled or options.edges or options.decimal is not None,
        encoding=stream.encoding,
        bom=stream.bom,
        line_end=line_end.group() if line_end else "\n",
        quoted=quoted,
        quoted_header=quoted_header,
        all_quoted=all_quoted,
        preamble=(preamble.group() if preamble else "") + above,
    )
    start = len(preamble.group().encode()) if preamble else 0
    file = TextFile(path, options, dialect, start, 2 if preamble else 1)
    _note_dialect(file)
    if title:
        shown = " ".join(above.replace(separator, " ").split())[:40]
        line = rows[0].line + file.first_line - 1
        file.notes.append(
            f'What stands above line {line} of {path.name} ("{shown}") is read as a title, and '
            "kept."
        )
    _find_header(file, rows, body)
    return file


def _first_lines(stream: Stream) -> tuple[str, bool]:
    """The first lines, a header of any length included, and whether they are the whole file."""
    text = b""
    while len(text) < SAMPLE or (b"\n" not in text and b"\r" not in text):
        chunk = stream.read()
        if not chunk:
            return text.decode(), True
        text += chunk
    return text.decode(), False


def _check_is_table(path: Path, text: str, edges: bool) -> None:
    """Refuse an empty file, JSON, and a web page."""
    start = text[:100].lstrip().lower()
    if not text.strip():
        first = "every line must name two nodes" if edges else "the first line must name columns"
        raise InputError(f"{path} is empty: {first}.")
    if start.startswith(('{"', '[{"')):
        raise InputError(
            f'{path} looks like JSON: write one object a line, and give it the ending ".jsonl".'
        )
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise InputError(f"{path} is a web page or XML, not a table: export it as CSV or Parquet.")


def _note_dialect(file: TextFile) -> None:
    """Note a separator that the ending does not tell, and decimal commas."""
    name, dialect, options = file.path.name, file.dialect, file.options
    expected = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
    ending = next((s.lower() for s in file.path.suffixes if s.lower() in expected), "")
    if options.separator is None and dialect.separator != expected.get(ending):
        comma = " with decimal commas" if dialect.decimal == "," and not options.decimal else ""
        file.notes.append(f"{name} is separated by {dialects.NAMES[dialect.separator]}{comma}.")
    elif options.decimal is None and dialect.decimal == ",":
        file.notes.append(f"{name} has decimal commas.")


def _find_header(file: TextFile, rows: list[Record], body: str) -> None:
    """Name the columns, by the first row if that is the header, and find where the data begin."""
    path, options, first = file.path, file.options, rows[0]
    cells = [unquote(cell).strip() for cell in first.cells]
    has_header = options.header
    if has_header is None:
        tabular = any(suffix.lower() in (".csv", ".tsv", ".tab") for suffix in path.suffixes)
        has_header = _heads_matrix(rows) or _looks_like_header(rows, tabular)
        surely = all(_NUMBER.match(cell) for cell in cells[:2]) and not has_header
        if not surely and not _heads_matrix(rows):
            shown = ", ".join(cells[:4])
            what = "the header" if has_header else "an edge, for want of a header"
            file.notes.append(f'The first line of {path.name} ("{shown}") is read as {what}.')
    if options.edges and len(cells) < 2:
        raise InputError(
            f"{path} has {len(cells)} column but an edge has two ends: separate them by a comma, a "
            f"tab or a blank, or name the separator with {option('separator', edges=True)}."
        )
    file.check_quotes(first.unclosed and first.unclosed + file.first_line - 1)
    if not has_header:
        file.names = ["source", "target", *(f"column_{i}" for i in range(3, len(cells) + 1))]
        file.names = file.names[: len(cells)]
        file.dialect = replace(file.dialect, header=False)
        return
    line = first.line + file.first_line - 1
    cells = _named(file, cells, rows[1:])
    check_header(path, cells, line, unnamed_first=True)
    if not cells[0] and not (
        options.edges and _heads_matrix(rows)
    ):  # row names, as pandas and R write them
        can_be = "" if options.edges else f" (pass {option('id')} '' if it holds the ids)"
        file.notes.append(f"The first column of {path.name} has no name and is left alone{can_be}.")
    if not options.edges and all(_NUMBER.match(cell) for cell in cells):
        file.notes.append(
            f"The first line of {path.name} is read as the header, although it holds numbers alone "
            f'("{cells[0]}").'
        )
    file.names = cells
    file.start += len(body[: first.end].encode())
    file.first_line = line + len(LINE_END.findall(body[first.start : first.end]))


def _named(file: TextFile, names: list[str], rows: list[Record]) -> list[str]:
    """The header with names for columns that have neither a name nor a cell.

    Separators at the end make such columns, in every line or in all but the header, or all alone.
    """
    widths = {len(row.cells) for row in rows}
    if len(widths) != 1 or file.options.edges:
        return names
    surplus = len(names) - widths.pop()
    last = {unquote(row.cells[-1]).strip() for row in rows}
    if surplus == 1 and not names[-1] and len(names) > 2:
        names = names[:-1]
    elif surplus == -1 and last == {""}:
        names = [*names, ""]
    else:
        surplus = 0
    unnamed = {
        at
        for at, name in enumerate(names)
        if not name and at and surplus in (0, -1) and not _any_cell(rows, at, len(names))
    }
    file.dialect = replace(file.dialect, unnamed=frozenset(unnamed), surplus=surplus)
    return [f"column {at + 1}" if at in unnamed else name for at, name in enumerate(names)]


def _any_cell(rows: list[Record], at: int, width: int) -> bool:
    return any(len(row.cells) == width and unquote(row.cells[at]).strip() for row in rows)


def _heads_matrix(rows: list[Record]) -> bool:
    """Whether the first row names the columns of an adjacency matrix, which its rows are named as.

    A matrix of nodes a, b, c begins with the rows (any text, a, b, c), (a, 0, 1, 0), (b, ...
    """
    first, *rest = ([unquote(cell).strip() for cell in row.cells] for row in rows)
    names = first[1:]
    if len(names) < 3 or len(rest) < 2 or len(rest) > len(names):
        return False
    return [row[0] for row in rest] == names[: len(rest)] and all(
        len(row) == len(first) for row in rest
    )


def _looks_like_header(rows: list[Record], tabular: bool) -> bool:
    """Whether the first row of an edge list names its columns rather than two nodes.

    Where nodes go by words, a first row of words could be either: in a CSV or TSV file it is the
    header unless one of its words comes again as a node, in plain text it is an edge.
    """
    first, *rest = ([unquote(cell).strip() for cell in row.cells[:2]] for row in rows)
    if any(_NUMBER.match(cell) for cell in first):
        return False
    if rest and all(_NUMBER.match(cell) for row in rest for cell in row):
        return True
    if all(END_NAMES.match(cell) for cell in first) and len(set(first)) == len(first):
        return True
    again = {cell for row in rest for cell in row}
    return tabular and not again.intersection(first)
