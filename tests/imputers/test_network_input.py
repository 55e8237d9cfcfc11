"""The chosen input of a network: no label where it must not be, a choice that fits the graph."""

import numpy as np
import pytest
from scipy import sparse

import graphfill as gf
from graphfill.imputers._input_blocks import feature_blocks
from graphfill.imputers._label_folds import LabelFolds
from graphfill.imputers._probe import fit
from graphfill.solve._positions import normalized_adjacency

N = 300


def made(seed=0, *, alike=True, n=N):
    """A graph of three classes whose links join the same class, or any; features tell a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    source = rng.integers(0, n, 4 * n)
    target = rng.integers(0, n, 4 * n)
    if alike:
        same = [np.flatnonzero(y == c) for c in range(3)]
        target = np.array([rng.choice(same[y[s]]) for s in source])
    X = rng.normal(np.eye(3)[y] @ rng.normal(size=(3, 6)), 1.0)
    graph = gf.Graph.from_edges(source, target, n_nodes=n)
    train = np.where(np.arange(n) % 4 == 0, y, -1)
    validation = np.where(np.arange(n) % 4 == 1, y, -1)
    return X, graph, y, train, validation


def without_rows(X, share=0.9, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).random(len(X)) < share] = np.nan
    return X


def split(found):
    """The columns of each block."""
    ends = np.cumsum(list(found.blocks.values()))
    return dict(zip(found.blocks, np.split(found.X, ends[:-1], axis=1), strict=True))


def test_no_labelled_node_sees_its_own_label():
    _, graph, _, train, _ = made()
    S = normalized_adjacency(graph)
    block = LabelFolds(train, 3, S, seed=0).block()
    np.testing.assert_allclose(block.sum(axis=1), 1.0)
    for node in np.flatnonzero(train >= 0)[:20]:
        for other in range(3):
            changed = train.copy()
            changed[node] = other
            assert np.array_equal(LabelFolds(changed, 3, S, seed=0).block()[node], block[node])


def test_held_folds_have_no_part_in_the_block():
    _, graph, _, train, _ = made()
    S = normalized_adjacency(graph)
    folds = LabelFolds(train, 3, S, seed=0)
    held = np.isin(folds.fold, (0, 5))
    changed = np.where(held, (train + 1) % 3, train)
    assert np.array_equal(LabelFolds(changed, 3, S, seed=0).block((0, 5)), folds.block((0, 5)))


def test_labels_weigh_the_same_whatever_their_number():
    """In a graph that says nothing no class is ahead for being frequent, nor behind for a fold."""
    n = 400
    everyone = gf.Graph.from_edges(*np.triu_indices(n, 1), n_nodes=n)
    train = np.where(np.arange(n) < 100, (np.arange(n) % 10 == 0).astype(int), -1)
    block = LabelFolds(train, 2, normalized_adjacency(everyone), seed=0).block()
    np.testing.assert_allclose(block[100:], 0.5, atol=0.02)
    assert abs(block[:100][train[:100] == 0] - 0.5).max() < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_validation_labels_change_the_choice_alone(seed):
    X, graph, _, train, validation = made(seed)
    X, rng = without_rows(X, 0.6, seed), np.random.default_rng(seed)
    there, seen = validation >= 0, {}
    for _ in range(4):
        validation[there] = rng.permutation(validation[there])
        found = gf.network_input(X, graph, train, validation=validation)
        assert found.judged_by == "validation labels"
        for name, block in split(found).items():
            assert np.array_equal(seen.setdefault(name, block), block)


def test_the_same_bits_for_any_number_of_threads():
    X, graph, _, train, validation = made()
    X = without_rows(X)
    one = gf.network_input(X, graph, train, validation=validation, threads=1)
    for threads in (2, 3):
        other = gf.network_input(X, graph, train, validation=validation, threads=threads)
        assert np.array_equal(other.X, one.X)
        assert other.scores == one.scores


def test_units_do_not_matter_and_the_input_stays():
    X, graph, _, train, _ = made()
    X = without_rows(X)
    before = X.copy()
    one = gf.network_input(X, graph, train)
    assert np.array_equal(X, before, equal_nan=True)
    other = gf.network_input(1000.0 * X + 7.0, graph, train)
    assert other.blocks == one.blocks
    np.testing.assert_allclose(other.X, one.X, atol=1e-6)


def test_whole_nodes_missing_brings_in_the_graph_and_the_labels():
    X, graph, _, train, _ = made()
    found = gf.network_input(without_rows(X, 0.98), graph, train)
    assert {"eigenvectors", "labels"} < set(found.blocks)
    assert found.judged_by == "training labels"
    assert found.scores[" + ".join(found.blocks)] > 0.5
    assert found.X.shape == (N, sum(found.blocks.values()))
    assert "*" in str(found)
    assert "Chosen by the training labels of 75 nodes" in str(found)


def test_links_that_say_nothing_bring_in_neither():
    X, graph, _, train, validation = made(alike=False)
    for judge in (None, validation):
        found = gf.network_input(without_rows(X, 0.3), graph, train, validation=judge)
        assert len(found.blocks) == 1
        assert not {"eigenvectors", "labels"} & set(found.blocks)


def test_without_labels_held_out_cells_choose():
    X, graph, _, train, _ = made()
    for labels in (None, np.full(N, np.nan), np.where(np.arange(N) < 10, train, -1)):
        found = gf.network_input(without_rows(X, 0.5), graph, labels)
        assert found.judged_by == "held-out cells"
        assert "labels" not in found.blocks
        assert "chosen by held-out cells" in found.reason
    # Neighbours that say nothing: no fill is better than where the cells are.
    X, graph, *_ = made(alike=False)
    X = np.random.default_rng(0).normal(size=X.shape)
    found = gf.network_input(without_rows(X, 0.5), graph)
    assert "eigenvectors" not in found.blocks


def test_nothing_missing_and_all_missing():
    X, graph, _, train, _ = made()
    full = gf.network_input(X, graph, train)
    assert next(iter(full.blocks)) == "features"
    assert not {"fp", "pcfi", "exact", "indicator"} & set(full.blocks)
    nothing = np.full((N, 2), np.nan)
    assert list(gf.network_input(nothing, graph, train).blocks) == ["eigenvectors", "labels"]
    assert list(gf.network_input(nothing, graph).blocks) == ["eigenvectors"]
    apart = gf.Graph.from_edges([], [], n_nodes=N)
    assert list(gf.network_input(X, apart, train).blocks) == ["features"]
    with pytest.raises(gf.InputError, match="there is nothing to make an input of"):
        gf.network_input(nothing, apart)


def test_columns_that_do_not_vary_and_one_known_cell():
    X, graph, _, train, _ = made()
    X[:, 0] = 5.0
    assert np.isfinite(gf.network_input(without_rows(X), graph, train).X).all()
    X[1:] = np.nan
    assert np.isfinite(gf.network_input(X, graph, train).X).all()
    assert np.isfinite(gf.network_input(X, graph).X).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_type_that_came_in(dtype):
    X, graph, _, train, _ = made()
    assert gf.network_input(without_rows(X).astype(dtype), graph, train).X.dtype == dtype


def test_weights_of_links_count():
    """Links inside classes weigh more than as many to anywhere."""
    X, graph, _, train, _ = made()
    noise = made(alike=False)[1]
    parts = [np.repeat(np.arange(N), np.diff(g.indptr)) for g in (graph, noise)]
    ends = np.hstack(parts), np.hstack([graph.indices, noise.indices])
    heavy = np.repeat([10.0, 0.01], [len(part) for part in parts])
    mixed = gf.Graph.from_edges(*ends, weight=heavy, n_nodes=N)
    found = gf.network_input(without_rows(X, 0.98), mixed, train)
    plain = gf.network_input(without_rows(X, 0.98), gf.Graph.from_edges(*ends, n_nodes=N), train)
    assert max(found.scores.values()) > max(plain.scores.values()) + 0.1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels": np.zeros((N, 2))}, "must hold one class per node: of nodes with several"),
        ({"labels": np.zeros(5)}, "labels has 5 entries but X has 300 rows"),
        ({"labels": np.zeros(N)}, "names a class for every node, so that labels of test nodes"),
        ({"labels": np.full(N, 0.5)}, "labels holds 0.5 at row 0 but a class is a whole number"),
        ({"labels": np.full(N, -2)}, "labels holds -2 at row 0"),
        ({"labels": ["a"] * N}, "classes as whole numbers: number them"),
        ({"validation": np.zeros(N)}, "Row 0 has a label in labels and in validation"),
        ({"X": sparse.eye_array(N)}, "Sparse X cannot tell a missing cell from a zero"),
        ({"X": np.ones((5, 2))}, "5 row"),
        ({"X": np.full((N, 2), np.inf)}, "is infinite"),
        ({"seed": -1}, "seed is -1"),
        ({"threads": 0}, "threads is 0"),
    ],
)
def test_refusals(change, sentence):
    X, graph, _, train, _ = made()
    given = {"X": X, "graph": graph, "labels": train} | change
    with pytest.raises(gf.InputError, match=sentence):
        gf.network_input(**given)


def test_wide_tables_are_not_filled_by_the_field():
    X, graph, *_ = made()
    wide = without_rows(np.hstack([X] * 11))
    assert set(feature_blocks(wide, graph, 1)) == {"indicator", "fp", "exact", "pcfi"}
    assert {"spectral", "field"} < set(feature_blocks(wide[:, :6], graph, 1))


def test_ridge_is_the_same_from_either_side():
    """More rows than columns, or fewer: both equal the normal equations."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 40)
    for width in (5, 90):
        A, B = rng.normal(size=(40, width)), rng.normal(size=(7, width))
        truth = rng.integers(0, 3, 7)
        found = fit(A, codes, B, truth, 3)
        Y, centre = np.eye(3)[codes], A.mean(axis=0)
        Z = A - centre
        penalty = 1e-2 * (Z**2).sum() / 40
        weights = np.linalg.solve(Z.T @ Z + penalty * np.eye(width), Z.T @ (Y - Y.mean(axis=0)))
        expected = Y.mean(axis=0) + (B - centre) @ weights
        np.testing.assert_allclose(found.lost[1], ((expected - np.eye(3)[truth]) ** 2).sum(axis=1))
        assert np.array_equal(found.right[1], expected.argmax(axis=1) == truth)
