"""The weights of known cells in a filled one, against dense formulas and against the fill."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import adjacency, normalized, unreached

import graphfill as gf
from graphfill.solve import PropagationOptions, _field_weights
from graphfill.solve._copies import near_copies
from graphfill.solve._coupling import Coupling
from graphfill.solve._field import FieldSystem
from graphfill.solve._field_graph import FieldGraph
from graphfill.solve._field_weights import field_weights, surroundings
from graphfill.solve._weights import cell_weights, neighbor_weights


@st.composite
def problems(draw):
    """A graph with parts, loops, weights and lonely nodes, what is known, and how it is filled."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 60))
    ends = rng.integers(0, n, (draw(st.integers(0, 3 * n)), 2))
    weight = 10.0 ** rng.uniform(-2, 2, len(ends)) if draw(st.booleans()) else None
    graph = gf.Graph.from_edges(
        ends[:, 0], ends[:, 1], n_nodes=n, weight=weight, self_loops=draw(st.booleans())
    )
    known = rng.random(n) < draw(st.sampled_from([0.05, 0.3, 0.8]))
    options = PropagationOptions(
        normalization=draw(st.sampled_from(["rw", "sym"])),
        solver=draw(st.sampled_from(["exact", "exact", "diffusion", "chebyshev"])),
        n_iter=draw(st.integers(0, 60)),
        self_loops=draw(st.booleans()),
        shrinkage=draw(st.sampled_from([0.0, 0.0, 0.1])),
    )
    return graph, known, options


def dense_weights(graph, known, options):
    """[unknown, known]: of (1 + e) x_u = S_uu x_u + S_uk x_k, or of so many steps towards it."""
    A = adjacency(graph)
    if options.self_loops:
        A[np.arange(len(A)), np.arange(len(A))] = np.where(A.diagonal() > 0, A.diagonal(), 1.0)
    S, u = normalized(A, options.normalization), ~known
    inner, outer = S[np.ix_(u, u)], S[np.ix_(u, known)]
    grown = 1.0 + options.shrinkage
    W = np.zeros(outer.shape)
    if options.exact:
        some = ~unreached(A, np.where(known, 1.0, np.nan)[:, None])[u, 0]
        within = np.ix_(some, some)
        W[some] = np.linalg.solve(grown * np.eye(some.sum()) - inner[within], outer[some])
    else:
        for _ in range(options.n_iter):
            W = (inner @ W + outer) / grown
    return W


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(problem=problems())
def test_weights_are_the_dense_ones(problem):
    graph, known, options = problem
    expected = dense_weights(graph, known, options)
    tolerance = 1e-8 if options.solver != "chebyshev" else 1e-5
    for place, node in list(enumerate(np.flatnonzero(~known)))[:8]:
        nodes, weights = cell_weights(graph, known, int(node), options)
        assert known[nodes].all()
        row = np.zeros(graph.n_nodes)
        row[nodes] = weights
        np.testing.assert_allclose(row[known], expected[place], atol=tolerance)
        if options.normalization == "rw" and options.solver != "chebyshev":
            assert (weights >= -1e-12).all()
            assert weights.sum() <= 1 + 1e-8
            if options.exact and not options.shrinkage and len(nodes):
                assert weights.sum() == pytest.approx(1, abs=1e-8)


def test_weights_make_the_filled_value():
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 2000, (2, 5000))
    graph = gf.Graph.from_edges(*ends, n_nodes=2000, weight=rng.uniform(0.1, 3, 5000))
    x = rng.normal(size=2000)
    known = rng.random(2000) < 0.1
    for how in ({"solver": "exact"}, {"solver": "diffusion", "n_iter": 7}):
        for normalization in ("rw", "sym"):
            options = PropagationOptions(normalization=normalization, **how)
            X = np.where(known, x, np.nan)
            with pytest.warns(gf.UnreachedWarning):
                filled = gf.propagate(X, graph, normalization=normalization, **how).X
            for node in np.flatnonzero(~known)[::180]:
                nodes, weights = cell_weights(graph, known, int(node), options)
                assert weights @ x[nodes] == pytest.approx(filled[node], abs=1e-8)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(problem=problems(), reliance=st.sampled_from([1.0, 0.95]))
