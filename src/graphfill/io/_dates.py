"""Dates and times written as text: which form a column uses, and how to write in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import errors
from . import _refuse_files

if TYPE_CHECKING:
    import pyarrow as pa

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ISO_DATE = rf"^{_DAY}$"
_ISO_MOMENT = rf"^{_DAY}[T ]{_CLOCK}$"
_ISO_ZONED = rf"^{_DAY}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})$"
_TIME = rf"^{_CLOCK}$"
_YEAR_FIRST = r"^[0-9]{4}[/.][0-9]{1,2}[/.][0-9]{1,2}$"
_YEAR_LAST = r"^[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{4}$"
_ANY_DATE = "|".join((_ISO_DATE, _ISO_MOMENT, _ISO_ZONED, _YEAR_FIRST, _YEAR_LAST))
_TIMED = ("%H", "%I", "%M", "%S", "%T", "%R", "%X", "%c", "%s")


PEEK = 100  # cells that tell at once what a column is not


@dataclass(frozen=True)
class Moment:
    """One form of writing dates or times.

    Attributes
    ----------
    pattern : str
        In the letters of strftime.
    digits : int
        Digits of the fraction of a second.
    padded : bool
        Whether days and months below ten have a leading zero.
    suffix : str
        What follows: "Z" or an offset.
    """

    pattern: str
    digits: int = 0
    padded: bool = True
    suffix: str = ""

    def format(self, values: pa.Array) -> pa.Array:
        """Dates, times or timestamps as text in this form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_time(values.type):  # Arrow writes the time of a timestamp alone
            values = pc.cast(pc.cast(values, pa.time64("us")), pa.int64())
            values = pc.cast(values, pa.timestamp("us"))
        elif getattr(values.type, "tz", None):
            values = pc.cast(values, pa.timestamp(values.type.unit, self._zone()))
        unit = ("s", "ms", "us", "ns")[(self.digits + 2) // 3]
        zone = getattr(values.type, "tz", None)
        values = pc.cast(pc.cast(values, pa.timestamp("ns" if unit == "ns" else "us", zone)),
                         pa.timestamp(unit, zone), safe=False)  # fmt: skip
        texts = pc.strftime(values, format=self.pattern)
        surplus = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit] - self.digits
        if surplus:  # Arrow writes 3, 6 or 9 digits
            texts = pc.utf8_slice_codeunits(texts, 0, -surplus)
        if not self.padded:
            texts = pc.replace_substring_regex(texts, "(^|[./-])0([0-9])", r"\1\2")
        return pc.binary_join_element_wise(texts, self.suffix, "") if self.suffix else texts

    def _zone(self) -> str:
        if self.suffix in ("", "Z"):
            return "UTC"
        return self.suffix if ":" in self.suffix else f"{self.suffix[:3]}:{self.suffix[3:]}"


