"""How far each method can be trusted with each column, seen on known cells held out.

The known cells of a column are cut into folds. Each fold is predicted with all of it hidden, by
every method, so that a cell's own value has no part in its prediction: the clues about it, the
cells a learner was trained on and the clues about those are all made without it.

    fold k hidden        clues about the cells of fold k            -> predictions of fold k
    fold k and part j    clues about the cells of part j of the rest -> what the learner learns from

What is filled in is learnt in the same way from all known cells, the folds being the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph._graph import Graph
from ._features import VARIANTS, Clues, Levelled, Target, Variants, look
from ._folds import draw_folds, number_of
from ._learner import BLENDS, MOST_OTHERS, Features, Learner, Other, few_threads
from ._reliance import HeldOut
from ._scores import choose, losses, score

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

FEWEST_KNOWN = 50  # with fewer, nothing is held out and the graph is taken at its word
FEW_KNOWN = 2000
MOST_CLASSES = 100  # beyond, a column is neither learnt nor learnt from
# From the simplest on. Learners look at the other columns ("columns"), or at the graph too.
LEARNERS = tuple(f"{what}{how}" for what in ("columns", "hybrid") for how in BLENDS)
METHODS = ("mean", "neighbors", *VARIANTS, *LEARNERS)


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
    folds : the clues about each fold, which was hidden for them
    held_out : [known, width], fold after fold: predictions by the chosen method
    final : clues about the missing cells
    filled : [missing, width]: predictions by the chosen method
    alternatives : the same by every method, if asked for
    """

    target: Target
    unit: float
    chosen: str
    why: str
    scores: list[dict[str, Any]]
    folds: list[Clues]
    held_out: Floats
    final: Clues
    filled: Floats
    alternatives: dict[str, Floats] = field(default_factory=dict, repr=False)
    n_held_out: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_held_out = len(self.held_out)

    @property
    def rows(self) -> Rows:
        """The held-out cells, fold after fold."""
        return np.concatenate([clues.rows for clues in self.folds])


def assess(
    columns: Mapping[str, Levelled],
    wanted: Sequence[str],
    graph: Graph,
    informative: Mapping[str, bool],
    *,
    methods: Sequence[str] = METHODS,
    choice: str | None = None,
    variants: Variants = VARIANTS,
    reliance: float | str = "held-out",
    seed: int = 0,
    alternatives: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Assessment]:
    """Score the methods on each wanted column and predict its missing cells by the best.

    Parameters
    ----------
    columns : all columns of the table that have channels, by name
    wanted : those to assess; one with fewer than `FEWEST_KNOWN` known cells is left out
    informative : by column, whether neighbours agree in it; where they do not, the graph is not
        looked at
    methods : the methods to score
    choice : the one to use, by default the best
    variants : how each method that propagates does so
    reliance : how far to go from the mean to what was propagated; by default fitted
    """
    once = {"propagation": variants["propagation"]}
    others = _others(columns, graph, informative, once)
    how = _How(variants, once, choice, reliance, alternatives)
    found = {}
    for name in wanted:
        target = Target.of(columns[name])
        if len(target.known) >= FEWEST_KNOWN:
            features = _features(name, others, graph, informative[name])
            allowed = [
                m for m in methods if m == choice or _makes_sense(m, target, informative[name])
            ]
            key = [seed, 6, number_of(name)]
            learns = any(m in LEARNERS for m in allowed)
            with few_threads(len(target.levels)) if learns else nullcontext():
                found[name] = _assess(columns[name], features, graph, allowed, key, how)
        progress(1.0 / len(wanted))
    return found


def n_folds(n_known: int) -> int:
    """More folds where there are few cells, so that little is hidden at a time."""
    return 10 if n_known < FEW_KNOWN else 5


def n_parts(n_known: int) -> int:
    """Of what is not in a fold, to learn from; as many as folds where that is quick."""
    return 10 if n_known < FEW_KNOWN else 3


@dataclass(frozen=True)
class _How:
    """What is the same for all columns; see `assess`."""

    variants: Variants
    once: Variants  # the one that learners look at
    choice: str | None
    reliance: float | str
    alternatives: bool


def _makes_sense(method: str, target: Target, informative: bool) -> bool:
    """Whether a method is worth trying on a column."""
    if method in LEARNERS:
        learns_graph = method.startswith("hybrid")
        blended = method in ("columns", "hybrid") or not target.n_classes
        return learns_graph == informative and blended and target.n_classes <= MOST_CLASSES
    return informative or method == "mean"


