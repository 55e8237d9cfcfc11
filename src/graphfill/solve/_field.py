r"""One Gaussian field over all cells: Feature Propagation with channels that inform each other.

With Z the n x p matrix of standardised channels and L = D - A the Laplacian (degrees scaled to mean
1), the energy

.. math:: 2 E(Z) = \operatorname{tr}(\Omega Z^T Z) + \operatorname{tr}(\Theta Z^T L Z)

is minimal over the missing cells where Z Omega + L Z Theta vanishes on them. Omega couples the
channels of a row, Theta those of neighbours. Feature Propagation ("rw", exact) is Omega = 0,
Theta = I; Theta = 0 is a multivariate normal without a graph. As a probability model the precision
is Q = Omega (x) I + Theta (x) L: the minimum is the mean of the missing cells given the known ones.
A draw adds the solution of the same system with noise of covariance Q on the right-hand side.

The system is solved by conjugate gradients with one step length for all channels, row by row
preconditioned (`_field_rows`). With P the preconditioner, a residual r has the size
sqrt(r' P r / cells): 1 is one standard deviation of a missing cell given all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ._coupling import Array, Coupling, Floats, times
from ._field_cells import MissingCells
from ._field_graph import FieldGraph, edge_noise
from ._field_products import Products
from ._field_rows import RowInverses

Mask = NDArray[np.bool_]
Tick = Callable[[float], None]

MOST_STEPS = 500
SUMMED = 4096  # products added up at once
SINGLE_CELLS = 50_000  # of larger tables, preconditioners and coarse solves are of float32
COARSE = 0.01  # tolerance from which on that is exact enough
SINGLE_DIGITS, ROOM, NEAR = 1e-4, 0.9, 0.8  # of the first residual, the tolerance, the progress


class FieldSystem:
    """The equations of the missing cells of one table.

    Vectors hold the missing cells alone (`MissingCells`).
    """

    def __init__(self, graph: FieldGraph, missing: Mask) -> None:
        self.graph, self.missing, self.cells = graph, missing, MissingCells(missing)
        self.n_missing = max(1, int(np.count_nonzero(missing)))
        self.n_iter, self.residual, self.converged = 0, 0.0, True
        self._kind = np.dtype(np.float32 if missing.size > SINGLE_CELLS else np.float64)

    def vector(self, Z: Floats) -> Floats:
        """The missing cells of a table."""
        return self.cells.vector(Z)

    def put(self, vector: Array, Z: Floats) -> Floats:
        """Write the missing cells into a table, which is returned."""
        return self.cells.put(vector, Z)

    def use(self, coupling: Coupling, invert: bool = True) -> None:
        """Take Omega and Theta; the preconditioner may stay that of others close to them."""
        self.coupling = coupling
        if invert:
            degree, threads = self.graph.degree, self.graph.threads
            self.rows = RowInverses(self.cells, coupling, degree, self._kind, threads)

    def product(self, Z: Floats) -> Floats:
        """Z Omega + L Z Theta, of all cells."""
        return times(Z, self.coupling.omega) + times(self.graph.laplacian(Z), self.coupling.theta)

    def known_part(self, Z: Floats, dtype: Any = np.float64) -> Array:
        """The product of the known cells at the missing ones."""
        return self._products(np.dtype(dtype)).of_known(Z)

    def _products(self, dtype: np.dtype[Any]) -> Products:
        return Products(self.cells, self.graph, self.coupling, dtype)

    def variances(self) -> Floats:
        """About those of missing cells, 0 of known ones.

        Given the known cells of its row and all other rows, a cell has the variance v on the
        diagonal of the inverted block; missing neighbours add, to first order, v^2 times the sum
        of their variances, times the squares of what links them.
        """
        out = self.put(self.rows.diagonals(), np.zeros(self.missing.shape))
        graph = self.graph.graph
        squares = (self.graph.weights() ** 2, graph.indices, graph.indptr)
        around = scipy.sparse.csr_array(squares, shape=(graph.n_nodes, graph.n_nodes)) @ out
        return np.asarray(out + out**2 * times(around, self.coupling.theta**2))

    def solve(
        self,
        rights: Array,
        starts: Array | None,
        tolerance: float,
        tick: Tick = lambda share: None,
    ) -> Array:
        """The vectors whose products are `rights`, [vectors, cells].

        What need not be exact is solved in the system's kind of numbers; what must be exact starts
        from there.
        """
        self.n_iter = 0
        kind = self.kind_for(tolerance)
        if self._kind == kind:
            return self._descend(self._products(kind), rights, starts, tolerance, 0.0, tick)
        near = self._products(self._kind)
        tick_near: Tick = lambda share: tick(NEAR * share)  # noqa: E731
        starts = self._descend(near, rights, starts, ROOM * tolerance, SINGLE_DIGITS, tick_near)
        tick_rest: Tick = lambda share: tick((1 - NEAR) * share)  # noqa: E731
        return self._descend(self._products(kind), rights, starts, tolerance, 0.0, tick_rest)

    def _descend(
        self,
        products: Products,
        rights: Array,
        starts: Array | None,
        tolerance: float,
        least: float,
        tick: Tick,
    ) -> Array:
        """Conjugate gradients down to a tolerance, or to the least share of the first residual."""
        residual = rights.astype(products.tiles.dtype)
        x = np.zeros_like(residual)
        if starts is not None:
            x[:] = starts
            residual -= products.of(x)
        direction = self.rows.times(residual).astype(x.dtype, copy=False)
        size = _dots(residual, direction)
        first, shown = float(size.max(initial=0.0)), 0.0
        goal = max(tolerance**2 * self.n_missing, least**2 * first)
        while True:
            most = float(size.max(initial=0.0))
            self.residual = float(np.sqrt(max(most, 0.0) / self.n_missing))
            self.converged = most <= goal
            if self.converged or self.n_iter >= MOST_STEPS:
                break
            self.n_iter += 1
            image = products.of(direction)
            step = _ratio(size, _dots(direction, image)).astype(x.dtype)[:, None]
            image *= -step
            residual += image
            np.multiply(direction, step, out=image)
            x += image
            precise = self.rows.times(residual)
            before, size = size, _dots(residual, precise)
            direction *= _ratio(size, before).astype(x.dtype)[:, None]
            direction += precise
            share = np.log(first / max(float(size.max()), goal)) / np.log(first / goal)
            if share > shown:
                tick(min(1.0, share) - shown)
                shown = min(1.0, share)
        tick(1.0 - shown)
        return x

    def kind_for(self, tolerance: float) -> np.dtype[Any]:
        """The type of numbers for a solve."""
        return self._kind if tolerance >= COARSE else np.dtype(np.float64)

    def mean(
        self,
        Z: Floats,
        start: Floats | None,
        tolerance: float,
        tick: Tick = lambda share: None,
    ) -> Floats:
        """Z with its missing cells at their mean given the known ones (`start`: near it)."""
        right = -self.known_part(Z, self.kind_for(tolerance))
        starts = None if start is None else self.vector(start)[None]
        return self.put(self.solve(right[None], starts, tolerance, tick)[0], Z.copy())

    def noise(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Normal numbers per cell, and others of covariance L, from which draws are made."""
        p = self.missing.shape[1]
        cells = rng.standard_normal((self.graph.n_nodes, p))
        return cells, edge_noise(self.graph, p, rng)

    def noise_part(self, noise: tuple[Floats, Floats]) -> Floats:
        """Noise of covariance Q at the missing cells."""
        rows = self.coupling.modes * np.sqrt(self.coupling.rows)
        links = self.coupling.modes * np.sqrt(self.coupling.links)
        return self.vector(times(noise[0], rows.T) + times(noise[1], links.T))

    def deviation(
        self, noise: tuple[Floats, Floats], start: Floats | None, tolerance: float
    ) -> Floats:
        """A draw of the missing cells around their mean: solves for noise of covariance Q."""
        starts = None if start is None else self.vector(start)[None]
        found = self.solve(self.noise_part(noise)[None], starts, tolerance)[0]
        return self.put(found, np.zeros(self.missing.shape))


def _ratio(one: Floats, other: Floats) -> Floats:
    """one / other, 0 where that is not positive."""
    return np.divide(one, other, out=np.zeros(len(one)), where=other > 0)


def _dots(one: Array, other: Array) -> Floats:
    """The sums of products, vector by vector; over blocks, whose order no thread decides."""
    whole = one.shape[1] // SUMMED * SUMMED
    shape = len(one), -1, SUMMED
    sums = np.einsum("kbi,kbi->kb", one[:, :whole].reshape(shape), other[:, :whole].reshape(shape))
    rest = np.einsum("ki,ki->k", one[:, whole:], other[:, whole:])
    return np.asarray(sums.sum(axis=1, dtype=np.float64) + rest, np.float64)
