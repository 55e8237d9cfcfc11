"""Edges that arrive with new nodes: read, and joined to the graph that is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InputError, named
from ..graph import Graph, as_ids, check_ends, check_numbered, from_table, is_table, split_pairs


def read_links(graph: Graph, labels: Any, n_new: int, new_edges: Any, weight: Any) -> Graph:
    """New edges as a graph of the fitted nodes and, after them, the new ones.

    `labels` are the ids of the new nodes where the graph has ids; edges and their weight may come
    in all forms that `transform_new` takes.
    """
    if graph.weights is not None and weight is None:
        raise InputError(
            "The fitted graph has edge weights but the new edges have none: pass weight=, one "
            "number per edge or the name of a column."
        )
    if is_table(new_edges):
        name = weight if isinstance(weight, str) else None
        source, target, weights = from_table(new_edges, None, None, name)
        weight = weights if name is not None else weight
    else:
        source, target = split_pairs(new_edges)
    source, target = as_ids(source, "source"), as_ids(target, "target")
    check_ends(source, target)
    n_old, n_nodes = graph.n_nodes, graph.n_nodes + n_new
    listed = source, target
    if graph.ids is None:
        check_numbered(source, target, n_nodes)
    else:
        ids = graph.ids
        known = graph.derived("row of id", lambda: {id: row for row, id in enumerate(ids.tolist())})
        new = _rows_of_new_ids(labels, known, n_old, n_new)
        source, target = (
            np.array([known.get(id, new.get(id, -1)) for id in ends.tolist()], dtype=np.int64)
            for ends in listed
        )
    for ends, rows in zip(listed, (source, target), strict=True):
        outside = (rows < 0) | (rows >= n_nodes)
        if outside.any():
            number = int(np.argmax(outside))
            raise InputError(
                f"New edge {number} ends at {named(ends.tolist()[number])}, which is neither one "
                f"of the {n_old} fitted nodes nor one of the {n_new} new ones: add its row, or "
                "drop the edge."
            )
    between_old = (source < n_old) & (target < n_old)
    if between_old.any():
        number = int(np.argmax(between_old))
        raise InputError(
            f"New edge {number} links two fitted nodes (rows {source[number]} and "
            f"{target[number]}; {int(between_old.sum())} such edge(s)): fit again to add edges "
            "between old nodes."
        )
    return Graph.from_edges(source, target, weight=weight, n_nodes=n_nodes)


def _rows_of_new_ids(
    labels: Any, known: Mapping[Any, int], n_old: int, n_new: int
) -> dict[Any, int]:
    """The row of each new node among all; `known` are those of the fitted ones."""
    if labels is None:
        raise InputError(
            "The graph has ids but the new rows have none: pass a pandas table whose index holds "
            "them, or ids=."
        )
    ids = as_ids(labels, "node").tolist()
    if len(ids) != n_new:
        raise InputError(f"There are {len(ids)} ids for {n_new} new row(s): pass one id per row.")
    rows: dict[Any, int] = {}
    for row, id in enumerate(ids):
        if id in known:
            raise InputError(
                f"The new row {row} has the id {named(id)}, which the fitted graph has already "
                f"(node {known[id]}): pass new nodes only, or fit again to change old ones."
            )
        if id in rows:
            raise InputError(
                f"The id {named(id)} occurs twice, in the new rows {rows[id] - n_old} and {row}: "
                "pass one row per node."
            )
        rows[id] = n_old + row
    return rows


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
