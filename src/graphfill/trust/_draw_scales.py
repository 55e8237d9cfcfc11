r"""The scale on which numbers are drawn: by value, or by rank where that fits clearly better.

By value, the straight lines between columns stay straight, which regressions on the completed
tables need. By rank, a skewed column's errors are as large at low values as at high ones. Held-out
cells decide: on each scale, prediction + quantiles of all residuals make the quantiles of each
cell; their pinball loss is measured on the scale of ranks, where no few cells decide.
"""

from __future__ import annotations

import numpy as np

from ._assessment import Assessment
from ._column import FillableColumn, Floats, Target
from ._error_scales import error_scales, narrowest
from ._ranks import RankScale
from ._selection import ColumnFill
from ._weights import importance, tempered

LEVELS = np.arange(1, 10) / 10.0
LEVEL = 0.9  # of the intervals that are to be narrow
LEAST_GAIN = 0.05  # of the loss by value, that ranks must save


class ValueScale:
    """Values as they are."""

    def scores(self, values: Floats) -> Floats:
        return values

    def values(self, scores: Floats) -> Floats:
        return scores


def scale_of(column: FillableColumn, fill: ColumnFill | None) -> ValueScale | RankScale:
    """The scale that held-out cells speak for; ranks where there are none."""
    target = Target.of(column)
    ranks = RankScale(target.levels[target.known])
    if fill is None or fill.assessment is None:
        return ranks
    truth = target.levels[fill.assessment.rows]
    predicted = fill.assessment.held_out[:, 0]
    by_value, by_rank = (_loss(truth, predicted, scale, ranks) for scale in (ValueScale(), ranks))
    return ranks if by_rank < (1.0 - LEAST_GAIN) * by_value else ValueScale()


def error_scale(
    one: Assessment, errors: Floats, predicted: Floats, filled: Floats
) -> tuple[Floats, Floats, Floats]:
    """How far off predictions are: of held-out and of missing cells; and weights of the former.

    By the prediction, and by what the field says of the row. With the weights, held-out cells are
    as unsure as missing ones.
    """
    usual = RankScale(predicted)
    known, asked = (
        np.column_stack([usual.scores(some), np.abs(usual.scores(some))])
        for some in (predicted, filled)
    )
    weight, learnt = np.ones(len(errors)), []
    if one.spread is not None:
        held, missing = (np.log(spread)[:, None] for spread in one.spread)
        weight = tempered(importance(held, missing))
        known, asked = np.column_stack([known, held]), np.column_stack([asked, missing])
        learnt = [one.spread]
    fold = one.fold_numbers
    parts = [(fold == k, fold != k) for k in range(len(one.folds))]
    learnt += error_scales(np.abs(errors), parts, known, asked, weight)
    return *narrowest(errors, learnt, LEVEL, weight), weight


def _loss(
    truth: Floats, predicted: Floats, scale: ValueScale | RankScale, ranks: RankScale
) -> float:
    """The pinball loss of quantiles made on a scale, in scores."""
    centre = scale.scores(predicted)
    total = 0.0
    for level, off in zip(LEVELS, np.quantile(scale.scores(truth) - centre, LEVELS), strict=True):
        below = ranks.scores(truth) - ranks.scores(scale.values(centre + off))
        total += float(np.mean(np.maximum(level * below, (level - 1.0) * below)))
    return total
