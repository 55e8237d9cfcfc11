"""Numbers by rank or by logarithm: scales on which skew and outliers decide less."""

from __future__ import annotations

import numpy as np
import scipy.special
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST = 8  # known values that can say whether a column is skewed
MOST_VALUES, ENDS = 20_000, 2_000  # on a scale; of more, both ends and some evenly apart by rank
SKEWED, EVEN = 2.0, 1.0  # skewness of a column, and at most of its logarithms


class RankScale:
    """The normal scores of a column's known values, and the way back.

    A value whose rank among n is r (the mean rank of those that are equal) has the score
    Phi^-1((r - 1/2) / n). Back, scores between two known ones are values between theirs; beyond
    the last there is nothing.

    Examples
    --------
    >>> scale = RankScale(np.array([1.0, 10.0, 100.0]))
    >>> scale.scores(np.array([10.0, np.nan])), scale.values(np.array([0.0, 9.0]))
    (array([ 0., nan]), array([ 10., 100.]))
    """

    def __init__(self, known: Floats) -> None:
        self.known, counts = np.unique(known, return_counts=True)
        last = np.cumsum(counts)
        rank = last - (counts - 1) / 2.0  # the mean of first .. last
        self.normal = scipy.special.ndtri((rank - 0.5) / max(1, len(known)))
        if len(self.known) > 2 * MOST_VALUES:  # searched quickly, and as good
            n = len(self.known)
            between = np.linspace(ENDS, n - ENDS, MOST_VALUES - 2 * ENDS, endpoint=False)
            kept = np.r_[:ENDS, between.astype(np.intp), n - ENDS : n]
            self.known, self.normal = self.known[kept], self.normal[kept]

    @classmethod
    def of_table(cls, known: Floats, normal: Floats) -> RankScale:
        """From different values, ascending, and the score of each."""
        scale = cls(np.empty(0))
        scale.known, scale.normal = known, normal
        return scale

    @classmethod
    def by_logarithm(cls, known: Floats, levels: Floats) -> RankScale:
        """Standardised logarithms in place of ranks, if the levels are positive and skewed.

        Between two known values the way is straight, and beyond the last there is nothing.

        Examples
        --------
        >>> amounts = np.exp(np.linspace(0.0, 9.0, 30))
        >>> scale = RankScale.by_logarithm(amounts, amounts)
        >>> bool(np.diff(scale.normal).std() < 1e-12)
        True
        """
        if not by_logarithm(levels):
            return cls(known)
        scores = np.log(levels)
        scores = (scores - scores.mean()) / scores.std()
        values, first = np.unique(known, return_index=True)
        return cls.of_table(values, scores[first])

    def scores(self, values: Floats) -> Floats:
        """The scores of values, NaN for NaN."""
        if not len(self.known):
            return np.full(values.shape, np.nan)
        scores = np.interp(values, self.known, self.normal)
        return np.where(np.isnan(values), np.nan, scores)

    def values(self, scores: Floats) -> Floats:
        """The values of scores."""
        if not len(self.known):
            return np.zeros(scores.shape)
        return np.asarray(np.interp(scores, self.normal, self.known))


def by_logarithm(levels: Floats) -> bool:
    """Whether known levels are positive, and skewed as amounts are: even by their logarithms."""
    if len(levels) < FEWEST or levels.min() <= 0.0:
        return False
    return _skewness(levels) > SKEWED and abs(_skewness(np.log(levels))) < EVEN


def _skewness(x: Floats) -> float:
    """The mean cube of standardised numbers; 0 where they are all equal."""
    off = x - x.mean()
    spread = float(off.std())
    return float(np.mean((off / spread) ** 3)) if spread > 0 else 0.0
