"""Columns made of eigenvectors: dense algebra, planted truths, and when propagation is taken."""

import os
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import adjacency
from scipy.stats import multivariate_normal

import graphfill as gf
from graphfill.solve import FieldGraph, SpectralOptions, spectral_bytes
from graphfill.solve import _spectral as spectral
from graphfill.solve import _spectral_choice as choice
from graphfill.solve._spectral import SHARES, SpectralModel, fit_spectral, leading_eigenvectors

quiet = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")


def dense_operator(graph):
    """(D + I/4)^-1/2 A (D + I/4)^-1/2, degrees scaled to mean 1."""
    A = adjacency(graph)
    A = A / (A.sum(axis=1).mean() or 1.0)
    root = 1.0 / np.sqrt(A.sum(axis=1) + 0.25)
    return root[:, None] * A * root


def circle(n=600, links=5, opposed=False, seed=0):
    """Nodes on a circle, each with links to others near it, or to others across."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    near = np.cos(angle[:, None] - angle + np.pi * opposed) + 0.6 * rng.gumbel(size=(n, n))
    np.fill_diagonal(near, -np.inf)
    ends = np.argsort(-near, axis=1)[:, :links]
    graph = gf.Graph.from_edges(np.repeat(np.arange(n), links), ends.ravel(), n_nodes=n)
    return graph, np.column_stack([np.cos(angle), np.sin(angle)])


def few_known(n=600, known=0.1, noise=0.5, opposed=False, seed=0):
    """Where on the circle a node is, known of some, with noise; and the truth without gaps."""
    graph, place = circle(n, opposed=opposed, seed=seed)
    rng = np.random.default_rng(seed + 1)
    truth = place + noise * rng.standard_normal(place.shape)
    return np.where(rng.random(truth.shape) < known, truth, np.nan), graph, truth


def explained(filled, X, truth):
    """The share of the variance of missing cells."""
    missing = np.isnan(X)
    return 1 - ((filled - truth)[missing] ** 2).sum() / (truth[missing] ** 2).sum()


# -- the equations --


@st.composite
def problems(draw):
    """A graph (weights, loops, several components, lone nodes) and columns with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(1, 24)), draw(st.integers(1, 4))
    m = draw(st.sampled_from([0, n // 2, n, 3 * n]))
    weight = rng.uniform(0.1, 4.0, m) if draw(st.booleans()) else None
    graph = gf.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), n_nodes=n,
                                weight=weight)  # fmt: skip
    Z = rng.standard_normal((n, p))
    Z[rng.random((n, p)) < draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]))] = np.nan
    return graph, Z, rng


@settings(max_examples=120, deadline=None, derandomize=True)
@given(problems())
def test_the_fill_is_the_mean_of_the_dense_normal_distribution(problem):
    graph, Z, rng = problem
    found = leading_eigenvectors(FieldGraph(graph))
    candidates = [(count, side) for side, counts in found.candidates() for count in counts]
    F = found.rows(*candidates[rng.integers(len(candidates))]) if candidates else Z[:, :0]
    shares = rng.choice(SHARES, Z.shape[1])
    filled = SpectralModel(F, F.shape[1], "either", shares).mean(Z)
    for column, share in enumerate(shares):
        k = ~np.isnan(Z[:, column])
        C = share * F @ F.T + (1 - share) * np.eye(len(Z))
        expected = share * F @ F[k].T @ np.linalg.solve(C[np.ix_(k, k)], Z[k, column])
        np.testing.assert_allclose(filled[:, column], expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems())
def test_eigenvectors_are_those_of_the_dense_matrix(problem):
    graph, *_ = problem
    found = leading_eigenvectors(FieldGraph(graph))
    S = dense_operator(graph)
    np.testing.assert_allclose(S @ found.vectors, found.vectors * found.values, atol=1e-9)
    expected = np.sort(np.abs(np.linalg.eigvalsh(S)))[::-1][: len(found.values)]
    np.testing.assert_allclose(np.abs(found.values), expected, atol=1e-6)
    for count, side in [(c, side) for side, counts in found.candidates() for c in counts]:
        rows = found.rows(count, side)
        length = np.linalg.norm(rows, axis=1)
        assert rows.shape == (graph.n_nodes, count)
        assert np.all((abs(length - 1) < 1e-9) | (length == 0))


