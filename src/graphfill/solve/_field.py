r"""One Gaussian field over all cells: Feature Propagation with channels that inform each other.

With Z the n x p matrix of standardised channels and L = D - A the Laplacian (degrees scaled to mean
1), the energy

.. math:: 2 E(Z) = \operatorname{tr}(\Omega Z^T Z) + \operatorname{tr}(\Theta Z^T L Z)

is minimal over the missing cells where Z Omega + L Z Theta vanishes on them. Omega couples the
channels of a row, Theta those of neighbours. Feature Propagation ("rw", exact) is Omega = 0,
Theta = I; Theta = 0 is a multivariate normal without a graph. As a probability model the precision
is Q = Omega (x) I + Theta (x) L: the minimum is the mean of the missing cells given the known ones.
A draw adds the solution of the same system with noise of covariance Q on the right-hand side.

The system is solved by conjugate gradients with one step length for all channels. Its
preconditioner inverts Omega + d_i Theta on the missing cells of each row i, so that channels that
nearly repeat each other cost no extra steps. Rows that miss the same channels share the modes V of
Omega and Theta on these: the inverse is V diag(1 / (1 - t + d_i t)) V'. A residual r has the size
sqrt(r' P r / cells): 1 is one standard deviation of a missing cell given all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .. import kernels
from ..graph import Graph, graph_components
from ._spectrum import Spectrum, laplacian_spectrum

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_STEPS = 500
BLOCK_BYTES = 512 << 20  # of inverted blocks; beyond, a row's cells are scaled one by one
LEAST_SCALE = 1e-12
SHARED = 64  # rows that miss the same channels: from here on they share their modes
GEMM_ROWS = 8192  # rows multiplied at once, so that the sums do not depend on the threads


@dataclass(frozen=True)
class Coupling:
    """Omega and Theta by their common modes: Omega = W diag(w) W', Theta = W diag(t) W'."""

    modes: Floats  # W, [p, p]
    rows: Floats  # w, [p]
    links: Floats  # t, [p]

    @cached_property
    def omega(self) -> Floats:
        return np.asarray((self.modes * self.rows) @ self.modes.T)

    @cached_property
    def theta(self) -> Floats:
        return np.asarray((self.modes * self.links) @ self.modes.T)


class FieldGraph:
    """A graph as the field sees it: degrees of mean 1, the product with L, its spectrum."""

    def __init__(self, graph: Graph, threads: int = 1, mean_degree: float = 0.0) -> None:
        self.graph, self.n_nodes = graph, graph.n_nodes
        degree = graph.degrees()
        self.mean_degree = mean_degree or float(degree.mean()) or 1.0
        self.degree = degree / self.mean_degree
        self.label = graph_components(graph)[1]
        weights = graph.weights
        if weights is None:
            weights = np.ones(len(graph.indices))
        self.weights = weights / self.mean_degree
        self._passes = kernels.Passes(graph.indptr, graph.indices, self.weights, threads)
        self._widths = kernels.tile_widths(np.dtype(np.float64))

    @cached_property
    def spectrum(self) -> Spectrum:
        return laplacian_spectrum(self.laplacian, self.label)

    def part(self, nodes: NDArray[np.intp]) -> FieldGraph:
        """Some nodes and the edges between them, their rows of L as in the whole graph."""
        part = FieldGraph(between(self.graph, nodes), mean_degree=self.mean_degree)
        part.degree = self.degree[nodes]
        return part

    def laplacian(self, Z: Floats) -> Floats:
        """L Z, tile by tile."""
        out = np.empty_like(Z)
        start = 0
        while start < Z.shape[1]:
            left = Z.shape[1] - start
            width = next((w for w in self._widths if w >= left), self._widths[-1])
            tile = kernels.empty_tile(self.n_nodes, width, Z.dtype)
            result = kernels.empty_tile(self.n_nodes, width, Z.dtype)
            part = slice(start, start + min(width, left))
            tile[:, : part.stop - start], tile[:, part.stop - start :] = Z[:, part], 0.0
            nothing = np.zeros((self.n_nodes, -(-width // 8)), dtype=np.uint8)
            self._passes.laplacian(self.degree, nothing, tile, result)
            out[:, part] = result[:, : part.stop - start]
            start = part.stop
        return out


def between(graph: Graph, nodes: NDArray[np.intp]) -> Graph:
    """Some nodes and the edges between them."""
    rank = np.full(graph.n_nodes, -1, dtype=np.int32)
    rank[nodes] = np.arange(len(nodes), dtype=np.int32)
    rows = kernels.select_rows(
        graph.indptr, graph.indices, graph.weights, nodes.astype(np.int32), rank
    )
    return Graph.of_sorted_rows(*rows)


def alike(missing: Mask, fewest: int) -> list[NDArray[np.intp]]:
    """Rows that miss the same channels, where so many do, in order."""
    if not missing.size:
        return []
    packed = np.packbits(missing, axis=1)
    pattern = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    pattern[:, : packed.shape[1]] = packed
    words = pattern.view(np.uint64)
    order = np.lexsort(words.T[::-1])
    new = np.flatnonzero((words[order[1:]] != words[order[:-1]]).any(axis=1)) + 1
    return [rows for rows in np.split(order, new) if len(rows) >= fewest]


def times(Z: Floats, small: Floats) -> Floats:
    """Z times a p x p matrix, some rows at a time."""
    out = np.empty((len(Z), small.shape[1]))
    for start in range(0, len(Z), GEMM_ROWS):
        np.matmul(Z[start : start + GEMM_ROWS], small, out=out[start : start + GEMM_ROWS])
    return out


class FieldSystem:
    """The equations of the missing cells of one table."""

    def __init__(self, graph: FieldGraph, missing: Mask) -> None:
        self.graph, self.missing = graph, missing
        self.n_missing = max(1, int(np.count_nonzero(missing)))
        self.n_iter, self.residual, self.converged = 0, 0.0, True
        count = missing.sum(axis=1)
        alone = count > 0
        self._alike: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
        for rows in alike(missing, SHARED):
            if count[rows[0]]:
                self._alike.append((rows, np.flatnonzero(missing[rows[0]])))
                alone[rows] = False
        self._alone: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
        for number in np.unique(count[alone]):
            rows = np.flatnonzero(alone & (count == number))
            self._alone.append((rows, np.nonzero(missing[rows])[1].reshape(len(rows), number)))

    def use(self, coupling: Coupling, invert: bool = True) -> None:
        """Take Omega and Theta; the preconditioner may stay that of others close to them."""
        self.coupling = coupling
        if not invert:
            return
        self._modes = [self._modes_of(rows, cells) for rows, cells in self._alike]
        self._inverses: list[Floats] = []
        omega, theta, room = coupling.omega, coupling.theta, BLOCK_BYTES
        for rows, cells in self._alone:
            degree = self.graph.degree[rows, None]
            room -= 8 * cells.size * cells.shape[1]
            if room < 0:
                diagonal = omega[cells, cells] + degree * theta[cells, cells]
                self._inverses.append(1.0 / diagonal)
                continue
            one, other = cells[:, :, None], cells[:, None, :]
            blocks = omega[one, other] + degree[:, :, None] * theta[one, other]
            self._inverses.append(np.asarray(np.linalg.inv(blocks), np.float64))

    def _modes_of(self, rows: NDArray[np.intp], cells: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """V and 1 / (1 - t + d t) for each row: V' (Omega + Theta) V = I, V' Theta V = diag(t)."""
        import scipy.linalg

        at = np.ix_(cells, cells)
        theta = self.coupling.theta[at]
        t, modes = scipy.linalg.eigh(theta, self.coupling.omega[at] + theta)
        t = np.clip(t, 0.0, 1.0)
        scale = (1.0 - t) + self.graph.degree[rows, None] * t
        return np.asarray(modes), 1.0 / np.maximum(scale, LEAST_SCALE)

    def product(self, Z: Floats) -> Floats:
        """Z Omega + L Z Theta."""
        return times(Z, self.coupling.omega) + times(self.graph.laplacian(Z), self.coupling.theta)

    def precondition(self, R: Floats) -> Floats:
        out = np.zeros_like(R)
        for (rows, cells), (modes, scale) in zip(self._alike, self._modes, strict=True):
            at = np.ix_(rows, cells)
            out[at] = times(times(R[at], modes) * scale, modes.T)
        for (rows, cells), inverse in zip(self._alone, self._inverses, strict=True):
            at = rows[:, None], cells
            if inverse.ndim == 2:
                out[at] = inverse * R[at]
            else:
                out[at] = np.matmul(inverse, R[at][:, :, None])[:, :, 0]
        return out

    def variances(self) -> Floats:
        """About those of missing cells, 0 of known ones.

        Given the known cells of its row and all other rows, a cell has the variance v on the
        diagonal of the inverted block; missing neighbours add, to first order, v^2 times the sum
        of their variances, times the squares of what links them.
        """
        out = np.zeros(self.missing.shape)
        for (rows, cells), (modes, scale) in zip(self._alike, self._modes, strict=True):
            out[np.ix_(rows, cells)] = times(scale, (modes**2).T)
        for (rows, cells), inverse in zip(self._alone, self._inverses, strict=True):
            if inverse.ndim == 3:
                inverse = np.diagonal(inverse, axis1=1, axis2=2)
            out[rows[:, None], cells] = inverse
        graph = self.graph.graph
        squares = (self.graph.weights**2, graph.indices, graph.indptr)
        around = scipy.sparse.csr_array(squares, shape=(graph.n_nodes, graph.n_nodes)) @ out
        return np.asarray(out + out**2 * times(around, self.coupling.theta**2))

    def solve(
        self,
        right: Floats,
        start: Floats | None,
        tolerance: float,
        tick: Callable[[float], None] = lambda share: None,
    ) -> Floats:
        """The values of the missing cells, 0 elsewhere, for a right-hand side on them."""
        known = ~self.missing
        residual = np.where(known, 0.0, right)
        x = np.zeros_like(right)
        if start is not None:
            x = np.where(known, 0.0, start)
            residual -= np.where(known, 0.0, self.product(x))
        direction = precise = self.precondition(residual)
        size = _dot(residual, precise)
        goal = tolerance**2 * self.n_missing
        first, shown = size, 0.0
        for self.n_iter in range(MOST_STEPS + 1):
            self.residual = float(np.sqrt(max(size, 0.0) / self.n_missing))
            self.converged = size <= goal
            if self.converged or self.n_iter == MOST_STEPS:
                break
            image = self.product(direction)
            image[known] = 0.0
            step = size / _dot(direction, image)
            x += step * direction
            residual = residual - step * image
            precise = self.precondition(residual)
            before, size = size, _dot(residual, precise)
            direction = precise + (size / before) * direction
            share = min(1.0, np.log(first / max(size, goal)) / np.log(first / goal))
            if share > shown:
                tick(share - shown)
                shown = share
        tick(1.0 - shown)
        return x

    def mean(
        self,
        Z: Floats,
        start: Floats | None,
        tolerance: float,
        tick: Callable[[float], None] = lambda share: None,
    ) -> Floats:
        """Z with its missing cells at their mean given the known ones (`start`: near it)."""
        known = np.where(self.missing, 0.0, Z)
        return known + self.solve(-self.product(known), start, tolerance, tick)

    def noise(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Normal numbers per cell, and others of covariance L, from which draws are made."""
        p = self.missing.shape[1]
        cells = rng.standard_normal((self.graph.n_nodes, p))
        return cells, edge_noise(self.graph, p, rng)

    def deviation(
        self, noise: tuple[Floats, Floats], start: Floats | None, tolerance: float
    ) -> Floats:
        """A draw of the missing cells around their mean: solves for noise of covariance Q."""
        rows = self.coupling.modes * np.sqrt(self.coupling.rows)
        links = self.coupling.modes * np.sqrt(self.coupling.links)
        right = times(noise[0], rows.T) + times(noise[1], links.T)
        return self.solve(right, start, tolerance)


def edge_noise(graph: FieldGraph, width: int, rng: np.random.Generator) -> Floats:
    """B' e for the weighted incidence matrix B and normal e: numbers of covariance L = B' B."""
    out = np.zeros((graph.n_nodes, width))
    indptr, indices = graph.graph.indptr, graph.graph.indices
    step = max(1, (1 << 22) // width)  # entries at a time
    for start in range(0, len(indices), step):
        at = np.arange(start, min(start + step, len(indices)))
        u, v = np.searchsorted(indptr, at, side="right") - 1, indices[at]
        once = u < v
        u, v = u[once], v[once]
        e = rng.standard_normal((len(u), width)) * np.sqrt(graph.weights[at[once]])[:, None]
        for column in range(width):
            out[:, column] += np.bincount(u, e[:, column], graph.n_nodes)
            out[:, column] -= np.bincount(v, e[:, column], graph.n_nodes)
    return out


def _dot(one: Floats, other: Floats) -> float:
    """The sum of products; by einsum, whose order does not depend on threads."""
    return float(np.einsum("ij,ij->", one, other))
