"""What keeps solvers right where nothing is ordinary: long paths, no curvature, no tolerance."""

import warnings

import numpy as np
import pytest
from reference import adjacency, closed_form

import graphfill as gf
from graphfill.solve._solvers import Search


@pytest.mark.parametrize("n", [2, 3, 5, 6, 9, 33, 40, 64])
def test_one_known_end_reaches_the_other_end_of_a_path(n):
    path = gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    X = np.full((n, 1), np.nan)
    X[0] = 7.0
    result = gf.propagate(X, path, normalization="rw", solver="exact")
    np.testing.assert_allclose(result.X, 7.0, rtol=1e-12)
    assert result.n_unreached == 0


def test_a_column_without_curvature_goes_no_further():
    search = Search.start(np.ones(4), np.ones(4), 1e-6)
    search.set_length(np.array([2.0, 0.0, -1.0, np.nan]), 10)
    assert search.active.tolist() == [True, False, False, False]
    assert search.alpha.tolist() == [0.5, 0.0, 0.0, 0.0]
    assert search.iterations.tolist() == [1, 0, 0, 0]


def drawn(seed, dtype):
    """A graph of several parts, and columns of which little or much is known."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([70, 200]))
    ends = rng.integers(0, n, (2, int(n * rng.choice([1, 2, 4]))))
    weight = rng.random(ends.shape[1]) + 0.1 if seed % 2 else None
    X = rng.normal(size=(n, 4))
    X[:, 3] = 3.3
    X[rng.random(X.shape) < rng.choice([0.3, 0.8, 0.95])] = np.nan
    return gf.Graph.from_edges(ends, n_nodes=n, weight=weight), X.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("normalization", ["sym", "rw"])
def test_no_tolerance_is_as_near_as_numbers_are(dtype, normalization):
    for seed in range(20):
        graph, X = drawn(seed, dtype)
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("ignore", gf.GraphfillWarning)
            result = gf.propagate(X, graph, solver="exact", tol=0, normalization=normalization)
        expected = closed_form(adjacency(graph), X.astype(float), normalization)
        known = np.where(result.unreached, 0.0, expected)
        tolerance = 100 * float(np.finfo(dtype).eps) * max(1.0, np.abs(known).max())
        np.testing.assert_allclose(result.X, known, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_mean_of_neighbours_lies_between_the_known_cells(dtype):
    for seed in range(20):
        graph, X = drawn(seed, dtype)
        X[:, 2] += 1000
        options = {"solver": "exact", "normalization": "rw", "unreached": "nan"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.GraphfillWarning)
            filled = gf.propagate(X, graph, **options).X
            zero = gf.propagate(X, graph, **options | {"unreached": "zero"}).X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of columns without a known cell
            low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        inside = (low <= filled) & (filled <= high)
        assert (inside | np.isnan(filled)).all()
        assert (zero[np.isnan(filled)] == 0).all()
        assert (filled[:, 3][~np.isnan(filled[:, 3])] == X.dtype.type(3.3)).all()


@pytest.mark.parametrize("n_nodes", [20, 40, 50, 60])
def test_small_problems_are_solved_to_the_end_of_the_longest_path(n_nodes):
    path = gf.Graph.from_edges(np.arange(n_nodes - 1), np.arange(1, n_nodes))
    X = np.full((n_nodes, 1), np.nan)
    X[:2, 0] = 0.0, 1.0
    filled = gf.propagate(X, path, normalization="rw", solver="exact").X
    np.testing.assert_allclose(filled[1:], 1.0, rtol=1e-12)
