"""How well each method fills each column, seen on known cells held out.

The known cells of a column are cut into folds. Each fold is predicted with all of it hidden, by
every method, so that a cell's own value has no part in its prediction: the features of the cell,
the cells a learner was trained on and the features of those are all made without it.

    fold k hidden        features of the cells of fold k             -> predictions of fold k
    fold k and part j    features of the cells of part j of the rest -> what the learner learns from

A method without a learner is scored by filling the column with the fold hidden, through the call
that fills the table. What learners fill in is learnt from all known cells, the folds being the
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ._channels import Recipe, Solve, Solved, fill_channels
from ._column import FillableColumn, Floats, Recorded, Rows, Target, mask_of
from ._features import CellFeatures, cell_features
from ._folds import draw_folds, number_of
from ._learner import BLENDS, MOST_OTHERS, Learner, LearnerInput, Other, few_threads
from ._options import LEARNT, FillOptions
from ._scores import choose, losses, score

FEWEST_KNOWN = 50  # with fewer, nothing is held out and the graph is relied on
FEWEST_TOGETHER = 20  # the same where all columns are compared at once
FEW_KNOWN = 2000
MOST_CLASSES = 100  # beyond, a column is neither learnt nor learnt from
# From the simplest on. Learners look at the other columns ("columns"), or at the graph too.
LEARNERS = tuple(f"{what}{how}" for what in ("columns", "hybrid") for how in BLENDS)


@dataclass(frozen=True)
class Candidates:
    """The methods to compare on every column.

    Attributes
    ----------
    recipes : the methods that need no learner, from the simplest on
    propagation : the recipe behind the features of cells
    learners : those that do
    choice : the one to use; by default the best
    seed : for what is drawn
    for_bounds : whether the features of cells are wanted for bounds
    """

    recipes: Mapping[str, Recipe]
    propagation: Recipe
    learners: Sequence[str] = LEARNERS
    choice: str | None = None
    seed: int = 0
    for_bounds: bool = False

    def of(self, target: Target, informative: bool) -> list[str]:
        """The methods worth trying on a column."""
        return [
            name
            for name in (*self.recipes, *self.learners)
            if name == self.choice or _makes_sense(name, target, informative)
        ]


def _makes_sense(method: str, target: Target, informative: bool) -> bool:
    if method in LEARNERS:
        learns_graph = method.startswith("hybrid")
        blended = method in ("columns", "hybrid") or not target.n_classes
        return learns_graph == informative and blended and target.n_classes <= MOST_CLASSES
    return informative or method == "mean"


def candidates_of(options: FillOptions, solve: Solve) -> Candidates:
    """The methods to compare, by the one that was asked for."""
    recipes = options.recipes(solve)
    learners: tuple[str, ...] = LEARNERS if options.method in LEARNT else ()
    propagation = recipes["propagation"]
    if options.method == "hybrid":
        recipes = {"mean": recipes["mean"]}
    return Candidates(
        recipes,
        propagation,
        learners,
        None if options.method in LEARNT else options.method,
        options.seed,
        options.intervals is not None,
    )


@dataclass
class Assessment:
    """What was found out about one column.

    Attributes
    ----------
    target : Target
    unit : float
        What one level is worth in the column's own units.
    chosen, why : the method, and a clause
    scores : per method, on held-out cells
    folds : the rows of each fold
    held_out : [known, width], fold after fold: predictions by the chosen method
    known_features, missing_features : of the held-out and of the missing cells, where wanted
    learnt : [missing, width] by learner: what it predicts
    solved : how far the propagation behind the learners' features converged
    parts : of a blend, the weight of each method
    """

    target: Target
    unit: float
    chosen: str
    why: str
    scores: list[dict[str, Any]]
    folds: list[Rows]
    held_out: Floats
    known_features: list[CellFeatures] = field(default_factory=list, repr=False)
    missing_features: CellFeatures | None = field(default=None, repr=False)
    learnt: dict[str, Floats] = field(default_factory=dict, repr=False)
    solved: Solved = field(default_factory=Solved, repr=False)
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def n_held_out(self) -> int:
        return len(self.held_out)

    @property
    def explained(self) -> float:
        """Share of the held-out variance explained, or of the most frequent value's mistakes."""
        scores = {score["method"]: score for score in self.scores}
        chosen, plain = scores[self.chosen], scores.get("mean", {"accuracy": 0.0})
        if "r2" in chosen:
            return float(chosen["r2"])
        wrong = 1.0 - plain["accuracy"]
        return float((chosen["accuracy"] - plain["accuracy"]) / wrong) if wrong else 0.0

    @property
    def rows(self) -> Rows:
        """The held-out cells, fold after fold."""
        return np.concatenate(self.folds)

    @property
    def fold_numbers(self) -> NDArray[np.intp]:
        """The fold of each of them."""
        return np.repeat(np.arange(len(self.folds)), [len(fold) for fold in self.folds])


