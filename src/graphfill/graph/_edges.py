"""Edges, listed by row number, and the symmetric matrix that they make."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..errors import InputError, SymmetrizedWarning, check_choice, check_flag, named, warn_caller
from ._ids import check_distinct_ids, check_node_count, factorize, unless_numbers

Array = NDArray[Any]

NUMBERS = (numbers.Real, Decimal, np.bool_)  # what a cell of an object array may hold


class Edges(NamedTuple):
    """Edges between rows 0 to n_nodes - 1, and the ids of those rows (None: their numbers).

    `directed` is False if each stands for both directions, True if that has to be seen, and
    None if nobody knows: a list of pairs may mean either.
    """

    source: Array
    target: Array
    weights: Array | None
    n_nodes: int
    ids: Array | None = None
    directed: bool | None = None


def by_number(source: Array, target: Array, n_nodes: int) -> Edges:
    """Edges whose ids are row numbers already; nothing is copied but to unify the types."""
    check_numbered(source, target, n_nodes)
    if source.dtype != target.dtype:
        source, target = source.astype(np.int64), target.astype(np.int64)
    source, target = np.ascontiguousarray(source), np.ascontiguousarray(target)
    number = first_outside(n_nodes, source, target)
    if number is not None:
        node = next(int(end[number]) for end in (source, target) if not 0 <= end[number] < n_nodes)
        raise InputError(
            f"Edge {number}, {_ends(number, source, target)}, names node {node}, but there are "
            f"{n_nodes} nodes, numbered from 0."
        )
    return Edges(source, target, None, n_nodes)


def check_numbered(source: Array, target: Array, n_nodes: int) -> None:
    """Refuse ids that cannot be row numbers."""
    for role, ids in (("source", source), ("target", target)):
        if ids.dtype.kind != "i":
            other = (i for i, node in enumerate(ids.tolist()) if type(node) is not int)
            number = next(other, 0)
            raise InputError(
                f"n_nodes={n_nodes} says that nodes go by row number, but the {role} of edge "
                f"{number} is {named(ids[number])}: pass nodes= with the ids in row order instead."
            )


def check_ends(source: Array, target: Array) -> None:
    """Refuse edges of which some have one end."""
    if source.size != target.size:
        raise InputError(
            f"There are {source.size} source(s) but {target.size} target(s): an edge has one each."
        )


def first_outside(end: int, *columns: Array) -> int | None:
    """Position of the first entry of any column that is not in 0 <= entry < end, if there is one.

    Minimum and maximum need no array of the size of the columns.
    """
    if not columns[0].size or all(c.min() >= 0 and c.max() < end for c in columns):
        return None
    return int(np.argmax(np.logical_or.reduce([(c < 0) | (c >= end) for c in columns])))


def _ends(number: int, source: Any, target: Any, ids: Any = None) -> str:
    """Both ends of one edge: ``from 'a' to 'b'``."""
    ends = source[number], target[number]
    u, v = (named(end if ids is None else ids[end]) for end in ends)
    return f"from {u} to {v}"


def by_id(source: Array, target: Array, nodes: Array | None, unknown: str) -> Edges:
    """Edges between ids: those of `nodes` in that order, or all that occur, sorted."""
    if nodes is None:
        ids, (source, target) = factorize(source, target)
    else:
        distinct, (codes, source, target) = factorize(nodes, source, target)
        check_distinct_ids(nodes, codes)
        row = np.full(distinct.size, -1, dtype=np.int64)
        row[codes] = np.arange(codes.size)
        if codes.size < distinct.size:
            if unknown == "refuse":
                number = int(np.argmax((row[source] < 0) | (row[target] < 0)))
                end = source[number] if row[source[number]] < 0 else target[number]
                raise _unknown_id(number, distinct[end], nodes)
            others = np.flatnonzero(row < 0)
            row[others] = codes.size + np.arange(others.size)
            codes = np.concatenate([codes, others])
        ids = distinct[codes]
        source, target = row[source], row[target]
    numbered = by_number(source, target, check_node_count(ids.size))
    return numbered._replace(ids=unless_numbers(ids))


def _unknown_id(number: int, unknown: Any, nodes: Array) -> InputError:
    """An edge that names an id which is not among the nodes, or is of another type there."""
    node = unknown.item() if isinstance(unknown, np.generic) else unknown
    twin = next((twin for twin in nodes.tolist() if str(twin) == str(node)), None)
    if twin is not None:
        return InputError(
            f"Edge {number} names node {named(node)} ({type(node).__name__}), but nodes holds "
            f"{named(twin)} ({type(twin).__name__}): make both the same type."
        )
    return InputError(
        f"Edge {number} names node {named(unknown)}, which is not among the {nodes.size} "
        "nodes: correct or drop the edge, or pass unknown='add' to add such nodes."
    )


# -- weights --


def check_edge_weights(weights: Array, n_edges: int) -> NDArray[np.float64]:
    """Return one float per edge."""
    if weights.shape not in ((n_edges,), (n_edges, 1)):
        raise InputError(
            f"The weights have shape {weights.shape} but there are {n_edges} edge(s): pass one "
            "number per edge."
        )
    weights = weights.reshape(n_edges)
    if weights.dtype == object:
        for number, weight in enumerate(weights):
            if not isinstance(weight, NUMBERS):
                raise InputError(
                    f"The weight of edge {number} is {named(weight)}, which is no number."
                )
        weights = weights.astype(np.float64)
    if weights.dtype.kind not in "biuf":
        raise InputError(f"The weights have dtype {weights.dtype}, which holds no numbers.")
    return np.ascontiguousarray(weights, dtype=np.float64)


def check_weight_total(weights: NDArray[np.float64]) -> None:
    """Refuse weights so large that a degree could be infinite."""
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise InputError(
            "The weights add up to more than a float can hold: divide all of them by the largest."
        )


def _without_zeros(edges: Edges) -> Edges:
    """The edges whose weight is not zero, all weights having been checked."""
    source, target, weights, _, ids, _ = edges
    if weights is None:
        return edges
    # NaN fails the first comparison; neither needs an array of the size of the edges.
    if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):
        number = int(np.argmin((weights >= 0) & (weights < np.inf)))
        raise InputError(
            f"Edge {number}, {_ends(number, source, target, ids)}, has weight {weights[number]}: "
            "weights must be finite and not negative."
        )
    kept = weights != 0
    if kept.all():
        return edges
    return edges._replace(source=source[kept], target=target[kept], weights=weights[kept])


# -- from edges to a matrix --


def build_rows(
    edges: Edges, merge: str = "mean", self_loops: bool = False, directed: str = "symmetrize"
) -> tuple[Array, Array, Array | None, Array | None, int]:
    """The arrays of a Graph: indptr, indices, weights, ids, and the number of self-loops."""
    check_choice("merge", merge, ("mean", "sum", "max", "min"))
    check_choice("directed", directed, ("symmetrize", "refuse"))
    check_flag("self_loops", self_loops)
    edges = _without_zeros(edges)
    if edges.weights is not None and merge != "sum" and np.all(edges.weights == 1):
        edges = edges._replace(weights=None)  # the same graph, in half the memory
    source, target, weights, n_nodes, ids, known_directed = edges
    source, target = np.ascontiguousarray(source), np.ascontiguousarray(target)
    if weights is not None:
        weights = np.ascontiguousarray(weights)
    indptr, indices, weights = kernels.build_csr(
        source, target, weights, n_nodes, merge, self_loops
    )
    if weights is not None:
        check_weight_total(weights)
    if known_directed or (known_directed is None and directed == "refuse"):
        number = _first_one_way(edges, indptr, indices, weights)
        if number is not None:
            ends = _ends(number, source, target, ids)
            sentence = f"The edge {ends} is not listed alike the other way"
            if directed == "refuse":
                raise InputError(
                    f"{sentence}, and only undirected graphs are accepted here: list both "
                    "directions, or pass directed='symmetrize' to the constructor."
                )
            sentence += ": every edge was taken both ways, the weights of a pair merged into one."
            warn_caller(sentence, SymmetrizedWarning)
    n_self_loops = 0
    if self_loops:
        row = np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(indptr))
        n_self_loops = int(np.count_nonzero(row == indices))
    return indptr, indices, weights, ids, n_self_loops


def _first_one_way(
    edges: Edges, indptr: Array, indices: Array, weights: Array | None
) -> int | None:
    """Number of the first edge that is not listed alike in both directions.

    The other arrays are the symmetric CSR built from these edges. Edges that list it entry by
    entry, as a symmetric matrix does, are symmetric without further search.
    """
    source, target, listed, n_nodes = edges[:4]
    if (
        np.array_equal(target, indices)
        and np.array_equal(source, np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(indptr)))
        and (listed is None or weights is None or np.allclose(listed, weights, rtol=1e-6, atol=0))
    ) or _mirrored(source, target, listed, n_nodes):
        return None
    pair = np.minimum(source, target).astype(np.int64) * n_nodes + np.maximum(source, target)
    _, pair = np.unique(pair, return_inverse=True)
    up, down = source <= target, source >= target
    n_up, n_down = np.bincount(pair, up), np.bincount(pair, down)
    alike = (n_up > 0) & (n_down > 0)
    if listed is not None:
        mean_up = np.bincount(pair, listed * up) / np.maximum(n_up, 1)
        mean_down = np.bincount(pair, listed * down) / np.maximum(n_down, 1)
        alike &= np.isclose(mean_up, mean_down, rtol=1e-6, atol=0)
    one_way = np.flatnonzero(~alike[pair])
    return int(one_way[0]) if one_way.size else None


def _mirrored(source: Array, target: Array, weights: Array | None, n_nodes: int) -> bool:
    """Whether the list is the same the other way round, by a sum of hashes: no sort is needed."""
    total = np.zeros(1, dtype=np.uint64)  # an array wraps around without a warning
    for low in range(0, len(source), 1 << 18):
        u, v = (ends[low : low + (1 << 18)].astype(np.int64) for ends in (source, target))
        key = (np.minimum(u, v) * n_nodes + np.maximum(u, v)).view(np.uint64)
        if weights is not None:
            key ^= weights[low : low + (1 << 18)].view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
        key ^= key >> np.uint64(31)
        total += np.where(u < v, key, np.where(u > v, -key, np.uint64(0))).sum(dtype=np.uint64)
    return not total.any()
