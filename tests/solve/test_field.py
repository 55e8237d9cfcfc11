"""The coupled field: its equations against dense algebra, its fit against known truths."""

import os
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import adjacency

import graphfill as gf
from graphfill.solve import FieldGraph, FieldSystem, field_bytes, solve_field
from graphfill.solve import _field as field
from graphfill.solve import _field_fit as fitting
from graphfill.solve._coupling import Coupling
from graphfill.solve._field_fit import fit_field, match_moments, smoothness
from graphfill.solve._spectrum import Spectrum, laplacian_spectrum

quiet = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")


def laplacian(graph):
    """L = D - A, degrees scaled to mean 1 (a loop counts in both and cancels)."""
    A = adjacency(graph)
    degree = A.sum(axis=1)
    return (np.diag(degree) - A) / (degree.mean() or 1.0)


def precision(graph, coupling):
    """Q of all cells, row by row: Omega (x) I + Theta (x) L with the node as the slow index."""
    n = graph.n_nodes
    return np.kron(np.eye(n), coupling.omega) + np.kron(laplacian(graph), coupling.theta)


def some_coupling(rng, p):
    return Coupling(
        rng.standard_normal((p, p)) + 2 * np.eye(p), rng.uniform(0.1, 2, p), rng.uniform(0, 3, p)
    )


def smooth_table(n=300, p=3, seed=0, hidden=0.3, noise=0.3):
    """Columns that vary slowly along a ring and repeat each other in part."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(n) / n
    waves = np.column_stack([np.sin(angle * k + k) for k in range(1, p + 1)])
    X = waves @ rng.standard_normal((p, p)) + noise * rng.standard_normal((n, p))
    X[rng.random(X.shape) < hidden] = np.nan
    return X, gf.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)


@st.composite
def problems(draw):
    """A graph (weights, loops, several components, lone nodes), a table with gaps, a coupling."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(1, 24)), draw(st.integers(1, 5))
    m = draw(st.sampled_from([0, n // 2, n, 3 * n]))
    weight = rng.uniform(0.1, 4.0, m) if draw(st.booleans()) else None
    graph = gf.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), n_nodes=n,
                                weight=weight)  # fmt: skip
    missing = rng.random((n, p)) < draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]))
    missing[rng.random(n) < draw(st.sampled_from([0.0, 0.4]))] = True
    return graph, rng.standard_normal((n, p)), missing, some_coupling(rng, p)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(problems())
def test_the_solution_is_that_of_the_dense_equations(problem):
    graph, Z, missing, coupling = problem
    system = FieldSystem(FieldGraph(graph), missing)
    system.use(coupling)
    found = system.mean(np.where(missing, np.nan, Z), None, 1e-12)
    u = missing.ravel()
    Q = precision(graph, coupling)
    expected = Z.copy()
    expected[missing] = np.linalg.solve(Q[np.ix_(u, u)], -Q[np.ix_(u, ~u)] @ Z.ravel()[~u])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert system.converged
    assert found[~missing].tobytes() == Z[~missing].tobytes()


