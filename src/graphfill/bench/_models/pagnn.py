"""PaGNN: a graph convolution over the known cells only, then ordinary ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...graph._graph import Graph
from .._problem import Setting
from .fixed import compact
from .gcn import Convolution, first_layer, operator
from .network import Network, widths


def partial_aggregate(X: NDArray[Any], S: sparse.csr_array) -> NDArray[Any]:
    """Z = [(S 1) . S (M.X)] (/) (S M), M being 1 where X is known; 0/0 = 0.

    Where all is known, Z = S X; where a neighbour's cell is missing, the others make up for it.

    Examples
    --------
    >>> S = operator(Graph.from_edges([0], [1]))
    >>> partial_aggregate(np.array([[3.0], [np.nan]], dtype=np.float32), S).ravel()
    array([3., 3.], dtype=float32)
    """
    known = ~np.isnan(X)
    if known.all():
        whole: NDArray[Any] = S @ X
        return whole
    values = np.where(known, X, X.dtype.type(0))
    if known.mean() < 0.1:
        # Few cells are known: both products are sparse, and so is what they spread to.
        above, below = S @ sparse.csr_array(values), S @ sparse.csr_array(known.astype(X.dtype))
        above, below = above.toarray(), below.toarray()
    else:
        above, below = S @ values, S @ known.astype(X.dtype)
    above *= np.asarray(S.sum(axis=1)).reshape(-1, 1)
    mean: NDArray[Any] = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return mean


def network(X: NDArray[Any], graph: Graph, n_classes: int, setting: Setting) -> Network:
    """A PaGNN on features with NaN where missing; call it under `train.seeded`."""
    S = operator(graph, X.dtype)
    Z, live = compact(partial_aggregate(X, S))
    first = first_layer(Z, live, widths(setting, n_classes)[0])
    return Network(first, Convolution, S, n_classes, setting)
