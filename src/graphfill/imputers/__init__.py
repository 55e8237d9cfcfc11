"""Imputers: estimators that fill the missing cells of a table, one row per node of a graph."""

from ._baselines import MeanImputer, NeighborMeanImputer, RandomImputer, ZeroImputer
from ._propagation import FeaturePropagation

__all__ = ["FeaturePropagation", "MeanImputer", "NeighborMeanImputer", "RandomImputer"]
__all__ += ["ZeroImputer"]
