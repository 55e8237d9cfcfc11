r"""Weights of cells whose truth is known, so that together they are like the missing ones.

A logistic regression tells missing cells from those whose truth is known, by the features in which
the two clearly differ; with P the probability of being missing, a cell's weight is
P / (1 - P), but for a constant, within limits (weighted conformal prediction). Few cells of much
weight say little: by the effective number :math:`(\sum w)^2 / \sum w^2` weights are taken to a
power below 1 where it would be too small.

Where a value is missing because of what it is, no feature tells: the weights assume that missing
and known cells with the same features have the same errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._differences import standardised

Floats = NDArray[np.float64]

MOST_FEATURES = 12  # of those that differ
MOST_CELLS = 50_000  # known, and as many missing, that are told apart; of more, some evenly apart
LEAST_DIFFERENCE = 0.2  # standardised
LARGEST = 20.0  # a weight over the median one, and the other way round
FEWEST_EFFECTIVE = 150.0


def importance(known: Floats, missing: Floats) -> Floats:
    """Weights of known cells by their features, [known, features], to stand for missing ones.

    Their mean is 1.

    Examples
    --------
    >>> x = np.repeat([[0.0], [1.0]], 100, axis=0)
    >>> w = importance(x, x[80:])
    >>> bool(4.5 < w[-1] / w[0] < 5.5)
    True
    """
    from sklearn.linear_model import LogisticRegression

    X = np.concatenate([known, missing])
    X = np.where(np.isnan(X), np.nanmean(np.where(np.isnan(X).all(axis=0), 0.0, X), axis=0), X)
    is_missing = np.arange(len(X)) >= len(known)
    d = np.abs(standardised(is_missing[:, None], X)[0])
    chosen = [place for place in np.argsort(-d, kind="stable")[:MOST_FEATURES]
              if d[place] > LEAST_DIFFERENCE]  # fmt: skip
    if not chosen:
        return np.ones(len(known))
    Z = X[:, chosen] - X[:, chosen].mean(axis=0)
    Z /= np.maximum(Z.std(axis=0), 1e-12)
    learnt = np.concatenate([evenly(len(known), MOST_CELLS), evenly(len(missing), MOST_CELLS)])
    lost = is_missing[learnt]
    share = np.where(lost, 0.5 / np.count_nonzero(lost), 0.5 / np.count_nonzero(~lost))
    # Newton's method: its last step decides nothing, as that of a search does.
    model = LogisticRegression(solver="newton-cholesky")
    fitted = model.fit(Z[learnt], lost, share * len(lost))
    odds = fitted.decision_function(Z[: len(known)])
    odds = np.clip(odds, -np.inf, np.median(fitted.decision_function(Z[len(known) :])) + 1.0)
    top = np.quantile(odds, 1.0 - min(1.0, FEWEST_EFFECTIVE / 2 / len(odds)))
    w = np.exp(np.clip(odds - top, -2 * np.log(LARGEST), 0.0))
    return np.asarray(w / w.mean())


def evenly(n: int, most: int) -> NDArray[np.bool_]:
    """Which of n to take, evenly apart, so that they are `most` at most.

    Examples
    --------
    >>> evenly(5, 3)
    array([ True, False,  True, False,  True])
    """
    taken = np.zeros(n, dtype=bool)
    taken[:: max(1, -(-n // most))] = True
    return taken


def effective(w: Floats) -> float:
    """As many cells of equal weight would say as much.

    Examples
    --------
    >>> effective(np.array([1.0, 1.0, 0.0]))
    2.0
    """
    return float(w.sum() ** 2 / max(float((w**2).sum()), 1e-300)) if len(w) else 0.0


def tempered(w: Floats) -> Floats:
    """The weights to the largest power, 1 or below, that leaves enough effective cells."""
    for power in np.arange(20, -1, -1) / 20.0:
        lowered = w**power
        if effective(lowered) >= FEWEST_EFFECTIVE:
            break
    return np.asarray(lowered / lowered.mean())


def quantiles(scores: Floats, level: float, weight: Floats | None = None) -> tuple[float, float]:
    """Between which a share `level` of further scores lies; as much left on each side.

    Where one end falls on a value that many share (predictions at the least value there is, and
    right), fewer are left beyond it than allowed, and more on the other side.
    """
    left = 1.0 - level
    w = np.ones(len(scores)) if weight is None else weight
    low, high = quantile(scores, left / 2.0, w), quantile(scores, 1.0 - left / 2.0, w)
    if np.count_nonzero(scores == high) > 1:
        low = quantile(scores, left - float(np.average(scores > high, weights=w)), w)
    elif np.count_nonzero(scores == low) > 1:
        high = quantile(scores, level + float(np.average(scores < low, weights=w)), w)
    return low, high


def quantile(scores: Floats, share: float, weight: Floats) -> float:
    """Below which a share of further scores lies, on average.

    In between two scores it is on a straight line, so that few of them do not make wide intervals.
    Beyond the first and the last nothing is known: infinite.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0]), 0.25, np.ones(3))
    1.0
    """
    ascending, shares = ranked(scores, weight)
    if not len(scores) or share < shares[0] - 1e-9 or share > shares[-1] + 1e-9:
        return float(np.copysign(np.inf, share - 0.5))
    return float(np.interp(share, shares, ascending))


def ranked(scores: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Scores, ascending, and the share of further ones that lies below each, on average.

    It is k / (n + 1) for the k-th of n of equal weight. With weights, n is the effective number,
    and a score lies in the middle of its weight.
    """
    order = np.argsort(scores, kind="stable")
    own = weight[order] / weight.sum() if len(scores) else weight
    each = 1.0 / effective(weight) if len(scores) else 1.0
    return scores[order], (np.cumsum(own) - own / 2 + each / 2) / (1.0 + each)
