"""Products with a large graph, by the kernels that fill tables: a few columns at a time."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ... import kernels
from ...graph._graph import Graph
from ...graph._ordering import cluster_order

LARGE = 2**28  # entries times columns from which the compiled product is the faster
MANY = 2**21  # entries of a matrix whose rows are worth ordering


class TiledMatrix:
    """A matrix of float32 that multiplies wide blocks, of which ``takes`` says which.

    A block of 256 columns outgrows the cache, in which every entry of A looks up a row; a few of
    its columns at a time do not.

    Examples
    --------
    >>> A = TiledMatrix(sparse.csr_array(np.eye(2, k=1, dtype=np.float32)))
    >>> A.product(torch.ones(2, 32)).sum(1)
    tensor([32.,  0.])
    """

    def __init__(self, A: sparse.csr_array) -> None:
        from .._compiled_layers import Product

        self._shape = A.shape
        self._product = Product(
            A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, torch.get_num_threads()
        )

    @staticmethod
    def takes(A: sparse.csr_array, H: Tensor) -> bool:
        """Whether A H is large enough, and of the kind that tiles are for."""
        fits = H.dtype == torch.float32 and not H.is_cuda
        return fits and A.nnz * H.shape[1] >= LARGE and kernels.implementation == "compiled"

    def product(self, H: Tensor) -> Tensor:
        """A H."""
        n_rows, n_columns = self._shape
        if H.shape[0] != n_columns:
            raise ValueError(f"a matrix of {n_columns} columns and a block of {H.shape[0]} rows")
        out = H.new_empty(n_rows, H.shape[1])
        self._product.into(out.numpy(), H.detach().contiguous().numpy())
        return out


def near_order(operator: sparse.csr_array) -> np.ndarray | None:
    """The rank of each node in an order that has neighbours near; None where it makes no odds."""
    if operator.nnz < MANY or kernels.implementation != "compiled":
        return None
    graph = Graph.of_sorted_rows(
        operator.indptr.astype(np.int64), operator.indices.astype(np.int32)
    )
    return np.argsort(cluster_order(graph), kind="stable")
