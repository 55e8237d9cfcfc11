"""Columns of Python objects: what kind of cells they hold, and the same cells as Arrow."""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..io import as_number

# The plural says it in a sentence; the family is what a column of them is.
FAMILIES = {
    "text": "text",
    "truth values": "boolean",
    "numbers": "number",
    "dates": "date",
    "dates with a time": "date",
    "dates with a time and a zone": "date",
    "times": "time",
    "durations": "duration",
}


class Example(NamedTuple):
    """One cell, to show in a sentence."""

    plural: str
    row: int
    value: Any


@dataclass
class Found:
    """What a column of objects turned out to be; see :class:`graphfill.table._arrow.Cells`."""

    twin: Any
    family: str | None = None  # None: as the type of `twin` says
    reason: str = ""
    note: str = ""
    values: Sequence[Any] | None = None
    mixture: tuple[Example, Example] | None = None


def as_array(values: Iterable[Any]) -> NDArray[np.object_]:
    """An array of the objects themselves; NumPy would look into tuples and lists."""
    return np.fromiter(values, dtype=object)


def plural(value: Any) -> str:
    """What a cell is, as the plural of a noun; "" for what cannot be filled."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "truth values"
    if isinstance(value, (numbers.Real, Decimal)):
        return "numbers"
    if isinstance(value, dt.datetime):
        return "dates with a time" if value.tzinfo is None else "dates with a time and a zone"
    if isinstance(value, dt.date):
        return "dates"
    if isinstance(value, dt.time) and value.tzinfo is None:
        return "times"
    return "durations" if isinstance(value, dt.timedelta) else ""


def equals_marker(value: Any, markers: Sequence[Any]) -> bool:
    """Whether a cell is one of the markers for a missing cell."""
    kind = plural(value)
    if kind != "numbers":
        return kind != "truth values" and any(str(value) == str(marker) for marker in markers)
    candidates = [number for marker in markers if (number := as_number(marker)) is not None]
    if isinstance(value, (float, np.floating)):  # 0.1 is not quite the decimal 0.1
        return float(value) in map(float, candidates)
    return value in candidates


def read(
    cells: NDArray[np.object_], missing: NDArray[np.bool_], markers: Sequence[Any] = ()
) -> Found:
    """Find out what the known cells are, and give them to Arrow."""
    import pyarrow as pa

    known = np.flatnonzero(~missing)
    if markers and len(set(map(type, cells[known]))) > 1:
        marked = np.fromiter((equals_marker(cells[i], markers) for i in known), bool, known.size)
        known = known[~marked]
    types = set(map(type, cells[known]))
    zoned = any(issubclass(kind, (dt.datetime, dt.time)) for kind in types)
    if len(types) == 1 and not zoned:  # then one cell speaks for all
        first = {plural(cells[known[0]]): known[0]}
    else:
        first = {}
        for row in known:
            first.setdefault(plural(cells[row]), row)
    if not first:
        return Found(pa.nulls(len(cells)))
    if "" in first:
        other = type(cells[first[""]]).__name__
        reason = "binary" if other in ("bytes", "bytearray") else f"Python objects ({other})"
        return _coded(cells, known, Found(None, "", reason))
    if len(first) > 1:
        one, two = (Example(kind, int(row), cells[row]) for kind, row in list(first.items())[:2])
        return _coded(cells, known, Found(None, "mixed", mixture=(one, two)))
    kind = next(iter(first))
    if kind == "numbers":
        return _read_numbers(cells, known)
    try:
        return Found(_arrow(cells, known), FAMILIES[kind], note=_note(kind, cells[known]))
    except (pa.ArrowException, UnicodeError, OverflowError):  # half an emoji, the year 300,000
        return _coded(cells, known, Found(None, "", f"{kind} that cannot be read"))


def _note(kind: str, held: NDArray[np.object_]) -> str:
    if not kind.endswith("zone") or len({str(value.tzinfo) for value in held}) == 1:
        return ""
    return (
        "holds moments of several time zones; those filled in are in that of the first, "
        f"{held[0].tzinfo}"
    )


def _arrow(cells: NDArray[np.object_], known: NDArray[np.intp], kind: Any = None) -> Any:
    import pyarrow as pa

    objects = np.full(len(cells), None, dtype=object)
    objects[known] = cells[known]
    return pa.array(objects, type=kind)


def _read_numbers(cells: NDArray[np.object_], known: NDArray[np.intp]) -> Found:
    import pyarrow as pa

    held = cells[known]
    if all(isinstance(value, numbers.Integral) for value in held):
        low, high = min(held), max(held)
        if low >= -(2**63) and high < 2**63:
            return Found(_arrow(cells, known, pa.int64()))
        if low >= 0 and high < 2**64:
            return Found(_arrow(cells, known, pa.uint64()))
        return _coded(cells, known, Found(None, "", "integers beyond 64 bits"))
    if all(isinstance(value, Decimal) and value.is_finite() for value in held):
        try:
            return Found(_arrow(cells, known))
        except pa.ArrowInvalid:
            return _coded(cells, known, Found(None, "", "decimals beyond 76 digits"))
    floats = np.full(len(cells), np.nan)
    try:
        floats[known] = np.fromiter(map(float, held), dtype=np.float64, count=known.size)
    except OverflowError:
        return _coded(cells, known, Found(None, "", "numbers beyond the range of floats"))
    return Found(pa.array(floats, from_pandas=True))


def _coded(cells: NDArray[np.object_], known: NDArray[np.intp], found: Found) -> Found:
    """Number the different objects, for a user who says that they are classes."""
    import pyarrow as pa

    codes = np.full(len(cells), -1)
    seen: dict[Any, int] = {}
    try:
        for row in known:  # 1, 1.0 and True are equal, but not the same
            codes[row] = seen.setdefault((type(cells[row]), cells[row]), len(seen))
        found.values = [value for _, value in seen]
    except TypeError:  # lists and the like cannot be told apart quickly
        codes[known] = 0
    found.twin = pa.array(codes, mask=codes < 0)
    return found
