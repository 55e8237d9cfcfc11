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
        filled = sum(bool(unquote(cell).strip()) for cell in row.cells)
        apart = len(row.cells) != width and following.line > row.line + 1
        if filled > 1 and not apart:
            break
        place += 1
    if not place:
        return 0
    names = [unquote(cell).strip() for cell in rows[place].cells]
    is_header = len(names) == width and not _NUMBER.match(names[0]) and sum(map(bool, names)) > 1
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
    words = [unquote(record.cells[0]).strip() for record in short]
    before = records[last - 1] if last else None
    lines_before = 1 + sum(len(LINE_END.findall(cell)) for cell in before.cells) if before else 0
    apart = before and short[0].line > before.line + lines_before
    shorter = all(len(record.cells) < width for record in short)
    # A last line that is cut off is no footer: it must say what it is, or stand apart.
    return last if (apart and shorter) or all(map(_REMARK.match, filter(None, words))) else None


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
    from .._number_style import read_numbers

    for column in columns[1:]:
        if column[row].as_py() is None:
            continue
        values: Any = read_numbers(column[: row + 1], ".").values
        above = values[:row][~np.isnan(values[:row])]
        if above.size > 1 and values[row] >= 0.99 * above.sum() > 0 and values[row] > above.max():
            return True
    return False
