"""Columns of text as typed columns, and filled values as text that looks like its column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import errors
from . import _dates as dates
from . import _refuse_files
from ._dates import PEEK, matches
from ._numerals import (
    INFINITE,
    INTEGER,
    LENIENT,
    NEARLY,
    NUMBER,
    is_number,
    stray_words,
    with_point,
)

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("number", "integer", "boolean", "category", "date", "time", "duration", "leave")
MOST_DECIMALS = 6  # up to here Arrow writes decimals without an exponent


@dataclass(frozen=True)
class TextFormat:
    """How a column writes its values.

    Attributes
    ----------
    kind : {"text", "integer", "number", "date"}
        ``"date"`` also for times and date-times.
    decimals : tuple of int
        The fewest and the most digits after the decimal mark.
    exponent : int
        If some number is written like 1e5, the most digits that matter in any; else 0.
    decimal : str
    moment : dates.Moment or None
        The column's form of dates.
    """

    kind: str = "text"
    decimals: tuple[int, int] = (0, 0)
    exponent: int = 0
    decimal: str = "."
    moment: dates.Moment | None = None

    def format(self, values: Any) -> pa.Array:
        """Values as text, null where null.

        Numbers get two decimals more than any of the column's own, without trailing zeros.

        >>> import pyarrow as pa
        >>> TextFormat("number", decimals=(1, 2)).format(pa.array([4.871234, 4.5])).to_pylist()
        ['4.8712', '4.5']
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if isinstance(values.type, pa.DictionaryType):
            values = values.dictionary_decode()
        if self.moment is not None and pa.types.is_temporal(values.type):
            return self.moment.format(values)
        if not pa.types.is_floating(values.type):
            return pc.cast(values, pa.string())
        return self._format_floats(values.cast(pa.float64()))

    def _format_floats(self, values: pa.Array) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        fewest, most = self.decimals
        if self.exponent:
            # As many as the largest and the smallest cell have, so that neither is passed.
            texts = _printed(values, f"%.{min(max(self.exponent + 2, 9), 17)}g")
        else:
            try:
                if most + 2 > MOST_DECIMALS:
                    raise pa.ArrowInvalid
                texts = pc.cast(pc.cast(values, pa.decimal128(38, most + 2)), pa.string())
            except pa.ArrowInvalid:  # too many digits, or an infinite value
                texts = _printed(values, f"%.{most + 2}f")
            surplus = most + 2 - fewest  # digits that go if they are zeros
            tails = pc.ascii_rtrim(pc.utf8_slice_codeunits(texts, -surplus), characters="0")
            texts = pc.utf8_slice_codeunits(texts, 0, -surplus)
            texts = pc.ascii_rtrim(pc.binary_join_element_wise(texts, tails, ""), characters=".")
        if self.decimal != ".":
            texts = pc.replace_substring(texts, ".", self.decimal)
        return texts


def _printed(values: pa.Array, pattern: str) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    missing = values.is_null().to_numpy(zero_copy_only=False)
    numbers = values.to_numpy(zero_copy_only=False)
    texts = np.strings.mod(np.full(numbers.shape, pattern), numbers)
    return pa.array(texts.tolist(), pa.string(), mask=missing)


def content(texts: pa.Array) -> bytes:
    """The characters of all texts, one after the other: looking through them is quick.

    >>> import pyarrow as pa
    >>> content(pa.array(["a", None, "bc"]))
    b'abc'
    """
    import pyarrow as pa

    _, offsets, data = texts.buffers()
    if data is None:
        return b""
    ends = memoryview(offsets).cast("q" if pa.types.is_large_string(texts.type) else "i")
    first, last = ends[texts.offset], ends[texts.offset + len(texts)]
    return memoryview(data)[first:last].tobytes()


