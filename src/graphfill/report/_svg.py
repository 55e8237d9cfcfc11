"""The few shapes that figures are made of, as strings.

Colours and fonts belong to the page: shapes only have classes. Everything is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

WIDTH = 360  # of every figure; they shrink but hardly grow, so that letters stay legible
Box = tuple[float, float, float, float]  # left, top, width, height


def figure(key: str, height: float, title: str, words: str, parts: Iterable[str]) -> str:
    """A picture with a name, and a description for those who do not see it.

    Parameters
    ----------
    key : unique on the page
    title, words : what it shows, and the numbers in it
    parts : shapes

    Examples
    --------
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

    Examples
    --------
    >>> place(1.25), place(3.0), place(-0.01)
    ('1.2', '3', '0')
    """
    return f"{round(x, 1) + 0.0:.1f}".removesuffix(".0")


def bars(boxes: Sequence[Box], style: str) -> str:
    """Boxes of one style in one path, which takes a third of the bytes.

    Examples
    --------
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

    Examples
    --------
    >>> line([(0, 1), (2, 3)], "grid")
    '<path class="grid" d="M0 1L2 3"/>'
    """
    return f'<path class="{style}" d="M{"L".join(f"{place(x)} {place(y)}" for x, y in points)}"/>'


def dot(x: float, y: float, radius: float) -> str:
    return f'<circle class="dot" cx="{place(x)}" cy="{place(y)}" r="{place(radius)}"/>'


def text(x: float, y: float, content: str, style: str = "", anchor: str = "start") -> str:
    """Letters from a point on, up to it ("end") or around it ("middle").

    Examples
    --------
    >>> text(1, 2, "<b>", anchor="end")
    '<text x="1" y="2" text-anchor="end">&lt;b&gt;</text>'
    """
    classed = f' class="{style}"' if style else ""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{place(x)}" y="{place(y)}"{classed}{anchored}>{escape(content)}</text>'
