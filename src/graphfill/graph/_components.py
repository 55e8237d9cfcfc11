"""What is derived from a graph and kept on it: its components, and the graph with self-loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ._graph import Graph

Array = np.ndarray


def graph_components(graph: Graph) -> tuple[int, Array, Array]:
    """Number of components, label per node, nodes in breadth-first order; kept on the graph."""
    return graph.derived("components", lambda: kernels.components(graph.indptr, graph.indices))


def inverse_order(order: Array) -> Array:
    """rank with rank[order[r]] = r."""
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def with_self_loops(graph: Graph) -> Graph:
    """The graph with a loop of weight one at every node that has none; kept on the graph."""

    def compute() -> Graph:
        rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
        nodes = np.arange(graph.n_nodes, dtype=np.int32)
        loops = np.setdiff1d(nodes, rows[rows == graph.indices])
        weight = None
        if graph.weights is not None:
            weight = np.concatenate([graph.weights, np.ones(len(loops))])
        return Graph.from_edges(
            np.concatenate([rows, loops]),
            np.concatenate([graph.indices, loops]),
            weight=weight,
            n_nodes=graph.n_nodes,
            self_loops=True,
        )

    return graph.derived("with self-loops", compute)


def adjacency_matrix(graph: Graph) -> Any:
    """The graph as a SciPy matrix; kept on the graph."""
    import scipy.sparse

    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    shape = (graph.n_nodes, graph.n_nodes)
    return graph.derived(
        "matrix", lambda: scipy.sparse.csr_array((weights, graph.indices, graph.indptr), shape)
    )
