"""Columns of text as typed columns: which cells are missing, and which hold numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError, meaning_value
from ._missing_words import AMONG_NUMBERS, as_number
from ._sheet import KINDS, Sheet
from ._text import PEEK, TextFormat, matches, parse_dates, parse_dates_as, wrong_cell

INTEGER = r"^-?(?:0|[1-9][0-9]*)$"
INFINITE = r"^[+-]?(?i:inf|infinity)$"
NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$" + f"|{INFINITE}"
LENIENT = {
    "integer": r"^[+-]?[0-9]{1,18}(?:\.0*)?$",
    "number": r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$" + f"|{INFINITE}",
}
DOUBTFUL = r"^-?[1-9][0-9]{0,2}(?:\.[0-9]{3})?$"  # 1.200 may be 1200 where points part thousands
MARKED_KINDS = ("number:", "integer:")  # and the decimal mark


def parse_column(
    texts: pa.ChunkedArray,
    name: str,
    sheet: Sheet,
    *,
    kind: str | None = None,
    numbers: bool = True,
) -> tuple[pa.ChunkedArray, TextFormat, str | None]:
    """Type a column of text: integers, numbers, dates, times, or else text.

    A column is only typed if all of its known cells can be read, and not if reading loses
    something that may matter: 007 and +49 stay text, and so do true and yes. With a `kind` of
    "number", "integer", "date", "date:FORMAT" or "time", a cell that is none is refused;
    "category" and "leave" keep the text; others are left to the code that fills the column.
    Without `numbers`, only dates and times are looked for. The third item is a note or None.
    """
    formed = kind is not None and kind.startswith("date:") and kind[5:]
    if kind is not None and kind not in KINDS and not formed and kind[:-1] not in MARKED_KINDS:
        known = ", ".join([*KINDS, "date:FORMAT"])
        raise InputError(f"The type of column {name!r} is {kind!r} but must be one of {known}.")
    decimal = sheet.dialect.decimal if sheet.dialect else "."
    as_text = TextFormat(decimal=decimal)
    settled = sheet.dialect is None or sheet.dialect.settled
    if kind in ("category", "leave"):
        return texts, as_text, None
    if kind in ("boolean", "duration"):  # no text is read as one: the column's cells decide
        kind = None
    cells = pc.utf8_trim_whitespace(texts)
    base, _, mark = (kind or "").partition(":")
    if base in ("number", "integer"):
        plain = not mark and matches(_with_point(cells, decimal), LENIENT[base])
        if plain and pc.count(cells).as_py():
            return *parse_numbers_as(cells, base, decimal), None
        sure: str | None = mark or (decimal if settled else None)
        check_numbers(cells, base, sure, name, sheet)
        return texts, as_text, None  # the code that fills the column reads them
    if kind is not None:
        column, moment = parse_dates_as(cells, kind, name, sheet)
        return column, TextFormat(decimal=decimal, moment=moment), None
    if cells.null_count == len(cells):
        return texts, as_text, None
    if numbers:
        column, text_format = parse_numbers(cells, decimal)
        if column is not None and (settled or not _doubtful(cells, column)):
            return column, text_format, None
        if column is not None:  # the code that fills the column asks which it is
            return texts, as_text, None
        if matches(_with_point(cells, decimal), INTEGER) and not _has_leading_zero(cells):
            long = f'Column "{name}" is read as text because some of its integers exceed 64 bits.'
            return texts, as_text, long
    column, form, note = parse_dates(cells, name)
    if form is None:
        return texts, as_text, note
    return column, TextFormat(decimal=decimal, moment=form), note


def mark_missing(
    column: pa.ChunkedArray, markers: Iterable[str]
) -> tuple[pa.ChunkedArray, Counter[str]]:
    """Null where a cell is a marker, whatever blanks surround it; and how often each occurs."""
    trimmed = pc.utf8_trim_whitespace(column)
    marked = pc.is_in(trimmed, value_set=pa.array(markers, pa.string()))
    pairs = pc.value_counts(trimmed.filter(marked)).to_pylist()
    return null_where(marked, column), Counter({pair["values"]: pair["counts"] for pair in pairs})


def mark_equal(
    numbers: pa.ChunkedArray, texts: pa.ChunkedArray, markers: Iterable[str]
) -> tuple[pa.ChunkedArray, pa.ChunkedArray, Counter[str]]:
    """The same in a column of numbers, which may be written in another way: -99.0 is a -99.

    Texts are null where their numbers are. Columns of another type have nothing equal.
    """
    counts: Counter[str] = Counter()
    kind = numbers.type
    whole = pa.types.is_integer(kind)
    if not (whole or pa.types.is_floating(kind)):
        return numbers, texts, counts
    for marker in markers:
        number = as_number(marker)
        if number is None or not number.is_finite() or (whole and number != int(number)):
            continue
        try:
            value = pa.scalar(int(number) if whole else float(number), kind)
        except (pa.ArrowInvalid, OverflowError):  # beyond what the column can hold
            continue
        equal = pc.equal(numbers, value)
        count = pc.sum(equal).as_py()
        if count:
            counts[marker] = count
            numbers, texts = null_where(equal, numbers), null_where(equal, texts)
    return numbers, texts, counts


def mark_blank(column: pa.ChunkedArray, empty: bool) -> pa.ChunkedArray:
    """Null where a cell holds nothing but blanks.

    The quoted empty text ``""`` is known, unless `empty` says that the file quotes every cell.
    """
    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    if not empty:
        blank = pc.and_(blank, pc.not_equal(column, ""))
    return null_where(blank, column)


def null_where(mask: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in the cells that are marked; the same object if there is none."""
    if not pc.any(mask, min_count=0).as_py():
        return column
    return pc.if_else(pc.fill_null(mask, False), None, column)


