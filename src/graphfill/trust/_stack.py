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

from .. import kernels
from ._column import Floats, Rows, Target
from ._ranks import RankScale
from ._runs import Run

MOST_CELLS = 4000  # learnt from
MOST_INPUTS = 24  # of the row's other columns
TRIED = 0.6  # of the inputs, at each node
MANY_KNOWN = 5000  # cells of a column, from which on trees are boosted as well
MOST_BOOSTED = 20_000, 8  # cells learnt from, and classes
SHARES = (0.0, 0.5, 1.0)  # of boosted trees in a prediction
BOOSTING: dict[str, Any] = {"max_iter": 50, "learning_rate": 0.15, "early_stopping": False}
PAIRED = ("propagation", "field-rank")  # the methods whose predictions trees see


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy and scikit-learn use one thread.

    Small matrices are done faster so than by several threads that wait for each other, and the
    order of sums does not depend on the machine.
    """
    with _pools().limit(limits=1):
        yield


@cache
def _pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


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
    """Trees on the cells of a column: values, or probabilities of classes.

    Extremely randomised trees learn numbers as normal scores, on a scale of ranks. Boosted trees,
    which a column of many cells has as well, learn values. Both grow when they are asked, from the
    inputs and levels that are remembered.

    Attributes
    ----------
    share : of boosted trees in a prediction
    """

    def __init__(
        self, target: Target, scale: RankScale, seed: int, n_trees: int, share: float = 0.0
    ) -> None:
        self.target, self.scale = target, scale
        self._seed, self.n_trees, self.share = seed, n_trees, share

    def fit(self, X: Floats, rows: Rows) -> Trees:
        """Learn the cells of some rows from their inputs."""
        most = MOST_BOOSTED[0] if self.share else MOST_CELLS
        return self.fit_inputs(*self._some(X, self.target.levels[rows], most))

    def fit_inputs(self, X: Floats, y: Floats) -> Trees:
        """Learn levels of cells from their inputs."""
        self.inputs = X, y
        return self

    def predict(self, asked: Floats) -> Floats:
        """[asked, width]."""
        if self.share in (0.0, 1.0):
            return self.boosted(asked) if self.share else self.randomised(asked)
        return (1.0 - self.share) * self.randomised(asked) + self.share * self.boosted(asked)

    def randomised(self, asked: Floats) -> Floats:
        """What extremely randomised trees predict, [asked, width]."""
        (X, y), n_classes = self._some(*self.inputs, MOST_CELLS), self.target.n_classes
        related = self._related(X, y)
        predicted = kernels.forest(
            X[:, related],
            y if n_classes else self.scale.scores(y),
            asked[:, related],
            n_classes=n_classes,
            n_trees=self.n_trees,
            tried=max(1, round(TRIED * len(related))),
            least=2,
            seed=self._seed,
        )
        return predicted if n_classes else self.scale.values(predicted)

    def boosted(self, asked: Floats) -> Floats:
        """What boosted trees predict, [asked, width]."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        (X, y), n_classes = self.inputs, self.target.n_classes
        if not len(asked) or np.ptp(y) == 0.0:
            return self.randomised(asked)
        related = self._related(X, y)
        X, asked = X[:, related], asked[:, related]
        with threadpool_limits(limits=1):
            if n_classes:
                chooser = HistGradientBoostingClassifier(**BOOSTING).fit(X, y)
                probabilities = np.zeros((len(asked), n_classes))
                probabilities[:, chooser.classes_.astype(int)] = chooser.predict_proba(asked)
                return probabilities
            centre, spread = y.mean(), y.std()
            model = HistGradientBoostingRegressor(**BOOSTING).fit(X, (y - centre) / spread)
            return np.asarray(centre + spread * model.predict(asked)[:, None])

    def _related(self, X: Floats, y: Floats) -> Rows:
        """The inputs to learn from."""
        if self.target.n_classes:
            wanted = np.equal(y[:, None], np.arange(self.target.n_classes)).astype(np.float64)
        else:
            wanted = self.scale.scores(y)[:, None]
        return most_related(X, wanted, X.shape[1] - self.target.width * len(PAIRED) - 1)

    def _some(self, X: Floats, y: Floats, most: int) -> tuple[Floats, Floats]:
        """At most so many cells, drawn at random."""
        if len(y) <= most:
            return X, y
        rng = np.random.default_rng([self._seed, 11])
        kept = np.sort(rng.choice(len(y), most, replace=False))
        return X[kept], y[kept]


def are_boosted(target: Target) -> bool:
    """Whether a column has cells enough for boosted trees, and not too many classes."""
    return len(target.known) >= MANY_KNOWN and target.n_classes <= MOST_BOOSTED[1]


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
    """What a randomised tree takes, roughly; from sizes alone, so that no clock decides a fill."""
    n_cells, n_inputs = min(n_cells, MOST_CELLS), min(n_inputs, MOST_INPUTS)
    once = 2e-5 + 8e-9 * n_cells * np.log2(n_cells + 1) * n_inputs
    return float(once * (1.0 + 0.05 * n_classes))


def boosted_seconds(target: Target, n_cells: int, n_inputs: int) -> float:
    """What boosted trees take, roughly."""
    n_cells, n_inputs = min(n_cells, MOST_BOOSTED[0]), min(n_inputs, MOST_INPUTS)
    once = 0.04 + 1.5e-3 * n_inputs + 3e-7 * n_cells * n_inputs
    return once * (target.n_classes if target.n_classes > 2 else 1)
