r"""Rows linked to the nearest places.

Between a place and each of its k nearest, at distance d, the weight is

.. math:: w = \exp(-d / (s\, h))

with h the distance to the k-th nearest and s the scale; of two weights of a pair (each place has
its own h) the larger counts. Rows at the same place are linked through a node for the place, with
the weight of distance 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import check_number
from ..graph import Graph, graph_components
from ..kernels import default_threads
from ._places import Places
from ._relation import Relation, relation_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TIES = 4  # more places than k that are as near as the k-th are linked too, up to so many
EQUAL = 1e-9  # distances that differ by this share at most are the same


@dataclass(frozen=True)
class Pairs:
    """Pairs of places, each with the distance and the weight of its link."""

    source: Integers
    target: Integers
    distance: Floats
    weight: Floats


def nearest_places(places: Places, k: int, scale: float) -> Pairs:
    """Every place with its k nearest, and those that are as near as the k-th."""
    from scipy.spatial import cKDTree

    check_number("k", k, low=1, integer=True)
    check_number("scale", scale, low=1e-6)
    n = len(places)
    k = min(k, n - 1)
    if k < 1:
        empty = np.empty(0, dtype=np.int64)
        return Pairs(empty, empty, np.empty(0), np.empty(0))
    tree = cKDTree(places.points)
    width = min(k + 1 + TIES, n)
    straight, other = tree.query(places.points, k=width, workers=default_threads())
    itself = other == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True  # crowded out by places that rounding puts upon it
    straight = straight[~itself].reshape(n, width - 1)
    other = other[~itself].reshape(n, width - 1).astype(np.int64)
    far = straight[:, k - 1]
    kept = straight <= far[:, None] * (1.0 + EQUAL)
    source = np.repeat(np.arange(n), kept.sum(axis=1))
    distance, reach = places.distances(straight[kept]), places.distances(far)[source]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(reach > 0, distance / reach, 0.0)
    return Pairs(source, other[kept], distance, np.exp(-share / scale))


def near_relation(
    places: Places, names: tuple[object, object], k: int, scale: float, join: bool = False
) -> Relation:
    """Rows linked to those at the nearest places."""
    pairs = nearest_places(places, k, scale)
    ends, weights = [pairs.source, pairs.target], pairs.weight
    if join:
        bridges = joining_links(places, pairs)
        ends = [np.concatenate([end, more]) for end, more in zip(ends, bridges, strict=True)]
        least = float(weights.min()) if weights.size else 1.0
        weights = np.concatenate([weights, np.full(len(bridges[0]), least)])
    pairs = Pairs(ends[0], ends[1], pairs.distance, weights)
    return placed_relation(places, pairs, f"by nearness in {names[0]!r}, {names[1]!r}", "place")


def placed_relation(places: Places, pairs: Pairs, name: str, word: str) -> Relation:
    """Rows linked as their places are; several at one place through a node of its own."""
    n_rows, codes = len(places.codes), places.codes
    placed = np.flatnonzero(codes >= 0)
    count = np.bincount(codes[placed], minlength=len(places))
    shared = np.flatnonzero(count > 1)
    node = np.empty(len(places), dtype=np.int64)  # of each place: its row, or one of its own
    node[codes[placed]] = placed
    node[shared] = n_rows + np.arange(len(shared))
    together = placed[count[codes[placed]] > 1]
    source = np.concatenate([node[pairs.source], together])
    target = np.concatenate([node[pairs.target], node[codes[together]]])
    weights = np.concatenate([pairs.weight, np.ones(len(together))])
    own = [places.name(place, word) for place in shared.tolist()]
    return relation_of(
        name, (source, target), weights, n_rows, own, places.n_unlinked, places.notes
    )


def joining_links(places: Places, pairs: Pairs) -> tuple[Integers, Integers]:
    """Links that join all groups of places into one.

    Each group gets its shortest link to the group whose middle is nearest, until one is left.
    """
    from scipy.spatial import cKDTree

    source, target = pairs.source, pairs.target
    found: list[tuple[int, int]] = []
    while True:
        ends = np.array(found, dtype=np.int64).reshape(-1, 2)
        both = np.concatenate([source, ends[:, 0]]), np.concatenate([target, ends[:, 1]])
        graph = Graph.from_edges(*both, n_nodes=len(places))
        labels = np.asarray(graph_components(graph)[1])
        n_groups = int(labels.max()) + 1
        if n_groups == 1:
            return ends[:, 0], ends[:, 1]
        order = np.argsort(labels, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        middles = np.array([places.points[group].mean(axis=0) for group in members])
        nearest = cKDTree(middles).query(middles, k=2)[1]
        trees: dict[int, cKDTree] = {}
        joined = set()
        for group in range(n_groups):
            other = int(nearest[group, 0] if nearest[group, 0] != group else nearest[group, 1])
            pair = min(group, other), max(group, other)
            if pair in joined:
                continue
            joined.add(pair)
            small, large = sorted(pair, key=lambda one: len(members[one]))
            if large not in trees:
                trees[large] = cKDTree(places.points[members[large]])
            distance, at = trees[large].query(places.points[members[small]])
            best = int(np.argmin(distance))
            found.append((int(members[small][best]), int(members[large][at[best]])))
