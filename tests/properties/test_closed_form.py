"""The exact solver against the dense closed form, on many kinds of small graphs."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import adjacency, closed_form, diffused, unreached

import graphfill as gf

EXAMPLES = 150  # of each of the four tests below


def tree(rng, n):
    return [(int(rng.integers(0, i)), i) for i in range(1, n)]


def clique(rng, n):
    n = min(n, 30)
    return [(i, j) for i in range(n) for j in range(i)]


def grid(rng, n):
    side = max(1, int(n**0.5))
    right = [(i, i + 1) for i in range(side * side) if (i + 1) % side]
    return right + [(i, i + side) for i in range(side * (side - 1))]


def cycle(rng, n):
    return [(i, (i + 1) % n) for i in range(n)]


def star(rng, n):
    return [(0, i) for i in range(1, n)]


def scattered(rng, n):
    """Sparse enough to fall apart and to leave nodes alone."""
    return rng.integers(0, n, (n // 2, 2)).tolist()


def tangled(rng, n):
    return rng.integers(0, n, (4 * n, 2)).tolist()


FAMILIES = [tree, clique, grid, cycle, star, scattered, tangled]


@st.composite
def problems(draw):
    """A graph of up to 120 nodes (some more than it links) and a matrix with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    linked = draw(st.integers(1, 110))
    family = draw(st.sampled_from(FAMILIES))
    pairs = np.array(family(rng, linked), dtype=np.int64).reshape(-1, 2)
    isolated = draw(st.integers(0, 10))
    n = max(linked, int(pairs.max(initial=-1)) + 1) + isolated
    weight = rng.uniform(0.2, 5.0, len(pairs)) if draw(st.booleans()) else None
    graph = gf.Graph.from_edges(pairs[:, 0], pairs[:, 1], n_nodes=n, weight=weight)
    X = rng.standard_normal((n, draw(st.integers(1, 9))))
    missing = draw(st.sampled_from([0.1, 0.5, 0.9, 0.98]))
    if draw(st.booleans()):
        X[rng.random(n) < missing] = np.nan
    else:
        X[rng.random(X.shape) < missing] = np.nan
    return graph, X


many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


def fill(X, graph, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.UnreachedWarning)
        return gf.propagate(X, graph, **options)


@pytest.mark.parametrize("normalization", ["sym", "rw"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 1e-4)])
@many
@given(problem=problems())
def test_exact_is_the_closed_form(normalization, dtype, tolerance, problem):
    graph, X = problem
    X = X.astype(dtype)
    expected = closed_form(adjacency(graph), X.astype(float), normalization)
    result = fill(X, graph, normalization=normalization, solver="exact")
    assert result.converged
    assert np.abs(result.X - expected).max() <= tolerance
    known = ~np.isnan(X)
    assert result.X[known].tobytes() == X[known].tobytes()
    np.testing.assert_array_equal(result.unreached, unreached(adjacency(graph), X))


@many
@given(problem=problems(), steps=st.integers(0, 60), normalization=st.sampled_from(["sym", "rw"]))
def test_diffusion_is_the_printed_algorithm(problem, steps, normalization):
    graph, X = problem
    expected = diffused(adjacency(graph), X, normalization, steps)
    result = fill(X, graph, normalization=normalization, n_iter=steps)
    np.testing.assert_allclose(result.X, expected, atol=1e-11)


@many
@given(problem=problems())
def test_random_walk_obeys_the_maximum_principle(problem):
    graph, X = problem
    result = fill(X, graph, normalization="rw", solver="exact")
    known = ~np.isnan(X)
    low = np.where(known, X, np.inf).min(axis=0) - 1e-8
    high = np.where(known, X, -np.inf).max(axis=0) + 1e-8
    inside = (low <= result.X) & (high >= result.X)
    assert (inside | result.unreached).all()
