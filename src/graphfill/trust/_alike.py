"""Known cells hidden the way the missing ones lie, for bounds that hold for these.

Cells held out at random have the rest of their row, and known neighbours. Missing ones may have
neither: whole rows without an answer, a region without figures. So pieces of the pattern of what is
missing are laid over other places of the graph: the rows around one row, nearest first, take the
pattern of the rows around another one, and what they know there is hidden and predicted. Columns
are looked at whose missing cells lie in other rows than the known ones (`_differences`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from ..graph import Graph, adjacency_matrix, graph_components
from ._alike_cells import Alike, AlikeCells, RowView
from ._assessment import Assessment
from ._auto import TableAssessment
from ._blend import Blend
from ._channels import Recipe
from ._column import Floats, Mask, Rows
from ._comparison import Comparison
from ._differences import differences
from ._features import cell_features
from ._runs import Run, run_methods
from ._spreads import spreads
from ._stack import PAIRED

RUNS = 3
SHARE = 0.15  # of the known cells, hidden in a run
PIECE = 0.1  # of the rows, around one


def add_alike(table: TableAssessment, assessments: Mapping[str, Assessment]) -> None:
    """Hide cells of the columns that need it as the missing ones lie; add them to the assessments.

    Every cell is predicted by the method that was chosen; trees are those that have not seen it.
    """
    columns = {name: one.column for name, one in table.columns.items()}
    graph, seed = table.graph.links, table.options.seed
    numbers = [name for name, one in assessments.items() if not one.target.n_classes]
    if not numbers:
        return
    found = {one.column for one in differences(columns, numbers, graph, seed)}
    names = [name for name in numbers if name in found]
    if not names:
        return
    degree = np.log1p(np.diff(graph.indptr).astype(np.float64))
    label = graph_components(graph)[1]
    links = np.column_stack([degree, np.log(np.bincount(label)[label])])
    missing = np.column_stack([column.missing for column in columns.values()])
    runs = []
    for number in range(RUNS if table.n_folds > 2 else 1):
        rng = np.random.default_rng([seed, 15, number])
        hidden, pieces = hidden_alike(missing, graph, rng)
        masks = {name: hidden[:, place] for place, name in enumerate(columns)}
        recipes, fields = _needed(table, [assessments[name] for name in names])
        run = run_methods(columns, masks, table.graph, recipes, fields, seed=seed)
        runs.append((masks, len(pieces) * number + pieces, run))
    for name in names:
        one, view = assessments[name], table.views[name]
        of_folds = zip(view.singles, one.folds, strict=True)
        parts = [_view(name, run, rows, links) for run, rows in of_folds]
        held_out = RowView(*(np.concatenate([getattr(part, what) for part in parts])
                             for what in ("around", "others")))  # fmt: skip
        cells = [_cells(table, view, one, masks[name], run, links) for masks, _, run in runs]
        one.alike = Alike(
            held_out,
            _view(name, view.final, one.target.missing, links),
            [replace(part, pieces=pieces[part.rows])
             for part, (_, pieces, _) in zip(cells, runs, strict=True)],
        )  # fmt: skip


def hidden_alike(missing: Mask, graph: Graph, rng: np.random.Generator) -> tuple[Mask, Rows]:
    """Known cells to hide, [rows, columns]: pieces of the pattern of what is missing, elsewhere.

    And by row the number of its piece.

    Examples
    --------
    >>> ring = Graph.from_edges(range(100), [(i + 1) % 100 for i in range(100)])
    >>> missing = (np.arange(100) < 30)[:, None]
    >>> hidden, pieces = hidden_alike(missing, ring, np.random.default_rng(0))
    >>> bool(hidden.any()), bool((hidden & missing).any()), bool(pieces[hidden[:, 0]].min() > 0)
    (True, False, True)
    """
    n_rows = len(missing)
    A = adjacency_matrix(graph)
    size = max(1, round(PIECE * n_rows))

    def around(row: int) -> Rows:
        near = breadth_first_order(A, row, directed=False, return_predecessors=False)
        near = near[near < n_rows][:size]
        if len(near) < size:  # a small component: any other rows
            rest = rng.permutation(np.setdiff1d(np.arange(n_rows), near))
            near = np.concatenate([near, rest[: size - len(near)]])
        return np.asarray(near, np.intp)

    donors = missing.sum(axis=1) / max(1, missing.sum())
    enough = SHARE * np.count_nonzero(~missing)
    hidden, pieces = np.zeros_like(missing), np.zeros(n_rows, dtype=np.intp)
    while not pieces.all() and np.count_nonzero(hidden) < enough:
        here = around(int(rng.choice(np.flatnonzero(pieces == 0))))
        there = around(int(rng.choice(n_rows, p=donors)))
        fresh = pieces[here] == 0
        hidden[here[fresh]] = missing[there[fresh]] & ~missing[here[fresh]]
        pieces[here[fresh]] = pieces.max() + 1
    # Something of every column stays known.
    hidden[:, (hidden | missing).all(axis=0)] = False
    return hidden, pieces


def _needed(
    table: TableAssessment, assessments: Sequence[Assessment]
) -> tuple[dict[str, Recipe], list[str]]:
    """The recipes and fields that the chosen methods are made of."""
    methods = {part for one in assessments for part in (one.parts or {one.chosen: 1.0})}
    if "trees" in methods:
        methods |= set(PAIRED)
    recipes = {name: recipe for name, recipe in table.recipes.items() if name in methods}
    fields = [name for name in table.fields if name in methods]
    last = table.fields[-1:]  # completes the table, on the scale of ranks
    return recipes, [*(name for name in fields if name not in last), *last]


def _view(name: str, run: Run, rows: Rows, links: Floats) -> RowView:
    others = [column.missing[rows] for other, column in run.columns.items() if other != name]
    known = 1.0 - np.mean(others, axis=0) if others else np.ones(len(rows))
    channels = np.empty((len(rows), 0))
    if run.completed is not None:
        channels = run.other_channels(name, rows)
    return RowView(np.column_stack([links[rows], known]), channels)


def _cells(
    table: TableAssessment, view: Comparison, one: Assessment, hidden: Mask, run: Run, links: Floats
) -> AlikeCells:
    name, target = view.one.name, one.target
    rows = np.flatnonzero(hidden)
    folds = rows % len(one.folds)
    for number, fold in enumerate(one.folds):
        folds[np.isin(rows, fold)] = number
    predicted = np.empty((len(rows), target.width))
    blend = one.blend or Blend({one.chosen: 1.0})
    for number in range(len(one.folds)):
        here = folds == number
        scale = view.one.scale(number)
        predictions = {
            method: run.at(method, name, rows[here], target.n_classes)
            for method in blend.weights
            if method != "trees"
        }
        if "trees" in blend.weights:
            X = table.view(name).of(run, rows[here], scale)
            predictions["trees"] = view.grown[number].predict(X)
        predicted[here] = blend.of(predictions, scale)
    given = None
    if "propagation" in run.predictions:
        given = [run.at("propagation", name, rows, 0)[:, 0]]
    jobs = table.graph.links, table.propagation, [rows], [rows]
    features = cell_features(target, *jobs, propagated=given)[0]
    spread = np.ones(len(rows))
    if table.fields:
        spread = spreads(run, view.final, table, {name: rows})[name]
    return AlikeCells(rows, folds, rows, predicted, features, _view(name, run, rows, links), spread)
