"""Fills: each by its formula, and a user's own held to what a fill must be."""

import numpy as np
import pytest
from bench.groups import linked_groups
from scipy import sparse

from graphfill import Graph, InputError
from graphfill.bench._fills import (
    FILLS,
    INPUTS,
    check_filled,
    make_input,
    makes_input,
    resolve,
    versioned,
)
from graphfill.bench._problem import Dataset, Problem, Split
from graphfill.bench._runs import reconstruction_error


def adjacency(graph):
    ones = np.ones(graph.indices.size)
    return sparse.csr_array((ones, graph.indices, graph.indptr)).toarray()


@pytest.fixture(scope="module")
def gappy():
    made_up = linked_groups()
    X = made_up.X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.7] = np.nan
    X[:, 5] = np.nan  # a column that nobody knows
    return X, made_up.graph


@pytest.mark.parametrize("name", FILLS)
def test_known_cells_stay_and_gaps_go(gappy, name):
    X, graph = gappy
    before = X.copy()
    filled = resolve(name)(X, graph, 3)
    known = ~np.isnan(X)
    if name == "mim":
        filled, indicator = np.split(filled, 2, axis=1)
        assert np.array_equal(indicator, ~known)
    assert filled.dtype == np.float32
    assert np.array_equal(filled[known], X[known])
    assert np.isfinite(filled).all()
    assert np.array_equal(X, before, equal_nan=True)
    if name != "random":
        assert not filled[:, 5].any()


@pytest.mark.parametrize(("name", "loops"), [("fp", 0), ("fp-loops", 1)])
def test_forty_steps_with_and_without_loops(gappy, name, loops):
    X, graph = gappy
    A = adjacency(graph) + loops * np.eye(len(X))
    scale = 1 / np.sqrt(A.sum(axis=1))
    S = scale[:, None] * A * scale
    known = ~np.isnan(X)
    Z = np.where(known, X, 0).astype(float)
    for _ in range(40):
        Z = np.where(known, X, S @ Z)
    assert np.allclose(resolve(name)(X, graph, 0), Z, atol=1e-5)


def test_the_exact_fill_is_a_fixed_point(gappy):
    X, graph = gappy
    Z = resolve("fp-exact")(X, graph, 0)
    A = adjacency(graph)
    scale = 1 / np.sqrt(A.sum(axis=1))
    missing = np.isnan(X)
    assert np.allclose(Z[missing], ((scale[:, None] * A * scale) @ Z)[missing], atol=1e-4)


def test_random_is_normal_and_seeded(gappy):
    X, graph = gappy
    drawn = resolve("random")(X, graph, 0)[np.isnan(X)]
    assert abs(drawn.mean()) < 0.15
    assert abs(drawn.std() - 1) < 0.1
    assert np.array_equal(drawn, resolve("random")(X, graph, 0)[np.isnan(X)])
    assert not np.array_equal(drawn, resolve("random")(X, graph, 1)[np.isnan(X)])


OWN = """
import numpy as np
def halves(X, graph, seed):
    return np.where(np.isnan(X), 0.5, X)
def leaves_a_gap(X, graph, seed):
    return np.where(np.arange(X.shape[1]) == 7, X, np.nan_to_num(X))
def turned(X, graph, seed):
    return np.nan_to_num(X).T
def overwrites(X, graph, seed):
    X[:] = 0
    return X
def raises(X, graph, seed):
    raise RuntimeError("no idea")
answer = 42
"""