def put(base: pa.ChunkedArray, marks: NDArray[np.bool_], values: Any) -> pa.ChunkedArray:
    """A column with the marked cells replaced, of the type it had.

    Categories keep their list, its order and the unused ones.
    """
    kind, where = base.type, pa.array(marks)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_dictionary(kind):
        whole = base.unify_dictionaries().combine_chunks()
        codes = pc.index_in(values.cast(kind.value_type), value_set=whole.dictionary)
        indices = pc.replace_with_mask(whole.indices, where, codes.cast(kind.index_type))
        array = pa.DictionaryArray.from_arrays(indices, whole.dictionary, ordered=kind.ordered)
        return pa.chunked_array([array])
    whole, values = base.combine_chunks(), values.cast(kind)
    if pa.types.is_duration(kind):  # which Arrow replaces as the integers they are
        whole, values = whole.cast("int64"), values.cast("int64")
    return pa.chunked_array([pc.replace_with_mask(whole, where, values).cast(kind)])


def missing_notes(
    counts: Mapping[str, int], named: Iterable[str], column: str | None = None
) -> list[str]:
    """A note for each marker that was found; those that the user named need no way out."""
    where = "" if column is None else f" in column {column!r}"
    return [
        f'"{marker}" counts as missing{where} ({n_cells(n)})'
        + ("." if marker in named else f": pass {meaning_value(marker)} if it is a value.")
        for marker, n in counts.items()
    ]


def n_cells(count: int) -> str:
    """A number of cells in words."""
    return f"{count} {'cell' if count == 1 else 'cells'}"


def content(texts: pa.Array) -> bytes:
    """The characters of all texts, one after the other: looking through them is quick.

    >>> import pyarrow as pa
    >>> content(pa.array(["a", None, "bc"]))
    b'abc'
    """
    _, offsets, data = texts.buffers()
    if data is None:
        return b""
    ends = memoryview(offsets).cast("q" if pa.types.is_large_string(texts.type) else "i")
    first, last = ends[texts.offset], ends[texts.offset + len(texts)]
    return memoryview(data)[first:last].tobytes()


