"""Shapes that pictures are made of: many cells in few letters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from ._words import place

SHADES = 5
# How a cell is drawn at a point: what stands after "M<x> <y>" in a path.
MARKS = {
    "k": "h0",
    "f": "h0",
    "u": "m0-3.5l3.5 3.5-3.5 3.5-3.5-3.5z",
    "m": "m-2.5-2.5l5 5m0-5l-5 5",
}

Box = tuple[float, float, float, float]  # left, top, width, height


def shade(share: float) -> int:
    """From 0, nothing, to `SHADES`, all.

    >>> [shade(share) for share in (0.0, 0.01, 0.2, 0.21, 1.0)]
    [0, 1, 1, 2, 5]
    """
    return min(math.ceil(share * SHADES - 1e-9), SHADES)


def spans(shares: Sequence[float], box: Box) -> dict[int, list[Box]]:
    """Boxes side by side, one per share, those of one shade that touch as one; by shade.

    >>> spans([0.0, 0.5, 0.6, 1.0], (10, 0, 80, 14))
    {3: [(30.0, 0, 40.0, 14)], 5: [(70.0, 0, 20.0, 14)]}
    """
    left, top, width, height = box
    step, done = width / max(len(shares), 1), 0
    found: dict[int, list[Box]] = {}
    for level, some in groupby(map(shade, shares)):
        n = len(list(some))
        if level:
            found.setdefault(level, []).append((left + step * done, top, step * n, height))
        done += n
    return found


def marks(
    x: Sequence[float], y: Sequence[float], states: str, state: str, box: Box = (0, 0, 1, 1)
) -> str:
    """The path of all points in a state; x and y are shares of the box, y upwards.

    >>> marks([0.0, 1.0], [0.0, 0.5], "kf", "f", (10, 10, 100, 100))
    'M110 60h0'
    """
    left, top, width, height = box
    drawn = MARKS[state]
    return "".join(
        f"M{place(left + width * a)} {place(top + height * (1 - b))}{drawn}"
        for a, b, letter in zip(x, y, states, strict=True)
        if letter == state
    )


def scaled(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Values as shares of their range without the farthest hundredth on either side, and its ends.

    >>> scaled([0.0, 5.0, 10.0])
    ([0.0, 0.5, 1.0], [0.0, 10.0])
    """
    order = sorted(values)
    cut = len(order) // 100
    low, high = order[cut], order[-1 - cut]
    if low == high:
        low, high = order[0], order[-1]
    if low == high:
        return [0.5] * len(values), [low, high]
    return [min(max((v - low) / (high - low), 0.0), 1.0) for v in values], [low, high]


def height_for(x: Sequence[float], y: Sequence[float], width: float) -> float:
    """How high a map is that is so wide; x and y are of one scale.

    >>> height_for([0.0, 1.0], [0.25, 0.75], 300)
    150.0
    """
    across, up = max(x) - min(x), max(y) - min(y)
    return min(max(width * up / max(across, 1e-9), 0.3 * width), 1.1 * width)


def within(x: Sequence[float], y: Sequence[float], box: Box) -> tuple[list[float], list[float]]:
    """Places of one scale for both directions, as shares of a box, in its middle and undistorted.

    >>> within([0.0, 1.0], [0.25, 0.75], (0, 0, 300, 150))
    ([0.0, 1.0], [0.0, 1.0])
    """
    _, _, width, height = box
    across, up = max(x) - min(x), max(y) - min(y)
    size = max(across / width, up / height, 1e-12)  # of a pixel
    middle = (max(x) + min(x)) / 2, (max(y) + min(y)) / 2
    shares = [[(v - m) / (size * room) + 0.5 for v in part] for part, m, room in
              zip((x, y), middle, (width, height), strict=True)]  # fmt: skip
    return shares[0], shares[1]


def reaches(drawn: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """From the least to the most share of each value, over draws.

    >>> reaches([[0.5, 0.5], [0.25, 0.75]])
    [(0.25, 0.5), (0.5, 0.75)]
    """
    return [(min(shares), max(shares)) for shares in zip(*drawn, strict=True)]
