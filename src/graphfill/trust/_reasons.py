"""Which known cells a filled one is made of: the influence that a fill carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..graph import Graph
from ..solve import PropagationOptions, cell_weights, near_copies, neighbor_weights
from ._channels import Recipe, Solved
from ._column import Floats, Mask, Rows


@dataclass
class Reasons:
    """What one filled cell is made of.

    Attributes
    ----------
    cells : by column, rows of known cells and their weights
        What the sizes of all weights lack of 1 is the share of the column's mean.
    links : the share of the number of links that the row has, which trees look at
    probabilities, classes : [classes] or None; without, the weights of a class add up to its own
    """

    cells: dict[str, tuple[Rows, Floats]]
    links: float = 0.0
    probabilities: Floats | None = None
    classes: Sequence[Any] = ()


class Influence(Protocol):
    """What one column's missing cells are made of; rows are the first nodes of the graph.

    A method that fills a column may set it as ``ColumnFill.influence``. Without it, nothing is
    said of how much the graph has to do with a filled cell.
    """

    def of(self, row: int) -> Reasons:
        """What the missing cell of a row is made of."""

    def copies(self, threshold: float) -> tuple[Rows, Rows, Floats]:
        """Missing rows, the known row whose weight reaches the threshold, and that weight."""


@dataclass(frozen=True)
class RecipeInfluence:
    """The influence of a fill without a learner, which is linear.

    With c the reliance, m the column's mean and w the weights of the known cells x_k, a filled
    number is m + c sum_k w_k (x_k - m); the same holds for the indicators of a category.
    """

    graph: Graph
    name: str
    missing: Mask  # [rows]
    method: str
    options: PropagationOptions
    reliance: float = 1.0

    @classmethod
    def of_fill(
        cls, graph: Graph, missing: Mask, recipe: Recipe, solved: Solved, name: str
    ) -> RecipeInfluence:
        """Of a column that a recipe has filled."""
        held = solved.held_out.get(name)
        given = 1.0 if isinstance(recipe.reliance, str) else recipe.reliance
        reliance = given if held is None else held.reliance
        return cls(graph, name, missing, recipe.method, recipe.propagation, reliance)

    def of(self, row: int) -> Reasons:
        return Reasons({self.name: self.weights(row)})

    def weights(self, row: int) -> tuple[Rows, Floats]:
        """Rows of known cells of the column, and their weights."""
        rows, weights = np.empty(0, np.intp), np.empty(0)
        if self.method == "neighbors":
            rows, weights = neighbor_weights(self.graph, self._known, row)
        elif self.method == "propagation":
            rows, weights = cell_weights(self.graph, self._known, row, self.options)
        return rows, self.reliance * weights

    def copies(self, threshold: float) -> tuple[Rows, Rows, Floats]:
        rows, sources, weights = np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
        if self.method == "neighbors":
            return largest_of(self, np.flatnonzero(self.missing), threshold)
        if self.method == "propagation":
            arguments = self.graph, self._known, self.options, threshold, self.reliance
            rows, sources, weights = near_copies(*arguments)
        inside = rows < len(self.missing)  # nodes that the table lacks have no cell
        return rows[inside], sources[inside], weights[inside]

    @property
    def _known(self) -> Mask:
        known = np.zeros(self.graph.n_nodes, dtype=bool)
        known[: len(self.missing)] = ~self.missing
        return known


class ByCell(Protocol):
    """What can say of one cell how much the known cells of its column count in it."""

    def weights(self, row: int) -> tuple[Rows, Floats]: ...


def largest_of(influence: ByCell, rows: Rows, threshold: float) -> tuple[Rows, Rows, Floats]:
    """As `Influence.copies`, from the weights of some rows, one after another."""
    copies = []
    for row in rows:
        known, weights = influence.weights(int(row))
        if len(known) and weights.max() >= threshold:
            copies.append((row, known[weights.argmax()], weights.max()))
    columns = np.array(copies, dtype=np.float64).reshape(-1, 3).T
    return columns[0].astype(np.intp), columns[1].astype(np.intp), columns[2]
