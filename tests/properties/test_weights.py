"""Weights and values of any size: what may not depend on their scale, and what cannot be told."""

from itertools import pairwise

import numpy as np
import pytest

import graphfill as gf

EXACT = {"normalization": "rw", "solver": "exact"}


def path(weight):
    """Nodes in a row, with these weights between them."""
    nodes = np.arange(len(weight) + 1)
    return gf.Graph.from_edges(nodes[:-1], nodes[1:], weight=weight, n_nodes=len(nodes))


def between(weight, first, last):
    """The limit on a path whose ends are known: steps in proportion to 1 / weight."""
    way = np.concatenate([[0.0], np.cumsum(1.0 / np.asarray(weight))])
    return first + (last - first) * way / way[-1]


def ends(n, first, last, dtype=np.float64):
    X = np.full(n, np.nan, dtype)
    X[0], X[-1] = first, last
    return X


class TestSmallGraphs:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("weak", [1e-3, 1e-8, 1e-14, 1e-20])
    def test_weakly_tied_middle(self, weak, dtype):
        weight = np.full(19, 0.7)
        weight[[0, -1]] = weak, 3 * weak
        result = gf.propagate(ends(20, 0, 1, dtype), path(weight), **EXACT)
        assert result.converged
        np.testing.assert_allclose(result.X, between(weight, 0, 1), atol=4 * np.finfo(dtype).eps)

    def test_one_known_value_goes_everywhere(self):
        result = gf.propagate([5.0, None, None], path([1e-20, 1.0]), **EXACT)
        np.testing.assert_array_equal(result.X, 5.0)

    def test_shrinkage_pulls_as_much_as_the_equation_says(self):
        """Between 0 and 1, weights w and 1: (w + 1 + e (w + 1)) z = 1 + e (w + 1) / 2."""
        w, e = 1e-9, 0.3
        result = gf.propagate([0.0, None, 1.0], path([w, 1.0]), shrinkage=e, **EXACT)
        expected = (1 + e * (w + 1) / 2) / ((1 + e) * (w + 1))
        assert result.X[1] == pytest.approx(expected, rel=1e-14)


class TestWeightsFarApart:
    """A strong part that hangs on the rest by weak edges alone."""

    @staticmethod
    def problem(weak, dtype):
        """Known ends and every third node up to the 99th; from the 100th on one part, tied by
        ``weak`` to the 99th node and by three times that to the last."""
        weight = np.ones(198)
        weight[99], weight[197] = weak, 3 * weak
        X = ends(199, 2.0, 4.0, dtype)
        X[3:100:3] = np.sin(np.arange(3, 100, 3))
        known = np.flatnonzero(~np.isnan(X))
        parts = [between(weight[a:b], X[a], X[b])[:-1] for a, b in pairwise(known)]
        return X, path(weight), np.append(np.concatenate(parts), X[-1])

    @pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-3), (np.float64, 1e-5)])
    @pytest.mark.parametrize("weak", [1e-3, 1e-5, 1e-8, 1e-10])
    def test_is_filled_by_its_weak_edges(self, weak, dtype, atol):
        X, graph, expected = self.problem(weak, dtype)
        result = gf.propagate(X, graph, **EXACT)
        assert result.converged
        assert result.X.dtype == dtype
        known = ~np.isnan(X)
        assert result.X[known].tobytes() == X[known].tobytes()
        np.testing.assert_allclose(result.X, expected, atol=atol)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_says_what_no_float_can_tell(self, dtype):
        X, graph, expected = self.problem(1e-16, dtype)
        with pytest.warns(gf.ConvergenceWarning, match="the weights span 16 decades, more than"):
            result = gf.propagate(X, graph, **EXACT)
        assert result.converged is False
        np.testing.assert_allclose(result.X[:100], expected[:100], atol=1e-6)
        assert np.nanmin(X) <= result.X.min()
        assert result.X.max() <= np.nanmax(X)

    def test_shrinkage_ties_every_part(self):
        X, graph, _ = self.problem(1e-16, np.float64)
        assert gf.propagate(X, graph, shrinkage=0.01, **EXACT).converged

    def test_more_than_can_be_held_is_refused(self):
        with pytest.raises(gf.InputError, match="The weights span 200 decades, more than can"):
            gf.propagate([0.0, None, 1.0], path([1e-200, 1.0]))


