"""The plain function: formulas, options, promises and refusals."""

import tracemalloc
import warnings

import numpy as np
import pytest
from reference import adjacency, closed_form, diffused, unreached
from scipy.spatial import cKDTree

import graphfill as gf
from graphfill.errors import InputError
from graphfill.graph import _components as ordering
from graphfill.solve import _operator as layout
from graphfill.solve import _propagate as solve
from graphfill.solve._steps import series


def random_problem(seed=0, n=300, columns=20, edges=900, missing=0.8, weighted=False):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, edges))
    ends = np.concatenate([ends, [np.arange(n - 1), np.arange(1, n)]], axis=1)  # connected
    weight = rng.random(ends.shape[1]) + 0.1 if weighted else None
    graph = gf.Graph.from_edges(ends, n_nodes=n, weight=weight)
    X = rng.standard_normal((n, columns))
    X[rng.random(X.shape) < missing] = np.nan
    X[rng.integers(0, n, columns), np.arange(columns)] = 1.0
    return graph, X


def spy_on_layouts(monkeypatch):
    """The layouts that are decided on from here on."""
    seen, lay_out = [], solve.lay_out

    def spied(*args, **options):
        seen.append(lay_out(*args, **options))
        return seen[-1]

    monkeypatch.setattr(solve, "lay_out", spied)
    return seen


SOLVERS = ["diffusion", "chebyshev", "exact"]


