"""Numbers written as text, and words that stand among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import meaning_missing
from ._text import PEEK, TextFormat, content, first_row, matches, wrong_cell

if TYPE_CHECKING:
    import pyarrow as pa

    from ._sheet import Sheet

INTEGER = r"^-?(?:0|[1-9][0-9]*)$"
INFINITE = r"^[+-]?(?i:inf|infinity)$"
NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$" + f"|{INFINITE}"
LENIENT = {
    "integer": r"^[+-]?[0-9]{1,18}$",
    "number": r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$" + f"|{INFINITE}",
}
NEARLY = 0.9  # of the known cells are numbers: then the others are worth a note
LEAST = 0.5  # the same where the others are a few words
MOST_WORDS = 3


def parse(cells: pa.ChunkedArray, decimal: str) -> tuple[pa.ChunkedArray | None, TextFormat]:
    """Integers or numbers if all known cells are, and how they are written; else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = TextFormat(decimal=decimal)
    if matches(cells[:PEEK], INTEGER):
        try:
            integers = cells.cast("int64")
            return (None if _has_leading_zero(cells) else integers), plain
        except pa.ArrowInvalid:
            pass
    pointed = _with_point(cells, decimal)
    if not matches(pointed[:PEEK], NUMBER):
        return None, plain
    try:  # casting is much faster than matching, and refuses nearly as much
        numbers = pointed.cast("float64")
    except pa.ArrowInvalid:
        return None, plain
    if pc.any(pc.is_nan(numbers)).as_py() or not pc.any(pc.is_finite(numbers)).as_py():
        return None, plain
    # Whole numbers that were no 64-bit integers are ids, whose last digits a float would lose.
    if _has_leading_zero(pointed) or matches(pointed, INTEGER):
        return None, plain
    return numbers, _number_format(cells, decimal)


def parse_as(
    cells: pa.ChunkedArray, kind: str, decimal: str, name: str, sheet: Sheet
) -> tuple[pa.ChunkedArray, TextFormat]:
    """Numbers because the user says so: then 007 is seven, and any other cell is refused."""
    import pyarrow.compute as pc

    pointed = _with_point(cells, decimal)
    row = first_row(pc.match_substring_regex(pointed, LENIENT[kind]), False)
    if row is not None:
        raise wrong_cell(sheet, name, row, cells[row].as_py(), kind)
    pointed = pc.replace_substring_regex(pointed, r"^\+", "")
    if kind == "integer":
        return pointed.cast("int64"), TextFormat(decimal=decimal)
    return pointed.cast("float64"), _number_format(cells, decimal)


def _with_point(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """The cells with a point for a decimal mark."""
    import pyarrow.compute as pc

    if decimal == ".":
        return cells
    # A point in a file with decimal commas groups thousands, or is a slip: no number either way.
    return pc.replace_substring(pc.replace_substring(cells, ".", "?"), decimal, ".")


def _has_leading_zero(cells: pa.ChunkedArray) -> bool:
    """Whether some cell is like 007, which Arrow reads but which is rather a label."""
    import pyarrow.compute as pc

    return pc.any(pc.match_substring_regex(cells, "^-?0[0-9]")).as_py() is True


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
    return TextFormat((extremes["min"] or 0, extremes["max"] or 0), exponent, decimal)


def near_numbers(cells: pa.ChunkedArray, decimal: str, name: str, sheet: Sheet) -> str | None:
    """The note on a column that a few cells keep from being one of numbers."""
    is_number = _is_number_if_many(cells, decimal, NEARLY)
    if is_number is None:
        return None
    row = first_row(is_number, False)
    if row is None:
        return f'Column "{name}" is read as text because some of its integers exceed 64 bits.'
    value = cells[row].as_py()
    return (
        f'Column "{name}" is read as text because of "{value}" in {sheet.place(row)}; pass '
        f"{meaning_missing(value)} if that means missing."
    )


def stray_words(cells: pa.ChunkedArray, decimal: str = ".") -> dict[str, int]:
    """The words in a column that is one of numbers but for them, and how often each occurs.

    They rather mean that a cell is missing: at most `MOST_WORDS` different ones, without a digit,
    and repeated, unless they are few. Empty if there are none, or the column is no such one.

    >>> import pyarrow as pa
    >>> stray_words(pa.chunked_array([["31", "?", "25", "?", None]]))
    {'?': 2}
    >>> stray_words(pa.chunked_array([["31", "12b", "25", "12b", None]]))
    {}
    """
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(cells)
    is_number = _is_number_if_many(cells, decimal, LEAST)
    if is_number is None:
        return {}
    others = pc.value_counts(cells.filter(pc.invert(is_number)))
    if not 0 < len(others) <= MOST_WORDS:
        return {}
    words = {pair["values"]: pair["counts"] for pair in others.to_pylist()}
    few = pc.sum(is_number).as_py() >= NEARLY * pc.count(is_number).as_py()
    has_digit = any(letter.isdigit() for word in words for letter in word)
    return words if (few or min(words.values()) > 1) and not has_digit else {}


def _is_number_if_many(
    cells: pa.ChunkedArray, decimal: str, share: float
) -> pa.ChunkedArray | None:
    """True where a cell is written as a number, null where missing; None if too few are."""
    import pyarrow.compute as pc

    for some in (cells[: 10 * PEEK], cells):  # most columns of text are told by their first cells
        is_number = pc.match_substring_regex(_with_point(some, decimal), NUMBER)
        n_known, n_numbers = pc.count(is_number).as_py(), pc.sum(is_number).as_py() or 0
        if n_numbers < (share if some is cells else share / 2) * n_known:
            return None
    return is_number
