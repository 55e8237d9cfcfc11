"""Graph convolutions: H <- S H W + b, S = D^-1/2 (A + I) D^-1/2; and PaGNN, a first layer of theirs
that sums over the known cells only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from ...graph import Graph
from ...solve._positions import normalized_adjacency as normalized_adjacency
from .._problem import Setting
from .blocks import Block
from .network import FixedLinear, Network, compact, glorot, widths


def operator(graph: Graph, dtype: Any = np.float32) -> Any:
    """S = D^-1/2 (A + I) D^-1/2, D the degrees of A + I; a loop that is there keeps its weight.

    >>> operator(Graph.from_edges([0], [1])).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    return normalized_adjacency(graph, self_loops=True, dtype=dtype)


class Convolution(nn.Module):
    """S H W + b on one block; Glorot's initial weights, no bias at first."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(glorot(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, H: Tensor, block: Block) -> Tensor:
        # The product with the graph goes where rows are shorter, or of equal ones to fewer rows.
        n_in, n_out = self.weight.shape
        fewer = block.matrix.shape[0] < block.matrix.shape[1]
        if n_out < n_in or (n_out == n_in and not fewer):
            return block.matrix @ (H @ self.weight) + self.bias
        return torch.addmm(self.bias, block.matrix @ H, self.weight)


def first_layer(Z: Any, live: NDArray[np.bool_], width: int, sample: Any = None) -> FixedLinear:
    """Z W + b, the weights drawn for all columns and kept for those that are not zero."""
    weight = glorot(len(live), width)[torch.from_numpy(live)]
    return FixedLinear(Z, weight, torch.zeros(width), sample)


def network(X: NDArray[Any], graph: Graph, n_classes: int, setting: Setting) -> Network:
    """A GCN on features without gaps; call it under `train.seeded`."""
    S = operator(graph, X.dtype)
    features, live = compact(X)

    def sample(rows: NDArray[np.int64], part: sparse.csr_array) -> Any:
        return part @ features[rows]

    first = first_layer(S @ features, live, widths(setting, n_classes)[0], sample)
    return Network(first, Convolution, S, n_classes, setting)


# -- PaGNN --


def partial_aggregate(X: NDArray[Any], S: sparse.csr_array) -> NDArray[Any]:
    """Z = [(S 1) . S (M.X)] (/) (S M), M being 1 where X is known; 0/0 = 0.

    Where all is known, Z = S X; where a neighbour's cell is missing, the others make up for it.

    >>> S = operator(Graph.from_edges([0], [1]))
    >>> partial_aggregate(np.array([[3.0], [np.nan]], dtype=np.float32), S).ravel()
    array([3., 3.], dtype=float32)
    """
    known = ~np.isnan(X)
    if known.all():
        whole: NDArray[Any] = S @ X
        return whole
    values = np.where(known, X, X.dtype.type(0))
    if known.mean() < 0.1:
        # Few cells are known: both products are sparse, and so is what they spread to.
        above, below = S @ sparse.csr_array(values), S @ sparse.csr_array(known.astype(X.dtype))
        above, below = above.toarray(), below.toarray()
    else:
        above, below = S @ values, S @ known.astype(X.dtype)
    above *= np.asarray(S.sum(axis=1)).reshape(-1, 1)
    mean: NDArray[Any] = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return mean


def partial_network(X: NDArray[Any], graph: Graph, n_classes: int, setting: Setting) -> Network:
    """A PaGNN on features with NaN where missing; call it under `train.seeded`."""
    S = operator(graph, X.dtype)
    Z, live = compact(partial_aggregate(X, S))
    first = first_layer(Z, live, widths(setting, n_classes)[0])
    return Network(first, Convolution, S, n_classes, setting)
