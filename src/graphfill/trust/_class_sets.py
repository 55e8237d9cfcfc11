"""How sure a filled class is: its probability, and the set of classes that holds the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._assessment import Assessment

Floats = NDArray[np.float64]

BINS = 10


@dataclass(frozen=True)
class ClassSets:
    """Probabilities of the values chosen for the missing cells of a column of classes.

    Attributes
    ----------
    probability : [missing]
    sets : [missing, classes]
        Classes that are in the set which holds the truth at the level asked for.
    coverage : float
        Share of held-out cells whose set, made without their fold, holds the truth.
    error : float
        Mean difference between probability and share right, over bins of held-out cells.
    calibration : per bin, the mean probability, the share right and the number of cells
    """

    probability: Floats
    sets: NDArray[np.bool_]
    coverage: float
    error: float
    calibration: list[dict[str, float]]


def class_sets(
    assessment: Assessment,
    filled: Floats,
    level: float,
    unreached: NDArray[np.bool_] | None = None,
) -> ClassSets:
    """Probabilities as sure as the held-out cells were right, and sets that hold the truth.

    `filled` holds the predicted probabilities of the missing cells, [missing, classes].

    No held-out cell is like one that nothing known is connected to (`unreached`, [missing]): what
    holds for such a cell is how frequent each class is, unless the row's other columns speak for
    it as they do for any other.
    """
    from sklearn.isotonic import IsotonicRegression

    truth = assessment.target.levels[assessment.rows].astype(np.intp)
    fold = assessment.fold_numbers
    sure, right = assessment.held_out.max(axis=1), assessment.held_out.argmax(axis=1) == truth
    # The likeliest of k classes has a chance of 1 / k at least, and none is certain.
    least = 1.0 / max(2, assessment.held_out.shape[1])
    most = 1.0 - 1.0 / (len(sure) + 2)
    calibrate = IsotonicRegression(y_min=least, y_max=most, out_of_bounds="clip")
    honest = np.empty(len(sure))
    for number in range(len(assessment.folds)):
        part = fold == number
        honest[part] = calibrate.fit(sure[~part], right[~part]).predict(sure[part])
    bins = _reliability(honest, right)
    error = sum(row["n"] * abs(row["confidence"] - row["accuracy"]) for row in bins) / len(sure)
    calibrate.fit(sure, right)
    given = assessment.held_out[np.arange(len(truth)), truth]
    held = np.zeros(len(truth), dtype=bool)
    for number in range(len(assessment.folds)):
        part = fold == number
        held[part] = given[part] >= _least(given[~part], level)
    sets = filled >= _least(given, level)
    chosen = filled.argmax(axis=1)
    probability = calibrate.predict(filled.max(axis=1)) if len(chosen) else np.empty(0)
    if unreached is not None and assessment.row_speaks is not None:
        unreached = unreached & ~assessment.row_speaks
    if unreached is not None and unreached.any():
        share = np.bincount(truth, minlength=sets.shape[1]) / len(truth)
        probability[unreached] = share[chosen[unreached]]
        sets[unreached] = _most_frequent(share, level)
    sets[np.arange(len(sets)), chosen] = True  # never empty
    return ClassSets(
        probability,
        sets,
        float(held.mean()),
        float(error),
        bins,
    )


def _most_frequent(share: Floats, level: float) -> NDArray[np.bool_]:
    """The fewest classes that hold a share `level` of the cells.

    Examples
    --------
    >>> _most_frequent(np.array([0.2, 0.5, 0.3]), 0.75)
    array([False,  True,  True])
    """
    order = np.argsort(-share, kind="stable")
    before = np.cumsum(share[order]) - share[order]
    chosen = np.zeros(len(share), dtype=bool)
    chosen[order[before < level - 1e-12]] = True
    return chosen


def _least(given: Floats, level: float) -> float:
    """The probability that a share `level` of the truths were given at least."""
    rank = int(np.floor((len(given) + 1) * (1.0 - level)))
    return float(np.sort(given)[rank - 1]) if rank >= 1 else 0.0


def _reliability(sure: Floats, right: NDArray[np.bool_]) -> list[dict[str, float]]:
    """Cells in bins of equal size by how sure they are: how sure, and how many right."""
    order = np.argsort(sure, kind="stable")
    return [
        {
            "confidence": float(sure[part].mean()),
            "accuracy": float(right[part].mean()),
            "n": len(part),
        }
        for part in np.array_split(order, min(BINS, max(1, len(order) // 20)))
        if len(part)
    ]
