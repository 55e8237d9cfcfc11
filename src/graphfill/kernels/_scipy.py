"""The kernels on NumPy and SciPy, for machines without the compiled ones.

Same names, arguments and meanings as in the extension, which ``_tiles`` calls, and as in
``_compiled_graphs``, where each is documented; same results to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = np.ndarray


OVER_EDGES = ("diffuse", "diffuse_measured", "residual", "laplacian", "chebyshev")
OVER_ROWS = ("step_residual", "step_direction", "known_sums", "squares", "shift_known")
PASSES = (*OVER_EDGES, *OVER_ROWS, "diffuse_cells")
HOP_COLUMNS = 256  # searched at once
WIDTHS = {name: list(range(1, 33)) for name in ("float32", "float64")}


def _csr(
    indptr: Array, indices: Array, weights: Array | None, n_columns: int, dtype: type = float
) -> csr_array:
    from scipy.sparse import csr_array

    # Of one type from the start: SciPy sorts a row's entries to convert a matrix.
    values: Array
    values = np.ones(len(indices), dtype) if weights is None else weights.astype(dtype, copy=False)
    return csr_array((values, indices, indptr), shape=(len(indptr) - 1, n_columns))


class Matrix:
    """A matrix as SciPy wants it, made for the first tile that it is multiplied with."""

    def __init__(self, indptr: Array, indices: Array, weights: Array | None):
        self.arrays = indptr, indices, weights
        self._csr: csr_array | None = None

    def product(self, z: Array) -> Array:
        if self._csr is None or self._csr.dtype != z.dtype:
            self._csr = _csr(*self.arrays, len(z), z.dtype.type)
        return np.asarray(self._csr @ z)


def tile_pass(which: int, matrix: Matrix, row: Array, *arguments: Any) -> None:
    """One of the passes that ``Passes`` describes, over all rows."""
    known_bits, z, out, source, x, factor, c, lanes, sums, _, width, _, n_rows = arguments
    name, row = PASSES[which], row[:, None]
    known = _cells(known_bits, width)
    inverse = np.divide(1.0, row, out=np.zeros(row.shape), where=row > 0)
    own: Any = None if z is None else z[:n_rows]  # columns may outnumber rows
    summed: Array | float = 0.0
    if name in (*OVER_EDGES, "diffuse_cells"):
        product = matrix.product(z)
        product = product if source is None else product + source
    if name in ("diffuse", "diffuse_measured"):
        np.copyto(out, row * product, where=~known)
        summed = inverse * np.where(known, 0.0, out.astype(np.float64) - own) ** 2
    elif name == "diffuse_cells":
        np.copyto(out, x * product, where=~known)
    elif name == "residual":
        out[...] = np.where(known, 0, product - row * own)
        summed = inverse * out.astype(np.float64) ** 2
    elif name == "laplacian":
        out[...] = np.where(known, 0, row * own - product)
        summed = own.astype(np.float64) * out
    elif name == "chebyshev":
        out[...] = np.where(known, 0, x.dtype.type(factor) * row * product - out)
        x += x.dtype.type(c) * out
    elif name == "step_residual":
        out -= lanes.astype(out.dtype) * own
        summed = inverse * out.astype(np.float64) ** 2
    elif name == "step_direction":
        alpha, beta, gamma = np.split(lanes.astype(x.dtype), 3)
        x += alpha * out
        out[...] = gamma * (inverse.astype(x.dtype) * own) + beta * out
    elif name == "known_sums":
        summed = np.where(known, row * (1.0 if own is None else own.astype(np.float64)), 0.0)
    elif name == "squares":
        summed = row * own.astype(np.float64) ** 2
    else:
        np.copyto(out, out + lanes.astype(out.dtype), where=known)
    if sums is not None:  # in the order of the rows, whatever the width
        sums[:] = np.cumsum(summed, axis=0)[-1:]


def _cells(known: Array, width: int) -> Array:
    return np.unpackbits(known, axis=1, count=width, bitorder="little").astype(bool)


def survey(X: Array, F: int, missing_in_row: Array, known: Array, *place: Any) -> None:
    infinite, lo, hi = place
    missing = np.isnan(X[lo:hi])
    missing_in_row[lo:hi] = missing.sum(axis=1)
    known += hi - lo - missing.sum(axis=0)
    cells = np.flatnonzero(np.isinf(X[lo:hi]))
    infinite[:] = lo * F + cells[0] if len(cells) else -1


def pack(X: Array, start: Array | None, F: int, first: int, count: int, *rest: Any) -> None:
    order, factor, z, known, width, lo, hi = rest
    cells = slice(lo, hi) if order is None else order[lo:hi], slice(first, first + count)
    is_known = np.ones((hi - lo, width), dtype=bool)
    is_known[:, :count] = ~np.isnan(X[cells])
    known[lo:hi] = np.packbits(is_known, axis=1, bitorder="little")
    values = np.where(is_known[:, :count], X[cells], 0 if start is None else start[cells])
    z[lo:hi, :count] = factor[lo:hi, None] * values
    z[lo:hi, count:] = 0


def unpack(X: Array, F: int, first: int, count: int, order: Array | None, *rest: Any) -> None:
    factor, z, known, shift, fill, component, reached, width, lo, hi = rest
    cells = slice(lo, hi) if order is None else order[lo:hi], slice(first, first + count)
    values = factor[lo:hi, None] * (z[lo:hi] + shift.astype(z.dtype))
    if reached is not None:
        is_reached = _cells(reached, width)[component[lo:hi]]
        values = np.where(is_reached, values, fill.astype(z.dtype))
    X[cells] = np.where(_cells(known[lo:hi], count), X[cells], values[:, :count])


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
    narrow = indptr.astype(np.int32) if len(indices) < 2**31 else indptr  # SciPy 1.11 wants both so
    count, label = csgraph.connected_components(_csr(narrow, indices, None, n), directed=False)
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


def count_hops(
    indptr: Array, indices: Array, reached: Array, hops: Array, most: int, threads: int
) -> int:
    largest = 0
    A = _csr(indptr, indices, None, len(hops), np.float32)
    bits = reached.view(np.uint8)
    for first in range(0, hops.shape[1], HOP_COLUMNS):
        columns = slice(first, first + HOP_COLUMNS)
        part = hops[:, columns]
        seen = _cells(bits[:, first // 8 :], part.shape[1])
        new = seen
        for number in range(1, most + 1):
            new = (A @ new.astype(np.float32) > 0) & ~seen
            if not new.any():
                break
            part[new] = number
            seen |= new
            largest = max(largest, number)
    return largest


# -- trees --

LANES, FEW = 8, 24  # sums side by side, from so many rows on: as in csrc/forest.h


def grow_forest(x: Array, y: Array, x_asked: Array, out: Array, states: Array, *sizes: int) -> None:
    """Add the answers of one tree per state; csrc/forest.h says how they grow."""
    n, n_asked, _, n_classes, tried, least = sizes
    for state in states.tolist():
        waiting = [(np.arange(n), np.arange(n_asked), state)]
        while waiting:
            rows, asked, random = waiting.pop()
            if not len(asked):
                continue
            answers, best = y[rows], None
            random = _Random(random)
            if len(rows) >= 2 * least and (answers != answers[0]).any():
                best = _best_feature(x[:, rows], answers, n_classes, tried, least, random)
            if best is None:
                if n_classes:
                    share = np.bincount(answers.astype(np.intp), minlength=n_classes) / len(rows)
                else:
                    share = np.cumsum(answers)[-1:] / len(rows)
                out[asked] += share
                continue
            feature, threshold = best
            low, low_asked = x[feature, rows] <= threshold, x_asked[feature, asked] <= threshold
            first, second = random.next(), random.next()
            waiting.append((rows[low], asked[low_asked], first))
            waiting.append((rows[~low], asked[~low_asked], second))


class _Random:
    """SplitMix64."""

    def __init__(self, state: int) -> None:
        self._state = state

    def next(self) -> int:
        bits = (1 << 64) - 1
        z = self._state = (self._state + 0x9E3779B97F4A7C15) & bits
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & bits
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & bits
        return z ^ (z >> 31)


def _best_feature(
    x: Array, y: Array, n_classes: int, tried: int, least: int, random: _Random
) -> tuple[int, Any] | None:
    best, highest = None, -1.0
    left = list(range(len(x)))
    for k in range(len(x)):
        drawn = k + random.next() % (len(x) - k)
        feature, left[drawn] = left[drawn], left[k]
        low, high = float(x[feature].min()), float(x[feature].max())
        if not low < high:
            continue
        threshold = np.float32(low + (random.next() >> 11) * 2.0**-53 * (high - low))
        threshold = threshold if threshold < high else np.float32(low)
        side = x[feature] <= threshold
        count = int(side.sum())
        if min(count, len(y) - count) >= least:
            value = _separation(side, count, y, n_classes)
            if value > highest:
                best, highest = (feature, threshold), value
        tried -= 1
        if not tried:
            break
    return best


def _separation(below: Array, count: int, y: Array, n_classes: int) -> float:
    """The sum over the two sides of |sum of answers|^2 / n, numbers added up lane by lane."""
    if n_classes:
        sides = [np.bincount(y[part].astype(np.intp)).astype(float) for part in (below, ~below)]
        squares = [float((counts**2).sum()) for counts in sides]
        return squares[0] / count + squares[1] / (len(y) - count)
    total = np.cumsum(y)[-1]
    y, even = np.where(below, y, 0.0), len(y) - len(y) % LANES if len(y) >= FEW else 0
    lanes = np.cumsum(y[:even].reshape(-1, LANES), axis=0)[-1:].sum(axis=0)
    rest = np.cumsum(np.concatenate([lanes[:1], y[even:]]))[-1]
    low = np.cumsum(np.concatenate([[rest], lanes[1:]]))[-1]
    high = total - low
    return float(low * low / count + high * high / (len(y) - count))


# -- small matrices --

BLOCK_NUMBERS = 1 << 21  # inverted at once


def invert_blocks(
    cells: Array, degree: Array, omega: Array, theta: Array, out: Array, *sizes: int
) -> None:
    m, p, low, high = sizes
    whole, links = np.eye(p + 1), np.zeros((p + 1, p + 1))
    whole[:p, :p], links[:p, :p] = omega, theta
    for start in range(low, high, step := max(1, BLOCK_NUMBERS // m**2)):
        rows = slice(start, min(start + step, high))
        one, other = cells[rows, :, None], cells[rows, None, :]
        block = whole[one, other] + degree[rows, None, None] * links[one, other]
        beyond = (one == p) & (other == p) & ~np.eye(m, dtype=bool)
        out[rows] = np.linalg.inv(np.where(beyond, 0.0, block))
