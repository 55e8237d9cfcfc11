"""Trees on what a run knows of a row: where columns are not related by straight lines.

A tree sees a cell through one run: the row's other columns as the run completed them, what the
run's methods predict for the cell, and how many links the node has. The run had the cell hidden,
so its value has no part in this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from .. import kernels
from ._column import Floats, Rows, Target
from ._ranks import RankScale
from ._runs import Run

MOST_CELLS = 4000  # learnt from
MOST_INPUTS = 24  # of the row's other columns
TRIED = 0.6  # of the inputs, at each node
PAIRED = ("propagation", "field-rank")  # the methods whose predictions trees see


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy and scikit-learn use one thread.

    Small matrices are done faster so than by several threads that wait for each other, and the
    order of sums does not depend on the machine.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


class CellView:
    """The inputs of trees for the cells of one column; numbers by rank, on a scale of it."""

    def __init__(self, name: str, target: Target, methods: Sequence[str], degree: Floats) -> None:
        self.name, self.target, self.methods = name, target, methods
        self._degree = np.log1p(degree)[:, None]

    def of(self, run: Run, rows: Rows, scale: RankScale) -> Floats:
        """[rows, inputs], from a run that had these cells hidden."""
        guesses = [run.at(m, self.name, rows, self.target.n_classes) for m in self.methods]
        if not self.target.n_classes:
            guesses = [scale.scores(guess) for guess in guesses]
        return np.column_stack([run.other_channels(self.name, rows), *guesses, self._degree[rows]])


def predict_by_trees(
    target: Target,
    scale: RankScale,
    X: Floats,
    rows: Rows,
    asked: Floats,
    *,
    n_trees: int,
    seed: int,
) -> Floats:
    """[asked, width]: values or probabilities, from trees on the inputs X of some rows.

    Numbers are learnt as normal scores.
    """
    if len(rows) > MOST_CELLS:
        rng = np.random.default_rng([seed, 11])
        kept = np.sort(rng.choice(len(rows), MOST_CELLS, replace=False))
        X, rows = X[kept], rows[kept]
    y = target.levels[rows]
    wanted = target.truth(rows) if target.n_classes else scale.scores(y)[:, None]
    inputs = most_related(X, wanted, X.shape[1] - target.width * len(PAIRED) - 1)
    predicted = kernels.forest(
        X[:, inputs],
        y if target.n_classes else wanted[:, 0],
        asked[:, inputs],
        n_classes=target.n_classes,
        n_trees=n_trees,
        tried=max(1, round(TRIED * len(inputs))),
        least=2,
        seed=seed,
    )
    return predicted if target.n_classes else scale.values(predicted)


def most_related(X: Floats, wanted: Floats, n_others: int) -> Rows:
    """The inputs that correlate most with what is to be learnt.

    The first `n_others` are other columns; of what follows, predictions of the column itself,
    many classes are as many inputs.
    """
    Z, W = X - X.mean(axis=0), wanted - wanted.mean(axis=0)
    size = np.sqrt((Z**2).sum(axis=0))
    related = np.abs(Z.T @ W).max(axis=1) / np.where(size > 0, size, np.inf)
    first = np.argsort(-related[:n_others], kind="stable")[:MOST_INPUTS]
    own = n_others + np.argsort(-related[n_others:], kind="stable")[:MOST_INPUTS]
    return np.sort(np.concatenate([first, own]))


def seconds(n_cells: int, n_inputs: int, n_classes: int = 0) -> float:
    """What one tree takes, roughly; from the sizes alone, so that no clock decides a fill."""
    n_cells, n_inputs = min(n_cells, MOST_CELLS), min(n_inputs, MOST_INPUTS)
    once = 2e-5 + 8e-9 * n_cells * np.log2(n_cells + 1) * n_inputs
    return float(once * (1.0 + 0.05 * n_classes))
