"""What every imputer does around its own formula.

An imputer only says how to fill a matrix whose rows are the nodes of a graph (`_fill`). Reading
the user's table and giving the same kind back, placing its rows by id, cells that cannot be
inferred, columns without a known cell and indicator columns are the same for all, and are here.
"""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import errors
from ..graph._graph import Graph
from ..solve._matrix import (
    Container,
    check_columns_left,
    check_row_count,
    check_row_ids,
    check_row_numbers,
    check_two_dimensional,
    open_matrix,
)

BLOCK_CELLS = 1 << 20  # cells handled at once where a temporary copy is needed
ROOM_BITS = 64  # that sums of the largest numbers are given

_REMEDIES = {
    "zero": "filled with 0",
    "mean": "filled with the mean of their column (0 where it has none)",
    "nan": "left missing",
    "random": "drawn at random",
}


@dataclass
class Fill:
    """A filled matrix, which of its cells nothing was known for, and fitted attributes."""

    X: NDArray[np.floating]
    unreached: NDArray[np.bool_] | None = None  # None: no cell
    attributes: dict[str, Any] = field(default_factory=dict)


def row_blocks(X: NDArray[Any]) -> Iterator[slice]:
    """Slices that cut the rows of X into blocks of about BLOCK_CELLS cells."""
    step = max(1, BLOCK_CELLS // X.shape[1])
    return (slice(start, start + step) for start in range(0, len(X), step))


def known_means(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Mean of the known cells of each column; NaN where a column has none."""
    exponent = np.zeros(X.shape[1], dtype=np.intc)
    with np.errstate(over="ignore"):  # then these are the columns to scale
        total, count = _known_sums(X, exponent)
    if not np.isfinite(total).all():
        exponent = np.where(np.isfinite(total), 0, ROOM_BITS).astype(np.intc)
        total, count = _known_sums(X, -exponent)
    means = np.divide(total, count, out=np.full(X.shape[1], np.nan), where=count > 0)
    return np.ldexp(means, exponent)


def _known_sums(
    X: NDArray[np.floating], exponent: NDArray[np.intc]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sums of the known cells of each column, times powers of two, and how many they are."""
    total = np.zeros(X.shape[1])
    count = np.zeros(X.shape[1], dtype=np.int64)
    for rows in row_blocks(X):
        known = ~np.isnan(X[rows])
        cells = np.where(known, X[rows], 0)
        if exponent.any():
            cells = np.ldexp(cells, exponent)
        total += cells.sum(axis=0, dtype=np.float64)
        count += known.sum(axis=0)
    return total, count


class GraphImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of the imputers: a subclass implements `_fill`."""

    _policies: ClassVar[tuple[str, ...]] = ("zero", "mean", "nan")  # what `unreached` may be
    indicator_: Any

    def __init__(
        self,
        graph: Any = None,
        *,
        unreached: str = "zero",
        add_indicator: bool = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph = graph
        self.unreached = unreached
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    @abstractmethod
    def _fill(self, X: NDArray[np.floating], graph: Graph) -> Fill:
        """Fill the NaN of X, one row per node, in a new array; the policy is applied after."""

    def _keep(self, graph: Graph, table: NDArray[np.floating], fill: Fill) -> None:
        """Keep what later calls need of the fill made in `fit`, one row per node."""

    def _in_empty_columns(self, X: NDArray[np.floating]) -> NDArray[np.bool_] | None:
        """The missing cells of columns that had no known cell in fit; None if there are none."""
        empty = np.isnan(self.statistics_[self._kept()])
        return np.isnan(X) & empty if empty.any() else None

    def _prepare(self) -> None:
        """Check the parameters, and draw what is to stay the same for all later calls."""
        errors.check_choice("unreached", self.unreached, self._policies)
        errors.check_flag("add_indicator", self.add_indicator)
        errors.check_flag("keep_empty_features", self.keep_empty_features)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns and their means, and fill `X` once to record how that went.

        Parameters
        ----------
        X : table of shape (n_nodes, n_features)
            One row per node, NaN, None or null where missing. A pandas table may hold some of the
            nodes in any order if the graph has ids: its index says which.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to `X` and fill it, solving once; the same as ``fit(X).transform(X)``.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.

        Returns
        -------
        table of the kind of `X`, with its rows
        """
        return self._give_back(*self._fit(X))

    def transform(self, X: Any) -> Any:
        """Fill `X`, leaving known cells unchanged.

        Parameters
        ----------
        X : table of shape (n_nodes, n_features)
            One row per node. With a graph that has ids, a pandas table may hold some of the nodes:
            its rows replace those seen in :meth:`fit`, whose known cells stay sources.

        Returns
        -------
        table of the kind of `X`, with its rows
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
        names = given[self._kept()]
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

    def _fit(self, X: Any) -> tuple[Container, NDArray[np.floating]]:
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
            self.indicator_ = MissingIndicator(error_on_new=False).fit(opened.values)
        if len(self._kept()) < self.n_features_in_:
            check_columns_left(len(self._kept()))
            dropped = np.flatnonzero(np.isnan(self.statistics_))
            _warn(f"columns without any known cell were dropped: {_listed(dropped, opened)}")
        self._sources: NDArray[np.floating] | None = None
        nodes = self._nodes(opened)
        table = self._place(opened, nodes)
        if self.graph_ is not None and (self.graph_.ids is not None or opened.row_ids is not None):
            # Later tables may hold some rows only. A table of the user's memory is copied.
            self._sources = table.copy() if nodes is None else table
        filled, fill = self._complete(opened, nodes, table, keep=True)
        self.unreached_ = np.zeros(filled.shape, bool) if fill.unreached is None else fill.unreached
        for name, value in fill.attributes.items():
            setattr(self, name, value)
        return opened, filled

    def _kept(self) -> NDArray[np.intp]:
        """The input columns that appear in the output."""
        dropped = np.isnan(self.statistics_) & (not self.keep_empty_features)
        return np.flatnonzero(~dropped)

    def _nodes(self, opened: Container) -> NDArray[np.intp] | None:
        """The node of each row of a table; None when the rows are the nodes in order."""
        graph, labels = self.graph_, opened.row_ids
        if graph is None:
            return None
        if labels is None:
            check_row_count(len(opened.values), graph.n_nodes)
            return None
        if graph.ids is None:
            return check_row_numbers(labels, graph.n_nodes)
        import pandas  # which the labels came from

        index = graph.derived("pandas index", lambda: pandas.Index(graph.ids))
        return check_row_ids(labels, index.get_indexer(labels))

    def _place(self, opened: Container, nodes: NDArray[np.intp] | None) -> NDArray[np.floating]:
        """The kept columns, one row per node; rows not given are those seen in fit, or missing."""
        kept = self._kept()
        values = opened.values
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
        self,
        opened: Container,
        nodes: NDArray[np.intp] | None,
        table: NDArray[np.floating],
        *,
        keep: bool = False,
    ) -> tuple[NDArray[np.floating], Fill]:
        """Fill the table, apply the policy and pick the rows that were given."""
        graph = self.graph_
        if graph is None:
            graph = Graph.from_edges([], [], n_nodes=len(table))
        fill = self._fill(table, graph)
        if fill.unreached is not None and self.unreached != "random":
            self._apply_policy(fill.X, fill.unreached, self.statistics_[self._kept()])
        if keep:
            self._keep(graph, table, fill)
        if fill.unreached is not None:
            if nodes is not None:
                fill.unreached = fill.unreached[nodes]
            self._report(fill.unreached, np.isnan(known_means(table)), opened)
        return (fill.X if nodes is None else fill.X[nodes]), fill

    def _apply_policy(
        self,
        filled: NDArray[np.floating],
        unreached: NDArray[np.bool_],
        means: NDArray[np.floating],
    ) -> None:
        """Put what each kept column's unreached cells get into a filled table."""
        if self.unreached == "mean":
            value = np.nan_to_num(means).astype(filled.dtype)
        else:
            value = np.full(len(means), 0.0 if self.unreached == "zero" else np.nan, filled.dtype)
        filled[unreached] = np.broadcast_to(value, filled.shape)[unreached]

    def _report(
        self, unreached: NDArray[np.bool_], empty: NDArray[np.bool_], opened: Container
    ) -> None:
        n_unreached = int(unreached.sum())
        if n_unreached == 0:  # all of them in rows that were not asked for
            return
        kept = self._kept()
        text = (
            f"{n_unreached} of {opened.missing_mask[:, kept].sum()} missing cells have nothing to "
            f"be inferred from by {type(self).__name__} and were {_REMEDIES[self.unreached]}"
        )
        empty = empty & unreached.any(axis=0)
        if empty.any():
            text += f"; columns without any known cell: {_listed(kept[empty], opened)}"
        _warn(text)

    def _give_back(self, opened: Container, filled: NDArray[np.floating]) -> Any:
        names: list[str] = []
        if self.add_indicator:
            # Not indicator_.transform, which would heed a global request for dataframes.
            was_missing = opened.missing_mask[:, self.indicator_.features_]
            filled = np.hstack([filled, was_missing.astype(filled.dtype)])
            names = list(self.get_feature_names_out()[len(self._kept()) :])
        wanted = _get_output_config("transform", self)["dense"]
        if wanted not in ("default", opened.kind):
            return filled  # scikit-learn makes what set_output asks for of a plain array
        return opened.rebuild(filled, columns=self._kept(), names=names)


def _listed(columns: NDArray[np.intp], opened: Container) -> str:
    """The first few of the columns, by name if they have any."""
    names = opened.feature_names
    shown = [repr(int(j) if names is None else names[j]) for j in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return ", ".join(shown) + more


def _warn(text: str) -> None:
    """Warn at the line that called into graphfill, through however much of scikit-learn."""
    level, frame = 1, sys._getframe()
    inside = ("graphfill.", "sklearn.")
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, errors.UnreachedWarning, stacklevel=level)
