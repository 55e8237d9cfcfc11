"""Graphs: edges and ids of any kind, as immutable compressed sparse rows."""

from ._components import adjacency_matrix, graph_components
from ._edges import is_table
from ._graph import Graph
from ._refuse_graphs import check_hashable

__all__ = ["Graph", "adjacency_matrix", "check_hashable", "graph_components", "is_table"]
