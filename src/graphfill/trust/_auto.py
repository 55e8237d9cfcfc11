r"""The best method for every column, chosen on held-out cells of the whole table.

The known cells of every column are cut into folds, and run k hides fold k of all columns at once
(`_runs`). Each method predicts every known cell from the run that hid it. Per column the methods
are then compared, with a blend of them (`_comparison`).

Trees (`_stack`) learn from the row's other columns and from what the methods predict, as many as
the effort allows. To predict fold k they learn from the cells of other folds j, each seen through
a run that hid both j and k.

Where columns have many known cells, three folds of a tenth are enough. Each run hides two of them,
so that the same runs serve both ends. (One run that hides all three does not: the trees would rely
on which hubs of the graph it happens to hide.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..graph import Graph
from ..solve import FIELD_TOLERANCE, FieldGraph
from ._assessment import FEW_KNOWN, FEWEST_TOGETHER, Assessment, surroundings
from ._channels import Solve
from ._column import FillableColumn, Floats, Mask, Rows, Target, mask_of
from ._comparison import Column, Comparison
from ._features import CellFeatures
from ._folds import draw_folds, number_of
from ._growing import grow
from ._kept import Choice, Kept
from ._limits import (
    FEW_CELLS,
    LARGE_CELLS,
    MANY_CELLS,
    MANY_CHANNELS,
    MANY_ROWS,
    field_fits,
    has_many_classes,
    known_cells,
)
from ._options import FillOptions
from ._ranks import by_logarithm
from ._runs import FIELDS, MOST_FIELD_CHANNELS, Run, field_channels, run_methods
from ._scores import choose, score
from ._series import SERIES, series_recipes
from ._sources import GrownTrees, Sources
from ._stack import PAIRED, CellView, are_boosted, boosted_seconds, seconds

ROUNDS = ((15_000, 10), (50_000, 4), (np.inf, 3))  # of fitting, up to so many cells of channels
ROUNDS_OF_SERIES, MOST_OF_SERIES = 12, 2_000_000
TOLERANCE_OF_SERIES = 1e-3  # along a line of moments, small residuals add up to large errors
FEW_RECIPES = ("mean", "neighbors", "propagation")
FEWEST_TREES, TREES_PER_FOLD, MANY_TREES = 4, 50, 100
# Seconds that trees may take under "balanced": about half of what the runs take.
FIXED_SECONDS, SECONDS_PER_PRODUCT = 3.0, 6e-7
BOOSTED_SECONDS = 20.0  # besides, for boosted ones
RUNS_AT_ONCE = 0.5  # of what the runs take, where folds are hidden at once
TREES = 0.25  # of the progress


class TableAssessment:
    """All columns of a table, every method, one set of folds."""

    def __init__(
        self,
        columns: Mapping[str, FillableColumn],
        graph: Graph,
        options: FillOptions,
        solve: Solve,
        tick: Callable[[float], None],
        kept: Kept | None = None,
    ) -> None:
        self.options, self.tick, self.kept = options, tick, kept or Kept()
        links = graph
        if options.rows_apart:  # fields of rows alone, for hubs that are no rows spoil them
            empty = np.empty(0, dtype=np.int64)
            n_rows = len(next(iter(columns.values())).missing)
            graph = Graph.from_edges(empty, empty, n_nodes=n_rows)
        self.graph = FieldGraph(graph, options.propagation.n_threads, links=links)
        recipes = options.recipes(solve)
        self.propagation = recipes["propagation"]
        self.recipes = {name: replace(recipe, reliance=1.0) for name, recipe in recipes.items()}
        if options.method == "field":
            self.recipes = {"mean": self.recipes["mean"]}
        self.columns: dict[str, Column] = {}
        self.sources: Sources | None = None
        cells = known_cells(columns)
        self.at_once = cells >= min(LARGE_CELLS, MANY_ROWS * len(columns))
        small = cells < FEW_CELLS  # then each that is hidden is missed, and runs cost little
        self.n_folds = 2 if cells >= LARGE_CELLS else 3 if self.at_once else 6 if small else 4
        for name in sorted(columns, key=str):
            column = columns[name]
            target = Target.of(column)
            if len(target.known) < 2 or has_many_classes(column):
                continue
            self.columns[name] = Column(column, target, self._folds(name, target))
        channels = sum(one.column.n_channels for one in self.columns.values())
        if cells >= MANY_CELLS or graph.n_nodes * channels >= MANY_CHANNELS:
            light = ("mean", "propagation") if cells >= LARGE_CELLS else FEW_RECIPES
            self.recipes = {name: r for name, r in self.recipes.items() if name in light}
        if options.method != "field":
            self.recipes |= series_recipes(self.propagation, options.layout)
        self.fields = self._fields(cells)
        n_runs = 1 + self.n_folds
        self._part = (1.0 - TREES) / n_runs

    def _folds(self, name: str, target: Target) -> list[Rows]:
        """Quarters or sixths of the known cells; tenths if hidden at once, sixths of a few.

        Nothing is hidden of a column with few known cells. Nor of one without gaps: it will be
        there in full when others are filled, so their scores are to be those of that case.
        """
        if len(target.known) < FEWEST_TOGETHER or not len(target.missing):
            return [np.empty(0, dtype=np.intp)] * self.n_folds
        key = [self.options.seed, 6, number_of(name)]
        parts = self.n_folds
        if self.at_once:
            parts = 10 if len(target.known) >= FEW_KNOWN else 6
        return draw_folds(target.known, parts, key, self.options.together)[: self.n_folds]

    def _fields(self, n_cells: int) -> tuple[str, ...]:
        """The fields that can be solved: none beyond the limit on memory, one on a large table.

        Where a column has amounts that are skewed, their logarithms stand in for their values.
        """
        shown = {name: one.column for name, one in self.columns.items()}
        if not field_fits(shown, self.graph.graph, self.options.propagation.memory_limit):
            return ()
        if n_cells >= MANY_CELLS:
            series = self.options.together is not None  # whose field has few neighbours to pass
            return ("field", FIELDS[-1]) if series and n_cells < LARGE_CELLS else FIELDS[-1:]
        amounts = any(by_logarithm(one.target.levels[one.target.known])
                      for one in self.columns.values() if not one.target.n_classes)  # fmt: skip
        return FIELDS[1:] if amounts else ("field", FIELDS[-1])

    @property
    def _rounds(self) -> int:
        """Rounds of fitting a field: more where they cost little, twice as many if thorough.

        Many of a series, whose neighbours say much: the fit takes long to settle. Twice as many
        where many nodes are no rows, which makes the fit slow to settle.
        """
        n_nodes = self.graph.n_nodes
        width = sum(len(field_channels(one.column)) for one in self.columns.values())
        rounds = next(n for most, n in ROUNDS if n_nodes * width <= most)
        n_rows = max((len(one.target.levels) for one in self.columns.values()), default=n_nodes)
        if self.options.together is not None and n_nodes * width <= MOST_OF_SERIES:
            rounds = ROUNDS_OF_SERIES
        twice = n_rows < 0.9 * n_nodes and n_nodes * width > ROUNDS[0][0]
        return 2 * rounds if twice or self.options.effort == "thorough" else rounds

    def run(self, *hidden: int, paired: bool = False, part: float = 0.0) -> Run:
        """The methods' predictions with some folds of all columns hidden."""
        masks = {}
        for name, one in self.columns.items():
            rows = [one.folds[number] for number in hidden]
            masks[name] = mask_of(np.concatenate([np.empty(0, np.intp), *rows]),
                                  len(one.target.levels))  # fmt: skip
        recipes, fields = self.recipes, self.fields
        if paired:
            recipes, fields = {"propagation": recipes["propagation"]}, ("field-rank",)
        return run_methods(
            {name: one.column for name, one in self.columns.items()},
            masks,
            self.graph,
            recipes,
            fields,
            seed=self.options.seed,
            rounds=max(1, self._rounds // 3) if paired else self._rounds,
            tolerance=FIELD_TOLERANCE if self.options.together is None else TOLERANCE_OF_SERIES,
            tick=lambda done: self.tick(part * done),
            kept=None if hidden else self.kept,
        )

    def assess(self, wanted: Sequence[str]) -> dict[str, Assessment]:
        asked = [
            name for name in wanted
            if name in self.columns and len(self.columns[name].rows)
        ]  # fmt: skip
        if not asked:
            return {}
        if self.n_folds == 2:  # of a large table: hidden together, so that one run does
            singles = [self.run(0, 1, part=2 * self._part)] * 2
        elif self.at_once:
            singles = [self.run(k, (k + 1) % 3, part=self._part) for k in range(3)]
        else:
            singles = [self.run(number, part=self._part) for number in range(self.n_folds)]
        final = self.run(part=self._part)
        plain = {name: one for name, one in self.recipes.items() if name not in SERIES}
        self.sources = Sources.of_run(self.graph, plain, final)
        self.kept.columns = {
            name: (one.column.n_channels, one.column.n_classes)
            for name, one in self.columns.items()
        }
        methods = [*self.recipes, *self.fields]
        views = {name: Comparison(self.columns[name], methods, singles, final) for name in asked}
        if self.fields:
            self.add_trees(views, singles, final)
        self.views = views
        return {name: self._assessment(view) for name, view in views.items()}

    # -- trees --

    def add_trees(self, views: Mapping[str, Comparison], singles: list[Run], final: Run) -> None:
        """Add trees to the methods of as many columns as the effort allows."""
        grown = self._numbers_of_trees(views, singles[0].width)
        if not grown:
            return
        pairs = list(combinations(range(self.n_folds), 2))
        part = TREES / 2 / len(pairs)
        if self.at_once:
            self._pairs = {(0, 1): singles[0], (1, 2): singles[1], (0, 2): singles[2]}
            self.tick(TREES / 2)
        else:
            self._pairs = {pair: self.run(*pair, paired=True, part=part) for pair in pairs}
        for name, how in grown.items():
            self._grow(views[name], singles, final, *how)
            self.tick(TREES / 2 / len(grown))

    def view(self, name: str) -> CellView:
        degree = np.diff(self.graph.links.indptr).astype(np.float64)
        return CellView(name, self.columns[name].target, PAIRED, degree)

    def _numbers_of_trees(
        self, views: Mapping[str, Comparison], width: int
    ) -> dict[str, tuple[int, bool]]:
        """By column, the trees that learn each fold, and whether there are boosted ones besides.

        They are as many as the effort allows.
        """
        method, effort, n = self.options.method, self.options.effort, self.n_folds
        if n < 3 or method == "field":
            return {}
        if method == "hybrid" or effort == "thorough":
            return {name: (MANY_TREES, are_boosted(views[name].one.target)) for name in views}
        if effort == "fast":
            return {}
        channels = min(width, MOST_FIELD_CHANNELS)
        left = FIXED_SECONDS + SECONDS_PER_PRODUCT * self.graph.n_nodes * width * channels
        left *= RUNS_AT_ONCE if self.at_once else 1.0
        once = {
            name: (n + 2) * seconds(len(view.one.rows), width, view.one.target.n_classes)
            for name, view in views.items()
        }
        each = int(np.clip(left / sum(once.values()), FEWEST_TREES, TREES_PER_FOLD))
        chosen = {}
        left_to_boost = BOOSTED_SECONDS
        for name in sorted(views, key=lambda name: (-len(views[name].one.target.missing), name)):
            one = views[name].one
            left -= each * once[name]
            if left < 0:
                break
            boosted = are_boosted(one.target)
            if boosted:
                left_to_boost -= (n + 1) * boosted_seconds(one.target, len(one.rows), width)
            chosen[name] = each, boosted and left_to_boost >= 0
        return chosen

    def _grow(
        self, view: Comparison, singles: list[Run], final: Run, n_trees: int, boosted: bool
    ) -> None:
        """Add trees to the methods of a column."""
        one, seen = view.one, self.view(view.one.name)
        grown = grow(
            one,
            seen,
            singles,
            self._pairs,
            n_trees=n_trees,
            boosted=boosted,
            seed=self.options.seed,
        )
        view.grown = grown.by_fold
        if self.sources is not None:
            self.sources.trees[one.name] = GrownTrees(seen, grown.trees, grown.centre)
        if self.kept.trees is not None:
            trees = grown.trees
            self.kept.trees[one.name] = (*trees.inputs, trees.n_trees, trees.share)
        missing = grown.trees.predict(seen.of(final, one.target.missing, one.scale()))
        view.add("trees", grown.held_out, missing)

    # -- results --

    def _assessment(self, view: Comparison) -> Assessment:
        one, target, unit = view.one, view.one.target, view.one.column.unit
        view.add_blend()
        costs = view.costs()
        chosen, why = choose(costs)
        if self.options.method == "hybrid" and "trees" in costs:
            chosen, why = "trees", "as asked for"
        known: list[CellFeatures] = []
        missing = None
        if self.options.intervals is not None and not target.n_classes:
            known, missing = surroundings(
                target, self.graph.links, self.propagation, one.folds, view.solved, view.propagated
            )
        scores = [
            {"method": m} | score(target, one.rows, p, unit) for m, p in view.held_out.items()
        ]
        blend = view.blend if chosen == "blend" else None
        self.kept.choices[one.name] = Choice(chosen, why, scores, blend)
        if not target.n_classes:
            self.kept.scale("levels", one.name, one.scale)
        return Assessment(
            target,
            unit,
            chosen,
            why,
            scores,
            one.folds,
            view.held_out[chosen],
            known,
            missing,
            view.missing,
            view.solved,
            *self._from_the_row(view),
            blend,
            sources=self.sources,
        )

    def _from_the_row(self, view: Comparison) -> tuple[Floats | None, Mask | None]:
        """How far off the row's other columns alone are, and where they speak; for bounds."""
        one, target = view.one, view.one.target
        if self.options.intervals is None or not self.fields:
            return None, None
        others = [other.target.levels for name, other in self.columns.items() if name != one.name]
        speaks = np.zeros(len(target.levels), dtype=bool)
        if others:
            speaks = np.mean([~np.isnan(levels) for levels in others], axis=0) >= 0.5
        if target.n_classes or not speaks.any():
            return None, speaks[target.missing]
        runs = zip(view.singles, one.folds, strict=True)
        parts = [run.other_channels(one.name, fold) for run, fold in runs]
        truths = [target.levels[fold] for fold in one.folds]
        errors = []
        for k, (X, truth) in enumerate(zip(parts, truths, strict=True)):
            rest = [j for j in range(len(parts)) if j != k]
            Y = np.concatenate([parts[j] for j in rest])
            y = np.concatenate([truths[j] for j in rest])
            errors.append(truth - straight_line(Y, y, X))
        return np.concatenate(errors), speaks[target.missing]


def straight_line(X: Floats, y: Floats, asked: Floats) -> Floats:
    """Predictions of a ridge regression on standardised columns, with one made-up cell each."""
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale < 1e-12] = 1.0
    Z = (X - centre) / scale
    w = np.linalg.solve(Z.T @ Z + np.eye(Z.shape[1]), Z.T @ (y - y.mean()))
    return np.asarray(y.mean() + (asked - centre) / scale @ w)
