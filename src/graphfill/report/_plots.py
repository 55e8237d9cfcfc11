"""The page's pictures by matplotlib, from the same numbers: the only module here to import it."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ._words import listed, name, percent, ticks

# Okabe and Ito's colours, which colour-blind people can tell apart; shapes differ too.
STYLES = {
    "k": {"label": "known", "marker": ".", "color": "#8A8A8A", "s": 14},
    "f": {"label": "filled", "marker": "o", "color": "#0072B2", "s": 22},
    "u": {
        "label": "uncertain",
        "marker": "D",
        "edgecolor": "#D55E00",
        "facecolor": "none",
        "s": 26,
    },
    "m": {"label": "missing", "marker": "x", "color": "#222222", "s": 22},
}
KNOWN = {"label": "known", "facecolor": "#E6EBF0", "edgecolor": "#6A7683"}
FILLED = {"label": "filled", "facecolor": "#0072B2", "edgecolor": "#0072B2"}
REACH = {"colors": "#D55E00", "linewidth": 1.2, "label": "draws"}


def axes(ax: Any = None) -> Any:
    """The axes to draw on; new ones if none are given."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError(
            'result.plot needs the package matplotlib: pip install "graphfill[plot]".'
        ) from None
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


def missing(given: dict[str, Any], ax: Any) -> Any:
    """A strip per column, darker where more of a span of rows is missing."""
    extent = (0, given["rows"], len(given["columns"]) - 0.5, -0.5)
    ax.imshow(given["shares"], cmap="Blues", vmin=0, vmax=1, aspect="auto", extent=extent,
              interpolation="nearest")  # fmt: skip
    labels = [f"{name(c)} ({percent(share)})" for c, share in
              zip(given["columns"], given["total"], strict=True)]  # fmt: skip
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="row", title="Share of cells that are missing")
    return ax


def together(given: dict[str, Any], ax: Any) -> Any:
    """How many rows miss just these columns."""
    patterns = given["patterns"]
    labels = [listed([name(given["columns"][j], 20) for j in p["columns"]], 2) for p in patterns]
    ax.barh(range(len(labels)), [p["rows"] for p in patterns], **FILLED | {"label": None})
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set(xlabel="rows", title="Columns that are missing together")
    return ax


def known_and_filled(given: dict[str, Any], column: Any, ax: Any) -> Any:
    """Shares of known and of filled cells, by value or in bins."""
    known, filled = given["known"], given["filled"]
    reach = [(min(shares), max(shares)) for shares in zip(*given.get("drawn", ()), strict=True)]
    places = [float(j) for j in range(len(known))]
    if "edges" in given:
        ax.bar([p - 0.2 for p in places], known, 0.4, **KNOWN)
        ax.bar([p + 0.2 for p in places], filled, 0.4, **FILLED)
        if reach:
            ax.vlines([p + 0.2 for p in places], *zip(*reach, strict=True), **REACH)
        some = [0, len(known) // 2, len(known)]
        labels = ticks(given["edges"])
        ax.set_xticks([place - 0.5 for place in some], [labels[place] for place in some])
        ax.set(xlabel=name(column), ylabel="share of cells")
    else:
        ax.barh([p - 0.2 for p in places], known, 0.4, **KNOWN)
        ax.barh([p + 0.2 for p in places], filled, 0.4, **FILLED)
        if reach:
            ax.hlines([p + 0.2 for p in places], *zip(*reach, strict=True), **REACH)
        ax.set_yticks(places, [name(value, 30) for value in given["values"]])
        ax.invert_yaxis()
        ax.set(xlabel="share of cells", ylabel=name(column))
    ax.legend()
    return ax


def points(given: dict[str, Any], column: Any, ax: Any) -> Any:
    """Rows on a map or as a graph, by the state of their cell."""
    x, y = given["x"], given["y"]
    for a, b in given["links"]:
        ax.plot([x[a], x[b]], [y[a], y[b]], color="#DDDDDD", linewidth=0.6, zorder=0)
    _marks(x, y, given["states"][column], ax)
    ax.set(title=name(column), xticks=[], yticks=[])
    if given["kind"] == "map":
        ax.set_aspect("equal")
    return ax


def scatter(given: dict[str, Any], ax: Any) -> Any:
    """Two columns of numbers against each other, filled rows marked."""
    _marks(given["x"], given["y"], given["states"], ax)
    ax.set(xlabel=name(given["columns"][0]), ylabel=name(given["columns"][1]))
    return ax


def _marks(x: list[float], y: list[float], states: str, ax: Any) -> None:
    for state, style in STYLES.items():
        rows = [row for row, letter in enumerate(states) if letter == state]
        if rows:
            ax.scatter([x[row] for row in rows], [y[row] for row in rows], **style)
    ax.legend()
