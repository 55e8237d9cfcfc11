"""How unsure a field is of cells, and intervals and draws that make use of it."""

import warnings

import numpy as np
import pandas as pd
import pytest

import graphfill as gf
from graphfill.solve import FieldGraph
from graphfill.solve._coupling import Coupling
from graphfill.solve._field import FieldSystem
from graphfill.solve._field_cells import SHARED
from graphfill.trust._draws import straight_error
from graphfill.trust._error_scales import error_scales, narrowest


@pytest.mark.parametrize("n", [SHARED // 2, 3 * SHARED])
def test_variances_are_about_those_of_the_inverse(n):
    """Of rows alone and of rows that share their modes."""
    rng = np.random.default_rng(0)
    graph = FieldGraph(gf.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n))
    W = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    coupling = Coupling(W, np.array([0.1, 0.3, 0.2, 0.4]), np.array([0.0, 1.0, 1.2, 1.0]))
    patterns = np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]], dtype=bool)
    missing = patterns[np.arange(n) % 4]
    system = FieldSystem(graph, missing)
    system.use(coupling)
    L = graph.laplacian(np.eye(n))
    Q = np.kron(np.eye(n), coupling.omega) + np.kron(L, coupling.theta)
    at = np.flatnonzero(missing)
    found = system.variances()
    exact = np.linalg.inv(Q[np.ix_(at, at)]).diagonal()
    blocks = coupling.omega + coupling.theta  # all degrees are 1
    alone = np.concatenate([np.linalg.inv(blocks[np.ix_(p, p)]).diagonal() for p in patterns])
    assert not found[~missing].any()
    off, off_alone = (np.log(some / exact) for some in (found[missing], np.tile(alone, n // 4)))
    assert np.abs(off).max() < 0.12 < 0.2 < np.abs(off_alone).max()


def test_the_narrowest_scale_follows_the_errors():
    rng = np.random.default_rng(0)
    true = np.exp(rng.standard_normal(900))
    error = true * rng.standard_normal(900)
    fold = np.arange(900) % 4
    parts = [(fold == k, fold != k) for k in range(4)]
    features = np.column_stack([np.log(true), rng.standard_normal(900)])
    learnt = error_scales(np.abs(error), parts, features, features, np.ones(900))
    scale, final = narrowest(error, learnt, 0.9, np.ones(900))
    assert np.corrcoef(np.log(scale), np.log(true))[0, 1] > 0.95
    assert np.corrcoef(np.log(final), np.log(true))[0, 1] > 0.95
    # With few cells all are the same.
    assert len(error_scales(np.abs(error[:50]), parts, features[:50], features, np.ones(50))) == 1


@pytest.fixture(scope="module")
def copies():
    """Two columns that nearly repeat each other, and a third; three tenths missing of each."""
    n, rng = 1500, np.random.default_rng(0)
    x = rng.standard_normal(n)
    truth = pd.DataFrame({"key": np.arange(n), "x": x, "y": x + 0.05 * rng.standard_normal(n),
                          "z": rng.standard_normal(n)})  # fmt: skip
    seen = truth.copy()
    for name in ("x", "y", "z"):
        seen[name] = seen[name].mask(rng.random(n) < 0.3)
    edges = pd.DataFrame({"source": np.arange(n), "target": (np.arange(n) + 1) % n})
    return truth, seen, quiet(seen, edges, intervals=0.9, draws=40, return_result=True)


def quiet(seen, edges, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(seen, edges, id="key", effort="fast", **options)


@pytest.mark.parametrize("name", ["x", "y"])
def test_bounds_know_whether_the_copy_is_known(copies, name):
    """Held-out cells miss their copy more often than missing ones do: no reason to be wider."""
    truth, seen, result = copies
    lost, other = seen[name].isna(), seen["y" if name == "x" else "x"].notna()
    low, high = result.table[f"{name}_low"], result.table[f"{name}_high"]
    inside = (low <= truth[name]) & (truth[name] <= high)
    for some in (lost & other, lost & ~other):
        # At least 120 cells. Where the copy is missing as well, 0.82 over seeds.
        assert 0.75 < inside[some].mean() < 0.99
    assert (high - low)[lost & other].median() < 0.3
    assert (high - low)[lost & ~other].median() > 2.0


@pytest.mark.parametrize("name", ["x", "y"])
def test_draws_know_it_too(copies, name):
    truth, seen, result = copies
    lost, other = seen[name].isna(), seen["y" if name == "x" else "x"].notna()
    for some in (lost & other, lost & ~other):
        cells = np.array([table[name][some] for table in result.draws])
        low, high = np.quantile(cells, [0.05, 0.95], axis=0, method="weibull")
        inside = (low <= truth[name][some]) & (truth[name][some] <= high)
        assert 0.8 < inside.mean() < 0.98


def test_draws_do_not_depend_on_whether_bounds_are_asked_for(copies):
    _, seen, result = copies
    edges = pd.DataFrame({"source": seen["key"], "target": (seen["key"] + 1) % len(seen)})
    plain = quiet(seen, edges, draws=1)
    pd.testing.assert_frame_equal(plain[0], result.draws[0][list(seen)])


def test_a_line_in_the_errors_is_taken_out_and_chance_is_not():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(400), rng.standard_normal((400, 5))])
    noise = rng.standard_normal(400)
    on_held_out, on_missing = straight_error(X, X @ [0.3, 0.5, 0, 0, 0, 0] + noise, X[:3])
    off = on_held_out - X @ [0.3, 0.5, 0, 0, 0, 0]
    assert np.std(off) < 0.2  # six coefficients, each with a standard error of 0.05
    assert on_missing == pytest.approx(on_held_out[:3])
    alone, _ = straight_error(X, noise, X[:3])
    assert np.std(alone) < 0.1


@pytest.mark.parametrize("few", [30, 150])
def test_cells_that_few_held_out_ones_are_like_get_what_known_ones_hold(few):
    """Rows without links: bounds from held-out rows like them, where there are enough."""
    n, rng = 600, np.random.default_rng(1)
    value = np.cumsum(rng.standard_normal(n))
    truth = pd.DataFrame({"key": np.arange(n), "x": value})
    linked = np.arange(n - few)
    edges = pd.DataFrame({"source": linked[:-1], "target": linked[1:]})
    seen = truth.assign(x=truth["x"].mask(rng.random(n) < 0.2))
    table = quiet(seen, edges, intervals=0.9, method="propagation", return_result=True).table
    lost = seen["x"].isna().to_numpy()
    low, high = table["x_low"], table["x_high"]
    inside = (low <= truth["x"]) & (truth["x"] <= high)
    assert 0.8 < inside[lost & (truth["key"] < n - few)].mean() <= 1.0
    assert (high - low)[lost & (truth["key"] >= n - few)].min() > 2 * (high - low)[lost].median()