def test_feature_propagation_is_the_case_of_columns_apart():
    rng = np.random.default_rng(0)
    ends = np.arange(1, 60)
    graph = gf.Graph.from_edges(np.append(ends // 2, [3, 8]), np.append(ends, [50, 40]),
                                weight=rng.uniform(0.5, 2.0, 61))  # fmt: skip
    X = rng.standard_normal((60, 4))
    X[rng.random(X.shape) < 0.6] = np.nan
    system = FieldSystem(FieldGraph(graph), np.isnan(X))
    system.use(Coupling(np.eye(4), np.full(4, 1e-11), np.ones(4)))
    expected = gf.propagate(X, graph, normalization="rw", solver="exact").X
    np.testing.assert_allclose(system.mean(X, None, 1e-12), expected, rtol=1e-6, atol=1e-6)


def test_draws_have_the_covariance_of_the_posterior():
    rng = np.random.default_rng(1)
    graph = gf.Graph.from_edges([0, 1, 2, 3, 0, 2], [1, 2, 3, 4, 3, 2], n_nodes=6,
                                weight=[1, 2, 0.5, 1, 3, 1])  # fmt: skip
    coupling = some_coupling(rng, 2)
    missing = np.ones((6, 2), dtype=bool)
    missing[[0, 4], [0, 1]] = False
    system = FieldSystem(FieldGraph(graph), missing)
    system.use(coupling)
    drawn = np.stack(
        [system.deviation(system.noise(rng), None, 1e-9)[missing] for _ in range(4000)]
    )
    u = missing.ravel()
    expected = np.linalg.inv(precision(graph, coupling)[np.ix_(u, u)])
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(drawn.mean(axis=0) / np.sqrt(np.diag(expected))).max() < 0.08
    assert np.abs((np.cov(drawn.T) - expected) / scale).max() < 0.1  # six standard errors


@pytest.mark.parametrize("family", ["ring", "star", "parts", "lone"])
def test_averages_over_the_spectrum(family):
    n = 38
    edges = {
        "ring": (np.arange(n), (np.arange(n) + 1) % n),
        "star": (np.zeros(n - 1, int), np.arange(1, n)),
        "parts": (np.arange(0, 30, 2), np.arange(1, 31, 2)),
        "lone": ([], []),
    }[family]
    graph = gf.Graph.from_edges(*edges, n_nodes=n)
    seen = FieldGraph(graph)
    spectrum = laplacian_spectrum(seen.laplacian, seen.label)
    lam = np.linalg.eigvalsh(laplacian(graph))
    assert spectrum.weights.sum() == pytest.approx(1.0)
    zero = spectrum.weights[spectrum.nodes < 1e-9].sum()
    assert zero == pytest.approx(np.mean(lam < 1e-9), abs=1e-9)  # one for each component
    close = 0.3 if family == "star" else 0.1  # whose one large eigenvalue four probes may miss
    assert spectrum.mean == pytest.approx(lam.mean(), rel=close, abs=1e-12)
    for w in (0.1, 1.0):
        exact = np.mean(1 / (w + lam))
        assert spectrum.average(1 / (w + spectrum.nodes)) == pytest.approx(exact, rel=0.1)


@given(
    nodes=st.lists(st.floats(0.01, 5.0), min_size=1, max_size=8),
    share=st.floats(0.05, 0.95),
)
@settings(max_examples=80, deadline=None, derandomize=True)
def test_modes_match_their_moments(nodes, share):
    lam = np.array([0.0, *nodes])
    spectrum = Spectrum(lam, np.full(len(lam), 1 / len(lam)))
    e = np.array([share * spectrum.mean])
    (t,) = smoothness(e, spectrum)
    terms = 1.0 / (1.0 - t * e[0] + t * lam)
    assert spectrum.average(terms) == pytest.approx(1.0, abs=1e-4)
    assert spectrum.average(lam * terms) == pytest.approx(e[0], rel=1e-3)
    assert smoothness(np.array([1.5 * spectrum.mean]), spectrum) == 0


def test_moments_of_the_model_give_the_model_back():
    rng = np.random.default_rng(2)
    graph = gf.Graph.from_edges(rng.integers(0, 400, (2, 1200)), n_nodes=400)
    coupling = Coupling(np.array([[1.0, 0.4], [0.0, 1.2]]), np.array([0.4, 0.9]),
                        np.array([1.5, 0.2]))  # fmt: skip
    L, Q = laplacian(graph), precision(graph, coupling)
    covariance = np.linalg.inv(Q).reshape(400, 2, 400, 2)
    S0 = np.einsum("iaib->ab", covariance) / 400
    S1 = np.einsum("iajb,ij->ab", covariance, L) / 400
    found = match_moments(S0, S1, FieldGraph(graph))
    np.testing.assert_allclose(found.omega, coupling.omega, rtol=0.1, atol=0.05)
    np.testing.assert_allclose(found.theta, coupling.theta, rtol=0.1, atol=0.05)


def test_the_fit_finds_what_the_data_was_drawn_from():
    rng = np.random.default_rng(3)
    n = 1500
    graph = gf.Graph.from_edges(rng.integers(0, n, (2, 3 * n)), n_nodes=n)
    coupling = Coupling(np.array([[1.0, 0.8], [0.0, 1.0]]), np.array([0.5, 1.0]),
                        np.array([2.0, 0.3]))  # fmt: skip
    seen = FieldGraph(graph)
    everything = FieldSystem(seen, np.ones((n, 2), dtype=bool))
    everything.use(coupling)
    Z = everything.deviation(everything.noise(rng), None, 1e-6)
    Z[rng.random(Z.shape) < 0.3] = np.nan
    system, _ = fit_field(Z, seen, rounds=8)
    np.testing.assert_allclose(system.coupling.omega, coupling.omega, rtol=0.4, atol=0.2)
    np.testing.assert_allclose(system.coupling.theta, coupling.theta, rtol=0.4, atol=0.2)
    for found, true in ((system.coupling.omega, coupling.omega),
                        (system.coupling.theta, coupling.theta)):  # fmt: skip
        assert np.sign(found[0, 1]) == np.sign(true[0, 1])


@quiet
def test_any_number_of_threads_gives_the_same_bits():
    X, graph = smooth_table(3000, 5)
    one, two, four = (gf.fill_field(X, graph, threads=k).X.tobytes() for k in (1, 2, 4))
    assert one == two == four


def test_compiled_and_plain_kernels_agree(tmp_path):
    X, graph = smooth_table(200, 4)
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np, graphfill as gf\n"
        "X = np.load(sys.argv[1] + '/X.npy'); n = len(X)\n"
        "graph = gf.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)\n"
        "assert gf.kernels.implementation == 'scipy'\n"
        "np.save(sys.argv[1] + '/out.npy', gf.fill_field(X, graph, tol=1e-10).X)\n"
    )
    environment = {**os.environ, "GRAPHFILL_KERNELS": "scipy"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, tmp_path], env=environment,
                   check=True)  # fmt: skip
    found = gf.fill_field(X, graph, tol=1e-10).X
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), found, rtol=1e-10, atol=1e-10)


