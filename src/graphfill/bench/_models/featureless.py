"""What sees no features: label propagation, and positional encodings as input of a network."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...graph._graph import Graph
from .._problem import Outcome, Problem
from .gcn import normalized_adjacency

ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # those of the paper
N_STEPS = 50


# -- label propagation --


def run_labels(
    problem: Problem, *, alphas: Sequence[float] = ALPHAS, self_loops: bool = True
) -> Outcome:
    """Propagate the training labels; the alpha with the best validation accuracy is taken.

    Of several that are equally good, the smallest. The default, with self-loops, is what gives
    the paper's figure on OGBN-Arxiv.
    """
    y, split = problem.dataset.y, problem.split
    start = time.perf_counter()
    best: tuple[float, float, NDArray[np.intp]] | None = None
    S = normalized_adjacency(problem.dataset.graph, self_loops=self_loops)
    for alpha in sorted(alphas):
        guesses = propagate_labels(S, y, split.train, alpha=alpha).argmax(axis=1)
        validated = _accuracy(guesses, y, split.val)
        if best is None or validated > best[0]:
            best = validated, alpha, guesses
    assert best is not None
    validated, alpha, guesses = best
    return Outcome(
        test_accuracy=_accuracy(guesses, y, split.test),
        val_accuracy=validated,
        n_epochs=0,
        best_epoch=0,
        fill_seconds=0.0,
        train_seconds=time.perf_counter() - start,
        details={"alpha": float(alpha)},
    )


def propagate_labels(
    S: sparse.csr_array,
    y: NDArray[np.int64],
    labelled: NDArray[np.int64],
    *,
    alpha: float,
    n_steps: int = N_STEPS,
) -> NDArray[np.float32]:
    r"""Spread the classes of some nodes; returns one score per node and class.

    .. math:: Y \leftarrow \alpha S Y + (1 - \alpha) Y_0, \quad \text{clipped to } [0, 1]

    where row i of :math:`Y_0` has a one at the class of node i if it is labelled. Labelled rows
    are pulled towards their labels, not held there. A node that no label reaches has zeros.

    >>> from graphfill.graph._graph import Graph
    >>> S = normalized_adjacency(Graph.from_edges([0, 1], [1, 2]))
    >>> y, labelled = np.array([0, 0, 1]), np.array([0, 2])
    >>> propagate_labels(S, y, labelled, alpha=0.5, n_steps=1).round(2)
    array([[0.5 , 0.  ],
           [0.35, 0.35],
           [0.  , 0.5 ]], dtype=float32)
    """
    Y_0 = np.zeros((len(y), int(y.max()) + 1), dtype=np.float32)
    Y_0[labelled, y[labelled]] = 1.0
    source = np.float32(1.0 - alpha) * Y_0
    Y = Y_0
    for _ in range(n_steps):
        Y = S @ Y
        Y *= np.float32(alpha)
        Y += source
        # A hub's scores may exceed one: the rows of S do not sum to one.
        np.clip(Y, 0.0, 1.0, out=Y)
    return Y


def _accuracy(guesses: NDArray[np.intp], y: NDArray[np.int64], rows: NDArray[np.int64]) -> float:
    return 100.0 * float(np.mean(guesses[rows] == y[rows])) if len(rows) else float("nan")


# -- positional encodings --


def encode(graph: Graph, k: int = 20, seed: int = 0) -> NDArray[np.float32]:
    r"""Eigenvectors of the normalised Laplacian with the k smallest eigenvalues.

    .. math:: (I - S) u = \lambda u, \quad S = D^{-1/2} A D^{-1/2}

    Columns of unit length by ascending eigenvalue, the first with eigenvalue zero included, as
    SciPy gives them; the (first) entry of largest magnitude is positive. The seed draws the start
    vector: other seeds give the same encodings up to rounding, but for eigenvalues that are
    (nearly) equal. A graph of fewer than k nodes has zeros in the columns that are left.

    >>> pair = Graph.from_edges([0], [1])
    >>> encode(pair, k=2).round(2)
    array([[ 0.71,  0.71],
           [ 0.71, -0.71]], dtype=float32)
    """
    from scipy.sparse.linalg import eigsh

    n = graph.n_nodes
    S = normalized_adjacency(graph, dtype=np.float64)
    if n <= max(4 * k, 64):  # Lanczos wants k well below n
        values, vectors = np.linalg.eigh(S.toarray())
    else:
        # The largest of S, not the smallest of I - S: the latter needs a factorisation.
        start = np.random.default_rng(seed).standard_normal(n)
        values, vectors = eigsh(S, k=k, which="LA", v0=start, ncv=min(n, 4 * k + 1), tol=1e-8)
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