def test_near_copies_are_the_cells_with_one_large_weight(problem, reliance):
    graph, known, options = problem
    if options.solver == "chebyshev":
        return
    W = reliance * dense_weights(graph, known, options)
    W /= np.maximum(1, W.sum(axis=1, keepdims=True))
    unknown, k = np.flatnonzero(~known), np.flatnonzero(known)
    for threshold in (0.9, 0.5001):
        copies = near_copies(graph, known, options, threshold, reliance)
        # What rounding may decide either way is left out.
        surely = threshold + 1e-5 <= W
        perhaps = threshold - 1e-5 <= W
        pairs = set(zip(copies[0].tolist(), copies[1].tolist(), strict=True))
        assert {(unknown[i], k[j]) for i, j in np.argwhere(surely)} <= pairs
        assert pairs <= {(unknown[i], k[j]) for i, j in np.argwhere(perhaps)}


def test_neighbours_weigh_as_much_as_their_edges():
    graph = gf.Graph.from_edges([0, 0, 0], [1, 2, 3], weight=[1.0, 3.0, 5.0])
    nodes, weights = neighbor_weights(graph, np.array([False, True, True, False]), 0)
    assert nodes.tolist() == [1, 2]
    assert weights.tolist() == [0.25, 0.75]
    nodes, weights = neighbor_weights(graph, np.zeros(4, bool), 0)
    assert nodes.size == weights.size == 0


@st.composite
def fields(draw):
    """A graph, the missing cells of some channels, and a coupling of any strength."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(2, 40)), draw(st.integers(1, 5))
    ends = rng.integers(0, n, (draw(st.integers(0, 3 * n)), 2))
    weight = 10.0 ** rng.uniform(-1, 1, len(ends)) if draw(st.booleans()) else None
    graph = FieldGraph(gf.Graph.from_edges(*ends.T, n_nodes=n, weight=weight))
    missing = rng.random((n, p)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    modes = rng.normal(size=(p, p)) + 2 * np.eye(p)
    rows, links = rng.uniform(0.05, 2, p), rng.uniform(0, 3, p)
    system = FieldSystem(graph, missing)
    system.use(Coupling(modes, rows, links))
    return system, rng.normal(size=p), draw(st.sampled_from([1, 5, 300]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(problem=fields())
def test_weights_of_a_field_are_the_dense_ones(problem):
    system, factors, few = problem
    graph, missing = system.graph, system.missing
    n, p = missing.shape
    A = adjacency(graph.graph) / graph.mean_degree
    L = np.diag(A.sum(axis=1)) - A
    Q = np.kron(np.eye(n), system.coupling.omega) + np.kron(L, system.coupling.theta)
    u = missing.ravel()
    for row in range(0, n, 5):
        r = np.zeros((n, p))
        r[row] = factors
        expected = np.where(u, 0.0, r.ravel())
        expected[~u] -= Q[np.ix_(~u, u)] @ np.linalg.solve(Q[np.ix_(u, u)], r.ravel()[u])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_field_weights, "FEW_NODES", few)  # surroundings that may be too narrow
            nodes, weights = field_weights(system, row, factors)
        found = np.zeros((n, p))
        found[nodes] = weights
        np.testing.assert_allclose(found.ravel(), expected, atol=1e-8)


def test_the_surroundings_are_not_the_whole_graph():
    ends = np.arange(2000)
    graph = FieldGraph(gf.Graph.from_edges(ends[:-1], ends[1:]))
    nodes, near = surroundings(graph.graph, 1000, 9)
    assert nodes.tolist() == list(range(995, 1006))
    assert nodes[near].tolist() == list(range(996, 1005))
    missing = np.random.default_rng(0).random((2000, 2)) < 0.7
    system = FieldSystem(graph, missing)
    system.use(Coupling(np.array([[1.0, 0.4], [0.0, 1.0]]), np.ones(2), np.ones(2)))
    nodes, weights = field_weights(system, 1000, np.array([1.0, 0.0]))
    assert len(nodes) < 1000
    Z = np.random.default_rng(1).normal(size=(2000, 2))
    filled = system.mean(np.where(missing, 0.0, Z), None, 1e-12)
    assert (weights * Z[nodes])[~missing[nodes]].sum() == pytest.approx(filled[1000, 0], abs=1e-8)
