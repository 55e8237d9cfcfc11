"""The kernels on NumPy and SciPy, for machines without the compiled ones.

Same names, arguments and meanings as in ``_compiled_graphs`` and ``_compiled_tiles``, where each
is documented; same results to rounding. What is known is kept as a boolean array here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray


def tile_widths(dtype: np.dtype) -> list[int]:
    return list(range(1, 33))


def empty_tile(n_rows: int, width: int, dtype: np.dtype) -> Array:
    return np.empty((n_rows, width), dtype=dtype)


def extra_bytes(n_rows: int, n_columns: int, entries: int, width: int, itemsize: int) -> int:
    """The matrix as SciPy wants it, NumPy's temporaries of a tile, and masks of the table."""
    return entries * (16 + 2 * itemsize) + 8 * n_rows * width * 8 + 3 * n_rows * n_columns


def _csr(
    indptr: Array, indices: Array, weights: Array | None, n_columns: int, dtype: type = float
) -> csr_array:
    from scipy.sparse import csr_array

    # Of one type from the start: SciPy sorts a row's entries to convert a matrix.
    values: Array
    values = np.ones(len(indices), dtype) if weights is None else weights.astype(dtype, copy=False)
    return csr_array((values, indices, indptr), shape=(len(indptr) - 1, n_columns))


def _inverse(diagonal: Array) -> Array:
    return np.asarray(np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0))


class Passes:
    """The passes over one matrix; SciPy's products run on one thread, and all rows are a block."""

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
        self._matrix: csr_array | None = None

    def shared(self, width: int) -> bool:
        return True

    def diffuse(
        self, scale: Array, known: Array, z: Array, out: Array, source: Array | None = None
    ) -> None:
        np.copyto(out, scale[:, None] * self._product(z, source), where=~known)

    def diffuse_measured(
        self, scale: Array, known: Array, z: Array, out: Array, source: Array | None = None
    ) -> Array:
        self.diffuse(scale, known, z, out, source)
        change = np.where(known, 0.0, out.astype(np.float64) - z[: self.n_rows])
        return self._sums(_inverse(scale)[:, None] * change**2)

    def residual(
        self, diagonal: Array, known: Array, z: Array, out: Array, source: Array | None = None
    ) -> Array:
        product = self._product(z, source)
        out[...] = np.where(known, 0, product - diagonal[:, None] * z[: self.n_rows])
        return self._sums(_inverse(diagonal)[:, None] * out.astype(np.float64) ** 2)

    def laplacian(self, diagonal: Array, known: Array, p: Array, out: Array) -> Array:
        product, p = self._product(p, None), p[: self.n_rows]
        out[...] = np.where(known, 0, diagonal[:, None] * p - product)
        return self._sums(p.astype(np.float64) * out)

    def chebyshev(
        self, scale: Array, known: Array, t: Array, out: Array, x: Array, factor: float, c: float
    ) -> None:
        new = x.dtype.type(factor) * scale[:, None] * self._product(t, None) - out
        out[...] = np.where(known, 0, new)
        x += x.dtype.type(c) * out

    def step_residual(
        self, diagonal: Array, known: Array, q: Array, r: Array, alpha: Array
    ) -> Array:
        r -= alpha.astype(r.dtype) * q
        return self._sums(_inverse(diagonal)[:, None] * r.astype(np.float64) ** 2)

    def step_direction(
        self, diagonal: Array, known: Array, r: Array, p: Array, x: Array, *lanes: Array
    ) -> None:
        alpha, beta, gamma = (lane.astype(x.dtype) for lane in lanes)
        x += alpha * p
        p[...] = gamma * (_inverse(diagonal).astype(x.dtype)[:, None] * r) + beta * p

    def known_sums(self, weight: Array, known: Array, z: Array | None, width: int) -> Array:
        values = 1.0 if z is None else z.astype(np.float64)
        return self._sums(np.where(known, weight[:, None] * values, 0.0))

    def squares(self, weight: Array, known: Array, z: Array) -> Array:
        return self._sums(weight[:, None] * z.astype(np.float64) ** 2)

    def shift_known(self, weight: Array, known: Array, z: Array, shift: Array) -> None:
        np.copyto(z, z + shift.astype(z.dtype), where=known)

    def _product(self, z: Array, source: Array | None) -> Array:
        if self._matrix is None or self._matrix.dtype != z.dtype:
            self._matrix = _csr(self.indptr, self.indices, self.weights, len(z), z.dtype.type)
        product: Array = self._matrix @ z
        return product if source is None else product + source

    def _sums(self, values: Array) -> Array:
        """Sums of float64 columns in the order of the rows, whatever the width."""
        total = values.cumsum(axis=0)[-1:]
        return total if self._by_block else total[0]


