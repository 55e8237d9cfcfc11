"""Components whose values are of quite another size: each is filled as if it were alone."""

import numpy as np
import pytest
from reference import adjacency, closed_form

import graphfill as gf

TOLERANCE = {"float32": 1e-4, "float64": 1e-8}  # of a component's own size


def paths(ratio, dtype, n=80, columns=4, whole_rows=False):
    """Three paths: values of the size of 1, of the ratio, and of both in turn."""
    rng = np.random.default_rng(0)
    links = np.concatenate([part * n + np.arange(n - 1) for part in range(3)])
    graph = gf.Graph.from_edges(links, links + 1)
    X = 1.0 + rng.random((3 * n, columns))
    X[n : 2 * n] *= ratio
    X[2 * n :, ::2] *= ratio
    X[rng.random((3 * n, 1 if whole_rows else columns))[:, [0] * columns] < 0.7] = np.nan
    if not whole_rows:
        X[rng.random(X.shape) < 0.3] = np.nan
    return graph, X.astype(dtype)


def worst(filled, graph, X, normalization, shrinkage=0.0):
    """The largest error of any component, relative to its largest value."""
    expected = closed_form(adjacency(graph), X.astype(float), normalization, shrinkage)
    parts = zip(np.split(filled, 3), np.split(expected, 3), strict=True)
    return max((np.abs(a - b).max(axis=0) / np.abs(b).max(axis=0)).max() for a, b in parts)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("normalization", ["sym", "rw"])
@pytest.mark.parametrize("ratio", [50.0, 1e6, 1e-6, 1e12])
def test_exact_is_the_closed_form_in_every_component(dtype, normalization, ratio):
    for whole_rows in (False, True):
        graph, X = paths(ratio, dtype, whole_rows=whole_rows)
        result = gf.propagate(X, graph, normalization=normalization, solver="exact")
        assert result.converged
        assert worst(result.X, graph, X, normalization) <= TOLERANCE[dtype]
        known = ~np.isnan(X)
        assert result.X[known].tobytes() == X[known].tobytes()


def test_shrinkage_to_zero():
    graph, X = paths(1e6, "float32")
    result = gf.propagate(X, graph, solver="exact", shrinkage=0.1)
    assert worst(result.X, graph, X, "sym", 0.1) <= 1e-4


def test_elimination_of_few_nodes():
    graph, X = paths(1e6, "float32", n=20)
    result = gf.propagate(X, graph, normalization="rw", solver="exact")
    assert worst(result.X, graph, X, "rw") <= 1e-6


def test_any_start():
    graph, X = paths(1e6, "float32")
    options = {"normalization": "rw", "solver": "exact"}
    limit = gf.propagate(X, graph, **options).X
    begun = gf.propagate(X, graph, start=limit, **options)
    assert begun.n_iter <= 1
    assert worst(begun.X, graph, X, "rw") <= 1e-4


def test_equal_values_and_unknown_components():
    graph, X = paths(1.0, "float32")
    X[:80][~np.isnan(X[:80])] = 1e7
    X[80:160][~np.isnan(X[80:160])] = 3.3
    X[160:] = np.nan
    with pytest.warns(gf.UnreachedWarning):
        result = gf.propagate(X, graph, normalization="rw", solver="exact", unreached="nan")
    assert (result.X[:80] == np.float32(1e7)).all()
    assert (result.X[80:160] == np.float32(3.3)).all()
    assert np.isnan(result.X[160:]).all()


def test_same_bits_for_any_tile_and_number_of_threads():
    graph, X = paths(1e6, "float32", n=600, columns=40)
    X[:, 1::3] = np.where(np.isnan(X[:, 1::3]), np.nan, 1.5)  # nothing to tell apart here
    options = {"normalization": "rw", "solver": "exact", "reorder": False}
    whole = gf.propagate(X, graph, **options).X
    for threads in (1, 3):
        again = gf.propagate(X, graph, threads=threads, memory_limit="1MB", **options).X
        np.testing.assert_array_equal(again, whole)
    for column in range(6):
        alone = gf.propagate(X[:, [column]], graph, **options).X
        np.testing.assert_array_equal(alone, whole[:, [column]])
