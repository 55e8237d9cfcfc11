"""Where to draw the nodes of a small graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._graph import Graph

STEPS = 200
PULL = 0.5  # towards the middle, so that parts without a link between them stay in view


def node_places(graph: Graph, seed: int = 0) -> NDArray[np.float64]:
    """A place in the unit square per node, linked nodes near each other: [n_nodes, 2].

    Springs and repulsion (Fruchterman and Reingold): with k the distance that n nodes have where
    they share the square evenly, a node at distance d pushes another by k^2 / d, a link pulls its
    ends by d^2 / k, and steps get shorter until nothing moves. Time and memory grow with n^2.

    Examples
    --------
    >>> near, far = np.abs(np.diff(node_places(Graph.from_edges([0, 2], [1, 3])), axis=0))[:2]
    >>> bool(np.hypot(*near) < np.hypot(*far))
    True
    """
    n = graph.n_nodes
    places = np.random.default_rng(seed).random((n, 2)) - 0.5
    first = np.repeat(np.arange(n), np.diff(graph.indptr))
    linked = np.zeros((n, n), dtype=bool)
    linked[first, graph.indices] = True
    k = 1.0 / np.sqrt(max(n, 1))
    for step in range(STEPS):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.sqrt(np.square(apart).sum(axis=2)), 1e-3)
        force = np.square(k / distance) - np.where(linked, distance / k, 0.0)
        moved = (apart * force[:, :, None]).sum(axis=1) - PULL * places
        length = np.maximum(np.sqrt(np.square(moved).sum(axis=1)), 1e-9)
        places += moved * (np.minimum(length, 0.1 * (1 - step / STEPS)) / length)[:, None]
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.where(high > low, high - low, 1.0))
