"""Diffusion in which cells count by their distance from what is known, as PCFI and FISF need it.

A cell s hops from the nearest known one of its column has the confidence g = a^s. The mean over
neighbours (and the node itself) weighted by it,

    X <- [A (g.X)] (/) [A g],

is Y <- f . (A Y) for Y = g.X with f = g (/) [A g]: one factor per cell, none per edge and column,
so that all columns of a tile go through one pass over the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..errors import InputError
from ..graph import Graph
from ..kernels import share
from ._operator import Layout, lay_out
from ._problem import Problem, PropagationOptions
from ._solvers import Progress, relative

Array = np.ndarray

# Confidences from here on leave room for values of any ordinary size.
SMALLEST = {"float32": 2.0**-60, "float64": 2.0**-900}
TILES = 6  # more than plain diffusion keeps: cells, factors, confidences, and what NumPy needs
ROWS = 1 << 14  # whose confidences are looked up at once
Confidence = Callable[[Array, Array], Array]  # of some rows and columns, one number per cell


@dataclass(frozen=True)
class Planted:
    """Made-up cells that count as known meanwhile: at most one per column, `row` -1 where none."""

    row: Array
    value: Array

    def into(self, cells: Array, columns: Array) -> None:
        """Put them into a copy of some columns."""
        (at,) = np.nonzero(self.row[columns] >= 0)
        cells[self.row[columns[at]], at] = self.value[columns[at]]


def lay_out_for(
    X: Array, graph: Graph, options: PropagationOptions, smallest: float, besides: int
) -> Layout:
    """The layout, in a type that holds confidences down to the smallest."""
    problem = Problem.of(options, graph, X.dtype)
    if smallest < SMALLEST[problem.dtype.name]:
        problem = replace(problem, dtype=np.dtype(np.float64))
    if smallest < SMALLEST["float64"]:
        raise InputError(
            "Some missing cells are so many hops away from the known ones that their confidence, "
            f"alpha to that power, is below {SMALLEST['float64']:.0e}: pass an alpha nearer to 1, "
            "or fewer steps (n_iter)."
        )
    return lay_out(X, graph, problem, None, more_blocks=TILES, besides=besides)


@dataclass
class WeightedDiffusion:
    """``n_iter`` steps from zero over some columns of X, written to the missing cells of ``out``.

    ``change`` is, per column of X, the norm of the last step's change relative to the first's.
    """

    X: Array
    out: Array
    layout: Layout
    n_iter: int
    confidence: Confidence
    change: Array
    planted: Planted | None = None

    def run(self, columns: Array, tick: Progress) -> None:
        """Diffuse these columns: as many as the layout was made for, or fewer."""
        passes, threads = self.layout.operator.passes, self.layout.operator.threads
        if not len(columns):
            tick(1.0)
            return
        tiles = [(columns[lanes], width) for lanes, width in self.layout.tiles]
        # Narrow work is not worth sharing: then each thread takes whole tiles instead.
        wide = any(passes.shared(width) for _, width in tiles)
        whole_tiles = len(tiles) > 1 and not wide
        self._threads = 1 if whole_tiles else threads
        tiles = [tile for tile in tiles if len(tile[0])]

        def tick_part(share: float) -> None:
            tick(share / len(tiles))

        self._tick: Progress = tick_part
        share(self._diffuse, tiles, threads if whole_tiles else 1)

    def _diffuse(self, columns: Array, width: int) -> None:
        operator, lanes = self.layout.operator, slice(0, len(columns))
        passes, order, dtype = operator.passes, operator.order, operator.dtype
        cells = self.X[:, columns].astype(dtype, order="C")
        missing = np.isnan(cells)
        if self.planted is not None:
            self.planted.into(cells, columns)
        ones = np.ones(len(cells), dtype=dtype)
        y, known = kernels.pack(cells, lanes, order, ones, width, threads=self._threads)
        g, factor, spare = (kernels.empty_tile(len(y), width, dtype) for _ in range(3))
        for lo in range(0, len(g), ROWS):
            rows = np.arange(lo, min(lo + ROWS, len(g))) if order is None else order[lo : lo + ROWS]
            g[lo : lo + ROWS, lanes] = self.confidence(rows[:, None], columns)
        g[:, lanes.stop :] = 0
        factor.fill(0)
        passes.diffuse(ones, np.zeros_like(known), g, factor)
        np.divide(g, factor, out=factor, where=factor > 0)
        np.multiply(y, g, out=y)

        np.copyto(spare, y)
        first = last = np.zeros(width)
        for step in range(1, self.n_iter + 1):
            passes.diffuse_cells(factor, known, y, spare)
            y, spare = spare, y
            if step in (1, self.n_iter):
                last = squared_difference(y, spare)
                first = last if step == 1 else first
            self._tick(1.0 / self.n_iter)
        self.change[columns] = relative(last, first)[lanes]
        np.divide(y, g, out=y, where=g > 0)
        none = np.zeros(width)
        kernels.unpack(
            cells, lanes, order, ones, y, known, shift=none, fill=none, threads=self._threads
        )
        part = self.out[:, columns]
        np.copyto(part, cells, where=missing, casting="same_kind")
        self.out[:, columns] = part


def squared_difference(one: Array, other: Array) -> Array:
    """Column sums of (one - other)^2 in float64, some rows at a time.

    >>> squared_difference(np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2)))
    array([ 4., 10.])
    """
    total = np.zeros(one.shape[1])
    for lo in range(0, len(one), ROWS):
        part = np.subtract(one[lo : lo + ROWS], other[lo : lo + ROWS], dtype=np.float64)
        total += np.square(part, out=part).sum(axis=0)
    return total
