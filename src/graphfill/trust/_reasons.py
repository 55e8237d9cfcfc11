"""Which known cells of a column a filled one is made of: the influence that a fill carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..graph import Graph
from ..solve import PropagationOptions, cell_weights, near_copies, neighbor_weights
from ._channels import Recipe, Solved
from ._column import Floats, Mask, Rows


class Influence(Protocol):
    """What one column's missing cells are made of; rows are the first nodes of the graph.

    A method that fills a column may set it as ``ColumnFill.influence``. Without it, nothing is
    said of how much the graph has to do with a filled cell.
    """

    def of(self, row: int) -> tuple[Rows, Floats, float]:
        """Rows of known cells, their weights, and the share of the row's other columns.

        What is left of 1 is the share of the column's mean.
        """

    def copies(self, threshold: float) -> tuple[Rows, Rows, Floats]:
        """Missing rows, the known row whose weight reaches the threshold, and that weight."""


@dataclass(frozen=True)
class RecipeInfluence:
    """The influence of a fill without a learner, which is linear.

    With c the reliance, m the column's mean and w the weights of the known cells x_k, a filled
    number is m + c sum_k w_k (x_k - m); the same holds for the indicators of a category.
    """

    graph: Graph
    missing: Mask  # [rows]
    method: str
    options: PropagationOptions
    reliance: float

    @classmethod
    def of_fill(
        cls, graph: Graph, missing: Mask, recipe: Recipe, solved: Solved, name: str
    ) -> RecipeInfluence:
        """Of a column that a recipe has filled."""
        held = solved.held_out.get(name)
        given = 1.0 if isinstance(recipe.reliance, str) else recipe.reliance
        reliance = given if held is None else held.reliance
        return cls(graph, missing, recipe.method, recipe.propagation, reliance)

    def of(self, row: int) -> tuple[Rows, Floats, float]:
        rows, weights = np.empty(0, np.intp), np.empty(0)
        if self.method == "neighbors":
            rows, weights = neighbor_weights(self.graph, self._known, row)
        elif self.method == "propagation":
            rows, weights = cell_weights(self.graph, self._known, row, self.options)
        return rows, self.reliance * weights, 0.0

    def copies(self, threshold: float) -> tuple[Rows, Rows, Floats]:
        rows, sources, weights = np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
        if self.method == "neighbors":
            rows, sources, weights = self._largest_neighbors(threshold)
        elif self.method == "propagation":
            arguments = self.graph, self._known, self.options, threshold, self.reliance
            rows, sources, weights = near_copies(*arguments)
        inside = rows < len(self.missing)  # nodes that the table lacks have no cell
        return rows[inside], sources[inside], weights[inside]

    def _largest_neighbors(self, threshold: float) -> tuple[Rows, Rows, Floats]:
        known, copies = self._known, []
        for row in np.flatnonzero(self.missing):
            rows, weights = neighbor_weights(self.graph, known, int(row))
            largest = self.reliance * weights.max(initial=0.0)
            if len(rows) and largest >= threshold:
                copies.append((row, rows[weights.argmax()], largest))
        columns = np.array(copies, dtype=np.float64).reshape(-1, 3).T
        return columns[0].astype(np.intp), columns[1].astype(np.intp), columns[2]

    @property
    def _known(self) -> Mask:
        known = np.zeros(self.graph.n_nodes, dtype=bool)
        known[: len(self.missing)] = ~self.missing
        return known
