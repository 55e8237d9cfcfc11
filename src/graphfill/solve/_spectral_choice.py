"""Which columns eigenvectors fill better than Feature Propagation, by known cells held out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import UnreachedWarning
from ..graph import Graph
from ._field_fill import scaled
from ._problem import PropagationOptions
from ._propagate import propagate_with
from ._spectral import Array, Floats, Mask, Spectral, fit_spectral

FOLDS = 5
OWN = 100  # known cells from which on a column decides for itself
LEAST = 0.1  # of a column's variance that eigenvectors explain


@dataclass(frozen=True)
class HeldOut:
    """Whether each column is filled by eigenvectors, and the errors that say so.

    `errors` are mean squares in variances of the column, [columns, 3]: by eigenvectors, by Feature
    Propagation, by the mean; NaN where nothing was held out.
    """

    chosen: Mask
    errors: Floats


def propagated(X: Array, graph: Graph, options: PropagationOptions) -> Array:
    """Feature Propagation, without a warning of what it cannot reach."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        filled: Array = propagate_with(X, graph, options).X
    return filled


def hold_out(
    X: Floats,
    graph: Graph,
    spectral: Spectral,
    options: PropagationOptions,
    seed: int,
    tick: Callable[[float], None],
) -> HeldOut:
    """Hide a fifth of the known cells of every column at a time, and compare.

    All that is learned in a round, the scale of columns too, is learned without the hidden cells.
    """
    columns = np.flatnonzero(scaled(X).varying)
    if not len(columns):
        tick(1.0)
        return HeldOut(np.zeros(X.shape[1], dtype=bool), np.full((X.shape[1], 3), np.nan))
    truth = X[:, columns]
    fold, scale = _folds(truth, seed), scaled(truth)
    squares = np.full((3, *truth.shape), np.nan)
    for number in range(FOLDS):
        hidden = fold == number
        rest = np.where(hidden, np.nan, truth)
        inner = scaled(rest)
        Z = inner.standardised(rest)
        guesses = (
            inner.fill(rest, fit_spectral(Z, spectral, seed).mean(Z)),
            propagated(rest, graph, options),
            inner.fill(rest, np.zeros_like(Z)),
        )
        for square, guess in zip(squares, guesses, strict=True):
            error = scale.standardised(guess) - scale.standardised(truth)
            square[hidden] = error[hidden] ** 2
        tick(1.0 / FOLDS)
    chosen = np.zeros(X.shape[1], dtype=bool)
    chosen[columns] = better(*squares)
    errors = np.full((X.shape[1], 3), np.nan)
    count = np.maximum((fold >= 0).sum(axis=0), 1)
    errors[columns] = np.nansum(squares, axis=1).T / count[:, None]
    return HeldOut(chosen, errors)


def _folds(X: Floats, seed: int) -> np.ndarray:
    """The round that hides each known cell; -1 where missing."""
    rng = np.random.default_rng([seed, 17])
    fold = np.full(X.shape, -1, dtype=np.int8)
    for column in range(X.shape[1]):
        known = rng.permutation(np.flatnonzero(~np.isnan(X[:, column])))
        fold[known, column] = np.arange(len(known)) % FOLDS
    return fold


def better(by_vectors: Floats, by_propagation: Floats, by_mean: Floats) -> Mask:
    """The columns for which the first of three tables of squared errors is clearly the smallest.

    Columns of few cells decide together. Cells of a row count as one observation.

    >>> errors = np.array([[0.5, 0.4], [0.3, 0.6], [0.2, 0.5]])
    >>> better(errors, errors + 0.5, errors + 0.6)
    array([ True,  True])
    >>> better(errors, errors, errors + 0.6)
    array([False, False])
    """
    chosen = np.zeros(by_vectors.shape[1], dtype=bool)
    own = np.count_nonzero(~np.isnan(by_vectors), axis=0) >= OWN
    for group in [*np.flatnonzero(own)[:, None], np.flatnonzero(~own)]:
        if len(group):
            mine, other, mean = (e[:, group] for e in (by_vectors, by_propagation, by_mean))
            explained = np.nansum(mine) <= (1.0 - LEAST) * np.nansum(mean)
            chosen[group] = explained and _clearly(mine, other) and _clearly(mine, mean)
    return chosen


def _clearly(smaller: Floats, larger: Floats) -> bool:
    """Whether the mean difference is more than its standard error."""
    gain = larger - smaller
    count = np.count_nonzero(~np.isnan(gain), axis=1)
    mean = np.nansum(gain) / max(1, count.sum())
    around = np.nansum(gain, axis=1) - mean * count
    return bool(mean * count.sum() > np.sqrt(np.sum(around**2)))
