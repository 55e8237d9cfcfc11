"""Products with a fixed sparse matrix, whose transpose is built once; where tensors live.

Blocks of float32 on a CPU are left to the compiled extension where it was built. It multiplies wide
ones a few columns at a time: a block of 256 columns outgrows the cache, in which every entry of A
looks up a row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from ... import kernels
from ...graph import cluster_order
from ...graph._graph import Graph
from ...kernels._threads import cut, share

try:
    from .. import _layers
except ImportError:
    _layers = None  # type: ignore[assignment]

LARGE = 2**28  # entries times columns from which the compiled product is the faster
MANY = 2**21  # entries of a matrix whose rows are worth ordering


def device() -> torch.device:
    """Where every tensor is made: the first GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def as_tensor(array: Any) -> Tensor:
    """An array as a tensor on the device, of the same type."""
    return torch.as_tensor(np.require(array, requirements=["C", "W"]), device=device())


def operand(A: Any, sparse_below: float = 1.0) -> Tensor | FixedMatrix:
    """A matrix for products with tensors; a compressed one becomes dense above this density."""
    if sparse.issparse(A):
        if A.nnz <= sparse_below * A.shape[0] * A.shape[1]:
            return FixedMatrix(A)
        A = A.toarray()
    return as_tensor(A)


def compiled(H: Tensor) -> bool:
    """Whether the extension takes this block, and is there, and was not switched off."""
    fits = H.dtype == torch.float32 and not H.is_cuda
    return fits and _layers is not None and kernels.implementation == "compiled"


def shared(function: str, *blocks: Any, size: int) -> None:
    """Call a function of the extension, by several threads, for `size` entries of its blocks."""
    threads, work = torch.get_num_threads(), getattr(_layers, function)
    pieces = cut(size, 8 * threads) if threads > 1 else [(0, size)]
    share(lambda lo, hi: work(*blocks, lo, hi), pieces, threads)


class FixedMatrix:
    """A sparse matrix A that is not learnt: ``A @ H``, with gradient A^T G with respect to H.

    >>> from scipy import sparse
    >>> A = FixedMatrix(sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> H = torch.tensor([[1.0], [3.0]], dtype=torch.float64, requires_grad=True)
    >>> (A @ H).sum().backward()
    >>> H.grad.ravel().tolist()
    [1.0, 2.0]
    """

    def __init__(self, A: sparse.csr_array) -> None:
        self.shape: tuple[int, int] = A.shape
        self._A = A
        self._compressed: Tensor | None = None
        self._compiled: Callable[[Any, Any], None] | None = None
        self._transpose: FixedMatrix | None = None

    @property
    def transpose(self) -> FixedMatrix:
        """Only training asks for it."""
        if self._transpose is None:
            self._transpose = FixedMatrix(sparse.csr_array(self._A.T))
        return self._transpose

    def __matmul__(self, H: Tensor) -> Tensor:
        return _product(H, self) if H.requires_grad else self.product(H)

    def product(self, H: Tensor) -> Tensor:
        """A H, without gradient."""
        if compiled(H) and self._A.nnz * H.shape[1] >= LARGE:
            return self._compiled_product(H)
        if self._compressed is None:
            self._compressed = _compressed(self._A)
        return self._compressed @ H

    def _compiled_product(self, H: Tensor) -> Tensor:
        if H.shape[0] != self.shape[1]:
            raise ValueError(f"a matrix of {self.shape[1]} columns and a block of {len(H)} rows")
        if self._compiled is None:
            self._compiled = _compiled_product(self._A, torch.get_num_threads())
        out = H.new_empty(self.shape[0], H.shape[1])
        self._compiled(out.numpy(), H.detach().contiguous().numpy())
        return out


def _compiled_product(A: sparse.csr_array, threads: int) -> Callable[[Any, Any], None]:
    """Writes A H to `out`, by several threads; sums run over a row's entries in order."""
    indptr = A.indptr.astype(np.int64)
    matrix = indptr, A.indices.astype(np.int32), A.data
    # Pieces of nearly equal numbers of entries and rows.
    work = indptr + np.arange(len(indptr))
    ends = np.searchsorted(work, [hi for _, hi in cut(int(work[-1]), 8 * threads)])
    pieces = list(zip([0, *ends[:-1]], [*ends[:-1], len(indptr) - 1], strict=True))

    def into(out: Any, H: Any) -> None:
        width = H.shape[1]
        share(lambda lo, hi: _layers.product(*matrix, H, out, width, lo, hi), pieces, threads)

    return into


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, H: Tensor, A: FixedMatrix) -> Tensor:
        ctx.A = A
        return A.product(H)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.A.transpose.product(gradient), None


_product: Callable[[Tensor, FixedMatrix], Tensor] = _Product.apply


def _compressed(A: sparse.csr_array) -> Tensor:
    # 32-bit column numbers: torch's product with them is the faster one, or as fast, for every
    # shape met here, and beats SciPy's except on very wide blocks.
    index = np.int32 if max(A.nnz, *A.shape) < 2**31 else np.int64
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            as_tensor(A.indptr.astype(index)),
            as_tensor(A.indices.astype(index)),
            as_tensor(A.data),
            size=A.shape,
            check_invariants=False,  # SciPy made them
        )


def near_order(operator: sparse.csr_array) -> NDArray[np.int64] | None:
    """The rank of each node in an order that has neighbours near; None where none is needed."""
    if operator.nnz < MANY or kernels.implementation != "compiled":
        return None
    graph = Graph.of_sorted_rows(
        operator.indptr.astype(np.int64), operator.indices.astype(np.int32)
    )
    return np.argsort(cluster_order(graph), kind="stable")
