"""Graphs: edges and ids of any kind, as immutable compressed sparse rows."""

from ._components import adjacency_matrix, graph_components, inverse_order, with_self_loops
from ._edges import NUMBERS, check_edge_weights, check_ends, check_numbered, check_weight_total
from ._graph import Graph
from ._ids import (
    as_array,
    as_ids,
    check_distinct_ids,
    check_hashable,
    check_node_count,
    factorize,
)
from ._ordering import CACHE_BYTES, WORTH_HAVING, choose_order, cluster_order
from ._readers import check_attribute, from_table, is_table, split_pairs, weight_attribute

__all__ = [
    "CACHE_BYTES",
    "NUMBERS",
    "WORTH_HAVING",
    "Graph",
    "adjacency_matrix",
    "as_array",
    "as_ids",
    "check_attribute",
    "check_distinct_ids",
    "check_edge_weights",
    "check_ends",
    "check_hashable",
    "check_node_count",
    "check_numbered",
    "check_weight_total",
    "choose_order",
    "cluster_order",
    "factorize",
    "from_table",
    "graph_components",
    "inverse_order",
    "is_table",
    "split_pairs",
    "weight_attribute",
    "with_self_loops",
]
