"""Texts that mean a missing cell, made null."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..table._objects import as_number

if TYPE_CHECKING:
    import pyarrow as pa


def mark_missing(
    column: pa.ChunkedArray, markers: Iterable[str]
) -> tuple[pa.ChunkedArray, Counter[str]]:
    """Null where a cell is a marker, blanks around it aside; and how often each occurs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    marked = pc.is_in(trimmed, value_set=pa.array(markers, pa.string()))
    counts = Counter(
        {
            pair["values"]: pair["counts"]
            for pair in pc.value_counts(trimmed.filter(marked)).to_pylist()
        }
    )
    return _null_where(marked, column), counts


def mark_equal(
    numbers: pa.ChunkedArray, texts: pa.ChunkedArray, markers: Iterable[str]
) -> tuple[pa.ChunkedArray, pa.ChunkedArray, Counter[str]]:
    """The same in a column of numbers, which may be written otherwise: -99.0 is a -99.

    Texts are null where their numbers are. Columns of another type have nothing equal.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    counts: Counter[str] = Counter()
    kind = numbers.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return numbers, texts, counts
    for marker in markers:
        number = as_number(marker)
        if number is None or not number.is_finite():
            continue
        if pa.types.is_integer(kind) and number != int(number):
            continue
        try:
            value = pa.scalar(int(number) if pa.types.is_integer(kind) else float(number), kind)
        except (pa.ArrowInvalid, OverflowError):  # beyond what the column can hold
            continue
        equal = pc.equal(numbers, value)
        count = pc.sum(equal).as_py()
        if count:
            counts[marker] = count
            numbers, texts = _null_where(equal, numbers), _null_where(equal, texts)
    return numbers, texts, counts


def mark_blank(column: pa.ChunkedArray, empty: bool) -> pa.ChunkedArray:
    """Null where a cell holds nothing but blanks.

    The quoted empty text ``""`` is known, unless `empty` says that the file quotes every cell.
    """
    import pyarrow.compute as pc

    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    if not empty:
        blank = pc.and_(blank, pc.not_equal(column, ""))
    return _null_where(blank, column)


def without_empty(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in place of an empty text."""
    import pyarrow.compute as pc

    return _null_where(pc.equal(texts, ""), texts)


def counted(counts: Counter[str]) -> list[str]:
    """A note for each marker that was found."""
    return [
        f'"{marker}" counts as missing ({count} {"cell" if count == 1 else "cells"}).'
        for marker, count in counts.items()
    ]


def _null_where(mask: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in the cells that are marked; the same object if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.any(mask, min_count=0).as_py():
        return column
    return pc.if_else(pc.fill_null(mask, False), pa.scalar(None, column.type), column)
