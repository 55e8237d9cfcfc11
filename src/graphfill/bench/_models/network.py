"""A network over a graph: a first layer on fixed inputs, further layers, perhaps jumping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from .._problem import Setting
from .blocks import Block, FixedMatrix, operand

Matrix: TypeAlias = Any  # dense or compressed, and SciPy's arrays have no types
Sample = Callable[[NDArray[np.int64], sparse.csr_array], Matrix]

# Share of entries other than zero up to which a product with a compressed matrix is the faster.
SPARSE_BELOW = 0.15


class First(Protocol):
    """A first layer; a ``torch.nn.Module`` that has `prepare` besides its `forward`.

    One that `sample`s neighbours too, for mini-batches, is `FixedLinear`.
    """

    def prepare(self, rows: NDArray[np.int64]) -> Any:
        """What `forward` needs to compute these rows; made once, used in every epoch."""

    def __call__(self, part: Any) -> Tensor:
        """The layer's output before activation and dropout, [len(rows), width]."""


def widths(setting: Setting, n_classes: int) -> list[int]:
    """Output width of each layer.

    >>> widths(Setting(hidden=64, n_layers=3), n_classes=7)
    [64, 64, 7]
    >>> widths(Setting(hidden=64, n_layers=3, jumping="max"), n_classes=7)
    [64, 64, 64]
    """
    last = n_classes if setting.jumping is None else setting.hidden
    return [setting.hidden] * (setting.n_layers - 1) + [last]


class Network(nn.Module):
    """Layers with ReLU and dropout between: H <- layer(dropout(ReLU(H))).

    With jumping knowledge, ReLU and dropout follow the last layer too, and a linear layer reads
    the entrywise maximum over all layers. The first layer has the width
    ``widths(setting, n_classes)[0]``; `layer` makes a further one from (n_in, n_out), whose forward
    takes (H, block); the operator is what those multiply by.
    """

    def __init__(
        self,
        first: First,
        layer: Callable[[int, int], nn.Module],
        operator: sparse.csr_array,
        n_classes: int,
        setting: Setting,
    ) -> None:
        super().__init__()
        width = widths(setting, n_classes)
        self.first = first
        self.layers = nn.ModuleList(layer(n_in, n_out) for n_in, n_out in pairwise(width))
        self.head = None if setting.jumping is None else nn.Linear(setting.hidden, n_classes)
        self.operator = operator
        self.dropout = setting.dropout

    @property
    def n_blocks(self) -> int:
        """Layers after the first."""
        return len(self.layers)

    def rest(self, H: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Logits from the first layer's output, one block per further layer."""
        highest: Tensor | None = None
        for layer, block in zip(self.layers, blocks, strict=True):
            H = self._activated(H)
            if self.head is not None:
                highest = block.own(H if highest is None else torch.maximum(highest, H))
            H = layer(H, block)
        if self.head is None or highest is None:
            return H
        logits: Tensor = self.head(torch.maximum(highest, self._activated(H)))
        return logits

    def _activated(self, H: Tensor) -> Tensor:
        return functional.dropout(torch.relu(H), self.dropout, self.training)


# -- first layers on inputs that never change --


class FixedLinear(nn.Module):
    """H = Z W + b, with Z dense or compressed, whichever is faster.

    Weight and bias are learnt from where they stand. For mini-batches, ``sample(nodes, matrix)``
    gives rows of Z as they are when only some neighbours are seen: `matrix` takes from `nodes`,
    those computed leading. None: a mini-batch's first layer sees all neighbours.
    """

    def __init__(
        self, Z: Matrix, weight: Tensor, bias: Tensor, sample: Sample | None = None
    ) -> None:
        super().__init__()
        dense = sparse.issparse(Z) and Z.nnz > SPARSE_BELOW * Z.shape[0] * Z.shape[1]
        self._Z = Z.toarray() if dense else Z
        self.sample = sample
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)

    def prepare(self, rows: NDArray[np.int64]) -> Tensor | FixedMatrix:
        """The rows of Z."""
        return operand(self._Z[rows])

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


def glorot(n_in: int, n_out: int) -> Tensor:
    """Weights [n_in, n_out], uniform within sqrt(6 / (n_in + n_out)) of zero."""
    bound = (6.0 / (n_in + n_out)) ** 0.5
    return torch.empty(n_in, n_out).uniform_(-bound, bound)


def fan_in(n_in: int, *shape: int) -> Tensor:
    """Weights uniform within 1 / sqrt(n_in) of zero."""
    bound = max(n_in, 1) ** -0.5
    return torch.empty(*shape).uniform_(-bound, bound)
