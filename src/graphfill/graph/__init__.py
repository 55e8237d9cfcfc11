"""Graphs: edges and ids of any kind, as immutable compressed sparse rows."""

from ._components import (
    CACHE_BYTES,
    WORTH_HAVING,
    adjacency_matrix,
    choose_order,
    cluster_order,
    graph_components,
    inverse_order,
    with_self_loops,
)
from ._edges import NUMBERS, check_edge_weights, check_ends, check_numbered, check_weight_total
from ._graph import Graph
from ._ids import (
    as_array,
    as_ids,
    check_distinct_ids,
    check_hashable,
    check_node_count,
    factorize,
    is_table,
)
from ._layout import node_places
from ._readers import check_attribute, from_table, split_pairs, two_rows, weight_attribute

__all__ = [
    "Graph",
    "as_array",
    "as_ids",
    "factorize",
    "from_table",
    "is_table",
    "split_pairs",
    "two_rows",
    "weight_attribute",
]
__all__ += ["CACHE_BYTES", "WORTH_HAVING", "choose_order", "cluster_order", "inverse_order"]
__all__ += ["adjacency_matrix", "graph_components", "node_places", "with_self_loops"]
__all__ += ["NUMBERS", "check_attribute", "check_distinct_ids", "check_edge_weights", "check_ends"]
__all__ += ["check_hashable", "check_node_count", "check_numbered", "check_weight_total"]
