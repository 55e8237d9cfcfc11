"""What keeps solvers right where nothing is ordinary: long paths, no curvature, no tolerance."""

import numpy as np
import pytest

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
