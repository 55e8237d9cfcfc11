"""The kernels for tiles: what each computes, what it overwrites, how threads share it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ._loops import implementation, loops
from ._threads import cut, share

Array = np.ndarray

# Sums are kept per block of rows and added block by block, so that they do not depend on
# how the rows were shared out.
BLOCK_ROWS = 256
# Below this many additions a pass is over before a second thread has woken up.
WORTH_SHARING = 1 << 20
_PASS = {name: index for index, name in enumerate(loops.PASSES)}
_SCIPY = implementation == "scipy"  # whose products run on one thread, all rows being a block


def tile_widths(dtype: np.dtype) -> list[int]:
    """The widths a tile can have, in ascending order."""
    return list(loops.WIDTHS[np.dtype(dtype).name])


def empty_tile(n_rows: int, width: int, dtype: np.dtype) -> Array:
    """An uninitialised tile whose rows start on cache lines."""
    size = n_rows * width * np.dtype(dtype).itemsize
    memory = np.empty(size + 64, dtype=np.uint8)
    offset = -memory.ctypes.data % 64
    return memory[offset : offset + size].view(dtype).reshape(n_rows, width)


def extra_bytes(n_rows: int, n_columns: int, entries: int, width: int, itemsize: int) -> int:
    """What the kernels allocate beyond the arrays they are given.

    The matrix as SciPy wants it, NumPy's temporaries of a tile, and masks of the table; those in C
    need nothing to speak of.
    """
    if not _SCIPY:
        return 0
    return entries * (16 + 2 * itemsize) + 8 * n_rows * width * 8 + 3 * n_rows * n_columns


class Passes:
    """The passes over one matrix, and the threads that share them.

    Columns of A may outnumber its rows. Weights are of the tile's type; None: every entry is one,
    and no values are read. With `block_rows`, what is returned as one sum per column is returned
    per block of so many rows instead, as an array of shape (blocks, width).
    """

    def __init__(
        self,
        indptr: Array,
        indices: Array,
        weights: Array | None,
        threads: int,
        block_rows: int | None = None,
    ):
        self.indptr, self.indices, self.weights = indptr, indices, weights
        self.threads, self._by_block = threads, block_rows is not None
        self.n_rows = len(indptr) - 1
        self._block_rows = max(self.n_rows, 1) if _SCIPY else block_rows or BLOCK_ROWS
        graph = indptr, indices, weights
        self._matrix = (loops.Matrix(*graph),) if _SCIPY else graph
        # Rows are handed out in pieces of nearly equal numbers of entries (and rows).
        work = indptr + np.arange(self.n_rows + 1)
        goals = np.linspace(0, work[-1], 8 * threads + 1)
        ends = np.searchsorted(work, goals) // self._block_rows * self._block_rows
        ends[-1] = self.n_rows
        self._pieces = [(int(lo), int(hi)) for lo, hi in pairwise(ends) if hi > lo]
        self._blocks = -(-self.n_rows // self._block_rows)

    def shared(self, width: int) -> bool:
        """Whether a pass over a tile of this width is shared by the threads."""
        work = (len(self.indices) + self.n_rows) * width
        return _SCIPY or (self.threads > 1 and work >= WORTH_SHARING)

    def diffuse(
        self, scale: Array, known: Array, z: Array, out: Array, source: Array | None = None
    ) -> None:
        """out = scale (source + A z) at unknown cells; known cells of out stay."""
        self._run("diffuse", scale, known, z, out, source=source)

    def diffuse_cells(self, factor: Array, known: Array, z: Array, out: Array) -> None:
        """out = factor A z at unknown cells, factor being a tile; known cells of out stay."""
        self._run("diffuse_cells", factor[:, 0].copy(), known, z, out, x=factor)

    def diffuse_measured(
        self, scale: Array, known: Array, z: Array, out: Array, source: Array | None = None
    ) -> Array:
        """The same; returns the column sums of (out - z)^2 / scale."""
        return self._run("diffuse_measured", scale, known, z, out, source=source, measured=True)

    def residual(
        self, diagonal: Array, known: Array, z: Array, out: Array, source: Array | None = None
    ) -> Array:
        """out = source + A z - diagonal z at unknown cells, 0 at known ones; returns the
        column sums of out^2 / diagonal."""
        return self._run("residual", diagonal, known, z, out, source=source, measured=True)

    def laplacian(self, diagonal: Array, known: Array, p: Array, out: Array) -> Array:
        """out = diagonal p - A p at unknown cells, 0 at known ones; returns p . out."""
        return self._run("laplacian", diagonal, known, p, out, measured=True)

    def chebyshev(
        self, scale: Array, known: Array, t: Array, out: Array, x: Array, factor: float, c: float
    ) -> None:
        """out = factor scale A t - out at unknown cells; x += c out."""
        self._run("chebyshev", scale, known, t, out, x=x, factors=(factor, c))

    def step_residual(
        self, diagonal: Array, known: Array, q: Array, r: Array, alpha: Array
    ) -> Array:
        """r -= alpha q; returns the column sums of r^2 / diagonal."""
        return self._run("step_residual", diagonal, known, q, r, lanes=alpha, measured=True)

    def step_direction(
        self, diagonal: Array, known: Array, r: Array, p: Array, x: Array, *lanes: Array
    ) -> None:
        """x += alpha p, then p = gamma r / diagonal + beta p; lanes are alpha, beta and gamma."""
        lanes_in_row = np.concatenate(lanes)
        self._run("step_direction", diagonal, known, r, p, x=x, lanes=lanes_in_row)

    def known_sums(self, weight: Array, known: Array, z: Array | None, width: int) -> Array:
        """Column sums of weight z (or of weight) over known cells."""
        return self._run("known_sums", weight, known, z, None, measured=True, width=width)

    def squares(self, weight: Array, known: Array, z: Array) -> Array:
        """Column sums of weight z^2."""
        return self._run("squares", weight, known, z, None, measured=True)

    def shift_known(self, weight: Array, known: Array, z: Array, shift: Array) -> None:
        """z += shift at known cells."""
        self._run("shift_known", weight, known, None, z, lanes=shift)

    def _run(
        self,
        name: str,
        row: Array,
        known: Array,
        z: Array | None,
        out: Array | None,
        *,
        source: Array | None = None,
        x: Array | None = None,
        factors: tuple[float, float] = (0.0, 0.0),
        lanes: Array | None = None,
        measured: bool = False,
        width: int = 0,
    ) -> Array:
        width = width or (out if out is not None else z).shape[1]  # type: ignore[union-attr]
        sums = np.zeros((self._blocks, width)) if measured else None

        def rows(lo: int, hi: int) -> None:
            loops.tile_pass(
                _PASS[name], *self._matrix, row, known, z, out, source, x, *factors, lanes, sums,
                self._block_rows, width, lo, hi,
            )  # fmt: skip

        if self.shared(width):
            share(rows, self._pieces, self.threads)
        else:
            rows(0, self.n_rows)
        if sums is None:
            return np.empty(0)
        if self._by_block:
            return sums
        # cumsum adds one block after another; sum's pairwise order would depend on the width.
        total: Array = sums[0] if self._blocks == 1 else sums.cumsum(axis=0)[-1]
        return total


def survey(X: Array, threads: int) -> tuple[Array, Array, int]:
    """Missing cells per row, known cells per column, and the first infinite cell or -1."""
    n, F = X.shape
    missing_in_row = np.empty(n, dtype=np.int32)
    pieces = cut(n, threads)
    known = np.zeros((max(len(pieces), 1), F), dtype=np.int64)
    infinite = np.full(max(len(pieces), 1), -1, dtype=np.int64)

    def rows(k: int, lo: int, hi: int) -> None:
        loops.survey(X, F, missing_in_row, known[k], infinite[k : k + 1], lo, hi)

    share(rows, [(k, lo, hi) for k, (lo, hi) in enumerate(pieces)], threads)
    cells = infinite[infinite >= 0]
    return missing_in_row, known.sum(axis=0), int(cells[0]) if len(cells) else -1


def pack(
    X: Array,
    columns: slice,
    order: Array | None,
    factor: Array,
    width: int,
    *,
    start: Array | None = None,
    out: Array | None = None,
    threads: int = 1,
) -> tuple[Array, Array]:
    """A tile of factor X in the solver's order, start (or 0) at missing cells; and what is known.

    Row r of the tile is row order[r] of X; lanes past the last column count as known.
    """
    rows = len(factor)
    z = empty_tile(rows, width, X.dtype) if out is None else out
    known = np.empty((rows, -(-width // 8)), dtype=np.uint8)

    def work(lo: int, hi: int) -> None:
        loops.pack(
            X, start, X.shape[1], columns.start, columns.stop - columns.start, order, factor, z,
            known, width, lo, hi,
        )  # fmt: skip

    share(work, cut(rows, threads), threads)
    return z, known


def unpack(
    X: Array,
    columns: slice,
    order: Array | None,
    factor: Array,
    z: Array,
    known: Array,
    *,
    shift: Array,
    fill: Array,
    component: Array | None = None,
    reached: Array | None = None,
    threads: int = 1,
) -> None:
    """Write factor (z + shift) to the missing cells of X; fill where not reached."""

    def work(lo: int, hi: int) -> None:
        loops.unpack(
            X, X.shape[1], columns.start, columns.stop - columns.start, order, factor, z, known,
            shift, fill, component, reached, z.shape[1], lo, hi,
        )  # fmt: skip

    share(work, cut(len(z), threads), threads)


def reach(known: Array, by_component: Array | None, starts: Array) -> Array:
    """Per component, what is known of it anywhere; ``by_component`` lists the rows so."""
    rows = known if by_component is None else known[by_component]
    return np.bitwise_or.reduceat(rows, starts, axis=0)


def known_cells(known: Array, n_columns: int) -> Array:
    """What is known (by row, or by component as from ``reach``) as a boolean array."""
    return np.unpackbits(known, axis=1, count=n_columns, bitorder="little").astype(bool)
