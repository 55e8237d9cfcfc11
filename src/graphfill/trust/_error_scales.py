"""How far off predictions of numbers are, cell by cell, learnt from held-out ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._column import Floats, Mask
from ._weights import quantile, quantiles

POWERS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0)  # of a learnt scale: how far to rely on it
FEWEST_FOR_LINE, FEWEST_FOR_TREES = 60, 200  # held-out cells that a scale is learnt from


def error_scales(
    off: Floats,
    parts: Sequence[tuple[Mask, Mask]],
    known: Floats,
    asked: Floats,
    seed: int = 0,
    by_trees: bool = True,
) -> list[tuple[Floats, Floats]]:
    """How far off predictions like these are: of held-out cells without their fold, of missing.

    The same for all; from enough cells on by a straight line, and by trees.
    """
    learnt = [(np.ones(len(known)), np.ones(len(asked)))]
    if len(off) < FEWEST_FOR_LINE or not off.any():
        return learnt
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Never below a share of what is usual: one cell predicted exactly must not decide for others.
    floor = 0.1 * float(np.mean(off))
    size = np.log(np.maximum(off, floor))
    trees = HistGradientBoostingRegressor(
        max_iter=40,
        learning_rate=0.1,
        max_leaf_nodes=6,
        min_samples_leaf=40,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    line = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(0, 4, 9)))
    for model, seen, wanted in (
        (line, np.nan_to_num(known), np.nan_to_num(asked)),
        (trees, known, asked),
    )[: 1 + (by_trees and len(off) >= FEWEST_FOR_TREES)]:
        scale = np.empty(len(known))
        for part, rest in parts:
            if not part.any():
                continue
            # A column of nothing but NaN is more than scikit-learn's trees can bin.
            empty = np.isnan(seen[rest]).all(axis=0)
            seen_now = np.where(empty, 0.0, seen)
            scale[part] = model.fit(seen_now[rest], size[rest]).predict(seen_now[part])
        empty = np.isnan(seen).all(axis=0)
        seen, wanted = np.where(empty, 0.0, seen), np.where(empty, 0.0, wanted)
        final = model.fit(seen, size).predict(wanted) if len(wanted) else np.empty(0)
        low, high = size.min(), size.max()
        learnt.append((np.exp(np.clip(scale, low, high)), np.exp(np.clip(final, low, high))))
    return learnt


def narrowest(
    error: Floats, learnt: Sequence[tuple[Floats, Floats]], level: float, weight: Floats
) -> tuple[Floats, Floats]:
    """Of the scales, of held-out and of missing cells, that with the narrowest intervals."""
    powers = [(scale**power, final**power) for scale, final in learnt for power in POWERS]
    return min(powers, key=lambda pair: _median_width(error, pair[0], level, weight))


def _median_width(error: Floats, scale: Floats, level: float, weight: Floats) -> float:
    low, high = quantiles(error / scale, level, weight)
    return quantile(scale, 0.5, weight) * (high - low)
