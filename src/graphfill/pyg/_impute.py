"""Every imputer of graphfill, or of scikit-learn, as a PyG transform."""

# mypy: allow-subclassing-any
from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from torch_geometric.data import Data

from .. import imputers
from ..errors import GraphfillWarning, InputError, UnreachedWarning, check_choice, warn_caller
from ..graph._graph import Graph
from ..solve import check_row_count, open_matrix
from . import _tensors as tensors
from ._base import WEIGHT, Transform, check_attribute_name, printed


class Impute(Transform):
    """Fill the features of a Data or Batch by an imputer, fitted anew to each graph.

    Parameters
    ----------
    imputer : graphfill or scikit-learn imputer
        Never changed; its ``graph``, where it has one, is that of the data.
    attr : str
        The attribute to fill.
    missing_mask, edge_weight, directed
        As in :class:`FeaturePropagation`.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from graphfill import NeighborMeanImputer
    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> data = Data(x=torch.tensor([1.0, float("nan"), 5.0]), edge_index=path)
    >>> Impute(NeighborMeanImputer())(data).x
    tensor([1., 3., 5.])
    """

    __module__ = "graphfill.pyg"
    _fills = (Data,), "Data and Batch"
    _instead = "use HeteroPropagation, or apply it to one node type at a time"

    def __init__(
        self,
        imputer: Any,
        attr: str = "x",
        *,
        missing_mask: Any = None,
        edge_weight: str | None = WEIGHT,
        directed: str = "symmetrize",
    ) -> None:
        if isinstance(imputer, type) or not hasattr(imputer, "fit_transform"):
            raise InputError(
                f"{imputer!r} is no imputer: pass an object with fit_transform, such as "
                "MeanImputer()."
            )
        check_choice("directed", directed, ("symmetrize", "refuse"))
        check_attribute_name("attr", attr)
        check_attribute_name("edge_weight", edge_weight, optional=True)
        self.imputer, self.attr, self.missing_mask = imputer, attr, missing_mask
        self.edge_weight, self.directed = edge_weight, directed

    def forward(self, data: Any) -> Any:
        x = tensors.features_of(data, self.attr)
        missing = tensors.missing_cells(x, tensors.mask_of(data, self.missing_mask))
        opened = open_matrix(x, missing_mask=missing)
        if bool(missing.any()) and not x.is_floating_point():
            opened = open_matrix(tensors.as_floats(x, missing), missing_mask=missing)
        graph = None
        if "graph" in self.imputer.get_params(deep=False):
            graph, weights = tensors.graph_of(
                data, len(x), edge_weight=self.edge_weight, directed=self.directed
            )
            if weights is not None:
                tensors.refuse_gradient(f"{self.edge_weight!r}", "detach it")
            check_row_count(len(x), graph.n_nodes)
        if tensors.wants_gradient(x):
            warn_caller(
                f"{self.attr!r} requires a gradient, which does not pass through an imputer, so "
                "the result is detached: fill under torch.no_grad() if that is meant.",
                GraphfillWarning,
            )
        starts = tensors.graph_starts(data)
        if starts is None:
            filled, _ = self._fill(opened.values, graph)
        else:
            filled = self._one_by_one(opened.values, graph, starts.cpu().numpy())
        if not x.is_floating_point() and np.array_equal(filled, opened.values):
            return data  # nothing was missing, and integers stay integers
        names = [f"indicator{i}" for i in range(filled.shape[1] - opened.values.shape[1])]
        columns = range(min(filled.shape[1], opened.values.shape[1]))
        setattr(data, self.attr, opened.rebuild(filled, columns=columns, names=names))
        return data

    def _fill(
        self, X: NDArray[np.floating], graph: Graph | None
    ) -> tuple[NDArray[np.floating], list[str]]:
        """The filled matrix and the names of its columns, or their numbers."""
        imputer = clone(self.imputer)
        if graph is not None:
            imputer.set_params(graph=graph)
        filled = np.asarray(imputer.fit_transform(X))
        try:
            names = imputer.get_feature_names_out()
        except AttributeError:  # of the imputer, or of a step of a pipeline
            names = range(filled.shape[1])
        return filled, [str(name) for name in names]

    def _one_by_one(
        self, X: NDArray[np.floating], graph: Graph | None, starts: NDArray[np.integer]
    ) -> NDArray[np.floating]:
        """The graphs of a batch, each filled by itself; each kind of warning is given once."""
        parts: list[NDArray[np.floating]] = []
        first: list[str] = []
        messages: dict[type[Warning], list[tuple[int, str]]] = {}
        for number, (low, high) in enumerate(pairwise(starts)):
            if low == high:
                continue
            part = None if graph is None else _cut(graph, int(low), int(high))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                filled, names = self._fill(X[low:high], part)
            first = first if parts else names
            if names != first:
                added, gone = set(names) - set(first), set(first) - set(names)
                what = f"without {min(gone, default='')!r}"
                what = f"with a column {min(added)!r}" if added else what
                raise InputError(
                    f"Graph {number} of the batch comes back {what}, unlike the graphs before it: "
                    "fill one graph at a time, or use an imputer that keeps and adds the same "
                    "columns everywhere, for example with keep_empty_features=True."
                )
            parts.append(filled)
            for warning in caught:
                messages.setdefault(warning.category, []).append((number, str(warning.message)))
        for category, texts in messages.items():
            what = "have cells that cannot be inferred"
            if not issubclass(category, UnreachedWarning):
                what = f"gave a {category.__name__}"
            warn_caller(
                f"{len({number for number, _ in texts})} of the {len(starts) - 1} graphs of the "
                f"batch {what}; the first: {texts[0][1]}",
                category,
            )
        return np.concatenate(parts)

    def _arguments(self) -> list[str]:
        return [part.removeprefix("imputer=") for part in super()._arguments()]


