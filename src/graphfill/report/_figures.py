"""Figures drawn from numbers: each a function that returns one SVG.

What is known is outlined, what was filled or chosen is solid: they can be told apart in grey,
too. Every figure says its numbers in its description.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._svg import WIDTH, Box, bars, dot, figure, line, place, text
from ._words import LETTER, alike, fit, percent, ticks

GUTTER = 130  # for labels left of horizontal bars
FARTHEST = 8  # steps that have a bar of their own
_TOPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)


def score_bars(
    key: str,
    scores: Sequence[tuple[str, float | None]],
    *,
    chosen: str | None,
    measure: str,
    written: Callable[[float | None], str] | None = None,
) -> str:
    """One bar per method, the chosen one solid.

    Parameters
    ----------
    written : how a score is written; three digits unless told

    Examples
    --------
    >>> drawn = score_bars("k", [("mean", 9.1), ("hybrid", 4.2)], chosen="hybrid", measure="Error")
    >>> "mean 9.10; hybrid 4.20 (chosen)." in drawn
    True
    """
    values = [score for _, score in scores]
    numbers = [written(value) for value in values] if written else alike(values)
    longest = max((score for _, score in scores if score is not None), default=0.0) or 1.0
    room = _room(numbers)
    solid: list[Box] = []
    plain: list[Box] = []
    letters = []
    for position, ((method, score), number) in enumerate(zip(scores, numbers, strict=True)):
        top = 4 + 24 * position
        width = max(score or 0.0, 0.0) / longest * room
        if score is not None:
            (solid if method == chosen else plain).append((GUTTER, top, max(width, 1), 16))
        style = "strong" if method == chosen else ""
        letters.append(text(GUTTER - 8, top + 12.5, fit(method, GUTTER - 16), style, "end"))
        letters.append(text(GUTTER + max(width, 1) + 6, top + 12.5, number, style))
    said = "; ".join(
        f"{method} {number}{' (chosen)' if method == chosen else ''}"
        for (method, _), number in zip(scores, numbers, strict=True)
    )
    parts = [bars(plain, "known"), bars(solid, "filled"), *letters]
    return figure(key, 24 * len(scores) + 4, f"{measure} of each method", f"{said}.", parts)


def histogram(
    key: str,
    edges: Sequence[Any],
    known: Sequence[float],
    filled: Sequence[float],
    *,
    name: str,
) -> str:
    """Two bars per bin: the share of known cells, outlined, and of filled ones, solid.

    Examples
    --------
    >>> drawn = histogram("k", [0, 10, 20], [0.25, 0.75], [0.0, 1.0], name="age")
    >>> "0 to 10: 25% of known, 0% of filled; 10 to 20: 75% of known, 100% of filled." in drawn
    True
    """
    left, top, bottom = 40, 26, 150
    n = len(known)
    step = (WIDTH - left - 12) / max(n, 1)
    highest = _top(max([*known, *filled, 0.0]))
    scale = (bottom - top) / highest

    def boxes(shares: Sequence[float], offset: float) -> list[Box]:
        return [
            (left + step * (j + offset), bottom - scale * share, step * 0.4, scale * share)
            for j, share in enumerate(shares)
        ]

    parts = _legend()
    for level in (0.0, highest / 2, highest):
        y = bottom - scale * level
        parts.append(line([(left, y), (WIDTH - 12, y)], "grid"))
        parts.append(text(left - 6, y + 4, _share(level), "small", "end"))
    parts += [bars(boxes(known, 0.08), "known"), bars(boxes(filled, 0.52), "filled")]
    labels = ticks(edges)
    for j, anchor in ((0, "start"), (n // 2, "middle"), (n, "end")):
        if anchor != "middle" or (n >= 4 and len(labels[0] + labels[j] + labels[n]) < 40):
            parts.append(text(left + step * j, bottom + 18, labels[j], "small", anchor))
    said = "; ".join(
        f"{labels[j]} to {labels[j + 1]}: {percent(known[j])} of known, {percent(filled[j])} of "
        "filled"
        for j in range(n)
    )
    title = f"Known and filled values of {name}"
    return figure(key, bottom + 26, title, f"{said}.", parts)


def category_bars(
    key: str,
    values: Sequence[Any],
    known: Sequence[float],
    filled: Sequence[float],
    *,
    name: str,
) -> str:
    """Two bars per value: the share of known cells, outlined, and of filled ones, solid.

    Examples
    --------
    >>> drawn = category_bars("k", ["Rome"], [0.25], [0.5], name="city")
    >>> "Rome: 25% of known, 50% of filled." in drawn
    True
    """
    longest = max([*known, *filled, 0.0]) or 1.0
    parts = _legend()
    room = _room(["100%"])
    outlined: list[Box] = []
    solid: list[Box] = []
    for j, value in enumerate(values):
        top = 26 + 34 * j
        parts.append(text(GUTTER - 8, top + 17, fit(value, GUTTER - 16), anchor="end"))
        for share, boxes, y in ((known[j], outlined, top), (filled[j], solid, top + 14)):
            width = max(share / longest * room, 1)
            boxes.append((GUTTER, y, width, 11))
            parts.append(text(GUTTER + width + 6, y + 9.5, percent(share), "small"))
    said = "; ".join(
        f"{fit(value, 300)}: {percent(known[j])} of known, {percent(filled[j])} of filled"
        for j, value in enumerate(values)
    )
    parts += [bars(outlined, "known"), bars(solid, "filled")]
    title = f"Known and filled values of {name}"
    return figure(key, 26 + 34 * len(values), title, f"{said}.", parts)


def calibration(
    key: str, points: Sequence[tuple[float, float]], *, promised: str, held: str
) -> str:
    """What was promised against what held, beside the diagonal on which both are the same.

    Parameters
    ----------
    points : (promised, held) shares
    promised, held : what the axes measure

    Examples
    --------
    >>> drawn = calibration("k", [(0.5, 0.52), (0.9, 0.9)], promised="Promised", held="Held")
    >>> "promised 50%, held 52%; promised 90%, held 90%." in drawn
    True
    """
    left, top, side = 62, 8, 212
    bottom = top + side

    def at(x: float, y: float) -> tuple[float, float]:
        return left + side * min(max(x, 0.0), 1.0), bottom - side * min(max(y, 0.0), 1.0)

    parts = []
    for level in (0.0, 0.5, 1.0):
        parts.append(line([at(0, level), at(1, level)], "grid"))
        parts.append(line([at(level, 0), at(level, 1)], "grid"))
        x, y = at(level, level)
        parts.append(text(left - 6, y + 4, percent(level), "small", "end"))
        parts.append(text(x, bottom + 16, percent(level), "small", "middle"))
    parts.append(line([at(0, 0), at(1, 1)], "diagonal"))
    parts.append(text(left + 8, top + 18, "too cautious", "small"))
    parts.append(text(left + side - 8, bottom - 10, "too sure", "small", "end"))
    parts.append(text(left + side + 6, top + 8, "as promised", "small"))
    drawn = sorted(points)
    parts.append(line([at(x, y) for x, y in drawn], "curve") if len(drawn) > 1 else "")
    parts += [dot(*at(x, y), 4) for x, y in drawn]
    parts.append(text(left + side / 2, bottom + 36, promised, "small", "middle"))
    middle = place(top + side / 2)
    parts.append(f'<g transform="rotate(-90 14 {middle})">')
    parts += [text(14, top + side / 2 + 4, held, "small", "middle"), "</g>"]
    said = "; ".join(
        f"{promised.lower()} {percent(x)}, {held.lower()} {percent(y)}" for x, y in drawn
    )
    title = f"{held} against {promised[:1].lower()}{promised[1:]}"
    return figure(key, bottom + 44, title, f"{said}.", parts)


def distance_bars(key: str, counts: Sequence[tuple[int | None, int]], *, name: str) -> str:
    """Missing cells by steps to the nearest known one; None: there is no way.

    Examples
    --------
    >>> drawn = distance_bars("k", [(1, 80), (2, 15), (None, 5)], name="age")
    >>> "1 step: 80 cells; 2 steps: 15 cells; not reached: 5 cells." in drawn
    True
    """
    near = [(steps, cells) for steps, cells in counts if steps is not None]
    near.sort()
    rows = [(f"{s} step" if s == 1 else f"{s} steps", c) for s, c in near[:FARTHEST]]
    if near[FARTHEST:]:
        far = f"{near[FARTHEST][0]} steps or more"
        rows.append((far, sum(cells for _, cells in near[FARTHEST:])))
    reached = len(rows)
    lost = sum(cells for steps, cells in counts if steps is None)
    if lost:
        rows.append(("not reached", lost))
    total = sum(cells for _, cells in rows) or 1
    longest = max((cells for _, cells in rows), default=0) or 1
    written = [f"{cells:,} ({percent(cells / total)})" for _, cells in rows]
    room = _room(written)
    solid: list[Box] = []
    dashed: list[Box] = []
    letters = []
    for j, (label, cells) in enumerate(rows):
        top = 4 + 24 * j
        width = max(cells / longest * room, 1)
        (solid if j < reached else dashed).append((GUTTER, top, width, 16))
        letters.append(text(GUTTER - 8, top + 12.5, label, anchor="end"))
        letters.append(text(GUTTER + width + 6, top + 12.5, written[j]))
    said = "; ".join(f"{label}: {cells:,} {_cells(cells)}" for label, cells in rows)
    parts = [bars(solid, "filled"), bars(dashed, "lost"), *letters]
    title = f"Missing cells of {name}, by steps to the nearest known one"
    return figure(key, 24 * len(rows) + 4, title, f"{said}.", parts)


def _room(numbers: Sequence[str]) -> float:
    """How long bars may be, so that the numbers after them still fit in."""
    longest = max(map(len, numbers), default=0)
    return max(WIDTH - GUTTER - 16 - LETTER * longest, 20)


def _legend() -> list[str]:
    return [
        bars([(GUTTER, 3, 11, 11)], "known"),
        text(GUTTER + 17, 13, "known", "small"),
        bars([(GUTTER + 70, 3, 11, 11)], "filled"),
        text(GUTTER + 87, 13, "filled", "small"),
    ]


def _top(highest: float) -> float:
    """The first round share above all bars."""
    return next((top for top in _TOPS if highest <= top), 1.0)


def _share(level: float) -> str:
    """A share on an axis, where 2.5% is not 2%."""
    return f"{100 * level:.3g}%"


def _cells(n: int) -> str:
    return "cell" if n == 1 else "cells"
