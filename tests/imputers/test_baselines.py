"""Zero, random, column mean and neighbour mean: by hand, and against dense formulas."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats

from graphfill import Graph, MeanImputer, NeighborMeanImputer, RandomImputer, ZeroImputer
from graphfill.solve import _neighbors as neighbors

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")

NAN = float("nan")
STAR = Graph.from_edges([0, 0, 0], [1, 2, 3], n_nodes=5, weight=[1.0, 3.0, 5.0])  # 4 is isolated


def random_problem(n=40, n_columns=7, missing=0.7, seed=0, weighted=True):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < 0.1, 1) * (rng.random((n, n)) if weighted else 1.0)
    A = A + A.T
    X = rng.normal(size=(n, n_columns))
    X[rng.random(X.shape) < missing] = np.nan
    return X, A, Graph.from_scipy(scipy.sparse.csr_array(A))


# -- zero --


def test_zero():
    np.testing.assert_array_equal(
        ZeroImputer().fit_transform([[1, None], [None, 2]]), [[1, 0], [0, 2]]
    )


def test_zero_fills_what_fit_knew_nothing_of_by_policy():
    imputer = ZeroImputer(unreached="nan").fit([[None, 1.0], [None, None]])
    out = imputer.transform([[None, None], [5.0, None]])
    np.testing.assert_array_equal(out, [[NAN, 0], [5, 0]])


# -- random --


def test_random_is_standard_normal():
    X = np.full((5000, 2), NAN)
    X[0] = 7.0
    out = RandomImputer(random_state=0).fit_transform(X)
    assert (out[0] == 7).all()
    assert scipy.stats.kstest(out[1:].ravel(), "norm").pvalue > 0.01


def test_random_depends_on_the_seed_and_on_nothing_else_that_is_missing():
    X = np.full((6, 3), NAN)
    X[0] = 1.0
    first = RandomImputer(random_state=1).fit_transform(X)
    X[1, 1] = 5.0
    second = RandomImputer(random_state=1).fit_transform(X)
    assert (first != second).sum() == 1
    assert (RandomImputer(random_state=2).fit_transform(X) != second).sum() == 14


def test_random_without_a_seed_differs_by_fit_and_not_by_call():
    X = np.array([[1.0], [NAN]])
    imputer = RandomImputer().fit(X)
    np.testing.assert_array_equal(imputer.transform(X), imputer.transform(X))
    assert RandomImputer().fit_transform(X)[1] != RandomImputer().fit_transform(X)[1]


def test_random_is_the_same_for_any_block_size(monkeypatch):
    X = np.full((50, 3), NAN)
    expected = RandomImputer(random_state=0).fit_transform(X)
    monkeypatch.setattr(neighbors, "BLOCK_CELLS", 7)
    np.testing.assert_array_equal(RandomImputer(random_state=0).fit_transform(X), expected)


# -- column mean --


def test_mean_by_hand():
    X = np.array([[1.0, NAN, 2.0], [NAN, NAN, 4.0], [4.0, NAN, NAN], [7.0, NAN, NAN]])
    out = MeanImputer().fit_transform(X)
    np.testing.assert_array_equal(out, [[1, 0, 2], [4, 0, 4], [4, 0, 3], [7, 0, 3]])


def test_mean_is_that_of_fit():
    imputer = MeanImputer().fit([[1.0, None], [3.0, None]])
    np.testing.assert_array_equal(imputer.transform([[None, None]]), [[2, 0]])
    np.testing.assert_array_equal(imputer.transform([[9.0, 5.0], [None, None]]), [[9, 5], [2, 0]])


def test_mean_of_float32_is_summed_in_float64():
    X = np.full((200_000, 1), 0.1, dtype=np.float32)
    X[0] = np.nan
    assert MeanImputer().fit_transform(X)[0, 0] == np.float32(0.1)


def test_mean_is_the_same_for_any_block_size(monkeypatch):
    X, _, _ = random_problem()
    expected = MeanImputer().fit_transform(X)
    monkeypatch.setattr(neighbors, "BLOCK_CELLS", 10)
    np.testing.assert_allclose(MeanImputer().fit_transform(X), expected)
    np.testing.assert_allclose(expected, np.where(np.isnan(X), np.nanmean(X, axis=0), X))


# -- neighbour mean --


def test_neighbor_mean_by_hand():
    """The centre hears 2 with weight 1 and 6 with weight 3; the leaves hear the centre."""
    X = np.array([[NAN, 1.0], [2.0, NAN], [6.0, 5.0], [NAN, NAN], [NAN, NAN]])
    imputer = NeighborMeanImputer(STAR)
    out = imputer.fit_transform(X)
    np.testing.assert_array_equal(out, [[5, 1], [2, 1], [6, 5], [0, 1], [0, 0]])
    np.testing.assert_array_equal(
        imputer.unreached_, [[False] * 2, [False] * 2, [False] * 2, [True, False], [True] * 2]
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unreached", ["zero", "mean", "nan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbor_mean_is_the_dense_formula(weighted, unreached, dtype):
    X, A, graph = random_problem(weighted=weighted)
    X = X.astype(dtype)
    M = ~np.isnan(X)
    weight = A @ M
    policy = {"zero": 0.0, "mean": np.nanmean(X, axis=0, dtype=np.float64), "nan": NAN}[unreached]
    mean = np.divide(A @ np.where(M, X, 0.0), weight, out=np.full(X.shape, NAN), where=weight > 0)
    expected = np.where(M, X, np.where(weight > 0, mean, policy))
    assert (weight[~M] == 0).any()
    out = NeighborMeanImputer(graph, unreached=unreached).fit_transform(X)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, expected, rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_neighbor_mean_is_the_same_for_any_block_size(monkeypatch):
    X, _, graph = random_problem()
    expected = NeighborMeanImputer(graph).fit_transform(X)
    monkeypatch.setattr(neighbors, "PRODUCT_CELLS", 1)
    np.testing.assert_array_equal(NeighborMeanImputer(graph).fit_transform(X), expected)


def test_neighbor_mean_of_a_split_by_id():
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    train = pd.DataFrame({"x": [3.0, 1.0]}, index=["c", "a"])
    test = pd.DataFrame({"x": [NAN, NAN]}, index=["d", "b"])
    imputer = NeighborMeanImputer(graph).fit(train)
    assert imputer.transform(test)["x"].tolist() == [3, 2]


def test_means_of_the_largest_and_the_smallest_numbers():
    X = np.array([[1e308, 1e-320, 1.0], [1.5e308, 3e-320, 2.0], [NAN, NAN, NAN]])
    expected = [1.25e308, 2e-320, 1.5]
    np.testing.assert_allclose(MeanImputer().fit_transform(X)[2], expected, rtol=1e-3)
    star = Graph.from_edges([0, 1], [2, 2])
    np.testing.assert_allclose(NeighborMeanImputer(star).fit_transform(X)[2], expected, rtol=1e-3)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_neighbor_mean_by_weights_of_any_size(size):
    star = Graph.from_edges([0, 1], [2, 2], weight=[1.0 * size, 2.0 * size])
    for values in (1e-30, 1.0, 1e30):
        X = np.array([[1.0], [2.0], [NAN]]) * values
        filled = NeighborMeanImputer(star).fit_transform(X)
        assert filled[2, 0] == pytest.approx(5 / 3 * values)