def test_larger_graphs_have_the_same_eigenvalues():
    graph, _ = circle(900)
    found = leading_eigenvectors(FieldGraph(graph))
    exact = np.linalg.eigvalsh(dense_operator(graph))
    expected = np.sort(np.abs(exact))[::-1][: spectral.N_VECTORS]
    np.testing.assert_allclose(np.abs(found.values), expected, atol=1e-6)
    assert found.converged
    assert found.residual < 1e-5


def test_the_evidence_is_the_density_of_the_known_cells():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((20, 4))
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    z = rng.standard_normal(20)
    found = spectral._Part.of(F, z).evidence()
    exact = [multivariate_normal(cov=s * F @ F.T + (1 - s) * np.eye(20)).logpdf(z) for s in SHARES]
    np.testing.assert_allclose(found - found[0], np.array(exact) - exact[0], atol=1e-8)


# -- planted truths --


@pytest.mark.parametrize("opposed", [False, True])
def test_few_noisy_cells_say_where_nodes_are(opposed):
    X, graph, truth = few_known(opposed=opposed)
    result = gf.fill_spectral(X, graph)
    assert result.spectral.all()
    assert result.side in (("either", "oppose") if opposed else ("either", "agree"))
    assert result.n_vectors <= 4
    # 0.5 of the variance of 0.75 follows from the place.
    assert explained(result.X, X, truth) > 0.5
    by_propagation = gf.propagate(X, graph, normalization="rw", solver="exact").X
    assert explained(by_propagation, X, truth) < 0.4


@pytest.mark.parametrize(("count", "side", "share"), [(3, "either", 0.65), (8, "agree", 0.9),
                                                      (4, "oppose", 0.8)])  # fmt: skip
def test_what_columns_are_made_of_is_found_again(count, side, share):
    graph, _ = circle(800, opposed=side == "oppose")
    found = leading_eigenvectors(FieldGraph(graph))
    F = found.rows(count, side)
    rng = np.random.default_rng(2)
    Z = np.sqrt(share) * F @ rng.standard_normal((count, 12))
    Z += np.sqrt(1 - share) * rng.standard_normal(Z.shape)
    Z[rng.random(Z.shape) < 0.5] = np.nan
    model = fit_spectral(Z, found)
    assert (model.count, model.side) == (count, side) or np.allclose(model.rows, F)
    assert abs(np.median(model.shares) - share) <= 0.15


# -- or Feature Propagation --


@quiet
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_that_eigenvectors_do_not_explain_are_propagated(dtype):
    X, graph, _ = few_known()
    rng = np.random.default_rng(3)
    X = np.where(np.isnan(X), np.nan, rng.standard_normal(X.shape)).astype(dtype)
    result = gf.fill_spectral(X, graph)
    assert not result.spectral.any()
    expected = gf.propagate(X, graph, unreached="mean").X
    assert result.X.tobytes() == expected.tobytes()
    assert gf.fill_spectral(X, graph, fallback=False).spectral.all()


@quiet
def test_near_neighbours_say_more_than_eigenvectors_where_columns_are_rough():
    rng = np.random.default_rng(4)
    n = 3000  # a path whose column wanders: 64 waves cannot follow it
    walk = np.cumsum(rng.standard_normal(n))
    X = np.where(rng.random(n) < 0.5, walk, np.nan)[:, None]
    path = gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    result = gf.fill_spectral(X, path)
    assert not result.spectral.any()
    assert result.errors[0, 1] < result.errors[0, 0] < result.errors[0, 2]


def test_each_column_of_many_cells_decides_for_itself():
    X, graph, truth = few_known(1200, known=0.2)
    noise = np.random.default_rng(5).standard_normal(1200)
    X = np.column_stack([X, np.where(np.isnan(X[:, 0]), np.nan, noise)])
    assert (~np.isnan(X)).sum(axis=0).min() >= choice.OWN
    result = gf.fill_spectral(X, graph)
    assert result.spectral.tolist() == [True, True, False]
    assert explained(result.X[:, :2], X[:, :2], truth) > 0.5