def _cut(graph: Graph, low: int, high: int) -> Graph:
    """One graph of a batch: no edge leaves it."""
    entries = slice(graph.indptr[low], graph.indptr[high])
    return Graph.from_csr(
        graph.indptr[low : high + 1] - graph.indptr[low],
        graph.indices[entries] - low,
        None if graph.weights is None else graph.weights[entries],
        self_loops=True,
    )


class _Named(Impute):
    """An imputer of graphfill under its own name: keywords go to it, or to `Impute`."""

    _imputer: type

    def __init__(
        self,
        attr: str = "x",
        *,
        missing_mask: Any = None,
        edge_weight: str | None = WEIGHT,
        directed: str = "symmetrize",
        **parameters: Any,
    ) -> None:
        super().__init__(
            self._imputer(**parameters),
            attr,
            missing_mask=missing_mask,
            edge_weight=edge_weight,
            directed=directed,
        )

    def _arguments(self) -> list[str]:
        of_imputer = printed(self.imputer).partition("(")[2].removesuffix(")")
        return [of_imputer] * bool(of_imputer) + super()._arguments()


class ZeroImputer(_Named):
    """Fill with zero: :class:`graphfill.ZeroImputer` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.ZeroImputer


class RandomImputer(_Named):
    """Fill with standard normal noise: :class:`graphfill.RandomImputer` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.RandomImputer


class MeanImputer(_Named):
    """Fill with the column's mean: :class:`graphfill.MeanImputer` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.MeanImputer


class PCFI(_Named):
    """Fill by distance from known cells, and by the row: :class:`graphfill.PCFI` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.PCFI


class FISF(_Named):
    """Fill as PCFI begins, with made-up numbers: :class:`graphfill.FISF` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.FISF


class NeighborMeanImputer(_Named):
    """Fill with the neighbours' mean: :class:`graphfill.NeighborMeanImputer` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.NeighborMeanImputer


class SpectralImputer(_Named):
    """Fill from eigenvectors: :class:`graphfill.SpectralImputer` as a transform."""

    __module__ = "graphfill.pyg"
    _imputer = imputers.SpectralImputer
