"""Columns of text as typed columns: which cells are missing, and what the others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from . import _dates as dates
from ._text import TextFormat, near_numbers, parse_numbers, parse_numbers_as, stray_words

if TYPE_CHECKING:
    import pyarrow as pa

    from ._sheet import Sheet

KINDS = ("number", "integer", "boolean", "category", "date", "time", "duration", "leave")


def parse_column(
    texts: pa.ChunkedArray,
    name: str,
    sheet: Sheet,
    *,
    kind: str | None = None,
    with_numbers: bool = True,
) -> tuple[pa.ChunkedArray, TextFormat, str | None]:
    """Type a column of text: integers, numbers, dates, times, or else text.

    A column is only typed if all of its known cells can be read, and not if reading loses
    something that may matter: 007 and +49 stay text, and so do true and yes.

    Parameters
    ----------
    texts : pyarrow.ChunkedArray of string
        Null where missing.
    name, sheet :
        The column's name and its file, whose decimal mark is used and which sentences name.
    kind : str, optional
        "number", "integer", "date", "date:FORMAT" or "time" refuse a cell that is none;
        "category" and "leave" keep the text; others are left to the code that fills the column.
    with_numbers : bool
        False looks for dates and times alone.

    Returns
    -------
    column, text_format, note or None
    """
    import pyarrow.compute as pc

    if kind is not None and kind not in KINDS and not (kind.startswith("date:") and kind[5:]):
        known = ", ".join([*KINDS, "date:FORMAT"])
        raise InputError(f"The type of column {name!r} is {kind!r} but must be one of {known}.")
    decimal = sheet.dialect.decimal if sheet.dialect else "."
    as_text = TextFormat(decimal=decimal)
    if kind in ("category", "leave"):
        return texts, as_text, None
    if kind in ("boolean", "duration"):  # no text is read as one: the column's cells decide
        kind = None
    cells = pc.utf8_trim_whitespace(texts)
    if kind in ("number", "integer"):
        return *parse_numbers_as(cells, kind, decimal, name, sheet), None
    if kind is not None:
        column, moment = dates.parse_as(cells, kind, name, sheet)
        return column, TextFormat(decimal=decimal, moment=moment), None
    if cells.null_count == len(cells):
        return texts, as_text, None
    if with_numbers:
        column, text_format = parse_numbers(cells, decimal)
        if column is not None:
            return column, text_format, None
        if stray_words(cells, decimal):  # the code that fills the column says so
            return texts, as_text, None
        note = near_numbers(cells, decimal, name, sheet)
        if note is not None:
            return texts, as_text, note
    column, form, note = dates.parse(cells, name)
    if form is None:
        return texts, as_text, note
    return column, TextFormat(decimal=decimal, moment=form), note


def mark_missing(
    column: pa.ChunkedArray, markers: Iterable[str]
) -> tuple[pa.ChunkedArray, Counter[str]]:
    """Null where a cell is a marker, whatever blanks surround it; and how often each occurs."""
    import pyarrow as pa
    import pyarrow.compute as pc

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
    import pyarrow as pa
    import pyarrow.compute as pc

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


def as_number(marker: Any) -> Decimal | None:
    """A marker read as a number, or None."""
    if isinstance(marker, (bool, np.bool_)):
        return None
    try:
        number = Decimal(str(marker).strip())
    except ArithmeticError:
        return None
    return None if number.is_nan() else number


def mark_blank(column: pa.ChunkedArray, empty: bool) -> pa.ChunkedArray:
    """Null where a cell holds nothing but blanks.

    The quoted empty text ``""`` is known, unless `empty` says that the file quotes every cell.
    """
    import pyarrow.compute as pc

    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    if not empty:
        blank = pc.and_(blank, pc.not_equal(column, ""))
    return null_where(blank, column)


def null_where(mask: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in the cells that are marked; the same object if there is none."""
    import pyarrow.compute as pc

    if not pc.any(mask, min_count=0).as_py():
        return column
    return pc.if_else(pc.fill_null(mask, False), None, column)


def put(base: pa.ChunkedArray, marks: NDArray[np.bool_], values: Any) -> pa.ChunkedArray:
    """A column with the marked cells replaced, of the type it had.

    Categories keep their list, its order and the unused ones.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

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


def missing_notes(counts: Counter[str]) -> list[str]:
    """A note for each marker that was found."""
    return [f'"{marker}" counts as missing ({n_cells(n)}).' for marker, n in counts.items()]


def n_cells(count: int) -> str:
    """A number of cells in words."""
    return f"{count} {'cell' if count == 1 else 'cells'}"
