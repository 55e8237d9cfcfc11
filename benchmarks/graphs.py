"""Graphs to measure on: a generator of community graphs, and the real ones.

The generator is a degree-corrected stochastic block model. Node i has a propensity
w_i drawn from a power law and belongs to one community; communities are contiguous
in id and have power-law sizes. An edge takes its first end with probability
proportional to w, and its second likewise: among the same community with
probability 1 - mixing, among all nodes otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

# nodes, undirected edges, columns
SIZES = {
    "arxiv": (169_343, 1_166_243, 128),
    "products/10": (244_903, 6_185_914, 100),
    "products": (2_449_029, 61_859_140, 100),
}


def community_graph(
    n_nodes: int,
    n_edges: int,
    *,
    seed: int = 0,
    mixing: float = 0.2,
    degree_exponent: float = 2.6,
    community_sizes: tuple[int, int] = (300, 30_000),
    shuffled: bool = False,
) -> np.ndarray:
    """Undirected edges [2, n_edges], each once, u < v, without loops.

    Ids follow the communities unless ``shuffled``.
    """
    rng = np.random.default_rng(seed)
    propensity = np.minimum(
        (1.0 - rng.random(n_nodes)) ** (-1.0 / (degree_exponent - 1.0)), n_nodes**0.5
    )
    cumulative = np.concatenate([[0.0], np.cumsum(propensity)])
    first, last = _communities(rng, n_nodes, community_sizes)

    keys = np.empty(0, dtype=np.int64)
    while keys.size < n_edges:
        wanted = int((n_edges - keys.size) * 1.3) + 16
        u = _draw(rng, cumulative, np.zeros(wanted), np.full(wanted, cumulative[-1]))
        inside = rng.random(wanted) >= mixing
        low = np.where(inside, cumulative[first[u]], 0.0)
        high = np.where(inside, cumulative[last[u]], cumulative[-1])
        v = _draw(rng, cumulative, low, high)
        new = np.minimum(u, v) * n_nodes + np.maximum(u, v)
        keys = np.union1d(keys, new[u != v])
    surplus = rng.choice(keys.size, keys.size - n_edges, replace=False, shuffle=False)
    keys = np.delete(keys, surplus)
    edges = np.stack([keys // n_nodes, keys % n_nodes])
    if shuffled:
        edges = rng.permutation(n_nodes)[edges]
        edges = edges[:, rng.permutation(n_edges)]
        edges.sort(axis=0)
    return np.ascontiguousarray(edges)


def _communities(rng, n_nodes, sizes):
    """First and one-past-last node of the community of each node."""
    smallest, largest = sizes
    draws = int(n_nodes / smallest) + 1
    size = np.minimum(smallest * (1.0 - rng.random(draws)) ** -1.0, largest).astype(np.int64)
    ends = np.cumsum(size)
    ends = np.append(ends[ends < n_nodes], n_nodes)
    starts = np.concatenate([[0], ends[:-1]])
    lengths = ends - starts
    return np.repeat(starts, lengths), np.repeat(ends, lengths)


def _draw(rng, cumulative, low, high):
    """Nodes with probability proportional to propensity, within [low, high) of its sum."""
    position = low + rng.random(low.size) * (high - low)
    node = np.searchsorted(cumulative, position, side="right") - 1
    return np.clip(node, 0, cumulative.size - 2)


def cached_community_graph(size: str, *, shuffled: bool, folder: str | Path) -> np.ndarray:
    """The generator's graph of a named size, kept in ``folder`` between runs."""
    order = "shuffled" if shuffled else "ordered"
    path = Path(folder) / f"community-{size.replace('/', '_')}-{order}.npy"
    if not path.exists():
        n_nodes, n_edges, _ = SIZES[size]
        edges = community_graph(n_nodes, n_edges, shuffled=shuffled)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npy")
        np.save(part, edges)
        part.rename(path)
    return np.load(path, mmap_mode="r")


def real_graph(name: str) -> tuple[int, np.ndarray]:
    """Number of nodes and undirected edges, each once, of a data set under GRAPHFILL_DATA."""
    with _open(name) as data:
        n_nodes = _n_nodes(data)
        if "edge_index" in data:
            return n_nodes, data["edge_index"]
        return n_nodes, once(data["arcs"], n_nodes)


def real_features(name: str) -> np.ndarray:
    """The float32 feature matrix of a data set under GRAPHFILL_DATA, dense."""
    with _open(name) as data:
        if "x" in data:
            return data["x"]
        X = np.zeros(tuple(data["x_shape"]), dtype=np.float32)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(data["x_indptr"]))
        X[rows, data["x_indices"]] = data.get("x_data", 1.0)
        return X


def _open(name):
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        raise SystemExit(f"set GRAPHFILL_DATA to the folder that holds {name}.npz")
    return np.load(Path(folder) / f"{name}.npz", allow_pickle=False)


def _n_nodes(data):
    if "num_nodes" in data:
        return int(data["num_nodes"])
    return int(data["x_shape"][0]) if "x_shape" in data else len(data["x"])


def once(arcs: np.ndarray, n_nodes: int) -> np.ndarray:
    """Directed arcs as undirected edges: u < v, each once, no loops."""
    low, high = np.sort(arcs.astype(np.int64), axis=0)
    keys = np.unique((low * n_nodes + high)[low != high])
    return np.stack([keys // n_nodes, keys % n_nodes])


def both_directions(edges: np.ndarray) -> np.ndarray:
    """Edges listed once as an int64 edge_index [2, 2E] that lists both directions."""
    n_edges = edges.shape[1]
    edge_index = np.empty((2, 2 * n_edges), dtype=np.int64)
    edge_index[:, :n_edges] = edges
    edge_index[:, n_edges:] = edges[::-1]
    return edge_index


def features(n_nodes: int, n_columns: int, missing: float, *, seed: int = 0) -> np.ndarray:
    """Standard normal float32 values with cells missing at random."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_nodes, n_columns), dtype=np.float32)
    for start in range(0, n_nodes, 1 << 18):
        rows = X[start : start + (1 << 18)]
        rng.standard_normal(dtype=np.float32, out=rows)
        rows[rng.random(rows.shape, dtype=np.float32) < missing] = np.nan
    return X
