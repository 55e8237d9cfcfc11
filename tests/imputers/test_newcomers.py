"""Nodes that arrive after a fit are filled as a refit would, without solving everything again."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference import data_set
from sklearn.exceptions import NotFittedError

from graphfill import FeaturePropagation, Graph, InputError, UnreachedWarning
from graphfill.imputers._new_nodes import grown

NAN = float("nan")


def ring(n, seed=0, chords=2):
    """Edges of a ring with random chords."""
    rng = np.random.default_rng(seed)
    near = np.stack([np.arange(n), np.roll(np.arange(n), -1)])
    return np.concatenate([near, rng.integers(0, n, (2, chords * n))], axis=1)


def grown_problem(n=300, n_new=10, columns=4, missing=0.5, seed=0, dtype=np.float64):
    """Edges and cells of all nodes; the last `n_new` arrive later."""
    rng = np.random.default_rng(seed)
    edges = ring(n, seed)
    edges = edges[:, edges[0] != edges[1]]
    X = (rng.normal(size=(n, columns)) + 2).astype(dtype)
    X[rng.random(X.shape) < missing] = np.nan
    new = (edges >= n - n_new).any(axis=0)
    return edges[:, ~new], edges[:, new], X[: n - n_new], X[n - n_new :]


def refit(edges, X, **parameters):
    return FeaturePropagation(Graph.from_edges(*edges, n_nodes=len(X)), **parameters).fit_transform(
        X
    )


def fitted(edges, X, **parameters):
    graph = Graph.from_edges(*edges, n_nodes=len(X))
    return FeaturePropagation(graph, keep_fill=True, **parameters).fit(X)


@pytest.mark.parametrize("normalization", ["sym", "rw"])
@pytest.mark.parametrize("solver", ["exact", "diffusion"])
@pytest.mark.parametrize("more", [{}, {"self_loops": True}, {"shrinkage": 0.3}], ids=str)
def test_with_every_node_near_enough_it_is_the_refit(normalization, solver, more, monkeypatch):
    """Where every old node may move, the local system is the whole one."""
    monkeypatch.setattr("graphfill.imputers._neighborhood.MOVED", 0.0)
    for bound in ("CLOSE", "ROUGH"):
        monkeypatch.setattr(f"graphfill.imputers._neighborhood.{bound}", 1e-9)
    parameters = {"normalization": normalization, "solver": solver, "n_iter": 400, **more}
    old, new, X, X_new = grown_problem(missing=0.3)
    if more.get("shrinkage") and normalization == "rw":
        # A refit pulls towards the mean of all nodes, this towards that of the fitted ones.
        X_new[:] = NAN
    imputer = fitted(old, X, **parameters)
    out = imputer.transform_new(X_new, new, hops=100)
    expected = refit(np.concatenate([old, new], axis=1), np.concatenate([X, X_new]), **parameters)
    np.testing.assert_allclose(out, expected[len(X) :], rtol=1e-5, atol=1e-6)
    assert imputer.newcomers_.n_resolved > 200


def test_by_hand():
    """d hangs between known a and missing b, which moves with it: d = (1 + b)/2, b = (4 + d)/3."""
    path = Graph.from_edges(["a", "b"], ["b", "c"])
    imputer = FeaturePropagation(path, normalization="rw", solver="exact", keep_fill=True)
    imputer.fit([[1.0], [None], [3.0]])
    edges = [("d", "a"), ("b", "d")]
    assert imputer.transform_new([[None]], edges, ids=["d"])[0, 0] == pytest.approx(1.4, abs=1e-3)
    # With b at its old value 2, d = 1.5; b gives way to (4 + 1.5) / 3, and d follows.
    out = imputer.transform_new([[None]], edges, ids=["d"], hops=0)
    assert out[0, 0] == pytest.approx((1 + 5.5 / 3) / 2)
    done = imputer.newcomers_
    assert (done.n_new, done.n_resolved, done.n_held) == (1, 0, 2)
    assert done.drift == pytest.approx((2 - 5.5 / 3) / 2)


def test_known_cells_keep_their_bits_and_nothing_fitted_changes():
    old, new, X, X_new = grown_problem(dtype=np.float32)
    imputer = fitted(old, X)
    before, table = imputer.transform(X), pickle.dumps(imputer._kept_fill)
    out = imputer.transform_new(X_new, new)
    known = ~np.isnan(X_new)
    assert out.dtype == np.float32
    assert out[known].tobytes() == X_new[known].tobytes()
    assert np.isfinite(out).all()
    assert pickle.dumps(imputer._kept_fill) == table
    np.testing.assert_array_equal(imputer.transform(X), before)


def test_difference_and_drift_shrink_with_hops(monkeypatch):
    monkeypatch.setattr("graphfill.imputers._neighborhood.MOVED", 0.01)
    old, new, X, X_new = grown_problem(missing=0.8)
    imputer = fitted(old, X, solver="exact")
    differences, drifts = [], []
    for hops in (0, 2, 6):
        out, difference = imputer.transform_new(X_new, new, hops=hops, return_difference=True)
        assert imputer.newcomers_.difference == difference
        differences.append(difference)
        drifts.append(imputer.newcomers_.drift)
    both = np.concatenate([old, new], axis=1), np.concatenate([X, X_new])
    expected = refit(*both, solver="exact")[len(X) :][np.isnan(X_new)]
    found = out[np.isnan(X_new)]
    apart = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert differences[-1] == pytest.approx(apart, rel=1e-6)
    assert differences[0] > 2 * differences[1] > 2 * differences[2]
    assert max(drifts[1:]) < drifts[0] / 2


def test_a_long_chain_of_newcomers():
    """Between 0 and 1 at its ends, a chain of 200 newcomers is a straight line."""
    imputer = fitted(np.array([[0], [1]]), np.array([[0.0], [1.0]]), normalization="rw",
                     solver="exact")  # fmt: skip
    chain = np.array([0, *range(2, 202), 1])
    out = imputer.transform_new(np.full((200, 1), NAN), np.stack([chain[:-1], chain[1:]]))
    np.testing.assert_allclose(out[:, 0], np.arange(1, 201) / 201, atol=1e-6)


@pytest.mark.parametrize(("unreached", "value"), [("zero", 0.0), ("mean", 3.0), ("nan", NAN)])
@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
def test_out_of_reach(unreached, value):
    """Old node 2 knows nothing and says nothing; new 3 hangs on it, 4 on 0 and on 2, 5 is alone."""
    X = np.array([[2.0], [4.0], [NAN]])
    imputer = fitted(np.array([[0], [1]]), X, normalization="rw", unreached=unreached)
    with pytest.warns(UnreachedWarning, match="2 of 3 missing cells"):
        out = imputer.transform_new(np.full((3, 1), NAN), [(3, 2), (4, 0), (4, 2)], hops=0)
    np.testing.assert_allclose(out[:, 0], [value, 2.0, value])


@pytest.mark.parametrize("unreached", ["zero", "mean", "nan"])
@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
def test_cells_out_of_reach_differ_from_a_refit_by_what_its_policy_gives(unreached):
    """New 4 hangs on 1, between 1 and 3; new 5 on 3, which knows nothing."""
    X = np.array([[1.0], [NAN], [3.0], [NAN]])
    imputer = fitted(np.array([[0, 1], [1, 2]]), X, solver="exact", unreached=unreached)
    edges = [(4, 1), (5, 3)]
    _, difference = imputer.transform_new([[NAN], [NAN]], edges, return_difference=True)
    assert difference == pytest.approx(0.0, abs=1e-9)
    # A refit knows 8 too: its mean is 4 where the fit's was 2.
    X_new = [[NAN], [NAN], [8.0]]
    _, difference = imputer.transform_new(X_new, edges, return_difference=True)
    refit_by = {"zero": 0.0, "mean": 2.0 / np.hypot(2.0, 4.0), "nan": 0.0}
    assert difference == pytest.approx(refit_by[unreached], abs=1e-9)


def test_ids_weights_and_tables():
    graph = Graph.from_edges(["a", "b"], ["b", "c"], weight=[1.0, 2.0])
    X = pd.DataFrame({"x": [1.0, NAN, 4.0]}, index=["a", "b", "c"])
    imputer = FeaturePropagation(graph, normalization="rw", solver="exact", keep_fill=True).fit(X)
    edges = pd.DataFrame({"source": ["e", "e"], "target": ["a", "c"], "w": [1.0, 3.0]})
    X_new = pd.DataFrame({"x": [7.0, NAN]}, index=["d", "e"])
    out = imputer.transform_new(X_new, edges, weight="w")
    assert list(out.index) == ["d", "e"]
    np.testing.assert_allclose(out["x"], [7, 3.25])
    frame = pl.DataFrame({"x": [7.0, None]})
    out = imputer.transform_new(frame, edges[["source", "target"]], ids=["d", "e"], weight=[1, 3])
    assert out["x"].to_list() == pytest.approx([7, 3.25])


@pytest.mark.parametrize(("wanted", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
@pytest.mark.parametrize("given", [np.array, pd.DataFrame, pl.DataFrame])
def test_set_output_is_heeded(wanted, kind, given):
    graph = Graph.from_edges([0], [1], n_nodes=2)
    imputer = FeaturePropagation(graph, normalization="rw", keep_fill=True, add_indicator=True)
    imputer.set_output(transform=wanted).fit(given(np.array([[1.0, 2.0], [3.0, NAN]])))
    X_new = given(np.array([[NAN, 5.0]]))
    out = imputer.transform_new(X_new, [(2, 1)])
    assert isinstance(out, kind)
    assert list(out.columns) == list(imputer.get_feature_names_out())
    np.testing.assert_allclose(out.to_numpy(), [[3.0, 5.0, 0.0]])
    assert isinstance(imputer.transform_new(X_new, [(2, 1)], return_difference=True)[0], kind)


def test_weighted_links_to_a_graph_without_weights_count_as_a_refit_would():
    """d hangs on a = 1 with weight 1 and on c = 3 with weight 9: an old edge weighs 1."""
    path = Graph.from_edges(["a", "b"], ["b", "c"])
    imputer = FeaturePropagation(path, normalization="rw", solver="exact", keep_fill=True)
    imputer.fit([[1.0], [None], [3.0]])
    out, difference = imputer.transform_new(
        [[None]], [("d", "a"), ("d", "c")], ids=["d"], weight=[1.0, 9.0], return_difference=True
    )
    assert out[0, 0] == pytest.approx(2.8)
    assert difference == pytest.approx(0, abs=1e-6)


def test_refusals():
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    imputer = FeaturePropagation(graph, keep_fill=True)
    new = pd.DataFrame({0: [NAN]}, index=["d"])
    with pytest.raises(NotFittedError):
        imputer.transform_new(new, [("d", "a")])
    imputer.fit(pd.DataFrame({0: [1.0, NAN, 3.0]}, index=["a", "b", "c"]))
    refused = {
        r"new row 0 has the id 'a', which .* already": (new.set_axis(["a"]), [("a", "b")]),
        r"ends at 'q', which is neither one of the 3 fitted": (new, [("d", "q")]),
        r"2 column\(s\) but fit saw 1": (pd.DataFrame([[1, 2]], ["d"]), [("d", "a")]),
        r"links two fitted nodes \(rows 0 and 2": (new, [("d", "a"), ("a", "c")]),
        r"pass a pandas table whose index": ([[NAN]], [("d", "a")]),
    }
    for sentence, arguments in refused.items():
        with pytest.raises(InputError, match=sentence):
            imputer.transform_new(*arguments)
    with pytest.raises(InputError, match="fit it again with keep_fill=True"):
        FeaturePropagation(graph).fit([[1.0], [2.0], [3.0]]).transform_new(new, [("d", "a")])
    by_number = fitted(np.array([[0], [1]]), np.array([[0.0], [1.0]]))
    with pytest.raises(InputError, match="ends at 3, which is neither"):
        by_number.transform_new([[NAN]], [(0, 3)])


@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
def test_real_newcomers_are_close_to_a_refit():
    """One in a hundred nodes of Photo, the first 100 features, nine cells of ten missing."""
    data = data_set("amazon_photo")
    n, n_columns = data["x_shape"]
    X = np.zeros((n, n_columns), dtype=np.float32)
    X[np.repeat(np.arange(n), np.diff(data["x_indptr"])), data["x_indices"]] = 1
    rng = np.random.default_rng(0)
    X = X[:, :100]
    X[rng.random(X.shape) < 0.9] = np.nan
    order = rng.permutation(n)
    rank = np.argsort(order)
    edges, X, n_old = rank[data["edge_index"]], X[order], n - n // 100
    new = (edges >= n_old).any(axis=0)
    imputer = fitted(edges[:, ~new], X[:n_old])
    _, difference = imputer.transform_new(X[n_old:], edges[:, new], return_difference=True)
    assert difference < 0.02
    assert imputer.newcomers_.n_resolved < n / 10


def remote_region(n_columns):
    """A ring of unknown nodes, tied to one known node at first; then another one arrives."""
    n = 60
    ring = np.arange(1, n)
    edges = np.concatenate(
        [[ring, np.roll(ring, -1)], [ring, np.roll(ring, -7)], [[0], [1]]], axis=1
    )
    X = np.full((n, n_columns), NAN)
    X[0] = 1.0
    new = np.array([[n, n, n + 1], [n // 2, n // 2 + 3, 20]])
    X_new = np.full((2, n_columns), NAN)
    X_new[0, 1:] = np.linspace(1.0, 5.0, n_columns - 1)
    return edges, new, X, X_new


def test_columns_that_a_whole_region_moves_in_are_solved_in_the_whole_graph():
    old, new, X, X_new = remote_region(n_columns=64)
    parameters = {"normalization": "rw", "solver": "exact"}
    imputer = fitted(old, X, **parameters)
    out = imputer.transform_new(X_new, new)
    expected = refit(np.concatenate([old, new], axis=1), np.concatenate([X, X_new]), **parameters)
    off = np.abs(out - expected[len(X) :])[1]
    assert imputer.newcomers_.n_columns == 1
    assert off[-1] < 0.01  # the column that moves most
    assert off[-2] > 0.1  # the next, which the neighbourhood alone has to answer for
    imputer.set_params(solver="diffusion").fit(X).transform_new(X_new, new)
    assert imputer.newcomers_.n_columns == 0


@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
def test_fitted_cells_that_were_left_missing_start_at_zero():
    """Old 3 is out of reach until new 4 links it to 1, which lies between 1 and 3."""
    X = np.full((4, 64), NAN)
    X[0], X[2] = 1.0, 3.0
    parameters = {"normalization": "rw", "solver": "exact", "unreached": "nan"}
    imputer = fitted(np.array([[0, 1], [1, 2]]), X, **parameters)
    out = imputer.transform_new(np.full((1, 64), NAN), [(4, 1), (4, 3)])
    assert imputer.newcomers_.n_columns == 1
    np.testing.assert_allclose(out, 2.0, atol=1e-3)


def test_few_columns_are_left_to_the_neighbourhood():
    old, new, X, X_new = remote_region(n_columns=63)
    imputer = fitted(old, X, solver="exact")
    imputer.transform_new(X_new, new)
    assert imputer.newcomers_.n_columns == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
def test_a_grown_graph_is_the_graph_of_all_edges(weighted, self_loops):
    old, new, X, X_new = grown_problem(missing=0.3)
    n = len(X) + len(X_new)
    old = np.concatenate([old, [[3], [3]]], axis=1)
    rng = np.random.default_rng(0)
    w_old, w_new = (rng.random(e.shape[1]) if weighted else None for e in (old, new))
    both = None if w_old is None else np.concatenate([w_old, w_new])
    made = grown(
        Graph.from_edges(*old, weight=w_old, n_nodes=len(X), self_loops=self_loops),
        Graph.from_edges(*new, weight=w_new, n_nodes=n),
    )
    expected = Graph.from_edges(
        *np.concatenate([old, new], axis=1), weight=both, n_nodes=n, self_loops=self_loops
    )
    for name in ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name))
    np.testing.assert_array_equal(made.degrees(), expected.degrees())
    assert made.n_self_loops == expected.n_self_loops
