"""Columns filled: the method chosen on held-out cells where asked, then one fill for all.

The cells that are filled in depend on the method alone: scores, intervals and patterns of hiding
look at this fill, and never take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import Graph, graph_components
from ..solve import propagate_with
from ._assessment import LEARNERS, Assessment, Candidates, assess
from ._channels import Recipe, Solve, Solved, fill_channels
from ._class_sets import ClassSets, class_sets
from ._column import FillableColumn, Floats, Mask, Recorded
from ._intervals import Interval, intervals
from ._learner import few_threads
from ._options import LEARNT, FillOptions

ASSESSING = 0.9  # of the progress, where methods are scored


@dataclass
class ColumnFill:
    """How one column was filled, and how sure its filled cells are if that was asked.

    Attributes
    ----------
    unreached : [rows]
        Missing cells to which nothing known of the column is connected.
    assessment : scores of the methods; None where they were not asked for, or cells are too few
    predictions : [missing, width]
        What was filled in, as levels or probabilities; kept for bounds.
    bounds : intervals or sets of classes; None where they were not asked for
    by_learner : whether the row's other columns had a part in the fill
    """

    unreached: Mask
    assessment: Assessment | None = None
    predictions: Floats | None = None
    bounds: Interval | ClassSets | None = None
    by_learner: bool = False


def fill_columns(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    informative: Callable[[], Mapping[str, bool]],
    options: FillOptions,
    *,
    solve: Solve = propagate_with,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[dict[str, ColumnFill], Solved]:
    """Fill the missing cells of the wanted columns, whose rows are the first nodes of the graph.

    Parameters
    ----------
    columns : all columns that have channels, by name
    informative : tells by column whether neighbours agree in it; asked where methods are scored
    """
    wanted = sorted(wanted, key=str)  # so that the order of the columns has no part in anything
    unreached = unreached_cells([columns[name] for name in wanted], graph)
    fills = {name: ColumnFill(unreached[name]) for name in wanted}
    candidates = candidates_of(options, solve)
    share = 0.0
    if options.assessed:
        share = ASSESSING
        assessments = assess(
            columns, wanted, graph, informative(), candidates,
            progress=lambda done: progress(ASSESSING * done),
        )  # fmt: skip
        for name, assessment in assessments.items():
            fills[name].assessment = assessment
    groups: dict[str, list[str]] = {}
    for name, fill in fills.items():
        groups.setdefault(_method_of(fill, options), []).append(name)
    total = Solved()
    for method, names in groups.items():
        part = (1.0 - share) * len(names) / len(wanted)
        if method in candidates.recipes or method not in LEARNERS:
            recipe = candidates.recipes.get(method, candidates.propagation)
            _fill_by_recipe(names, columns, fills, graph, recipe, options, total,
                            lambda done, part=part: progress(part * done))  # type: ignore[misc]  # fmt: skip
        else:
            _fill_by_learner(names, columns, fills, method, total)
            progress(part)
    if options.intervals is not None:
        with few_threads(graph.n_nodes):
            for fill in fills.values():
                fill.bounds = _bounds(fill, options)
    return fills, total


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


def unreached_cells(columns: Sequence[FillableColumn], graph: Graph) -> dict[str, Mask]:
    """Missing cells of each column in whose component nothing is known of it."""
    count, label = graph_components(graph)[:2]
    cells = {}
    for column in columns:
        own = label[: len(column.missing)]
        informed = np.zeros(count, dtype=bool)
        informed[own[~column.missing]] = True
        cells[column.name] = column.missing & ~informed[own]
    return cells


def _method_of(fill: ColumnFill, options: FillOptions) -> str:
    if fill.assessment is not None:
        return fill.assessment.chosen
    return "propagation" if options.method in LEARNT else options.method


def _fill_by_recipe(
    names: Sequence[str],
    columns: Mapping[str, FillableColumn],
    fills: Mapping[str, ColumnFill],
    graph: Graph,
    recipe: Recipe,
    options: FillOptions,
    total: Solved,
    progress: Callable[[float], None],
) -> None:
    targets: list[Any] = [columns[name] for name in names]
    if options.intervals is not None:
        targets = [
            Recorded(column) if fills[column.name].assessment else column for column in targets
        ]
    total.merge(fill_channels(targets, graph, recipe, progress=progress))
    for column in targets:
        if isinstance(column, Recorded):
            fills[column.name].predictions = column.predictions


def _fill_by_learner(
    names: Sequence[str],
    columns: Mapping[str, FillableColumn],
    fills: Mapping[str, ColumnFill],
    learner: str,
    total: Solved,
) -> None:
    for name in names:
        fill = fills[name]
        assert fill.assessment is not None
        fill.predictions, fill.by_learner = fill.assessment.learnt[learner], True
        columns[name].decode_levels(fill.predictions)
        total.merge(fill.assessment.solved)


def _bounds(fill: ColumnFill, options: FillOptions) -> Interval | ClassSets | None:
    if fill.assessment is None or fill.predictions is None or options.intervals is None:
        return None
    unreached = fill.unreached[fill.assessment.target.missing]
    if fill.assessment.target.n_classes:
        return class_sets(fill.assessment, fill.predictions, options.intervals, unreached)
    return intervals(fill.assessment, fill.predictions, options.intervals, options.seed, unreached)
