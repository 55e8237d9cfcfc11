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
    """The spectrum of L, given its product with [n, k] vectors and the component of each node."""
    n = len(label)
    size = np.bincount(label)
    rng = np.random.default_rng([seed, 8])
    nodes, weights = [np.zeros(1)], [np.full(1, len(size) / n)]
    starts = np.array([rng.choice([-1.0, 1.0], n) for _ in range(PROBES)])
    starts -= np.array([np.bincount(label, start) / size for start in starts])[:, label]
    for values, first in _lanczos(laplacian, starts):
        nodes.append(np.maximum(values, 0.0))
        weights.append(first**2 * (1.0 - len(size) / n) / PROBES)
    total = np.concatenate(weights)
    return Spectrum(np.concatenate(nodes), total / total.sum())


def _lanczos(laplacian: Callable[[Floats], Floats], starts: Floats) -> list[tuple[Floats, Floats]]:
    """Lanczos' recursion from each start that is not 0, side by side.

    Of its tridiagonal matrix the eigenvalues, and the first numbers of the eigenvectors.
    """
    basis = np.zeros((min(STEPS, starts.shape[1]), *starts.shape))
    diagonal, beside = [], []
    w = starts
    length = np.full(len(starts), len(basis))  # of each recursion
    for step in range(len(basis)):
        norm = np.sqrt(np.einsum("kn,kn->k", w, w))
        ended = norm < 1e-10
        length[ended] = np.minimum(length[ended], step)
        if ended.all():
            break
        beside.append(norm)
        v = basis[step] = np.where(ended, 0.0, 1.0 / np.where(ended, 1.0, norm))[:, None] * w
        w = laplacian(v.T).T
        diagonal.append(np.einsum("kn,kn->k", v, w))
        seen = basis[: step + 1]  # all of them: rounding would let old directions back in
        w = w - np.einsum("sk,skn->kn", np.einsum("skn,kn->sk", seen, w), seen)
    import scipy.linalg

    found = []
    for k in range(len(starts)):
        own, off = ([numbers[k] for numbers in some[: length[k]]] for some in (diagonal, beside))
        if own:
            values, vectors = scipy.linalg.eigh_tridiagonal(np.array(own), np.array(off[1:]))
            found.append((values, vectors[0]))
    return found
