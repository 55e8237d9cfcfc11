"""Dates whose month is a word or a Roman numeral: 3 May 2020, May 3, 2020, 12.IV.1999."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MONTH = "%N"  # in a pattern, where the month's name stands
_SHORT = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
NAMES = (
    "I II III IV V VI VII VIII IX X XI XII",
    "January February March April May June July August September October November December",
    _SHORT,
    _SHORT.replace("Sep", "Sept"),
    _SHORT.replace(" ", ". ").replace("May.", "May") + ".",
    _SHORT.replace(" ", ". ").replace("May.", "May").replace("Sep.", "Sept.") + ".",
)
_WORD = r"(?P<month>[A-Za-z]{1,9}\.?)"
_MARK = r"[ .,/-]{1,2}"
FORMS = {
    f"%d{{}}{MONTH}{{}}%Y": rf"^(?P<day>[0-9]{{1,2}})(?P<one>{_MARK}){_WORD}(?P<two>{_MARK})"
    r"(?P<year>[0-9]{4})$",
    f"{MONTH}{{}}%d{{}}%Y": rf"^{_WORD}(?P<one>{_MARK})(?P<day>[0-9]{{1,2}})(?P<two>{_MARK})"
    r"(?P<year>[0-9]{4})$",
}


def parse_named_months(
    cells: pa.ChunkedArray,
) -> tuple[pa.ChunkedArray, str, tuple[str, ...], bool] | None:
    """Dates, their pattern, the names of the months, and whether days have two digits.

    >>> parse_named_months(pa.chunked_array([["3 May 2020", "12 June 2021"]]))[1]
    '%d %N %Y'
    """
    for form, pattern in FORMS.items():
        parts = pc.extract_regex(cells, pattern).combine_chunks()
        if len(parts.drop_null()) != len(cells) - cells.null_count or not len(parts.drop_null()):
            continue
        word, day, one, two, year = (
            pc.struct_field(parts, name) for name in ("month", "day", "one", "two", "year")
        )
        marks = pc.unique(one).drop_null(), pc.unique(two).drop_null()
        names = _names_of(set(pc.unique(word).drop_null().to_pylist()))
        if names is None or max(map(len, marks)) > 1:
            continue
        folded = [name.casefold() for name in names]
        number = pc.index_in(pc.utf8_lower(word), value_set=pa.array(folded))
        padded = pc.min(pc.utf8_length(day)).as_py() == 2
        month = pc.utf8_lpad(pc.add(number, 1).cast("string"), width=2, padding="0")
        day = pc.utf8_lpad(day, width=2, padding="0")
        dates = pc.binary_join_element_wise(year, month, day, "-").cast("date32")
        text = form.format(*(mark[0].as_py().replace("%", "%%") for mark in marks))
        return pa.chunked_array([dates]), text, names, padded
    return None


def _names_of(words: set[str]) -> tuple[str, ...] | None:
    """The names, in the letters of the column, among which all of some words are."""
    for names in NAMES:
        for change in (str, str.upper, str.lower):
            listed = change(names).split()
            if words <= set(listed):
                return tuple(listed)
    return None


def write_named_months(values: Any, pattern: str, names: tuple[str, ...], padded: bool) -> pa.Array:
    """Dates as text of a pattern."""
    pieces = re.split(re.escape(MONTH), pattern)
    month = pc.take(pa.array(names), pc.subtract(pc.month(values), 1))
    before, after = (
        pc.strftime(values, format=piece) if piece else pa.scalar("") for piece in pieces
    )
    texts = pc.binary_join_element_wise(before, month, after, "")
    return texts if padded else pc.replace_substring_regex(texts, r"(^|[ .,/-])0([0-9])", r"\1\2")
