"""The graph and a row's other columns together: learners on what both say about a cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._column import Target
from ._features import CellFeatures

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

MANY_ROWS = 50_000
MOST_CELLS = 20_000  # that a learner is trained on
MOST_OTHERS = 40  # other columns that are looked at: the most like
MOST_CLASSES = 12  # of another column that get an indicator
BLENDS = ("-linear", "-stacked", "")  # from the simplest on
FEW_CLASSES = 2  # up to here classes are boosted; beyond, trees vote


@contextmanager
def few_threads(n_rows: int) -> Iterator[None]:
    """Within this, scikit-learn uses one thread where rows are few.

    Small trees are grown faster by one thread than by several that wait for each other.
    """
    import sklearn.ensemble  # noqa: F401 - whose threads are limited next
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1 if n_rows < MANY_ROWS else None, user_api="openmp"):
        yield


@dataclass(frozen=True)
class Other:
    """What one column says about another column's cells of the same row.

    Attributes
    ----------
    levels : [rows], NaN where missing
    n_classes : 0 for a number
    propagated : [rows, width] or None
        What the graph says where the column is missing; None where it says nothing.
    """

    levels: Floats
    n_classes: int
    propagated: Floats | None

    def for_trees(self) -> tuple[Floats, list[bool]]:
        """Columns for trees, which take NaN as it is, and which of them are classes."""
        parts, classes = [self.levels[:, None]], [0 < self.n_classes <= 100]
        if self.propagated is not None:
            propagated = self.propagated[:, : self._indicators]
            parts.append(propagated)
            classes += [False] * propagated.shape[1]
        return np.column_stack(parts), classes

    @property
    def _indicators(self) -> int:
        return min(self.n_classes, MOST_CLASSES) or 1

    def for_lines(self) -> Floats:
        """Columns for linear models: the value, with a slope of its own where it is a guess."""
        missing = np.isnan(self.levels)
        target = Target(self.levels, self.n_classes)
        known = target.truth(np.arange(len(self.levels)))[:, : self._indicators]
        base = known[~missing].mean(axis=0) if (~missing).any() else np.zeros(known.shape[1])
        if self.propagated is None:
            guess = np.broadcast_to(base, known.shape)
        else:
            guess = self.propagated[:, : known.shape[1]]
        value = np.where(missing[:, None], guess, known)
        parts = [value, np.where(missing[:, None], guess, 0.0), missing[:, None].astype(float)]
        if self.propagated is not None:
            parts.append(guess)
        return np.column_stack(parts)


class LearnerInput:
    """All that a learner sees of a cell: features from the graph, and the row's other columns."""

    def __init__(self, others: Sequence[Other], degree: Floats, use_graph: bool) -> None:
        self._use_graph = use_graph
        trees = [other.for_trees() for other in others]
        n_rows = len(degree)
        self._trees = np.column_stack([np.empty((n_rows, 0)), *(part for part, _ in trees)])
        self._classes = [flag for _, flags in trees for flag in flags]
        lines = (other.for_lines() for other in others)
        self._lines = np.column_stack([np.empty((n_rows, 0)), *lines])
        self._degree = np.log1p(degree)[:, None]

    def trees(self, features: CellFeatures) -> Floats:
        parts = [self._trees[features.rows]]
        if self._use_graph:
            parts += [
                features.propagated,
                features.neighbours,
                features.surroundings,
                self._degree[features.rows],
            ]
        return np.column_stack(parts)

    def lines(self, features: CellFeatures) -> Floats:
        parts = [self._lines[features.rows]]
        if self._use_graph:
            propagated = features.propagated
            around = np.where(np.isnan(features.neighbours), propagated, features.neighbours)
            parts += [propagated, around, self._degree[features.rows]]
        return np.column_stack(parts)

    def classes(self, width: int) -> list[bool]:
        """Which columns of `trees` are classes, `width` being that of all."""
        return self._classes + [False] * (width - len(self._classes))


