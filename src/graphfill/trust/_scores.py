"""How good predictions are, on cells whose truth is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._column import Target
from ._options import VARIANTS
from ._ranks import RankScale

Floats = NDArray[np.float64]

CLEARLY = 2.0  # standard errors


def losses(target: Target, rows: NDArray[np.intp], predicted: Floats) -> Floats:
    """What a prediction costs, cell by cell.

    Of a number the squared error, half by value and half by rank (normal scores), each as a share
    of what the mean costs: outliers alone decide nothing, nor is their size forgotten. Of a class,
    half that it is wrong and half the squared error of its probabilities.
    """
    if target.n_classes:
        wrong = predicted.argmax(axis=1) != target.levels[rows]
        unsure = ((predicted - target.truth(rows)) ** 2).sum(axis=1) / 2
        return np.asarray((wrong + unsure) / 2, np.float64)
    truth = target.levels[rows]
    scale = RankScale(target.levels[target.known])
    by_value = (predicted[:, 0] - truth) ** 2
    by_rank = (scale.scores(predicted[:, 0]) - scale.scores(truth)) ** 2
    return (by_value / _spread(truth) + by_rank / _spread(scale.scores(truth))) / 2


def _spread(cells: Floats) -> float:
    """Their variance; 1 where they are all equal."""
    return float(np.var(cells)) or 1.0


def score(
    target: Target, rows: NDArray[np.intp], predicted: Floats, unit: float = 1.0
) -> dict[str, float]:
    """Scores by name: MAE, RMSE and R2 of numbers; accuracy, macro F1 and log-loss of classes.

    Parameters
    ----------
    predicted : [rows, width]
        Values, or probabilities of classes.
    unit : float
        What one level is worth in the column's own units.

    Examples
    --------
    >>> score(Target(np.array([0.0, 2.0]), 0), np.arange(2), np.array([[0.0], [1.0]]))
    {'mae': 0.5, 'rmse': 0.7071067811865476, 'r2': 0.5}
    """
    truth = target.levels[rows]
    if not target.n_classes:
        error = predicted[:, 0] - truth
        spread = float(np.mean((truth - truth.mean()) ** 2))
        return {
            "mae": float(np.abs(error).mean()) * unit,
            "rmse": float(np.sqrt(np.mean(error**2))) * unit,
            "r2": 1.0 - float(np.mean(error**2)) / spread if spread else 0.0,
        }
    chosen = predicted.argmax(axis=1)
    sure = np.clip(predicted[np.arange(len(rows)), truth.astype(int)], 1e-6, 1.0)
    return {
        "accuracy": float(np.mean(chosen == truth)),
        "f1": _macro_f1(truth.astype(int), chosen),
        "log_loss": float(-np.log(sure).mean()),
    }


def _macro_f1(truth: NDArray[np.int64], chosen: NDArray[np.int64]) -> float:
    """Mean over the classes that occur of 2 right / (true + chosen)."""
    size = int(max(truth.max(), chosen.max())) + 1
    true, picked = np.bincount(truth, minlength=size), np.bincount(chosen, minlength=size)
    right = np.bincount(truth[truth == chosen], minlength=size)
    occurs = true + picked > 0
    return float(np.mean(2 * right[occurs] / (true + picked)[occurs]))


def choose(costs: dict[str, Floats]) -> tuple[str, str]:
    """The method to use, and why.

    It is the best on held-out cells, or a simpler one that is as good but for noise. Rather than
    one that has learnt from other columns it is a blend, unless that is clearly worse: what is best
    by a little on few cells is not always so on others, and a blend is rarely far off.

    Parameters
    ----------
    costs : by method, from the simplest on: the loss of each held-out cell
    """
    chosen, why = _best_or_simpler(costs)
    if chosen in ("blend", "mean", "neighbors", *VARIANTS) or "blend" not in costs:
        return chosen, why
    worse = costs["blend"] - costs[chosen]
    if worse.mean() > CLEARLY * worse.std() / np.sqrt(len(worse)):
        return chosen, why
    return "blend", "no method alone is clearly better"


def _best_or_simpler(costs: dict[str, Floats]) -> tuple[str, str]:
    means = {name: float(cost.mean()) for name, cost in costs.items()}
    best = min(means, key=means.__getitem__)
    for name, cost in costs.items():
        if name == best:
            break
        worse = cost - costs[best]
        noise = float(worse.std()) / np.sqrt(len(worse))
        more = (means[name] - means[best]) / means[best] if means[best] else np.inf
        if more <= 0.001 or (more <= 0.01 and more * means[best] <= noise):
            return name, f"as good as {best} within noise, and simpler"
    others = sorted((mean, name) for name, mean in means.items() if name != best)
    if not others:
        return best, "there is no other to compare with"
    mean, runner_up = others[0]
    gain = 1.0 - means[best] / mean if mean else 0.0
    below = f"{gain:.0%}" if gain >= 0.005 else "less than 1%"
    return best, f"its error on held-out cells is {below} below that of {runner_up}, the next"
