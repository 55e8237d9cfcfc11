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
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ._field_graph import FieldGraph, Tiles, edge_noise

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Array = NDArray[Any]
Tick = Callable[[float], None]

MOST_STEPS = 500
BLOCK_BYTES = 512 << 20  # of inverted blocks; beyond, a row's cells are scaled one by one
LEAST_SCALE = 1e-12
SHARED = 64  # rows that miss the same channels: from here on they share their modes
GEMM_ROWS = 2048  # rows multiplied at once, so that the sums do not depend on the threads
SUMMED = 4096  # products added up at once
PADDED = 4  # rows whose missing cells are as many but for up to so many are solved together
SINGLE_CELLS = 50_000  # of larger tables, preconditioners and coarse solves are of float32
COARSE = 0.01  # tolerance from which on that is exact enough
SINGLE_DIGITS, ROOM, NEAR = 1e-4, 0.9, 0.8  # of the first residual, the tolerance, the progress


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


def alike(missing: Mask, fewest: int) -> list[NDArray[np.intp]]:
    """Rows that miss the same channels, where so many do, in order."""
    if not missing.size:
        return []
    packed = np.packbits(missing, axis=1)
    pattern = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    pattern[:, : packed.shape[1]] = packed
    words = pattern.view(np.uint64)
    order = np.lexsort(words.T[::-1])
    new = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    ends = np.concatenate([[0], np.flatnonzero(new) + 1, [len(order)]])
    many = np.flatnonzero(np.diff(ends) >= fewest)
    return [order[ends[k] : ends[k + 1]] for k in many]


def times(Z: Array, small: Array) -> Array:
    """Z times a p x p matrix, some rows at a time."""
    out = np.empty((len(Z), small.shape[1]), dtype=np.result_type(Z, small))
    for start in range(0, len(Z), GEMM_ROWS):
        np.matmul(Z[start : start + GEMM_ROWS], small, out=out[start : start + GEMM_ROWS])
    return out


@dataclass
class Group:
    """Rows whose missing cells are preconditioned together, and where these are in a vector.

    Attributes
    ----------
    rows : [rows]
    cells : [channels] that all these rows miss; or [rows, channels], filled up with numbers beyond
        the last channel, which stand for no cell
    """

    rows: NDArray[np.intp]
    cells: NDArray[np.intp]
    span: slice

    def of(self, vectors: Array) -> Array:
        """The group's part of some vectors, [vectors, rows, channels]."""
        return vectors[:, self.span].reshape(len(vectors), len(self.rows), -1)


