"""Columns of each type on its own scale, so that types that measure the same can share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..solve import exponents

Floats = NDArray[np.floating]

SQUARED_BITS = 400  # numbers up to 2 to this, and down to 2 to minus this, are squared as they are


@dataclass(frozen=True)
class Scale:
    """The mean and the standard deviation of each column, over the known cells of one type.

    >>> heights = Scale.of(np.array([[150.0], [170.0], [np.nan]]))
    >>> heights.scores(np.array([[170.0]])), heights.values(np.array([[-1.0]]))
    (array([[1.]]), array([[150.]]))
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def of(cls, X: Floats) -> Scale:
        """The scale of X; NaN where a column has no two different known cells."""
        known = ~np.isnan(X)
        exponent = exponents(X, SQUARED_BITS)
        X = np.ldexp(X, exponent)
        count = np.where(known.any(axis=0), known.sum(axis=0), np.nan)
        mean = np.where(known, X, 0).sum(axis=0, dtype=np.float64) / count
        away = np.where(known, X - mean, 0.0)
        deviation = np.sqrt((away**2).sum(axis=0) / count)
        alike = (away == away[known.argmax(axis=0), np.arange(X.shape[1])]) | ~known
        unit = np.where(alike.all(axis=0), np.nan, 1.0)
        return cls(unit * np.ldexp(mean, -exponent), unit * np.ldexp(deviation, -exponent))

    def scores(self, X: Floats) -> Floats:
        """(x - mean) / deviation."""
        return (X - self.mean) / self.deviation

    def values(self, scores: Floats) -> Floats:
        """The way back."""
        return scores * self.deviation + self.mean

    def filled_from(self, other: Scale) -> Scale:
        """With another's scale for the columns that this one has none for."""
        lacks = np.isnan(self.deviation)
        return Scale(
            np.where(lacks, other.mean, self.mean),
            np.where(lacks, other.deviation, self.deviation),
        )


def scales_by_type(
    parts: Mapping[str, Floats], models: Mapping[str, Sequence[str]]
) -> dict[str, Scale]:
    """A scale for each type that has the columns, by its `parts` with NaN where missing.

    A type without two different values in a column takes the scale of all types' known cells
    together; where these are all alike, 0 and 1. A type without features takes the mean of the
    scales of its `models`, from which it takes its columns.
    """
    together = Scale.of(np.concatenate(list(parts.values())))
    width = len(together.mean)
    common = together.filled_from(Scale(np.zeros(width), np.ones(width)))
    scales = {kind: Scale.of(X).filled_from(common) for kind, X in parts.items()}
    for kind, others in models.items():
        theirs = [scales[other] for other in others if other in scales] or [common]
        scales[kind] = Scale(
            np.mean([scale.mean for scale in theirs], axis=0),
            np.mean([scale.deviation for scale in theirs], axis=0),
        )
    return scales
