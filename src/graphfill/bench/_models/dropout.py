"""ReLU and dropout in one, from raw random bits: apart, they are a quarter of an epoch on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from .. import _compiled_layers as compiled
from .blocks import Block

STEPS = 2**16  # a 16-bit number is drawn for each entry


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
        if _takes(H):
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
        fits = _takes(H) and (previous is None or _takes(previous))
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


def _takes(H: Tensor) -> bool:
    """Whether the extension takes this block."""
    fits = H.dtype == torch.float32 and not H.is_cuda and H.is_contiguous()
    return fits and compiled.available()


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
        compiled.rectify(
            _array(H), drawn, below, _scale(below), _array(previous), _array(out), _array(highest),
            0 if highest is None else highest.numel(),
            size=H.numel(), threads=torch.get_num_threads(),
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
        compiled.rectify_gradient(
            _array(to_out), _array(to_highest), _array(previous), _array(out), ctx.scale,
            _array(to_H), _array(to_previous), 0 if to_highest is None else to_highest.numel(),
            size=out.numel(), threads=torch.get_num_threads(),
        )  # fmt: skip
        return to_H, to_previous, None, None, None


_rectified: Callable[..., tuple[Tensor, Tensor]] = _Rectified.apply
