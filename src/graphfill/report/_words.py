"""Numbers, names and lists as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Summary = dict[str, Any]  # of a fill, as `TableResult.summary` returns it, or of one column
NOTHING = "–"
LETTER = 7.6  # pixels: the width of nearly every letter of 12 pixels is at most this
# Methods in plain words.
METHODS = {
    "mean": "column's mean",
    "neighbors": "neighbours' mean",
    "propagation": "graph alone",
    "diffusion": "graph alone, 40 steps",
    "propagation-sym": "graph alone, scaled by links",
    "diffusion-sym": "graph alone, 40 steps, scaled by links",
    "field": "graph and other columns together",
    "field-log": "graph and other columns together, amounts by logarithm",
    "field-rank": "graph and other columns together, by rank",
    "series": "series of all places together",
    "series-rank": "series of all places together, by rank",
    "trees": "trees",
    "columns": "other columns",
    "hybrid": "graph and other columns, learnt",
}
PARTS = 2  # of a blend, that are named
# What turns the direction of text, with which a name could rewrite its sentence; and what a
# terminal obeys.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BLANKS = re.compile(r"\s+")
_ISOLATE, _END = "\u2068", "\u2069"


def finite(value: Any) -> Any:
    """The same with None for NaN and infinities, and with Python's numbers for NumPy's.

    >>> finite({"a": [1.5, float("nan")], "b": float("inf")})
    {'a': [1.5, None], 'b': None}
    """
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    if hasattr(value, "dtype"):
        value = value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def number(value: float | None) -> str:
    """Three significant digits, with thousands separators.

    >>> [number(x) for x in (1234567, 41.26, 12.0, 0.00012345, 1.2e-9, 0, None)]
    ['1,230,000', '41.3', '12', '0.000123', '1.2e-09', '0', '–']
    """
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        return f"{value:.3g}"
    digits = 2 - math.floor(math.log10(size)) if size else 0
    shown = f"{round(value, digits):,.{max(digits, 0)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def alike(values: Sequence[float | None]) -> list[str]:
    """Numbers of one table column: as many decimals as the largest has in three digits.

    >>> alike([9.1234, 4.2, None, 12.0])
    ['9.1', '4.2', '–', '12.0']
    """
    sizes = [abs(v) for v in values if v is not None and math.isfinite(v) and v]
    if not sizes or not 1e-3 <= max(sizes) < 1e15:
        return [number(v) for v in values]
    decimals = max(0, 2 - math.floor(math.log10(max(sizes))))
    return [
        f"{v:,.{decimals}f}" if v is not None and math.isfinite(v) else number(v) for v in values
    ]


def ticks(values: Sequence[Any]) -> list[str]:
    """Edges of bins, dates or numbers, with the decimals that tell them apart.

    >>> ticks([1950, 1985.0, 2020]), ticks([0.0, 0.125, 0.25])
    (['1,950', '1,985', '2,020'], ['0.00', '0.12', '0.25'])
    >>> ticks(["2024-03-01T00:00:00", "2024-09-01T00:00:00"]), ticks(["08:30:00", "9 days"])
    (['2024-03-01', '2024-09-01'], ['08:30:00', '9 days'])
    """
    if any(isinstance(value, str) for value in values):
        days = [str(value)[:10] for value in values]
        if all(map(_DAY.fullmatch, days)) and len(set(days)) == len(set(values)):
            return days
        return [shown(str(value)[:19]) for value in values]
    span = abs(values[-1] - values[0])
    if not span or not math.isfinite(span) or max(map(abs, values)) >= 1e7 or span < 1e-4:
        return [number(value) for value in values]
    decimals = max(0, 1 - math.floor(math.log10(span)))
    return [f"{value:,.{decimals}f}" for value in values]


def percent(share: float | None) -> str:
    """A share without decimals; never 0% or 100% of what is only near them.

    >>> [percent(x) for x in (0.414, 0.0, 0.001, 0.999, 1.0)]
    ['41%', '0%', '<1%', '>99%', '100%']
    """
    if share is None or not math.isfinite(share):
        return NOTHING
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{share:.0%}".replace("-0%", "0%")


def explained(column: Summary) -> str:
    """The share that a fill explains of held-out cells; a little below 0 is the mean's noise.

    >>> [explained({"explained": share}) for share in (0.704, -0.01, -0.4, None)]
    ['70%', '0%', '-40%', '']
    """
    share = column["explained"]
    return "" if share is None else percent(0.0 if -0.05 < share < 0 else share)


def count(n: int, one: str, many: str = "") -> str:
    """
    >>> count(1, "cell"), count(1200, "cell"), count(2, "is", "are")
    ('1 cell', '1,200 cells', '2 are')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(items: Sequence[str], most: int = 12) -> str:
    """
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most:,} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def shown(value: Any, most: int = 60, empty: str = "") -> str:
    """Anything of the user's on one line, cut to a length; `empty` where nothing is left.

    >>> shown("a\\nb"), shown("abcdef", most=4), shown(" ", empty="(empty)")
    ('a b', 'abc…', '(empty)')
    """
    text = value if isinstance(value, str) else str(value)
    text = _BLANKS.sub(" ", _TURNING.sub("\ufffd", text[: 4 * most])).strip() or empty
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def name(value: Any, most: int = 60) -> str:
    """A column's name where it stands alone."""
    return shown(value, most, "(no name)")


