"""Feature Propagation over the node and edge types of a HeteroData."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.transforms import BaseTransform

from .. import errors
from ..hetero import HeteroResult, _refuse_types, propagate_hetero
from . import _refuse
from ._tensors import compressed, is_sparse, missing_cells, with_indicator


class HeteroPropagation(BaseTransform):
    r"""Fill missing features of all node types along all edge types of a HeteroData.

    .. math:: A = \sum_r w_r D_r^{-1/2} A_r D_r^{-1/2}

    is the graph the features propagate on: see :func:`graphfill.propagate_hetero`. Node
    types without features get some; reverse edge types are recognised and not counted twice.

    Parameters
    ----------
    weights : dict by edge type or relation, or "held-out", optional
        How much each edge type counts; 1 by default.
    shared : list of node types or "same_width", optional
        Whose columns are the same quantities. By default each type's columns are its own, and
        reach it through the other types without being given to them.
    like : dict, optional
        For types without features, the type whose columns they get; by default that of the only
        neighbouring type with features.
    standardize : bool
        Propagate each column as standard scores of its own type, and turn them back.
    attr, missing_mask, edge_weight, add_indicator
        As in :class:`FeaturePropagation`, masks as a dict by node type.
    normalization, solver, unreached, **options
        As in :func:`graphfill.propagate`.

    Examples
    --------
    >>> from torch_geometric.data import HeteroData
    >>> data = HeteroData()
    >>> data["paper"].x = torch.tensor([[1.0], [float("nan")], [3.0]])
    >>> data["author"].num_nodes = 2
    >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 2]])
    >>> filled = HeteroPropagation()(data)
    >>> filled["paper"].x.flatten(), filled["author"].x.flatten()
    (tensor([1., 2., 3.]), tensor([1.4142, 2.5858]))
    """

    def __init__(
        self,
        *,
        weights: Any = None,
        shared: Any = None,
        like: dict[str, str] | None = None,
        standardize: bool = False,
        attr: str = "x",
        missing_mask: dict[str, Any] | None = None,
        edge_weight: str | None = None,
        add_indicator: bool = False,
        normalization: str = "rw",
        solver: str = "exact",
        unreached: str = "zero",
        **options: Any,
    ) -> None:
        _refuse_types.check_weights_kind(weights)
        errors.check_choice("normalization", normalization, ("sym", "rw"))
        errors.check_choice("solver", solver, ("diffusion", "chebyshev", "exact"))
        errors.check_choice("unreached", unreached, ("zero", "mean", "nan"))
        self.options = options | {
            "weights": weights,
            "shared": shared,
            "like": like,
            "standardize": standardize,
            "attr": attr,
            "missing_mask": missing_mask,
            "edge_weight": edge_weight,
            "add_indicator": add_indicator,
            "normalization": normalization,
            "solver": solver,
            "unreached": unreached,
        }

    def forward(self, data: Any) -> Any:
        return fill_hetero(data, **self.options)

    def __repr__(self) -> str:
        shown = ("normalization", "solver", "weights")
        return f"{type(self).__name__}({', '.join(f'{k}={self.options[k]!r}' for k in shown)})"


def fill_hetero(
    data: Any,
    *,
    attr: str,
    missing_mask: Any,
    edge_weight: str | None,
    add_indicator: bool,
    **options: Any,
) -> Any:
    """Fill every node type of a HeteroData, in place."""
    featured = [kind for kind in data.node_types if attr in data[kind]]
    masks = _refuse.check_typed_mask(missing_mask, featured, attr)
    features: dict[str, Any] = {}
    missing: dict[str, Tensor] = {}
    for kind in data.node_types:
        store = data[kind]
        if kind not in featured:
            features[kind] = _refuse.check_typed_count(kind, store.num_nodes)
            continue
        x = _refuse.check_feature_attribute(store, attr, f"The node type {kind!r}")
        missing[kind] = missing_cells(x, masks.get(kind))
        features[kind] = x
        if kind in masks:
            wide = x if x.is_floating_point() else x.double()
            features[kind] = wide.masked_fill(missing[kind], torch.nan)
    tracked = [kind for kind in featured if features[kind].requires_grad]
    if tracked and torch.is_grad_enabled():
        _refuse.warn_typed_detached(attr, tracked)
    _refuse.check_typed_weights(edge_weight, [data[key] for key in data.edge_types])
    edges = {key: _edges(key, data[key], edge_weight) for key in data.edge_types}
    result: HeteroResult = propagate_hetero(features, edges, **options)
    example = next(x for x in features.values() if isinstance(x, Tensor))
    for kind, filled in result.features.items():
        if kind in missing and not bool(missing[kind].any()):
            filled = data[kind][attr]  # integers too
        elif kind not in missing:
            filled = torch.from_numpy(filled).to(example.device)
            missing[kind] = torch.ones(filled.shape, dtype=torch.bool, device=filled.device)
        data[kind][attr] = with_indicator(filled, missing[kind]) if add_indicator else filled
    return data


def _edges(key: Any, store: Any, edge_weight: str | None) -> tuple[Any, ...]:
    """Sources, targets and, where the type has the attribute, weights of one edge type."""
    _refuse.check_typed_edges(key, store)
    name = "adj_t" if getattr(store, "edge_index", None) is None else "edge_index"
    listed = store[name]
    weights = None if edge_weight is None else getattr(store, edge_weight, None)
    if is_sparse(listed):
        weights = None if edge_weight == name else weights
        indptr, indices, values = compressed(listed, weights)
        rows = torch.repeat_interleave(torch.tensor(indptr).diff()).numpy()
        # adj_t has a row per target; a sparse edge_index one per source.
        ends = (indices, rows) if name == "adj_t" else (rows, indices)
        return (*ends, values) if edge_weight == name or weights is not None else ends
    source, target = listed.detach().cpu().numpy()
    return (source, target) if weights is None else (source, target, weights)
