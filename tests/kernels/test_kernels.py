"""Every kernel against its NumPy formula, on every type and width, with and without weights.

Runs on whichever implementation is installed; where both are, also one against the other.
"""

from itertools import product

import numpy as np
import pytest

from graphfill import kernels
from graphfill.kernels import _scipy as scipy_kernels

DTYPES = [np.float32, np.float64]
TILES = [(dtype, width) for dtype in DTYPES for width in kernels.tile_widths(np.dtype(dtype))]
TILES = TILES if kernels.implementation == "compiled" else [(d, w) for d, w in TILES if w in (1, 7)]


def random_csr(rng, n, n_columns=None, entries=4000):
    """A CSR with empty rows, a full row and repeated use of some columns."""
    n_columns = n_columns or n
    rows = np.sort(rng.integers(0, n, entries))
    rows[rows % 5 == 0] = 1
    rows.sort()
    indptr = np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)
    return indptr, rng.integers(0, n_columns, entries).astype(np.int32), rng.random(entries) + 0.1


def dense(indptr, indices, weights, n_columns):
    A = np.zeros((len(indptr) - 1, n_columns))
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    np.add.at(A, (rows, indices), 1.0 if weights is None else weights)
    return A


class Problem:
    """One random tile with everything a pass may need."""

    def __init__(self, dtype, width, weighted, n=700, seed=0, threads=1):
        rng = np.random.default_rng(seed)
        self.n, self.width, self.dtype = n, width, np.dtype(dtype)
        indptr, indices, weights = random_csr(rng, n)
        self.weights = weights.astype(dtype) if weighted else None
        self.A = dense(indptr, indices, self.weights, n)
        self.passes = kernels.Passes(indptr, indices, self.weights, threads)
        self.factor = (rng.random(n) + 0.5).astype(dtype)
        self.factor[3] = 0.0
        X = rng.standard_normal((n, width)).astype(dtype)
        X[rng.random(X.shape) < 0.7] = np.nan
        X[11], X[12] = 1.0, np.nan  # rows known and missing whole
        ones = np.ones(n, dtype=dtype)
        self.z, self.known = kernels.pack(X, slice(0, width), None, ones, width)
        self.mask = ~np.isnan(X)
        self.z[~self.mask] = rng.standard_normal((~self.mask).sum())
        self.other = self.tile(rng.standard_normal((n, width)))
        self.x = self.tile(rng.standard_normal((n, width)))
        self.rtol = 1e-4 if dtype == np.float32 else 1e-12

    def tile(self, values):
        tile = kernels.empty_tile(self.n, self.width, self.dtype)
        tile[...] = values
        return tile

    def close(self, actual, expected):
        np.testing.assert_allclose(actual, expected, rtol=self.rtol, atol=self.rtol * 10)


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def weighted(request):
    return request.param


