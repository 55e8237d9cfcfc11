r"""How noisy each channel is as a witness for the others, chosen on rows left out.

With few rows the regressions that the inverse of their moments S stands for repeat much that is
accidental. Noise d_c added to the variance of channel c,

.. math:: W = (S + \operatorname{diag}(d))^{-1}, \quad e_{ic} = (ZW)_{ic} / W_{cc},

takes weight from c wherever it speaks for other channels, and leaves the errors e of c itself
alone. The d chosen make small the sum over channels of log(mean of e^2 + 0.01) on known cells of
rows that had no part in S: one for all channels first, then one channel after another, each of
them a change of rank one to W. With k 1 where a cell is known, a = (ZW)_c and part = q W_c that
change makes the sum of squares of channel j

.. math:: \Bigl(\sum_i k_{ij} (ZW)_{ij}^2 - 2 q_j \sum_i k_{ij} (ZW)_{ij} a_i
    + q_j^2 \sum_i k_{ij} a_i^2\Bigr) \Big/ \bigl(W_{jj} - W_{cj} q_j\bigr)^2 .
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEW_ROWS = 20  # a channel: beyond, hardly anything is accidental
LEVELS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of noise, in variances
NEAR = 2  # levels away, that one channel is tried at
FOLDS, MOST_ROWS = 3, 1000
SETTLED = 0.01  # added to mean squared errors: better than this counts for little
LEAST = 1e-6


class _Fold:
    """W of the rows outside a fold, and Z W of those inside."""

    def __init__(self, S: Floats, noise: float, inside: Floats, known: Floats) -> None:
        self.variance, self.known = np.diag(S), known
        self.W = np.asarray(np.linalg.inv(S + np.diag(noise * self.variance + LEAST)), np.float64)
        self._ZW = inside @ self.W
        self._sums = (self._ZW**2 * known).sum(axis=0)

    @property
    def squares(self) -> Floats:
        """The sums of squared errors by channel."""
        return np.asarray(self._sums / np.diag(self.W) ** 2)

    def look_at(self, channel: int) -> None:
        """Prepare for other noise in one channel."""
        a = self._ZW[:, channel]
        self._channel, self._column = channel, self.W[:, channel].copy()
        self._products = a @ (self._ZW * self.known), a**2 @ self.known

    def _part(self, more: float) -> Floats:
        """What each channel loses of that one (Sherman and Morrison)."""
        change = more * self.variance[self._channel]
        part = change / (1.0 + change * self._column[self._channel])
        return np.asarray(part * self._column)

    def squares_with(self, more: float) -> Floats:
        """The sums of squared errors with more noise in the channel that is looked at."""
        q, (once, twice) = self._part(more), self._products
        sums = self._sums - 2.0 * q * once + q**2 * twice
        return np.asarray(np.maximum(sums, 0.0) / (np.diag(self.W) - self._column * q) ** 2)

    def add(self, more: float) -> None:
        """Put more noise into the channel that is looked at."""
        q = self._part(more)
        self._ZW = self._ZW - np.multiply.outer(self._ZW[:, self._channel], q)
        self.W = self.W - np.multiply.outer(self._column, q)
        self._sums = (self._ZW**2 * self.known).sum(axis=0)


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
        moments.append(np.mean([Z[rest].T @ Z[rest] for Z in draws], axis=0) / len(rest))
    count = np.maximum(known[rows].sum(axis=0), 1)

    def folds(noise: float) -> list[_Fold]:
        return [
            _Fold(S, noise, mean[part], known[part].astype(np.float64))
            for S, part in zip(moments, parts, strict=True)
        ]

    def cost(squares: Iterable[Floats]) -> float:
        return float(np.log(sum(squares) / count + SETTLED).sum())

    best, place = min(
        (cost(fold.squares for fold in folds(level)), place) for place, level in enumerate(LEVELS)
    )
    places, now = np.full(mean.shape[1], place), folds(LEVELS[place])
    for channel in np.argsort(-np.diag(now[0].W), kind="stable"):
        start = int(places[channel])
        for fold in now:
            fold.look_at(channel)
        for other in range(max(0, start - NEAR), min(len(LEVELS), start + NEAR + 1)):
            more = LEVELS[other] - LEVELS[start]
            value = cost(fold.squares_with(more) for fold in now)
            if value < best - 1e-3:
                best, places[channel] = value, other
        if places[channel] != start:
            for fold in now:
                fold.add(LEVELS[places[channel]] - LEVELS[start])
    return np.take(LEVELS, places)