def test_hidden_cells_are_not_seen_by_what_predicts_them(monkeypatch):
    X, graph, _ = few_known()
    seen = []

    def spy(*squares):
        seen.append([square.copy() for square in squares])
        return np.ones(squares[0].shape[1], dtype=bool)

    monkeypatch.setattr(choice, "better", spy)
    units = []
    fold = choice._folds(X, 0)
    row, column = np.argwhere(fold == 0)[0]
    for value in (X[row, column], X[row, column] + 100.0):
        X[row, column] = value
        units.append(np.nanstd(X, axis=0))
        gf.fill_spectral(X, graph)
    others = fold == 0
    others[row, column] = False
    assert others.sum() > 10
    for before, after in zip(*seen, strict=True):
        one, other = (np.sqrt(s) * unit for s, unit in zip((before, after), units, strict=True))
        np.testing.assert_allclose(other[others], one[others], rtol=1e-6, atol=1e-6)
        assert other[row, column] > one[row, column] + 50


@quiet
@pytest.mark.skipif("GRAPHFILL_DATA" not in os.environ, reason="needs the published graphs")
@pytest.mark.parametrize(("homophily", "least"), [("0.2", 0.4), ("0.6", 0.6)])
def test_a_published_graph_of_low_homophily(homophily, least):
    with np.load(Path(os.environ["GRAPHFILL_DATA"], "mixhop", f"h{homophily}.npz")) as held:
        graph, truth = gf.Graph.from_edges(*held["edge_index"], n_nodes=5000), held["x"]
    X = np.where(np.random.default_rng(0).random(truth.shape) < 0.01, truth, np.nan)
    truth = truth.astype(float)
    assert explained(gf.fill_spectral(X, graph).X, X, truth) > least
    assert explained(gf.propagate(X, graph).X, X, truth) < 0.1


# -- the plain function --


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_known_cells_keep_their_bits_in_any_kind_of_table(dtype):
    X, graph, _ = few_known()
    X = X.astype(dtype)
    before = X.tobytes()
    result = gf.fill_spectral(X, graph)
    known = ~np.isnan(X)
    assert X.tobytes() == before
    assert result.X.dtype == dtype
    assert result.X[known].tobytes() == X[known].tobytes()
    assert np.isfinite(result.X).all()
    assert result.converged
    assert result.residual < 1e-5
    assert result.n_iter > 0
    for kind in (torch.tensor, pd.DataFrame, pl.DataFrame):
        out = gf.fill_spectral(kind(X), graph).X
        assert isinstance(out, torch.Tensor if kind is torch.tensor else kind)
        assert np.asarray(out).tobytes() == result.X.tobytes()
    masked = gf.fill_spectral(np.where(known, X, 0), graph, missing_mask=~known)
    assert masked.X.tobytes() == result.X.tobytes()


def test_any_number_of_threads_gives_the_same_bits():
    X, graph, _ = few_known(1500)
    one, two, four = (gf.fill_spectral(X, graph, threads=k).X.tobytes() for k in (1, 2, 4))
    assert one == two == four


def test_the_estimator_is_the_same_fill_and_keeps_what_it_learnt():
    X, graph, _ = few_known()
    imputer = gf.SpectralImputer(graph)
    result = gf.fill_spectral(X, graph)
    assert imputer.fit_transform(X).tobytes() == result.X.tobytes()
    assert imputer.n_vectors_ == result.n_vectors
    assert imputer.side_ == result.side
    assert imputer.spectral_.all()
    np.testing.assert_array_equal(imputer.errors_, result.errors)
    few = np.full_like(X, np.nan)
    few[::40] = X[::40]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learnt = imputer.transform(few)
    assert np.isfinite(learnt).all()
    assert not np.allclose(learnt, result.X, rtol=0.01)