def _assess(
    column: Levelled,
    features: Features,
    graph: Graph,
    methods: Sequence[str],
    key: list[int],
    how: _How,
) -> Assessment:
    target, order = _by_name(column)
    nothing = np.empty(0, dtype=np.intp)
    variants = {n: v for n, v in how.variants.items() if n in methods or n in how.once}
    folds = draw_folds(target.known, n_folds(len(target.known)), key)
    *outer, final = look(target, graph, [*folds, nothing], [*folds, target.missing], variants)
    learns = any(name in methods for name in LEARNERS)
    predicted: dict[str, list[Floats]] = {name: [] for name in methods}
    for number, (hidden, clues) in enumerate(zip(folds, outer, strict=True)):
        rest = np.setdiff1d(target.known, hidden, assume_unique=True)
        parts = draw_folds(rest, n_parts(len(target.known)), [*key, number])
        both = [np.union1d(hidden, part) for part in parts]
        learnt_from = look(target, graph, both, parts, how.once)
        learner = Learner(target, features, key[0]).fit(learnt_from) if learns else None
        for name, values in _predict(target, methods, learnt_from, clues, learner, how).items():
            predicted[name].append(values)
    held_out = {name: np.concatenate(values) for name, values in predicted.items()}
    rows = np.concatenate(folds)
    costs = {name: losses(target, rows, held_out[name]) for name in methods}
    chosen, why = choose(costs) if how.choice is None else (how.choice, "as asked for")
    learner = None
    if chosen in LEARNERS or (how.alternatives and learns):
        learner = Learner(target, features, key[0]).fit(outer)
    wanted = methods if how.alternatives else [chosen]
    filled = _predict(target, wanted, outer, final, learner, how)
    return Assessment(
        Target.of(column),
        column.unit,
        chosen,
        why,
        [{"method": m} | score(target, rows, held_out[m], column.unit) for m in methods],
        outer,
        held_out[chosen][:, order],
        final,
        filled[chosen][:, order],
        {m: values[:, order] for m, values in filled.items()} if how.alternatives else {},
    )


def _by_name(column: Levelled) -> tuple[Target, Rows]:
    """The column with its classes numbered by name, and where each of its own is found.

    Its own numbers go by frequency, in which every cell has a part.
    """
    target = Target.of(column)
    if not target.n_classes:
        return target, np.zeros(1, dtype=np.intp)
    names = [str(name) for name in column.named(np.arange(target.n_classes, dtype=np.float64))]
    place = np.argsort(np.argsort(names, kind="stable"), kind="stable")
    levels = target.levels.copy()
    levels[target.known] = place[levels[target.known].astype(np.intp)]
    return Target(levels, target.n_classes), place


def _predict(
    target: Target,
    methods: Sequence[str],
    learnt_from: Sequence[Clues],
    clues: Clues,
    learner: Learner | None,
    how: _How,
) -> dict[str, Floats]:
    """[rows, width] by method, for cells of which the clues are given."""
    base = np.broadcast_to(clues.base, clues.neighbours.shape)
    reliance = how.reliance
    if isinstance(reliance, str):
        reliance = _reliance(target, learnt_from)
    predicted: dict[str, Floats] = {}
    blends = learner.predict(clues) if learner else {}
    for name in methods:
        if name == "mean":
            predicted[name] = base
        elif name == "neighbors":
            predicted[name] = np.where(np.isnan(clues.neighbours), base, clues.neighbours)
        elif name in clues.said:
            predicted[name] = base + reliance * (clues.said[name] - base)
        elif learner:
            predicted[name] = blends[name.removeprefix("columns").removeprefix("hybrid")]
    return predicted


def _reliance(target: Target, learnt_from: Sequence[Clues]) -> float:
    """How far to go from the mean to what was propagated; see `reliance`."""
    held = HeldOut(np.concatenate([clues.rows for clues in learnt_from]))
    truth = np.concatenate([target.truth(clues.rows) - clues.base for clues in learnt_from])
    said = np.concatenate([clues.said["propagation"] - clues.base for clues in learnt_from])
    held.take(truth, said)
    return held.reliance


# -- other columns --


def _others(
    columns: Mapping[str, Levelled], graph: Graph, informative: Mapping[str, bool], once: Variants
) -> dict[str, Other]:
    """Every column as what it says about the others."""
    others = {}
    for name, column in columns.items():
        target = Target.of(column)
        if not len(target.known) or target.n_classes > MOST_CLASSES:
            continue
        said = None
        if informative[name]:
            rows = np.arange(len(target.levels))
            nothing = np.empty(0, dtype=np.intp)
            (clues,) = look(target, graph, [nothing], [rows], once)
            said = clues.said["propagation"]
        others[name] = Other(target.levels, target.n_classes, said)
    return others


def _features(name: str, others: Mapping[str, Other], graph: Graph, use_graph: bool) -> Features:
    rest = [other for other_name, other in others.items() if other_name != name]
    if len(rest) > MOST_OTHERS:
        own = others[name].levels if name in others else np.zeros(graph.n_nodes)
        rest.sort(key=lambda other: -_likeness(own, other.levels))
        rest = rest[:MOST_OTHERS]
    n_rows = len(rest[0].levels) if rest else len(others[name].levels)
    return Features(rest, np.diff(graph.indptr)[:n_rows].astype(np.float64), use_graph)


def _likeness(one: Floats, other: Floats) -> float:
    """Absolute correlation where both are known."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 3 or one[both].std() == 0 or other[both].std() == 0:
        return 0.0
    return float(abs(np.corrcoef(one[both], other[both])[0, 1]))
