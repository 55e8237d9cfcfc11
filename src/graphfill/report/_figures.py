"""Figures drawn from numbers: each a function that returns one SVG.

What is known is outlined, what was filled or chosen is solid, so that they differ in grey too.
Every figure gives its numbers in its description. All text is escaped where it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from ._words import LETTER, alike, count, fit, percent, ticks

WIDTH = 360  # of every figure; they shrink but hardly grow, so that letters stay legible
GUTTER = 130  # for labels left of horizontal bars
FARTHEST = 8  # steps that have a bar of their own
_TOPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
Box = tuple[float, float, float, float]  # left, top, width, height


def score_bars(
    key: str,
    scores: Sequence[tuple[str, float | None]],
    *,
    chosen: str | None,
    measure: str,
    written: Callable[[float | None], str] | None = None,
) -> str:
    """One bar per method, the chosen one solid; `written` writes a score (else three digits).

    >>> drawn = score_bars("k", [("mean", 9.1), ("hybrid", 4.2)], chosen="hybrid", measure="Error")
    >>> "mean 9.10; hybrid 4.20 (chosen)." in drawn
    True
    """
    values = [score for _, score in scores]
    numbers = [written(value) for value in values] if written else alike(values)
    rows, words = [], []
    for (method, score), number in zip(scores, numbers, strict=True):
        style, tag = ("filled", " (chosen)") if method == chosen else ("known", "")
        rows.append((fit(method, GUTTER - 16), score, number, style))
        words.append(f"{method} {number}{tag}")
    return labelled_bars(key, rows, f"{measure} of each method", words, bold="filled")


def distance_bars(key: str, counts: Sequence[tuple[int | None, int]], *, name: str) -> str:
    """Missing cells by steps to the nearest known one; None: no known one is connected.

    >>> drawn = distance_bars("k", [(1, 80), (2, 15), (None, 5)], name="age")
    >>> "1 step: 80 cells; 2 steps: 15 cells; not reached: 5 cells." in drawn
    True
    """
    near = sorted((steps, cells) for steps, cells in counts if steps is not None)
    labelled = [(count(steps, "step"), cells) for steps, cells in near[:FARTHEST]]
    if near[FARTHEST:]:
        far = f"{near[FARTHEST][0]} steps or more"
        labelled.append((far, sum(cells for _, cells in near[FARTHEST:])))
    unreached = sum(cells for steps, cells in counts if steps is None)
    if unreached:
        labelled.append(("not reached", unreached))
    total = sum(cells for _, cells in labelled) or 1
    rows = [
        (
            label,
            cells,
            f"{cells:,} ({percent(cells / total)})",
            "lost" if label == "not reached" else "filled",
        )
        for label, cells in labelled
    ]
    words = [f"{label}: {count(cells, 'cell')}" for label, cells in labelled]
    title = f"Missing cells of {name}, by steps to the nearest known one"
    return labelled_bars(key, rows, title, words)


def labelled_bars(
    key: str,
    rows: Sequence[tuple[str, float | None, str, str]],
    title: str,
    words: Sequence[str],
    bold: str = "",
) -> str:
    """One bar per row (label, length, the number after it, style); letters bold in one style."""
    longest = max((row[1] for row in rows if row[1] is not None), default=0.0) or 1.0
    room = _room([number for _, _, number, _ in rows])
    boxes: dict[str, list[Box]] = {"known": [], "filled": [], "lost": []}
    letters = []
    for position, (label, length, number, style) in enumerate(rows):
        top = 4 + 24 * position
        width = max(max(length or 0.0, 0.0) / longest * room, 1)
        if length is not None:
            boxes[style].append((GUTTER, top, width, 16))
        weight = "strong" if style == bold else ""
        letters.append(text(GUTTER - 8, top + 12.5, label, weight, "end"))
        letters.append(text(GUTTER + width + 6, top + 12.5, number, weight))
    parts = [*(bars(boxes[style], style) for style in boxes), *letters]
    return figure(key, 24 * len(rows) + 4, title, f"{'; '.join(words)}.", parts)


def histogram(
    key: str, edges: Sequence[Any], known: Sequence[float], filled: Sequence[float], *, name: str
) -> str:
    """Two bars per bin: the share of known cells, outlined, and of filled ones, solid.

    >>> drawn = histogram("k", [0, 10, 20], [0.25, 0.75], [0.0, 1.0], name="age")
    >>> "0 to 10: 25% of known, 0% of filled; 10 to 20: 75% of known, 100% of filled." in drawn
    True
    """
    left, top, bottom = 40, 26, 150
    n = len(known)
    step = (WIDTH - left - 12) / max(n, 1)
    tallest = max([*known, *filled, 0.0])
    highest = next((level for level in _TOPS if tallest <= level), 1.0)
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
        # Not by `percent`, which would make 2.5% on an axis 2%.
        parts.append(text(left - 6, y + 4, f"{100 * level:.3g}%", "small", "end"))
    parts += [bars(boxes(known, 0.08), "known"), bars(boxes(filled, 0.52), "filled")]
    labels = ticks(edges)
    for j, anchor in ((0, "start"), (n // 2, "middle"), (n, "end")):
        if anchor != "middle" or (n >= 4 and len(labels[0] + labels[j] + labels[n]) < 40):
            parts.append(text(left + step * j, bottom + 18, labels[j], "small", anchor))
    bins = [f"{labels[j]} to {labels[j + 1]}" for j in range(n)]
    return _shares_figure(key, bottom + 26, bins, known, filled, name, parts)


def category_bars(
    key: str, values: Sequence[Any], known: Sequence[float], filled: Sequence[float], *, name: str
) -> str:
    """Two bars per value: the share of known cells, outlined, and of filled ones, solid.

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
    parts += [bars(outlined, "known"), bars(solid, "filled")]
    labels = [fit(value, 300) for value in values]
    return _shares_figure(key, 26 + 34 * len(values), labels, known, filled, name, parts)


