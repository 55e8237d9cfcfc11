"""Means of known cells: over a column, and over the neighbours of a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph._graph import Graph
from ._scaling import ORDINARY_BITS, exponents

Floats = NDArray[np.floating]

BLOCK_CELLS = 1 << 20  # cells handled at once where a temporary copy is needed
ROOM_BITS = 64  # that sums of the largest numbers are given
PRODUCT_CELLS = 1 << 23  # cells of a block of columns that the graph is multiplied with
SUMMED_BITS = 900  # numbers up to 2 to this, and down to 2 to minus this, are added as they are


def row_blocks(X: NDArray[Any]) -> Iterator[slice]:
    """Slices that cut the rows of X into blocks of about BLOCK_CELLS cells."""
    step = max(1, BLOCK_CELLS // X.shape[1])
    return (slice(start, start + step) for start in range(0, len(X), step))


def known_means(X: Floats, room_bits: int = 0) -> NDArray[np.float64]:
    """Mean of the known cells of each column; NaN where a column has none.

    Cells are divided by 2 to the `room_bits` while they are added up.
    """
    total, count = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64)
    for rows in row_blocks(X):
        known = ~np.isnan(X[rows])
        cells = np.where(known, X[rows], 0)
        cells = np.ldexp(cells, -room_bits) if room_bits else cells
        with np.errstate(over="ignore"):  # these columns are added up again, with room
            total += cells.sum(axis=0, dtype=np.float64)
        count += known.sum(axis=0)
    means = np.divide(total, count, out=np.full(X.shape[1], np.nan), where=count > 0)
    if room_bits:
        return np.asarray(np.ldexp(means, room_bits))
    finite = np.isfinite(total)
    return means if finite.all() else np.where(finite, means, known_means(X, ROOM_BITS))


def neighbor_mean(X: Floats, graph: Graph) -> tuple[Floats, NDArray[np.bool_]]:
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


def _middle_exponent(weights: Floats) -> int:
    """The power of two in the middle of the weights; 0 where they are of an ordinary size."""
    if not len(weights):
        return 0
    low, high = (int(np.frexp(end)[1]) for end in (weights.min(), weights.max()))
    return (low + high) // 2 if max(abs(low), abs(high)) > ORDINARY_BITS else 0
