r"""Columns as sums of a few eigenvectors of the graph, plus noise: which and how many is learned.

With the adjacency A and its degrees d, scaled to mean 1, the leading eigenvectors U of

.. math:: S = (D + \tfrac14 I)^{-1/2} A (D + \tfrac14 I)^{-1/2}

are what neighbours share (eigenvalues above 0) or what they oppose each other in (below 0). A
quarter of a mean degree more keeps loose ends from having eigenvectors of their own. Row i of F is
row i of the chosen columns of U, scaled to length 1. A standardised column z is normal with

.. math:: z = F b + e, \quad b \sim N(0, s I), \quad e \sim N(0, (1 - s) I),

so that every cell has variance 1 and the share s of it follows from the graph. How many
eigenvectors, of which side, and s make the known cells most likely (their evidence). A missing cell
is its mean given the known ones, F (s G + (1 - s) I)^{-1} s F_k' z_k with G = F_k' F_k.

As a precision over the nodes this is a polynomial of high degree in S: 1 / (1 - s) where the graph
says nothing, small where it does. Known cells are noisy, unlike those of Feature Propagation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._field_graph import FieldGraph

Array = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

N_VECTORS = 64
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # of eigenvectors, that are tried
SIDES = ("either", "agree", "oppose")  # of 0 where the eigenvalues lie
SHARES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
LOOSE = 0.25  # mean degrees added to every degree
TOLERANCE = 1e-6  # of an eigenvalue
MOST_RESTARTS = 100
DENSE_NODES = 200  # up to here all eigenvectors are computed
FAINT = 1e-6  # rows shorter than this share of the usual length hold rounding alone
MOST_COLUMNS, MOST_CELLS = 32, 2048  # that the number of eigenvectors is chosen by
HOPELESS = 10.0  # below the best evidence of a side: more eigenvectors are not tried
BORROWED = 20  # cells' worth of all columns' evidence that each column's is joined with


@dataclass(frozen=True)
class Spectral:
    """The leading eigenvectors of a graph, by descending size of their eigenvalues.

    `residual` is the largest |S u - lambda u|; `converged` says whether all were found.
    """

    values: Floats
    vectors: Floats
    n_products: int
    residual: float
    converged: bool

    def rows(self, count: int, side: str) -> Floats:
        """F: the leading eigenvectors of one side, rows of length 1, or 0 where they are faint."""
        there = {"either": self.values != 0, "agree": self.values > 0, "oppose": self.values < 0}
        rows = self.vectors[:, np.flatnonzero(there[side])[:count]]
        length = np.sqrt(np.einsum("nk,nk->n", rows, rows))
        faint = length <= FAINT * float(np.sqrt(rows.shape[1] / max(1, len(rows))))
        scale = np.where(faint, 0.0, 1.0 / np.where(faint, 1.0, length))
        return np.asarray(rows * scale[:, None])

    def candidates(self) -> Iterator[tuple[str, list[int]]]:
        """Sides that differ from each other, and the numbers to try of each."""
        sizes = {
            "either": len(self.values),
            "agree": int((self.values > 0).sum()),
            "oppose": int((self.values < 0).sum()),
        }
        for side in SIDES:
            if side != "either" and sizes[side] == sizes["either"]:
                continue
            yield side, [count for count in COUNTS if count <= sizes[side]]


def leading_eigenvectors(graph: FieldGraph, n_vectors: int = N_VECTORS, seed: int = 0) -> Spectral:
    """Those of S with the largest eigenvalues, of either sign.

    >>> from ..graph import Graph
    >>> pair = FieldGraph(Graph.from_edges([0], [1]))
    >>> leading_eigenvectors(pair).values.round(6)
    array([ 0.8, -0.8])
    """
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n, root = graph.n_nodes, 1.0 / np.sqrt(graph.degree + LOOSE)
    n_products = 0

    def product(V: Floats) -> Floats:
        nonlocal n_products
        n_products += 1
        V = np.asarray(V, np.float64).reshape(n, -1) * root[:, None]
        return (graph.degree[:, None] * V - graph.laplacian(V)) * root[:, None]

    converged = True
    if n <= max(DENSE_NODES, 4 * n_vectors):
        S = product(np.eye(n))
        values, vectors = np.linalg.eigh((S + S.T) / 2)
    else:
        operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
        start = np.random.default_rng([seed, 15]).standard_normal(n)
        try:
            values, vectors = eigsh(
                operator, n_vectors, v0=start, tol=TOLERANCE, maxiter=MOST_RESTARTS
            )
        except ArpackNoConvergence as found:
            values, vectors, converged = found.eigenvalues, found.eigenvectors, False
    order = np.lexsort((-values, -np.abs(values).round(9)))[:n_vectors]
    order = order[np.abs(values[order]) > FAINT]
    values, vectors = values[order], np.ascontiguousarray(vectors[:, order])
    residual = 0.0
    if len(values):
        rest = product(vectors) - vectors * values
        residual = float(np.sqrt(np.einsum("nk,nk->k", rest, rest)).max())
    return Spectral(values, vectors, n_products, residual, converged)


@dataclass(frozen=True)
class SpectralModel:
    """Which eigenvectors the columns of a matrix are made of, and how much of each column is.

    Attributes
    ----------
    rows : F, [nodes, eigenvectors]
    count, side : how many eigenvectors, and which; 0 if no column varies or the graph has no edge
    shares : s of each column; 0 where the column is left at its mean
    """

    rows: Floats
    count: int
    side: str
    shares: Floats

    def mean(self, Z: Floats) -> Floats:
        """All cells of standardised columns, from their known ones; 0 in columns without a share.

        Columns that know the same rows are solved for together.
        """
        out, known = np.zeros(Z.shape), ~np.isnan(Z)
        for column in np.flatnonzero(self.shares):
            there, share = known[:, column], self.shares[column]
            part = _Part.of(self.rows[there], Z[there, column])
            weights = share * part.along / (share * part.sizes + 1.0 - share)
            out[:, column] = self.rows @ (part.modes @ weights)
        return out


@dataclass(frozen=True)
class _Part:
    """The known cells z of one column in the modes of G = F'F: G = V diag(sizes) V'."""

    sizes: Floats
    modes: Floats
    along: Floats  # V' F' z
    n_cells: int
    square: float  # z'z

    @classmethod
    def of(cls, F: Floats, z: Floats) -> _Part:
        sizes, modes = np.linalg.eigh(F.T @ F)
        return cls(np.maximum(sizes, 0.0), modes, modes.T @ (F.T @ z), len(z), float(z @ z))

    def evidence(self) -> Floats:
        """The logarithm of the density of z for each of `SHARES`, but for a constant."""
        s = SHARES[:, None]
        noise = 1.0 - s
        explained = (s * self.along**2 / (s * self.sizes + noise)).sum(axis=1)
        spread = np.log1p(s / noise * self.sizes).sum(axis=1) + self.n_cells * np.log(noise[:, 0])
        return np.asarray(-0.5 * (spread + (self.square - explained) / noise[:, 0]))


def fit_spectral(Z: Floats, spectral: Spectral, seed: int = 0) -> SpectralModel:
    """The number of eigenvectors, their side and the shares under which Z is most likely.

    Z are standardised columns, NaN where missing. Columns without a known cell get no share.
    """
    known = ~np.isnan(Z)
    columns = np.flatnonzero(known.any(axis=0))
    shares = np.zeros(Z.shape[1])
    if not len(columns):
        return SpectralModel(np.zeros((len(Z), 0)), 0, SIDES[0], shares)
    rng = np.random.default_rng([seed, 16])
    some = np.sort(rng.permutation(columns)[:MOST_COLUMNS])
    cells = {c: np.sort(rng.permutation(np.flatnonzero(known[:, c]))[:MOST_CELLS]) for c in some}

    def of(F: Floats, columns: NDArray[np.intp], sampled: bool) -> Floats:
        rows = {c: cells[c] if sampled else np.flatnonzero(known[:, c]) for c in columns}
        return np.stack([_Part.of(F[rows[c]], Z[rows[c], c]).evidence() for c in columns])

    best, chosen, F = -np.inf, (0, SIDES[0]), np.zeros((len(Z), 0))
    for side, counts in spectral.candidates():
        highest = -np.inf
        for count in counts:
            rows = spectral.rows(count, side)
            value = float(of(rows, some, True).sum(axis=0).max())
            if value > best:
                best, chosen, F = value, (count, side), rows
            highest = max(highest, value)
            if value < highest - HOPELESS:
                break
    if not F.shape[1]:
        return SpectralModel(F, *chosen, shares)
    evidence = of(F, columns, False)
    pooled = evidence.sum(axis=0) / max(1, int(known.sum()))
    shares[columns] = SHARES[np.argmax(evidence + BORROWED * pooled, axis=1)]
    return SpectralModel(F, *chosen, shares)
