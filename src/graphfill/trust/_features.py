"""Features of some cells of a column that the graph gives while other cells are hidden.

A prediction is only worth something if the cell's own value had no part in it. So everything here
is computed from the visible cells alone: their mean and spread, what they propagate, and what the
neighbours know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph, adjacency_matrix
from ._channels import Recipe, Solved
from ._column import Rows, Target

Floats = NDArray[np.float64]

BLOCK_BYTES = 256 << 20  # of channels propagated together
SUMMED = 16  # channels whose neighbours are added up together
FAR = 6  # steps; what is farther from a known cell counts as this far


@dataclass(frozen=True)
class CellFeatures:
    """What is known about some rows' cells without looking at them.

    Attributes
    ----------
    rows : [m]
    base : [width]
        The mean of the visible cells, or the shares of the classes among them.
    propagated : [m, width]
    neighbours : [m, width]
        Mean of the neighbours' visible cells; NaN where there are none.
    surroundings : [m, 3]
        How many neighbours are visible, how much they differ, and how many steps away the
        nearest visible cell is.
    """

    rows: Rows
    base: Floats
    propagated: Floats
    neighbours: Floats
    surroundings: Floats


def cell_features(
    target: Target,
    graph: Graph,
    recipe: Recipe,
    hidden: Sequence[Rows],
    asked: Sequence[Rows],
    solved: Solved | None = None,
) -> list[CellFeatures]:
    """The features of ``asked[j]`` while ``hidden[j]`` are hidden, for each j.

    `solved` takes the residuals, where they matter.
    """
    limit = recipe.propagation.memory_limit
    budget = BLOCK_BYTES if limit is None else min(BLOCK_BYTES, limit // 4)
    step = max(1, budget // (8 * graph.n_nodes * target.width))
    features: list[CellFeatures] = []
    for start in range(0, len(hidden), step):
        jobs = list(zip(hidden[start : start + step], asked[start : start + step], strict=True))
        features += _block_features(target, graph, recipe, jobs, solved or Solved())
    return features


def _block_features(
    target: Target,
    graph: Graph,
    recipe: Recipe,
    jobs: Sequence[tuple[Rows, Rows]],
    solved: Solved,
) -> list[CellFeatures]:
    """The same for as many jobs as fit into one block of channels."""
    width = target.width
    X = np.full((graph.n_nodes, len(jobs) * width), np.nan)
    bases, units = [], []
    for job, (hidden, _) in enumerate(jobs):
        visible = np.setdiff1d(target.known, hidden, assume_unique=True)
        truth = target.truth(visible)
        bases.append(truth.mean(axis=0))
        units.append(1.0 if target.n_classes else float(truth.std()) or 1.0)
        X[visible, job * width : (job + 1) * width] = (truth - bases[-1]) / units[-1]
    propagated = recipe.fill(X, graph, lambda share: None, solved)
    means, (count, spread) = _neighbours(X, graph, width)
    steps = _distance(~np.isnan(X[:, ::width]), graph)
    features = []
    for job, (_, rows) in enumerate(jobs):
        at = slice(job * width, (job + 1) * width)
        base, unit = bases[job], units[job]
        around = np.column_stack([count[rows, job], spread[rows, job], steps[rows, job]])
        features.append(
            CellFeatures(
                rows,
                base,
                base + unit * propagated[rows, at],
                base + unit * means[rows, at],
                around,
            )
        )
    return features


def _neighbours(X: Floats, graph: Graph, width: int) -> tuple[Floats, tuple[Floats, Floats]]:
    """Mean of the neighbours' visible cells; how many there are and how much they differ.

    Numbers differ by their standard deviation; classes by the chance that two are not the same.
    """
    A = adjacency_matrix(graph)
    known = (~np.isnan(X[:, ::width])).astype(np.float64)
    weight = A @ known
    count = weight if graph.weights is None else (A != 0).astype(np.float64) @ known
    mean, differ = np.full(X.shape, np.nan), np.zeros(known.shape)
    for job in range(known.shape[1]):
        total = weight[:, job, None]
        for start in range(job * width, (job + 1) * width, SUMMED):  # channels at once
            at = slice(start, min(start + SUMMED, (job + 1) * width))
            values = np.nan_to_num(X[:, at])
            np.divide(A @ values, total, out=mean[:, at], where=total > 0)
            values *= values
            square = np.divide(A @ values, total, out=np.zeros_like(values), where=total > 0)
            differ[:, job] += np.nan_to_num(square - mean[:, at] ** 2).sum(axis=1)
    return mean, (count, np.sqrt(np.maximum(differ, 0.0)))


def distance_to_known(graph: Graph, known: NDArray[np.bool_]) -> Floats:
    """Steps from each node to the nearest row with a known cell, `FAR` at most."""
    visible = np.zeros((graph.n_nodes, 1), dtype=bool)
    visible[: len(known), 0] = known
    return _distance(visible, graph)[:, 0]


def _distance(visible: NDArray[np.bool_], graph: Graph) -> Floats:
    """Steps from each node to the nearest visible one, `FAR` at most."""
    A = adjacency_matrix(graph)
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
