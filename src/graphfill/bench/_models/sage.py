"""GraphSAGE, mean: H <- H W_own + (P H) W_mean + b, P = D^-1 A."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from ...graph import Graph, adjacency_matrix
from .._problem import Setting
from .blocks import Block
from .network import FixedLinear, Matrix, Network, compact, fan_in, widths


def operator(graph: Graph, dtype: Any = np.float32) -> sparse.csr_array:
    """P = D^-1 A, the mean over neighbours; 0 where there is none.

    >>> operator(Graph.from_edges([0, 0], [1, 2])).toarray()
    array([[0. , 0.5, 0.5],
           [1. , 0. , 0. ],
           [1. , 0. , 0. ]], dtype=float32)
    """
    degrees = graph.degrees()
    inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
    return sparse.csr_array(sparse.diags_array(inverse) @ adjacency_matrix(graph), dtype=dtype)


class Convolution(nn.Module):
    """H W_own + (P H) W_mean + b on one block; all start uniform within 1 / sqrt(n_in)."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(fan_in(n_in, n_in, n_out))
        self.bias = nn.Parameter(fan_in(n_in, n_out))
        self.own = nn.Parameter(fan_in(n_in, n_in, n_out))

    def forward(self, H: Tensor, block: Block) -> Tensor:
        own = torch.addmm(self.bias, block.own(H), self.own)
        # The product with the graph goes where the rows are shorter.
        if self.mean.shape[1] <= self.mean.shape[0]:
            return own + block.matrix @ (H @ self.mean)
        return torch.addmm(own, block.matrix @ H, self.mean)


def network(X: NDArray[Any], graph: Graph, n_classes: int, setting: Setting) -> Network:
    """A GraphSAGE on features without gaps; call it under `train.seeded`."""
    P = operator(graph, X.dtype)
    features, live = compact(X)

    def sample(rows: NDArray[np.int64], part: sparse.csr_array) -> Any:
        given = features[rows]
        return _beside(part @ given, given[: part.shape[0]])

    width, n_in = widths(setting, n_classes)[0], X.shape[1]
    mean = fan_in(n_in, n_in, width)
    bias = fan_in(n_in, width)
    weight = torch.cat([mean, fan_in(n_in, n_in, width)])[torch.from_numpy(np.tile(live, 2))]
    first = FixedLinear(_beside(P @ features, features), weight, bias, sample)
    return Network(first, Convolution, P, n_classes, setting)


def _beside(mean: Matrix, own: Matrix) -> Matrix:
    """[P X, X]: one product with it and the stacked weights does for both."""
    if sparse.issparse(own):
        return sparse.csr_array(sparse.hstack([mean, own], format="csr"))
    return np.hstack([mean, own])
