"""Feature Propagation as an estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..solve import propagate
from ..validate import UnreachedWarning
from .base import Fill, GraphImputer


class FeaturePropagation(GraphImputer):
    r"""Fill missing cells by diffusing the known ones along the edges.

    Repeats, with :math:`S = D^{-1/2} A D^{-1/2}` and known cells held fixed,

    .. math:: X \leftarrow S X

    for ``n_iter`` steps, as in the paper, or solves for the limit (``solver="exact"``). Under
    ``normalization="rw"``, :math:`S = D^{-1} A`, a filled value stays within the range of the
    known ones of its column. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        Row i of a table belongs to node i; with ids, a pandas table's index says which node each
        row belongs to. None: rows are unrelated, and `unreached` decides on every missing cell.
    normalization : {"sym", "rw"}
        The paper's, or the one for quantities with a unit.
    solver : {"diffusion", "chebyshev", "exact"}
        ``n_iter`` steps, the same answer from fewer products, or the limit.
    n_iter : int
        Steps of diffusion.
    tol : float, optional
        The relative residual to reach; a warning says when it was not.
    max_iter : int
        Most iterations of ``exact``.
    self_loops : bool
        Link every node to itself first, as the paper's code (not its text) does.
    shrinkage : float
        Pull filled values towards the column's mean ("rw") or zero ("sym").
    unreached : {"zero", "mean", "nan"}
        What to put where no known cell of the column is connected to the node: 0, the column's
        mean in `fit` (0 if it has none), or NaN.
    reorder : {"auto", True, False}
        Renumber nodes internally for speed; the answer is the same.
    memory_limit : int or str, optional
        Bytes (or "4GB") that filling may allocate.
    threads : int, optional
        All available cores by default; the answer is the same for any number.
    add_indicator : bool
        Append a column per column with missing cells in `fit`, 1 where a cell was missing.
    keep_empty_features : bool
        Keep columns without a known cell in `fit`; False drops them.

    Attributes
    ----------
    graph_ : Graph or None
    n_iter_ : int
        Steps taken in `fit`.
    residual_ : float
        The largest relative residual of any column in `fit`.
    unreached_ : ndarray of bool, of the shape of the filled table
        Which cells in `fit` nothing could be inferred for.
    statistics_ : ndarray of shape (n_features_in_,)
        Mean of the known cells of each column in `fit`; NaN where there are none.
    indicator_ : sklearn.impute.MissingIndicator or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if the table had such names

    See Also
    --------
    graphfill.propagate : The same as a plain function.
    NeighborMeanImputer : One step, without propagation.

    References
    ----------
    Rossi, Kenlay, Gorinova, Chamberlain, Dong and Bronstein, On the Unreasonable Effectiveness of
    Feature Propagation in Learning on Graphs with Missing Node Features, LoG 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfill import FeaturePropagation, Graph
    >>> path = Graph.from_edges([0, 1], [1, 2], n_nodes=3)
    >>> imputer = FeaturePropagation(path, normalization="rw", solver="exact")
    >>> imputer.fit_transform([[1.0], [None], [3.0]])
    array([[1.],
           [2.],
           [3.]])
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        normalization: str = "sym",
        solver: str = "diffusion",
        n_iter: int = 40,
        tol: float | None = None,
        max_iter: int = 10_000,
        self_loops: bool = False,
        shrinkage: float = 0.0,
        unreached: str = "zero",
        reorder: bool | str = "auto",
        memory_limit: int | float | str | None = None,
        threads: int | None = None,
        add_indicator: bool = False,
        keep_empty_features: bool = True,
    ) -> None:
        super().__init__(
            graph,
            unreached=unreached,
            add_indicator=add_indicator,
            keep_empty_features=keep_empty_features,
        )
        self.normalization = normalization
        self.solver = solver
        self.n_iter = n_iter
        self.tol = tol
        self.max_iter = max_iter
        self.self_loops = self_loops
        self.shrinkage = shrinkage
        self.reorder = reorder
        self.memory_limit = memory_limit
        self.threads = threads

    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        with warnings.catch_warnings():
            # The base class says it for all imputers, and knows the names of the columns.
            warnings.simplefilter("ignore", UnreachedWarning)
            result = propagate(
                X,
                graph,
                normalization=self.normalization,
                solver=self.solver,
                n_iter=self.n_iter,
                tol=self.tol,
                max_iter=self.max_iter,
                self_loops=self.self_loops,
                shrinkage=self.shrinkage,
                reorder=self.reorder,
                memory_limit=self.memory_limit,
                threads=self.threads,
            )
        return Fill(
            result.X,
            unreached=result.unreached if result.n_unreached else None,
            attributes={"n_iter_": result.n_iter, "residual_": result.residual},
        )
