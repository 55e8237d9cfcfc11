"""Links of one kind, as a graph; and several kinds of them, each with a strength, as one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Relation:
    """Links of one kind between rows, or between rows and nodes that are no rows.

    Attributes
    ----------
    name : what links the rows, as sentences say it: "by nearness in 'lat', 'lon'"
    graph : Graph
        Its first `n_rows` nodes are the rows; the others are its own: a household, a place.
    n_rows : int
    own : one name per own node, in their order
    n_unlinked : rows that lack what links them
    notes : sentences on how it was read
    shared : whether its own nodes are those of all other shared relations too
    """

    name: str
    graph: Graph
    n_rows: int
    own: Sequence[Any] = ()
    n_unlinked: int = 0
    notes: tuple[str, ...] = ()
    shared: bool = False

    def in_order(self, order: NDArray[Any] | None) -> Relation:
        """The same with its rows in another order: row k is what ``order[k]`` was."""
        return self if order is None else replace(self, graph=reordered(self.graph, order))

    @property
    def degree(self) -> float:
        """The mean over the rows that are linked of the weight of their links."""
        degrees = self.graph.degrees()[: self.n_rows]
        linked = degrees[degrees > 0]
        return float(linked.mean()) if linked.size else 1.0


def relation_of(
    name: str,
    ends: tuple[Integers, Integers],
    weights: Floats | None,
    n_rows: int,
    own: Sequence[Any] = (),
    n_unlinked: int = 0,
    notes: tuple[str, ...] = (),
) -> Relation:
    """A relation from its links; of a pair that is listed twice the larger weight counts."""
    graph = Graph.from_edges(*ends, weight=weights, n_nodes=n_rows + len(own), merge="max")
    return Relation(name, graph, n_rows, own, n_unlinked, notes)


def reordered(graph: Graph, order: NDArray[Any]) -> Graph:
    """The graph whose first nodes are taken in another order.

    Examples
    --------
    >>> reordered(Graph.from_edges([0], [2], n_nodes=4), np.array([2, 1, 0])).degrees().tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    place = np.arange(graph.n_nodes)
    place[order] = np.arange(len(order))
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    once = row <= graph.indices
    weights = None if graph.weights is None else graph.weights[once]
    ends = place[row[once]], place[graph.indices[once]]
    return Graph.from_edges(*ends, weight=weights, n_nodes=graph.n_nodes)


def own_nodes(relations: Sequence[Relation]) -> list[Any]:
    """The names of all nodes that are no rows: those that are shared once, and first."""
    shared = next((one.own for one in relations if one.shared), ())
    return [*shared, *(name for one in relations if not one.shared for name in one.own)]


def union(relations: Sequence[Relation], strengths: Sequence[float]) -> Graph:
    r"""All links as one graph: rows first, then the own nodes of each relation in turn.

    .. math:: A = \sum_r s_r A_r / \bar d_r

    with :math:`\bar d_r` the mean degree of the rows that relation r links. One relation alone is
    left as it is.

    Examples
    --------
    >>> pair = Relation("a", Graph.from_edges([0], [1], n_nodes=3), 3)
    >>> house = Relation("b", Graph.from_edges([1, 2], [3, 3], n_nodes=4), 3, ["a house"])
    >>> union([pair, house], [1.0, 0.5]).degrees().tolist()
    [1.0, 1.5, 0.5, 1.0]
    """
    from scipy import sparse

    kept = [number for number, strength in enumerate(strengths) if strength > 0]
    if len(kept) == 1 and len(relations) == 1:
        return relations[0].graph
    n_rows = relations[0].n_rows
    total, offset = None, max((len(one.own) for one in relations if one.shared), default=0)
    n_nodes = n_rows + offset + sum(len(one.own) for one in relations if not one.shared)
    for number, one in enumerate(relations):
        if number in kept:
            start = 0 if one.shared else offset
            part = _padded(one, start, n_nodes, strengths[number] / one.degree)
            total = part if total is None else total + part
        offset += 0 if one.shared else len(one.own)
    if total is None:
        total = sparse.csr_array((n_nodes, n_nodes))
    total.sort_indices()
    indptr, indices = total.indptr.astype(np.int64), total.indices.astype(np.int32)
    return Graph.of_sorted_rows(indptr, indices, total.data)


def _padded(one: Relation, offset: int, n_nodes: int, factor: float) -> Any:
    """The adjacency matrix among all nodes; its own nodes lie `offset` behind the rows."""
    from scipy import sparse

    graph, n = one.graph, one.n_rows
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    indices = graph.indices.astype(np.int64)
    indices[indices >= n] += offset
    count = np.zeros(n_nodes, dtype=np.int64)
    lengths = np.diff(graph.indptr)
    count[:n], count[n + offset : n + offset + len(one.own)] = lengths[:n], lengths[n:]
    indptr = np.concatenate([[0], np.cumsum(count)])
    return sparse.csr_array((weights * factor, indices, indptr), shape=(n_nodes, n_nodes))
