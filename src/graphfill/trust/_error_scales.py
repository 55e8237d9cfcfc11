"""How far off predictions of numbers are, cell by cell, learnt from held-out ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._column import Floats, Mask
from ._weights import quantile, quantiles

POWERS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0)  # of a learnt scale: how far to rely on it
FEWEST_FOR_LINE = 60  # held-out cells that a scale is learnt from


def error_scales(
    off: Floats,
    parts: Sequence[tuple[Mask, Mask]],
    known: Floats,
    asked: Floats,
    weight: Floats,
) -> list[tuple[Floats, Floats]]:
    """How far off predictions like these are: of held-out cells without their fold, of missing.

    The same for all; and from enough cells on by a straight line.
    """
    learnt = [(np.ones(len(known)), np.ones(len(asked)))]
    if len(off) < FEWEST_FOR_LINE or not off.any():
        return learnt
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Never below a share of what is usual: one cell predicted exactly must not decide for others.
    size = np.log(np.maximum(off, 0.01 * float(np.mean(off))))
    line = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(0, 4, 9)))
    known, asked = np.nan_to_num(known), np.nan_to_num(asked)

    def fit(some: Mask) -> Any:
        return line.fit(known[some], size[some], ridgecv__sample_weight=weight[some])

    scale = np.empty(len(known))
    for part, rest in parts:
        if part.any():
            scale[part] = fit(rest).predict(known[part])
    final = fit(np.ones(len(known), dtype=bool)).predict(asked) if len(asked) else np.empty(0)
    low, high = size.min(), size.max()
    return [*learnt, (np.exp(np.clip(scale, low, high)), np.exp(np.clip(final, low, high)))]


def narrowest(
    error: Floats, learnt: Sequence[tuple[Floats, Floats]], level: float, weight: Floats
) -> tuple[Floats, Floats]:
    """Of the scales, of held-out and of missing cells, that with the narrowest intervals."""
    powers = [(scale**power, final**power) for scale, final in learnt for power in POWERS]
    return min(powers, key=lambda pair: _median_width(error, pair[0], level, weight))


def _median_width(error: Floats, scale: Floats, level: float, weight: Floats) -> float:
    low, high = quantiles(error / scale, level, weight)
    return quantile(scale, 0.5, weight) * (high - low)
