"""Trees on what a run knows of a row: where columns are not related by straight lines.

A tree sees a cell through one run: the row's other columns as the run completed them, what the
run's methods predict for the cell, and how many links the node has. The run had the cell hidden,
so its value has no part in this.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ._column import Floats, Rows, Target
from ._runs import Run

MOST_CELLS = 4000  # learnt from
ROUNDS = 40


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy and scikit-learn use one thread.

    Small matrices and trees are done faster so than by several that wait for each other, and the
    order of sums does not depend on the machine.
    """
    with _pools().limit(limits=1):
        yield


@cache
def _pools() -> Any:
    import sklearn.ensemble  # noqa: F401 - whose threads are limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class CellView:
    """The inputs of trees for the cells of one column."""

    def __init__(self, name: str, target: Target, methods: Sequence[str], degree: Floats) -> None:
        self.name, self.target, self.methods = name, target, methods
        self._degree = np.log1p(degree)[:, None]

    def of(self, run: Run, rows: Rows) -> Floats:
        """[rows, inputs], from a run that had these cells hidden."""
        guesses = [run.at(m, self.name, rows, self.target.n_classes) for m in self.methods]
        return np.column_stack([run.other_channels(self.name, rows), *guesses, self._degree[rows]])

    def groups(self, run: Run) -> list[tuple[str, str, int]]:
        """What the inputs are, in turn: "column", "method" or "links", a name, how many inputs."""
        columns = [
            ("column", name, place.stop - place.start)
            for name, place in run.places.items()
            if name != self.name
        ]
        methods = [("method", method, self.target.width) for method in self.methods]
        return [*columns, *methods, ("links", "", 1)]


class Trees:
    """Boosted trees (a forest for three classes and more): values, or probabilities of classes."""

    def __init__(self, target: Target, seed: int, rounds: int = ROUNDS) -> None:
        self._target, self._seed, self._rounds = target, seed, rounds

    def fit(self, X: Floats, rows: Rows, most_cells: int = MOST_CELLS) -> Trees:
        rng = np.random.default_rng([self._seed, 11])
        if len(rows) > most_cells:
            kept = np.sort(rng.choice(len(rows), most_cells, replace=False))
            X, rows = X[kept], rows[kept]
        y = self._target.levels[rows]
        self._range = float(y.min()), float(y.max())
        self._model = None
        if self._range[0] < self._range[1]:
            with warnings.catch_warnings():
                # Classes may be many: they are classes all the same.
                warnings.filterwarnings("ignore", "The number of unique classes")
                self._model = self._new(len(y)).fit(X, y)
        return self

    def predict(self, X: Floats) -> Floats:
        """[rows, width]."""
        if not len(X):
            return np.empty((0, self._target.width))
        if not self._target.n_classes:
            if self._model is None:
                return np.full((len(X), 1), self._range[0])
            return np.asarray(np.clip(self._model.predict(X), *self._range))[:, None]
        out = np.zeros((len(X), self._target.n_classes))
        if self._model is None:
            out[:, int(self._range[0])] = 1.0
        else:
            out[:, self._model.classes_.astype(np.intp)] = self._model.predict_proba(X)
        return out

    def _new(self, n_cells: int) -> Any:
        from sklearn.ensemble import (
            ExtraTreesClassifier,
            HistGradientBoostingClassifier,
            HistGradientBoostingRegressor,
        )

        if self._target.n_classes > 2:
            return ExtraTreesClassifier(self._rounds, min_samples_leaf=2, random_state=self._seed)
        boosted = HistGradientBoostingRegressor
        if self._target.n_classes:
            boosted = HistGradientBoostingClassifier
        return boosted(
            max_iter=self._rounds,
            learning_rate=0.1,
            max_leaf_nodes=8,
            max_features=0.3,
            min_samples_leaf=int(np.clip(n_cells // 20, 3, 20)),
            l2_regularization=1.0,
            early_stopping=False,
            random_state=self._seed,
        )


def seconds(n_cells: int, n_inputs: int, n_classes: int = 0) -> float:
    """What one fit takes, roughly; from the sizes alone, so that no clock decides a fill."""
    once = 0.03 + 4e-7 * min(n_cells, MOST_CELLS) * n_inputs
    return once * (3.0 if n_classes > 2 else 1.0)
