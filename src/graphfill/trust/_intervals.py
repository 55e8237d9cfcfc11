r"""How sure a filled number is: intervals.

Split-conformal on held-out cells. With p the prediction of a held-out cell, t its truth and s an
estimate of how far off predictions like it are, the scores e = (t - p) / s are exchangeable with
those of missing cells; so [p + s q_a/2, p + s q_1-a/2], with q the quantiles of e, covers a share
1 - a of the truths, whatever the predictor. s is learnt from how far off predictions were where
as little was known: few neighbours, who disagree, or little of the row (`_spreads`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._assessment import Assessment
from ._calibrating import Calibrating, calibrating
from ._error_scales import error_scales, narrowest
from ._features import FAR, CellFeatures
from ._weights import effective, quantile, quantiles

Floats = NDArray[np.float64]

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
FEWEST_IN_GROUP = 100


@dataclass(frozen=True)
class Interval:
    """Intervals of the missing cells of a column of numbers, in levels.

    Attributes
    ----------
    low, high : [missing]
        Infinite where there are too few held-out cells to bound such a share.
    coverage : float
        Share of held-out cells within intervals made without their fold; of cells hidden as the
        missing ones lie, where these lie in other rows than the known ones.
    width, constant_width : float
        Median width, and that of intervals all equally wide.
    calibration : per nominal level, the share of held-out cells covered
    """

    low: Floats
    high: Floats
    coverage: float
    width: float
    constant_width: float
    calibration: list[dict[str, float]]


def intervals(
    assessment: Assessment,
    filled: Floats,
    level: float,
    unreached: NDArray[np.bool_] | None = None,
) -> Interval:
    """Intervals around what was `filled`, [missing, 1], that cover a share `level` of the truths.

    Where few held-out cells are like one that nothing known is connected to (`unreached`,
    [missing]), such a cell gets the interval that holds as many of the known cells; or, where its
    row was filled from other columns, the errors of a line through these.
    """
    steps = np.concatenate([part.surroundings[:, 2] for part in assessment.known_features])
    if np.count_nonzero(steps >= FAR) >= FEWEST_IN_GROUP:
        unreached = None  # there are held-out cells as far from any known one
    cells = calibrating(assessment, filled, unreached)
    error, w = cells.error, cells.weight
    final = assessment.missing_features
    assert final is not None
    learnt = error_scales(np.abs(error), cells.parts, cells.known, cells.asked, w)
    if cells.spread is not None:
        learnt.append(cells.spread)
    scale, final_scale = narrowest(error, learnt, level, w)
    scores = error / scale
    group, asked_group = _groups(cells, final, level)

    def beyond(share: float) -> Floats:
        """How far scores lie from the middle of intervals made without them, in half widths."""
        ratio = np.empty(len(scores))
        for part, rest in cells.parts:
            ends = _by_group(scores[rest], group[rest], group[part], share, w[rest])
            ratio[part] = _half_widths(scores[part], *ends)
        return ratio

    ratio = beyond(level)
    stretch = cells.stretch(ratio, level, cells.alike)
    covered = cells.share(cells.inside(ratio, level))
    low, high = _stretched(*_by_group(scores, group, asked_group, level, w), stretch)
    own_low, own_high = _stretched(*_by_group(scores, group, group, level, w), stretch)
    plain = 2.0 * quantile(np.abs(error), level, w)  # value +- the same everywhere
    centre = filled[:, 0]
    low, high = centre + final_scale * low, centre + final_scale * high
    if unreached is not None:
        low[unreached], high[unreached] = quantiles(cells.truth, level)
        if assessment.row_errors is not None and assessment.row_speaks is not None:
            by_row = unreached & assessment.row_speaks
            below, above = quantiles(assessment.row_errors, level)
            low[by_row], high[by_row] = centre[by_row] + below, centre[by_row] + above
    return Interval(
        low,
        high,
        covered,
        float(np.median(scale * (own_high - own_low))),
        float(plain),
        [{"nominal": share, "actual": cells.share(cells.inside(beyond(share), share))}
         for share in LEVELS],
    )  # fmt: skip


def highest_level(n: int) -> float:
    """The largest share that n held-out cells can bound, one of them being left on each side.

    Examples
    --------
    >>> highest_level(199)
    0.99
    """
    return 1.0 - 2.0 / (n + 1.0)


def _groups(
    cells: Calibrating, final: CellFeatures, level: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Held-out and missing cells by how far known ones are: thirds next to some, two steps, more.

    Of those next to known ones the first third has the most of them. Quantiles are taken within a
    group, so that coverage holds near and far alike; a group with too few held-out cells, in
    general or for this level, joins the nearer one.
    """
    fewest = max(FEWEST_IN_GROUP, 2.0 / (1.0 - level))
    far, asked_far = (
        np.clip(around[:, 2], 1, FAR) - around[:, 0] / (1.0 + around[:, 0])
        for around in (
            np.concatenate([part.surroundings for part in cells.features]),
            final.surroundings,
        )
    )
    beside = far[far < 1.0]
    thirds = np.quantile(beside, [1 / 3, 2 / 3]) if len(beside) else np.zeros(2)
    cuts = [*thirds, 0.999, 2.0, FAR - 1.0]
    held, asked = np.searchsorted(cuts, far), np.searchsorted(cuts, asked_far)
    for number in range(len(cuts), 0, -1):
        if effective(cells.weight[held == number]) < fewest:
            held[held == number] = asked[asked == number] = number - 1
    return held, asked


def _by_group(
    scores: Floats,
    group: NDArray[np.intp],
    asked: NDArray[np.intp],
    level: float,
    weight: Floats,
) -> tuple[Floats, Floats]:
    """Quantiles of the scores of each asked cell's group."""
    low, high = (np.empty(len(asked)) for _ in range(2))
    for number in np.unique(asked):
        own = group == number
        own |= not own.any()
        at = asked == number
        low[at], high[at] = quantiles(scores[own], level, weight[own])
    return low, high


def _stretched(low: Floats, high: Floats, factor: float) -> tuple[Floats, Floats]:
    if factor == 1.0:
        return low, high
    more = (factor - 1.0) * (high - low) / 2.0
    return low - more, high + more


def _half_widths(scores: Floats, low: Floats, high: Floats) -> Floats:
    """The distance of scores from the middle of intervals, over half their width.

    Examples
    --------
    >>> _half_widths(np.array([1.0, 5.0]), np.zeros(2), np.full(2, 2.0))
    array([0., 4.])
    """
    within = (low <= scores) & (scores <= high)
    bounded = np.isfinite(low) & np.isfinite(high)
    low, high = (np.where(bounded, end, 0.0) for end in (low, high))
    ratio = np.abs(2.0 * scores - low - high) / np.maximum(high - low, 1e-300)
    return np.asarray(np.where(within, np.minimum(ratio, 1.0), np.clip(ratio, 1.0 + 1e-9, 1e6)))
