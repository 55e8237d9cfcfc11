"""Cells of text: how a column writes its values, and dates and times read from them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, meaning_missing, shown, typed
from ._clocked import CLOCKED, parse_clocked
from ._named_months import parse_named_months, write_named_months

MOST_DECIMALS = 6  # up to here Arrow writes decimals without an exponent
PEEK = 100  # cells that tell at once what a column is not
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ISO_DATE = rf"^{_DAY}$"
_ISO_MOMENT = rf"^{_DAY}[T ]{_CLOCK}$"
_ISO_ZONED = rf"^{_DAY}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})$"
_TIME = rf"^{_CLOCK}$"
_YEAR_FIRST = r"^[0-9]{4}[/.][0-9]{1,2}[/.][0-9]{1,2}$"
_YEAR_LAST = r"^[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{4}$"
_NAMED = r"^[0-9A-Za-z]{1,9}[ .,/-]+[0-9A-Za-z]{1,9}[ .,/-]+[0-9]{4}$"
_ANY_DATE = "|".join((_ISO_DATE, _ISO_MOMENT, _ISO_ZONED, _YEAR_FIRST, _YEAR_LAST))
_TIMED = ("%H", "%I", "%M", "%S", "%T", "%R", "%X", "%c", "%s")


@dataclass(frozen=True)
class Moment:
    """One form of writing dates or times."""

    pattern: str  # in the letters of strftime
    digits: int = 0  # of the fraction of a second
    padded: bool = True  # whether days and months below ten have a leading zero
    suffix: str = ""  # what follows: "Z" or an offset
    months: tuple[str, ...] = ()  # their names, where the pattern has one

    def format(self, values: pa.Array) -> pa.Array:
        """Dates, times or timestamps as text in this form."""
        if self.months:
            return write_named_months(values, self.pattern, self.months, self.padded)
        if pa.types.is_time(values.type):  # Arrow writes the time of a timestamp alone
            values = pc.cast(pc.cast(values, pa.time64("us")), pa.int64())
            values = pc.cast(values, pa.timestamp("us"))
        elif getattr(values.type, "tz", None):
            offset = self.suffix if ":" in self.suffix else f"{self.suffix[:3]}:{self.suffix[3:]}"
            offset = "UTC" if self.suffix in ("", "Z") else offset
            values = pc.cast(values, pa.timestamp(values.type.unit, offset))
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
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if isinstance(values.type, pa.DictionaryType):
            values = values.dictionary_decode()
        if self.moment is not None and pa.types.is_temporal(values.type):
            return self.moment.format(values)
        if pa.types.is_integer(values.type) and self.decimals[0]:  # 4.0 because the user says so
            tail = self.decimal + "0" * self.decimals[0]
            return pc.binary_join_element_wise(values.cast("string"), tail, "")
        if not pa.types.is_floating(values.type):
            return values.cast("string")
        return self._format_floats(values.cast("float64"))

    def _format_floats(self, values: pa.Array) -> pa.Array:
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
    texts = [None if value is None else pattern % value for value in values.to_pylist()]
    return pa.array(texts, pa.string())


def matches(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every known cell matches; the first cells decide where they can."""

    def all_match(some: pa.ChunkedArray) -> bool:
        return pc.all(pc.match_substring_regex(some, pattern), min_count=0).as_py() is not False

    return all_match(cells[:PEEK]) and all_match(cells)


def first_row(mask: pa.ChunkedArray, value: bool) -> int | None:
    """The first row that holds the value."""
    row = pc.index(mask, value).as_py()
    return None if row < 0 else row


def wrong_cell(sheet: Any, name: str, row: int, value: str, kind: str) -> InputError:
    """A cell of a :class:`Sheet` that is not of the type that the user gave its column."""
    return InputError(
        f"{sheet.path.name}, {sheet.place(row)} has {shown(value)} in column {name!r}, which is no "
        f"{kind}: correct it, or pass {meaning_missing(value)} if it means missing."
    )


