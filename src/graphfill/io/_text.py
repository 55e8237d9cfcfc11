"""Cells of text: numbers read from them, and values written in the form of their column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError, meaning_missing, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from ._dates import Moment
    from ._sheet import Sheet

MOST_DECIMALS = 6  # up to here Arrow writes decimals without an exponent
PEEK = 100  # cells that tell at once what a column is not
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


@dataclass(frozen=True)
class TextFormat:
    """How a column writes its values."""

    decimals: tuple[int, int] = (0, 0)  # the fewest and the most digits after the decimal mark
    exponent: int = 0  # if some number is written like 1e5, the most digits that matter in any
    decimal: str = "."
    moment: Moment | None = None  # how dates and times are written

    def format(self, values: Any) -> pa.Array:
        """Values as text, null where null.

        Numbers get two decimals more than any of the column's own, without trailing zeros.

        >>> import pyarrow as pa
        >>> TextFormat(decimals=(1, 2)).format(pa.array([4.871234, 4.5])).to_pylist()
        ['4.8712', '4.5']
        """
        import pyarrow as pa

        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if isinstance(values.type, pa.DictionaryType):
            values = values.dictionary_decode()
        if self.moment is not None and pa.types.is_temporal(values.type):
            return self.moment.format(values)
        if not pa.types.is_floating(values.type):
            return values.cast("string")
        return self._format_floats(values.cast("float64"))

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
                texts = values.cast(pa.decimal128(38, most + 2)).cast("string")
            except pa.ArrowInvalid:  # too many digits, or an infinite value
                texts = _printed(values, f"%.{most + 2}f")
            surplus = most + 2 - fewest  # digits that go if they are zeros
            tails = pc.ascii_rtrim(pc.utf8_slice_codeunits(texts, -surplus), characters="0")
            texts = pc.utf8_slice_codeunits(texts, 0, -surplus)
            texts = pc.ascii_rtrim(pc.binary_join_element_wise(texts, tails, ""), characters=".")
        return texts if self.decimal == "." else pc.replace_substring(texts, ".", self.decimal)


def _printed(values: pa.Array, pattern: str) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    missing = values.is_null().to_numpy(zero_copy_only=False)
    numbers = values.to_numpy(zero_copy_only=False)
    texts = np.char.mod(np.full(numbers.shape, pattern), numbers)
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


def matches(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every known cell matches; the first cells decide where they can."""
    import pyarrow.compute as pc

    def all_match(some: pa.ChunkedArray) -> bool:
        return pc.all(pc.match_substring_regex(some, pattern), min_count=0).as_py() is not False

    return all_match(cells[:PEEK]) and all_match(cells)


def first_row(mask: pa.ChunkedArray, value: bool) -> int | None:
    """The first row that holds the value."""
    import pyarrow.compute as pc

    row = pc.index(mask, value).as_py()
    return None if row < 0 else row


def wrong_cell(sheet: Sheet, name: str, row: int, value: str, kind: str) -> InputError:
    """A cell that is not of the type that the user gave its column."""
    return InputError(
        f"{sheet.path.name}, {sheet.place(row)} has {shown(value)} in column {name!r}, which is no "
        f"{kind}: correct it, or pass {meaning_missing(value)} if it means missing."
    )


def parse_numbers(
    cells: pa.ChunkedArray, decimal: str
) -> tuple[pa.ChunkedArray | None, TextFormat]:
    """Integers or numbers if all known cells are, and how they are written; else None."""
    import pyarrow.compute as pc

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
    # A point in a file with decimal commas groups thousands, or is a mistake: no number either way.
    return pc.replace_substring(pc.replace_substring(cells, ".", "?"), decimal, ".")


def _has_leading_zero(cells: pa.ChunkedArray) -> bool:
    """Whether some cell is like 007, which Arrow reads but which is probably a label."""
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
    """The note on a column that would hold numbers without a few of its cells."""
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
    """The words in a column that otherwise holds numbers, and how often each occurs.

    They probably mean that a cell is missing: at most `MOST_WORDS` different ones, without a
    digit, and repeated, unless they are few. Empty if there are none, or too few numbers.

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

    for some in (cells[: 10 * PEEK], cells):  # the first cells decide in most columns of text
        is_number = pc.match_substring_regex(_with_point(some, decimal), NUMBER)
        n_known, n_numbers = pc.count(is_number).as_py(), pc.sum(is_number).as_py() or 0
        if n_numbers < (share if some is cells else share / 2) * n_known:
            return None
    return is_number
