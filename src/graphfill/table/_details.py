"""What a summary and a report show of one column, as plain numbers: scores and bounds, what was
missing, what was filled in, how far from known cells, and what is least to be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..graph import graph_components
from ..trust import ColumnFill
from ..trust._class_sets import ClassSets
from ..trust._features import FAR, distance_to_known
from ..trust._intervals import Interval, highest_level
from ._alignment import Alignment
from ._column import Column
from ._distribution import distribution
from ._result import ColumnSummary

if TYPE_CHECKING:
    import narwhals as nw

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_GROUPS = 10
LEAST_TRUSTED = 10


def assessment_details(
    column: Column, fill: ColumnFill, level: float | None, pattern: dict[str, Any] | None
) -> dict[str, Any]:
    """What held-out cells showed, for a summary."""
    assessment, bounds = fill.assessment, fill.bounds
    assert assessment is not None
    details: dict[str, Any] = {
        "scores": assessment.scores,
        "chosen": assessment.chosen,
        "why": assessment.why,
        "n_held_out": assessment.n_held_out,
    }
    if assessment.parts:
        details["parts"] = [{"method": m, "weight": w} for m, w in assessment.parts.items()]
    if pattern is not None:
        details["rehearsal"] = pattern
    if bounds is None:
        return details
    details |= {
        "interval_level": level,
        "coverage": bounds.coverage,
        "calibration": bounds.calibration,
    }
    if isinstance(bounds, ClassSets):
        return details | {"calibration_error": bounds.error}
    if np.isinf(bounds.width):
        return details | {"highest_level": highest_level(assessment.n_held_out)}
    return details | {
        "median_width": bounds.width * column.unit,
        "constant_width": bounds.constant_width * column.unit,
    }


def report_details(
    columns: Mapping[str, Column],
    fills: Mapping[str, ColumnFill],
    alignment: Alignment,
    summaries: Mapping[str, ColumnSummary],
    frame: nw.DataFrame[Any],
) -> dict[str, Places]:
    """Add what a report shows of each filled column to its summary.

    Returns, by column, the rows of its filled cells, the least certain first.
    """
    by_certainty: dict[str, Places] = {}
    ids = list(range(alignment.n_rows))
    if alignment.id in frame.columns:
        ids = frame.get_column(alignment.id).to_list()
    if alignment.order is not None:
        ids = [ids[row] for row in alignment.order]
    for name, fill in fills.items():
        column = columns[name]
        details: dict[str, Any] = {
            "n_known": int((~column.missing).sum()),
            "unit": column.unit_name,
            "distribution": distribution(
                column, column.levels()[~column.missing], column.filled_levels()
            ),
            "distance": _distance(column, alignment, fill.unreached),
            **_unreached_groups(alignment, ids, fill.unreached),
        }
        if fill.bounds is not None:
            order = _by_certainty(fill.bounds)
            order = order[~column.unseen[np.flatnonzero(column.missing)][order]]
            details["least_trusted"] = _least_trusted(column, ids, fill, order[:LEAST_TRUSTED])
            by_certainty[name] = np.flatnonzero(column.missing)[order]
            if alignment.order is not None:
                by_certainty[name] = alignment.order[by_certainty[name]]
        summaries[name].details |= details
    return by_certainty


def _by_certainty(bounds: Interval | ClassSets) -> Places:
    """Places of the missing cells, the least certain first; none where no bounds are known."""
    if isinstance(bounds, Interval):
        order = np.argsort(bounds.low - bounds.high, kind="stable")
        return order[:0] if np.isinf(bounds.width) else order
    return np.argsort(bounds.probability, kind="stable")


def _distance(
    column: Column, alignment: Alignment, unreached: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """How many missing cells are how many steps from a known one; None where there is no path."""
    steps = distance_to_known(alignment.graph, ~column.missing)[: len(column.missing)]
    reached = column.blank & ~unreached
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
    column: Column, ids: list[Any], fill: ColumnFill, worst: Places
) -> list[dict[str, Any]]:
    """The rows whose filled cell is least sure."""
    rows, bounds, predictions = np.flatnonzero(column.missing), fill.bounds, fill.predictions
    assert predictions is not None
    if isinstance(bounds, Interval):
        parts = (predictions[worst, 0], bounds.low[worst], bounds.high[worst])
        texts = [[_short(value) for value in column.named(_within(column, part))] for part in parts]
        return [
            {"id": str(ids[rows[at]]), "value": value, "low": low, "high": high}
            for at, value, low, high in zip(worst, *texts, strict=True)
        ]
    assert bounds is not None
    names = [str(name) for name in column.named(np.arange(column.n_classes, dtype=np.float64))]
    return [
        {
            "id": str(ids[rows[at]]),
            "value": names[int(predictions[at].argmax())],
            "probability": float(bounds.probability[at]),
            "set": [names[k] for k in np.flatnonzero(bounds.sets[at])],
        }
        for at in worst
    ]


def _within(column: Column, levels: Floats) -> Floats:
    """Levels within those of the known cells, as filled values are."""
    known = column.levels()[~column.missing]
    return np.clip(levels, known.min(), known.max())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