def parse_numbers(
    cells: pa.ChunkedArray, decimal: str
) -> tuple[pa.ChunkedArray | None, TextFormat]:
    """Integers or numbers if all known cells are, and how they are written; else None."""
    plain = TextFormat(decimal=decimal)
    if matches(cells[:PEEK], INTEGER):
        try:
            integers = cells.cast("int64")
            return (None if _has_leading_zero(cells) else integers), plain
        except ValueError:
            pass
    pointed = _with_point(cells, decimal)
    if not matches(pointed[:PEEK], NUMBER):
        return None, plain
    try:  # casting is much faster than matching, and refuses nearly as much
        numbers = pointed.cast("float64")
    except ValueError:
        return None, plain
    if pc.any(pc.is_nan(numbers)).as_py() or not pc.any(pc.is_finite(numbers)).as_py():
        return None, plain
    # Whole numbers that were no 64-bit integers are ids, whose last digits a float would lose.
    if _has_leading_zero(pointed) or matches(pointed, INTEGER):
        return None, plain
    return numbers, _number_format(cells, decimal)


def parse_numbers_as(
    cells: pa.ChunkedArray, kind: str, decimal: str
) -> tuple[pa.ChunkedArray, TextFormat]:
    """Numbers because the user says so: then 007 is seven, and 4.0 an integer."""
    pointed = pc.replace_substring_regex(_with_point(cells, decimal), r"^\+", "")
    form = _number_format(cells, decimal)
    if kind == "integer":
        return pc.replace_substring_regex(pointed, r"\.0*$", "").cast("int64"), form
    return pointed.cast("float64"), form


def check_numbers(
    cells: pa.ChunkedArray, kind: str, decimal: str | None, name: str, sheet: Sheet
) -> None:
    """Refuse a column that the user calls one of numbers for its first cell that is none."""
    from ._numbers import read_numbers

    numbers = read_numbers(cells, decimal)
    good = numbers.is_number
    if kind == "integer":
        good = good & (numbers.values == np.rint(numbers.values))
    plain = pc.match_substring_regex(_with_point(cells, decimal or "."), LENIENT[kind])
    missing = pc.is_in(pc.utf8_lower(cells), value_set=pa.array(sorted(AMONG_NUMBERS)))
    for known in (pc.is_null(cells), missing, pc.fill_null(plain, False)):
        good = good | np.asarray(known.to_numpy(zero_copy_only=False), dtype=bool)
    if not good.all():
        row = int(np.argmin(good))
        raise wrong_cell(sheet, name, row, cells[row].as_py(), kind)


def _doubtful(cells: pa.ChunkedArray, column: pa.ChunkedArray) -> bool:
    """Whether points may be between thousands in all cells that have one."""
    return pa.types.is_floating(column.type) and matches(cells, DOUBTFUL)


def _with_point(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """The cells with a point for a decimal mark."""
    if decimal == ".":
        return cells
    # A point in a file with decimal commas groups thousands, or is a mistake: no number either way.
    return pc.replace_substring(pc.replace_substring(cells, ".", "?"), decimal, ".")


def _has_leading_zero(cells: pa.ChunkedArray) -> bool:
    """Whether some cell is like 007, which Arrow reads but which is probably a label."""
    return pc.any(pc.match_substring_regex(cells, "^-?0[0-9]")).as_py() is True


def _number_format(cells: pa.ChunkedArray, decimal: str) -> TextFormat:
    exponent, plain = 0, cells
    letters = b"".join(map(content, cells.chunks))
    if any(letter in letters for letter in b"eEiI"):
        plain = cells.filter(pc.invert(pc.match_substring_regex(cells, "[eEiI]")))
        if b"e" in letters or b"E" in letters:  # there is none in "infinity"
            digits = pc.replace_substring_regex(cells, "[eE].*|[^0-9]", "")
            exponent = pc.max(pc.utf8_length(pc.utf8_ltrim(digits, characters="0"))).as_py() or 1
    mark = pc.find_substring(plain, decimal)
    digits = pc.subtract(pc.subtract(pc.binary_length(plain), mark), 1)
    extremes = pc.min_max(pc.if_else(pc.less(mark, 0), 0, digits)).as_py()
    return TextFormat((extremes["min"] or 0, extremes["max"] or 0), exponent, decimal)
