"""Dropout from raw random bits, since torch's own is a tenth of an epoch on a CPU."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS = 2**16  # a 16-bit number is drawn for each entry


class Dropout(nn.Module):
    """Each entry is 0 with probability p and divided by 1 - p otherwise, in training only.

    On a CPU p is rounded to a multiple of 2^-16. The bits follow from torch's random state when
    the first ones are drawn, or from `reseed`.

    Examples
    --------
    >>> half = Dropout(0.5)
    >>> bits = half.reseed(0)
    >>> half(torch.ones(8)).unique().tolist()
    [0.0, 2.0]
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
            return H
        if H.is_cuda or self._below >= STEPS:
            return functional.dropout(H, self.p)
        if self._bits is None:
            self.reseed(int(torch.randint(2**31, ())))
        assert self._bits is not None
        size = H.numel()
        drawn = self._bits.random_raw(size // 4 + 1).view(np.uint16)[:size]
        kept = torch.from_numpy(drawn >= self._below).view(H.shape)
        return H * (kept.to(H.dtype) * (STEPS / (STEPS - self._below)))
