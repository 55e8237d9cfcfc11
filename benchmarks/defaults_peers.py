"""Imputers that know nothing of the graph, on numbers and codes of categories.

Each is called with the numbers and the codes of categories as floats [rows, columns], NaN where
missing, the number of values of each category, and a seed. It returns both without NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

MOST_VALUES = 60  # of a category: all rarer values share one indicator
FOREIGN = ("miceforest", "copula")  # in an environment of their own: `make peers`


# -- categories as indicators --


def indicators(codes: np.ndarray, n_values: np.ndarray) -> np.ndarray:
    """One column per value but the first, 1 where the cell has it and NaN where it is missing.

    The dropped indicator is that of code 0, the most frequent value: it is 1 minus the others.
    """
    blocks = [np.empty((len(codes), 0))]
    for column, count in zip(codes.T, n_values, strict=True):
        merged = np.minimum(column, MOST_VALUES - 1)  # NaN stays NaN
        block = np.equal(merged[:, None], np.arange(1, min(count, MOST_VALUES))).astype(float)
        block[np.isnan(column)] = np.nan
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def from_indicators(filled: np.ndarray, n_values: np.ndarray) -> np.ndarray:
    """The code with the largest indicator, but for the one that all rarer values share.

    To choose that one would be to choose no value, and wrong for all of them but one.
    """
    codes, at = [np.empty((len(filled), 0))], 0
    for count in n_values:
        width = max(min(count, MOST_VALUES) - 1, 0)
        block = filled[:, at : at + width]
        whole = np.column_stack([1.0 - block.sum(axis=1), block])
        own = whole[:, : MOST_VALUES - 1] if count > MOST_VALUES else whole
        codes.append(own.argmax(axis=1).astype(float))
        at += width
    return np.column_stack(codes)


# -- scales --


class Standard:
    """Mean 0 and standard deviation 1."""

    def __init__(self, column: np.ndarray):
        self.mean = np.nanmean(column)
        self.scale = np.nanstd(column) or 1.0

    def forth(self, column: np.ndarray) -> np.ndarray:
        return (column - self.mean) / self.scale

    def back(self, column: np.ndarray) -> np.ndarray:
        return column * self.scale + self.mean


class NormalScores:
    """Ranks to quantiles of the normal distribution, and back by the known cells' quantiles.

    A value of rank r (the mean of ties) among n known ones becomes Phi^-1((r - 1/2) / n); between
    two known values the scores are interpolated, and beyond all of them they stay at the ends.
    """

    def __init__(self, column: np.ndarray):
        from scipy.special import ndtri

        known = column[~np.isnan(column)]
        self.values, counts = np.unique(known, return_counts=True)
        self.scores = ndtri((np.cumsum(counts) - counts / 2) / len(known))

    def forth(self, column: np.ndarray) -> np.ndarray:
        return np.interp(column, self.values, self.scores)  # NaN stays NaN

    def back(self, column: np.ndarray) -> np.ndarray:
        return np.interp(column, self.scores, self.values)


# -- peers --


def on_indicators(make: Callable, scale: type = Standard) -> Callable:
    """Fill a matrix of scaled numbers and standardised indicators by ``make(seed)``."""

    def fill(numbers, codes, n_values, seed):
        ones = indicators(codes, n_values)
        scales = [scale(c) for c in numbers.T] + [Standard(c) for c in ones.T]
        columns = [*numbers.T, *ones.T]
        X = np.column_stack([s.forth(c) for s, c in zip(scales, columns, strict=True)])
        filled = make(seed).fit_transform(X)
        filled = np.column_stack([s.back(c) for s, c in zip(scales, filled.T, strict=True)])
        width = numbers.shape[1]
        return filled[:, :width], from_indicators(filled[:, width:], n_values)

    return fill


def simple(seed: int):
    from sklearn.impute import SimpleImputer

    return SimpleImputer()


def nearest(seed: int):
    from sklearn.impute import KNNImputer

    return KNNImputer(n_neighbors=10)


def iterative(make: Callable) -> Callable:
    def imputer(seed: int):
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        estimator, rounds = make(seed)
        return IterativeImputer(estimator, max_iter=rounds, random_state=seed)

    return imputer


@iterative
def ridge(seed: int):
    from sklearn.linear_model import BayesianRidge

    return BayesianRidge(), 10


@iterative
def forest(seed: int):
    """MissForest."""
    from sklearn.ensemble import ExtraTreesRegressor

    return ExtraTreesRegressor(n_estimators=100, max_features="sqrt", random_state=seed), 10


@iterative
def boosting(seed: int):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=seed), 5


def copula(seed: int):
    """A Gaussian copula, fitted by EM.

    Indicators are ordinal and numbers continuous: its own guess is ordinal for numbers of which
    many are equal, and then it stops where two others are very close.
    """
    from gcimpute.gaussian_copula import GaussianCopula

    class Imputer(GaussianCopula):
        def fit_transform(self, X):
            ordinal = np.array([len(np.unique(c[~np.isnan(c)])) <= 2 for c in X.T])
            kinds = {"continuous": np.flatnonzero(~ordinal), "ordinal": np.flatnonzero(ordinal)}
            return super().fit_transform(X=X, **{k: list(v) or None for k, v in kinds.items()})

    return Imputer(random_state=seed)


def miceforest(numbers, codes, n_values, seed):
    """The mean of five imputations of five iterations each, or the value most of them have."""
    import miceforest as package
    import pandas as pd

    columns = {f"number{j}": cells for j, cells in enumerate(numbers.T)}
    for j, cells in enumerate(codes.T):
        columns[f"code{j}"] = pd.Categorical(cells, categories=np.arange(float(n_values[j])))
    table = pd.DataFrame(columns)
    kernel = package.ImputationKernel(table, num_datasets=5, random_state=seed)
    kernel.mice(5)
    runs = np.array([kernel.complete_data(k).astype(float).to_numpy() for k in range(5)])
    width = numbers.shape[1]
    votes = [[np.bincount(cell).argmax() for cell in column.T]
             for column in runs[:, :, width:].astype(int).transpose(2, 0, 1)]  # fmt: skip
    chosen = np.array(votes, dtype=float).reshape(codes.shape[::-1]).T
    return runs[:, :, :width].mean(axis=0), chosen


PEERS = {
    "mean": on_indicators(simple),
    "knn": on_indicators(nearest),
    "knn-rank": on_indicators(nearest, NormalScores),
    "ridge": on_indicators(ridge),
    "ridge-rank": on_indicators(ridge, NormalScores),
    "forest": on_indicators(forest),
    "boosting": on_indicators(boosting),
    "miceforest": miceforest,
    "copula": on_indicators(copula),
}
