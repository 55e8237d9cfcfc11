"""What every imputer does around its own formula.

An imputer only says how to fill a matrix whose rows are the nodes of a graph (`_fill`). Reading
the user's table and giving the same kind back, placing its rows by id, cells that cannot be
inferred, columns without a known cell and indicator columns are the same for all, and are here.
"""

# mypy: allow-subclassing-any
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InputError, UnreachedWarning, check_choice, check_flag, warn_caller
from ..graph._graph import Graph
from ..solve import check_row_count
from ..solve._matrix import Container, open_matrix
from ..solve._neighbors import known_means

Floats = NDArray[np.floating]
Cells = NDArray[np.bool_]
Rows = NDArray[np.intp]

_REMEDIES = {
    "zero": "filled with 0",
    "mean": "filled with the mean of their column (0 where it has none)",
    "nan": "left missing",
    "random": "drawn at random",
}


def check_two_dimensional(ndim: int) -> None:
    """Refuse a single column or row where estimators need a table."""
    if ndim != 2:
        raise InputError(
            f"X has {ndim} dimension(s) but an imputer needs two. Reshape your data: "
            "X.reshape(-1, 1) (or .to_frame()) makes it one column, X.reshape(1, -1) one row."
        )


class Fill(NamedTuple):
    """A filled matrix, which of its cells nothing was known for, and how the solver ended."""

    X: Floats
    unreached: Cells | None  # None: no cell
    n_iter: int = 0
    residual: float = 0.0


class GraphImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of the imputers: a subclass implements `_fill`."""

    _policies: ClassVar[tuple[str, ...]] = ("zero", "mean", "nan")  # what `unreached` may be
    _lack: ClassVar[str] = "have nothing to be inferred from by {}"  # what is said of such cells
    indicator_: Any

    def __init__(
        self,
        graph: Any = None,
        *,
        unreached: str = "zero",
        add_indicator: bool | str = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph, self.unreached = graph, unreached
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features

    @abstractmethod
    def _fill(self, X: Floats, graph: Graph) -> Fill:
        """Fill the NaN of X, one row per node, in a new array; the policy is applied after."""

    def _keep(self, graph: Graph, table: Floats, fill: Fill) -> None:
        """Keep what later calls need of the fill made in `fit`, one row per node."""

    def _in_empty_columns(self, X: Floats) -> Cells | None:
        """The missing cells of columns that had no known cell in fit; None if there are none."""
        empty = np.isnan(self.statistics_[self._kept()])
        return np.isnan(X) & empty if empty.any() else None

    def _prepare(self) -> None:
        """Check the parameters, and draw what is to stay the same for all later calls."""
        check_choice("unreached", self.unreached, self._policies)
        if isinstance(self.add_indicator, str):
            check_choice("add_indicator", self.add_indicator, (True, False, "all"))
        else:
            check_flag("add_indicator", self.add_indicator)
        check_flag("keep_empty_features", self.keep_empty_features)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns and their means, and fill `X` once to record how that went.

        Parameters
        ----------
        X : table of shape (n_nodes, n_features)
            One row per node, NaN, None or null where missing. A pandas table may hold some of the
            nodes in any order if the graph has ids: its index says which.
        y : None
            Ignored.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to `X` and fill it, solving once; the same as ``fit(X).transform(X)``."""
        return self._give_back(*self._fit(X))

    def transform(self, X: Any) -> Any:
        """Fill `X`, leaving known cells unchanged; a table of its kind is returned.

        Parameters
        ----------
        X : table of shape (n_nodes, n_features)
            One row per node. With a graph that has ids, a pandas table may hold some of the nodes:
            its rows replace those seen in :meth:`fit`, whose known cells stay sources.
        """
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        nodes = self._nodes(opened)
        filled, _ = self._complete(opened, nodes, self._place(opened, nodes))
        return self._give_back(opened, filled)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns that :meth:`transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; those seen in :meth:`fit`, or x0, x1, ..., by default.
        """
        given = super().get_feature_names_out(input_features)
        names: NDArray[np.object_] = given[self._kept()]
        if self.add_indicator:
            names = np.concatenate([names, self.indicator_.get_feature_names_out(given)])
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # -- the way of a table: open, place, fill, give back --

    def _open(self, X: Any, *, reset: bool) -> Container:
        opened = open_matrix(X)
        check_two_dimensional(len(opened.shape))
        validate_data(self, X, reset=reset, skip_check_array=True)
        return opened

    def _fit(self, X: Any) -> tuple[Container, Floats]:
        self._prepare()
        opened = self._open(X, reset=True)
        self.graph_ = self.graph
        if self.graph is not None and not isinstance(self.graph, Graph):
            # Without labels on the rows, whatever names a node can only mean a row number.
            n_nodes = len(opened.values) if opened.row_ids is None else None
            self.graph_ = Graph.of(self.graph, n_nodes=n_nodes)
        self.statistics_ = known_means(opened.values)
        self.indicator_ = None
        if self.add_indicator:
            which = "all" if self.add_indicator == "all" else "missing-only"
            indicator = MissingIndicator(features=which, error_on_new=False)
            self.indicator_ = indicator.fit(opened.values)
        if len(self._kept()) < self.n_features_in_:
            if not len(self._kept()):
                raise InputError(
                    "X has no known cell at all, so keep_empty_features=False would drop every "
                    "column: pass some known cells, or keep_empty_features=True."
                )
            dropped = np.flatnonzero(np.isnan(self.statistics_))
            text = f"columns without any known cell were dropped: {_listed(dropped, opened)}"
            warn_caller(text, UnreachedWarning)
        self._sources: Floats | None = None
        nodes = self._nodes(opened)
        table = self._place(opened, nodes)
        if self.graph_ is not None and (self.graph_.ids is not None or opened.row_ids is not None):
            # Later tables may hold some rows only. A table of the user's memory is copied.
            self._sources = table.copy() if nodes is None else table
        filled, unreached = self._complete(opened, nodes, table, keep=True)
        self.unreached_ = np.zeros(filled.shape, bool) if unreached is None else unreached
        return opened, filled

    def _kept(self) -> Rows:
        """The input columns that appear in the output."""
        dropped = np.isnan(self.statistics_) & (not self.keep_empty_features)
        return np.flatnonzero(~dropped)

    def _nodes(self, opened: Container) -> Rows | None:
        """The node of each row of a table; None when the rows are the nodes in order."""
        graph, labels = self.graph_, opened.row_ids
        if graph is None:
            return None
        if labels is None:
            check_row_count(len(opened.values), graph.n_nodes)
            return None
        if graph.ids is None:
            return _row_numbers(labels, graph.n_nodes)
        import pandas  # which the labels came from

        index = graph.derived("pandas index", lambda: pandas.Index(graph.ids))
        nodes: Rows = index.get_indexer(labels)
        unknown = np.flatnonzero(nodes < 0)
        if unknown.size:
            raise InputError(
                f"Row label {labels[unknown[0]]!r} is no node of the graph ({unknown.size} such "
                "label(s)): set the index of X to node ids, or pass X.to_numpy() to go by position."
            )
        if labels.has_duplicates:
            label = labels[labels.duplicated()][0]
            raise InputError(f"Row label {label!r} occurs more than once: pass one row per node.")
        return nodes

    def _place(self, opened: Container, nodes: Rows | None) -> Floats:
        """The kept columns, one row per node; rows not given are those seen in fit, or missing."""
        kept, values = self._kept(), opened.values
        if len(kept) < values.shape[1]:
            values = values[:, kept]
        if nodes is None:
            return values
        table = np.full((self.graph_.n_nodes, len(kept)), np.nan, dtype=values.dtype)
        if self._sources is not None:
            table[:] = self._sources
        table[nodes] = values
        return table

    def _complete(
        self, opened: Container, nodes: Rows | None, table: Floats, *, keep: bool = False
    ) -> tuple[Floats, Cells | None]:
        """Fill the table, apply the policy and pick the rows that were given."""
        graph = self.graph_
        if graph is None:
            graph = Graph.from_edges([], [], n_nodes=len(table))
        fill = self._fill(table, graph)
        if self.unreached != "random":
            self._apply_policy(fill, self.statistics_[self._kept()])
        if keep:
            self._keep(graph, table, fill)
        filled, unreached = fill.X, fill.unreached
        if nodes is not None:
            filled, unreached = filled[nodes], None if unreached is None else unreached[nodes]
        if unreached is not None:
            self._report(unreached, np.isnan(known_means(table)), opened)
        return filled, unreached

    def _apply_policy(self, fill: Fill, means: Floats) -> None:
        """Put what each kept column's unreached cells get into a filled table."""
        if fill.unreached is None:
            return
        values: dict[str, Any] = {"zero": 0.0, "mean": np.nan_to_num(means), "nan": np.nan}
        np.copyto(fill.X, values[self.unreached], where=fill.unreached, casting="same_kind")

    def _remedy(self) -> str:
        """What was done about cells that nothing could be inferred for."""
        return _REMEDIES[self.unreached]

    def _report(self, unreached: Cells, empty: Cells, opened: Container) -> None:
        """Warn of the cells that nothing could be inferred for."""
        n_unreached = int(unreached.sum())
        if n_unreached == 0:  # all of them in rows that were not asked for
            return
        kept = self._kept()
        text = (
            f"{n_unreached} of {opened.missing_mask[:, kept].sum()} missing cells "
            f"{self._lack.format(type(self).__name__)} and were {self._remedy()}"
        )
        empty = empty & unreached.any(axis=0)
        if empty.any():
            text += f"; columns without any known cell: {_listed(kept[empty], opened)}"
        warn_caller(text, UnreachedWarning)

    def _give_back(self, opened: Container, filled: Floats) -> Any:
        """The filled matrix as the kind of table that came in, or that `set_output` asks for."""
        names: list[str] = []
        if self.add_indicator:
            # Not indicator_.transform, which would follow a global request for dataframes.
            was_missing = opened.missing_mask[:, self.indicator_.features_]
            filled = np.hstack([filled, was_missing.astype(filled.dtype)])
            names = list(self.get_feature_names_out()[len(self._kept()) :])
        wanted = _get_output_config("transform", self)["dense"]
        if wanted not in ("default", opened.kind):
            return filled  # scikit-learn makes what set_output asks for of a plain array
        return opened.rebuild(filled, columns=self._kept(), names=names)


def _listed(columns: Rows, opened: Container) -> str:
    """The first few of the columns, by name if they have any."""
    names = opened.feature_names
    shown = [repr(int(j) if names is None else names[j]) for j in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return ", ".join(shown) + more


def _row_numbers(labels: Any, n_nodes: int) -> Rows | None:
    """Nodes of labelled rows when node ids are row numbers; None for all rows in order.

    Labels that are no row numbers say nothing, so that only the order is left to go by.
    """
    numbers = labels.to_numpy(dtype=np.intp) if labels.dtype.kind in "iu" else np.array([-1])
    if labels.has_duplicates or numbers.min() < 0 or numbers.max() >= n_nodes:
        check_row_count(len(labels), n_nodes)
        return None
    if numbers.size < n_nodes:
        return numbers
    if (numbers[1:] < numbers[:-1]).any():
        raise InputError(
            "The index of X holds the numbers of all nodes in another order, so rows could go by "
            "label or by position: pass X.sort_index() or X.reset_index(drop=True) to say which."
        )
    return None
