"""A small graph whose nodes have classes, features that tell them faintly, and a split."""

import numpy as np

import graphfill as gf
from graphfill.bench._problem import Dataset, Problem, Split


def classified_graph(
    seed=0, n=240, n_classes=3, columns=12, missing=None, dtype=np.float32, weighted=False
):
    """A problem with mostly like neighbours; the last node stands alone."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    u, v = rng.integers(0, n - 1, (2, 12 * n))
    kept = (y[u] == y[v]) | (rng.random(len(u)) < 0.15)
    u, v = u[kept][: 3 * n], v[kept][: 3 * n]
    weight = rng.random(len(u)) + 0.2 if weighted else None
    graph = gf.Graph.from_edges(u, v, n_nodes=n, weight=weight)
    X = (rng.random((n, columns)) < 0.2) + 0.5 * (y[:, None] == np.arange(columns) % n_classes)
    X = (X * rng.random(X.shape)).astype(dtype)
    order = rng.permutation(n)
    split = Split(*(np.sort(order[part]) for part in (slice(30), slice(30, 110), slice(110, n))))
    hidden = None if missing is None else rng.random(X.shape) < missing
    return Problem(Dataset("small", graph, X, y.astype(np.int64)), split, hidden, seed)


def edge_index(graph):
    """Both directions of each edge, and the weights, as PyG takes them."""
    import torch

    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    weights = None if graph.weights is None else torch.from_numpy(graph.weights.copy())
    return torch.from_numpy(np.stack([graph.indices.astype(np.int64), row])), weights