def matches(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every known cell matches; the first cells decide where they can."""
    import pyarrow.compute as pc

    def all_match(some: pa.ChunkedArray) -> bool:
        return pc.all(pc.match_substring_regex(some, pattern), min_count=0).as_py() is not False

    return all_match(cells[:PEEK]) and all_match(cells)


def parse(
    cells: pa.ChunkedArray, name: str = "column"
) -> tuple[pa.ChunkedArray | None, Moment | None, str | None]:
    """Dates, date-times or times if all known cells are; the form; or a note why not.

    >>> import pyarrow as pa
    >>> column, moment, note = parse(pa.chunked_array([["3.4.2021", "24.12.2021"]]))
    >>> column.type, moment.pattern, moment.padded
    (DataType(date32[day]), '%d.%m.%Y', False)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if matches(cells[:PEEK], _ISO_DATE):  # the cast reads no other form
            return pc.cast(cells, pa.date32()), Moment("%Y-%m-%d"), None
        for pattern in (_ISO_MOMENT, _ISO_ZONED):
            if matches(cells, pattern):
                return *_moments(cells, zoned=pattern is _ISO_ZONED), None
        if matches(cells, _TIME):
            return *_times(cells), None
        if matches(cells, _YEAR_FIRST):
            return _year_first(cells)
        if matches(cells, _YEAR_LAST):
            return _year_last(cells, name)
    except pa.ArrowInvalid:  # looks like a date, but there is no 31st of February
        pass
    return None, None, None


def parse_as(
    cells: pa.ChunkedArray, kind: str, name: str, where: str, line_of: Callable[[int], int | str]
) -> tuple[pa.ChunkedArray, Moment]:
    """Dates because the user says so; a cell that is none is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, _, pattern = kind.partition(":")
    if not pattern:
        column, moment, note = parse(cells, name)
        if column is None or moment is None or pa.types.is_time(column.type) != (kind == "time"):
            row = _first_known(cells)
            if row is None:
                if kind == "time":
                    return _times(cells)
                return pc.cast(cells, pa.date32()), Moment("%Y-%m-%d")
            if note is None:
                row = _first_unlike(cells, _TIME if kind == "time" else _ANY_DATE, row)
            raise _refuse_files.no_dates(where, line_of(row), name, cells[row].as_py(), kind, note)
        return column, moment
    _refuse_files.check_date_form(name, pattern)
    column = pc.strptime(cells, format=pattern, unit="s", error_is_null=True)
    # Arrow reads the 31st of February as a day of March: so write it again and compare.
    zeros = r"(^|[^0-9])0+([0-9])"
    again = pc.replace_substring_regex(pc.strftime(column, format=pattern), zeros, r"\1\2")
    same = pc.equal(again, pc.replace_substring_regex(cells, zeros, r"\1\2"))
    row = pc.index(pc.and_(pc.is_valid(cells), pc.invert(pc.fill_null(same, False))),
                   pa.scalar(True)).as_py()  # fmt: skip
    if row >= 0:
        raise _refuse_files.cell_is_no(
            where, line_of(row), name, cells[row].as_py(), f"date {pattern}"
        )
    if not any(letter in pattern for letter in _TIMED):
        column = pc.cast(column, pa.date32())
    padded = not pc.any(pc.match_substring_regex(cells, "(^|[./-])[0-9]([./-]|$)")).as_py()
    return column, Moment(pattern, padded=padded)


def _first_unlike(cells: pa.ChunkedArray, pattern: str, otherwise: int) -> int:
    """The row of the first cell that does not look like a date or time."""
    import pyarrow as pa
    import pyarrow.compute as pc

    row = pc.index(pc.match_substring_regex(cells, pattern), pa.scalar(False)).as_py()
    return otherwise if row < 0 else row


def _first_known(cells: pa.ChunkedArray) -> int | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    row = pc.index(pc.is_valid(cells), pa.scalar(True)).as_py()
    return None if row < 0 else row


def _digits(cells: pa.ChunkedArray) -> int:
    """The most digits of a fraction of a second."""
    import pyarrow.compute as pc

    fraction = pc.replace_substring_regex(cells, r"^[^.]*\.?([0-9]*).*$", r"\1")
    return pc.max(pc.utf8_length(fraction)).as_py() or 0


def _clock(cells: pa.ChunkedArray) -> str:
    """Hours, minutes and, if any cell has them, seconds."""
    import pyarrow.compute as pc

    seconds = pc.any(pc.match_substring_regex(cells, "[0-9]:[0-9]{2}:[0-9]")).as_py()
    return "%H:%M:%S" if seconds else "%H:%M"


def _moments(cells: pa.ChunkedArray, zoned: bool) -> tuple[pa.ChunkedArray, Moment]:
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = _digits(cells)
    unit = "ns" if digits > 6 else "us"
    first = cells[_first_known(cells)].as_py()
    suffix = ""
    if zoned:
        suffixes = pc.unique(pc.replace_substring_regex(cells, "^.*?(Z|[+-][0-9:]+)$", r"\1"))
        known = suffixes.drop_null().to_pylist()
        suffix = known[0] if len(known) == 1 else "Z" if "Z" in known else "+00:00"
    moment = Moment(f"%Y-%m-%d{first[10]}{_clock(cells)}", digits, suffix=suffix)
    return pc.cast(cells, pa.timestamp(unit, "UTC" if zoned else None)), moment


def _times(cells: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Moment]:
    import pyarrow as pa
    import pyarrow.compute as pc

    days = pc.binary_join_element_wise("1970-01-01", cells, " ")
    moments = pc.cast(days, pa.timestamp("us"))
    return pc.cast(moments, pa.time64("us")), Moment(_clock(cells), min(_digits(cells), 6))


def _from_parts(year: pa.Array, month: pa.Array, day: pa.Array) -> pa.ChunkedArray:
    """Dates of texts; going through ISO refuses a day that does not exist."""
    import pyarrow as pa
    import pyarrow.compute as pc

    month, day = (pc.utf8_lpad(part, width=2, padding="0") for part in (month, day))
    return pc.cast(pc.binary_join_element_wise(year, month, day, "-"), pa.date32())


def _parts(cells: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    import pyarrow.compute as pc

    pattern = "^([0-9]+)[./-]([0-9]+)[./-]([0-9]+)$"
    return [pc.replace_substring_regex(cells, pattern, rf"\{i}") for i in (1, 2, 3)]


def _is_padded(*parts: pa.ChunkedArray) -> bool:
    import pyarrow.compute as pc

    return all(pc.min(pc.utf8_length(part)).as_py() == 2 for part in parts)


def _year_first(cells: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Moment, None]:
    year, month, day = _parts(cells)
    mark = cells[_first_known(cells)].as_py()[4]
    moment = Moment(f"%Y{mark}%m{mark}%d", padded=_is_padded(month, day))
    return _from_parts(year, month, day), moment, None


def _year_last(
    cells: pa.ChunkedArray, name: str
) -> tuple[pa.ChunkedArray | None, Moment | None, str | None]:
    import pyarrow as pa
    import pyarrow.compute as pc

    first, second, year = _parts(cells)
    text = cells[_first_known(cells)].as_py()
    mark = next(letter for letter in text if letter in "./-")
    if not matches_mark(cells, mark):
        return None, None, None
    largest = [pc.max(pc.cast(part, pa.int64())).as_py() for part in (first, second)]
    padded = _is_padded(first, second)
    if mark == "." or (largest[0] > 12 and largest[1] <= 12):
        return _from_parts(year, second, first), Moment(f"%d{mark}%m{mark}%Y", padded=padded), None
    if largest[1] > 12 and largest[0] <= 12:
        return _from_parts(year, first, second), Moment(f"%m{mark}%d{mark}%Y", padded=padded), None
    if max(largest) > 12:
        return None, None, None
    example = errors.typed(name, f"date:%d{mark}%m{mark}%Y")
    note = (
        f'Column "{name}" is read as text because day and month cannot be told apart in dates such '
        f'as "{text}"; name its form, such as {example}.'
    )
    return None, None, note


def matches_mark(cells: pa.ChunkedArray, mark: str) -> bool:
    """Whether all dates are written with one mark."""
    import pyarrow.compute as pc

    return pc.all(pc.equal(pc.count_substring(cells, mark), 2)).as_py()