def parse_dates(
    cells: pa.ChunkedArray, name: str = "column"
) -> tuple[pa.ChunkedArray | None, Moment | None, str | None]:
    """Dates, date-times or times if all known cells are; the form; or a note why not.

    >>> import pyarrow as pa
    >>> column, moment, note = parse_dates(pa.chunked_array([["3.4.2021", "24.12.2021"]]))
    >>> column.type, moment.pattern, moment.padded
    (DataType(date32[day]), '%d.%m.%Y', False)
    """
    try:
        if matches(cells[:PEEK], _ISO_DATE):  # the cast reads no other form
            return cells.cast("date32"), Moment("%Y-%m-%d"), None
        for pattern in (_ISO_MOMENT, _ISO_ZONED):
            if matches(cells, pattern):
                return *_moments(cells, zoned=pattern is _ISO_ZONED), None
        if matches(cells, _TIME):
            return *_times(cells), None
        if matches(cells, _YEAR_FIRST):
            return _dates(_parts(cells), "Ymd", _first(cells)[4])
        if matches(cells, _YEAR_LAST):
            return _year_last(cells, name)
        if matches(cells, CLOCKED):
            clocked = parse_clocked(cells, partial(parse_dates, name=name))
            if isinstance(clocked, tuple):
                column, moment, clock = clocked
                return column, replace(moment, pattern=moment.pattern + clock), None
            return None, None, clocked
        if matches(cells[:PEEK], _NAMED):
            named = parse_named_months(cells)
            if named is not None:
                column, pattern, months, padded = named
                return column, Moment(pattern, padded=padded, months=months), None
    except ValueError:  # looks like a date, but there is no 31st of February
        pass
    return None, None, None


def parse_dates_as(
    cells: pa.ChunkedArray, kind: str, name: str, sheet: Any
) -> tuple[pa.ChunkedArray, Moment]:
    """Dates or times because the user says so; a cell that is none is refused."""
    kind, _, pattern = kind.partition(":")
    if pattern:
        return _parse_by(cells, pattern, name, sheet)
    column, moment, note = parse_dates(cells, name)
    if column is not None and moment and pa.types.is_time(column.type) == (kind == "time"):
        return column, moment
    known = first_row(pc.is_valid(cells), True)
    if known is None:
        return _times(cells) if kind == "time" else (cells.cast("date32"), Moment("%Y-%m-%d"))
    pattern = _TIME if kind == "time" else _ANY_DATE
    unlike = None if note else first_row(pc.match_substring_regex(cells, pattern), False)
    row = known if unlike is None else unlike
    why = f"not every cell is a {kind} of one form"
    if note:
        why = "day and month cannot be told apart"
    remedy = f"name its form, such as {typed(name, 'date:%d/%m/%Y')}"
    if kind == "time":
        remedy = f"write all of them like 17:30, or pass {typed(name, 'leave')}"
    raise InputError(
        f"Column {name!r} of {sheet.path.name} cannot be read as {kind}s, since {why} "
        f"({sheet.place(row)} has {shown(cells[row].as_py())}): {remedy}."
    )


def _parse_by(
    cells: pa.ChunkedArray, pattern: str, name: str, sheet: Any
) -> tuple[pa.ChunkedArray, Moment]:
    """Dates in the form that the user names."""
    _check_pattern(pattern, name)
    column = pc.strptime(cells, format=pattern, unit="s", error_is_null=True)
    # Arrow reads the 31st of February as a day of March: so write it again and compare.
    zeros = r"(^|[^0-9])0+([0-9])"
    again = pc.replace_substring_regex(pc.strftime(column, format=pattern), zeros, r"\1\2")
    same = pc.equal(again, pc.replace_substring_regex(cells, zeros, r"\1\2"))
    row = first_row(pc.or_(pc.is_null(cells), pc.fill_null(same, False)), False)
    if row is not None:
        raise wrong_cell(sheet, name, row, cells[row].as_py(), f"date {pattern}")
    if not any(letter in pattern for letter in _TIMED):
        column = column.cast("date32")
    padded = not pc.any(pc.match_substring_regex(cells, "(^|[./-])[0-9]([./-]|$)")).as_py()
    return column, Moment(pattern, padded=padded)


