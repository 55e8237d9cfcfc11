"""Workbooks of Excel, by openpyxl."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import InputError
from ._path import needs_extra
from ._sheet import Options
from ._spreadsheet import choose_sheet

if TYPE_CHECKING:
    from ._spreadsheet import Grid, Row

LOST = re.compile(r"xl/(charts|media|pivotTables|slicers)/|vbaProject")
MOST_ROWS = 1 << 20  # of a sheet, in every program; a file may claim any number
NEAR = 200  # rows in which a cell is looked for that shows how numbers are formatted


def _openpyxl(path: Any) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise needs_extra(path, "excel", "openpyxl") from None
    return openpyxl


def read_rows(
    path: Path, name: str | None, options: Options
) -> tuple[str, Iterable[Row], list[str]]:
    """The name of the sheet, its rows, and what is lost when the workbook is written again."""
    book = _openpyxl(path).load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        for sheet in sheets.values():
            sheet.reset_dimensions()  # which may claim anything
        used = [title for title, sheet in sheets.items() if name or _any_cell(sheet)]
        title = choose_sheet(path, name, used or list(sheets))
        rows = list(_rows(sheets[title], path, options))
    finally:
        book.close()
    return title, rows, _check_formulas(path, title, rows) + _lost(path)


def _any_cell(sheet: Any) -> bool:
    rows = islice(sheet.iter_rows(values_only=True), 100)
    return any(value is not None for row in rows for value in row)


def _rows(sheet: Any, path: Path, options: Options) -> Iterator[Row]:
    size = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        values = [None if cell == "" else cell for cell in cells]
        while values and values[-1] is None:
            values.pop()
        size += 8 * (len(values) + 1)
        if number > MOST_ROWS:
            raise InputError(f"{path} has rows beyond {MOST_ROWS:,}: export the sheet as CSV.")
        if number % 100 == 0:
            options.check_size(path, size)
        if values:
            yield number, values


def _check_formulas(path: Path, title: str, rows: list[Row]) -> list[str]:
    """Refuse a formula whose value the workbook does not hold; a note if there are formulas."""
    book = _openpyxl(path).load_workbook(path, read_only=True)
    any_formula = False
    try:
        sheet = book[title]
        sheet.reset_dimensions()
        known = dict(rows)
        for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            held = known.get(number, [])
            for at, value in enumerate(cells):
                if isinstance(value, str) and value.startswith("=") and len(value) > 1:
                    any_formula = True
                    if at >= len(held) or held[at] is None:
                        raise InputError(
                            f"{path}, row {number}, column {at + 1} has the formula {value[:40]!r} "
                            "without its value: open the workbook in a spreadsheet program, and "
                            "save it."
                        )
    finally:
        book.close()
    if not any_formula:
        return []
    return [
        f"{path.name} has formulas: their values are read, and a workbook that is written computes "
        "them when it is opened."
    ]


def _lost(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as parts:
        found = {match[1] or "macros" for name in parts.namelist() if (match := LOST.search(name))}
    words = {"media": "pictures", "pivotTables": "pivot tables"}
    listed = " and ".join(sorted(words.get(one, one) for one in found))
    return [f"The {listed} of {path.name} are not kept in a workbook that is written."] * bool(
        found
    )


def write_new(file: IO[bytes], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A workbook of one sheet."""
    book = _openpyxl("the output").Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    for row in ([name or None for name in names], *rows):
        sheet.append([_cell(sheet, value) for value in row])
    _save(book, file)


def _cell(sheet: Any, value: Any) -> Any:
    """What to store; a text that begins as a formula does is none."""
    value = _storable(value)
    if isinstance(value, str) and value.startswith("="):
        value = _openpyxl("the output").cell.WriteOnlyCell(sheet, value)
        value.data_type = "s"
    return value


def write_filled(
    file: IO[bytes], path: Path, grid: Grid, changes: dict[tuple[int, int], Any]
) -> None:
    """The workbook with some cells changed, formatted as the known cells of their column."""
    book = _openpyxl(path).load_workbook(path)
    sheet = book[grid.sheet]
    formats: dict[int, Any] = {}
    for (row, column), value in changes.items():
        cell = sheet.cell(row, column)
        if column not in formats:
            near = (sheet.cell(number, column) for number in grid.rows[:NEAR])
            formats[column] = next((one for one in near if one.value is not None), None)
        cell.value = _storable(value)
        if isinstance(cell.value, str) and cell.value.startswith("="):
            cell.data_type = "s"  # a text that begins so, not a formula
        if formats[column] is not None and cell.number_format == "General":
            cell.number_format = copy(formats[column].number_format)
    _save(book, file)


def _save(book: Any, file: IO[bytes]) -> None:
    whole = io.BytesIO()
    book.save(whole)
    file.write(whole.getvalue())


def _storable(value: Any) -> Any:
    """Moments with a time zone as text, and without letters that no workbook may hold."""
    if getattr(value, "tzinfo", None) is not None:
        return value.isoformat()
    if isinstance(value, str):
        return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", value)
    return value
