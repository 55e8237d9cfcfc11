"""Edges by type, and the one weighted graph they make together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .. import validate
from ..edges import from_table, is_table
from ..graph import Graph
from ..ids import as_array
from .nodes import NodeTypes

EdgeType = tuple[str, str, str]


@dataclass(frozen=True)
class Relation:
    """One type of edges between two types of nodes.

    Attributes
    ----------
    key : (source type, relation, target type)
    S : sparse [all nodes, all nodes]
        D^-1/2 A D^-1/2 of these edges alone, in both directions.
    graph : Graph over all nodes, with these edges alone
    twins : edge types that list the same edges the other way round, and count no more
    """

    key: EdgeType
    S: scipy.sparse.csr_array
    graph: Graph
    twins: tuple[EdgeType, ...] = ()


def read_relations(edges: Mapping[EdgeType, Any], nodes: NodeTypes) -> list[Relation]:
    """The edges of each type, normalised; a reverse type is merged into the one it reverses."""
    validate.check_mapping("edges", edges, "{('author', 'writes', 'paper'): (source, target)}")
    relations: list[Relation] = []
    for key, listed in edges.items():
        validate.check_edge_type(key, nodes.sizes)
        graph = _one_type(key, listed, nodes)
        for place, other in enumerate(relations):
            if key[0] == other.key[2] and key[2] == other.key[0] and _same(graph, other.graph):
                twins = (*other.twins, key)
                relations[place] = Relation(other.key, other.S, other.graph, twins)
                break
        else:
            relations.append(Relation(key, normalized(graph), graph))
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
    validate.check_weights_kind(weights)
    names = {r.key: {r.key, r.key[1], *r.twins, *(t[1] for t in r.twins)} for r in relations}
    matches = {given: sum(given in own for own in names.values()) for given in weights}
    validate.check_weight_keys(weights, matches, list(names))
    read = dict.fromkeys(names, 1.0)
    for given, weight in weights.items():
        key = next(key for key, own in names.items() if given in own)
        read[key] = validate.check_relation_weight(given, weight)
    return read


def _one_type(key: EdgeType, listed: Any, nodes: NodeTypes) -> Graph:
    """The edges of one type as a graph over all nodes."""
    weight = None
    if is_table(listed):
        source, target, _ = from_table(listed, None, None, None)
        columns = [source, target]
    else:
        validate.check_edge_pair(key, listed)
        columns = list(listed[:2])
        weight = listed[2] if len(listed) == 3 else None
    ends: list[NDArray[np.int64]] = []
    for role, kind, column in zip(("source", "target"), (key[0], key[2]), columns, strict=True):
        found, unknown = nodes.rows_of(kind, column, role)
        if unknown is not None:
            raise validate.unknown_id(key, role, unknown, as_array(column)[unknown])
        rows = validate.check_typed_ends(key, role, found, nodes.sizes[kind])
        ends.append(rows + nodes.first[kind])
    return Graph.from_edges(*ends, weight=weight, n_nodes=nodes.n_nodes)


def _same(one: Graph, other: Graph) -> bool:
    if not np.array_equal(one.indptr, other.indptr):
        return False
    if not np.array_equal(one.indices, other.indices):
        return False
    if one.weights is None or other.weights is None:
        return one.weights is other.weights
    return bool(np.allclose(one.weights, other.weights))
