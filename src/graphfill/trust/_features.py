"""What the graph says about some cells of a column while others are hidden.

A prediction is only worth something if the cell's own value had no part in it. So everything here
is computed from the visible cells alone: their mean and spread, what they propagate, and what the
neighbours know.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import GraphfillWarning
from ..graph._graph import Graph
from ..solve._propagate import propagate

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

BLOCK_BYTES = 256 << 20  # of channels propagated together
FAR = 6  # steps; what is farther from a known cell counts as this far
Variants = Mapping[str, Mapping[str, Any]]
# What is propagated, by the name of the method, and how.
VARIANTS: Variants = {
    "propagation": {"normalization": "rw", "solver": "exact", "tol": 1e-6},
    "diffusion": {"normalization": "rw", "solver": "diffusion", "n_iter": 40},
    "propagation-sym": {"normalization": "sym", "solver": "exact", "tol": 1e-6},
    "diffusion-sym": {"normalization": "sym", "solver": "diffusion", "n_iter": 40},
}


class Levelled(Protocol):
    """A column as one level per row; see `columns.Column`."""

    @property
    def n_classes(self) -> int: ...
    @property
    def unit(self) -> float: ...
    def levels(self) -> Floats: ...
    def named(self, levels: Floats) -> Any: ...


@dataclass(frozen=True)
class Target:
    """A column to predict: one level per row, NaN where missing.

    Attributes
    ----------
    levels : [rows]
        A number's value but for a scale, or the number of a class.
    n_classes : int
        0 for numbers.
    """

    levels: Floats
    n_classes: int

    @classmethod
    def of(cls, column: Levelled) -> Target:
        return cls(column.levels(), column.n_classes)

    @property
    def width(self) -> int:
        """Channels: one, or one per class."""
        return self.n_classes or 1

    @property
    def known(self) -> Rows:
        return np.flatnonzero(~np.isnan(self.levels))

    @property
    def missing(self) -> Rows:
        return np.flatnonzero(np.isnan(self.levels))

    def truth(self, rows: Rows) -> Floats:
        """[rows, width]: the numbers, or 1 at the class of each."""
        if not self.n_classes:
            return self.levels[rows, None]
        return np.equal(self.levels[rows, None], np.arange(self.n_classes)).astype(np.float64)


@dataclass(frozen=True)
class Clues:
    """What is known about some rows' cells without looking at them.

    Attributes
    ----------
    rows : [m]
    base : [width]
        The mean of the visible cells, or the shares of the classes among them.
    said : [m, width] by variant
        What was propagated.
    neighbours : [m, width]
        Mean of the neighbours' visible cells; NaN where there are none.
    surroundings : [m, 3]
        How many neighbours are visible, how much they differ, and how many steps away the
        nearest visible cell is.
    """

    rows: Rows
    base: Floats
    said: dict[str, Floats]
    neighbours: Floats
    surroundings: Floats


def look(
    target: Target,
    graph: Graph,
    hidden: Sequence[Rows],
    asked: Sequence[Rows],
    variants: Variants,
) -> list[Clues]:
    """The clues about ``asked[j]`` while ``hidden[j]`` are hidden, for each j."""
    per_job = 8 * graph.n_nodes * target.width
    step = max(1, BLOCK_BYTES // per_job)
    found: list[Clues] = []
    for start in range(0, len(hidden), step):
        found += _look(
            target, graph, hidden[start : start + step], asked[start : start + step], variants
        )
    return found


def _look(
    target: Target,
    graph: Graph,
    hidden: Sequence[Rows],
    asked: Sequence[Rows],
    variants: Variants,
) -> list[Clues]:
    width, n_jobs = target.width, len(hidden)
    X = np.full((graph.n_nodes, n_jobs * width), np.nan)
    bases, units = [], []
    for job, rows in enumerate(hidden):
        visible = np.setdiff1d(target.known, rows, assume_unique=True)
        truth = target.truth(visible)
        bases.append(truth.mean(axis=0))
        units.append(1.0 if target.n_classes else float(truth.std()) or 1.0)
        X[visible, job * width : (job + 1) * width] = (truth - bases[-1]) / units[-1]
    spread = {name: _propagate(X, graph, how) for name, how in variants.items()}
    means, around = _neighbours(X, graph, width)
    steps = _distance(~np.isnan(X[:, ::width]), graph)

    found = []
    for job, rows in enumerate(asked):
        at = slice(job * width, (job + 1) * width)
        base, unit = bases[job], units[job]
        found.append(
            Clues(
                rows,
                base,
                {name: base + unit * said[rows, at] for name, said in spread.items()},
                base + unit * means[rows, at],
                np.column_stack([around[0][rows, job], around[1][rows, job], steps[rows, job]]),
            )
        )
    return found


def _propagate(X: Floats, graph: Graph, how: Mapping[str, Any]) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphfillWarning)
        filled: Floats = propagate(X, graph, unreached="zero", **how).X
    return filled


def adjacency(graph: Graph) -> Any:
    """The graph as a SciPy matrix."""
    import scipy.sparse

    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    shape = (graph.n_nodes, graph.n_nodes)
    return graph.derived(
        "matrix", lambda: scipy.sparse.csr_array((weights, graph.indices, graph.indptr), shape)
    )


def _neighbours(X: Floats, graph: Graph, width: int) -> tuple[Floats, tuple[Floats, Floats]]:
    """Mean of the neighbours' visible cells; how many there are and how much they differ.

    Numbers differ by their standard deviation; classes by the chance that two are not the same.
    """
    A = adjacency(graph)
    known = ~np.isnan(X[:, ::width])
    values = np.nan_to_num(X)
    weight = A @ known.astype(np.float64)
    count = (A != 0).astype(np.float64) @ known.astype(np.float64)
    total = np.repeat(weight, width, axis=1)
    nobody = np.full_like(total, np.nan)
    mean = np.divide(A @ values, total, out=nobody, where=total > 0)
    square = np.divide(A @ values**2, total, out=np.zeros_like(total), where=total > 0)
    differ = np.nan_to_num(square - mean**2).reshape(len(X), -1, width).sum(axis=2)
    return mean, (count, np.sqrt(np.maximum(differ, 0.0)))


def distance_to_known(graph: Graph, known: NDArray[np.bool_]) -> Floats:
    """Steps from each node to the nearest row with a known cell, `FAR` at most."""
    visible = np.zeros((graph.n_nodes, 1), dtype=bool)
    visible[: len(known), 0] = known
    return _distance(visible, graph)[:, 0]


def _distance(visible: NDArray[np.bool_], graph: Graph) -> Floats:
    """Steps from each node to the nearest visible one, `FAR` at most."""
    A = adjacency(graph)
    steps = np.where(visible, 0.0, np.inf)
    reached = visible.astype(np.float32)
    for step in range(1, FAR):
        further = (A @ reached > 0) & np.isinf(steps)
        if not further.any():
            break
        steps[further] = step
        reached = np.isfinite(steps).astype(np.float32)
    # A visible cell asked about would be at distance 0 from itself: callers hide what they ask.
    return np.minimum(steps, FAR)
