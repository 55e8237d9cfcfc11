r"""How noisy each channel is as a witness for the others, chosen on rows left out.

With few rows the regressions that the inverse of their moments S stands for repeat much that is
accidental. Noise d_c added to the variance of channel c,

.. math:: W = (S + \operatorname{diag}(d))^{-1}, \quad e_{ic} = (ZW)_{ic} / W_{cc},

takes weight from c wherever it speaks for other channels, and leaves the errors e of c itself
alone. The d chosen make small the sum over channels of log(mean of e^2 + 0.01) on known cells of
rows that had no part in S: one for all channels first, then one channel after another, each of
them a change of rank one to W.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEW_ROWS = 20  # a channel: beyond, hardly anything is accidental
LEVELS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of noise, in variances
NEAR = 2  # levels away, that one channel is tried at
FOLDS, MOST_ROWS = 3, 1000
SETTLED = 0.01  # added to mean squared errors: better than this counts for little
LEAST = 1e-6


@dataclass
class _Fold:
    """W of the rows outside a fold, and Z W of those inside."""

    variance: Floats
    W: Floats
    ZW: Floats
    known: NDArray[np.bool_]

    @property
    def squares(self) -> Floats:
        """The sums of squared errors by channel."""
        return np.asarray((np.square(self.ZW / np.diag(self.W)) * self.known).sum(axis=0))

    def changed(self, channel: int, more: float) -> _Fold:
        """With more noise in one channel (Sherman and Morrison)."""
        w, change = self.W[:, channel], more * self.variance[channel]
        part = change / (1.0 + change * w[channel]) * w
        ZW = self.ZW - np.multiply.outer(self.ZW[:, channel], part)
        return _Fold(self.variance, self.W - np.multiply.outer(w, part), ZW, self.known)


def channel_noise(
    draws: Sequence[Floats], mean: Floats, known: NDArray[np.bool_], seed: int
) -> Floats:
    """By channel, the noise in units of its variance.

    Parameters
    ----------
    draws : standardised rows, [rows, channels], missing cells drawn; moments come from these
    mean : the same with missing cells at their mean; errors are those of known cells here
    """
    rows = np.random.default_rng([seed, 14]).permutation(len(mean))[:MOST_ROWS]
    parts = np.array_split(rows, FOLDS)
    moments = []
    for part in parts:
        rest = np.setdiff1d(rows, part)
        moments.append(sum(Z[rest].T @ Z[rest] for Z in draws) / (len(draws) * len(rest)))
    count = np.maximum(known[rows].sum(axis=0), 1)

    def folds(noise: float) -> list[_Fold]:
        made = []
        for S, part in zip(moments, parts, strict=True):
            W = np.linalg.inv(S + np.diag(noise * np.diag(S) + LEAST))
            made.append(_Fold(np.diag(S), np.asarray(W, np.float64), mean[part] @ W, known[part]))
        return made

    def cost(folds: list[_Fold]) -> float:
        return float(np.log(sum(fold.squares for fold in folds) / count + SETTLED).sum())

    best, place = min((cost(folds(level)), place) for place, level in enumerate(LEVELS))
    places, now = np.full(mean.shape[1], place), folds(LEVELS[place])
    for channel in np.argsort(-np.diag(now[0].W), kind="stable"):
        start = places[channel]
        for other in range(max(0, start - NEAR), min(len(LEVELS), start + NEAR + 1)):
            more = LEVELS[other] - LEVELS[start]
            tried = [fold.changed(channel, more) for fold in now] if more else now
            if (value := cost(tried)) < best - 1e-3:
                best, places[channel], better = value, other, tried
        if places[channel] != start:
            now = better
    return np.take(LEVELS, places)
