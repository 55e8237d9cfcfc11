"""Graphs with several types of nodes and edges: one weighted graph of them all, then as usual."""

from ._propagation import HeteroResult, propagate_hetero

__all__ = ["HeteroResult", "propagate_hetero"]