class Learner:
    """Boosted trees and a linear model, blended.

    Numbers: a ridge regression ("-linear"), trees on what it leaves over ("-stacked"), which follow
    straight lines beyond what was seen and bends within, and a blend of both with trees alone
    (""). Classes: trees, and for two classes a logistic regression beside them.
    """

    def __init__(self, target: Target, inputs: LearnerInput, seed: int) -> None:
        self._target, self._inputs, self._seed = target, inputs, seed

    def fit(self, features: Sequence[CellFeatures]) -> Learner:
        """Learn from cells, each by features that did not involve it."""
        rng = np.random.default_rng([self._seed, 5])
        rows = np.concatenate([part.rows for part in features])
        trees = np.concatenate([self._inputs.trees(part) for part in features])
        lines = np.concatenate([self._inputs.lines(part) for part in features])
        if len(rows) > MOST_CELLS:
            kept = np.sort(rng.choice(len(rows), MOST_CELLS, replace=False))
            rows, trees, lines = rows[kept], trees[kept], lines[kept]
        y = self._target.levels[rows]
        self._centre, self._scale = lines.mean(axis=0), lines.std(axis=0)
        self._scale[self._scale == 0] = 1.0
        lines = (lines - self._centre) / self._scale
        if self._target.n_classes:
            self._fit_classes(trees, lines, y)
        else:
            self._fit_numbers(trees, lines, y)
        return self

    def predict(self, features: CellFeatures) -> dict[str, Floats]:
        """[rows, width] by blend: the values, or the probability of each class."""
        trees = self._inputs.trees(features)
        lines = (self._inputs.lines(features) - self._centre) / self._scale
        if self._target.n_classes:
            total = np.zeros((len(trees), self._target.n_classes))
            for model, seen in zip(self._models, (trees, lines), strict=False):
                seen = np.nan_to_num(seen) if self._vote else seen
                total[:, model.classes_.astype(int)] += model.predict_proba(seen)
            total[:, self._only] += not self._models
            return {"": total / max(1, len(self._models))}
        straight = self._line.predict(lines)
        bent = self._trees.predict(trees)
        both = straight + self._rest.predict(trees)
        blends = {
            "-linear": straight,
            "-stacked": both,
            "": 0.2 * straight + 0.4 * bent + 0.4 * both,
        }
        return {name: np.clip(blend, *self._range)[:, None] for name, blend in blends.items()}

    def _fit_numbers(self, trees: Floats, lines: Floats, y: Floats) -> None:
        from sklearn.linear_model import RidgeCV

        self._range = float(y.min()), float(y.max())
        self._line = RidgeCV(alphas=np.logspace(-1, 4, 11)).fit(lines, y)
        self._trees = self._booster(trees).fit(trees, y)
        self._rest = self._booster(trees).fit(trees, y - self._line.predict(lines))

    def _booster(self, trees: Floats) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            max_iter=80,
            learning_rate=0.1,
            max_leaf_nodes=15,
            l2_regularization=1.0,
            early_stopping=False,
            categorical_features=self._inputs.classes(trees.shape[1]),
            random_state=self._seed,
        )

    def _fit_classes(self, trees: Floats, lines: Floats, y: Floats) -> None:
        from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression

        self._vote = self._target.n_classes > FEW_CLASSES
        self._only, self._models = int(y[0]), []
        if (y == y[0]).all():  # nothing to tell apart
            return
        if self._vote:
            forest = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=self._seed)
            self._models = [forest.fit(np.nan_to_num(trees), y)]
            return
        boosted = HistGradientBoostingClassifier(
            max_iter=60,
            learning_rate=0.08,
            max_leaf_nodes=15,
            l2_regularization=1.0,
            early_stopping=False,
            categorical_features=self._inputs.classes(trees.shape[1]),
            random_state=self._seed,
        )
        logistic = LogisticRegression(C=0.3, max_iter=300)
        self._models = [boosted.fit(trees, y), logistic.fit(lines, y)]
