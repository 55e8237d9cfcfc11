"""Fill missing features of PyG graphs: transforms for Data, Batch and HeteroData.

>>> import torch
>>> from torch_geometric.data import Data
>>> from graphfill.pyg import FeaturePropagation
>>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
>>> data = Data(x=torch.tensor([[1.0], [float("nan")], [3.0]]), edge_index=path)
>>> FeaturePropagation(normalization="rw", solver="exact")(data).x.flatten()
tensor([1., 2., 3.])
"""

from ._hetero_transform import HeteroPropagation
from ._impute import (
    FISF,
    PCFI,
    Impute,
    MeanImputer,
    NeighborMeanImputer,
    RandomImputer,
    SpectralImputer,
    ZeroImputer,
)
from ._network_input import NetworkInput
from ._transforms import FeaturePropagation

__all__ = [
    "FISF",
    "PCFI",
    "FeaturePropagation",
    "HeteroPropagation",
    "Impute",
    "MeanImputer",
    "NeighborMeanImputer",
    "NetworkInput",
    "RandomImputer",
    "SpectralImputer",
    "ZeroImputer",
]
