"""Imputers: estimators that fill the missing cells of a table, one row per node of a graph."""

from ._baselines import MeanImputer, NeighborMeanImputer, RandomImputer, ZeroImputer
from ._field import FieldImputer
from ._propagation import FeaturePropagation
from ._spectral import SpectralImputer

__all__ = ["FeaturePropagation", "FieldImputer", "MeanImputer", "NeighborMeanImputer"]
__all__ += ["RandomImputer", "SpectralImputer", "ZeroImputer"]
