"""A network over a graph: a first layer on fixed inputs, further layers, perhaps jumping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from .._problem import Setting
from .dropout import RectifiedDropout
from .receptive import Block


class First(Protocol):
    """A first layer; a ``torch.nn.Module`` that has `prepare` besides its `forward`.

    One that `sample`s neighbours too, for mini-batches, is `fixed.FixedLinear`.
    """

    def prepare(self, rows: NDArray[np.int64]) -> Any:
        """What `forward` needs to compute these rows; made once, used in every epoch."""

    def __call__(self, part: Any) -> Tensor:
        """The layer's output before activation and dropout, [len(rows), width]."""


def widths(setting: Setting, n_classes: int) -> list[int]:
    """Output width of each layer.

    Examples
    --------
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
    the entrywise maximum over all layers.

    Parameters
    ----------
    first : First
        Its width is ``widths(setting, n_classes)[0]``.
    layer : callable (n_in, n_out) -> module, whose forward takes (H, block)
    operator : CSR array [n, n]
        What the further layers multiply by.
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
