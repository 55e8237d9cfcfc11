"""What the first lines of a text file tell: its dialect, its columns, where its data begin."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from ... import errors
from .. import _refuse_files, _refuse_formats
from .._options import Options
from . import dialect as dialects
from .dialect import WHITESPACE, Dialect, Record
from .stream import Stream, squeeze

SAMPLE = 1 << 16  # characters
END_NAMES = re.compile(
    r"(?i:(source|target|src|dst|dest|from|to|u|v|node|head|tail|start|end|id|user|friend)"
    r"([ _.-]?(id|node|[0-9a-b]))?)\Z"
)
_PREAMBLE = re.compile(r"sep=(.)(\r\n|\n|\r)")
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?\Z")


@dataclass
class Layout:
    """How a text file begins.

    Attributes
    ----------
    names : list of str
    start : int
        Where the data begin, in bytes of the clean text.
    first_line : int
        The line on which they begin.
    cut : str
        What separates cells in the clean text.
    """

    dialect: Dialect
    names: list[str]
    start: int
    first_line: int
    header_line: int | None
    notes: list[str] = field(default_factory=list)

    @property
    def cut(self) -> str:
        return "\t" if self.dialect.separator == WHITESPACE else self.dialect.separator

    @property
    def quotes(self) -> bool:
        return self.dialect.separator != WHITESPACE


def sniff(path: Path, compression: str | None, options: Options) -> Layout:
    """Look at the first lines; what had to be guessed is in the notes."""
    with Stream(
        path,
        compression,
        options.encoding,
        options.limit,
        edges=options.edges,
        comments=options.edges,
    ) as stream:
        text, whole = _head(stream, options)
        bom, encoding = stream.bom, stream.encoding
    _refuse_files.check_not_empty(path, text, options.edges)
    _refuse_formats.check_no_markup(path, text)
    preamble = _PREAMBLE.match(text)
    separator, body = options.separator, text
    if preamble:
        separator, body = separator or preamble.group(1), text[preamble.end() :]
    if separator is None:
        separator = dialects.sniff_separator(body[:SAMPLE], whole, blanks=options.edges)
    _refuse_files.check_separator(separator, options.edges)
    if separator == WHITESPACE:
        body = squeeze(body.encode()).decode()
    cut = "\t" if separator == WHITESPACE else separator
    rows = dialects.sample(body[:SAMPLE], cut, whole)
    if not rows:  # a header longer than the sample
        rows = dialects.sample(body, cut, whole=True)[:1]
    decimal, doubtful = dialects.sniff_decimal(rows, separator)
    quoted, quoted_header, all_quoted = dialects.sniff_quotes(rows)
    found = Dialect(
        separator=separator,
        decimal=options.decimal or decimal,
        encoding=encoding,
        bom=bom,
        line_end=dialects.sniff_line_end(text),
        quoted=quoted,
        quoted_header=quoted_header,
        all_quoted=all_quoted,
        preamble=preamble.group() if preamble else "",
        compression=compression,
    )
    notes = _notes(path, found, options, doubtful)
    n_before = 1 if preamble else 0
    return _with_header(path, found, rows, n_before, body, options, notes)


def _head(stream: Stream, options: Options) -> tuple[str, bool]:
    """The first lines, a header of any length included, and whether they are the whole file."""
    text = b""
    while len(text) < SAMPLE or (b"\n" not in text and b"\r" not in text):
        chunk = stream.read()
        if not chunk:
            return text.decode(), True
        text += chunk
    return text.decode(), False


def _notes(path: Path, found: Dialect, options: Options, doubtful: str | None) -> list[str]:
    notes = []
    expected = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
    ending = next((s for s in path.suffixes if s.lower() in expected), "").lower()
    if options.separator is None and found.separator != expected.get(ending):
        comma = " with decimal commas" if found.decimal == "," and not options.decimal else ""
        notes.append(f"{path.name} is separated by {dialects.NAMES[found.separator]}{comma}.")
    elif options.decimal is None and found.decimal == ",":
        notes.append(f"{path.name} has decimal commas.")
    if doubtful is not None and options.decimal is None:
        notes.append(
            f'{path.name} has numbers such as "{doubtful}", which are read as text: pass '
            f"{errors.option('decimal')} , if the comma is a decimal mark."
        )
    return notes


def _with_header(
    path: Path,
    found: Dialect,
    rows: list[Record],
    n_before: int,
    body: str,
    options: Options,
    notes: list[str],
) -> Layout:
    first = rows[0]
    cells = [dialects.unquote(cell).strip() for cell in first.cells]
    has_header = options.header
    if has_header is None:
        tabular = any(suffix.lower() in (".csv", ".tsv", ".tab") for suffix in path.suffixes)
        has_header = _looks_like_header(rows, tabular)
        if not all(_NUMBER.match(cell) for cell in cells[:2]) or has_header:
            shown = ", ".join(cells[:4])
            what = "the header" if has_header else "an edge, for want of a header"
            notes.append(f'The first line of {path.name} ("{shown}") is read as {what}.')
    if options.edges:
        _refuse_files.check_two_ends(path, len(cells))
    _refuse_files.check_quote_closed(path, first.unclosed and first.unclosed + n_before)
    start = len(found.preamble.encode())
    if not has_header:
        names = ["source", "target", *(f"column_{i}" for i in range(3, len(cells) + 1))]
        names = names[: len(cells)]
        found = replace(found, header=False)
        return Layout(found, names, start, 1 + n_before, None, notes)
    line = first.line + n_before
    _refuse_files.check_header(path, cells, line, unnamed_first=True)
    if not cells[0]:  # row names, as pandas and R write them
        can_be = "" if options.edges else f" (pass {errors.option('id')} '' if it holds the ids)"
        notes.append(f"The first column of {path.name} has no name and is left alone{can_be}.")
    if not options.edges and all(_NUMBER.match(cell) for cell in cells):
        notes.append(
            f"The first line of {path.name} is read as the header, although it holds numbers alone "
            f'("{cells[0]}").'
        )
    n_lines = len(re.findall("\r\n|\r|\n", body[first.start : first.end]))
    start += len(body[: first.end].encode())
    return Layout(found, cells, start, line + n_lines, line, notes)


def _looks_like_header(rows: list[Record], tabular: bool) -> bool:
    """Whether the first row of an edge list names its columns rather than two nodes.

    Where nodes go by words, a first row of words could be either: in a CSV or TSV file it is the
    header unless one of its words comes again as a node, in plain text it is an edge.
    """
    first, *rest = ([dialects.unquote(cell).strip() for cell in row.cells[:2]] for row in rows)
    if any(_NUMBER.match(cell) for cell in first):
        return False
    if rest and all(_NUMBER.match(cell) for row in rest for cell in row):
        return True
    if all(END_NAMES.match(cell) for cell in first) and len(set(first)) == len(first):
        return True
    again = {cell for row in rest for cell in row}
    return tabular and not again.intersection(first)
