"""How many hops each node is from the nearest one that knows a column, for all columns at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..graph import Graph, graph_components
from ._neighbors import row_blocks
from ._scaling import Components

Array = np.ndarray

FAR = 65535  # what stands where no known cell was met
MOST = FAR - 1
NEGLIGIBLE = 1e-20  # a confidence that no sum of float64 notices


@dataclass(frozen=True)
class Hops:
    """Distances of the cells of a table from what is known of their columns.

    Attributes
    ----------
    counts : uint16 [nodes, columns]
        0 where a cell is known, `FAR` where no known cell was met
    deepest : the largest count met
    label : component of each node
    reached : bool [components, columns]
        Whether anything is known there
    """

    counts: Array
    deepest: int
    label: Array
    reached: Array

    @classmethod
    def of(cls, X: Array, graph: Graph, most: int, threads: int) -> Hops:
        """The hops from the cells of X that are not NaN, up to ``most``.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=5)
        >>> X = np.array([[1.0, np.nan]] + [[np.nan, np.nan]] * 2 + [[np.nan, 2.0]] * 2)
        >>> Hops.of(X, path, 9, 1).counts.T.tolist()
        [[0, 1, 2, 3, 65535], [3, 2, 1, 0, 0]]
        """
        n_columns = X.shape[1]
        counts = np.empty(X.shape, dtype=np.uint16)
        words = np.empty((len(X), -(-n_columns // 64)), dtype=np.uint64)
        bits = words.view(np.uint8)
        for rows in row_blocks(X):
            known = np.ones((len(X[rows]), 64 * words.shape[1]), dtype=bool)
            np.invert(np.isnan(X[rows]), out=known[:, :n_columns])
            bits[rows] = np.packbits(known, axis=1, bitorder="little")
            counts[rows] = np.where(known[:, :n_columns], 0, FAR)
        count, label, _ = graph_components(graph)
        components = Components(count, label)
        reach = kernels.reach(bits, components.rows, components.starts)
        reached = kernels.known_cells(reach, n_columns)
        if not reached.all():  # cells that nothing reaches need no search
            for rows in row_blocks(X):
                bits[rows] |= ~reach[label[rows]]
        edges = graph.indptr, graph.indices
        deepest = kernels.count_hops(*edges, words, counts, min(most, MOST), threads)
        return cls(counts, deepest, label, reached)

    @staticmethod
    def size(n_nodes: int, n_columns: int) -> int:
        """Bytes that these take, and the search for them."""
        words = -(-n_columns // 64)
        return n_nodes * (2 * n_columns + 3 * 8 * words)

    @property
    def n_unreached(self) -> int:
        """Missing cells that no known cell of their column is connected to."""
        sizes = np.bincount(self.label, minlength=len(self.reached))
        return int(sizes @ (~self.reached).sum(axis=1))


def negligible_from(alpha: float) -> int:
    """The number of hops from which on alpha to its power counts for nothing.

    >>> negligible_from(0.5)
    67
    """
    return min(MOST, int(np.ceil(np.log(NEGLIGIBLE) / np.log(alpha))))


def powers(base: float, most: int, dtype: np.dtype) -> Array:
    """base^0 to base^most by number of hops; 0 from there on, and at `FAR`."""
    table = np.zeros(FAR + 1, dtype=dtype)
    table[: most + 1] = base ** np.arange(most + 1, dtype=np.float64)
    return table
