"""Columns of each type on its own scale, so that types that measure alike things can share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solve import exponents

Floats = NDArray[np.floating]

SQUARED_BITS = 400  # numbers up to 2 to this, and down to 2 to minus this, are squared as they are


@dataclass(frozen=True)
class Scale:
    """The mean and the standard deviation of each column, over the known cells of one type.

    Examples
    --------
    >>> heights = Scale.of(np.array([[150.0], [170.0], [np.nan]]))
    >>> heights.scores(np.array([[170.0]])), heights.values(np.array([[-1.0]]))
    (array([[1.]]), array([[150.]]))
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def of(cls, X: Floats) -> Scale:
        """NaN where there are no two different known cells to tell a scale from."""
        known = ~np.isnan(X)
        exponent = exponents(X, SQUARED_BITS)
        X = np.ldexp(X, exponent)
        count = np.where(known.any(axis=0), known.sum(axis=0), np.nan)
        mean = np.where(known, X, 0).sum(axis=0, dtype=np.float64) / count
        away = np.where(known, X - mean, 0.0)
        deviation = np.sqrt((away**2).sum(axis=0) / count)
        alike = (away == away[known.argmax(axis=0), np.arange(X.shape[1])]) | ~known
        return cls(
            *(
                np.where(alike.all(axis=0), np.nan, np.ldexp(part, -exponent))
                for part in (mean, deviation)
            )
        )

    def scores(self, X: Floats) -> Floats:
        """(x - mean) / deviation."""
        return (X - self.mean) / self.deviation

    def values(self, scores: Floats) -> Floats:
        """The way back."""
        return scores * self.deviation + self.mean

    def filled_from(self, other: Scale) -> Scale:
        """With another's scale of the columns that this one has none of."""
        lacks = np.isnan(self.deviation)
        return Scale(
            np.where(lacks, other.mean, self.mean),
            np.where(lacks, other.deviation, self.deviation),
        )


def common_scale(parts: Sequence[Floats]) -> Scale:
    """That of all types' known cells together; where these are all alike, no change at all."""
    together = Scale.of(np.concatenate(parts))
    return together.filled_from(Scale(*(np.full(parts[0].shape[1], v) for v in (0.0, 1.0))))


def own_scales(
    parts: Mapping[str, Floats], models: Mapping[str, Sequence[str]]
) -> dict[str, Scale]:
    """A scale for each type that has the columns.

    Parameters
    ----------
    parts : dict by node type
        Known cells, NaN elsewhere. A type without two different values in a column takes the
        common scale for it.
    models : dict by node type without features
        The types it takes after: its scale is the mean of theirs.
    """
    common = common_scale(list(parts.values()))
    scales = {kind: Scale.of(X).filled_from(common) for kind, X in parts.items()}
    for kind, likened in models.items():
        theirs = [scales[other] for other in likened if other in scales] or [common]
        scales[kind] = Scale(_mean(s.mean for s in theirs), _mean(s.deviation for s in theirs))
    return scales


def _mean(arrays: Any) -> NDArray[np.float64]:
    return np.mean(list(arrays), axis=0)