def parse_column(
    texts: pa.ChunkedArray,
    *,
    decimal: str = ".",
    kind: str | None = None,
    name: str = "column",
    where: str = "the table",
    line_of: Callable[[int], int | str] = lambda row: row + 1,
    numbers: bool = True,
) -> tuple[pa.ChunkedArray, TextFormat, str | None]:
    """Type a column of text: integers, numbers, dates, times, or else text.

    A column is only typed if all of its known cells can be read, and not if reading loses
    something that may matter: 007 and +49 stay text, and so do true and yes.

    Parameters
    ----------
    texts : pyarrow.ChunkedArray of string
        Null where missing.
    decimal : {".", ","}
    kind : str, optional
        "number", "integer", "date", "date:FORMAT" or "time" refuse a cell that is none;
        "category" and "leave" keep the text; others are left to whoever fills the column.
    name, where, line_of :
        The column's name, its file's, and the line of a row, for notes and refusals.
    numbers : bool
        False looks for dates and times alone.

    Returns
    -------
    column, text_format, note or None

    Examples
    --------
    >>> import pyarrow as pa
    >>> column, text_format, note = parse_column(pa.chunked_array([["1.50", None, "2"]]))
    >>> column.to_pylist(), text_format.decimals
    ([1.5, None, 2.0], (0, 2))
    """
    import pyarrow.compute as pc

    _refuse_files.check_kind(name, kind, KINDS)
    if kind in ("category", "leave"):
        return texts, TextFormat(decimal=decimal), None
    if kind in ("boolean", "duration"):  # no text is read as one: the column's cells decide
        kind = None
    cells = pc.utf8_trim_whitespace(texts)
    if kind in ("number", "integer"):
        return *_forced_numbers(cells, decimal, kind, name, where, line_of), None
    if kind is not None:
        column, form = dates.parse_as(cells, kind, name, where, line_of)
        return column, TextFormat("date", decimal=decimal, moment=form), None
    if cells.null_count == len(cells):
        return texts, TextFormat(decimal=decimal), None
    note = None
    if numbers:
        found = _integers(cells)
        if found is not None:
            return found, TextFormat("integer", decimal=decimal), None
        found = _numbers(cells, decimal)
        if found is not None:
            return found, _number_format(cells, decimal), None
        if stray_words(cells, decimal):  # whoever fills the column says so
            return texts, TextFormat(decimal=decimal), None
        note = _near_numbers(cells, decimal, name, line_of)
    if note is None:
        moments, moment, note = dates.parse(cells, name)
        if moment is not None:
            return moments, TextFormat("date", decimal=decimal, moment=moment), note
    return texts, TextFormat(decimal=decimal), note


def _integers(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not matches(cells[:PEEK], INTEGER):
        return None
    try:
        found = pc.cast(cells, pa.int64())
    except pa.ArrowInvalid:
        return None
    return None if _has_leading_zero(cells) else found


def _has_leading_zero(cells: pa.ChunkedArray) -> bool:
    """Whether some cell is like 007, which Arrow reads but which is rather a label."""
    import pyarrow.compute as pc

    return pc.any(pc.match_substring_regex(cells, "^-?0[0-9]")).as_py() is True


def _numbers(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    pointed = with_point(cells, decimal)
    if not matches(pointed[:PEEK], f"{NUMBER}|{INFINITE}"):
        return None
    try:  # casting is much faster than matching, and refuses nearly as much
        found = pc.cast(pointed, pa.float64())
    except pa.ArrowInvalid:
        return None
    if pc.any(pc.is_nan(found)).as_py() or not pc.any(pc.is_finite(found)).as_py():
        return None
    if _has_leading_zero(pointed):
        return None
    # Whole numbers that were no 64-bit integers are ids, whose last digits a float would lose.
    return None if matches(pointed, INTEGER) else found


def _number_format(cells: pa.ChunkedArray, decimal: str) -> TextFormat:
    import pyarrow.compute as pc

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
    return TextFormat("number", (extremes["min"] or 0, extremes["max"] or 0), exponent, decimal)


def _near_numbers(
    cells: pa.ChunkedArray, decimal: str, name: str, line_of: Callable[[int], int | str]
) -> str | None:
    """The note on a column that a few cells keep from being one of numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for some in (cells[: 10 * PEEK], cells):  # most columns of text are told by their first cells
        numeric = is_number(some, decimal)
        n_known, n_numbers = pc.count(numeric).as_py(), pc.sum(numeric).as_py() or 0
        if n_numbers < (NEARLY if some is cells else NEARLY / 2) * n_known:
            return None
    row = pc.index(numeric, pa.scalar(False)).as_py()
    if row < 0:
        return f'Column "{name}" is read as text because some of its integers exceed 64 bits.'
    value, where = cells[row].as_py(), errors.line_or_row(line_of(row))
    return (
        f'Column "{name}" is read as text because of "{value}" in {where}; pass '
        f"{errors.meaning_missing(value)} if that means missing."
    )


def _forced_numbers(
    cells: pa.ChunkedArray,
    decimal: str,
    kind: str,
    name: str,
    where: str,
    line_of: Callable[[int], int | str],
) -> tuple[pa.ChunkedArray, TextFormat]:
    """Numbers because the user says so: then 007 is seven, and any other cell is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pointed = with_point(cells, decimal)
    fine = pc.match_substring_regex(pointed, f"{LENIENT}|{INFINITE}")
    if kind == "integer":
        fine = pc.match_substring_regex(pointed, "^[+-]?[0-9]{1,18}$")
    row = pc.index(fine, pa.scalar(False)).as_py()
    if row >= 0:
        raise _refuse_files.cell_is_no(where, line_of(row), name, cells[row].as_py(), kind)
    pointed = pc.replace_substring_regex(pointed, r"^\+", "")
    if kind == "integer":
        return pc.cast(pointed, pa.int64()), TextFormat("integer", decimal=decimal)
    return pc.cast(pointed, pa.float64()), _number_format(cells, decimal)