class FieldSystem:
    """The equations of the missing cells of one table.

    Vectors hold the missing cells alone, group by group.
    """

    def __init__(self, graph: FieldGraph, missing: Mask) -> None:
        self.graph, self.missing = graph, missing
        self.n_missing = max(1, int(np.count_nonzero(missing)))
        self.n_iter, self.residual, self.converged = 0, 0.0, True
        self._kind = np.dtype(np.float32 if missing.size > SINGLE_CELLS else np.float64)
        self._groups: list[Group] = []
        count = missing.sum(axis=1)
        alone = count > 0
        for rows in alike(missing, SHARED):
            if count[rows[0]]:
                self._add(rows, np.flatnonzero(missing[rows[0]]))
                alone[rows] = False
        width = -(-count // PADDED) * PADDED if missing.shape[1] > PADDED else count
        for number in np.unique(width[alone]):
            rows = np.flatnonzero(alone & (width == number))
            beyond = np.arange(number) - count[rows, None]
            cells = missing.shape[1] + np.maximum(beyond, 0)
            cells[beyond < 0] = np.nonzero(missing[rows])[1]
            self._add(rows, cells)
        self._bits = np.where(count > 0, 0, 255).astype(np.uint8)

    def _add(self, rows: NDArray[np.intp], cells: NDArray[np.intp]) -> None:
        start = self._groups[-1].span.stop if self._groups else 0
        size = len(rows) * cells.shape[-1]
        self._groups.append(Group(rows, cells, slice(start, start + size)))

    @property
    def size(self) -> int:
        """Of a vector."""
        return self._groups[-1].span.stop if self._groups else 0

    # -- between tables and vectors --

    def _places(self, tiles: Tiles) -> NDArray[np.intp]:
        out = np.empty(self.size, dtype=np.intp)
        for group in self._groups:
            out[group.span] = tiles.place(group.rows[:, None], group.cells).reshape(-1)
        return out

    def vector(self, Z: Floats) -> Floats:
        """The missing cells of a table."""
        out = np.zeros(self.size)
        for group in self._groups:
            part, rows = group.of(out[None])[0], group.rows[:, None]
            if group.cells.ndim == 1:
                part[:] = Z[rows, group.cells]
            else:
                there = group.cells < Z.shape[1]
                part[:] = np.where(there, Z[rows, np.where(there, group.cells, 0)], 0.0)
        return out

    def put(self, vector: Array, Z: Floats) -> Floats:
        """Write the missing cells into a table, which is returned."""
        for group in self._groups:
            part, there = group.of(vector[None])[0], group.cells < Z.shape[1]
            if there.all():
                Z[group.rows[:, None], group.cells] = part
            else:
                Z[np.broadcast_to(group.rows[:, None], there.shape)[there], group.cells[there]] = (
                    part[there]
                )
        return Z

    # -- the preconditioner --

    def use(self, coupling: Coupling, invert: bool = True) -> None:
        """Take Omega and Theta; the preconditioner may stay that of others close to them."""
        self.coupling = coupling
        if invert:
            room = BLOCK_BYTES
            self._inverses: list[tuple[Array, ...]] = []
            for group in self._groups:
                if group.cells.ndim == 1:
                    self._inverses.append(self._modes_of(group))
                    continue
                room -= self._kind.itemsize * group.cells.size * group.cells.shape[1]
                self._inverses.append((self._blocks_of(group, room >= 0),))

    def _modes_of(self, group: Group) -> tuple[Array, Array]:
        """V and 1 / (1 - t + d t) for each row: V' (Omega + Theta) V = I, V' Theta V = diag(t)."""
        import scipy.linalg

        at = np.ix_(group.cells, group.cells)
        theta = self.coupling.theta[at]
        t, modes = scipy.linalg.eigh(theta, self.coupling.omega[at] + theta)
        t = np.clip(t, 0.0, 1.0)
        scale = (1.0 - t) + self.graph.degree[group.rows, None] * t
        scale = 1.0 / np.maximum(scale, LEAST_SCALE)
        return modes.astype(self._kind), scale.astype(self._kind)

    def _blocks_of(self, group: Group, whole: bool) -> Array:
        """The inverse of each row's block; else of its diagonal."""
        p, size = len(self.coupling.omega), len(self.coupling.omega) + PADDED
        omega, theta = np.eye(size), np.zeros((size, size))
        omega[:p, :p], theta[:p, :p] = self.coupling.omega, self.coupling.theta
        degree, cells = self.graph.degree[group.rows, None], group.cells
        if not whole:
            return (1.0 / (omega[cells, cells] + degree * theta[cells, cells])).astype(self._kind)
        out = np.empty((*cells.shape, cells.shape[1]), dtype=self._kind)
        step = max(1, (1 << 21) // cells.shape[1] ** 2)
        for start in range(0, len(cells), step):
            part = slice(start, start + step)
            one, other = cells[part, :, None], cells[part, None, :]
            out[part] = np.linalg.inv(omega[one, other] + degree[part, :, None] * theta[one, other])
        return out

    def precondition(self, vectors: Array) -> Array:
        """[vectors, cells]."""
        out = np.empty(vectors.shape, dtype=self._kind)
        vectors = vectors.astype(self._kind, copy=False)
        for group, inverse in zip(self._groups, self._inverses, strict=True):
            part, result = group.of(vectors), group.of(out)
            if len(inverse) == 2:
                modes, scale = inverse
                for one, place in zip(part, result, strict=True):
                    place[:] = times(times(one, modes) * scale, modes.T)
            elif inverse[0].ndim == 2:
                np.multiply(inverse[0], part, out=result)
            else:
                np.matmul(inverse[0], part[..., None], out=result[..., None])
        return out

    # -- products and solves --

    def product(self, Z: Floats) -> Floats:
        """Z Omega + L Z Theta, of all cells."""
        return times(Z, self.coupling.omega) + times(self.graph.laplacian(Z), self.coupling.theta)

    def known_part(self, Z: Floats, dtype: Any = np.float64) -> Array:
        """The product of the known cells at the missing ones."""
        work = _Work(self, np.dtype(dtype))
        for k, (channels, _) in enumerate(work.tiles.parts):
            tile = work.tiles.part(work.z, k)[:, : channels.stop - channels.start]
            tile[:] = np.where(self.missing[:, channels], 0.0, Z[:, channels])
        return work.products_at_missing()

    def variances(self) -> Floats:
        """About those of missing cells, 0 of known ones.

        Given the known cells of its row and all other rows, a cell has the variance v on the
        diagonal of the inverted block; missing neighbours add, to first order, v^2 times the sum
        of their variances, times the squares of what links them.
        """
        vector = np.zeros(self.size)
        for group, inverse in zip(self._groups, self._inverses, strict=True):
            part = group.of(vector[None])[0]
            if len(inverse) == 2:
                modes, scale = inverse
                part[:] = times(scale, (modes**2).T)
            else:
                block = inverse[0]
                part[:] = block if block.ndim == 2 else np.diagonal(block, axis1=1, axis2=2)
        out = self.put(vector, np.zeros(self.missing.shape))
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
            return self._descend(_Work(self, kind), rights, starts, tolerance, 0.0, tick)
        near = _Work(self, self._kind)
        tick_near: Tick = lambda share: tick(NEAR * share)  # noqa: E731
        starts = self._descend(near, rights, starts, ROOM * tolerance, SINGLE_DIGITS, tick_near)
        tick_rest: Tick = lambda share: tick((1 - NEAR) * share)  # noqa: E731
        return self._descend(_Work(self, kind), rights, starts, tolerance, 0.0, tick_rest)

    def _descend(
        self,
        work: _Work,
        rights: Array,
        starts: Array | None,
        tolerance: float,
        least: float,
        tick: Tick,
    ) -> Array:
        """Conjugate gradients down to a tolerance, or to the least share of the first residual."""
        residual = rights.astype(work.tiles.dtype)
        x = np.zeros_like(residual)
        if starts is not None:
            x[:] = starts
            residual -= work.products(x)
        direction = self.precondition(residual).astype(x.dtype, copy=False)
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
            image = work.products(direction)
            step = _ratio(size, _dots(direction, image)).astype(x.dtype)[:, None]
            image *= -step
            residual += image
            np.multiply(direction, step, out=image)
            x += image
            precise = self.precondition(residual)
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


class _Work:
    """Room for products with the equations: the table cut into tiles, and its product."""

    def __init__(self, system: FieldSystem, dtype: np.dtype[Any]) -> None:
        n, p = system.missing.shape
        self.graph = system.graph
        self.tiles = tiles = Tiles(n, p, dtype)
        self.z, self.q = tiles.zeros(), tiles.zeros()
        self._places = system._places(tiles)
        theta = system.coupling.theta * system.graph.unit
        self._small = np.concatenate([tiles.spread(system.coupling.omega), tiles.spread(theta)])
        self._both = np.zeros((min(n, GEMM_ROWS), len(self._small)), dtype)
        self._product = np.zeros((min(n, GEMM_ROWS), len(self._small) // 2), dtype)
        self._bits = [
            np.repeat((system._bits & ((1 << width) - 1 if width < 8 else 255))[:, None],
                      -(-width // 8), axis=1)
            for _, width in tiles.parts
        ]  # fmt: skip

    def products(self, vectors: Array) -> Array:
        """Of vectors, at the missing cells."""
        out = np.empty_like(vectors)
        for vector, result in zip(vectors, out, strict=True):
            self.z[self._places] = vector
            self._multiply()
            np.take(self.q, self._places, out=result, mode="clip")
        return out

    def products_at_missing(self) -> Array:
        """Of the table that lies in z."""
        self._multiply()
        return self.q[self._places]

    def _multiply(self) -> None:
        """q = z Omega + L z Theta, in the rows that miss a cell."""
        tiles, width = self.tiles, len(self._small) // 2
        parts = [(tiles.part(self.z, k), tiles.part(self.q, k)) for k in range(len(tiles.parts))]
        for (z, q), bits in zip(parts, self._bits, strict=True):
            self.graph.multiply(bits, z, q)
        for start in range(0, tiles.n_rows, GEMM_ROWS):
            rows = slice(start, min(start + GEMM_ROWS, tiles.n_rows))
            both = self._both[: rows.stop - start]
            for (z, q), lanes in zip(parts, tiles.lanes, strict=True):
                both[:, lanes] = z[rows]
                both[:, lanes.start + width : lanes.stop + width] = q[rows]
            product = np.matmul(both, self._small, out=self._product[: len(both)])
            for (_, q), lanes in zip(parts, tiles.lanes, strict=True):
                q[rows] = product[:, lanes]


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
