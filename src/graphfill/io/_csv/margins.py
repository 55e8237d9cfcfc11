"""What stands around the table in a text file: titles above it, totals and sources below it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .dialect import LINE_END, Record, unquote

MOST_TITLES = 30
MOST_FOOTERS = 20  # lines
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?\Z")
_YEAR = re.compile(r"(1[5-9]|2[01])[0-9]{2}\Z")  # may well be the name of a column
_TOTAL = re.compile(
    r"(?i:(grand |sub)?total|totals|sum|all|gesamt|insgesamt|summe|somme|suma)\W*\Z"
)
_REMARK = re.compile(
    r"(?i:sources?|notes?|remarks?|footnotes?|quellen?|hinweis|stand|anmerkung|fuente|nota|data|"
    r"last updated?|updated|generated|exported|extracted|created|retrieved|accessed|copyright)"
    r"(?:\s*:.*|\b.{9,})"
    r"|\*+.+|\u00a9.*|\([a-z0-9*]\).+|[\u00b9\u00b2\u00b3\u2020\u2021].+"
)


def header_place(rows: Sequence[Record]) -> int:
    """Which of the first records names the columns: those before it are a title.

    A title has one cell alone, or ends before a blank line with another number of cells.
    """
    if len(rows) < 3:
        return 0
    width = Counter(len(row.cells) for row in rows).most_common(1)[0][0]
    place = 0
    while width > 1 and place < min(len(rows) - 2, MOST_TITLES):
        row, following = rows[place], rows[place + 1]
        filled = [number for number, cell in enumerate(row.cells) if _bare(cell)]
        apart = len(row.cells) != width and _stands_apart(row, following)
        if filled[:2] not in ([], [0]) and not apart:
            break
        place += 1
    if not place:
        return 0
    names = [_bare(cell) for cell in rows[place].cells]
    numbers = [name for name in names if _NUMBER.match(name) and not _YEAR.match(name)]
    is_header = len(names) == width and not numbers and sum(map(bool, names)) > 1
    return place if is_header else 0


def footer_place(records: Sequence[Record], width: int) -> int | None:
    """The first record of a footer of shorter lines, if all lines of another width are in it."""
    last = len(records)
    while last and len(records[last - 1].cells) != width and len(records) - last < MOST_FOOTERS:
        last -= 1
    short = records[last:]
    broken = any(record.unclosed for record in short)
    if not short or broken or any(len(record.cells) != width for record in records[:last]):
        return None
    filled = [[cell for cell in map(_bare, record.cells) if cell] for record in short]
    apart = last > 0 and _stands_apart(records[last - 1], short[0])
    # A last line that is cut off is no footer: it must say what it is, or stand apart as one cell.
    alone = apart and all(len(cells) < 2 or _TOTAL.match(cells[0]) for cells in filled)
    return last if alone or all(_REMARK.match(cells[0]) for cells in filled if cells) else None


def _stands_apart(above: Record, below: Record) -> bool:
    """Whether there is a blank line between two records."""
    return below.line > above.line + 1 + sum(len(LINE_END.findall(cell)) for cell in above.cells)


def _bare(cell: str) -> str:
    return unquote(cell).strip()


def footer_rows(columns: Sequence[pa.ChunkedArray]) -> int:
    """How many of the last rows are remarks or totals rather than rows of the table."""
    n_rows, found = len(columns[0]), 0
    for below in range(min(n_rows - 1, MOST_FOOTERS) if len(columns) > 1 else 0):
        row = n_rows - 1 - below
        cells = [(column[row].as_py() or "").strip() for column in columns]
        filled = [cell for cell in cells if cell]
        remark = len(filled) == 1 and cells[0] and _REMARK.fullmatch(filled[0])
        if remark or (len(filled) > 1 and _TOTAL.match(filled[0]) and _adds_up(columns, row)):
            found = below + 1
        elif filled:  # rows without a cell just above a footer belong to it
            return below if found else 0
    return found


def _adds_up(columns: Sequence[pa.ChunkedArray], row: int) -> bool:
    """Whether a cell of the row is at least the sum of all cells above it."""
    from .._numbers import read_numbers

    for column in columns[1:]:
        if column[row].as_py() is None:
            continue
        values: Any = read_numbers(column[: row + 1], ".").values
        above = values[:row][~np.isnan(values[:row])]
        if above.size > 1 and values[row] >= 0.99 * above.sum() > 0 and values[row] > above.max():
            return True
    return False
