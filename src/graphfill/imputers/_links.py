"""Edges that arrive with new nodes: read, and joined to the graph that is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph import (
    Graph,
    as_ids,
    check_ends,
    check_numbered,
    from_table,
    is_table,
    split_pairs,
)
from . import _refuse


def read_links(graph: Graph, labels: Any, n_new: int, new_edges: Any, weight: Any) -> Graph:
    """New edges as a graph of the fitted nodes and, after them, the new ones.

    Parameters
    ----------
    labels : ids of the new nodes, where the graph has ids; None otherwise
    new_edges : pairs, an array of shape (2, n_edges) or (n_edges, 2), or a table of edges
    weight : one number per edge, or the name of a column of the table
    """
    n_old = graph.n_nodes
    _refuse.check_weights_alike(graph.weights is not None, weight)
    if is_table(new_edges):
        name = weight if isinstance(weight, str) else None
        source, target, weights = from_table(new_edges, None, None, name)
        weight = weights if name is not None else weight
    else:
        source, target = split_pairs(new_edges)
    source, target = as_ids(source, "source"), as_ids(target, "target")
    check_ends(source, target)
    if graph.ids is not None:
        _refuse.check_newcomers_named(labels)
        names = as_ids(labels, "node").tolist()
        _refuse.check_newcomer_count(len(names), n_new)
        own = graph.ids
        known = graph.derived("row of id", lambda: {id: row for row, id in enumerate(own.tolist())})
        fresh = _refuse.check_new_ids(names, known)

        def rows(ends: NDArray[Any]) -> NDArray[np.int64]:
            found = np.empty(len(ends), dtype=np.int64)
            for number, node in enumerate(ends.tolist()):
                row = known.get(node)
                if row is None:
                    if node not in fresh:
                        raise _refuse.unknown_end(number, node, n_old, n_new)
                    row = n_old + fresh[node]
                found[number] = row
            return found

        source, target = rows(source), rows(target)
    else:
        check_numbered(source, target, n_old + n_new)
        for ends in (source, target):
            outside = (ends < 0) | (ends >= n_old + n_new)
            if outside.any():
                number = int(np.argmax(outside))
                raise _refuse.unknown_end(number, ends[number], n_old, n_new)
    _refuse.check_some_end_new(source, target, n_old)
    return Graph.from_edges(source, target, weight=weight, n_nodes=n_old + n_new)


def grown(graph: Graph, links: Graph) -> Graph:
    """The fitted graph with the new nodes and edges, without ids."""
    n = links.n_nodes
    weighted = graph.weights is not None or links.weights is not None

    def matrix(part: Graph) -> scipy.sparse.csr_array:
        weights = np.ones(len(part.indices)) if part.weights is None else part.weights
        ends = np.full(n + 1 - len(part.indptr), part.indptr[-1])
        return scipy.sparse.csr_array(
            (weights, part.indices, np.concatenate([part.indptr, ends])), shape=(n, n)
        )

    # No edge is in both, so that none is summed: SciPy merges the rows.
    both = matrix(graph) + matrix(links)
    return Graph.of_sorted_rows(
        both.indptr.astype(np.int64, copy=False),
        both.indices.astype(np.int32, copy=False),
        both.data if weighted else None,
        n_self_loops=graph.n_self_loops + links.n_self_loops,
    )
