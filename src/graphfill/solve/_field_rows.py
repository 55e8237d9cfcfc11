r"""The rows of a field one by one: the preconditioner of its equations, and variances.

Given all other rows, the missing cells u of row i have the precision

.. math:: P_i = \Omega_{uu} + d_i \Theta_{uu} .

The preconditioner multiplies each row by the inverse, so that channels that nearly repeat each
other cost no extra steps. Rows that miss the same channels share the modes V of both matrices on
these: the inverse is V diag(1 / (1 - t + d_i t)) V'.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ._coupling import Array, Coupling, Floats, times
from ._field_cells import Group, MissingCells

BLOCK_BYTES = 512 << 20  # of inverted blocks; beyond, a row's cells are scaled one by one
LEAST_SCALE = 1e-12


class RowInverses:
    """The inverse of P of each row, in numbers of one type."""

    def __init__(
        self,
        cells: MissingCells,
        coupling: Coupling,
        degree: Floats,
        dtype: np.dtype[Any],
        threads: int,
    ) -> None:
        self.cells, self.coupling, self.degree = cells, coupling, degree
        self.dtype, self.threads = dtype, threads
        room = BLOCK_BYTES
        self._inverses: list[tuple[Array, ...]] = []
        for group in cells.groups:
            if group.shared:
                self._inverses.append(self._modes_of(group))
                continue
            room -= dtype.itemsize * group.cells.size * group.cells.shape[1]
            self._inverses.append((self._blocks_of(group, room >= 0),))

    def _modes_of(self, group: Group) -> tuple[Array, Array]:
        """V and 1 / (1 - t + d t) for each row: V' (Omega + Theta) V = I, V' Theta V = diag(t)."""
        import scipy.linalg

        at = np.ix_(group.cells, group.cells)
        theta = self.coupling.theta[at]
        t, modes = scipy.linalg.eigh(theta, self.coupling.omega[at] + theta)
        t = np.clip(t, 0.0, 1.0)
        scale = (1.0 - t) + self.degree[group.rows, None] * t
        scale = 1.0 / np.maximum(scale, LEAST_SCALE)
        return modes.astype(self.dtype), scale.astype(self.dtype)

    def _blocks_of(self, group: Group, whole: bool) -> Array:
        """The inverse of each row's block; else of its diagonal."""
        omega, theta, degree = self.coupling.omega, self.coupling.theta, self.degree[group.rows]
        if whole:
            cells, dtype, threads = group.cells, self.dtype, self.threads
            return np.asarray(kernels.invert_blocks(cells, degree, omega, theta, dtype, threads))
        own, linked = np.append(omega.diagonal(), 1.0), np.append(theta.diagonal(), 0.0)
        cells = np.minimum(group.cells, len(omega))
        return np.asarray(1.0 / (own[cells] + degree[:, None] * linked[cells]), self.dtype)

    def times(self, vectors: Array) -> Array:
        """The inverses times vectors, [vectors, cells]."""
        out = np.empty(vectors.shape, dtype=self.dtype)
        vectors = vectors.astype(self.dtype, copy=False)
        for group, inverse in zip(self.cells.groups, self._inverses, strict=True):
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

    def diagonals(self) -> Floats:
        """Of the inverses, a vector: variances given the row's known cells and all other rows."""
        vector = np.zeros(self.cells.size)
        for group, inverse in zip(self.cells.groups, self._inverses, strict=True):
            part = group.of(vector[None])[0]
            if len(inverse) == 2:
                modes, scale = inverse
                part[:] = times(scale, (modes**2).T)
            else:
                block = inverse[0]
                part[:] = block if block.ndim == 2 else np.diagonal(block, axis1=1, axis2=2)
        return vector
