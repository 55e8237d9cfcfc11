"""Imputers to compare with: zero, random, column mean and neighbour mean.

Their attributes are those of ``FeaturePropagation``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..graph._graph import Graph
from ..solve._neighbors import neighbor_mean, row_blocks
from ._base import Fill, Floats, GraphImputer


class ZeroImputer(GraphImputer):
    r"""Fill missing cells with zero.

    .. math:: X \leftarrow M \odot X

    with M = 1 where a cell is known. Known cells keep their bits.

    Parameters
    ----------
    graph, add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`; the graph only places the rows of a pandas table by id.
    unreached : {"zero", "mean", "nan"}
        What to put in a column without a known cell; "nan" leaves it as it is.

    Examples
    --------
    With ``add_indicator="all"``, zeros and the mask: what GNNmim gives to a network.

    >>> from graphfill import ZeroImputer
    >>> ZeroImputer(add_indicator="all").fit_transform([[1.0], [None], [3.0]])
    array([[1., 0.],
           [0., 1.],
           [3., 0.]])
    """

    __module__ = "graphfill"

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        return Fill(np.nan_to_num(X, nan=0.0), self._in_empty_columns(X))


class RandomImputer(GraphImputer):
    r"""Fill missing cells with standard normal noise.

    .. math:: X_{ij} \sim N(0, 1) \quad \text{where missing}

    A cell's number depends on the seed, its row and its column alone, and stays the same for all
    calls after `fit`. Known cells keep their bits.

    Parameters
    ----------
    graph, add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`; the graph only places the rows of a pandas table by id.
    random_state : int, RandomState instance or None
        Where the seed comes from.
    unreached : {"random", "zero", "mean", "nan"}
        What to put in a column without a known cell.

    Attributes
    ----------
    seed_ : int
        Drawn in `fit`.

    Examples
    --------
    >>> from graphfill import RandomImputer
    >>> RandomImputer(random_state=0).fit_transform([[1.0], [None], [3.0]]).round(1)
    array([[1. ],
           [1.5],
           [3. ]])
    """

    __module__ = "graphfill"
    _policies: ClassVar[tuple[str, ...]] = ("random", "zero", "mean", "nan")

    def __init__(
        self,
        graph: Any = None,
        *,
        random_state: Any = None,
        unreached: str = "random",
        add_indicator: bool | str = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph, self.random_state, self.unreached = graph, random_state, unreached
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features

    def _prepare(self) -> None:
        super()._prepare()
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fill(self, X: Floats, graph: Graph) -> Fill:
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
    graph, add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`; the graph only places the rows of a pandas table by id.
    unreached : {"zero", "mean", "nan"}
        What to put in a column without a known cell; its "mean" is 0.

    Examples
    --------
    >>> from graphfill import MeanImputer
    >>> MeanImputer().fit_transform([[1.0], [None], [5.0], [6.0]])
    array([[1.],
           [4.],
           [5.],
           [6.]])
    """

    __module__ = "graphfill"

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        means = np.nan_to_num(self.statistics_[self._kept()]).astype(X.dtype)
        return Fill(np.where(np.isnan(X), means, X), self._in_empty_columns(X))


class NeighborMeanImputer(GraphImputer):
    r"""Fill missing cells with the weighted mean of the neighbours' known cells.

    .. math:: X \leftarrow [A (M \odot X)] \oslash [A M] \quad \text{where missing}

    with M = 1 where a cell is known: one step, so a cell without a known neighbour stays out of
    reach. Known cells keep their bits.

    Parameters
    ----------
    graph, add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`.
    unreached : {"zero", "mean", "nan"}
        What to put where no neighbour knows the column: 0, the column's mean in `fit` (0 if it
        has none), or NaN.

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

    __module__ = "graphfill"

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        filled, unreached = neighbor_mean(X, graph)
        return Fill(filled, unreached if unreached.any() else None)


# Doctests are looked for in the module that a class names, which is not this one.
__test__ = {
    imputer.__name__: imputer
    for imputer in (ZeroImputer, RandomImputer, MeanImputer, NeighborMeanImputer)
}
