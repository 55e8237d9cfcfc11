"""Trees of one column grown on its folds: each predicts the fold that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ._column import Floats
from ._comparison import Column
from ._runs import Run
from ._scores import losses
from ._stack import SHARES, CellView, Trees


@dataclass(frozen=True)
class Grown:
    """What was grown.

    Attributes
    ----------
    by_fold : trees that have not seen that fold
    held_out : what they predict for it, fold after fold, [cells, width]
    trees : those that have seen all folds
    centre : the means of the inputs of these
    """

    by_fold: list[Trees]
    held_out: Floats
    trees: Trees
    centre: Floats


def grow(
    one: Column,
    seen: CellView,
    singles: Sequence[Run],
    pairs: Mapping[tuple[int, int], Run],
    *,
    n_trees: int,
    boosted: bool,
    seed: int,
) -> Grown:
    """Grow trees by fold, then on all folds, boosted ones as well if they are asked for.

    Parameters
    ----------
    singles, pairs : the runs that had one fold hidden, and those that had two
    """
    n = len(one.folds)
    by_fold, parts = [], []
    for k in range(n):
        others, scale = [j for j in range(n) if j != k], one.scale(k)
        X = np.concatenate(
            [seen.of(pairs[min(j, k), max(j, k)], one.folds[j], scale) for j in others]
        )
        trees = Trees(one.target, scale, seed, n_trees, SHARES[-1] if boosted else SHARES[0])
        trees.fit(X, np.concatenate([one.folds[j] for j in others]))
        asked = seen.of(singles[k], one.folds[k], scale)
        parts.append([trees.randomised(asked), *([trees.boosted(asked)] if boosted else [])])
        by_fold.append(trees)
    share, held_out = best_share(one, [np.concatenate(cells) for cells in zip(*parts, strict=True)])
    for trees in by_fold:
        trees.share = share
    scale = one.scale()
    X = np.concatenate([seen.of(singles[k], one.folds[k], scale) for k in range(n)])
    trees = Trees(one.target, scale, seed, 2 * n_trees, share).fit(X, one.rows)
    return Grown(by_fold, held_out, trees, X.mean(axis=0))


def best_share(one: Column, parts: Sequence[Floats]) -> tuple[float, Floats]:
    """The best share of boosted trees on held-out cells, and what is predicted with it."""
    shares = SHARES if len(parts) > 1 else SHARES[:1]
    mixed = {share: (1.0 - share) * parts[0] + share * parts[-1] for share in shares}
    best = min(mixed, key=lambda share: float(losses(one.target, one.rows, mixed[share]).mean()))
    return best, mixed[best]
