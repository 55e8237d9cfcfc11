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
FAR = 6  # steps; what is farther from a known cell counts as this far


@dataclass(frozen=True)
class CellFeatures:
    """What is known about some rows' cells of a column of numbers without looking at them.

    Attributes
    ----------
    rows : [m]
    propagated : [m]
    neighbours : [m]
        Mean of the neighbours' visible cells; NaN where there are none.
    surroundings : [m, 3]
        How many neighbours are visible, how much they differ, and how many steps away the
        nearest visible cell is.
    """

    rows: Rows
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
    propagated: Sequence[Floats] | None = None,
) -> list[CellFeatures]:
    """The features of ``asked[j]`` while ``hidden[j]`` are hidden, for each j.

    Parameters
    ----------
    recipe : what propagates
    solved : takes the residuals, where they matter
    propagated : what is propagated to each of the asked cells, if that is known already
    """
    limit = recipe.propagation.memory_limit
    budget = BLOCK_BYTES if limit is None else min(BLOCK_BYTES, limit // 4)
    step = max(1, budget // (8 * graph.n_nodes))
    features: list[CellFeatures] = []
    for start in range(0, len(hidden), step):
        some = slice(start, start + step)
        jobs = list(zip(hidden[some], asked[some], strict=True))
        given = None if propagated is None else propagated[some]
        features += _block_features(target, graph, recipe, jobs, solved or Solved(), given)
    return features


def _block_features(
    target: Target,
    graph: Graph,
    recipe: Recipe,
    jobs: Sequence[tuple[Rows, Rows]],
    solved: Solved,
    propagated: Sequence[Floats] | None,
) -> list[CellFeatures]:
    """The same for as many jobs as fit into one block of channels."""
    X = np.full((graph.n_nodes, len(jobs)), np.nan)
    bases, units = np.empty(len(jobs)), np.empty(len(jobs))
    for job, (hidden, _) in enumerate(jobs):
        visible = np.setdiff1d(target.known, hidden, assume_unique=True)
        values = target.levels[visible]
        bases[job], units[job] = values.mean(), float(values.std()) or 1.0
        X[visible, job] = (values - bases[job]) / units[job]
    steps = _distance(~np.isnan(X), graph)
    means, count, spread = _neighbours(X, graph)
    if propagated is None:
        filled = bases + units * recipe.fill(X, graph, lambda share: None, solved)
        propagated = [filled[rows, job] for job, (_, rows) in enumerate(jobs)]
    features = []
    for job, (_, rows) in enumerate(jobs):
        around = np.column_stack([part[rows, job] for part in (count, spread, steps)])
        neighbours = bases[job] + units[job] * means[rows, job]
        features.append(CellFeatures(rows, propagated[job], neighbours, around))
    return features


def _neighbours(X: Floats, graph: Graph) -> tuple[Floats, Floats, Floats]:
    """Mean of the neighbours' visible cells; how many they are; their standard deviation."""
    A = adjacency_matrix(graph)
    known = (~np.isnan(X)).astype(np.float64)
    weight = A @ known
    count = weight if graph.weights is None else (A != 0).astype(np.float64) @ known
    values = np.nan_to_num(X)
    mean = np.divide(A @ values, weight, out=np.full(X.shape, np.nan), where=weight > 0)
    values *= values
    square = np.divide(A @ values, weight, out=np.zeros_like(values), where=weight > 0)
    differ = np.nan_to_num(square - mean**2)
    return mean, count, np.sqrt(np.maximum(differ, 0.0))


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
