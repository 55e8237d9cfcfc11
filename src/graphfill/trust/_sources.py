r"""What the learners of a table made of it, kept to say what a filled cell is made of.

A blend is a sum of methods. The linear ones (propagation, neighbours, fields) have weights on known
cells, all in units of a standard deviation, so that the blend's are

.. math:: w = \sum_m b_m w_m .

Of trees the share of a group of inputs (another column, what a method predicts, the number of
links) is how far the prediction of the cell moves when the group gets its means, in proportion.
What is itself predicted or filled among these inputs is passed on to the known cells behind it.
The sizes of all weights are then divided by their sum where that is above 1; what they lack of 1 is
the share of the column's mean. So sizes add up to 1, and a sign says which way a cell pulls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..solve import FieldGraph
from ._channels import Recipe, Solved
from ._column import Floats, Rows
from ._field_weights import FieldWeights
from ._reasons import Reasons, RecipeInfluence, largest_of
from ._runs import Run
from ._stack import CellView, Trees, one_thread

MOST_CELLS = 2_000_000  # of the channels; beyond, nothing is kept
PROBES = 4
SLACK = 0.1  # that the solves of probes may be off


@dataclass
class GrownTrees:
    """The trees of one column, their inputs and the means of these."""

    seen: CellView
    trees: Trees
    centre: Floats

    def shares(self, run: Run, row: int, chosen: int | None) -> dict[tuple[str, str], float]:
        """By group of inputs, its share of the prediction for a cell (or of its class)."""
        X = self.seen.of(run, np.array([row]), self.trees.scale)
        groups = self.seen.groups(run)
        replaced = np.repeat(X, 1 + len(groups), axis=0)
        start = 0
        for number, (_, _, size) in enumerate(groups, start=1):
            replaced[number, start : start + size] = self.centre[start : start + size]
            start += size
        predicted = self.trees.predict(replaced)[:, chosen or 0]
        moves = np.abs(predicted[1:] - predicted[0])
        shares = moves / (moves.sum() or 1.0)
        return {group[:2]: float(s) for group, s in zip(groups, shares, strict=True)}


@dataclass
class Sources:
    """A run with nothing hidden, and the trees grown on such runs."""

    graph: FieldGraph
    recipes: Mapping[str, Recipe]
    run: Run
    trees: dict[str, GrownTrees] = field(default_factory=dict)
    fields: dict[str, list[FieldWeights]] = field(default_factory=dict)

    @classmethod
    def of_run(cls, graph: FieldGraph, recipes: Mapping[str, Recipe], run: Run) -> Sources | None:
        """None where the table is too large to be kept."""
        width = len(run.columns) if run.completed is None else run.width
        if graph.n_nodes * width > MOST_CELLS:
            return None
        fields = {
            method: [FieldWeights(block, model, graph) for block, model in learnt]
            for method, learnt in run.fields.items()
        }
        return cls(graph, recipes, run, {}, fields)

    def influence(
        self, name: str, parts: Mapping[str, float], predictions: Floats
    ) -> BlendInfluence | None:
        """Of a column that a blend of methods filled; None where one of them is not known here."""
        methods = set(parts)
        if "trees" in parts:
            if name not in self.trees:
                return None
            methods |= set(self.trees[name].seen.methods)
        if methods - {"trees", *self.recipes, *self.fields}:
            return None
        return BlendInfluence(self, name, dict(parts), predictions)

    def field_of(self, method: str, name: str) -> FieldWeights:
        """The block of columns that a column is in."""
        return next(one for one in self.fields[method] if name in one.block.columns)


@dataclass(frozen=True)
class BlendInfluence:
    """The influence of known cells in a column that a field, trees or a blend filled."""

    sources: Sources
    name: str
    parts: dict[str, float]
    predictions: Floats  # [missing, width]

    def of(self, row: int) -> Reasons:
        with one_thread():
            return self._of(row)

    def _of(self, row: int) -> Reasons:
        column = self.sources.run.columns[self.name]
        probabilities, chosen = None, None
        if column.n_classes:
            place = int(np.searchsorted(np.flatnonzero(column.missing), row))
            probabilities = self.predictions[place]
            chosen = int(probabilities.argmax())
        methods, columns, links = self._coefficients(row, chosen)
        total: dict[str, Floats] = defaultdict(lambda: np.zeros(len(column.missing)))
        for method in sorted(methods.keys() & self.sources.recipes.keys()):
            rows, weights = self._recipe(method).weights(row)
            inside = rows < len(column.missing)
            total[self.name][rows[inside]] += methods[method] * weights[inside]
        for method in self.sources.fields:
            relayed = columns if method == list(self.sources.fields)[-1] else {}
            self._add_field(total, method, row, chosen, methods.get(method, 0.0), relayed)
        size = links + sum(float(np.abs(weights).sum()) for weights in total.values())
        scale = 1.0 / max(1.0, size)
        cells = {}
        for name, weights in total.items():
            rows = np.flatnonzero(weights)
            cells[name] = rows, weights[rows] * scale
        classes = column.named(np.arange(float(column.n_classes))) if column.n_classes else ()
        return Reasons(cells, links * scale, probabilities, classes)

    def weights(self, row: int) -> tuple[Rows, Floats]:
        """Rows of known cells of the column, and their weights."""
        return self._of(row).cells.get(self.name, (np.empty(0, np.intp), np.empty(0)))

    def _coefficients(
        self, row: int, chosen: int | None
    ) -> tuple[dict[str, float], dict[str, float], float]:
        """How much methods count in a cell, the row's other columns by trees, and its links."""
        methods = {m: weight for m, weight in self.parts.items() if m != "trees"}
        columns: dict[str, float] = {}
        links = 0.0
        part = self.parts.get("trees", 0.0)
        if part:
            shares = self.sources.trees[self.name].shares(self.sources.run, row, chosen)
            for (kind, name), share in shares.items():
                if kind == "method":
                    methods[name] = methods.get(name, 0.0) + part * share
                elif kind == "column":
                    columns[name] = part * share
                else:
                    links += part * share
        return methods, columns, links

    def _recipe(self, method: str) -> RecipeInfluence:
        recipe, column = self.sources.recipes[method], self.sources.run.columns[self.name]
        graph = self.sources.graph.links
        return RecipeInfluence(graph, self.name, column.missing, recipe.method, recipe.propagation)

    def _add_field(
        self,
        total: dict[str, Floats],
        method: str,
        row: int,
        chosen: int | None,
        coefficient: float,
        columns: Mapping[str, float],
    ) -> None:
        """Add what a field passes on: of the cell itself, and of the row's other columns."""
        run = self.sources.run
        for one in self.sources.fields[method]:
            sums, target = {}, np.empty(0)
            if self.name in one.block.columns:
                target = one.factors(self.name, chosen)
                sums[self.name] = coefficient * target
            for name, share in columns.items():
                if name not in one.block.columns:
                    continue
                assert run.completed is not None
                sums[name] = share * one.relay(name, run.completed[row, run.places[name]])
            if any(np.any(factors) for factors in sums.values()):
                for name, (rows, weights) in one.of(row, sums, self.name, target).items():
                    total[name][rows] += weights

    def copies(self, threshold: float) -> tuple[Rows, Rows, Floats]:
        with one_thread():
            return largest_of(self, self._candidates(threshold), threshold)

    def _candidates(self, threshold: float) -> Rows:
        r"""Missing rows in which one known cell of the column may reach the threshold t.

        With signs s_k at the known cells of the column, a cell becomes sum_k w_k s_k. Where one
        weight is t or more and all sizes add up to 1 at most, that is at least 2 t - 1, whatever
        the signs: a few draws of them leave few other cells.
        """
        column = self.sources.run.columns[self.name]
        missing = np.flatnonzero(column.missing)
        n_known = len(column.missing) - len(missing)
        signs = np.random.default_rng(12).choice([-1.0, 1.0], (n_known, PROBES))
        found = {method: self._probe(method, signs) for method in self._linear}
        size = np.zeros((len(missing), PROBES))
        for method, weight in self.parts.items():
            if method == "trees":  # all that they pass on may come from one method
                size += weight * np.max([*found.values(), size], axis=0)
            else:
                size += weight * found[method]
        return np.asarray(missing[size.min(axis=1) >= 2 * threshold - 1 - SLACK])

    @property
    def _linear(self) -> list[str]:
        seen = self.sources.trees[self.name].seen.methods if "trees" in self.parts else ()
        return sorted({*self.parts, *seen} - {"trees"})

    def _probe(self, method: str, signs: Floats) -> Floats:
        """[missing, probes]: the sizes of the cells when known ones are signs."""
        run, graph = self.sources.run, self.sources.graph
        column = run.columns[self.name]
        if method in self.sources.recipes:
            X = np.full((graph.links.n_nodes, signs.shape[1]), np.nan)
            X[np.flatnonzero(~column.missing)] = signs
            recipe = self.sources.recipes[method]
            filled = recipe.fill(X, graph.links, lambda share: None, Solved())
            return np.abs(filled[np.flatnonzero(column.missing)])
        one = self.sources.field_of(method, self.name)
        classes: list[int | None] = [None]
        if column.n_classes:
            classes = [*map(int, np.unique(self.predictions.argmax(axis=1)))]
        probed = [one.probes(self.name, one.factors(self.name, k), signs) for k in classes]
        return np.asarray(np.abs(probed).max(axis=0))