def assess(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    informative: Mapping[str, bool],
    candidates: Candidates,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Assessment]:
    """Score the methods on each wanted column, and learn what its missing cells are if one learns.

    Parameters
    ----------
    columns : all columns of the table that have channels, by name
    wanted : those to assess; one with fewer than `FEWEST_KNOWN` known cells is left out
    informative : by column, whether neighbours agree in it; where they do not, the graph is not
        looked at
    """
    learns = bool(candidates.learners)
    others = _others(columns, graph, informative, candidates) if learns else {}
    assessments = {}
    for name in wanted:
        target = Target.of(columns[name])
        if len(target.known) >= FEWEST_KNOWN:
            inputs = _inputs(name, others, graph, informative[name]) if learns else None
            one = _Column(columns[name], target, graph, inputs, candidates, informative[name])
            with few_threads(len(target.levels)) if learns else nullcontext():
                assessments[name] = one.assess()
        progress(1.0 / len(wanted))
    return assessments


def n_folds(n_known: int) -> int:
    """More folds where there are few cells, so that little is hidden at a time."""
    return 10 if n_known < FEW_KNOWN else 5


def n_parts(n_known: int) -> int:
    """Of what is not in a fold, to learn from; as many as folds where that is quick."""
    return 10 if n_known < FEW_KNOWN else 3


class _Column:
    """One column being assessed."""

    def __init__(
        self,
        column: FillableColumn,
        target: Target,
        graph: Graph,
        inputs: LearnerInput | None,
        candidates: Candidates,
        informative: bool,
    ) -> None:
        self.column, self.graph, self.inputs, self.candidates = column, graph, inputs, candidates
        self.own, self.by_name, self.place = target, *_by_name(column, target)
        self.methods = candidates.of(target, informative)
        self.key = [candidates.seed, 6, number_of(column.name)]
        self.folds = draw_folds(target.known, n_folds(len(target.known)), self.key)
        self.solved = Solved()

    def assess(self) -> Assessment:
        candidates, target = self.candidates, self.own
        learners = [name for name in self.methods if name in candidates.learners]
        outer: list[CellFeatures] = []
        final = None
        if learners or candidates.for_bounds:
            nothing = np.empty(0, dtype=np.intp)
            *outer, final = self._features(
                [*self.folds, nothing], [*self.folds, target.missing], self.solved
            )
        held_out = {
            name: self._filled(candidates.recipes[name])
            for name in self.methods
            if name in candidates.recipes
        }
        if learners:
            held_out |= self._learnt_by_fold(learners, outer)
        held_out = {name: held_out[name] for name in self.methods}
        rows = np.concatenate(self.folds)
        costs = {name: losses(target, rows, held_out[name]) for name in self.methods}
        chosen, why = candidates.choice, "as asked for"
        if chosen is None:
            chosen, why = choose(costs)
        learnt = {}
        if learners and final is not None:
            learner = self._learner(outer)
            learnt = {name: self._predict(learner, final, name) for name in learners}
        unit = self.column.unit
        return Assessment(
            target,
            unit,
            chosen,
            why,
            [{"method": m} | score(target, rows, held_out[m], unit) for m in self.methods],
            self.folds,
            held_out[chosen],
            outer,
            final,
            learnt,
            self.solved,
        )

    def _features(
        self, hidden: Sequence[Rows], asked: Sequence[Rows], solved: Solved | None = None
    ) -> list[CellFeatures]:
        recipe = self.candidates.propagation
        return cell_features(self.by_name, self.graph, recipe, hidden, asked, solved)

    def _filled(self, recipe: Recipe) -> Floats:
        """Each fold filled with all of it hidden, by the call that fills the table."""
        n_rows = len(self.own.levels)
        hidden = [Recorded(self.column.hide(mask_of(fold, n_rows))) for fold in self.folds]
        fill_channels(hidden, self.graph, recipe)
        predicted = [
            column.at(fold, self.own.n_classes)
            for column, fold in zip(hidden, self.folds, strict=True)
        ]
        return np.concatenate(predicted)

    def _learnt_by_fold(
        self, learners: Sequence[str], outer: Sequence[CellFeatures]
    ) -> dict[str, Floats]:
        """The predictions of each fold by learners that learnt from the others."""
        predicted: dict[str, list[Floats]] = {name: [] for name in learners}
        known = self.own.known
        for number, (hidden, features) in enumerate(zip(self.folds, outer, strict=True)):
            rest = np.setdiff1d(known, hidden, assume_unique=True)
            parts = draw_folds(rest, n_parts(len(known)), [*self.key, number])
            both = [np.union1d(hidden, part) for part in parts]
            learner = self._learner(self._features(both, parts))
            for name in learners:
                predicted[name].append(self._predict(learner, features, name))
        return {name: np.concatenate(values) for name, values in predicted.items()}

    def _learner(self, features: Sequence[CellFeatures]) -> Learner:
        assert self.inputs is not None
        return Learner(self.by_name, self.inputs, self.key[0]).fit(features)

    def _predict(self, learner: Learner, features: CellFeatures, name: str) -> Floats:
        blend = name.removeprefix("columns").removeprefix("hybrid")
        return learner.predict(features)[blend][:, self.place]


