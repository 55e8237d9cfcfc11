"""Extremely randomised trees (Geurts et al., 2006): grown, asked and forgotten."""

from __future__ import annotations

import numpy as np

from ._loops import loops

Array = np.ndarray


def forest(
    X: Array,
    y: Array,
    asked: Array,
    *,
    n_classes: int = 0,
    n_trees: int,
    tried: int,
    least: int,
    seed: int,
) -> Array:
    """What trees that learn y from X say about the rows of `asked`, on average.

    Parameters
    ----------
    X, asked : [rows, features], finite
    y : [rows]
        Values, or numbers of classes.
    tried : features drawn for a node, each with one threshold at random
    least : rows of a leaf, at least

    Returns
    -------
    [asked, 1] values, or [asked, classes] probabilities

    Examples
    --------
    >>> X = np.arange(4.0)[:, None]
    >>> forest(X, X[:, 0] // 2, X, n_trees=1, tried=1, least=2, seed=0).shape
    (4, 1)
    """
    states = np.random.default_rng(seed).integers(2**64, size=n_trees, dtype=np.uint64)
    out = np.zeros((len(asked), n_classes or 1))
    columns = [np.ascontiguousarray(cells.T, dtype=np.float32) for cells in (X, asked)]
    sizes = (len(X), len(asked), X.shape[1], n_classes, tried, least)
    y = np.ascontiguousarray(y, dtype=np.float64)
    loops.grow_forest(columns[0], y, columns[1], out, states, *sizes)
    return out / n_trees