@pytest.mark.parametrize("fallback", [False, True])
def test_a_cell_may_be_out_of_reach(fallback):
    X, graph, _ = few_known()
    u = np.repeat(np.arange(600), np.diff(graph.indptr))
    apart = gf.Graph.from_edges([*u, 600], [*graph.indices, 601], n_nodes=603)
    X = np.vstack([X, [[np.nan, 3.0], [np.nan, np.nan], [np.nan, np.nan]]])
    with pytest.warns(gf.UnreachedWarning, match="4 of .* filled with the column mean"):
        result = gf.fill_spectral(X, apart, fallback=fallback)
    cells = (result.unreached & np.isnan(X)).nonzero()
    assert list(zip(*cells, strict=True)) == [(600, 0), (601, 0), (602, 0), (602, 1)]
    np.testing.assert_allclose(result.X[cells], np.nanmean(X, axis=0)[cells[1]])
    out = gf.SpectralImputer(apart, fallback=fallback, unreached="nan")
    with pytest.warns(gf.UnreachedWarning):
        assert np.isnan(out.fit_transform(X)).sum() == 4


@quiet
def test_odd_columns_do_not_stop_the_others():
    X, graph, _ = few_known()
    one, nothing, constant = (np.full(600, np.nan) for _ in range(3))
    one[7], constant[::3] = 3.5, -2.0
    out = gf.fill_spectral(np.column_stack([one, X, nothing, constant]), graph, fallback=False).X
    assert (out[:, 0] == 3.5).all()
    assert (out[:, 3] == 0).all()
    assert (out[:, 4] == -2).all()
    assert np.isfinite(out).all()
    usual = gf.fill_spectral(X, graph, fallback=False).X
    np.testing.assert_allclose(out[:, 1:3], usual, rtol=1e-9, atol=1e-9)


@quiet
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (4, 2)])
@pytest.mark.parametrize("fallback", [False, True])
def test_the_smallest_tables(shape, fallback):
    X = np.arange(np.prod(shape), dtype=float).reshape(shape)
    X[-1:, :1] = np.nan
    for ends in (([], []), ([0], [shape[0] - 1])):
        graph = gf.Graph.from_edges(*ends, n_nodes=shape[0])
        assert np.isfinite(gf.fill_spectral(X, graph, fallback=fallback).X).all()


def test_an_unfinished_search_is_said(monkeypatch):
    X, graph, _ = few_known(1500)
    monkeypatch.setattr(spectral, "MOST_RESTARTS", 1)
    with pytest.warns(gf.ConvergenceWarning, match="search for eigenvectors stopped after"):
        result = gf.fill_spectral(X, graph)
    assert result.converged is False
    assert np.isfinite(result.X).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fallback": "no"}, "fallback is 'no' but must be True or False"),
        ({"seed": -1}, "seed is -1 but must be a whole number of at least 0"),
        ({"threads": 0}, "threads is 0 but must be a whole number of at least 1"),
        ({"memory_limit": "lots"}, "memory_limit='lots' is not a size"),
        ({"memory_limit": "100 kB"}, "memory_limit is 100 kB but eigenvectors and 600 x 2 cells"),
        ({"missing_mask": np.zeros((600, 2), bool)}, "is NaN but missing_mask calls it known"),
    ],
)
def test_refusals(options, sentence):
    X, graph, _ = few_known()
    with pytest.raises(gf.InputError, match=sentence):
        gf.fill_spectral(X, graph, **options)


def test_progress_adds_up():
    X, graph, _ = few_known()
    for fallback in (True, False):
        shares = []
        gf.fill_spectral(X, graph, fallback=fallback, progress=shares.append)
        assert sum(shares) == pytest.approx(1.0)


@quiet
@pytest.mark.parametrize(("n", "p", "degree"), [(4000, 3, 10), (1500, 60, 6)])
def test_the_estimate_of_memory_is_near_what_is_taken(n, p, degree):
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_edges(*rng.integers(0, n, (2, n * degree // 2)), n_nodes=n)
    X = rng.standard_normal((n, p))
    X[rng.random(X.shape) < 0.9] = np.nan
    gf.fill_spectral(*few_known()[:2])  # what is imported late is not counted
    tracemalloc.start()
    gf.fill_spectral(X, graph)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = spectral_bytes(X.shape, len(graph.indices), SpectralOptions())
    assert 0.9 * taken < estimate < 2 * taken