@pytest.mark.parametrize(("dtype", "width"), TILES)
class TestPasses:
    def test_diffuse(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        for source in (None, p.other):
            out = p.tile(7.0)
            p.passes.diffuse(p.factor, p.known, p.z, out, source)
            step = p.factor[:, None] * (p.A @ p.z + (0 if source is None else source))
            p.close(out, np.where(p.mask, 7.0, step))

    def test_diffuse_measured(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        plain, out = p.tile(p.z), p.tile(p.z)
        p.passes.diffuse(p.factor, p.known, p.z, plain)
        sums = p.passes.diffuse_measured(p.factor, p.known, p.z, out)
        np.testing.assert_array_equal(out, plain)
        change = np.where(p.mask, 0, out.astype(float) - p.z)
        inverse = np.where(p.factor > 0, 1 / np.where(p.factor > 0, p.factor, 1), 0)
        p.close(sums, (inverse[:, None] * change**2).sum(axis=0))

    def test_diffuse_cells(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        out = p.tile(7.0)
        p.passes.diffuse_cells(p.other, p.known, p.z, out)
        p.close(out, np.where(p.mask, 7.0, p.other * (p.A @ p.z)))

    def test_residual(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        out = p.tile(np.nan)
        sums = p.passes.residual(p.factor, p.known, p.z, out, p.other)
        expected = np.where(p.mask, 0, p.other + p.A @ p.z - p.factor[:, None] * p.z)
        p.close(out, expected)
        inverse = np.where(p.factor > 0, 1 / np.where(p.factor > 0, p.factor, 1), 0)
        p.close(sums, (inverse[:, None] * expected**2).sum(axis=0))

    def test_laplacian(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        out = p.tile(np.nan)
        sums = p.passes.laplacian(p.factor, p.known, p.z, out)
        expected = np.where(p.mask, 0, p.factor[:, None] * p.z - p.A @ p.z)
        p.close(out, expected)
        p.close(sums, (p.z * expected).sum(axis=0))

    def test_chebyshev(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        out, x = p.tile(np.where(p.mask, 0, p.other)), p.tile(p.x)
        p.passes.chebyshev(p.factor, p.known, p.z, out, x, 2.0, 0.25)
        expected = np.where(p.mask, 0, 2 * p.factor[:, None] * (p.A @ p.z) - p.other)
        p.close(out, expected)
        p.close(x, p.x + 0.25 * expected)

    def test_steps_of_conjugate_gradients(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        alpha, beta, gamma = np.random.default_rng(1).random((3, width))
        inverse = np.where(p.factor > 0, 1 / np.where(p.factor > 0, p.factor, 1), 0)[:, None]
        r = p.tile(p.other)
        sums = p.passes.step_residual(p.factor, p.known, p.z, r, alpha)
        p.close(r, p.other - alpha * p.z)
        p.close(sums, (inverse * r.astype(float) ** 2).sum(axis=0))
        direction, x = p.tile(p.z), p.tile(p.x)
        p.passes.step_direction(p.factor, p.known, r, direction, x, alpha, beta, gamma)
        p.close(x, p.x + alpha * p.z)
        p.close(direction, gamma * inverse * r + beta * p.z)

    def test_sums_squares_and_shift(self, dtype, width, weighted):
        p = Problem(dtype, width, weighted)
        f = p.factor[:, None]
        sums = p.passes.known_sums(p.factor, p.known, p.z, width)
        p.close(sums, np.where(p.mask, f * p.z, 0).sum(axis=0))
        sums = p.passes.known_sums(p.factor, p.known, None, width)
        p.close(sums, np.where(p.mask, f, 0).sum(axis=0))
        sums = p.passes.squares(p.factor, p.known, p.z)
        p.close(sums, (f * p.z.astype(float) ** 2).sum(axis=0))
        shifted, shift = p.tile(p.z), np.arange(width) + 0.5
        p.passes.shift_known(p.factor, p.known, shifted, shift)
        p.close(shifted, np.where(p.mask, p.z + shift, p.z))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_threads_or_width(dtype, weighted):
    """Each column alone, and all at once by three threads, give the same bits and sums."""
    wide = Problem(dtype, 32, weighted, n=5000)
    shared = Problem(dtype, 32, weighted, n=5000, threads=3)
    outs, sums = [], []
    for p in (wide, shared):
        out = p.tile(0)
        sums.append(p.passes.residual(p.factor, p.known, p.z, out))
        outs.append(out)
    np.testing.assert_array_equal(*outs)
    np.testing.assert_array_equal(*sums)
    for column in (0, 31):
        X = np.where(wide.mask, wide.z, np.nan)[:, [column]].copy()
        z, known = kernels.pack(X, slice(0, 1), None, np.ones(wide.n, dtype=dtype), 1)
        z[:] = wide.z[:, [column]]
        out = kernels.empty_tile(wide.n, 1, np.dtype(dtype))
        alone = wide.passes.residual(wide.factor, known, z, out)
        np.testing.assert_array_equal(out[:, 0], outs[0][:, column])
        np.testing.assert_array_equal(alone[0], sums[0][column])


@pytest.mark.parametrize(("dtype", "width"), TILES)
def test_pack_and_unpack_are_inverse(dtype, width):
    rng = np.random.default_rng(2)
    n, F = 90, width + 5
    X = rng.standard_normal((n, F)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = np.nan
    start = rng.standard_normal((n, F)).astype(dtype)
    order = rng.permutation(n).astype(np.int32)
    lanes = max(1, width - 1)
    columns = slice(3, 3 + lanes)
    factor = np.full(n, 2.0, dtype=dtype)
    z, known = kernels.pack(X, columns, order, factor, width, start=start, threads=2)
    expected = np.where(np.isnan(X), start, X)[order][:, columns]
    np.testing.assert_array_equal(z[:, :lanes], 2 * expected)
    np.testing.assert_array_equal(z[:, lanes:], 0)
    np.testing.assert_array_equal(
        kernels.known_cells(known, lanes), ~np.isnan(X[order][:, columns])
    )
    component = (np.arange(n) % 3).astype(np.int32)
    by_component = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[by_component], np.arange(3))
    reached = kernels.reach(known, by_component, starts)
    out = X.copy()
    half = np.full(n, 0.5, dtype=dtype)
    kernels.unpack(
        out,
        columns,
        order,
        half,
        z,
        known,
        shift=np.full(width, 4.0),
        fill=np.full(width, -9.0),
        component=component,
        reached=reached,
        threads=2,
    )
    cells = kernels.known_cells(reached, lanes)[component]
    filled = X.copy()
    block = np.where(np.isnan(X), start, X)[order][:, columns] + 2.0
    block = np.where(cells, block, -9.0)
    filled[order, columns] = np.where(np.isnan(X[order, columns]), block, X[order, columns])
    np.testing.assert_allclose(out, filled, rtol=1e-5, equal_nan=True)
    np.testing.assert_array_equal(out[~np.isnan(X)], X[~np.isnan(X)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_survey(dtype):
    X = np.array([[1, np.nan, 2], [np.nan, np.nan, 3], [4, 5, 6]], dtype=dtype)
    missing, known, infinite = kernels.survey(X, threads=2)
    assert missing.tolist() == [1, 2, 0]
    assert known.tolist() == [2, 1, 3]
    assert infinite == -1
    X[2, 1] = -np.inf
    assert kernels.survey(X, threads=2)[2] == 7


def edge_lists():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, edges = int(rng.integers(1, 40)), int(rng.integers(0, 120))
        dtype = rng.choice([np.int32, np.int64])
        ends = rng.integers(0, n, (2, edges)).astype(dtype)
        yield n, ends[0], ends[1], rng.random(edges) + 0.5


@pytest.mark.parametrize("merge", ["mean", "sum", "max", "min"])
@pytest.mark.parametrize("loops", [False, True])
def test_build_csr(merge, loops):
    for n, source, target, weights in edge_lists():
        pairs = {}
        for u, v, w in zip(source.tolist(), target.tolist(), weights.tolist(), strict=True):
            if u != v or loops:
                pairs.setdefault((min(u, v), max(u, v)), []).append(w)
        A = np.zeros((n, n))
        for (u, v), listed in pairs.items():
            A[u, v] = A[v, u] = getattr(np, merge)(listed)
        for values, built_by in product((None, weights), (kernels, scipy_kernels)):
            indptr, indices, merged = built_by.build_csr(source, target, values, n, merge, loops)
            assert indptr.dtype == np.int64
            assert indices.dtype == np.int32
            rows = np.repeat(np.arange(n), np.diff(indptr))
            key = rows * n + indices
            assert (np.diff(key) > 0).all()  # sorted, no duplicates
            built = np.zeros((n, n))
            built[rows, indices] = 1.0 if merged is None else merged
            np.testing.assert_allclose(built, A if values is not None else A > 0, rtol=1e-14)


def test_components_and_order():
    for n, source, target, _ in edge_lists():
        indptr, indices, _ = kernels.build_csr(source, target, None, n, "mean", False)
        count, label, walk = kernels.components(indptr, indices)
        expected_count, expected, _ = scipy_kernels.components(indptr, indices)
        assert count == expected_count
        np.testing.assert_array_equal(label, expected)
        assert sorted(walk.tolist()) == list(range(n))
        assert (np.diff(label[walk]) >= 0).all()
        order = kernels.cluster_order(indptr, indices, walk)
        assert sorted(order.tolist()) == list(range(n))


@pytest.mark.parametrize("most", [2, 1000])
def test_hops_of_many_sets_at_once(most):
    for number, (n, source, target, _) in enumerate(edge_lists()):
        n_sets = [1, 5, 64, 65, 300][number % 5]
        indptr, indices, _ = kernels.build_csr(source, target, None, n, "mean", bool(number % 2))
        sets = np.random.default_rng(number).random((n, n_sets)) < 0.05
        padded = np.ones((n, -(-n_sets // 64) * 64), dtype=bool)
        padded[:, :n_sets] = sets
        expected = np.where(sets, 0, 65535)
        reached, A = sets, dense(indptr, indices, None, n)
        for hop in range(1, most + 1):
            new = (A @ reached > 0) & ~reached
            if not new.any():
                break
            expected[new], reached = hop, reached | new
        for implementation in (kernels, scipy_kernels):
            hops = np.where(sets, 0, 65535).astype(np.uint16)
            words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
            largest = implementation.count_hops(indptr, indices, words, hops, most, 2)
            np.testing.assert_array_equal(hops, expected)
            assert largest == max([0, *hops[hops < 65535].tolist()])


def test_select_rows():
    rng = np.random.default_rng(3)
    indptr, indices, weights = random_csr(rng, 50, entries=400)
    A = dense(indptr, indices, weights, 50)
    order = rng.permutation(50)[:20].astype(np.int32)
    rank = rng.permutation(50).astype(np.int32)
    rank[rng.random(50) < 0.3] = -1
    kept = np.flatnonzero(rank >= 0)
    expected = np.zeros((20, 50))
    expected[:, rank[kept]] = A[order][:, kept]
    for values in (weights, None):
        chosen = kernels.select_rows(indptr, indices, values, order, rank)
        reference = dense(indptr, indices, values, 50)
        expected[:, rank[kept]] = reference[order][:, kept]
        np.testing.assert_allclose(dense(*chosen, 50), expected, rtol=1e-14)