def _check_pattern(pattern: str, name: str) -> None:
    """Refuse a form in which dates are not complete."""
    letters = re.findall("%(.)", pattern, re.DOTALL)
    known = all(letter in "YymdBbhejHIMSpTRDFfzZ%aAntUW" for letter in letters)
    year = any(letter in "YyDF" for letter in letters)
    day = any(letter in "dejDF" for letter in letters)
    if pattern.count("%%") * 2 + sum(letter != "%" for letter in letters) != pattern.count("%"):
        known = False  # a single % at the end
    if not (known and year and day):
        raise InputError(
            f"The form {pattern!r} of the dates in column {name!r} must have a day, a month and a "
            f"year, such as {typed(name, 'date:%d/%m/%Y')}."
        )


def _clock(cells: pa.ChunkedArray) -> tuple[str, int]:
    """Hours, minutes and, if any cell has them, seconds; the most digits of their fraction."""
    seconds = pc.any(pc.match_substring_regex(cells, "[0-9]:[0-9]{2}:[0-9]")).as_py()
    fraction = pc.replace_substring_regex(cells, r"^[^.]*\.?([0-9]*).*$", r"\1")
    return "%H:%M:%S" if seconds else "%H:%M", pc.max(pc.utf8_length(fraction)).as_py() or 0


def _moments(cells: pa.ChunkedArray, zoned: bool) -> tuple[pa.ChunkedArray, Moment]:
    clock, digits = _clock(cells)
    suffix = ""
    if zoned:
        suffixes = pc.unique(pc.replace_substring_regex(cells, "^.*?(Z|[+-][0-9:]+)$", r"\1"))
        known = suffixes.drop_null().to_pylist()
        suffix = known[0] if len(known) == 1 else "Z" if "Z" in known else "+00:00"
    kind = pa.timestamp("ns" if digits > 6 else "us", "UTC" if zoned else None)
    return cells.cast(kind), Moment(f"%Y-%m-%d{_first(cells)[10]}{clock}", digits, suffix=suffix)


def _times(cells: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Moment]:
    clock, digits = _clock(cells)
    days = pc.binary_join_element_wise("1970-01-01", cells, " ")
    return days.cast("timestamp[us]").cast("time64[us]"), Moment(clock, min(digits, 6))


def _first(cells: pa.ChunkedArray) -> str:
    """The first known cell."""
    return str(cells[first_row(pc.is_valid(cells), True)])


def _parts(cells: pa.ChunkedArray) -> Any:
    """The three numbers of every date, a column of text each."""
    pattern = "^(?P<first>[0-9]+)[./-](?P<second>[0-9]+)[./-](?P<third>[0-9]+)$"
    return pc.extract_regex(cells, pattern).flatten()


def _dates(parts: Any, order: str, mark: str) -> tuple[pa.ChunkedArray, Moment, None]:
    """Dates whose parts come in an order such as "dmY", with a mark between them."""
    by_letter = dict(zip(order, parts, strict=True))
    padded = all(pc.min(pc.utf8_length(by_letter[letter])).as_py() == 2 for letter in "md")
    month, day = (pc.utf8_lpad(by_letter[letter], width=2, padding="0") for letter in "md")
    moment = Moment(mark.join(f"%{letter}" for letter in order), padded=padded)
    # Going through ISO refuses a day that does not exist.
    iso = pc.binary_join_element_wise(by_letter["Y"], month, day, "-")
    return iso.cast("date32"), moment, None


def _year_last(
    cells: pa.ChunkedArray, name: str
) -> tuple[pa.ChunkedArray | None, Moment | None, str | None]:
    """Dates with the year at the end, if all have one mark and the place of the day is clear."""
    text = _first(cells)
    mark = re.sub("[0-9]", "", text)[0]
    if not pc.all(pc.equal(pc.count_substring(cells, mark), 2)).as_py():
        return None, None, None
    parts = _parts(cells)
    first_is_day, second_is_day = (pc.max(part.cast("int64")).as_py() > 12 for part in parts[:2])
    if mark == "." or (first_is_day and not second_is_day):
        return _dates(parts, "dmY", mark)
    if second_is_day and not first_is_day:
        return _dates(parts, "mdY", mark)
    if first_is_day:
        return None, None, None
    example = typed(name, f"date:%d{mark}%m{mark}%Y")
    note = (
        f'Column "{name}" is read as text because day and month cannot be told apart in dates such '
        f'as "{text}"; name its form, such as {example}.'
    )
    return None, None, note
