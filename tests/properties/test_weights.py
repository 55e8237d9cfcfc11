"""Weights and values of any size: what may not depend on their scale, and what cannot be told."""

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