SIZES = [1e-310, 1e-200, 1e-50, 1e39, 1e200, 1e300]


class TestScale:
    @pytest.mark.parametrize("n", [3, 100])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("solver", ["diffusion", "chebyshev", "exact"])
    @pytest.mark.parametrize("normalization", ["rw", "sym"])
    def test_a_common_factor_of_weights_changes_nothing(self, normalization, solver, dtype, n):
        weight = 1.0 + np.arange(n - 1) % 3
        X, options = ends(n, 1, 4, dtype), {"normalization": normalization, "solver": solver}
        if solver == "exact":
            options["tol"] = 1e-5
        expected = gf.propagate(X, path(weight), **options)
        for size in SIZES:
            result = gf.propagate(X, path(weight * size), **options)
            np.testing.assert_allclose(result.X, expected.X, rtol=1e-3, atol=1e-5)
            assert result.residual == pytest.approx(expected.residual, rel=0.1, abs=1e-5)
        same = gf.propagate(X, path(weight * 2.0**-200), **options)
        np.testing.assert_array_equal(same.X, expected.X)

    @pytest.mark.parametrize("n", [3, 100])
    @pytest.mark.parametrize("solver", ["diffusion", "exact"])
    def test_nor_does_one_of_a_column(self, solver, n):
        X = np.column_stack([ends(n, 1, 4), np.zeros(n)])
        expected = gf.propagate(X, path(np.ones(n - 1)), normalization="rw", solver=solver)
        for exponent in (-1000, -560, 530, 1000):
            factor = np.array([2.0**exponent, 1.0])
            start = np.zeros(X.shape) if exponent == 530 else None
            result = gf.propagate(
                X * factor, path(np.ones(n - 1)), normalization="rw", solver=solver, start=start
            )
            np.testing.assert_allclose(result.X / factor, expected.X, rtol=1e-9, atol=1e-9)
            assert result.residual == pytest.approx(expected.residual, abs=1e-9)

    def test_small_numbers_beside_large_ones(self):
        X = np.array([[1e-30, 1e30, 1.0], [np.nan] * 3, [3e-30, 3e30, 3.0]], dtype=np.float32)
        filled = gf.propagate(X, path([1.0, 1.0]), **EXACT).X
        np.testing.assert_allclose(filled[1], [2e-30, 2e30, 2.0], rtol=1e-6)


class TestResidual:
    X, graph = ends(100, 0, 1), path(np.ones(99))

    def test_does_not_shrink_with_the_tolerance(self):
        for tol in (1e-17, 1e-100, 1e-200, 0):
            with pytest.warns(gf.ConvergenceWarning, match="float64 holds no more digits, pass a"):
                result = gf.propagate(self.X, self.graph, tol=tol, **EXACT)
            assert 1e-17 < result.residual < 1e-13
            np.testing.assert_allclose(result.X, np.linspace(0, 1, 100), atol=1e-12)

    def test_advice_fits_what_was_done(self):
        with pytest.warns(gf.ConvergenceWarning, match=r'\(n_iter\), or use solver="exact"$'):
            gf.propagate(self.X, self.graph, tol=1e-3)
        with pytest.warns(gf.ConvergenceWarning, match=r"allow more iterations \(max_iter\)$"):
            gf.propagate(self.X, self.graph, max_iter=3, **EXACT)
        with pytest.warns(
            gf.ConvergenceWarning, match="float32 holds no more digits, pass float64"
        ):
            gf.propagate(self.X.astype(np.float32), self.graph, tol=1e-12, **EXACT)

    @pytest.mark.parametrize("solver", ["diffusion", "chebyshev"])
    def test_of_no_step(self, solver):
        options = {"n_iter": 0, "tol": 1e-3, "normalization": "rw", "solver": solver}
        done = gf.propagate(np.ones(100), self.graph, **options)
        assert done.converged
        assert done.residual == 0
        limit = gf.propagate(self.X, self.graph, start=np.linspace(0, 1, 100), **options)
        assert limit.residual < 1e-12
        with pytest.warns(gf.ConvergenceWarning, match="at a relative residual of 1.0e"):
            gf.propagate(self.X, self.graph, **options)
