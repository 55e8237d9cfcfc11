"""Edges by type, and the one weighted graph they make together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph import Graph, as_array, from_table, is_table
from . import _refuse_types
from ._nodes import NodeTypes

EdgeType = tuple[str, str, str]
Ends = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Relation:
    """One type of edges between two types of nodes.

    Attributes
    ----------
    key : (source type, relation, target type)
    S : sparse [all nodes, all nodes]
        D^-1/2 A D^-1/2 of these edges alone, in both directions.
    graph : Graph over all nodes, with these edges alone
    ends : source and target of each edge, as listed
    twin : the edge type that lists the same edges the other way round, and counts no more
    """

    key: EdgeType
    S: scipy.sparse.csr_array
    graph: Graph
    ends: Ends
    twin: EdgeType | None = None

    def is_reversed_by(self, key: EdgeType, graph: Graph, ends: Ends) -> bool:
        """Whether these are its edges the other way round, and no other type has been that."""
        if self.twin is not None or (self.key[2], self.key[0]) != (key[0], key[2]):
            return False
        if not _same(graph, self.graph):
            return False
        # Between two types of nodes the types give the direction; within one the lists do.
        return key[0] != key[2] or _same_pairs(self.ends, ends[::-1], graph.n_nodes)


def read_relations(edges: Mapping[EdgeType, Any], nodes: NodeTypes) -> list[Relation]:
    """The edges of each type, normalised; a reverse type is merged into the one it reverses."""
    _refuse_types.check_mapping("edges", edges, "{('author', 'writes', 'paper'): (source, target)}")
    relations: list[Relation] = []
    for key, listed in edges.items():
        _refuse_types.check_edge_type(key, nodes.sizes)
        graph, ends = _one_type(key, listed, nodes)
        reverses = [
            place for place, r in enumerate(relations) if r.is_reversed_by(key, graph, ends)
        ]
        if reverses:  # of several with the same edges the one it is named after, as rev_writes
            place = min(reverses, key=lambda place: relations[place].key[1] not in key[1])
            relations[place] = replace(relations[place], twin=key)
        else:
            relations.append(Relation(key, normalized(graph), graph, ends))
    return relations


def join(relations: list[Relation], weights: Mapping[EdgeType, float]) -> Graph:
    """A = sum_r w_r S_r as one graph over the nodes of all types."""
    n_nodes = relations[0].graph.n_nodes
    A = scipy.sparse.csr_array((n_nodes, n_nodes))
    for relation in relations:
        if weights[relation.key] > 0:
            A = A + weights[relation.key] * relation.S
    return Graph.from_scipy(A)


def normalized(graph: Graph) -> scipy.sparse.csr_array:
    """S = D^-1/2 A D^-1/2; symmetric to the bit."""
    root = np.sqrt(graph.degrees())
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    values = 1.0 / (root[row] * root[graph.indices])
    if graph.weights is not None:
        values *= graph.weights
    shape = (graph.n_nodes, graph.n_nodes)
    return scipy.sparse.csr_array((values, graph.indices, graph.indptr), shape=shape)


def read_weights(relations: list[Relation], weights: Mapping[Any, Any]) -> dict[EdgeType, float]:
    """A weight per edge type, 1 unless given; by its key, that of a twin, or the relation alone."""
    _refuse_types.check_weights_kind(weights)
    names = {
        r.key: {r.key, r.key[1], *((r.twin, r.twin[1]) if r.twin is not None else ())}
        for r in relations
    }
    matches = {given: sum(given in own for own in names.values()) for given in weights}
    _refuse_types.check_weight_keys(weights, matches, list(names))
    read = dict.fromkeys(names, 1.0)
    said: dict[EdgeType, Any] = {}
    for given, weight in weights.items():
        key = next(key for key, own in names.items() if given in own)
        number = _refuse_types.check_relation_weight(given, weight)
        if said.setdefault(key, given) != given:
            _refuse_types.check_one_weight(said[key], read[key], given, number)
        read[key] = number
    return read


def _one_type(key: EdgeType, listed: Any, nodes: NodeTypes) -> tuple[Graph, Ends]:
    """The edges of one type as a graph over all nodes, and as they were listed."""
    weight = None
    if is_table(listed):
        source, target, _ = from_table(listed, None, None, None)
        columns = [source, target]
    else:
        _refuse_types.check_edge_pair(key, listed)
        columns = list(listed[:2])
        weight = listed[2] if len(listed) == 3 else None
    ends: list[NDArray[np.int64]] = []
    for role, kind, column in zip(("source", "target"), (key[0], key[2]), columns, strict=True):
        found, unknown = nodes.rows_of(kind, column, role)
        if unknown is not None:
            raise _refuse_types.unknown_id(key, role, unknown, as_array(column)[unknown])
        rows = _refuse_types.check_typed_ends(key, role, found, nodes.sizes[kind])
        ends.append(rows + nodes.first[kind])
    graph = Graph.from_edges(*ends, weight=weight, n_nodes=nodes.n_nodes)
    return graph, (ends[0], ends[1])


def _same_pairs(one: Ends, other: Ends, n_nodes: int) -> bool:
    """Whether two lists have the same edges in the same direction."""
    first, second = (np.unique(source * n_nodes + target) for source, target in (one, other))
    return np.array_equal(first, second)


def _same(one: Graph, other: Graph) -> bool:
    if not np.array_equal(one.indptr, other.indptr):
        return False
    if not np.array_equal(one.indices, other.indices):
        return False
    if one.weights is None or other.weights is None:
        return one.weights is other.weights
    return bool(np.allclose(one.weights, other.weights))
