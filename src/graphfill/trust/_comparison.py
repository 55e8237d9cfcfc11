r"""The methods side by side on the held-out cells of one column, and the best blend of them.

A blend has non-negative weights that minimise the squared error,

.. math:: \min_{w \ge 0} \sum_i (t_i - m - \sum_j w_j (p_{ij} - m))^2, \quad \sum_j w_j \le 1

m being the mean, rounded to eighths: a choice among finitely many methods, as the others are.
Numbers are blended by value and by rank (t and p as normal scores, `_ranks`); what is blended by
rank comes back as the value of the blended score s, or as the mean of values

.. math:: \frac1Q \sum_q v(s + e_q)

over quantiles e_q of the held-out errors: the median or the mean of what the cell may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ._column import FillableColumn, Floats, Rows, Target
from ._ranks import RankScale
from ._runs import Run
from ._scores import losses

EIGHTHS = 8
PASSES = 100  # over the weights of a blend
QUANTILES = (np.arange(10) + 0.5) / 10


@dataclass
class Column:
    """One column under comparison."""

    column: FillableColumn
    target: Target
    folds: list[Rows]

    @property
    def rows(self) -> Rows:
        return np.concatenate(self.folds)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def parts(self) -> list[slice]:
        """Where each fold is among `rows`."""
        ends = np.cumsum([len(fold) for fold in self.folds]).tolist()
        starts = [0, *ends]
        return [slice(start, end) for start, end in zip(starts, ends, strict=False)]

    def scale(self, *hidden: int) -> RankScale:
        """Normal scores of the known cells, but for some folds of them."""
        known = self.target.known
        for number in hidden:
            known = np.setdiff1d(known, self.folds[number], assume_unique=True)
        return RankScale(self.target.levels[known])


class Comparison:
    """What each method predicts for the held-out and for the missing cells of one column."""

    def __init__(
        self, one: Column, methods: Sequence[str], singles: Sequence[Run], final: Run
    ) -> None:
        self.one = one
        n_classes = one.target.n_classes
        self.solved, self.singles = final.solved, singles
        self.held_out: dict[str, Floats] = {}
        self.missing: dict[str, Floats] = {}
        self.parts: dict[str, float] = {}  # of the blend
        for method in methods:
            parts = [
                run.at(method, one.name, fold, n_classes)
                for run, fold in zip(singles, one.folds, strict=True)
            ]
            self.held_out[method] = np.concatenate(parts)
            self.missing[method] = final.at(method, one.name, one.target.missing, n_classes)

    def add(self, method: str, held_out: Floats, missing: Floats) -> None:
        self.held_out[method], self.missing[method] = held_out, missing

    def costs(self) -> dict[str, Floats]:
        """The loss of each held-out cell, by method."""
        return {name: self._cost(held) for name, held in self.held_out.items()}

    def _cost(self, held_out: Floats) -> Floats:
        return losses(self.one.target, self.one.rows, held_out)

    def add_blend(self) -> None:
        """Add the best blend, unless it is one method alone."""
        truth = self.one.target.truth(self.one.rows)
        weights = blend_weights(self.held_out, truth)
        blends = [(weights, mix(self.held_out, weights), mix(self.missing, weights))]
        if not self.one.target.n_classes:
            blends += self._by_rank()
        blends = [blend for blend in blends if len(blend[0]) > 1]
        if blends:
            costs = [float(self._cost(held).mean()) for _, held, _ in blends]
            self.parts, *cells = blends[int(np.argmin(costs))]
            self.add("blend", *cells)

    def _by_rank(self) -> list[tuple[dict[str, float], Floats, Floats]]:
        """Blends of normal scores: the weights, held-out and missing cells of each.

        The scale of a held-out cell is that of the other folds.
        """
        one = self.one
        scales = [one.scale(number) for number in range(len(one.folds))]
        by_fold = list(zip(scales, one.parts, strict=True))

        def scores(cells: Floats) -> Floats:
            return np.concatenate([scale.scores(cells[part]) for scale, part in by_fold])

        truth = scores(one.target.truth(one.rows))
        held = {name: scores(cells) for name, cells in self.held_out.items()}
        weights = blend_weights(held, truth)
        blended = mix(held, weights)
        whole = one.scale()
        filled = mix({name: whole.scores(self.missing[name]) for name in weights}, weights)
        error = truth - blended
        median, mean = np.empty_like(blended), np.empty_like(blended)
        for scale, part in by_fold:
            others = np.delete(error, part)
            median[part] = scale.values(blended[part])
            mean[part] = mean_value(scale, blended[part], others)
        return [
            (weights, median, whole.values(filled)),
            (weights, mean, mean_value(whole, filled, error)),
        ]


def mean_value(scale: RankScale, scores: Floats, errors: Floats) -> Floats:
    """The mean value of scores with errors like these."""
    if not len(errors):
        return scale.values(scores)
    steps = np.quantile(errors, QUANTILES)
    return np.asarray(np.mean([scale.values(scores + step) for step in steps], axis=0))


def blend_weights(predictions: Mapping[str, Floats], truth: Floats) -> dict[str, float]:
    """In eighths, by method; what they lack of 1 goes to the mean."""
    names = [name for name in predictions if name != "mean"]
    base = predictions["mean"]
    truth = (truth - base).ravel()
    size = float(np.sqrt(np.mean(truth**2))) if len(truth) else 0.0
    if size == 0.0 or not names:
        return {"mean": 1.0}
    parts = np.column_stack([(predictions[name] - base).ravel() for name in names]) / size
    found = not_negative(parts.T @ parts, parts.T @ (truth / size))
    found /= max(1.0, found.sum())
    steps = np.floor(found * EIGHTHS + 1e-9)
    short = round(float(found.sum()) * EIGHTHS) - int(steps.sum())
    for place in np.argsort(steps - found * EIGHTHS, kind="stable")[: max(0, short)]:
        steps[place] += 1
    weights = {name: float(step) / EIGHTHS for name, step in zip(names, steps, strict=True)}
    weights["mean"] = 1.0 - sum(weights.values())
    return {name: weight for name, weight in weights.items() if weight > 0}


def mix(predictions: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """The weighted sum of predictions."""
    return np.asarray(sum(weight * predictions[name] for name, weight in weights.items()))


def not_negative(G: Floats, b: Floats) -> Floats:
    """The w >= 0 that minimises w' G w / 2 - b' w, one coordinate after another.

    Examples
    --------
    >>> not_negative(np.eye(2), np.array([0.5, -1.0]))
    array([0.5, 0. ])
    """
    w = np.zeros(len(b))
    for _ in range(PASSES):
        for j in range(len(b)):
            if G[j, j] > 0:
                w[j] = max(0.0, w[j] + (b[j] - G[j] @ w) / G[j, j])
    return w
