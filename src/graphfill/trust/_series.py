r"""Series of several places, filled side by side: a row per moment, a column per place.

A table with one row per place and moment is laid out as a matrix of moments and places. A field
(`solve_field`) then learns how the places go together, whatever their distance, and how long a
reading lasts, and fills what is missing from both: by value, or by rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..solve import FieldGraph, solve_field
from ._channels import Recipe, Solved, Tick
from ._column import Floats
from ._ranks import RankScale

SERIES = ("series", "series-rank")  # the names of the methods
MOST_PLACES = 200
FEWEST_PER_PLACE = 20  # known cells; a place with fewer is filled from its neighbours
FULLEST = 0.2  # so much of the matrix at least are rows of the table
MOST_PRODUCTS = 1e8  # of rows, places and columns
ROUNDS, TOLERANCE = 12, 1e-3


@dataclass(frozen=True, eq=False)
class Layout:
    """Where rows stand in a matrix of moments and places.

    Attributes
    ----------
    rows, moment, place : [placed]
    gaps : between the moments, in usual steps
    n_places : int
    """

    rows: NDArray[np.int64]
    moment: NDArray[np.int64]
    place: NDArray[np.int64]
    gaps: Floats
    n_places: int

    @classmethod
    def of(cls, rows: NDArray[np.int64], place: NDArray[np.int64], moment: Floats) -> Layout | None:
        """None where places are few or many, share few moments or have two rows at one.

        Examples
        --------
        >>> places, moments = np.array([0, 0, 1, 1]), np.array([0.0, 1.0, 0.0, 1.0])
        >>> Layout.of(np.arange(4), places, moments).moment
        array([0, 1, 0, 1])
        """
        steps, moments = np.unique(np.floor(moment + 0.5), return_inverse=True)
        places, column = np.unique(place, return_inverse=True)
        if not 2 <= len(places) <= MOST_PLACES:
            return None
        if len(rows) < FULLEST * len(steps) * len(places):
            return None
        if len(np.unique(moments * len(places) + column)) < len(rows):
            return None
        return cls(rows, moments, column, np.diff(steps), len(places))

    @property
    def line(self) -> Graph:
        """The moments, each linked to the next."""
        n = len(self.gaps) + 1
        ends = np.arange(n - 1), np.arange(1, n)
        return Graph.from_edges(*ends, weight=1.0 / self.gaps, n_nodes=n)


@dataclass(frozen=True, kw_only=True)
class SeriesFill(Recipe):
    """Fills columns as matrices of moments and places; places that it knows little of, as a recipe.

    Attributes
    ----------
    layout : of the rows
    by_rank : whether values are taken by rank
    """

    layout: Layout
    by_rank: bool

    def fill(self, X: Floats, graph: Graph, tick: Tick, solved: Solved) -> Floats:
        rows, filled = self.layout.rows, np.nan_to_num(X)
        gaps = np.flatnonzero(np.isnan(X[rows]).any(axis=0))
        if not len(gaps) or len(rows) * self.layout.n_places * len(gaps) > MOST_PRODUCTS:
            tick(1.0)
            return filled
        line = FieldGraph(self.layout.line, self.propagation.n_threads)
        for channel in gaps:
            cells = self._side_by_side(X[rows, channel], line, solved)
            left = np.isnan(cells)
            if left.any():
                others = super().fill(X[:, [channel]], graph, lambda share: None, solved)
                cells[left] = others[rows[left], 0]
            filled[rows, channel] = cells
            tick(1.0 / len(gaps))
        return filled

    def _side_by_side(self, cells: Floats, line: FieldGraph, solved: Solved) -> Floats:
        """The cells filled, NaN at places with few known ones; within the range of these."""
        at = self.layout.moment, self.layout.place
        matrix = np.full((line.n_nodes, self.layout.n_places), np.nan)
        matrix[at] = cells
        speaks = (~np.isnan(matrix)).sum(axis=0) >= FEWEST_PER_PLACE
        if speaks.sum() < 2:
            return cells.copy()
        known = cells[~np.isnan(cells)]
        scale = RankScale(known)
        given = scale.scores(matrix[:, speaks]) if self.by_rank else matrix[:, speaks]
        found = solve_field(given, line, tolerance=TOLERANCE, seed=self.seed, rounds=ROUNDS)
        solved.add(found.system)
        values = scale.values(found.X) if self.by_rank else found.X
        matrix[:, speaks] = np.clip(values, known.min(), known.max())
        return np.asarray(np.where(np.isnan(cells), matrix[at], cells))


def series_recipes(recipe: Recipe, layout: Any) -> dict[str, Recipe]:
    """The methods by name, where the rows are series of several places."""
    if layout is None:
        return {}
    parts = {"seed": recipe.seed, "solve": recipe.solve, "layout": layout}
    plain = recipe.method, recipe.propagation, 1.0
    return {name: SeriesFill(*plain, **parts, by_rank=name == SERIES[1]) for name in SERIES}
