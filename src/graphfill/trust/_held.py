"""Columns of a later table filled as a fit decided: nothing is compared, nothing learnt anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..solve import FieldGraph
from ._assessment import Assessment
from ._channels import Solve
from ._column import FillableColumn, Floats, Mask, Target
from ._kept import Choice, Kept
from ._options import FillOptions
from ._ranks import RankScale
from ._runs import FIELDS, Run, run_methods
from ._stack import PAIRED, CellView, Trees


class Unknown:
    """A column of the fit of which a later table knows no cell; it is not filled."""

    unit = 1.0

    def __init__(self, name: str, n_rows: int, n_channels: int, n_classes: int) -> None:
        self.name, self.n_channels, self.n_classes = name, n_channels, n_classes
        self.missing = np.ones(n_rows, dtype=bool)
        self.parent_classes = np.arange(n_classes) if n_classes else None

    def hide(self, missing_mask: Mask) -> Unknown:
        return self

    def levels(self) -> Floats:
        return np.full(len(self.missing), np.nan)

    def encode(self, channels: range, out: Floats) -> None:
        out[:] = np.nan

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        """There is no cell to fill."""

    def decode_levels(self, predicted: NDArray[np.floating]) -> None:
        """Nor here."""

    def predicted(self, channels: range, filled: NDArray[np.floating]) -> Floats:
        width = len(channels) if self.n_channels > 1 else self.n_classes or 1
        return np.zeros((len(filled), width))

    def named(self, levels: Floats) -> list[Any]:
        return list(levels)


def held_assessments(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    options: FillOptions,
    solve: Solve,
    progress: Callable[[float], None],
    kept: Kept,
) -> dict[str, Assessment]:
    """What the methods that a fit chose predict for the missing cells of the wanted columns.

    Scores are those of the fit. A column that no method was chosen for is left out.
    """
    choices = {name: kept.choices[name] for name in wanted if name in kept.choices}
    methods = {method for choice in choices.values() for method in _methods(choice)}
    if not choices:
        return {}
    n_rows = len(columns[wanted[0]].missing)
    coupled = {
        name: columns.get(name) or Unknown(name, n_rows, *sizes)
        for name, sizes in kept.columns.items()
    }
    recipes = {
        name: replace(recipe, reliance=1.0)
        for name, recipe in options.recipes(solve).items()
        if name in methods
    }
    run = run_methods(
        coupled,
        {name: np.zeros(len(column.missing), dtype=bool) for name, column in coupled.items()},
        FieldGraph(graph, options.propagation.n_threads),
        recipes,
        [name for name in FIELDS if name in methods],
        seed=options.seed,
        tick=progress,
        kept=kept,
    )
    degree = np.diff(graph.indptr).astype(np.float64)
    assessments = {}
    for name, choice in choices.items():
        target = Target.of(columns[name])
        learnt = _predictions(name, target, choice, run, degree, options, kept)
        assessments[name] = Assessment(
            target,
            columns[name].unit,
            choice.chosen,
            choice.why,
            choice.scores,
            [],
            np.empty((0, target.width)),
            learnt=learnt,
            solved=run.solved,
            blend=choice.blend,
        )
    return assessments


def _methods(choice: Choice) -> set[str]:
    """The methods that a run must know for a choice; a recipe alone fills without one."""
    parts = set(choice.parts)
    return parts | {"mean"} | (set(PAIRED) if "trees" in parts else set())


def _predictions(
    name: str,
    target: Target,
    choice: Choice,
    run: Run,
    degree: Floats,
    options: FillOptions,
    kept: Kept,
) -> dict[str, Floats]:
    """By method, [missing, width]."""
    predictions = {
        method: run.at(method, name, target.missing, target.n_classes)
        for method in run.predictions
        if method in choice.parts or method == "mean"
    }
    scale = kept.scales.get("levels", {}).get(name) or RankScale(np.empty(0))  # of numbers
    if "trees" in choice.parts:
        assert kept.trees is not None
        X, y, n_trees, share = kept.trees[name]
        trees = Trees(target, scale, options.seed, n_trees, share).fit_inputs(X, y)
        inputs = CellView(name, target, PAIRED, degree).of(run, target.missing, scale)
        predictions["trees"] = trees.predict(inputs)
    if choice.blend is not None:
        predictions["blend"] = choice.blend.of(predictions, scale)
    return predictions
