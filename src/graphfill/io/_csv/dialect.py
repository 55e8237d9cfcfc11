"""How a text file writes its table: separator, quotes, decimal mark, encoding, line ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

SEPARATORS = (",", ";", "\t", "|")
NAMES = {",": "commas", ";": '";"', "\t": "tabs", "|": '"|"', " ": "blanks"}
WHITESPACE = " "  # as a separator: any run of blanks and tabs
SAMPLE_RECORDS = 1000
NEARLY = 0.9  # of the records agree: the rest is refused later, by line
LINE_END = re.compile("\r\n|\r|\n")
# Numbers in which the mark can only be that of decimals.
_FORM = (
    r"-?(?:[0-9]{{1,3}}(?:{g}[0-9]{{3}})+{d}[0-9]+|[0-9]*{d}(?:[0-9]{{1,2}}|[0-9]{{4,}})"
    r"|(?:0|[0-9]{{4,}})?{d}[0-9]+|[0-9]+{d}[0-9]+[eE][+-]?[0-9]+)\Z"
)
_COMMA_NUMBER = re.compile(_FORM.format(d=",", g=r"\."))
_POINT_NUMBER = re.compile(_FORM.format(d=r"\.", g=","))


@dataclass(frozen=True)
class Dialect:
    """How one text file is written."""

    separator: str = ","  # one character; a blank stands for any run of blanks and tabs
    decimal: str = "."
    settled: bool = (
        True  # whether the file shows that this is the decimal mark, or its user said so
    )
    encoding: str = "utf-8"  # as Python names it, without a byte order mark
    bom: bytes = b""  # the byte order mark that the file begins with
    line_end: str = "\n"
    final_line_end: bool = True  # whether the last line has one too
    header: bool = True  # whether the first line names the columns
    quoted: frozenset[int] = frozenset()  # columns whose known cells are all quoted, needed or not
    quoted_header: bool = False
    all_quoted: bool = False  # every cell, the missing ones too
    preamble: str = ""  # Excel's "sep=;" line, if the file begins with one


@dataclass(frozen=True)
class Record:
    """One row of a text file."""

    line: int
    cells: list[str]  # as written, quotes included
    start: int
    end: int
    unclosed: int = 0  # the line on which a quote opens that nothing closes, else 0


@cache
def _cell_pattern(separator: str, quotes: bool) -> re.Pattern[str]:
    """A cell and what ends it; a quote only opens a quoted part where the cell begins."""
    plain = rf"[^{re.escape(separator)}\r\n]"
    quoted = r'(?:"[^"]*+(?:""[^"]*+)*+("|\Z))?' if quotes else "()"
    return re.compile(rf"({quoted}{plain}*+)({re.escape(separator)}|\r\n|\r|\n|\Z)")


def records(text: str, separator: str, line: int = 1, quotes: bool = True) -> Iterator[Record]:
    """The rows of a text, in Python; blank lines are records of one empty cell.

    Slow but exact: for samples, and for finding the line that a refusal names.

    >>> [record.cells for record in records('a,"b,c"', ",")]
    [['a', '"b,c"']]
    """
    pattern = _cell_pattern(separator, quotes)
    position = 0
    while position < len(text):
        begin, first, cells, unclosed = position, line, [], 0
        while True:
            match = pattern.match(text, position)
            assert match is not None  # every alternative may be empty
            cell, close, stop = match.groups()
            if quotes and close == "":
                unclosed = line
            line += len(LINE_END.findall(cell)) if "\n" in cell or "\r" in cell else 0
            cells.append(cell)
            position = match.end()
            if stop != separator:
                break
        yield Record(first, cells, begin, position, unclosed)
        line += 1


def unquote(cell: str) -> str:
    """The value of a cell as written.

    >>> unquote('"5"" pipe"')
    '5" pipe'
    """
    if not cell.startswith('"'):
        return cell
    end = re.match('"(?:[^"]|"")*+', cell).end()  # type: ignore[union-attr]
    return cell[1:end].replace('""', '"') + cell[end + 1 :]


def sample(text: str, separator: str, whole: bool) -> list[Record]:
    """The first records, without blank lines and, unless the text is whole, without the last."""
    rows = (
        record
        for record in records(text, separator)
        if record.cells != [""] and (whole or record.end < len(text))
    )
    return list(islice(rows, SAMPLE_RECORDS))


def sniff_separator(text: str, whole: bool, blanks: bool = False) -> str:
    r"""The separator that cuts the header and most records into one number of cells.

    >>> sniff_separator("a;b\n1,5;2,5\n", whole=True)
    ';'
    """
    best, best_score = ",", (False, 0.0, 0)
    for separator in SEPARATORS:
        score = _score([len(record.cells) for record in sample(text, separator, whole)])
        if score > best_score:
            best, best_score = separator, score
    if blanks and best_score[:2] < (True, NEARLY):  # "ann smith,bob lee" has blanks as well
        score = _score([len(line.split()) for line in text.splitlines() if line.strip()])
        if score > best_score:
            return WHITESPACE
    return best


def _score(counts: list[int]) -> tuple[bool, float, int]:
    """Whether the first record has the usual number of cells; the share that has; the number."""
    if not counts:
        return False, 0.0, 0
    n_cells, n_records = Counter(counts).most_common(1)[0]
    if n_cells == 1:
        return False, 0.0, 0
    return counts[0] == n_cells, n_records / len(counts), n_cells


def sniff_decimal(rows: list[Record], separator: str) -> tuple[str, bool]:
    """The decimal mark, and whether the cells settle it: 1,200 and 1.200 may be anything.

    Where cells are separated by commas, a comma in a number stands between thousands.
    """
    if separator == ",":
        return ".", True
    cells = [unquote(cell).strip() for row in rows[1:] for cell in row.cells]
    with_comma = any(map(_COMMA_NUMBER.match, cells))
    with_point = any(map(_POINT_NUMBER.match, cells))
    return ("," if with_comma and not with_point else "."), with_comma != with_point


def sniff_quotes(rows: list[Record]) -> tuple[frozenset[int], bool, bool]:
    """Columns whose known cells are all quoted; whether the header is; whether every cell is."""
    header = all(cell.startswith('"') for cell in rows[0].cells)
    body = [row.cells for row in rows[1:] if len(row.cells) == len(rows[0].cells)]
    quoted, everything = set(), bool(body)
    for number, column in enumerate(zip(*body, strict=True)):
        known = [cell for cell in column if cell not in ("", "NA")]
        if known and all(cell.startswith('"') for cell in known):
            quoted.add(number)
        everything = everything and all(cell.startswith('"') for cell in column)
    return frozenset(quoted), header, everything
