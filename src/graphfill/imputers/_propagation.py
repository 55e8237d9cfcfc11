"""Feature Propagation as an estimator."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import check_is_fitted

from .. import errors
from ..errors import ConvergenceWarning, UnreachedWarning
from ..graph._graph import Graph
from ..solve._matrix import check_two_dimensional, open_matrix
from ..solve._propagate import Result, propagate
from . import _refuse
from ._base import Fill, GraphImputer, known_means
from ._links import grown, read_links
from ._new_nodes import REVISITED, REVISITED_STEPS, KeptFill, Newcomers, fill_newcomers


class FeaturePropagation(GraphImputer):
    r"""Fill missing cells by diffusing the known ones along the edges.

    Repeats, with :math:`S = D^{-1/2} A D^{-1/2}` and known cells held fixed,

    .. math:: X \leftarrow S X

    for ``n_iter`` steps, as in the paper, or solves for the limit (``solver="exact"``). The limit
    under ``normalization="rw"``, :math:`S = D^{-1} A`, stays within the range of the known values
    of its column; steps start at 0 and may end between it and them. Known cells keep their bits.

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
    keep_fill : bool
        Keep the filled table of `fit`, which :meth:`transform_new` needs. Off by default, because
        it takes the memory of the table once more (and an eighth of a byte per cell).

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
    newcomers_ : Newcomers
        How the last call to :meth:`transform_new` went, and what it left undone.
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
        keep_fill: bool = False,
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
        self.keep_fill = keep_fill

    def _prepare(self) -> None:
        super()._prepare()
        errors.check_flag("keep_fill", self.keep_fill)

    def _propagated(self, X: NDArray[np.floating], graph: Graph, **other: Any) -> Result:
        """Propagate with this imputer's settings, but for some others."""
        settings: dict[str, Any] = {
            "normalization": self.normalization,
            "solver": self.solver,
            "n_iter": self.n_iter,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "self_loops": self.self_loops,
            "shrinkage": self.shrinkage,
            "reorder": self.reorder,
            "memory_limit": self.memory_limit,
            "threads": self.threads,
        }
        with warnings.catch_warnings():
            # The base class says it for all imputers, and knows the names of the columns.
            warnings.simplefilter("ignore", UnreachedWarning)
            return propagate(X, graph, **settings | other)

    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        result = self._propagated(X, graph)
        return Fill(
            result.X,
            unreached=result.unreached if result.n_unreached else None,
            attributes={"n_iter_": result.n_iter, "residual_": result.residual},
        )

    def _keep(self, graph: Graph, table: NDArray[np.floating], fill: Fill) -> None:
        self._kept_fill = None
        if self.keep_fill:
            self._kept_fill = KeptFill.of(graph, table, fill.X, fill.unreached)

    def transform_new(
        self,
        X_new: Any,
        edges_new: Any,
        *,
        ids: Any = None,
        weight: Any = None,
        hops: int = 1,
        return_difference: bool = False,
    ) -> Any:
        """Fill nodes that arrived after `fit`, from its filled table (``keep_fill=True``).

        The newcomers are solved for, and so are those fitted nodes within `hops` of them a
        twentieth of whose value hangs on newcomers. Those next to them give way by one step, and
        all others stay; with ``solver="exact"`` and at least 64 columns, one column in 64, those
        that newcomers move most, is solved in the whole graph instead. What was fitted does not
        change: to take newcomers in for good, fit again.

        Parameters
        ----------
        X_new : table of shape (n_new, n_features)
            The new rows, NaN, None or null where missing.
        edges_new : pairs, array of shape (2, n_edges), or table of edges
            Between newcomers, and from them to fitted nodes: by id if the graph has ids, else by
            row number, fitted nodes being 0 to n - 1 and new ones n to n + n_new - 1.
        ids : array-like, optional
            Ids of the new rows; by default the index of a pandas table.
        weight : array-like, or name of a column of `edges_new`; optional
            Needed if the graph has weights; the edges of one without weigh 1 beside these.
        hops : int
            How far from a newcomer fitted nodes may be solved anew.
        return_difference : bool
            Also return the relative difference from fitting again with all nodes, which takes
            as long as that does.

        Returns
        -------
        table of the kind of `X_new`, or that `set_output` asks for; with ``return_difference``,
        and a float

        Examples
        --------
        >>> from graphfill import FeaturePropagation, Graph
        >>> path = Graph.from_edges(["a", "b"], ["b", "c"])
        >>> imputer = FeaturePropagation(path, normalization="rw", solver="exact", keep_fill=True)
        >>> imputer = imputer.fit([[1.0], [None], [3.0]])
        >>> imputer.transform_new([[None]], [("d", "a"), ("d", "b")], ids=["d"]).round(3)
        array([[1.4]])
        """
        check_is_fitted(self)
        began = time.perf_counter()
        errors.check_number("hops", hops, low=0, integer=True)
        errors.check_flag("return_difference", return_difference)
        kept: KeptFill = _refuse.check_fill_kept(self._kept_fill, type(self).__name__)
        opened = open_matrix(X_new)
        check_two_dimensional(len(opened.shape))
        _refuse.check_newcomer_columns(opened.values.shape[1], self.n_features_in_)
        opened = self._open(X_new, reset=False)
        labels = opened.row_ids if ids is None else ids
        links = read_links(kept.graph, labels, len(opened.values), edges_new, weight)
        X = opened.values[:, self._kept()]
        centre = np.nan_to_num(self.statistics_[self._kept()])
        local = fill_newcomers(
            kept,
            X,
            links,
            hops=hops,
            normalization=self.normalization,
            n_iter=None if self.solver == "exact" else self.n_iter,
            self_loops=self.self_loops,
            shrinkage=self.shrinkage,
            centre=centre if self.normalization == "rw" else np.zeros_like(centre),
        )
        missing = np.isnan(X)
        filled = np.where(missing, local.X, X)
        revisited = local.most_moved(REVISITED if self.solver == "exact" else 0.0)
        if len(revisited):
            filled[:, revisited] = self._resolve(kept, X, links, filled, revisited)
        if local.unreached is not None:
            self._apply_policy(filled, local.unreached, self.statistics_[self._kept()])
            self._report(local.unreached, np.isnan(self.statistics_[self._kept()]), opened)
        seconds = time.perf_counter() - began
        difference = None
        if return_difference:
            table = np.concatenate([kept.table(), X])
            refit = self._fill(table, grown(kept.graph, links))
            if refit.unreached is not None:
                self._apply_policy(refit.X, refit.unreached, known_means(table))
            expected = refit.X[len(kept.filled) :]
            difference = _relative_difference(filled[missing], expected[missing])
        self.newcomers_ = Newcomers(
            len(X), local.n_resolved, local.n_held, len(revisited), local.n_iter, local.drift,
            seconds, difference,
        )  # fmt: skip
        out = self._give_back(opened, filled)
        # Of itself, scikit-learn heeds set_output in transform and fit_transform alone.
        out = _wrap_data_with_container("transform", out, X_new, self)
        return (out, difference) if return_difference else out

    def _resolve(
        self,
        kept: KeptFill,
        X: NDArray[np.floating],
        links: Graph,
        filled: NDArray[np.floating],
        columns: NDArray[np.intp],
    ) -> NDArray[np.floating]:
        """Columns of the new rows, by some steps in the whole graph from what was fitted."""
        old, missing = kept.columns(columns)
        table = np.concatenate([np.where(missing, np.nan, old), X[:, columns]])
        start = np.concatenate([np.nan_to_num(old), filled[:, columns]])  # NaN if out of reach
        table, whole = table.astype(old.dtype, copy=False), grown(kept.graph, links)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solved = self._propagated(
                table, whole, start=start, max_iter=REVISITED_STEPS, reorder=False
            )
        return solved.X[len(old) :]


def _relative_difference(found: NDArray[np.floating], expected: NDArray[np.floating]) -> float:
    """Norm of the difference over that of what was expected, in float64; NaN counts as 0."""
    found, expected = (np.nan_to_num(cells.astype(np.float64)) for cells in (found, expected))
    size, apart = np.linalg.norm(expected), np.linalg.norm(found - expected)
    return float(apart / size) if size > 0 else float(apart > 0)
