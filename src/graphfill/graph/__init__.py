"""Graphs: edges and ids of any kind, as immutable compressed sparse rows."""

from ._graph import Graph

__all__ = ["Graph"]
