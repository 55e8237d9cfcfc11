"""What a filled cell is made of, as numbers, as sentences and as a small picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..report import labelled_bars
from ..report._words import count, fit, listed, percent, shown

MOST_BARS = 8
MOST_NAMED = 5  # cells in a sentence
MOST_CLASSES = 3
LABEL = 114  # pixels
CLASSES = ("most frequent value", "shares of the classes")
STYLE = (
    "text { font: 12px sans-serif; } .filled { fill: #2166ac; } "
    ".known { fill: #d9e6f2; stroke: #5b6b7a; } .lost { fill: none; stroke: #5b6b7a; }"
)


@dataclass(repr=False)
class Explanation:
    """What :func:`explain` returns; ``print`` it for sentences.

    Weights and shares add up to 1. The filled number is the sum of weight times value, and
    ``share_mean`` times the column's mean, which is the share of all known cells alike; of a
    category, the weights of a class add up to its probability. Where the fill was asked to
    normalise by "sym", weights may add up to more than 1, and ``share_mean`` is then negative.

    Attributes
    ----------
    row, column : the cell
    value : what was filled in
    weights : table of ``id``, ``value`` and ``weight``, of the kind that was filled
        The known cells that the graph leads to, the largest weight first.
    share_graph, share_columns, share_mean : float or None
        Of these cells, of the row's other columns and of the column's mean (or the shares of its
        classes); None where the method does not tell.
    nearly_copy_of : the id of the cell whose weight is 0.9 or more, or None
    probabilities : dict or None
        Of the classes of a category, the largest first.
    n_known : int
        Known cells of the column.
    """

    __module__ = "graphfill"

    row: Any
    column: Any
    value: Any
    weights: Any
    share_graph: float | None = None
    share_columns: float | None = None
    share_mean: float | None = None
    nearly_copy_of: Any = None
    probabilities: dict[Any, float] | None = None
    n_known: int = 0
    _cells: list[tuple[Any, Any, float]] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    __repr__ = __str__

    def _sentences(self) -> list[str]:
        lines = [f"Row {_name(self.row)}, column {_name(self.column)}: {_name(self.value)}."]
        graph, columns, mean = self.share_graph, self.share_columns, self.share_mean
        if graph is None or columns is None or mean is None:
            return [
                *lines,
                "A learner filled it from the row's other columns; the share of the graph is "
                "unknown.",
            ]
        usual = ("mean", "mean") if self.probabilities is None else CLASSES
        rest = f"of the column's {count(self.n_known, 'known cell')}"
        if not self._cells:
            lines.append(f"The graph has no part in it: it is the {usual[0]} {rest}.")
        else:
            cells = (
                f"{_percent(graph)} from {count(len(self._cells), 'known cell')} through the graph"
            )
            other = f"{_percent(columns)} from the row's other columns" if columns else ""
            last = f"{_percent(mean)} from the {usual[1]} {rest}" if abs(mean) > 1e-6 else ""
            lines.append(f"It comes {listed([part for part in (cells, other, last) if part])}.")
            weights = [f"{_name(i)} ({_name(v)}) {_percent(w)}" for i, v, w in self._cells]
            lines.append(f"Weights: {listed(weights, MOST_NAMED)}.")
        if self.probabilities is not None:
            classes = [f"{_name(c)} {_percent(p)}" for c, p in self.probabilities.items()]
            lines.append(f"Probabilities: {listed(classes, MOST_CLASSES)}.")
        if self.nearly_copy_of is not None:
            lines.append(f"It is nearly a copy of row {_name(self.nearly_copy_of)}.")
        if graph > 1 + 1e-6:
            lines.append('Weights add up to more than 1, as they may under "sym".')
        return lines

    def plot(self) -> str:
        """A picture of the largest weights and of the shares, as the text of an SVG file."""
        bars = [(f"{_name(i)} ({_name(v)})", w, "filled") for i, v, w in self._cells[:MOST_BARS]]
        others = sum(weight for _, _, weight in self._cells[MOST_BARS:])
        if len(self._cells) > MOST_BARS:
            bars.append((f"{len(self._cells) - MOST_BARS:,} other cells", others, "filled"))
        if self.share_columns:
            bars.append(("other columns", self.share_columns, "known"))
        if abs(self.share_mean or 0.0) > 1e-6:
            bars.append(("column's mean", self.share_mean or 0.0, "known"))
        if not bars:
            bars.append(("unknown", 1.0, "lost"))
        rows = [(fit(label, LABEL), share, _percent(share), style) for label, share, style in bars]
        words = [f"{label}: {_percent(share)}" for label, share, _ in bars]
        title = f"What row {_name(self.row)}, column {_name(self.column)} is made of"
        drawn = labelled_bars("reasons", rows, title, words)
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="360" '
        return drawn.replace("<svg ", svg, 1).replace("<title", f"<style>{STYLE}</style><title", 1)

    _repr_svg_ = plot

    def summary(self) -> dict[str, Any]:
        """The same as plain numbers and words."""
        names = ["row", "column", "value", "share_graph", "share_columns", "share_mean"]
        summary = {name: getattr(self, name) for name in [*names, "nearly_copy_of", "n_known"]}
        summary["weights"] = [{"id": i, "value": v, "weight": w} for i, v, w in self._cells]
        summary["probabilities"] = None
        if self.probabilities is not None:
            classes = self.probabilities.items()
            summary["probabilities"] = [{"value": c, "probability": p} for c, p in classes]
        return summary


def _name(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else shown(value, empty="(empty)")


def _percent(share: float) -> str:
    return percent(round(share, 6))  # what rounding leaves is nothing