def named(value: Any) -> str:
    """A column's name within a sentence, whose direction of writing it does not change."""
    return f"{_ISOLATE}{name(value)}{_END}"


def method_words(column: Summary) -> str:
    """The method that filled a column, a blend with its largest parts.

    >>> method_words({"chosen": "field"})
    'graph and other columns together'
    >>> parts = [{"method": "trees", "weight": 0.5}, {"method": "field", "weight": 0.375}]
    >>> method_words({"chosen": "blend", "parts": [*parts, {"method": "mean", "weight": 0.125}]})
    "50% trees, 38% graph and other columns together, 12% column's mean"
    """
    chosen = column.get("chosen") or ""
    given = [(part["method"], part["weight"]) for part in column.get("parts") or ()]
    parts = sorted(given, key=lambda part: -part[1])
    if chosen == "blend" and parts:
        words = [f"{share:.0%} {one_method(part, column)}" for part, share in parts[:PARTS]]
        rest = sum(share for _, share in parts[PARTS:])
        if len(parts) == PARTS + 1:
            words.append(f"{rest:.0%} {one_method(parts[-1][0], column)}")
        elif rest:
            words.append(f"{rest:.0%} others")
        return ", ".join(words)
    return one_method(chosen, column)


def one_method(method: str, column: Summary) -> str:
    """A method by its name, in plain words.

    >>> one_method("neighbors", {"kind": "category"}), one_method("field", {})
    ("neighbours' most frequent value", 'graph and other columns together')
    """
    if method in ("mean", "neighbors") and column.get("kind") in ("category", "boolean"):
        return "most frequent value" if method == "mean" else "neighbours' most frequent value"
    return METHODS.get(method) or METHODS.get(method.split("-")[0], method)


def fit(value: Any, width: float) -> str:
    """Text cut to about a width in pixels at 12 pixels high.

    >>> fit("Rome", 100), fit("propagation through everything", 70)
    ('Rome', 'propagat…')
    """
    text = shown(value, most=200)
    room = width
    for position, letter in enumerate(text):
        room -= 12.0 if unicodedata.east_asian_width(letter) in "WF" else LETTER
        if room < 0:
            return text[: max(position - 1, 1)].rstrip() + "…"
    return text


def place(x: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> place(1.25), place(3.0), place(-0.01)
    ('1.2', '3', '0')
    """
    return f"{round(x, 1) + 0.0:.1f}".removesuffix(".0")


def room_before(width: float, numbers: Iterable[str]) -> float:
    """How long bars may be, so that the numbers after them still fit in.

    >>> room_before(230, ["100%"]), room_before(230, [])
    (183.6, 214.0)
    """
    return max(width - 16 - LETTER * max(map(len, numbers), default=0), 20)
