"""Columns filled: the method chosen on held-out cells where asked, then one fill for all.

The cells that are filled in depend on the method alone: scores, intervals and patterns of hiding
look at this fill, and never take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph, graph_components
from ..solve import propagate_with
from ._channels import Recipe, Solve, Solved, fill_channels
from ._column import FillableColumn, Floats, Mask, Recorded
from ._kept import Kept
from ._options import LEARNT, FillOptions
from ._reasons import Influence, RecipeInfluence
from ._runs import FIELDS

if TYPE_CHECKING:
    from ._assessment import Assessment
    from ._class_sets import ClassSets
    from ._intervals import Interval

MOST_PREDICTED = 20_000_000  # probabilities of a column's classes; beyond, none are drawn
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
    influence : what filled cells are made of; None where the method does not say
    """

    unreached: Mask
    assessment: Assessment | None = None
    predictions: Floats | None = None
    bounds: Interval | ClassSets | None = None
    by_learner: bool = False
    influence: Influence | None = None


def fill_columns(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    informative: Callable[[], Mapping[str, bool]],
    options: FillOptions,
    *,
    solve: Solve = propagate_with,
    progress: Callable[[float], None] = lambda share: None,
    kept: Kept | None = None,
) -> tuple[dict[str, ColumnFill], Solved]:
    """Fill the missing cells of the wanted columns, whose rows are the first nodes of the graph.

    Parameters
    ----------
    columns : all columns that have channels, by name
    informative : tells by column whether neighbours agree in it; asked where methods are scored
    kept : takes what is decided and learnt, or holds it from a fit
    """
    kept = kept or Kept()
    wanted = sorted(wanted, key=str)  # so that the order of the columns has no part in anything
    unreached = unreached_cells([columns[name] for name in wanted], graph)
    fills = {name: ColumnFill(unreached[name]) for name in wanted}
    share = 0.0
    if options.assessed:
        share = ASSESSING
        assessments = _assess(columns, wanted, graph, informative, options, solve,
                              lambda done: progress(ASSESSING * done), kept)  # fmt: skip
        for name, assessment in assessments.items():
            fills[name].assessment = assessment
    recipes, total = options.recipes(solve), Solved()
    groups: dict[tuple[str, bool], list[str]] = {}
    for name, fill in fills.items():
        compared = options.method in LEARNT and fill.assessment is not None
        groups.setdefault((_method_of(fill, options), compared), []).append(name)
    for (method, compared), names in groups.items():
        some = {name: (columns[name], fills[name]) for name in names}
        part = (1.0 - share) * len(names) / len(wanted)
        if method in recipes:
            tick = partial(_part, progress, part)
            recipe = recipes[method]
            if compared:  # as it was scored: how far to rely on the graph is a matter of blending
                recipe = replace(recipe, reliance=1.0)
            total.merge(_fill_by_recipe(some, graph, recipe, options, tick, kept))
        else:
            for column, fill in some.values():
                total.merge(_fill_by_learner(column, fill, method))
                fill.by_learner = len(columns) > 1 and _looks_at_columns(fill, method)
            progress(part)
    if options.intervals is not None:
        from ._stack import one_thread

        with one_thread():
            for fill in fills.values():
                fill.bounds = _bounds(fill, options)
    return fills, total


def _assess(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    informative: Callable[[], Mapping[str, bool]],
    options: FillOptions,
    solve: Solve,
    progress: Callable[[float], None],
    kept: Kept,
) -> dict[str, Assessment]:
    if options.method in LEARNT:
        from ._alike import add_alike
        from ._auto import TableAssessment
        from ._held import held_assessments
        from ._spreads import add_spreads
        from ._stack import one_thread

        with one_thread():
            if kept.applies:
                return held_assessments(columns, wanted, graph, options, solve, progress, kept)
            table = TableAssessment(columns, graph, options, solve, progress, kept)
            assessments = table.assess(wanted)
            if options.intervals is not None or options.draws:
                add_spreads(table, assessments)
            if options.intervals is not None:
                add_alike(table, assessments)
            return assessments
    from ._assessment import assess

    return assess(columns, wanted, graph, informative(), options, solve, progress=progress)


def _part(progress: Callable[[float], None], part: float, done: float) -> None:
    progress(part * done)


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
    return "propagation" if options.method in (None, *LEARNT) else str(options.method)


def _fill_by_recipe(
    some: Mapping[str, tuple[FillableColumn, ColumnFill]],
    graph: Graph,
    recipe: Recipe,
    options: FillOptions,
    progress: Callable[[float], None],
    kept: Kept,
) -> Solved:
    targets: list[Any] = [
        Recorded(column) if _keeps(column, fill, options) else column
        for column, fill in some.values()
    ]
    held = kept.reliances if kept.applies else {}
    solved = fill_channels(targets, graph, recipe, progress=progress, reliances=held)
    for column in targets:
        if isinstance(column, Recorded):
            some[column.name][1].predictions = column.predictions
    for name, (column, fill) in some.items():
        if not kept.applies:
            found = solved.held_out.get(name)
            kept.reliances[name] = 1.0 if found is None else found.reliance
        elif isinstance(recipe.reliance, str):
            recipe = replace(recipe, reliance=held.get(name, recipe.reliance))
        fill.influence = RecipeInfluence.of_fill(graph, column.missing, recipe, solved, name)
    return solved


def _keeps(column: FillableColumn, fill: ColumnFill, options: FillOptions) -> bool:
    """Whether what is filled in is kept as predictions."""
    n_predicted = int(np.count_nonzero(column.missing)) * column.n_classes
    drawn = options.draws > 0 and n_predicted <= MOST_PREDICTED
    return drawn or (options.intervals is not None and fill.assessment is not None)


def _fill_by_learner(column: FillableColumn, fill: ColumnFill, learner: str) -> Solved:
    assert fill.assessment is not None
    fill.predictions = fill.assessment.learnt[learner]
    column.decode_levels(fill.predictions)
    sources = fill.assessment.sources
    if sources is not None:
        parts = fill.assessment.parts or {learner: 1.0}
        fill.influence = sources.influence(column.name, parts, fill.predictions)
    return fill.assessment.solved


def _looks_at_columns(fill: ColumnFill, learner: str) -> bool:
    """Whether the row's other columns have a part in what a learner fills in."""
    assert fill.assessment is not None
    return learner != "blend" or any(part in (*FIELDS, "trees") for part in fill.assessment.parts)


def _bounds(fill: ColumnFill, options: FillOptions) -> Interval | ClassSets | None:
    if fill.assessment is None or fill.predictions is None or options.intervals is None:
        return None
    from ._class_sets import class_sets
    from ._intervals import intervals

    unreached = fill.unreached[fill.assessment.target.missing]
    if fill.assessment.target.n_classes:
        return class_sets(fill.assessment, fill.predictions, options.intervals, unreached)
    return intervals(fill.assessment, fill.predictions, options.intervals, unreached)
