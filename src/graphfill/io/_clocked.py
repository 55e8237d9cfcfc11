"""Dates with a time of day behind them: 31.3.2024 14:15, 3/31/2024 2:15 PM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

CLOCKED = (
    r"^(?P<date>[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4})(?P<between>,? )"
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-5][0-9])(?P<second>(?::[0-5][0-9])?)"
    r"(?P<half>(?: ?[AP]M)?)$"
)


def parse_clocked(
    cells: pa.ChunkedArray, dates: Callable[[Any], tuple[Any, Any, str | None]]
) -> tuple[Any, Any, str] | str | None:
    """The moments, the form of their dates and that of their times; or what is in doubt of a date.

    None where the cells are something else.

    Parameters
    ----------
    dates : reads the dates, as `parse_dates`
    """
    texts = pc.extract_regex(cells, CLOCKED)
    parts = {field.name: pc.struct_field(texts, field.name) for field in texts.type}
    between, half, second = (
        pc.unique(pc.utf8_length(parts[name]).drop_null()).to_pylist()
        for name in ("between", "half", "second")
    )
    if len(between) != 1 or len(half) != 1 or len(second) != 1:
        return None  # no form that all have
    clock = ("%I" if half[0] else "%H") + ":%M" + (":%S" if second[0] else "")
    clock += {0: "", 2: "%p", 3: " %p"}[half[0]]
    clock = parts["between"].drop_null()[0].as_py() + clock
    day, moment, note = dates(parts["date"])
    if day is None:
        return note and note.replace("%Y", f"%Y{clock}")
    hour = pc.cast(parts["hour"], pa.int64())
    limits = pc.min_max(hour).as_py()
    if limits["max"] > (12 if half[0] else 23) or (half[0] and limits["min"] < 1):
        return None
    if half[0]:
        afternoon = pc.cast(pc.match_substring(parts["half"], "PM"), pa.int64())
        hour = pc.add(pc.subtract(hour, pc.multiply(12, pc.cast(pc.equal(hour, 12), pa.int64()))),
                      pc.multiply(12, afternoon))  # fmt: skip
    seconds = pc.multiply(3600, hour)
    seconds = pc.add(seconds, pc.multiply(60, pc.cast(parts["minute"], pa.int64())))
    if second[0]:
        ticks = pc.cast(pc.utf8_slice_codeunits(parts["second"], 1), pa.int64())
        seconds = pc.add(seconds, ticks)
    start = pc.cast(pc.cast(day, pa.timestamp("s")), pa.int64())
    whole = pc.cast(pc.cast(pc.add(start, seconds), pa.timestamp("s")), pa.timestamp("us"))
    return whole, moment, clock
