"""Products with a large graph, by the kernels that fill tables: a few columns at a time."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ... import kernels
from ...graph import Graph
from ...ordering import cluster_order

WIDTH = 32  # columns of a tile
LARGE = 2**28  # entries times columns from which tiles are the faster
MANY = 2**21  # entries of a matrix whose rows are worth ordering


class TiledMatrix:
    """A matrix of float32 that multiplies wide blocks, of which ``takes`` says which.

    A block of 256 columns outgrows the cache, in which every entry of A looks up a row; 32
    columns of it do not.

    Examples
    --------
    >>> A = TiledMatrix(sparse.csr_array(np.eye(2, k=1, dtype=np.float32)))
    >>> A.product(torch.ones(2, 32)).sum(1)
    tensor([32.,  0.])
    """

    def __init__(self, A: sparse.csr_array) -> None:
        threads = torch.get_num_threads()
        self._passes = kernels.Passes(
            A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, threads
        )
        self._n_rows = A.shape[0]
        self._ones = np.ones(self._n_rows, dtype=np.float32)
        self._none_known = np.zeros((self._n_rows, WIDTH // 8), dtype=np.uint8)

    @staticmethod
    def takes(A: sparse.csr_array, H: Tensor) -> bool:
        """Whether A H is large enough, and of the kind that tiles are for."""
        fits = H.dtype == torch.float32 and H.shape[1] % WIDTH == 0 and not H.is_cuda
        return fits and A.nnz * H.shape[1] >= LARGE and kernels.implementation == "compiled"

    def product(self, H: Tensor) -> Tensor:
        """A H."""
        n, width = H.shape
        tiles = H.detach().view(n, -1, WIDTH).permute(1, 0, 2).contiguous()
        out = torch.empty(width // WIDTH, self._n_rows, WIDTH)
        for tile, made in zip(tiles.numpy(), out.numpy(), strict=True):
            self._passes.diffuse(self._ones, self._none_known, tile, made)
        return out.permute(1, 0, 2).reshape(self._n_rows, width)


def near_order(operator: sparse.csr_array) -> np.ndarray | None:
    """The rank of each node in an order that has neighbours near; None where it makes no odds."""
    if operator.nnz < MANY or kernels.implementation != "compiled":
        return None
    graph = Graph.of_sorted_rows(
        operator.indptr.astype(np.int64), operator.indices.astype(np.int32)
    )
    return np.argsort(cluster_order(graph), kind="stable")
