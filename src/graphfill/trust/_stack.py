"""Trees on what a run knows of a row: where columns are not related by straight lines.

A tree sees a cell through one run: the row's other columns as the run completed them, what the
run's methods predict for the cell, and how many links the node has. The run had the cell hidden,
so its value has no part in this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ._column import Floats, Rows, Target
from ._ranks import RankScale
from ._runs import Run

MOST_CELLS = 4000  # learnt from
MOST_INPUTS = 24  # of the row's other columns
OWN_INPUTS = 3  # what two methods predict, and how many links there are


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy and scikit-learn use one thread.

    Small matrices and trees are done faster so than by several that wait for each other, and the
    order of sums does not depend on the machine. Nor does scikit-learn check inputs made here.
    """
    import sklearn

    with (
        _pools().limit(limits=1),
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
    ):
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
    """Extremely randomised trees on the inputs that speak most: values, or probabilities.

    Numbers are learnt as normal scores on the column's scale of ranks.
    """

    def __init__(self, target: Target, scale: RankScale, seed: int, n_trees: int) -> None:
        self._target, self._scale, self._seed, self._n_trees = target, scale, seed, n_trees

    def fit(self, X: Floats, rows: Rows) -> Trees:
        """Learn the cells of some rows from their inputs; the last `OWN_INPUTS` are always seen."""
        from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor

        rng = np.random.default_rng([self._seed, 11])
        if len(rows) > MOST_CELLS:
            kept = np.sort(rng.choice(len(rows), MOST_CELLS, replace=False))
            X, rows = X[kept], rows[kept]
        classes = self._target.n_classes
        y = self._target.levels[rows]
        wanted = self._target.truth(rows) if classes else self._scale.scores(y)[:, None]
        self._inputs = most_related(X, wanted)
        inputs = np.ascontiguousarray(X[:, self._inputs], dtype=np.float32)
        # Codes of the classes that occur: the trees number them so.
        self._values, codes = np.unique(y, return_inverse=True)
        learner = ExtraTreeClassifier if classes else ExtraTreeRegressor
        answers = codes if classes else wanted
        self._trees = [
            learner(max_features=0.6, min_samples_leaf=2, random_state=seed)
            .fit(
                inputs, np.ascontiguousarray(answers, np.float64).reshape(-1, 1), check_input=False
            )
            .tree_
            for seed in rng.integers(2**31, size=self._n_trees).tolist()
        ]
        return self

    def predict(self, X: Floats) -> Floats:
        """[rows, width]."""
        out = np.zeros((len(X), self._target.width))
        if not len(X):
            return out
        inputs = np.ascontiguousarray(X[:, self._inputs], dtype=np.float32)
        total = sum(tree.predict(inputs).reshape(len(X), -1) for tree in self._trees)
        mean = np.asarray(total / self._n_trees, np.float64)
        if not self._target.n_classes:
            return self._scale.values(mean)
        out[:, self._values.astype(np.intp)] = mean
        return out


def most_related(X: Floats, wanted: Floats) -> Rows:
    """The inputs that correlate most with what is to be learnt, and the last few in any case."""
    Z, W = X - X.mean(axis=0), wanted - wanted.mean(axis=0)
    size = np.sqrt((Z**2).sum(axis=0))
    related = np.abs(Z.T @ W).max(axis=1) / np.where(size > 0, size, np.inf)
    first = np.argsort(-related[:-OWN_INPUTS], kind="stable")[:MOST_INPUTS]
    return np.sort(np.concatenate([first, np.arange(len(related) - OWN_INPUTS, len(related))]))


def seconds(n_cells: int, n_inputs: int, n_classes: int = 0) -> float:
    """What one tree takes, roughly; from the sizes alone, so that no clock decides a fill."""
    n_cells, n_inputs = min(n_cells, MOST_CELLS), min(n_inputs, MOST_INPUTS)
    once = 7e-4 + 1.5e-8 * n_cells * np.log2(n_cells + 1) * n_inputs
    return float(once * (1.0 + 0.05 * n_classes))
