"""Feature Propagation over the node and edge types of a HeteroData."""

# mypy: allow-subclassing-any
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from ..errors import GraphfillWarning, InputError, warn_caller
from ..graph import two_rows
from ..hetero import propagate_hetero
from ..hetero._relations import check_weights_kind
from ..solve import PropagationOptions
from . import _tensors as tensors
from ._base import WEIGHT, Transform, check_attribute_name


class TypedTransform(Transform):
    """How a transform fills every node type of a HeteroData, by what it was made with.

    `types` are the options of :func:`graphfill.propagate_hetero` that are not of propagation.
    """

    attr: str
    missing_mask: Any
    edge_weight: str | None
    add_indicator: bool
    options: PropagationOptions
    types: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        """The options under their own names: ``transform.solver``."""
        made = vars(self)  # empty while a copy is being made
        if name in made.get("types", {}):
            return made["types"][name]
        if name in PropagationOptions.__dataclass_fields__ and "options" in made:
            return getattr(made["options"], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in PropagationOptions.__dataclass_fields__:
            super().__setattr__("options", replace(self.options, **{name: value}))
        elif name in vars(self).get("types", {}):
            self.types[name] = value
        else:
            super().__setattr__(name, value)

    def _defaults(self) -> dict[str, Any]:
        named = super()._defaults()
        rest = {one.name: one.default for one in fields(PropagationOptions)}
        rest |= {"seed": 0, "progress": False}
        others = (name for name in rest if name not in named and hasattr(self, name))
        return named | {name: rest[name] for name in others}

    def forward(self, data: Any) -> Any:
        featured = [kind for kind in data.node_types if self.attr in data[kind]]
        masks = self._masks(data, featured)
        features: dict[str, Any] = {}
        missing: dict[str, Tensor] = {}
        for kind in data.node_types:
            store = data[kind]
            if kind not in featured:
                n_nodes = store.num_nodes
                if n_nodes is None:
                    raise InputError(
                        f"The node type {kind!r} has no features and no num_nodes: set "
                        f"data[{kind!r}].num_nodes."
                    )
                features[kind] = int(n_nodes)
                continue
            where = f"The node type {kind!r}"
            features[kind] = x = tensors.features_of(store, self.attr, where)
            missing[kind] = tensors.missing_cells(x, masks.get(kind))
            if kind in masks and bool(missing[kind].any()):
                floats = tensors.as_floats(x, missing[kind])
                features[kind] = floats.masked_fill(missing[kind], torch.nan)
        tracked = [kind for kind in featured if features[kind].requires_grad]
        if tracked and torch.is_grad_enabled():
            warn_caller(
                f"{self.attr!r} of {', '.join(map(repr, tracked))} requires a gradient, which does "
                "not pass through the fill of a HeteroData, so what is filled is detached: fill "
                "under torch.no_grad() if that is meant.",
                GraphfillWarning,
            )
        options = self.types | vars(self.options)
        result = propagate_hetero(features, self._edges(data), **options)
        device = next(x.device for x in features.values() if isinstance(x, Tensor))
        for kind, filled in result.features.items():
            if kind in missing and not bool(missing[kind].any()):
                filled = data[kind][self.attr]  # integers too
            elif isinstance(filled, int):  # the type only passes information on
                continue
            elif kind not in missing:
                filled = torch.from_numpy(filled).to(device)
                missing[kind] = torch.ones_like(filled, dtype=torch.bool)
            if self.add_indicator:
                filled = tensors.with_indicator(filled, missing[kind])
            data[kind][self.attr] = filled
        return data

    def _masks(self, data: Any, featured: Sequence[str]) -> dict[str, Any]:
        """The masks by node type; refuses one for them all, or for a type without features."""
        masks = {} if self.missing_mask is None else self.missing_mask
        if isinstance(masks, str):
            holders = [kind for kind in featured if masks in data[kind]]
            masks = dict.fromkeys(holders or featured[:1], masks)
        if not isinstance(masks, dict):
            raise InputError(
                f"missing_mask is a {type(masks).__name__} but HeteroData takes a dict of masks by "
                "node type; without a mask, NaN is missing."
            )
        for kind in masks:
            if kind not in featured:
                raise InputError(
                    f"missing_mask has the node type {kind!r}, which has no {self.attr!r} to mask: "
                    f"name one that has ({', '.join(map(repr, featured)) or 'none'})."
                )
        return {kind: tensors.mask_of(data[kind], mask) for kind, mask in masks.items()}

    def _edges(self, data: Any) -> dict[Any, tuple[Any, ...]]:
        """The edges of each type, with weights where the type has the attribute for them."""
        stores = {key: data[key] for key in data.edge_types}
        name = self.edge_weight
        values = [getattr(store, name or "", None) for store in stores.values()]
        if name not in (None, WEIGHT) and all(value is None for value in values):
            attributes = sorted(set[str]().union(*(store.keys() for store in stores.values())))
            raise InputError(
                f"No edge type has an attribute {name!r} to take weights from; they have: "
                f"{', '.join(map(repr, attributes)) or 'nothing'}."
            )
        return {key: _edges_of_type(key, store, name) for key, store in stores.items()}


def check_steps(steps: int | None, options: PropagationOptions) -> None:
    """Refuse a number of steps where the limit is solved for."""
    if steps is not None and options.exact:
        raise InputError(
            f"num_iterations is {steps} but solver='exact' solves for the limit, whatever the "
            "number: leave one of them out (max_iter bounds the search)."
        )


class HeteroPropagation(TypedTransform):
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
        neighbouring type with features. None where a type is to get none, and only passes
        information on.
    standardize : bool
        Propagate each column as standard scores of its own type, and turn them back.
    attr, missing_mask, edge_weight, add_indicator
        As in :class:`FeaturePropagation`, masks as a dict by node type.
    normalization, solver, unreached, **options
        As in :func:`graphfill.propagate`.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import HeteroData
    >>> data = HeteroData()
    >>> data["paper"].x = torch.tensor([[1.0], [float("nan")], [3.0]])
    >>> data["author"].num_nodes = 2
    >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 2]])
    >>> filled = HeteroPropagation()(data)
    >>> filled["paper"].x.flatten(), filled["author"].x.flatten()
    (tensor([1., 2., 3.]), tensor([1.4142, 2.5858]))
    """

    __module__ = "graphfill.pyg"
    _fills = (HeteroData,), "HeteroData"
    _instead = "use FeaturePropagation where nodes have one type"

    def __init__(
        self,
        *,
        weights: Any = None,
        shared: Any = None,
        like: dict[str, str | None] | None = None,
        standardize: bool = False,
        attr: str = "x",
        missing_mask: dict[str, Any] | str | None = None,
        edge_weight: str | None = WEIGHT,
        add_indicator: bool = False,
        normalization: str = "rw",
        solver: str = "exact",
        unreached: str = "zero",
        **options: Any,
    ) -> None:
        check_weights_kind(weights)
        check_attribute_name("attr", attr)
        check_attribute_name("edge_weight", edge_weight, optional=True)
        self.types = {"weights": weights, "shared": shared, "like": like}
        self.types |= {"standardize": standardize, "seed": options.pop("seed", 0)}
        self.types |= {"progress": options.pop("progress", False)}
        self.options = PropagationOptions(
            normalization=normalization, solver=solver, unreached=unreached, **options
        )
        check_steps(options.get("n_iter"), self.options)
        self.attr, self.missing_mask = attr, missing_mask
        self.edge_weight, self.add_indicator = edge_weight, add_indicator


def _edges_of_type(key: Any, store: Any, edge_weight: str | None) -> tuple[Any, ...]:
    """Sources, targets and, where the type has the attribute, weights of one edge type."""
    name = "adj_t" if getattr(store, "edge_index", None) is None else "edge_index"
    edges = getattr(store, name, None)
    if edges is None:
        raise InputError(f"The edge type {key!r} has neither edge_index nor adj_t, hence no edges.")
    tensors.check_values(name, edges)
    sparse = tensors.is_sparse(edges)
    if edge_weight not in (WEIGHT, name) and getattr(store, edge_weight or "", None) is None:
        edge_weight = None  # other types have it
    weights = tensors.weights_of(store, edge_weight, of_matrix=sparse)
    if edge_weight is not None and tensors.wants_gradient(edges if sparse else weights):
        tensors.refuse_gradient(f"the edge weights of {key!r}", "detach them")
    if sparse:
        indptr, indices, values = tensors.compressed(edges, weights)
        rows = torch.repeat_interleave(torch.tensor(indptr).diff()).numpy()
        # adj_t has a row per target; a sparse edge_index one per source.
        ends = (indices, rows) if name == "adj_t" else (rows, indices)
        return ends if edge_weight is None or values is None else (*ends, values)
    source, target = two_rows(edges, f"The edge_index of {key!r}")
    return (source, target) if weights is None else (source, target, weights)
