"""How good a fill of hidden cells is, column by column."""

from __future__ import annotations

import numpy as np

from defaults_peers import NormalScores
from defaults_sets import Task


def score(task: Task, numbers: np.ndarray, codes: np.ndarray) -> dict[str, dict]:
    """Scores of every column with hidden cells; the fill is as in ``Task.coded``."""
    fills = dict(zip((*task.numbers, *task.categories), (*numbers.T, *codes.T), strict=True))
    scores = {}
    for name, hidden in task.hidden.items():
        if name in task.numbers:
            scores[name] = score_numbers(task.numbers[name], hidden, fills[name][hidden])
        else:
            scores[name] = score_codes(task.categories[name][hidden], fills[name][hidden])
    return scores


def score_numbers(column: np.ndarray, hidden: np.ndarray, filled: np.ndarray) -> dict:
    """R2 about the mean of the hidden cells, and the same in normal scores of all known cells.

    A cell that was left blank counts as the mean of the seen ones.
    """
    blank = np.isnan(filled)
    filled = np.where(blank, np.nanmean(np.where(hidden, np.nan, column)), filled)
    ranks = NormalScores(column)
    return {
        "n": int(hidden.sum()),
        "blank": int(blank.sum()),
        "r2": r2(column[hidden], filled),
        "r2_rank": r2(ranks.forth(column[hidden]), ranks.forth(filled)),
    }


def r2(actual: np.ndarray, filled: np.ndarray) -> float:
    """1 - sum (actual - filled)^2 / sum (actual - mean)^2; 0 where all cells are equal."""
    spread = np.sum((actual - actual.mean()) ** 2)
    return round(1.0 - np.sum((actual - filled) ** 2) / spread, 5) if spread > 0 else 0.0


def score_codes(actual: np.ndarray, filled: np.ndarray) -> dict:
    """The share right, and that of the most frequent value; a cell left blank is wrong."""
    return {
        "n": len(actual),
        "blank": int(np.isnan(filled).sum()),
        "accuracy": round(float(np.mean((filled == actual) & (actual >= 0))), 5),
        "most_frequent": round(float(np.mean(actual == 0)), 5),
    }
