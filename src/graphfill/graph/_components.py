"""What is derived from a graph and kept on it: components, loops, and an order that pays.

A step reads one row of the tile per edge. When the tile does not fit into the cache and
neighbours have far-apart numbers, nearly every read goes to memory; numbers that follow
the graph's clusters make a step two to three times faster. Finding them costs about as
much as a dozen passes over a tile of 32 columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ._graph import Graph

Array = np.ndarray

CACHE_BYTES = 16 << 20  # a cautious share of a last-level cache
PASSES_TO_PAY_BACK = 24
WORTH_HAVING = 0.15  # further share of neighbours that must come near


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


def choose_order(graph: Graph, reorder: bool | str, *, row_bytes: int, passes: int) -> Array | None:
    """The order to solve in, or None for the graph's own, given the bytes of one row of a tile and
    how many passes over it are to come."""
    if reorder is False or not len(graph.indices):
        return None
    if reorder is True:
        return cluster_order(graph)
    if graph.n_nodes * row_bytes <= CACHE_BYTES or passes < PASSES_TO_PAY_BACK:
        return None
    window = CACHE_BYTES // row_bytes
    before = nearness(graph, None, window)
    if before > 1.0 - WORTH_HAVING:
        return None
    order = cluster_order(graph)
    return order if nearness(graph, order, window) >= before + WORTH_HAVING else None


def cluster_order(graph: Graph) -> Array:
    """Nodes ordered by cluster; kept on the graph."""
    _, _, walk = graph_components(graph)
    return graph.derived("order", lambda: kernels.cluster_order(graph.indptr, graph.indices, walk))


def nearness(graph: Graph, order: Array | None, window: int) -> float:
    """Share of (sampled) neighbours whose numbers differ by at most ``window``."""
    entries = len(graph.indices)
    sample = np.sort(np.random.default_rng(0).integers(0, entries, min(entries, 100_000)))
    row = np.searchsorted(graph.indptr, sample, side="right") - 1
    column = graph.indices[sample].astype(np.int64)
    if order is not None:
        rank = inverse_order(order)
        row, column = rank[row].astype(np.int64), rank[column].astype(np.int64)
    return float(np.mean(np.abs(row - column) <= window))