def _shares_figure(
    key: str,
    height: float,
    labels: Sequence[str],
    known: Sequence[float],
    filled: Sequence[float],
    name: str,
    parts: Sequence[str],
) -> str:
    words = "; ".join(
        f"{label}: {percent(one)} of known, {percent(other)} of filled"
        for label, one, other in zip(labels, known, filled, strict=True)
    )
    return figure(key, height, f"Known and filled values of {name}", f"{words}.", parts)


def calibration(
    key: str, points: Sequence[tuple[float, float]], *, promised: str, held: str
) -> str:
    """(promised, held) shares, beside the diagonal on which both are the same.

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
    parts.append(f'<g transform="rotate(-90 14 {place(top + side / 2)})">')
    parts += [text(14, top + side / 2 + 4, held, "small", "middle"), "</g>"]
    words = "; ".join(
        f"{promised.lower()} {percent(x)}, {held.lower()} {percent(y)}" for x, y in drawn
    )
    title = f"{held} against {promised[:1].lower()}{promised[1:]}"
    return figure(key, bottom + 44, title, f"{words}.", parts)


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


# -- shapes as strings: the page has the colours and fonts, shapes only have classes --


def figure(key: str, height: float, title: str, words: str, parts: Iterable[str]) -> str:
    """A picture of `parts` with a title, and a description for those who do not see it.

    `key` is unique on the page.

    >>> figure("a", 10, "Ages", "None.", [])[:52]
    '<svg class="figure" viewBox="0 0 360 10" role="img" '
    """
    return (
        f'<svg class="figure" viewBox="0 0 {WIDTH} {place(height)}" role="img" '
        f'aria-labelledby="{key}-t" aria-describedby="{key}-d">'
        f'<title id="{key}-t">{escape(title)}</title><desc id="{key}-d">{escape(words)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def place(x: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> place(1.25), place(3.0), place(-0.01)
    ('1.2', '3', '0')
    """
    return f"{round(x, 1) + 0.0:.1f}".removesuffix(".0")


def bars(boxes: Sequence[Box], style: str) -> str:
    """Boxes of one style in one path, which takes a third of the bytes.

    >>> bars([(1, 2, 3.25, 4)], "known")
    '<path class="known" d="M1 2h3.2v4h-3.2z"/>'
    """
    drawn = "".join(
        f"M{place(x)} {place(y)}h{place(w)}v{place(h)}h{place(-w)}z"
        for x, y, w, h in boxes
        if w > 0 and h > 0
    )
    return f'<path class="{style}" d="{drawn}"/>' if drawn else ""


def line(points: Sequence[tuple[float, float]], style: str) -> str:
    """A line through points.

    >>> line([(0, 1), (2, 3)], "grid")
    '<path class="grid" d="M0 1L2 3"/>'
    """
    return f'<path class="{style}" d="M{"L".join(f"{place(x)} {place(y)}" for x, y in points)}"/>'


def dot(x: float, y: float, radius: float) -> str:
    return f'<circle class="dot" cx="{place(x)}" cy="{place(y)}" r="{place(radius)}"/>'


def text(x: float, y: float, content: str, style: str = "", anchor: str = "start") -> str:
    """Letters from a point on, up to it ("end") or around it ("middle").

    >>> text(1, 2, "<b>", anchor="end")
    '<text x="1" y="2" text-anchor="end">&lt;b&gt;</text>'
    """
    classed = f' class="{style}"' if style else ""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{place(x)}" y="{place(y)}"{classed}{anchored}>{escape(content)}</text>'
