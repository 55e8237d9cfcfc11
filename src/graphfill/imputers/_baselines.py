"""Imputers to compare with: zero, random, column mean and neighbour mean."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..graph._graph import Graph
from ..solve import ORDINARY_BITS, exponents
from ._base import Fill, GraphImputer, row_blocks

PRODUCT_CELLS = 1 << 23  # cells of a block of columns that the graph is multiplied with
SUMMED_BITS = 900  # numbers up to 2 to this, and down to 2 to minus this, are added as they are


class ZeroImputer(GraphImputer):
    r"""Fill missing cells with zero.

    .. math:: X \leftarrow M \odot X

    with M = 1 where a cell is known. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        Only places the rows of a pandas table by id; the values do not depend on it.
    unreached : {"zero", "mean", "nan"}
        What to put in a column without a known cell; "nan" leaves it as it is.
    add_indicator, keep_empty_features : bool
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    graph_, statistics_, unreached_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    Examples
    --------
    >>> from graphfill import ZeroImputer
    >>> ZeroImputer().fit_transform([[1.0], [None], [3.0]])
    array([[1.],
           [0.],
           [3.]])
    """

    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        return Fill(np.nan_to_num(X, nan=0.0), self._in_empty_columns(X))


class RandomImputer(GraphImputer):
    r"""Fill missing cells with standard normal noise.

    .. math:: X_{ij} \sim N(0, 1) \quad \text{where missing}

    A cell's number depends on the seed, its row and its column alone, and stays the same for all
    calls after `fit`. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        Only places the rows of a pandas table by id; the values do not depend on the edges.
    random_state : int, RandomState instance or None
        Where the seed comes from.
    unreached : {"random", "zero", "mean", "nan"}
        What to put in a column without a known cell.
    add_indicator, keep_empty_features : bool
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    seed_ : int
        Drawn in `fit`.
    graph_, statistics_, unreached_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    Examples
    --------
    >>> from graphfill import RandomImputer
    >>> RandomImputer(random_state=0).fit_transform([[1.0], [None], [3.0]]).round(1)
    array([[1. ],
           [1.5],
           [3. ]])
    """

    _policies: ClassVar[tuple[str, ...]] = ("random", "zero", "mean", "nan")

    def __init__(
        self,
        graph: Any = None,
        *,
        random_state: Any = None,
        unreached: str = "random",
        add_indicator: bool = False,
        keep_empty_features: bool = True,
    ) -> None:
        super().__init__(
            graph,
            unreached=unreached,
            add_indicator=add_indicator,
            keep_empty_features=keep_empty_features,
        )
        self.random_state = random_state

    def _prepare(self) -> None:
        super()._prepare()
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        filled = X.copy()
        random = np.random.default_rng(self.seed_)
        for rows in row_blocks(X):
            block = filled[rows]
            # Known cells get a number too, so that what is missing elsewhere changes nothing.
            noise = random.standard_normal(block.shape, dtype=X.dtype.type)
            np.copyto(block, noise, where=np.isnan(block))
        return Fill(filled, self._in_empty_columns(X))


class MeanImputer(GraphImputer):
    r"""Fill missing cells with the mean of the known cells of their column.

    .. math:: X_{ij} = \sum_k M_{kj} X_{kj} / \sum_k M_{kj} \quad \text{where missing}

    with M = 1 where a cell is known in `fit`. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        Only places the rows of a pandas table by id; the values do not depend on it.
    unreached : {"zero", "mean", "nan"}
        What to put in a column without a known cell; its "mean" is 0.
    add_indicator, keep_empty_features : bool
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    graph_, statistics_, unreached_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    Examples
    --------
    >>> from graphfill import MeanImputer
    >>> MeanImputer().fit_transform([[1.0], [None], [5.0], [6.0]])
    array([[1.],
           [4.],
           [5.],
           [6.]])
    """

    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        means = np.nan_to_num(self.statistics_[self._kept()]).astype(X.dtype)
        return Fill(np.where(np.isnan(X), means, X), self._in_empty_columns(X))


class NeighborMeanImputer(GraphImputer):
    r"""Fill missing cells with the weighted mean of the neighbours' known cells.

    .. math:: X \leftarrow [A (M \odot X)] \oslash [A M] \quad \text{where missing}

    with M = 1 where a cell is known: one step, so a cell without a known neighbour stays out of
    reach. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        As in :class:`FeaturePropagation`.
    unreached : {"zero", "mean", "nan"}
        What to put where no neighbour knows the column: 0, the column's mean in `fit` (0 if it
        has none), or NaN.
    add_indicator, keep_empty_features : bool
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    graph_, statistics_, unreached_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    Examples
    --------
    >>> from graphfill import Graph, NeighborMeanImputer
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=4)
    >>> NeighborMeanImputer(path).fit_transform([[1.0], [None], [5.0], [None]])
    array([[1.],
           [3.],
           [5.],
           [5.]])
    """

    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        n, n_columns = X.shape
        weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
        weights = np.ldexp(weights, -_middle(weights))
        A = scipy.sparse.csr_array((weights, graph.indices, graph.indptr), shape=(n, n))
        filled = X.copy()
        unreached = np.zeros(X.shape, dtype=bool)
        width = max(1, PRODUCT_CELLS // n)
        for start in range(0, n_columns, width):
            block = X[:, start : start + width]
            known = ~np.isnan(block)
            exponent = exponents(block, SUMMED_BITS)
            total = A @ np.ldexp(np.where(known, block, 0.0), exponent)
            weight = A @ known.astype(np.float64)
            reached = weight > 0
            np.divide(total, weight, out=total, where=reached)
            np.ldexp(total, -exponent, out=total)
            np.copyto(filled[:, start : start + width], total, where=~known, casting="same_kind")
            unreached[:, start : start + width] = ~(known | reached)
        return Fill(filled, unreached if unreached.any() else None)


def _middle(weights: NDArray[np.floating]) -> int:
    """The power of two in the middle of the weights; 0 where they are of an ordinary size."""
    if not len(weights):
        return 0
    low, high = (int(np.frexp(end)[1]) for end in (weights.min(), weights.max()))
    return (low + high) // 2 if max(abs(low), abs(high)) > ORDINARY_BITS else 0
