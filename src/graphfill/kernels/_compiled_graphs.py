"""The kernels in C for graphs: from edges to a matrix, the order of its rows, and distances."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from ..errors import InputError
from . import _compiled
from ._threads import cut, default_threads, share

Array = np.ndarray
MERGE_RULES = ("mean", "sum", "max", "min")
MOST_SHARES = 16  # of a list of edges; each has a place per node and part of the rows
PLACES_PER_EDGE = 4  # at most, of some 12 bytes


def build_csr(
    source: Array, target: Array, weights: Array | None, n_nodes: int, merge: str, keep_loops: bool
) -> tuple[Array, Array, Array | None]:
    """The symmetric CSR of a list of edges: rows sorted, duplicates merged.

    Ends must lie in 0..n_nodes-1. Returns indptr (int64), indices (int32), weights (float64).
    Nothing is sorted: edges drop into buckets twice, which takes two arrays of their number.
    """
    start, length, upper, upper_weights = _upper_triangle(
        source, target, weights, n_nodes, MERGE_RULES.index(merge), keep_loops
    )
    triangle = (start, length, upper)
    degree = np.zeros(n_nodes + 1, dtype=np.int64)
    _by_rows(lambda lo, hi: _compiled.edge_degrees(*triangle, n_nodes, degree[1:], lo, hi), n_nodes)
    indptr = np.cumsum(degree)
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    merged = None if weights is None else np.empty(len(indices))
    place = indptr[:-1].copy()
    _by_rows(
        lambda lo, hi: _compiled.edge_mirror(
            *triangle, upper_weights, n_nodes, place, indices, merged, lo, hi
        ),
        n_nodes,
        indptr,
    )
    return indptr, indices, merged


def _upper_triangle(
    source: Array, target: Array, weights: Array | None, n_nodes: int, rule: int, keep_loops: bool
) -> tuple[Array, Array, Array, Array | None]:
    """Sorted rows of the upper triangle, with room between them: start, length, entries."""
    if len(source) >= 2**32:
        raise InputError(
            f"{len(source)} edges are listed but one graph in memory takes at most {2**32 - 1}: "
            "list each edge once, or cut the graph into parts."
        )
    threads = _shares(len(source), n_nodes)
    edges = (np.ascontiguousarray(source), np.ascontiguousarray(target), int(keep_loops))
    pieces = [(t, lo, hi) for t, (lo, hi) in enumerate(cut(len(source), threads))]
    bounds = _even_bounds(edges[0], edges[1], n_nodes, threads)
    parts = len(bounds) - 1

    # place[thread, part, b]: where a thread's next edge of that part goes into bucket b.
    place = np.zeros((max(len(pieces), 1), parts, n_nodes), dtype=np.uint32)
    share(
        lambda t, lo, hi: _compiled.edge_count(*edges, bounds, parts, n_nodes, place[t], lo, hi),
        pieces,
        threads,
    )
    ends = np.cumsum(np.moveaxis(place, 0, -1), dtype=np.int64)
    listed = int(ends[-1]) if ends.size else 0
    ends = np.moveaxis(ends.reshape(parts, n_nodes, len(place)), -1, 0)
    np.subtract(ends, place, out=place, casting="unsafe")
    bucket_start = np.empty((parts, n_nodes + 1), dtype=np.int64)
    bucket_start[:, :-1] = place[0]
    bucket_start[:, -1] = [*bucket_start[1:, 0], listed]
    del ends

    bucket = np.empty(listed, dtype=np.int32)
    bucket_weights = None if weights is None else np.empty(listed)
    share(
        lambda t, lo, hi: _compiled.edge_bucket(
            *edges, weights, bounds, parts, n_nodes, place[t], bucket, bucket_weights, lo, hi
        ),
        pieces,
        threads,
    )
    upper = np.empty(listed, dtype=np.int32)
    upper_weights = None if weights is None else np.empty(listed)
    times = None if weights is None else np.empty(listed, dtype=np.int32)
    start = np.full(n_nodes + 1, listed, dtype=np.int64)
    length = np.zeros(n_nodes, dtype=np.int64)
    share(
        lambda p, lo, hi: _compiled.edge_merge(
            bucket_start[p], bucket, bucket_weights, n_nodes, rule, start, length, upper,
            upper_weights, times, lo, hi,
        ),
        [(p, int(lo), int(hi)) for p, (lo, hi) in enumerate(pairwise(bounds))],
        threads,
    )  # fmt: skip
    return start, length, upper, upper_weights


def _shares(n_edges: int, n_nodes: int) -> int:
    """Among how many threads edges are shared: every two of them need a place per node.

    Few enough that these take no more than a small multiple of the edges, or of the nodes.
    """
    places = max(PLACES_PER_EDGE * n_edges // max(n_nodes, 1), 4)
    return min(default_threads(), MOST_SHARES, isqrt(places))


def _even_bounds(source: Array, target: Array, n_nodes: int, parts: int) -> Array:
    """Bounds of row ranges that hold about as many smaller ends of edges each."""
    if not len(source):
        return np.array([0, n_nodes])
    step = max(1, len(source) // 50_000)
    smaller = np.sort(np.minimum(source[::step], target[::step]))
    inner = smaller[[len(smaller) * p // parts for p in range(1, parts)]]
    return np.array(
        [0, *np.unique(inner[(inner > 0) & (inner < n_nodes)]), n_nodes], dtype=np.int64
    )


def _by_rows(work: Callable[[int, int], None], n_rows: int, ends: Array | None = None) -> None:
    """Share the rows so that each thread writes about as many entries (``ends``: their sums)."""
    threads = default_threads()
    if ends is None:
        share(work, cut(n_rows, threads), threads)
        return
    goals = np.linspace(0, ends[-1], threads + 1)[1:-1]
    bounds = [0, *np.searchsorted(ends, goals).tolist(), n_rows]
    share(work, pairwise(bounds), threads)


def components(indptr: Array, indices: Array) -> tuple[int, Array, Array]:
    """Number of components, each node's component, and the nodes in breadth-first order."""
    n = len(indptr) - 1
    label = np.empty(n, dtype=np.int32)
    walk = np.empty(n, dtype=np.int32)
    return _compiled.components(indptr, indices, n, label, walk), label, walk


