"""Products with a fixed sparse matrix, whose transpose is built once; where tensors live."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


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
        if self._compressed is None:
            self._compressed = _compressed(self._A)
        return self._compressed @ H


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
