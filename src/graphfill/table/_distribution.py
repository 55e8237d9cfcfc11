"""How the cells of a column are spread, and which filled ones say little more than that."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trust._class_sets import ClassSets
from ..trust._intervals import Interval
from ._column import Column

Cells = NDArray[np.bool_]
Floats = NDArray[np.float64]

BARS = 20  # of a histogram
MOST_VALUES = 12
WIDE = 0.7  # half of the variance is then left open


def distribution(column: Column, known: Floats, filled: Floats) -> dict[str, Any]:
    """Shares of known and of filled levels, by value or in bins."""
    if column.is_class:
        n_values = column.n_classes
        counts = [np.bincount(part.astype(np.intp), minlength=n_values) for part in (known, filled)]
        kept = min(n_values, MOST_VALUES)
        names = [str(name) for name in column.named(np.arange(kept, dtype=np.float64))]
        if n_values > MOST_VALUES:
            kept, names = MOST_VALUES - 1, [*names[: MOST_VALUES - 1], "(other)"]
            counts = [np.append(count[:kept], count[kept:].sum()) for count in counts]
        return {"values": names, "known": _shares(counts[0]), "filled": _shares(counts[1])}
    low, high = np.quantile(known, [0.005, 0.995])
    if low == high:
        low, high = known.min(), known.max()
    edges = np.linspace(low, high, BARS + 1) if low < high else np.array([low, low])
    bins = [np.histogram(np.clip(part, low, high), edges)[0] for part in (known, filled)]
    named = [
        edge
        if isinstance(edge, (int, float))
        else edge.isoformat()
        if hasattr(edge, "isoformat")
        else str(edge)
        for edge in column.named(edges)
    ]
    return {"edges": named, "known": _shares(bins[0]), "filled": _shares(bins[1])}


def uncertain_cells(column: Column, bounds: Interval | ClassSets, level: float) -> Cells:
    """Which missing cells are hardly known better than without a fill, [missing].

    A number whose interval is more than `WIDE` times as wide as the one that holds as many of the
    known cells; a class that is more likely wrong than right.
    """
    if isinstance(bounds, ClassSets):
        return np.asarray(bounds.probability < 0.5)
    known = column.levels()[~column.missing]
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return np.asarray(bounds.high - bounds.low > WIDE * (high - low))


def _shares(counts: NDArray[Any]) -> list[float]:
    return list((counts / max(1, counts.sum())).tolist())
