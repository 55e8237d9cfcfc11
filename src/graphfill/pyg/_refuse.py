"""Refusals of PyG data and of transforms of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..errors import GraphfillWarning, InputError


def check_feature_attribute(data: Any, name: str, where: str = "") -> Any:
    """Return the features to fill; refuse data without them."""
    values = getattr(data, name, None)
    if values is None:
        raise InputError(
            f"{where or type(data).__name__} has no {name!r} to fill; it has: "
            f"{', '.join(map(repr, data.keys())) or 'nothing'} (attr= names another)."
        )
    if not hasattr(values, "is_floating_point"):
        raise InputError(
            f"{name!r} is a {type(values).__name__} but must be a tensor, one row per node."
        )
    return values


def check_steps(num_iterations: Any, n_iter: Any, default: int) -> int:
    """Return the number of steps, which goes by two names; refuse two numbers."""
    if num_iterations is not None and n_iter is not None and num_iterations != n_iter:
        raise InputError(
            f"num_iterations is {num_iterations} and n_iter is {n_iter}, which are two names of "
            "one number: pass one of them."
        )
    given = n_iter if num_iterations is None else num_iterations
    return default if given is None else given


def check_homogeneous(data: Any, is_hetero: bool, name: str) -> None:
    """Refuse several node types where rows of one table are filled."""
    if is_hetero:
        raise InputError(
            f"{name} fills Data and Batch, not {type(data).__name__}: use HeteroPropagation, or "
            "apply it to one node type at a time."
        )


def check_imputer(imputer: Any) -> None:
    """Refuse what cannot fill a matrix."""
    if isinstance(imputer, type) or not hasattr(imputer, "fit_transform"):
        raise InputError(
            f"{imputer!r} is no imputer: pass an object with fit_transform, such as MeanImputer()."
        )


def check_same_columns(number: int, names: list[str], first: list[str]) -> None:
    """Refuse a graph of a batch that comes back with other columns than the first."""
    if names != first:
        added, gone = set(names) - set(first), set(first) - set(names)
        what = f"with a column {min(added)!r}" if added else f"without {min(gone, default='')!r}"
        raise InputError(
            f"Graph {number} of the batch comes back {what}, unlike the graphs before it: fill one "
            "graph at a time, or use an imputer that keeps and adds the same columns everywhere, "
            "for example with keep_empty_features=True."
        )


def check_typed_count(kind: str, n_nodes: Any) -> int:
    """Return the number of nodes of a type without features; refuse an unknown one."""
    if n_nodes is None:
        raise InputError(
            f"The node type {kind!r} has no features and no num_nodes: set "
            f"data[{kind!r}].num_nodes."
        )
    return int(n_nodes)


def check_typed_mask(missing_mask: Any, featured: Sequence[str], attr: str) -> dict[str, Any]:
    """Return the masks by node type; refuse one for them all, or for a type without features."""
    if missing_mask is None:
        return {}
    if not isinstance(missing_mask, dict):
        raise InputError(
            f"missing_mask is a {type(missing_mask).__name__} but HeteroData takes a dict of masks "
            "by node type; without a mask, NaN is missing."
        )
    for kind in missing_mask:
        if kind not in featured:
            raise InputError(
                f"missing_mask has the node type {kind!r}, which has no {attr!r} to mask: name "
                f"one that has ({', '.join(map(repr, featured)) or 'none'})."
            )
    return missing_mask


def check_typed_edges(key: Any, store: Any) -> None:
    """Refuse an edge type without edges."""
    if getattr(store, "edge_index", None) is None and getattr(store, "adj_t", None) is None:
        raise InputError(f"The edge type {key!r} has neither edge_index nor adj_t, hence no edges.")


def check_typed_options(directed: str, backend: str) -> None:
    """Refuse what holds for Data alone."""
    if directed == "refuse":
        raise InputError(
            "directed='refuse' is for Data, but edges of HeteroData are taken both ways: leave it "
            "out."
        )
    if backend == "torch":
        raise InputError(
            "backend='torch' is for Data, but HeteroData is filled by the CPU's kernels: leave it "
            "out."
        )


def check_typed_weights(name: str | None, edge_stores: Sequence[Any]) -> None:
    """Refuse the name of weights that no edge type has."""
    if name is not None and all(getattr(store, name, None) is None for store in edge_stores):
        held = sorted(set[str]().union(*(store.keys() for store in edge_stores)))
        raise InputError(
            f"No edge type has an attribute {name!r} to take weights from; they have: "
            f"{', '.join(map(repr, held)) or 'nothing'}."
        )


def warn_detached(name: str) -> None:
    """Say that no gradient passes through an exact solve."""
    warnings.warn(
        f"{name!r} requires a gradient, which does not pass through this fill, so the result is "
        "detached: solver='diffusion' with backend 'auto' or 'torch' keeps it.",
        GraphfillWarning,
        stacklevel=4,
    )


def warn_typed_detached(name: str, kinds: Sequence[str]) -> None:
    """Say that no gradient passes through a fill of several node types."""
    warnings.warn(
        f"{name!r} of {', '.join(map(repr, kinds))} requires a gradient, which does not pass "
        "through the fill of a HeteroData, so what is filled is detached: fill under "
        "torch.no_grad() if that is meant.",
        GraphfillWarning,
        stacklevel=5,
    )
