"""What a report shows of one column, as plain numbers: what was missing, what was filled in, how
far from known cells, and what is least to be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph._components import graph_components
from ..trust._assessment import Assessment
from ..trust._class_sets import Certainty
from ..trust._features import FAR, distance_to_known
from ..trust._intervals import Interval
from ..trust._selection import Judgement
from ._alignment import Alignment
from ._columns import Column

Floats = NDArray[np.float64]

BARS = 20  # of a histogram
MOST_VALUES = 12
MOST_GROUPS = 10
LEAST_TRUSTED = 10


def portrait(
    column: Column,
    alignment: Alignment,
    ids: list[Any],
    unreached: NDArray[np.bool_],
    judged: Judgement | None,
) -> dict[str, Any]:
    """All of it, by name; `ids` are the rows' own names."""
    shown: dict[str, Any] = {
        "n_known": int((~column.missing).sum()),
        "unit": column.unit_name,
        "distribution": _distribution(column),
        "distance": _distance(column, alignment, unreached),
        **_unreached_groups(alignment, ids, unreached),
    }
    if judged is not None and judged.sure is not None:
        shown["least_trusted"] = _least_trusted(column, ids, judged.found, judged.sure)
    return shown


def _distribution(column: Column) -> dict[str, Any]:
    """Shares of known and of filled cells, by value or in bins."""
    known = column.levels()[~column.missing]
    filled = column.filled_levels()
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


def _shares(counts: NDArray[Any]) -> list[float]:
    return (counts / max(1, counts.sum())).tolist()


def _distance(
    column: Column, alignment: Alignment, unreached: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """How many missing cells are how many steps from a known one; None where there is no path."""
    steps = distance_to_known(alignment.graph, ~column.missing)[: len(column.missing)]
    reached = column.missing & ~unreached
    counts = np.bincount(steps[reached].astype(np.intp), minlength=FAR + 1)
    rows: list[dict[str, Any]] = [
        {"distance": step, "cells": int(counts[step])} for step in range(1, FAR + 1) if counts[step]
    ]
    if unreached.any():
        rows.append({"distance": None, "cells": int(unreached.sum())})
    return rows


def _unreached_groups(
    alignment: Alignment, ids: list[Any], unreached: NDArray[np.bool_]
) -> dict[str, Any]:
    """The largest connected groups of rows in which nothing is known of the column."""
    rows = np.flatnonzero(unreached)
    label = graph_components(alignment.graph)[1][: alignment.n_rows]
    groups, size = np.unique(label[rows], return_counts=True)
    largest = np.argsort(-size, kind="stable")[:MOST_GROUPS]
    return {
        "n_unreached_groups": len(groups),
        "unreached_groups": [
            {
                "rows": int((label == groups[at]).sum()),
                "cells": int(size[at]),
                "examples": [str(ids[row]) for row in rows[label[rows] == groups[at]][:3]],
            }
            for at in largest
        ],
    }


def _least_trusted(
    column: Column, ids: list[Any], found: Assessment, sure: Interval | Certainty
) -> list[dict[str, Any]]:
    """The rows whose filled cell is least sure."""
    rows = np.flatnonzero(column.missing)
    if isinstance(sure, Interval) and np.isinf(sure.width):
        return []  # no bounds are known
    if isinstance(sure, Interval):
        worst = np.argsort(sure.low - sure.high, kind="stable")[:LEAST_TRUSTED]
        parts = (found.filled[worst, 0], sure.low[worst], sure.high[worst])
        texts = [[_short(value) for value in column.named(_within(column, part))] for part in parts]
        return [
            {"id": str(ids[rows[at]]), "value": value, "low": low, "high": high}
            for at, value, low, high in zip(worst, *texts, strict=True)
        ]
    worst = np.argsort(sure.probability, kind="stable")[:LEAST_TRUSTED]
    names = [str(name) for name in column.named(np.arange(column.n_classes, dtype=np.float64))]
    return [
        {
            "id": str(ids[rows[at]]),
            "value": names[int(found.filled[at].argmax())],
            "probability": float(sure.probability[at]),
            "set": [names[k] for k in np.flatnonzero(sure.sets[at])],
        }
        for at in worst
    ]


def _within(column: Column, levels: Floats) -> Floats:
    """Levels within those of the known cells, as filled values are."""
    known = column.levels()[~column.missing]
    return np.clip(levels, known.min(), known.max())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