# -- the plain function --


def test_columns_inform_each_other():
    X, graph = smooth_table(400, 1, hidden=0.0, noise=1.0)
    X = np.column_stack([X[:, 0], -3 * X[:, 0] + 5])
    truth = X.copy()
    hidden = np.random.default_rng(0).random(400) < 0.4
    X[hidden, 0] = np.nan
    out = gf.fill_field(X, graph).X
    apart = gf.propagate(X, graph, normalization="rw", solver="exact").X
    error = np.abs(out - truth)[hidden, 0].mean()
    assert error < 0.05
    assert error < np.abs(apart - truth)[hidden, 0].mean() / 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_known_cells_keep_their_bits_in_any_kind_of_table(dtype):
    X = smooth_table()[0].astype(dtype)
    graph = smooth_table()[1]
    before = X.tobytes()
    result = gf.fill_field(X, graph)
    known = ~np.isnan(X)
    assert X.tobytes() == before
    assert result.X.dtype == dtype
    assert result.X[known].tobytes() == X[known].tobytes()
    assert np.isfinite(result.X).all()
    assert result.converged
    assert 0 < result.residual <= 1e-3
    assert result.n_iter > 0
    assert result.residuals.shape == (3,)
    assert result.n_unreached == 0
    for kind in (torch.tensor, pd.DataFrame, pl.DataFrame):
        out = gf.fill_field(kind(X), graph).X
        assert isinstance(out, torch.Tensor if kind is torch.tensor else kind)
        assert np.asarray(out).tobytes() == result.X.tobytes()
    masked = gf.fill_field(np.where(known, X, 0), graph, missing_mask=~known)
    assert masked.X.tobytes() == result.X.tobytes()


