"""Refusals of graphs with several types of nodes and edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, named, shown


def _listed(names: Collection[Any]) -> str:
    return ", ".join(map(repr, names)) or "none"


def check_mapping(role: str, value: Any, example: str) -> None:
    """Refuse what is no dict by type."""
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{role} is {shown(value)} but must be a dict such as {example}.")


def check_edge_type(key: Any, types: Collection[str]) -> None:
    """Refuse a key that is no (source type, relation, target type), or names no node type."""
    if not isinstance(key, tuple) or len(key) != 3:
        raise InputError(
            f"The edge type {key!r} must be three names: (source type, relation, target type)."
        )
    for end in (key[0], key[2]):
        if end not in types:
            raise InputError(
                f"The edge type {key!r} names the node type {end!r}, but features has: "
                f"{_listed(types)}; pass the number of its nodes if it has no features."
            )


def check_typed_ends(
    key: tuple[str, str, str], role: str, nodes: NDArray[Any], n_nodes: int
) -> NDArray[np.int64]:
    """Return the row numbers of one end of the edges; refuse rows that there are none of."""
    kind = key[0] if role == "source" else key[2]
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
        raise InputError(
            f"The {role}s of {key!r} have shape {nodes.shape} and dtype {nodes.dtype} but must be "
            f"one column of row numbers of {kind!r}; name the column of ids by id= to use ids."
        )
    if nodes.size and not (nodes.min() >= 0 and nodes.max() < n_nodes):
        number = int(np.argmax((nodes < 0) | (nodes >= n_nodes)))
        raise InputError(
            f"Edge {number} of {key!r} names node {nodes[number]} of {kind!r}, which has {n_nodes} "
            "nodes, numbered from 0."
        )
    return nodes.astype(np.int64)


def unknown_id(key: tuple[str, str, str], role: str, number: int, node: Any) -> InputError:
    """An edge that names an id without a row."""
    kind = key[0] if role == "source" else key[2]
    return InputError(
        f"Edge {number} of {key!r} names {named(node)} as its {role}, which is no id of {kind!r}: "
        "correct or drop the edge, or add a row for it."
    )


def check_edge_pair(key: tuple[str, str, str], ends: Any) -> None:
    """Refuse edges that are neither a pair nor a triple of columns."""
    if not hasattr(ends, "__len__") or len(ends) not in (2, 3):
        raise InputError(
            f"The edges of {key!r} are {shown(ends)} but must be (source, target), or "
            "(source, target, weight), or a table of edges."
        )


def check_id_columns(missing: Collection[str]) -> None:
    """Refuse id columns for some types of nodes only."""
    if missing:
        raise InputError(
            f"id= names no column of {_listed(missing)}: give every type of nodes a table with an "
            "id column, or none."
        )


def check_name_count(kind: str, n_names: int, n_columns: int) -> None:
    """Refuse column names that are not one per column."""
    if n_names != n_columns:
        raise InputError(
            f"The features of {kind!r} have {n_columns} column(s) but {n_names} name(s): pass one "
            "name per column."
        )


def check_distinct_names(kind: str, names: Sequence[Any]) -> None:
    """Refuse a column name that occurs twice: columns are matched by it."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"The features of {kind!r} have two columns {twice!r}: rename one.")


def check_shared(shared: Any, widths: Mapping[str, int]) -> None:
    """Refuse types that share columns by position but have another number of them."""
    if shared is None or shared == "same_width":
        return
    listed = isinstance(shared, (list, tuple, set, frozenset)) and len(shared) > 0
    if not listed or not all(kind in widths for kind in shared):
        raise InputError(
            f"shared is {shown(shared)} but must be 'same_width' or a list of node types with "
            f"features without names: {_listed(widths)}."
        )
    first, *others = shared
    for kind in others:
        if widths[kind] != widths[first]:
            raise InputError(
                f"shared names {first!r} with {widths[first]} column(s) and {kind!r} with "
                f"{widths[kind]}: only types with as many columns can share them."
            )


def check_like(like: Mapping[str, str], bare: Collection[str], featured: Collection[str]) -> None:
    """Refuse to give features to a type that has some, or like those of a type without."""
    for kind, model in like.items():
        if kind not in bare:
            raise InputError(
                f"like= gives columns to {kind!r}, but the node types without features are: "
                f"{_listed(bare)}."
            )
        if model not in featured:
            raise InputError(
                f"like= gives {kind!r} the columns of {model!r}, but the node types with features "
                f"are: {_listed(featured)}."
            )


def columns_unclear(kind: str, neighbours: Collection[str]) -> InputError:
    """A type without features whose neighbours do not say which it should get."""
    why = f"neighbours with different ones ({_listed(neighbours)})"
    if not neighbours:
        why = "no neighbouring type with any"
    return InputError(
        f"The node type {kind!r} has no features and {why}: say whose columns it gets by "
        f"like={{{kind!r}: ...}}."
    )


def check_no_features(featured: Collection[str]) -> None:
    """Refuse to fill nothing."""
    if not featured:
        raise InputError("No node type has features: there is nothing to propagate.")


def check_relation_weight(key: Any, weight: Any) -> float:
    """Return the weight of an edge type; refuse one that is no weight."""
    if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
        raise InputError(f"The weight of {key!r} is {weight!r}, which is no number.")
    if not 0 <= weight < np.inf:
        raise InputError(f"The weight of {key!r} is {weight} but must be finite and not negative.")
    return float(weight)


def check_weight_keys(
    named_weights: Mapping[Any, Any], matches: Mapping[Any, int], keys: Collection[Any]
) -> None:
    """Refuse weights of edge types that there are none of, or that go by an ambiguous name."""
    for name in named_weights:
        if matches[name] != 1:
            which = "several edge types go" if matches[name] else "no edge type goes"
            raise InputError(
                f"weights has an entry for {name!r}, but {which} by that; there are: "
                f"{_listed(keys)}."
            )


def check_one_weight(name: Any, weight: float, other_name: Any, other: float) -> None:
    """Refuse two weights of edges that count once."""
    if weight != other:
        raise InputError(
            f"weights has {weight} for {name!r} and {other} for {other_name!r}, which are the same "
            "edges, in one direction or the other, and count once: give one weight."
        )


def check_weights_kind(weights: Any) -> None:
    """Refuse what is no way to weigh edge types."""
    if weights is not None and weights != "held-out" and not isinstance(weights, Mapping):
        raise InputError(
            f"weights is {shown(weights)} but must be None, 'held-out' or a dict such as "
            "{('author', 'writes', 'paper'): 1.0}."
        )
