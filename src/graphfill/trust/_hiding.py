"""How well cells would be filled if they were missing in the patterns that real gaps often have.

Held-out folds are drawn at random. Cells seldom go missing so: people leave a whole form blank,
people with high incomes do not state them, a region sends no figures. Here known cells are hidden
in such a pattern, everything is learnt anew from the rest, and the hidden cells show how well that
went.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..graph import Graph
from ..solve import propagate_with
from ._channels import Solve, fill_channels
from ._column import FillableColumn, Floats, Recorded, Rows, Target, renumbered
from ._folds import hide_cells
from ._intervals import Interval
from ._options import FillOptions
from ._scores import score
from ._selection import ColumnFill, fill_columns

SHARE = 0.2  # of the known cells of each column
DRAWS = 2


@dataclass(frozen=True)
class _Draw:
    """One column in one draw: which cells were hidden, and what each method predicts for them."""

    rows: Rows
    predictions: dict[str, Floats]
    covered: float | None


def scores_in_pattern(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    informative: Mapping[str, bool],
    options: FillOptions,
    *,
    solve: Solve = propagate_with,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, dict[str, Any]]:
    """Scores of each method on cells hidden in the options' pattern, by column.

    Rows and regions lose the cells of all columns.
    """
    pattern = options.pattern
    assert pattern is not None
    plain = replace(options, scores=True)
    draws: dict[str, list[_Draw]] = {name: [] for name in wanted}
    levels = {name: column.levels() for name, column in columns.items()}
    for number in range(DRAWS):
        seed = [options.seed, number]
        hidden = hide_cells(levels, graph, share=SHARE, pattern=pattern, seed=seed)
        partly = {name: column.hide(hidden[name]) for name, column in columns.items()}
        fills, _ = fill_columns(
            partly, wanted, graph, lambda: informative, plain, solve=solve,
            progress=lambda share: progress(share / DRAWS),
        )  # fmt: skip
        others = _by_recipe(partly, fills, graph, plain, solve)
        for name, fill in fills.items():
            if fill.assessment is not None:
                rows = np.flatnonzero(hidden[name])
                draws[name].append(_draw(columns[name], partly[name], fill, rows, others[name]))
    return {
        name: _summary(columns[name], pattern, parts)
        for name, parts in draws.items()
        if len(parts) == DRAWS
    }


def _by_recipe(
    columns: Mapping[str, FillableColumn],
    fills: Mapping[str, ColumnFill],
    graph: Graph,
    options: FillOptions,
    solve: Solve,
) -> dict[str, dict[str, Floats]]:
    """The predictions of every scored method without a learner, by column."""
    predictions: dict[str, dict[str, Floats]] = {name: {} for name in fills}
    for method, recipe in options.recipes(solve).items():
        scored = [
            Recorded(columns[name])
            for name, fill in fills.items()
            if fill.assessment and any(s["method"] == method for s in fill.assessment.scores)
        ]
        if scored:
            fill_channels(scored, graph, recipe)
        for column in scored:
            predictions[column.name][method] = column.predictions
    return predictions


def _draw(
    column: FillableColumn,
    partly: FillableColumn,
    fill: ColumnFill,
    rows: Rows,
    by_recipe: Mapping[str, Floats],
) -> _Draw:
    assessment = fill.assessment
    assert assessment is not None
    place = np.searchsorted(assessment.target.missing, rows)
    methods = {**by_recipe, **assessment.learnt}
    methods = {s["method"]: methods[s["method"]] for s in assessment.scores}
    methods["chosen"] = methods[assessment.chosen]
    predictions = {
        method: renumbered(partly, predicted[place], column.n_classes)
        for method, predicted in methods.items()
    }
    covered = None
    if fill.bounds is not None:
        truth = column.levels()[rows]
        if isinstance(fill.bounds, Interval):
            inside = (truth >= fill.bounds.low[place]) & (truth <= fill.bounds.high[place])
        else:
            sets = renumbered(partly, fill.bounds.sets[place].astype(float), column.n_classes)
            inside = sets[np.arange(len(rows)), truth.astype(np.intp)] > 0
        covered = float(np.mean(inside))
    return _Draw(rows, predictions, covered)


def _summary(column: FillableColumn, pattern: str, draws: Sequence[_Draw]) -> dict[str, Any]:
    """All draws' hidden cells together."""
    target = Target.of(column)
    rows = np.concatenate([draw.rows for draw in draws])
    methods = [m for m in draws[0].predictions if all(m in draw.predictions for draw in draws)]
    scores = []
    for method in methods:
        predicted = np.concatenate([draw.predictions[method] for draw in draws])
        scores.append({"method": method} | score(target, rows, predicted, column.unit))
    summary: dict[str, Any] = {"pattern": pattern, "n": len(rows), "scores": scores}
    shares = [draw.covered for draw in draws if draw.covered is not None]
    if shares:
        summary["coverage"] = float(np.mean(shares))
    return summary