def test_the_estimator_is_the_same_fill_and_keeps_what_it_learnt():
    X, graph = smooth_table(400, 3)
    imputer = gf.FieldImputer(graph)
    assert imputer.fit_transform(X).tobytes() == gf.fill_field(X, graph).X.tobytes()
    assert imputer.omega_.shape == imputer.theta_.shape == (3, 3)
    assert imputer.residual_ <= 1e-3
    few = np.full_like(X, np.nan)
    few[::40] = np.nan_to_num(X[::40])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learnt = imputer.transform(few)
    assert np.isfinite(learnt).all()
    assert not np.allclose(learnt, gf.fill_field(few, graph).X, rtol=0.01)


def test_a_cell_may_be_out_of_reach():
    graph = gf.Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)
    X = np.array([[1.0, 2.0, 7.0], [np.nan, 3.0, np.nan], [2.0, 1.0, np.nan],
                  [np.nan] * 3, [np.nan] * 3, [4.0, np.nan, np.nan]])  # fmt: skip
    with pytest.warns(gf.UnreachedWarning, match="7 missing cells have no known cell connected"):
        result = gf.fill_field(X, graph)
    expected = np.zeros((6, 3), dtype=bool)
    expected[3:5] = expected[5, 2] = True
    assert (result.unreached == expected).all()
    assert result.n_unreached == 7
    np.testing.assert_allclose(result.X[3:5], np.tile(np.nanmean(X, axis=0), (2, 1)))
    assert result.X[1, 2] == 7
    out = gf.FieldImputer(graph, unreached="nan")
    with pytest.warns(gf.UnreachedWarning):
        assert (np.isnan(out.fit_transform(X)) == expected).all()


@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
def test_odd_columns_do_not_spoil_the_others():
    X, graph = smooth_table(200, 2)
    usual = gf.fill_field(X, graph).X
    one, nothing, constant = (np.full(200, np.nan) for _ in range(3))
    one[7], constant[::3] = 3.5, -2.0
    out = gf.fill_field(np.column_stack([one, X[:, 0], nothing, constant, X[:, 1]]), graph).X
    assert out[:, [1, 4]].tobytes() == usual.tobytes()
    assert (out[:, 0] == 3.5).all()
    assert (out[:, 2] == 0).all()
    assert (out[:, 3] == -2).all()
    collinear = gf.fill_field(np.column_stack([X, X[:, 0], X[:, 0] * 2 + 1, -X[:, 1]]), graph)
    assert collinear.converged
    assert np.isfinite(collinear.X).all()
    assert np.abs(collinear.X[:, :2] - usual).max() < 1.5


@quiet
@pytest.mark.parametrize("factor", [2.0**1000, 2.0**500, 2.0**-500, 2.0**-1000, 2.0**60])
def test_scales_of_any_size(factor):
    X, graph = smooth_table(200, 2)
    usual = gf.fill_field(X, graph).X
    out = gf.fill_field(X * [factor, 1.0], graph).X
    np.testing.assert_allclose(out / [factor, 1.0], usual, rtol=1e-6, atol=1e-9)
    edge = np.array([[1.7e308], [-1.7e308], [np.nan], [1.7e308]])
    assert np.isfinite(gf.fill_field(edge, gf.Graph.from_edges([0, 2], [1, 3])).X).all()


@quiet
def test_without_edges_a_row_is_filled_from_its_own_columns():
    rng = np.random.default_rng(4)
    x = rng.standard_normal(500)
    X = np.column_stack([x, x + 0.1 * rng.standard_normal(500)])
    X[:100, 1] = np.nan
    out = gf.fill_field(X, gf.Graph.from_edges([], [], n_nodes=500)).X
    assert np.abs(out[:100, 1] - x[:100]).mean() < 0.15


