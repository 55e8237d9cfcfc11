"""The eigenvalues of a graph's Laplacian, summed up in a few numbers.

Averages over the spectrum of L need no eigenvectors: stochastic Lanczos quadrature starts Lanczos'
recursion from random vectors and gives nodes and weights with

    (1/n) sum_k f(lambda_k)  ~  sum_j weight_j f(node_j).

The eigenvalue 0 is known exactly, once for each component. It is taken out of the random vectors
(by subtracting their means over components) and put back with its true weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 40
PROBES = 4


@dataclass(frozen=True)
class Spectrum:
    """Nodes and weights that stand for the eigenvalues of L; the weights sum to 1."""

    nodes: Floats
    weights: Floats

    def average(self, values: Floats) -> float:
        return float(self.weights @ values)

    @property
    def mean(self) -> float:
        return self.average(self.nodes)


def laplacian_spectrum(
    laplacian: Callable[[Floats], Floats], label: NDArray[np.integer], seed: int = 0
) -> Spectrum:
    """The spectrum of L, given its product with [n, 1] vectors and the component of each node."""
    n = len(label)
    size = np.bincount(label)
    rng = np.random.default_rng([seed, 8])
    nodes, weights = [np.zeros(1)], [np.full(1, len(size) / n)]
    for _ in range(PROBES):
        start = rng.choice([-1.0, 1.0], n)
        start -= (np.bincount(label, start) / size)[label]
        norm = float(np.linalg.norm(start))
        if norm == 0.0:
            continue
        values, vectors = _lanczos(laplacian, start / norm)
        nodes.append(np.maximum(values, 0.0))
        weights.append(vectors[0] ** 2 * (1.0 - len(size) / n) / PROBES)
    total = np.concatenate(weights)
    return Spectrum(np.concatenate(nodes), total / total.sum())


def _lanczos(laplacian: Callable[[Floats], Floats], v: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of the tridiagonal matrix of Lanczos' recursion from v."""
    basis, diagonal, beside = [v], [], []
    w = laplacian(v[:, None])[:, 0]
    while True:
        diagonal.append(float(v @ w))
        for earlier in basis:  # all of them: rounding would let old directions back in
            w = w - (earlier @ w) * earlier
        norm = float(np.linalg.norm(w))
        if len(diagonal) == min(STEPS, len(v)) or norm < 1e-10:
            break
        beside.append(norm)
        v = w / norm
        basis.append(v)
        w = laplacian(v[:, None])[:, 0]
    import scipy.linalg

    values, vectors = scipy.linalg.eigh_tridiagonal(np.array(diagonal), np.array(beside))
    return values, vectors
