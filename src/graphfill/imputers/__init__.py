"""Imputers: estimators that fill the missing cells of a table, one row per node of a graph."""

from .baselines import MeanImputer, NeighborMeanImputer, RandomImputer, ZeroImputer
from .propagation import FeaturePropagation

__all__ = [
    "FeaturePropagation",
    "MeanImputer",
    "NeighborMeanImputer",
    "RandomImputer",
    "ZeroImputer",
]
