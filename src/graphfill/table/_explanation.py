"""What a filled cell is made of, as numbers, as sentences and as a small picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..report import labelled_bars
from ..report._words import count, fit, listed, percent, shown

MOST_BARS = 8
MOST_NAMED = 5  # cells in a sentence
MOST_CLASSES = 3  # and columns
LABEL = 114  # pixels
UNKNOWN = (
    "What it comes from is unknown: other columns have a part in it, and the table is too large to "
    'keep them; fill it with method="propagation" to see the part of the graph.'
)
CLASSES = ("most frequent value", "shares of the classes")
STYLE = (
    "text { font: 12px sans-serif; } .filled { fill: #2166ac; } "
    ".known { fill: #d9e6f2; stroke: #5b6b7a; } .lost { fill: none; stroke: #5b6b7a; }"
)


@dataclass(repr=False)
class Explanation:
    """What :func:`explain` returns; ``print`` it for sentences.

    Shares add up to 1. Of a propagated cell so do its weights: the filled number is the sum of
    weight times value, and ``share_mean`` times the column's mean, which is the share of all known
    cells alike; of a category, the weights of a class add up to its probability. Where the fill was
    asked to normalise by "sym", weights may add up to more than 1, and ``share_mean`` is then
    negative.

    A field, trees and a blend of methods look at other columns too. A weight then says by how many
    standard deviations the cell moves if the other does by one; a negative one that it moves the
    other way. Trees have no such weights: theirs say how much the prediction moves, in proportion,
    when another column, what a method predicted or the number of links is replaced by its mean.
    Where the sizes of all weights add up to more than 1 they are divided by their sum: sizes and
    ``share_mean`` add up to 1.

    Attributes
    ----------
    row, column : the cell
    value : what was filled in
    weights : table of ``id``, ``value`` and ``weight``, of the kind that was filled
        The known cells of the column that the graph leads to, the largest weight first.
    columns : dict
        The weights of the row's other columns, by name, the largest first.
    share_graph, share_columns, share_mean : float or None
        Of all other rows, of the row's other columns and of the column's mean (or the shares of its
        classes); None where they are not known.
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
    columns: dict[str, float] = field(default_factory=dict)
    _cells: list[tuple[Any, Any, float]] = field(default_factory=list)
    _values: dict[str, Any] = field(default_factory=dict)  # of the row's other columns
    _links: float = 0.0  # the share of their number

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    __repr__ = __str__

    def _sentences(self) -> list[str]:
        lines = [f"Row {_name(self.row)}, column {_name(self.column)}: {_name(self.value)}."]
        graph, columns, mean = self.share_graph, self.share_columns, self.share_mean
        if graph is None or columns is None or mean is None:
            return [*lines, UNKNOWN]
        usual = ("mean", "mean") if self.probabilities is None else CLASSES
        rest = f"of the column's {count(self.n_known, 'known cell')}"
        if not graph and not columns:
            lines.append(f"The graph has no part in it: it is the {usual[0]} {rest}.")
        else:
            own = sum(abs(weight) for _, _, weight in self._cells)
            names = listed([_name(name) for name in self.columns], MOST_CLASSES)
            shares = {
                f"from {count(len(self._cells), 'known cell')} through the graph": own,
                "from other columns of other rows": graph - own - self._links,
                "from the number of links": self._links,
                f"from the row's other columns ({names})": columns,
                f"from the {usual[1]} {rest}": mean,
            }
            kept = [f"{_percent(s)} {words}" for words, s in shares.items() if abs(s) > 1e-6]
            lines.append(f"It comes {listed(kept)}.")
            lines += self._named_weights()
        if self.probabilities is not None:
            classes = [f"{_name(c)} {_percent(p)}" for c, p in self.probabilities.items()]
            lines.append(f"Probabilities: {listed(classes, MOST_CLASSES)}.")
        if self.nearly_copy_of is not None:
            lines.append(f"It is nearly a copy of row {_name(self.nearly_copy_of)}.")
        if graph > 1 + 1e-6:
            lines.append('Weights add up to more than 1, as they may under "sym".')
        return lines

    def _named_weights(self) -> list[str]:
        weights = [f"{_name(i)} ({_name(v)}) {_percent(w)}" for i, v, w in self._cells]
        lines = [f"Weights: {listed(weights, MOST_NAMED)}."] if weights else []
        others = [
            f"{_name(n)} ({_name(self._values[n])}) {_percent(w)}" for n, w in self.columns.items()
        ]
        lines += [f"Of the row: {listed(others, MOST_NAMED)}."] if others else []
        named = [
            *(w for *_, w in self._cells[:MOST_NAMED]),
            *list(self.columns.values())[:MOST_NAMED],
        ]
        if min(named, default=0.0) < -5e-3:
            lines.append("A negative weight pulls the other way.")
        return lines

    def plot(self) -> str:
        """A picture of the largest weights and of the shares, as the text of an SVG file."""
        bars = [(f"{_name(i)} ({_name(v)})", w, "filled") for i, v, w in self._cells[:MOST_BARS]]
        others = sum(abs(weight) for _, _, weight in self._cells[MOST_BARS:])
        if len(self._cells) > MOST_BARS:
            bars.append((f"{len(self._cells) - MOST_BARS:,} other cells", others, "filled"))
        elsewhere = (self.share_graph or 0.0) - sum(abs(weight) for _, _, weight in self._cells)
        if elsewhere > 1e-6:
            bars.append(("other columns there", elsewhere, "filled"))
        some = list(self.columns.items())[:MOST_CLASSES]
        bars += [(f"{_name(n)} ({_name(self._values[n])})", w, "known") for n, w in some]
        rest = (self.share_columns or 0.0) - sum(abs(weight) for _, weight in some)
        if rest > 1e-6:
            bars.append(("other columns", rest, "known"))
        if abs(self.share_mean or 0.0) > 1e-6:
            bars.append(("column's mean", self.share_mean or 0.0, "known"))
        if not bars:
            bars.append(("unknown", 1.0, "lost"))
        rows = [(fit(label, LABEL), abs(s), _percent(s), style) for label, s, style in bars]
        words = [f"{label}: {_percent(share)}" for label, share, _ in bars]
        title = f"What row {_name(self.row)}, column {_name(self.column)} is made of"
        drawn = labelled_bars("reasons", rows, title, words)
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="360" '
        return drawn.replace("<svg ", svg, 1).replace("<title", f"<style>{STYLE}</style><title", 1)

    _repr_svg_ = plot

    def summary(self, most: int | None = None) -> dict[str, Any]:
        """The same as plain numbers and words, with all weights or the largest."""
        names = ["row", "column", "value", "share_graph", "share_columns", "share_mean"]
        summary = {name: getattr(self, name) for name in [*names, "nearly_copy_of", "n_known"]}
        summary["columns"] = [
            {"column": n, "value": self._values[n], "weight": w} for n, w in self.columns.items()
        ][:most]
        summary["weights"] = [{"id": i, "value": v, "weight": w} for i, v, w in self._cells[:most]]
        summary["probabilities"] = None
        if self.probabilities is not None:
            classes = self.probabilities.items()
            summary["probabilities"] = [{"value": c, "probability": p} for c, p in classes][:most]
        return summary


def _name(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else shown(value, empty="(empty)")


def _percent(share: float) -> str:
    return percent(round(share, 6))  # what rounding leaves is nothing