def _by_name(column: FillableColumn, target: Target) -> tuple[Target, Rows]:
    """The column with its classes numbered by name, and where each of its own is found.

    Its own numbers go by frequency, in which every cell has a part.
    """
    if not target.n_classes:
        return target, np.zeros(1, dtype=np.intp)
    names = [str(name) for name in column.named(np.arange(target.n_classes, dtype=np.float64))]
    place = np.argsort(np.argsort(names, kind="stable"), kind="stable")
    levels = target.levels.copy()
    levels[target.known] = place[levels[target.known].astype(np.intp)]
    return Target(levels, target.n_classes), place


# -- other columns --


def _others(
    columns: Mapping[str, FillableColumn],
    graph: Graph,
    informative: Mapping[str, bool],
    candidates: Candidates,
) -> dict[str, Other]:
    """Every column as what it says about the others, in the order of their names."""
    recipe = candidates.propagation
    others = {}
    for name in sorted(columns, key=str):
        target = Target.of(columns[name])
        if not len(target.known) or target.n_classes > MOST_CLASSES:
            continue
        propagated = None
        if informative[name]:
            rows = np.arange(len(target.levels))
            nothing = np.empty(0, dtype=np.intp)
            (features,) = cell_features(target, graph, recipe, [nothing], [rows])
            propagated = features.propagated
        others[name] = Other(target.levels, target.n_classes, propagated)
    return others


def _inputs(name: str, others: Mapping[str, Other], graph: Graph, use_graph: bool) -> LearnerInput:
    rest = [other for other_name, other in others.items() if other_name != name]
    if len(rest) > MOST_OTHERS:
        own = others[name].levels if name in others else np.zeros(graph.n_nodes)
        rest.sort(key=lambda other: -_likeness(own, other.levels))
        rest = rest[:MOST_OTHERS]
    n_rows = len(rest[0].levels) if rest else len(others[name].levels)
    return LearnerInput(rest, np.diff(graph.indptr)[:n_rows].astype(np.float64), use_graph)


def _likeness(one: Floats, other: Floats) -> float:
    """Absolute correlation where both are known."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 3 or one[both].std() == 0 or other[both].std() == 0:
        return 0.0
    return float(abs(np.corrcoef(one[both], other[both])[0, 1]))