def survey(X: Array, threads: int) -> tuple[Array, Array, int]:
    missing = np.isnan(X)
    infinite = np.flatnonzero(np.isinf(X))
    return (
        missing.sum(axis=1, dtype=np.int32),
        len(X) - missing.sum(axis=0, dtype=np.int64),
        int(infinite[0]) if len(infinite) else -1,
    )


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
    rows = slice(None) if order is None else order
    n_columns = columns.stop - columns.start
    known = np.ones((len(factor), width), dtype=bool)
    z = np.empty((len(factor), width), dtype=X.dtype) if out is None else out
    z[:, n_columns:] = 0
    values = X[rows, columns]
    known[:, :n_columns] = ~np.isnan(values)
    other = 0 if start is None else start[rows, columns]
    z[:, :n_columns] = factor[:, None] * np.where(known[:, :n_columns], values, other)
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
    rows = slice(None) if order is None else order
    values = factor[:, None] * (z + shift.astype(z.dtype))
    if reached is not None:
        values = np.where(reached[component], values, fill.astype(z.dtype))
    n_columns = columns.stop - columns.start
    old = X[rows, columns]
    X[rows, columns] = np.where(known[:, :n_columns], old, values[:, :n_columns])


def reach(known: Array, by_component: Array | None, starts: Array) -> Array:
    rows = known if by_component is None else known[by_component]
    return np.logical_or.reduceat(rows, starts, axis=0)


def known_cells(known: Array, n_columns: int) -> Array:
    return known[:, :n_columns]


def build_csr(
    source: Array, target: Array, weights: Array | None, n_nodes: int, merge: str, keep_loops: bool
) -> tuple[Array, Array, Array | None]:
    a = np.minimum(source, target).astype(np.int64)
    b = np.maximum(source, target).astype(np.int64)
    if not keep_loops:
        kept = a != b
        a, b = a[kept], b[kept]
        weights = None if weights is None else weights[kept]
    pairs, group, times = np.unique(a * n_nodes + b, return_inverse=True, return_counts=True)
    a, b = (pairs // n_nodes, pairs % n_nodes) if n_nodes else (pairs, pairs)
    merged = None
    if weights is not None:
        if merge in ("max", "min"):
            merged = np.full(len(pairs), -np.inf if merge == "max" else np.inf)
            (np.maximum if merge == "max" else np.minimum).at(merged, group, weights)
        else:
            merged = np.bincount(group, weights=weights, minlength=len(pairs)).astype(np.float64)
            if merge == "mean":
                merged /= times
    once = a != b
    rows, columns = np.concatenate([a, b[once]]), np.concatenate([b, a[once]])
    order = np.lexsort((columns, rows))
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n_nodes), out=indptr[1:])
    values = None if merged is None else np.concatenate([merged, merged[once]])[order]
    return indptr, columns[order].astype(np.int32), values


def components(indptr: Array, indices: Array) -> tuple[int, Array, Array]:
    from scipy.sparse import csgraph

    n = len(indptr) - 1
    count, label = csgraph.connected_components(_csr(indptr, indices, None, n), directed=False)
    _, first = np.unique(label, return_index=True)
    label = np.argsort(np.argsort(first)).astype(np.int32)[label]
    return int(count), label, np.argsort(label, kind="stable").astype(np.int32)


def cluster_order(indptr: Array, indices: Array, walk: Array, sweeps: int = 4) -> Array:
    from scipy.sparse import csgraph

    matrix = _csr(indptr, indices, None, len(indptr) - 1)
    order: Array = csgraph.reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
    return order.astype(np.int32)


def select_rows(
    indptr: Array, indices: Array, weights: Array | None, order: Array, rank: Array
) -> tuple[Array, Array, Array | None]:
    lengths = np.diff(indptr)[order]
    entry = np.repeat(indptr[:-1][order] - np.cumsum(lengths) + lengths, lengths)
    entry += np.arange(len(entry))
    renamed = rank[indices[entry]]
    kept = renamed >= 0
    row = np.repeat(np.arange(len(order)), lengths)[kept]
    new_indptr = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(order)), out=new_indptr[1:])
    new_weights = None if weights is None else weights[entry][kept]
    return new_indptr, renamed[kept].astype(np.int32), new_weights
