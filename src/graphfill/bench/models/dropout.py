"""ReLU and dropout in one, from raw random bits: apart, they are a quarter of an epoch on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS = 2**16  # a 16-bit number is drawn for each entry


class RectifiedDropout(nn.Module):
    """ReLU, and in training each entry is 0 with probability p and divided by 1 - p otherwise.

    On a CPU p is rounded to a multiple of 2^-16. The bits follow from torch's random state when
    the first ones are drawn, or from `reseed`.

    Examples
    --------
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
        if self._bits is None:
            self.reseed(int(torch.randint(2**31, ())))
        assert self._bits is not None
        size = H.numel()
        drawn = self._bits.random_raw(size // 4 + 1).view(np.uint16)[:size]
        kept = torch.from_numpy(drawn >= self._below).view(H.shape)
        return _Kept.apply(H, kept, STEPS / (STEPS - self._below))


class _Kept(torch.autograd.Function):
    """ReLU(H) scale where `kept`, 0 elsewhere; the gradient is scale where the outcome is not 0."""

    @staticmethod
    def forward(ctx: Any, H: Tensor, kept: Tensor, scale: float) -> Tensor:
        out = torch.relu(H)
        masked(out, kept, out=out).mul_(scale)
        ctx.save_for_backward(out)
        ctx.scale = scale
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (out,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(gradient, out, 0).mul_(ctx.scale), None, None


def masked(H: Tensor, kept: Tensor, out: Tensor | None = None) -> Tensor:
    """H where `kept`, 0 elsewhere; NumPy's product with booleans is the faster on a CPU."""
    if H.is_cuda:
        return torch.mul(H, kept, out=out)
    out = torch.empty_like(H) if out is None else out
    np.multiply(H.numpy(), kept.numpy(), out=out.numpy())
    return out
