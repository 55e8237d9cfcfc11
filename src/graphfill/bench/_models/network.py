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
from .blocks import Block
from .products import FixedMatrix, compiled, operand, shared

Matrix: TypeAlias = Any  # dense or compressed, and SciPy's arrays have no types
Sample = Callable[[NDArray[np.int64], sparse.csr_array], Matrix]

# Share of entries other than zero up to which a product with a compressed matrix is the faster.
SPARSE_BELOW = 0.15
STEPS = 2**16  # dropout draws a 16-bit number for each entry


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
        self.dropout = RectifiedDropout(setting.dropout)

    @property
    def n_blocks(self) -> int:
        """Layers after the first."""
        return len(self.layers)

    def rest(self, H: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Logits from the first layer's output, one block per further layer."""
        highest: Tensor | None = None
        for layer, block in zip(self.layers, blocks, strict=True):
            if self.head is None:
                H = self.dropout(H)
            else:
                H, highest = self.dropout.jumping(H, highest, block)
            H = layer(H, block)
        if self.head is None:
            return H
        logits: Tensor = self.head(self.dropout.jumping(H, highest)[1])
        return logits


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


# -- ReLU and dropout in one, from raw random bits: apart, a quarter of an epoch on a CPU --


class RectifiedDropout(nn.Module):
    """ReLU, and in training each entry is 0 with probability p and divided by 1 - p otherwise.

    On a CPU p is rounded to a multiple of 2^-16. The bits follow from torch's random state when
    the first ones are drawn, or from `reseed`.

    >>> half = RectifiedDropout(0.5)
    >>> bits = half.reseed(0)
    >>> half(torch.ones(8)).unique().tolist(), half(-torch.ones(8)).unique().tolist()
    ([0.0, 2.0], [0.0])
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self._below = round(p * STEPS)
        self._bits: np.random.BitGenerator | None = None

    def reseed(self, seed: int) -> np.random.BitGenerator:
        """Draw the same bits from here on as after any `reseed` with this number.

        Their source is returned, whose state says where in them it is.
        """
        self._bits = np.random.SFC64(seed)
        return self._bits

    def forward(self, H: Tensor) -> Tensor:
        if not (self.training and self.p):
            return torch.relu(H)
        if H.is_cuda or self._below >= STEPS:
            return functional.dropout(torch.relu(H), self.p)
        drawn = self._drawn(H.numel())
        if compiled(H) and H.is_contiguous():
            return _rectified(H, None, drawn, self._below, 0)[0]
        kept = torch.from_numpy(drawn >= self._below).view(H.shape)
        return functional.relu(H) * kept * _scale(self._below)

    def jumping(
        self, H: Tensor, previous: Tensor | None, block: Block | None = None
    ) -> tuple[Tensor, Tensor]:
        """H after ReLU and dropout, and its entrywise maximum with `previous`.

        Of the latter the rows that `block` computes, or all. Without a previous one, it is H.
        """
        leading = block is None or block.places is None
        blocks = [H] if previous is None else [H, previous]
        fits = all(compiled(block) and block.is_contiguous() for block in blocks)
        if self.training and 0 < self._below < STEPS and leading and fits:
            n_own = len(H) if block is None else block.matrix.shape[0]
            drawn = self._drawn(H.numel())
            return _rectified(H, previous, drawn, self._below, n_own)
        H = self(H)
        highest = H if previous is None else torch.maximum(previous, H)
        return H, highest if block is None else block.own(highest)

    def _drawn(self, size: int) -> NDArray[np.uint16]:
        if self._bits is None:
            self.reseed(int(torch.randint(2**31, ())))
        assert self._bits is not None
        return self._bits.random_raw(size // 4 + 1).view(np.uint16)[:size]


def _scale(below: int) -> float:
    """What the entries that are kept are multiplied by."""
    return STEPS / (STEPS - below)


def _array(tensor: Tensor | None) -> Any:
    """The numbers of a tensor as the extension takes them; None stays None."""
    return None if tensor is None else tensor.detach().contiguous().numpy()


class _Rectified(torch.autograd.Function):
    """Of H and the previous highest: H rectified with some entries dropped, and the new highest.

    Of the latter as many rows as asked for. Its gradient goes to the previous one where that is
    as high: such entries are zeros on both sides, which pass nothing on either way.
    """

    @staticmethod
    def forward(
        ctx: Any,
        H: Tensor,
        previous: Tensor | None,
        drawn: NDArray[np.uint16],
        below: int,
        n_own: int,
    ) -> tuple[Tensor, Tensor]:
        out = torch.empty_like(H)
        highest = None if previous is None else H.new_empty(n_own, *H.shape[1:])
        shared(
            "rectify", _array(H), drawn, below, _scale(below), _array(previous), _array(out),
            _array(highest), 0 if highest is None else highest.numel(), size=H.numel(),
        )  # fmt: skip
        ctx.save_for_backward(out, previous)
        ctx.scale = _scale(below)
        ctx.set_materialize_grads(False)
        return out, out[:n_own] if highest is None else highest

    @staticmethod
    def backward(
        ctx: Any, to_out: Tensor | None, to_highest: Tensor | None
    ) -> tuple[Tensor, Tensor | None, None, None, None]:
        out, previous = ctx.saved_tensors
        to_H = torch.empty_like(out)
        to_previous = None if previous is None else torch.empty_like(previous)
        shared(
            "rectify_gradient", _array(to_out), _array(to_highest), _array(previous), _array(out),
            ctx.scale, _array(to_H), _array(to_previous),
            0 if to_highest is None else to_highest.numel(), size=out.numel(),
        )  # fmt: skip
        return to_H, to_previous, None, None, None


_rectified: Callable[..., tuple[Tensor, Tensor]] = _Rectified.apply
