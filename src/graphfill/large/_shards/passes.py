"""The kernels' passes for rows whose neighbours may be halo rows, with sums left in blocks.

A total over all shards is added block by block in the order of the rows, as the kernels do it
within one: so it does not depend on where the rows were cut (on SciPy's kernels, up to
rounding).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import kernels

Array = np.ndarray


def make_passes(
    indptr: Array, indices: Array, weights: Array | None, block_rows: int
) -> kernels.Passes:
    """Passes over one shard's rows: z has halo rows after the shard's own, all else has not.

    What the kernels' Passes return as one sum per column, these return per block of rows, as
    an array of shape (blocks, width).
    """
    kind = _CompiledPasses if kernels.implementation == "compiled" else _SciPyPasses
    passes = kind(indptr, indices, weights, 1)
    passes.block_rows = block_rows
    return passes


def row_passes(n_rows: int, block_rows: int) -> kernels.Passes:
    """Passes that go over rows alone."""
    empty = np.zeros(n_rows + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return make_passes(*empty, None, block_rows)


class _CompiledPasses(kernels.Passes):
    """One thread: what runs side by side are shards."""

    block_rows: int

    def _run(
        self, name: str, row: Array, known: Array, z: Any, out: Any, *, source: Any = None,
        x: Any = None, factor: float = 0.0, coefficient: float = 0.0, lanes: Any = None,
        measured: bool = False, width: int = 0,
    ) -> Array:  # fmt: skip
        from ...kernels import _compiled

        width = width or (out if out is not None else z).shape[1]
        sums = np.zeros((-(-self.n_rows // self.block_rows), width)) if measured else None
        _compiled.tile_pass(
            _compiled.PASSES.index(name), self.indptr, self.indices, self.weights, row, known, z,
            out, source, x, factor, coefficient, lanes, sums, self.block_rows, width, 0,
            self.n_rows,
        )  # fmt: skip
        return np.empty(0) if sums is None else sums


class _SciPyPasses(kernels.Passes):
    """Hands the rows' own part of z on, and the whole of it to the product."""

    block_rows: int
    _whole: Array
    _part: Array | None = None

    def _product(self, z: Array, source: Array | None) -> Array:
        if self.weights is None:
            # Of the tile's type from the start: SciPy sorts a row's entries to convert a matrix.
            self.weights = np.ones(len(self.indices), dtype=z.dtype)
        return super()._product(self._whole, source)  # type: ignore[misc]

    def _own(self, z: Array) -> Array:
        self._whole, self._part = z, z[: self.n_rows]
        return self._part

    def diffuse(self, scale: Array, known: Array, z: Array, out: Array, source: Any = None) -> None:
        # The kernels' measured pass calls this one with what it was handed.
        own = z if z is self._part else self._own(z)
        super().diffuse(scale, known, own, out, source)

    def diffuse_measured(
        self, scale: Array, known: Array, z: Array, out: Array, source: Any = None
    ) -> Array:
        return super().diffuse_measured(scale, known, self._own(z), out, source)[None]

    def residual(
        self, diagonal: Array, known: Array, z: Array, out: Array, source: Any = None
    ) -> Array:
        return super().residual(diagonal, known, self._own(z), out, source)[None]

    def laplacian(self, diagonal: Array, known: Array, p: Array, out: Array) -> Array:
        return super().laplacian(diagonal, known, self._own(p), out)[None]

    def step_residual(self, *args: Array) -> Array:
        return super().step_residual(*args)[None]

    def known_sums(self, weight: Array, known: Array, z: Array | None, width: int) -> Array:
        return super().known_sums(weight, known, z, width)[None]

    def squares(self, *args: Array) -> Array:
        return super().squares(*args)[None]