def test_a_users_own_fill(gappy, tmp_path):
    X, graph = gappy
    file = tmp_path / "own@home.py"
    file.write_text(OWN)

    def own(name):
        return resolve(f"{file}:{name}")(X, graph, 0)

    assert (own("halves")[np.isnan(X)] == 0.5).all()
    row = int(np.argmax(np.isnan(X[:, 7])))
    with pytest.raises(InputError, match=f"left nan at row {row}, column 7"):
        own("leaves_a_gap")
    with pytest.raises(InputError, match=r"shape \(10, 120\) but was given one of \(120, 10\)"):
        own("turned")
    row, column = (int(k) for k in np.argwhere(~np.isnan(X))[0])
    with pytest.raises(InputError, match=f"changed the known cell at row {row}, column {column}"):
        own("overwrites")
    with pytest.raises(InputError, match=r"failed \(RuntimeError: no idea\)"):
        own("raises")
    for name, reason in (("answer", "no function"), ("nobody", "no function")):
        with pytest.raises(InputError, match=reason):
            resolve(f"{file}:{name}")
    with pytest.raises(InputError, match=r"cannot be loaded \(FileNotFoundError"):
        resolve(f"{tmp_path}/absent.py:fill")
    with pytest.raises(InputError, match=r"cannot be loaded \(ModuleNotFoundError"):
        resolve("no_such_module:fill")


def test_another_version_has_another_name(gappy, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    before = versioned(f"{file}:halves")
    assert (resolve(before)(*gappy, 0)[np.isnan(gappy[0])] == 0.5).all()
    file.write_text(OWN.replace("0.5", "0.25"))
    assert versioned(f"{file}:halves") != before
    assert versioned("numpy:nan_to_num").startswith("numpy:nan_to_num@")


def test_a_fill_beyond_float32_is_refused():
    X = np.array([[1.0], [np.nan]], np.float32)
    with pytest.raises(InputError, match=r"left 1e\+39 at row 1, column 0: return a number"):
        check_filled("big", np.array([[1.0], [1e39]]), X)


def test_a_users_own_input_sees_training_labels_and_returns_any_columns(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "import numpy as np\n"
        "def rich(X, graph, seed, labels):\n"
        "    return np.stack([labels, 7.0 * np.arange(len(X)), np.nan_to_num(X[:, 0])], axis=1)\n"
        "def gap(X, graph, seed, labels=None):\n    return X\n"
        "def short(X, graph, seed, labels):\n    return X[1:]\n"
    )
    rows = [np.array(part) for part in ([0, 3], [1], [2, 4])]
    y = np.array([1, 0, 1, 0, 1])
    X = np.arange(10, dtype=np.float32).reshape(5, 2)
    hidden = np.zeros((5, 2), bool)
    hidden[2] = True
    ring = Graph.from_edges(range(5), [1, 2, 3, 4, 0])
    problem = Problem(Dataset("ring", ring, X, y), Split(*rows), hidden, seed=0)
    assert makes_input(f"{file}:rich")
    assert not makes_input("fp")
    made, details = make_input(problem, f"{file}:rich")
    assert made.dtype == np.float32
    assert made[:, 0].tolist() == [1, -1, -1, 0, -1]
    assert details == {}
    assert reconstruction_error(problem, f"{file}:rich", made) is None
    with pytest.raises(InputError, match="left nan at row 2, column 0"):
        make_input(problem, f"{file}:gap")
    with pytest.raises(InputError, match="one row for each of the 5 nodes"):
        make_input(problem, f"{file}:short")


@pytest.mark.parametrize("method", INPUTS)
def test_test_labels_never_reach_the_chosen_input(method):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    ends = 2 * rng.integers(0, 100, (2, 600)) + np.arange(600) % 2
    graph = Graph.from_edges(*ends, n_nodes=200)
    X = rng.normal(y[:, None], 1.0, (200, 3)).astype(np.float32)
    parts = np.split(rng.permutation(200), [60, 120])
    split = Split(*map(np.sort, parts))
    hidden = rng.random(X.shape) < 0.8
    made = []
    for _ in range(2):
        problem = Problem(Dataset("two", graph, X, y.copy()), split, hidden, seed=0)
        made.append(make_input(problem, method))
        y[split.test] = 1 - y[split.test]
    assert np.array_equal(made[0][0], made[1][0])
    assert made[0][1] == made[1][1]
    assert "labels" in made[0][1]["blocks"]
