"""Means over the neighbours of a node."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph._graph import Graph
from ._exponents import exponents
from ._weight_span import ORDINARY_BITS

PRODUCT_CELLS = 1 << 23  # cells of a block of columns that the graph is multiplied with
SUMMED_BITS = 900  # numbers up to 2 to this, and down to 2 to minus this, are added as they are


def neighbor_mean(
    X: NDArray[np.floating], graph: Graph
) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    r"""Fill the NaN of X with the weighted mean of the neighbours' known cells.

    .. math:: X \leftarrow [A (M \odot X)] \oslash [A M] \quad \text{where missing}

    with M = 1 where a cell is known. Returns the filled matrix, and which of its cells no
    neighbour knows; these are 0.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n_nodes=4)
    >>> filled, unreached = neighbor_mean(np.array([[1.0], [np.nan], [5.0], [np.nan]]), path)
    >>> filled.ravel(), unreached.ravel()
    (array([1., 3., 5., 0.]), array([False, False, False,  True]))
    """
    n, n_columns = X.shape
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    weights = np.ldexp(weights, -_middle_exponent(weights))
    A = scipy.sparse.csr_array((weights, graph.indices, graph.indptr), shape=(n, n))
    filled = X.copy()
    unreached = np.zeros(X.shape, dtype=bool)
    width = max(1, PRODUCT_CELLS // n)
    for start in range(0, n_columns, width):
        columns = slice(start, start + width)
        block = X[:, columns]
        known = ~np.isnan(block)
        exponent = exponents(block, SUMMED_BITS)
        total = A @ np.ldexp(np.where(known, block, 0.0), exponent)
        weight = A @ known.astype(np.float64)
        reached = weight > 0
        np.divide(total, weight, out=total, where=reached)
        np.ldexp(total, -exponent, out=total)
        np.copyto(filled[:, columns], total, where=~known, casting="same_kind")
        unreached[:, columns] = ~(known | reached)
    return filled, unreached


def _middle_exponent(weights: NDArray[np.floating]) -> int:
    """The power of two in the middle of the weights; 0 where they are of an ordinary size."""
    if not len(weights):
        return 0
    low, high = (int(np.frexp(end)[1]) for end in (weights.min(), weights.max()))
    return (low + high) // 2 if max(abs(low), abs(high)) > ORDINARY_BITS else 0