def test_a_large_graph_is_fitted_on_some_neighbourhoods(monkeypatch):
    X, graph = smooth_table(3000, 3)
    truth = smooth_table(3000, 3, hidden=0.0, noise=0.3)[0]
    whole = solve_field(X, FieldGraph(graph)).X
    monkeypatch.setattr(fitting, "MOST_NODES", 500)
    part = solve_field(X, FieldGraph(graph)).X
    known = ~np.isnan(X)
    assert part[known].tobytes() == X[known].tobytes()
    assert np.isfinite(part).all()

    def error(filled):
        return np.sqrt(np.mean((filled - truth)[~known] ** 2))

    assert error(part) < 1.2 * error(whole)


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1)])
@quiet
def test_the_smallest_tables(shape):
    X = np.ones(shape)
    X[-1:, :1] = np.nan
    graph = gf.Graph.from_edges([], [], n_nodes=shape[0])
    assert np.isfinite(gf.fill_field(X, graph).X).all()


def test_an_unfinished_solve_is_said(monkeypatch):
    X, graph = smooth_table(300, 2)
    monkeypatch.setattr(field, "MOST_STEPS", 2)
    with pytest.warns(gf.ConvergenceWarning, match="after 2 iterations .* above tol=1.0e-06: pass"):
        result = gf.fill_field(X, graph, tol=1e-6)
    assert result.converged is False
    assert result.n_iter == 2
    assert result.residual > 1e-6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tol": 0}, "tol is 0 but must be a number of at least 1e-12"),
        ({"tol": "small"}, "tol is 'small' but must be a number"),
        ({"seed": -1}, "seed is -1 but must be a whole number of at least 0"),
        ({"threads": 0}, "threads is 0 but must be a whole number of at least 1"),
        ({"memory_limit": "lots"}, "memory_limit='lots' is not a size"),
        ({"memory_limit": "100 kB"}, "memory_limit is 100 kB but a field of 300 x 3 cells takes"),
        ({"missing_mask": np.zeros((300, 3), bool)}, "is NaN but missing_mask calls it known"),
    ],
)
def test_refusals(options, sentence):
    X, graph = smooth_table()
    with pytest.raises(gf.InputError, match=sentence):
        gf.fill_field(X, graph, **options)


def test_other_refusals():
    X, graph = smooth_table()
    with pytest.raises(gf.InputError, match="X has 299 row"):
        gf.fill_field(X[1:], graph)
    X[0, 0] = np.inf
    with pytest.raises(gf.InputError, match="is infinite"):
        gf.fill_field(X, graph)


def test_progress_adds_up():
    X, graph = smooth_table()
    shares = []
    gf.fill_field(X, graph, progress=shares.append)
    assert sum(shares) == pytest.approx(1.0)


@quiet
def test_large_fields_are_solved_as_exactly(monkeypatch):
    X, graph = smooth_table(600, 5)
    exact = gf.fill_field(X, graph, tol=1e-9)
    coupled = solve_field(X, FieldGraph(graph), tolerance=1e-9)
    monkeypatch.setattr(field, "SINGLE_CELLS", 0)  # float32 first, as of larger tables
    system = coupled.model.system(X, FieldGraph(graph))
    Z = coupled.model.standardised(X)
    near, close = (system.mean(Z, None, tolerance) for tolerance in (0.02, 1e-9))
    np.testing.assert_allclose(coupled.model.fill(X, close), exact.X, atol=1e-6)
    assert system.converged
    assert system.residual <= 1e-9
    assert np.abs(near - close).max() < 0.1
    one, two = (gf.fill_field(X, graph, threads=k).X.tobytes() for k in (1, 2))
    assert one == two


@quiet
@pytest.mark.parametrize(
    ("n", "p", "degree", "share"), [(300, 100, 6, 0.3), (12_000, 10, 10, 0.2), (20_000, 30, 4, 0.5)]
)
def test_the_estimate_of_memory_is_near_what_is_taken(n, p, degree, share):
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_edges(*rng.integers(0, n, (2, n * degree // 2)), n_nodes=n)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, p)) + rng.standard_normal((n, p))
    X[rng.random(X.shape) < share] = np.nan
    gf.fill_field(*smooth_table())  # what is imported late is not counted
    tracemalloc.start()
    gf.fill_field(X, graph)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken / 1.5 < field_bytes(np.isnan(X), len(graph.indices), 1e-3) < 1.5 * taken