class TestAgainstFormulas:
    @pytest.mark.parametrize("normalization", ["sym", "rw"])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("steps", [0, 1, 2, 40])
    def test_diffusion(self, normalization, weighted, steps):
        graph, X = random_problem(weighted=weighted)
        expected = diffused(adjacency(graph), X, normalization, steps)
        result = gf.propagate(X, graph, normalization=normalization, n_iter=steps)
        np.testing.assert_allclose(result.X, expected, atol=1e-12)
        assert result.n_iter == steps

    def test_any_start(self):
        graph, X = random_problem()
        start = np.random.default_rng(1).standard_normal(X.shape)
        expected = diffused(adjacency(graph), X, "sym", 3, start)
        for solver in ("diffusion", "chebyshev"):
            result = gf.propagate(X, graph, n_iter=3, start=start, solver=solver)
            np.testing.assert_allclose(result.X, expected, atol=1e-12)
        limit = gf.propagate(X, graph, solver="exact").X
        begun = gf.propagate(X, graph, solver="exact", start=limit)
        np.testing.assert_allclose(begun.X, limit, atol=1e-9)
        assert begun.n_iter == 0

    @pytest.mark.parametrize("normalization", ["sym", "rw"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_exact(self, normalization, weighted):
        graph, X = random_problem(weighted=weighted)
        expected = closed_form(adjacency(graph), X, normalization)
        result = gf.propagate(X, graph, normalization=normalization, solver="exact")
        np.testing.assert_allclose(result.X, expected, atol=1e-8)
        assert result.converged
        assert result.residual <= 1e-10

    @pytest.mark.parametrize("normalization", ["sym", "rw"])
    @pytest.mark.parametrize("n", [40, 300])
    def test_shrinkage(self, normalization, n):
        graph, X = random_problem(n=n, edges=3 * n)
        mean = np.nanmean(X, axis=0) if normalization == "rw" else 0.0
        expected = closed_form(adjacency(graph), X, normalization, 0.3, mean)
        options = {"normalization": normalization, "shrinkage": 0.3}
        exact = gf.propagate(X, graph, solver="exact", **options)
        np.testing.assert_allclose(exact.X, expected, atol=1e-8)
        for solver in ("diffusion", "chebyshev"):
            steps = gf.propagate(X, graph, solver=solver, n_iter=400, **options)
            np.testing.assert_allclose(steps.X, expected, atol=1e-6)

    def test_chebyshev_gives_the_answer_of_forty_steps(self):
        graph, X = random_problem()
        forty = gf.propagate(X, graph).X
        fast = gf.propagate(X, graph, solver="chebyshev").X
        assert np.linalg.norm(fast - forty) < 1e-6 * np.linalg.norm(forty)

    def test_series_of_many_steps_is_their_sum(self):
        """At t = cos a, sum_k c_k cos(k a) is 1 + t + ... + t^(n-1); in memory of order n."""
        n, angle = 3000, np.linspace(0.0, np.pi, 50)
        series(3, 0.0)  # what it imports is not its memory
        tracemalloc.start()
        c = series(n, 1e-9)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 3e6
        expected = np.polynomial.polynomial.polyval(np.cos(angle), np.ones(n))
        np.testing.assert_allclose(
            np.cos(np.outer(angle, np.arange(len(c)))) @ c, expected, 1e-8, 2e-9
        )

    def test_self_loops(self):
        graph, X = random_problem()
        A = adjacency(graph) + np.eye(graph.n_nodes)
        result = gf.propagate(X, graph, self_loops=True)
        np.testing.assert_allclose(result.X, diffused(A, X, "sym", 40), atol=1e-12)

    @pytest.mark.parametrize("missing", [0.3, 0.95])
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_whole_rows_missing(self, missing, solver, weighted):
        """At 30 % the solve runs on the sub-matrix of missing rows, at 95 % on the whole."""
        graph, X = random_problem(missing=0.0, weighted=weighted)
        X[np.random.default_rng(0).random(len(X)) < missing] = np.nan
        A = adjacency(graph)
        expected = closed_form(A, X, "sym") if solver == "exact" else diffused(A, X, "sym", 40)
        result = gf.propagate(X, graph, solver=solver)
        np.testing.assert_allclose(result.X, expected, atol=1e-5 if solver == "chebyshev" else 1e-8)
        start = np.random.default_rng(1).standard_normal(X.shape)
        if solver != "exact":
            expected = diffused(A, X, "sym", 40, start)
        result = gf.propagate(X, graph, solver=solver, start=start)
        np.testing.assert_allclose(result.X, expected, atol=1e-5 if solver == "chebyshev" else 1e-8)


class TestPromises:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_known_cells_keep_their_bits_and_the_input_its_own(self, solver, dtype):
        graph, X = random_problem()
        X = (X * 1e3).astype(dtype)
        X[0, 0], X[1, 0] = -0.0, np.finfo(dtype).tiny
        before = X.copy()
        filled = gf.propagate(X, graph, solver=solver).X
        assert X.tobytes() == before.tobytes()
        known = ~np.isnan(X)
        assert filled.dtype == dtype
        assert filled[known].tobytes() == X[known].tobytes()
        assert not np.isnan(filled).any()

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_same_bits_for_any_threads_and_tiles(self, solver, weighted, monkeypatch):
        graph, X = random_problem(n=3000, edges=9000, columns=70, missing=0.95, weighted=weighted)
        X = X.astype(np.float32)
        expected = gf.propagate(X, graph, solver=solver, threads=1).X
        for threads in (2, 5):
            result = gf.propagate(X, graph, solver=solver, threads=threads)
            np.testing.assert_array_equal(result.X, expected)
        for width in (1, 4, 8, 16):
            monkeypatch.setattr(layout, "widest_tile", lambda *_, width=width: width)
            result = gf.propagate(X, graph, solver=solver)
            np.testing.assert_array_equal(result.X, expected)

    def test_memory_limit_narrows_the_tiles(self, monkeypatch):
        graph, X = random_problem(n=3000, edges=9000, columns=70)
        seen = spy_on_layouts(monkeypatch)
        free = gf.propagate(X, graph).X
        for limit in 30e6 * 0.9 ** np.arange(60):
            try:
                filled = gf.propagate(X, graph, memory_limit=limit).X
            except InputError:
                break
            np.testing.assert_array_equal(filled, free)
        else:
            pytest.fail("a limit far below the size of the result was accepted")
        widest = [max(width for _, width in laid_out.tiles) for laid_out in seen]
        assert widest == sorted(widest, reverse=True)
        assert widest[0] == widest[1] > widest[-1]

    def test_memory_limit_keeps_the_bits_of_exact(self, monkeypatch):
        """A shuffled grid is solved in another order, with or without a limit."""
        monkeypatch.setattr(ordering, "CACHE_BYTES", 100_000)
        side = 50
        nodes = np.random.default_rng(0).permutation(side**2).reshape(side, side)
        right, down = (nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])
        ends = [np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(right, down, strict=True)]
        graph = gf.Graph.from_edges(*ends, n_nodes=side**2)
        X = np.random.default_rng(1).standard_normal((side**2, 18))
        X[np.random.default_rng(2).random(X.shape) < 0.5] = np.nan
        seen = spy_on_layouts(monkeypatch)
        options = {"solver": "exact", "normalization": "rw", "threads": 1}
        free = gf.propagate(X, graph, **options).X
        limited = gf.propagate(X, graph, memory_limit=1.5e6, **options).X
        assert seen[0].operator.order is not None
        assert len(seen[0].tiles) < len(seen[1].tiles)
        np.testing.assert_array_equal(limited, free)

    def test_reordering_keeps_the_bits_of_diffusion(self):
        graph, X = random_problem(n=3000, edges=9000)
        plain = gf.propagate(X, graph, reorder=False).X
        np.testing.assert_array_equal(gf.propagate(X, graph, reorder=True).X, plain)
        exact = gf.propagate(X, graph, solver="exact", reorder=False).X
        reordered = gf.propagate(X, graph, solver="exact", reorder=True).X
        np.testing.assert_allclose(reordered, exact, atol=1e-9)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_permuting_nodes_permutes_the_answer(self, solver):
        graph, X = random_problem()
        order = np.random.default_rng(0).permutation(len(X))
        rank = np.argsort(order)
        rows = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
        permuted = gf.Graph.from_edges(rank[rows], rank[graph.indices], n_nodes=len(X))
        expected = gf.propagate(X, graph, solver=solver).X[order]
        actual = gf.propagate(X[order], permuted, solver=solver).X
        np.testing.assert_allclose(actual, expected, atol=1e-9)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_one_column_at_a_time_gives_the_same(self, solver):
        graph, X = random_problem(columns=5)
        together = gf.propagate(X, graph, solver=solver).X
        for c in range(5):
            alone = gf.propagate(X[:, c], graph, solver=solver).X
            assert alone.shape == (len(X),)
            np.testing.assert_allclose(alone, together[:, c], atol=1e-9)

    def test_random_walk_fills_stay_within_the_known_range(self):
        graph, X = random_problem(missing=0.9)
        for solver in ("diffusion", "exact"):
            start = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
            filled = gf.propagate(X, graph, normalization="rw", solver=solver, start=start).X
            assert (filled <= np.nanmax(X, axis=0) + 1e-9).all()
            assert (filled >= np.nanmin(X, axis=0) - 1e-9).all()

    def test_from_zero_the_limit_alone_stays_within_the_known_range(self):
        path = gf.Graph.from_edges(range(9), range(1, 10))
        x = np.array([30.0, 40.0] + [np.nan] * 8)
        steps = gf.propagate(x, path, normalization="rw").X
        assert 16.8 < steps.min() < 17.0
        assert steps.max() == 40.0
        limit = gf.propagate(x, path, normalization="rw", solver="exact").X
        np.testing.assert_allclose(limit[1:], 40.0)

    def test_residual_is_the_one_it_claims(self):
        graph, X = random_problem()
        A = adjacency(graph)
        d = A.sum(axis=1)
        result = gf.propagate(X, graph, normalization="rw", solver="exact", tol=1e-3)
        known = ~np.isnan(X)
        centre = (d @ np.where(known, X, 0)) / (d @ known)

        def norm(z):
            r = np.where(known, 0, A @ z - d[:, None] * z)
            return np.sqrt((r**2 / d[:, None]).sum(axis=0))

        expected = norm(result.X) / norm(np.where(known, X, centre))
        np.testing.assert_allclose(result.residuals, expected, rtol=1e-6)
        assert result.residual == result.residuals.max() <= 1e-3
        last = gf.propagate(X, graph, normalization="rw", n_iter=10)
        before = diffused(A, X, "rw", 9)
        expected = norm(before) / norm(np.where(known, X, 0))
        np.testing.assert_allclose(last.residuals, expected, rtol=1e-6)

    def test_says_when_it_did_not_converge(self):
        graph, X = random_problem()
        with pytest.warns(gf.ConvergenceWarning, match="after 40 iterations .* above tol=1.0e-06"):
            assert gf.propagate(X, graph, tol=1e-6).converged is False
        with pytest.warns(gf.ConvergenceWarning, match="after 2 iterations"):
            gf.propagate(X, graph, solver="exact", max_iter=2)
        assert gf.propagate(X, graph).converged is None

    @pytest.mark.parametrize("normalization", ["sym", "rw"])
    @pytest.mark.parametrize("form", ["points", "grid", "path", "tree"])
    def test_float32_holds_its_default_tolerance(self, form, normalization):
        """Smooth columns of which 1 in 300 cells is known: rounding is felt most there."""
        rng = np.random.default_rng(3)
        n = 2500
        t, points = np.arange(n), rng.random((n, 2))
        column = t % 50
        edges = {
            "points": cKDTree(points).query_pairs(0.04, output_type="ndarray").T,
            "grid": np.hstack([[t[column < 49], t[column < 49] + 1], [t[:-50], t[50:]]]),
            "path": [t[:-1], t[1:]],
            "tree": [t[1:] // 3, t[1:]],
        }[form]
        across = points[:, 0] if form == "points" else t / n
        X = np.stack([across, 1000 + across, np.sin(9 * across), 1e4 * across], axis=1)
        X[rng.random(X.shape) < 0.997] = np.nan
        graph = gf.Graph.from_edges(*edges, n_nodes=n)
        options = {"normalization": normalization, "solver": "exact", "unreached": "nan"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.UnreachedWarning)
            result = gf.propagate(X.astype(np.float32), graph, **options)
            limit = gf.propagate(X, graph, **options).X
        assert result.converged
        assert result.residual <= 1e-4
        apart = np.nanmax(np.abs(result.X - limit), axis=0) / np.nanmax(np.abs(limit), axis=0)
        assert apart.max() < 1e-3

    def test_float32_is_held_to_a_tolerance_that_is_passed_and_to_the_most_iterations(self):
        n = 2500
        graph = gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
        X = np.full((n, 1), np.nan, dtype=np.float32)
        X[::300, 0] = np.sin(np.arange(0, n, 300))
        options = {"normalization": "rw", "solver": "exact"}
        whole = gf.propagate(X, graph, **options)
        with pytest.warns(gf.ConvergenceWarning, match="float32 holds no more digits"):
            assert gf.propagate(X, graph, tol=1e-9, **options).converged is False
        with pytest.warns(gf.ConvergenceWarning, match=r"allow more iterations \(max_iter"):
            stopped = gf.propagate(X, graph, max_iter=whole.n_iter - 1, **options)
        assert stopped.converged is False
        assert 1e-6 < stopped.residual < 1e-4


class TestUnreached:
    graph = gf.Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)  # 0-1-2, 3-4, 5
    X = np.array([[1.0, 1], [np.nan, 5], [3, 3], [np.nan, 7], [np.nan, np.nan], [np.nan, np.nan]])

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize(("policy", "first", "last"), [("zero", 0, 0), ("mean", 2, 4)])
    def test_policy(self, solver, policy, first, last):
        with pytest.warns(gf.UnreachedWarning, match="^4 of 6 missing cells cannot"):
            r = gf.propagate(
                self.X, self.graph, normalization="rw", solver=solver, unreached=policy
            )
        np.testing.assert_allclose(r.X[:, 0], [1, 2, 3, first, first, first], rtol=1e-6)
        np.testing.assert_allclose(r.X[:, 1], [1, 5, 3, 7, 7, last], rtol=1e-6)
        assert r.n_unreached == 4
        np.testing.assert_array_equal(r.unreached, unreached(adjacency(self.graph), self.X))

    def test_nan_only_where_asked(self):
        with pytest.warns(gf.UnreachedWarning, match="were left NaN"):
            r = gf.propagate(self.X, self.graph, unreached="nan")
        np.testing.assert_array_equal(np.isnan(r.X), r.unreached)

    def test_empty_column_is_kept_and_named(self):
        X = np.column_stack([self.X[:, 1], np.full(6, np.nan)])
        with pytest.warns(gf.UnreachedWarning, match="columns without any known cell: 1$"):
            r = gf.propagate(X, self.graph)
        np.testing.assert_array_equal(r.X[:, 1], 0)


class TestRefusals:
    graph = gf.Graph.from_edges([0, 1], [1, 2])

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"normalization": "row"}, "normalization is 'row' but must be one of 'sym', 'rw'"),
            ({"solver": "cg"}, "solver is 'cg' but must be one of"),
            ({"unreached": "drop"}, "unreached is 'drop' but must be one of"),
            ({"n_iter": -1}, "n_iter is -1 but must be a whole number of at least 0"),
            ({"n_iter": 2.5}, "n_iter is 2.5 but must be a whole number"),
            ({"tol": -1e-3}, "tol is -0.001 but must be a number of at least 0"),
            ({"shrinkage": np.nan}, "shrinkage is nan but must be a number of at least 0"),
            ({"threads": 0}, "threads is 0 but must be a whole number of at least 1"),
            ({"reorder": "yes"}, "reorder is 'yes' but must be True or False"),
            ({"self_loops": "no"}, "self_loops is 'no' but must be True or False"),
            ({"memory_limit": "4 apples"}, 'is not a size; write for example "4GB"'),
            ({"memory_limit": [1]}, r"memory_limit=\[1\] must be a positive number of bytes"),
            ({"memory_limit": 10}, "memory_limit is 10 bytes but filling 3 x 1 cells takes at"),
            ({"start": [1.0, 2.0]}, r"start has shape \(2, 1\) but X has shape \(3, 1\)"),
            ({"start": [1.0, np.nan, 2.0]}, "start is NaN at row 1, column 0, where X is missing"),
        ],
    )
    def test_options(self, options, sentence):
        with pytest.raises(InputError, match=sentence):
            gf.propagate([1.0, np.nan, 3.0], self.graph, **options)

    def test_rows_must_match_the_nodes(self):
        with pytest.raises(InputError, match=r"X has 4 row\(s\) but the graph has 3 node\(s\)"):
            gf.propagate(np.ones(4), self.graph)
