"""Where each node lies in the graph: leading eigenvectors of the normalised adjacency."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..graph import Graph, adjacency_matrix, with_self_loops


def normalized_adjacency(graph: Graph, *, self_loops: bool = False, dtype: Any = np.float32) -> Any:
    """S = D^-1/2 A D^-1/2 as a CSR array; rows of zeros where a node has no edge.

    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> normalized_adjacency(path).toarray().round(2)
    array([[0.  , 0.71, 0.  ],
           [0.71, 0.  , 0.71],
           [0.  , 0.71, 0.  ]], dtype=float32)
    """
    linked = with_self_loops(graph) if self_loops else graph
    A, degrees = adjacency_matrix(linked), linked.degrees()
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)
    values = np.repeat(root, np.diff(A.indptr)) * A.data * root[A.indices]
    return sparse.csr_array((values.astype(dtype), A.indices, A.indptr), shape=A.shape)


def encode(
    graph: Graph, k: int = 20, seed: int = 0, *, tol: float = 1e-8, restarts: int | None = None
) -> NDArray[np.float32]:
    r"""Eigenvectors of the normalised Laplacian with the k smallest eigenvalues.

    .. math:: (I - S) u = \lambda u, \quad S = D^{-1/2} A D^{-1/2}

    Columns of unit length by ascending eigenvalue, the first with eigenvalue zero included, as
    SciPy gives them; the (first) entry of largest magnitude is positive. The seed draws the start
    vector: other seeds give the same encodings up to rounding, but for eigenvalues that are
    (nearly) equal. A graph of fewer than k nodes has zeros in the columns that are left, and so has
    one of which fewer are found to `tol` in so many `restarts`, where these are given.

    >>> pair = Graph.from_edges([0], [1])
    >>> encode(pair, k=2).round(2)
    array([[ 0.71,  0.71],
           [ 0.71, -0.71]], dtype=float32)
    """
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = graph.n_nodes
    S = normalized_adjacency(graph, dtype=np.float64)
    if n <= max(4 * k, 64):  # Lanczos wants k well below n
        values, vectors = np.linalg.eigh(S.toarray())
    else:
        # The largest of S, not the smallest of I - S: the latter needs a factorisation.
        start = np.random.default_rng(seed).standard_normal(n)
        options = {"v0": start, "ncv": min(n, 4 * k + 1), "tol": tol, "maxiter": restarts}
        try:
            values, vectors = eigsh(S, k=k, which="LA", **options)
        except ArpackNoConvergence as found:
            if restarts is None:
                raise
            values, vectors = found.eigenvalues, found.eigenvectors
    chosen = np.argsort(-values, kind="stable")[:k]
    encoding = np.zeros((n, k), dtype=np.float32)
    encoding[:, : len(chosen)] = _canonical(vectors[:, chosen])
    return encoding


def unit_rows(encoding: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each node's encoding divided by its length; zeros stay zeros.

    Eigenvectors of a large graph are large on a few dozen nodes and tiny on all others. What is
    left of them there still says where a node lies, once its size is taken away, as in spectral
    clustering.

    >>> unit_rows(np.array([[3e-5, 4e-5], [0, 0]], np.float32)).round(2)
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    lengths = np.linalg.norm(encoding.astype(np.float64), axis=1, keepdims=True)
    return (encoding / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _canonical(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sign of an eigenvector is arbitrary: make the first of its largest entries positive."""
    size = np.abs(vectors)
    # Entries that are equal but for rounding count as equal, so that rounding decides nothing.
    first = (size >= (1.0 - 1e-6) * size.max(axis=0)).argmax(axis=0)
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
