"""How much each type of edges should count, by predicting cells hidden on purpose."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GraphfillWarning
from ..graph._components import graph_components
from ..graph._graph import Graph
from ..solve import PropagationOptions
from ..solve._propagate import propagate_with
from ._nodes import NodeTypes
from ._relations import EdgeType, Relation, join

CANDIDATES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
HIDDEN = 0.1
MOST_COLUMNS = 128  # of each block; more would improve the choice little
MOST_ROUNDS = 3
SURE = 2.0  # standard errors that a change has to gain


class Trial:
    """Some columns with a tenth of their known cells hidden, and how well weights predict these.

    The error of a cell is squared and relative to its column's variance; a block's hidden cells
    are those of the types that lack some cells, since that is where predictions are needed.
    """

    def __init__(self, nodes: NodeTypes, options: PropagationOptions, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.options = replace(options, unreached="mean")
        self.blocks: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        for _, kinds, X, _ in nodes.blocks():
            known = ~np.isnan(X)
            spread = np.array([np.var(X[known[:, c], c]) if known[:, c].any() else 0.0
                               for c in range(X.shape[1])])  # fmt: skip
            useful = np.flatnonzero(spread > 0)
            if not len(useful):
                continue
            columns = np.sort(rng.permutation(useful)[:MOST_COLUMNS])
            X, known = X[:, columns], known[:, columns]
            wanted = np.zeros(len(X), dtype=bool)
            for kind in kinds:
                cells = known[nodes.rows(kind)]
                wanted[nodes.rows(kind)] = cells.any() and not cells.all()
            if not wanted.any():
                wanted[:] = True
            hidden = known & wanted[:, None] & (rng.random(X.shape) < HIDDEN)
            if hidden.any():
                self.blocks.append((X, hidden, spread[columns]))

    def errors(self, graph: Graph) -> NDArray[np.float64]:
        """The error of each hidden cell."""
        errors = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphfillWarning)
            for X, hidden, spread in self.blocks:
                filled = propagate_with(np.where(hidden, np.nan, X), graph, self.options).X
                _, column = np.nonzero(hidden)
                errors.append((filled[hidden] - X[hidden]) ** 2 / spread[column])
        return np.concatenate(errors).astype(np.float64)


def choose_weights(
    nodes: NodeTypes, relations: list[Relation], options: PropagationOptions, seed: int
) -> tuple[dict[EdgeType, float], dict[tuple[float, ...], float]]:
    """Start from equal weights; change one at a time while the hidden cells gain by it.

    A change is kept only if the paired differences of the errors are below zero by two standard
    errors; of the candidates for one weight that are so, the best. A weight of 0 is not tried
    where it would cut nodes off, which no hidden cell could tell.
    """
    weights = {relation.key: 1.0 for relation in relations}
    trial = Trial(nodes, options, seed)
    if not trial.blocks or len(relations) < 2:
        return weights, {}  # nothing to hide, or only a common factor to choose
    whole = join(relations, weights)
    n_parts = graph_components(whole)[0]
    best = trial.errors(whole)
    scores = {tuple(weights.values()): float(best.mean())}
    for _ in range(MOST_ROUNDS):
        before = dict(weights)
        for key in weights:
            start, chosen = best, weights
            for candidate in CANDIDATES:
                changed = weights | {key: candidate}
                if tuple(changed.values()) in scores or not any(changed.values()):
                    continue
                graph = join(relations, changed)
                if graph_components(graph)[0] > n_parts:
                    continue
                errors = trial.errors(graph)
                scores[tuple(changed.values())] = float(errors.mean())
                if errors.mean() < best.mean() and _surely_less(errors, start):
                    best, chosen = errors, changed
            weights = chosen
        if weights == before:
            break
    return weights, scores


def _surely_less(errors: NDArray[np.float64], than: NDArray[np.float64]) -> bool:
    gain = than - errors
    return bool(gain.mean() > SURE * gain.std() / np.sqrt(len(gain)))
