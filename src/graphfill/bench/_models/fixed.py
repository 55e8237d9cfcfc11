"""A first layer on inputs that never change: H = Z W + b."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from .products import FixedMatrix, as_tensor

Matrix: TypeAlias = Any  # dense or compressed, and SciPy's arrays have no types
Sample = Callable[[NDArray[np.int64], sparse.csr_array], Matrix]

# Share of entries other than zero up to which a product with a compressed matrix is the faster.
SPARSE_BELOW = 0.15


class FixedLinear(nn.Module):
    """H = Z W + b, with Z dense or compressed, whichever is faster.

    Parameters
    ----------
    Z : array or CSR array [n, n_in]
    weight : tensor [n_in, n_out], learnt from where it stands
    bias : tensor [n_out], likewise
    sample : callable (nodes, matrix) -> rows of Z, optional
        Z as it is when only some neighbours are seen, for mini-batches: `matrix` takes from
        `nodes`, those computed leading. None: a mini-batch's first layer sees all neighbours.
    """

    def __init__(
        self,
        Z: Matrix,
        weight: Tensor,
        bias: Tensor,
        sample: Sample | None = None,
    ) -> None:
        super().__init__()
        self._Z = Z
        self.sample = sample
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)

    def prepare(self, rows: NDArray[np.int64]) -> Tensor | FixedMatrix:
        """The rows of Z."""
        return self.ready(self._Z[rows])

    def ready(self, Z: Matrix) -> Tensor | FixedMatrix:
        """A part of Z in the form that `forward` takes."""
        return FixedMatrix(Z) if sparse.issparse(Z) else as_tensor(Z)

    def forward(self, part: Tensor | FixedMatrix) -> Tensor:
        if isinstance(part, FixedMatrix):
            return part @ self.weight + self.bias
        return torch.addmm(self.bias, part, self.weight)


def compact(X: NDArray[Any]) -> tuple[Matrix, NDArray[np.bool_]]:
    """The columns of X that hold anything but zeros, compressed if few do; and which they are.

    A column of zeros stays one under every product with a graph, so its weights neither change
    an output nor get a gradient. Where most cells of a bag of words are hidden, most columns
    are such.
    """
    live = np.asarray(X.any(axis=0))
    X = X if live.all() else X[:, live]
    if np.count_nonzero(X) <= SPARSE_BELOW * X.size:
        return sparse.csr_array(X), live
    return X, live


def settled(Z: Matrix) -> Matrix:
    """Z in the form that is faster to multiply by."""
    if sparse.issparse(Z):
        dense = Z.nnz > SPARSE_BELOW * Z.shape[0] * Z.shape[1]
        return Z.toarray() if dense else Z
    return Z


def glorot(n_in: int, n_out: int) -> Tensor:
    """Weights [n_in, n_out], uniform within sqrt(6 / (n_in + n_out)) of zero."""
    bound = (6.0 / (n_in + n_out)) ** 0.5
    return torch.empty(n_in, n_out).uniform_(-bound, bound)


def fan_in(n_in: int, *shape: int) -> Tensor:
    """Weights uniform within 1 / sqrt(n_in) of zero."""
    bound = max(n_in, 1) ** -0.5
    return torch.empty(*shape).uniform_(-bound, bound)