def cluster_order(indptr: Array, indices: Array, walk: Array, sweeps: int = 4) -> Array:
    """An order of the nodes that puts clusters together.

    Label propagation finds the clusters; they follow one another in the order in which a
    breadth-first walk of the graph first meets them, and so do the nodes of each.
    """
    n = len(indptr) - 1
    threads = default_threads()
    parts = cut(n, 4)  # fixed, so that the order does not depend on the threads
    label = np.arange(n, dtype=np.int32)
    for _ in range(sweeps):
        before = label.copy()

        def sweep(lo: int, hi: int, before: Array = before) -> int:
            votes = np.zeros(n, dtype=np.int32)
            return _compiled.cluster(indptr, indices, n, before, label, votes, 24, lo, hi)

        if sum(share(sweep, parts, threads)) < n // 100:
            break
    met = label[walk]
    first_met = np.empty(n, dtype=np.int32)
    first_met[met[::-1]] = np.arange(n - 1, -1, -1, dtype=np.int32)
    return walk[np.argsort(first_met[met], kind="stable")]


def select_rows(
    indptr: Array, indices: Array, weights: Array | None, order: Array, rank: Array
) -> tuple[Array, Array, Array | None]:
    """The rows ``order`` of a CSR, entries in their old order, columns renamed by ``rank``.

    Entries whose column has a negative rank are left out.
    """
    threads = default_threads()
    pieces = cut(len(order), 4 * threads)
    new_indptr = np.zeros(len(order) + 1, dtype=np.int64)
    arrays = (indptr, indices, weights, order, rank, new_indptr)
    share(lambda *rows: _compiled.select_rows(*arrays, None, None, *rows), pieces, threads)
    np.cumsum(new_indptr, out=new_indptr)
    new_indices = np.empty(int(new_indptr[-1]), dtype=np.int32)
    new_weights = None if weights is None else np.empty(len(new_indices))
    new = (new_indices, new_weights)
    share(lambda *rows: _compiled.select_rows(*arrays, *new, *rows), pieces, threads)
    return new_indptr, new_indices, new_weights


def count_hops(
    indptr: Array, indices: Array, reached: Array, hops: Array, most: int, threads: int
) -> int:
    """Hops from each node to the nearest one in each of many sets, up to ``most``.

    Set c is bit c of the rows of ``reached``, uint64 words, in which bits past the last set are
    ones; it is used up. ``hops``, uint16 [nodes, sets], is written where a set is reached. Returns
    the largest number written.
    """
    n_rows, n_columns = hops.shape
    pieces, spare = cut(n_rows, 4 * threads), np.empty_like(reached)
    for number in range(1, most + 1):
        state = indptr, indices, reached, spare, hops, n_columns, number

        def rows(lo: int, hi: int, state: tuple[Any, ...] = state) -> int:
            return _compiled.hop(*state, lo, hi)

        if not sum(share(rows, pieces, threads)):
            return number - 1
        reached, spare = spare, reached
    return most
