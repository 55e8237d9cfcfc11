"""Cells of text: how a column writes its values, and questions about all cells at once."""

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


@dataclass(frozen=True)
class TextFormat:
    """How a column writes its values.

    Attributes
    ----------
    decimals : tuple of int
        The fewest and the most digits after the decimal mark.
    exponent : int
        If some number is written like 1e5, the most digits that matter in any; else 0.
    decimal : str
    moment : Moment or None
        How dates and times are written.
    """

    decimals: tuple[int, int] = (0, 0)
    exponent: int = 0
    decimal: str = "."
    moment: Moment | None = None

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
    """A cell that is not of the type its column was said to have."""
    return InputError(
        f"{sheet.path.name}, {sheet.place(row)} has {shown(value)} in column {name!r}, which is no "
        f"{kind}: correct it, or pass {meaning_missing(value)} if it means missing."
    )
