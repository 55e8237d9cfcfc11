"""Feature Propagation as an estimator."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import ConvergenceWarning, InputError, UnreachedWarning, check_flag, check_number
from ..graph._graph import Graph
from ..solve import PropagationOptions, open_matrix
from ..solve._neighbors import known_means
from ..solve._propagate import propagate_with
from ._base import Fill, Floats, GraphImputer, Rows, check_two_dimensional
from ._new_nodes import (
    REVISITED,
    REVISITED_STEPS,
    KeptFill,
    fill_newcomers,
    grown,
    read_links,
)


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
    normalization, solver, n_iter, tol, max_iter, self_loops, shrinkage
        As in :func:`graphfill.propagate`, of which these are the defaults: the paper's 40 steps.
    unreached : {"zero", "mean", "nan"}
        What to put where no known cell of the column is connected to the node: 0, the column's
        mean in `fit` (0 if it has none), or NaN.
    reorder, memory_limit, threads
        As in :func:`graphfill.propagate`: how much memory and how many cores filling may use.
    add_indicator : bool or "all"
        Append a column per column with missing cells in `fit` ("all": per column, so that there are
        as many whatever is missing), 1 where a cell was missing.
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

    __module__ = "graphfill"

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
        add_indicator: bool | str = False,
        keep_empty_features: bool = True,
        keep_fill: bool = False,
    ) -> None:
        self.graph, self.unreached = graph, unreached
        self.normalization, self.solver = normalization, solver
        self.n_iter, self.tol, self.max_iter = n_iter, tol, max_iter
        self.self_loops, self.shrinkage = self_loops, shrinkage
        self.reorder, self.memory_limit, self.threads = reorder, memory_limit, threads
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features
        self.keep_fill = keep_fill

    def _prepare(self) -> None:
        super()._prepare()
        check_flag("keep_fill", self.keep_fill)

    def _options(self) -> PropagationOptions:
        """The options of this imputer; unreached cells are filled by the base class."""
        names = [name for name in PropagationOptions.__dataclass_fields__ if name != "unreached"]
        return PropagationOptions(**{name: getattr(self, name) for name in names})

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        with warnings.catch_warnings():
            # The base class says it for all imputers, and knows the names of the columns.
            warnings.simplefilter("ignore", UnreachedWarning)
            result = propagate_with(X, graph, self._options())
        unreached = result.unreached if result.n_unreached else None
        return Fill(result.X, unreached, result.n_iter, result.residual)

    def _keep(self, graph: Graph, table: Floats, fill: Fill) -> None:
        self.n_iter_, self.residual_ = fill.n_iter, fill.residual
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
        twentieth of whose value comes from newcomers. Those next to them move by one step, and all
        others stay; with ``solver="exact"`` and at least 64 columns, one column in 64, those that
        newcomers move most, is solved in the whole graph instead. What was fitted does not change:
        to include newcomers permanently, fit again.

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
        started = time.perf_counter()
        check_number("hops", hops, low=0, integer=True)
        check_flag("return_difference", return_difference)
        kept = self._kept_fill
        if kept is None:
            raise InputError(
                f"This {type(self).__name__} was fitted with keep_fill=False, so that its filled "
                "table is gone: fit it again with keep_fill=True to fill newcomers from it."
            )
        opened = open_matrix(X_new)
        check_two_dimensional(len(opened.shape))
        if opened.values.shape[1] != self.n_features_in_:
            raise InputError(
                f"The new rows have {opened.values.shape[1]} column(s) but fit saw "
                f"{self.n_features_in_}: pass the same columns, with NaN where nothing is known."
            )
        validate_data(self, X_new, reset=False, skip_check_array=True)
        labels = opened.row_ids if ids is None else ids
        links = read_links(kept.graph, labels, len(opened.values), edges_new, weight)
        X, means = opened.values[:, self._kept()], self.statistics_[self._kept()]
        options = self._options()
        new = fill_newcomers(kept, X, links, options, hops, np.nan_to_num(means))
        filled = np.where(np.isnan(X), new.X, X)
        # Where a region of the graph knows little, one newcomer may move all of it a little, which
        # no neighbourhood shows: the columns with most left are solved in the whole graph.
        n_most = int(REVISITED * len(new.left)) if options.exact else 0
        columns = np.argsort(-new.left, kind="stable")[:n_most]
        if len(columns):
            filled[:, columns] = _solve_columns(kept, X, links, options, filled, columns)
        if new.unreached is not None:
            self._apply_policy(Fill(filled, new.unreached), means)
            self._report(new.unreached, np.isnan(means), opened)
        seconds = time.perf_counter() - started
        difference = self._difference(kept, X, links, filled) if return_difference else None
        self.newcomers_ = replace(
            new.summary, n_columns=len(columns), seconds=seconds, difference=difference
        )
        out = self._give_back(opened, filled)
        # Of itself, scikit-learn follows set_output in transform and fit_transform alone.
        out = _wrap_data_with_container("transform", out, X_new, self)
        return (out, difference) if return_difference else out

    def _difference(self, kept: KeptFill, X: Floats, links: Graph, filled: Floats) -> float:
        """The norm of the difference of filled cells from a refit, relative to its own.

        In float64, and NaN counts as 0.
        """
        table = np.concatenate([kept.table(np.arange(X.shape[1])), X])
        refit = self._fill(table, grown(kept.graph, links))
        self._apply_policy(refit, known_means(table))
        missing = np.isnan(X)
        cells, expected = (
            np.nan_to_num(part[missing].astype(np.float64))
            for part in (filled, refit.X[len(kept.filled) :])
        )
        size, apart = np.linalg.norm(expected), np.linalg.norm(cells - expected)
        return float(apart / size) if size > 0 else float(apart > 0)


def _solve_columns(
    kept: KeptFill,
    X: Floats,
    links: Graph,
    options: PropagationOptions,
    filled: Floats,
    columns: Rows,
) -> Floats:
    """Columns of the new rows, by some steps in the whole graph from what was fitted."""
    table = np.concatenate([kept.table(columns), X[:, columns]])
    old = np.nan_to_num(kept.filled[:, columns])  # NaN if out of reach
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = propagate_with(
            table.astype(old.dtype, copy=False),
            grown(kept.graph, links),
            replace(options, max_iter=REVISITED_STEPS, reorder=False),
            start=np.concatenate([old, filled[:, columns]]),
        )
    solved: Floats = result.X[len(old) :]
    return solved


# Doctests are looked for in the module that a class names, which is not this one.
__test__ = {"FeaturePropagation": FeaturePropagation}
