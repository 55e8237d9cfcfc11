"""Imputers: estimators that fill the missing cells of a table, one row per node of a graph."""

from ._baselines import MeanImputer, NeighborMeanImputer, RandomImputer, ZeroImputer
from ._field import FieldImputer
from ._pcfi import FISF, PCFI
from ._propagation import FeaturePropagation
from ._spectral import SpectralImputer

__all__ = ["FISF", "PCFI", "FeaturePropagation", "FieldImputer", "MeanImputer"]
__all__ += ["NeighborMeanImputer", "RandomImputer", "SpectralImputer", "ZeroImputer"]
