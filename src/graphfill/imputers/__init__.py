"""Imputers: estimators that fill the missing cells of a table, one row per node of a graph."""

from ._baselines import MeanImputer, NeighborMeanImputer, RandomImputer, ZeroImputer
from ._field import FieldImputer
from ._network_input import NetworkInput, network_input
from ._pcfi import FISF, PCFI
from ._propagation import FeaturePropagation
from ._spectral import SpectralImputer

__all__ = ["FISF", "PCFI", "FeaturePropagation", "FieldImputer", "MeanImputer"]
__all__ += ["NeighborMeanImputer", "NetworkInput", "RandomImputer", "SpectralImputer"]
__all__ += ["ZeroImputer", "network_input"]
