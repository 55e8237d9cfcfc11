r"""Blends of what several methods predict for the cells of a column.

A blend has non-negative weights that minimise the squared error,

.. math::
    \min_{w \ge 0} \sum_i \Bigl(t_i - m - \sum_j w_j (p_{ij} - m)\Bigr)^2
    + c \lambda \sum_j (w_j - u_j)^2, \quad \sum_j w_j \le 1

m being the mean, u the usual weights (half trees, half field) and c the mean square of a
prediction: the usual weights count as lambda cells. They are rounded to eighths: a choice among
finitely many methods, as the others are.
Numbers are blended by value and by rank (t and p as normal scores, `_ranks`); what is blended by
rank comes back as the value of the blended score s, or as the mean of values

.. math:: \frac1Q \sum_q v(s + e_q)

over quantiles e_q of the held-out errors: the median or the mean of what the cell may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ._column import Floats
from ._ranks import RankScale

EIGHTHS = 8
PASSES, SETTLED = 100, 1e-10  # over the weights of a blend; less than this and they stay
# Weights, where held-out cells are too few to tell.
USUAL = {"trees": 0.5, "field-rank": 0.25, "field-log": 0.25}
USUAL_CELLS = 25  # that these count as
QUANTILES = (np.arange(10) + 0.5) / 10


@dataclass(frozen=True)
class Blend:
    """How a blend is made of the methods' predictions.

    Attributes
    ----------
    weights : by method
    steps : added to a blended score, whose values are then averaged; None where values are blended
    """

    weights: dict[str, float]
    steps: tuple[float, ...] | None = None

    def of(self, predictions: Mapping[str, Floats], scale: RankScale) -> Floats:
        """The blended predictions."""
        if self.steps is None:
            return mix(predictions, self.weights)
        scores = {name: scale.scores(predictions[name]) for name in self.weights}
        blended = mix(scores, self.weights)
        values = [scale.values(blended + step) for step in self.steps]
        return np.asarray(np.mean(values, axis=0))


def quantiles(errors: Floats) -> tuple[float, ...]:
    """A few of them, evenly apart."""
    return tuple(np.quantile(errors, QUANTILES).tolist()) if len(errors) else (0.0,)


def blend_weights(predictions: Mapping[str, Floats], truth: Floats) -> dict[str, float]:
    """In eighths, by method; what they lack of 1 goes to the mean."""
    names = [name for name in predictions if name != "mean"]
    base = predictions["mean"]
    truth = (truth - base).ravel()
    size = float(np.sqrt(np.mean(truth**2))) if len(truth) else 0.0
    if size == 0.0 or not names:
        return {"mean": 1.0}
    parts = np.column_stack([(predictions[name] - base).ravel() for name in names]) / size
    G, b = parts.T @ parts, parts.T @ (truth / size)
    usual = np.array([USUAL.get(name, 0.0) for name in names])
    if "field-log" not in names:
        usual[[name == "field-rank" for name in names]] *= 2.0
    if usual.any():
        weight = USUAL_CELLS * float(np.diag(G)[usual > 0].mean()) / len(base)
        G, b = G + weight * np.eye(len(b)), b + weight * usual / usual.sum()
    found = not_negative(G, b)
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
        before = w.copy()
        for j in range(len(b)):
            if G[j, j] > 0:
                w[j] = max(0.0, w[j] + (b[j] - G[j] @ w) / G[j, j])
        if np.abs(w - before).max() < SETTLED:
            break
    return w
