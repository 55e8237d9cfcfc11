"""Feature Propagation as an estimator: against dense formulas, and the plain function."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from graphfill import ConvergenceWarning, FeaturePropagation, Graph, InputError, UnreachedWarning
from graphfill.solve import propagate

NAN = float("nan")


def random_graph(n=30, p=0.15, seed=0, weighted=True):
    """A connected graph and its dense adjacency."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < p, 1) * (rng.random((n, n)) if weighted else 1.0)
    A[np.arange(n - 1), np.arange(1, n)] = 1.0
    A = A + A.T
    return Graph.from_scipy(scipy.sparse.csr_array(A)), A


def random_table(n=30, n_columns=4, missing=0.6, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    X[rng.random(X.shape) < missing] = np.nan
    X[0] = 1.0  # at least one known cell per column
    return X


def dense_operator(A, normalization):
    d = A.sum(axis=1)
    return A / d[:, None] if normalization == "rw" else A / np.sqrt(np.outer(d, d))


def dense_limit(X, A, normalization):
    """x_u = (I - S_uu)^-1 S_uk x_k, column by column."""
    S = dense_operator(A, normalization)
    out = X.copy()
    for x in out.T:
        u, k = np.isnan(x), ~np.isnan(x)
        x[u] = np.linalg.solve(np.eye(u.sum()) - S[np.ix_(u, u)], S[np.ix_(u, k)] @ x[k])
    return out


def dense_diffusion(X, A, normalization, n_iter):
    S = dense_operator(A, normalization)
    known = ~np.isnan(X)
    Z = np.where(known, X, 0)
    for _ in range(n_iter):
        Z = np.where(known, X, S @ Z)
    return Z


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize("normalization", ["sym", "rw"])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-8), (np.float32, 1e-4)])
def test_exact_is_the_dense_limit(n, normalization, dtype, atol):
    graph, A = random_graph(n, p=5 / n)
    X = random_table(n).astype(dtype)
    imputer = FeaturePropagation(graph, normalization=normalization, solver="exact")
    expected = dense_limit(X.astype(np.float64), A, normalization)
    np.testing.assert_allclose(imputer.fit_transform(X), expected, atol=atol)


@pytest.mark.parametrize("normalization", ["sym", "rw"])
@pytest.mark.parametrize("n_iter", [1, 40])
def test_diffusion_is_the_paper_step_by_step(normalization, n_iter):
    graph, A = random_graph()
    X = random_table()
    imputer = FeaturePropagation(graph, normalization=normalization, n_iter=n_iter)
    expected = dense_diffusion(X, A, normalization, n_iter)
    np.testing.assert_allclose(imputer.fit_transform(X), expected, atol=1e-12)
    assert imputer.n_iter_ == n_iter


def test_by_hand():
    """On a path of three, rw fills the middle with the mean and sym with sqrt(2) times it."""
    path = Graph.from_edges([0, 1], [1, 2], n_nodes=3)
    X = np.array([[1.0], [NAN], [1.0]])
    for normalization, middle in (("rw", 1.0), ("sym", np.sqrt(2))):
        imputer = FeaturePropagation(path, normalization=normalization)
        np.testing.assert_allclose(imputer.fit_transform(X), [[1], [middle], [1]])


@pytest.mark.parametrize(
    "parameters",
    [
        {"normalization": "rw", "solver": "exact", "tol": 1e-3, "max_iter": 50},
        {"solver": "chebyshev", "n_iter": 10},
        {"self_loops": True, "n_iter": 3},
        {"normalization": "rw", "shrinkage": 0.5, "solver": "exact"},
        {"reorder": True, "memory_limit": "1GB", "threads": 1},
    ],
    ids=str,
)
def test_every_parameter_reaches_the_plain_function(parameters):
    graph, _ = random_graph(100, p=0.05)
    X = random_table(100)
    imputer = FeaturePropagation(graph, **parameters)
    result = propagate(X, graph, **parameters)
    np.testing.assert_array_equal(imputer.fit_transform(X), result.X)
    assert (imputer.n_iter_, imputer.residual_) == (result.n_iter, result.residual)


@pytest.mark.parametrize(
    "parameters",
    [{"normalization": "l2"}, {"solver": "magic"}, {"n_iter": -1}, {"shrinkage": -1}, {"tol": "x"}],
    ids=str,
)
@pytest.mark.parametrize("graph", [None, random_graph()[0]], ids=["no graph", "graph"])
def test_parameters_are_refused_in_fit(parameters, graph):
    imputer = FeaturePropagation(graph, **parameters)
    with pytest.raises(InputError, match=next(iter(parameters))):
        imputer.fit(random_table())


def test_not_converged_is_said():
    graph, _ = random_graph(200, p=0.01)
    imputer = FeaturePropagation(graph, solver="exact", tol=1e-12, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="residual"):
        imputer.fit(random_table(200))
    assert imputer.residual_ > 1e-12


@pytest.mark.parametrize(("unreached", "value"), [("zero", 0.0), ("mean", 2.0), ("nan", NAN)])
def test_cells_out_of_reach_follow_the_policy(unreached, value):
    """Nodes 0-1-2 know the column; 3-4 and the isolated 5 do not."""
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], n_nodes=6)
    X = np.array([[1.0], [NAN], [3.0], [NAN], [NAN], [NAN]])
    imputer = FeaturePropagation(graph, normalization="rw", unreached=unreached)
    with pytest.warns(UnreachedWarning, match="3 of 4 missing cells") as caught:
        out = imputer.fit_transform(X)
    assert len(caught) == 1
    np.testing.assert_allclose(out[:3, 0], [1, 2, 3])
    np.testing.assert_array_equal(out[3:, 0], [value] * 3)
    assert imputer.unreached_[:, 0].tolist() == [False] * 3 + [True] * 3


@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
def test_policy_mean_is_the_mean_seen_in_fit():
    graph = Graph.from_edges([0], [1], n_nodes=3)
    imputer = FeaturePropagation(graph, unreached="mean").fit([[1.0], [3.0], [None]])
    assert imputer.transform([[10.0], [10.0], [None]])[2] == 2.0


def test_a_split_by_id_fills_test_rows_from_train_rows():
    """On the path a-b-c-d, test row b lies between train rows a and c."""
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    train = pd.DataFrame({"x": [3.0, 1.0]}, index=["c", "a"])
    test = pd.DataFrame({"x": [NAN, NAN]}, index=["d", "b"])
    imputer = FeaturePropagation(graph, normalization="rw", solver="exact").fit(train)
    np.testing.assert_allclose(imputer.transform(test)["x"], [3, 2])
    # A known cell in a test row becomes a source, and a hidden one stops being one.
    assert imputer.transform(pd.DataFrame({"x": [5.0, NAN]}, ["b", "a"]))["x"]["a"] == 5
    np.testing.assert_allclose(imputer.transform(pd.DataFrame({"x": [NAN] * 2}, ["c", "b"])), 1)
    np.testing.assert_allclose(imputer.transform(test)["x"], [3, 2])


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.coo_matrix, np.asarray])
def test_graphs_of_other_libraries(form):
    graph, A = random_graph(weighted=False)
    X = random_table()
    expected = FeaturePropagation(graph).fit_transform(X)
    np.testing.assert_array_equal(FeaturePropagation(form(A)).fit_transform(X), expected)
    np.testing.assert_array_equal(FeaturePropagation(nx.Graph(A)).fit_transform(X), expected)


def test_repr_shows_what_was_changed():
    assert repr(FeaturePropagation(n_iter=3)) == "FeaturePropagation(n_iter=3)"


def test_self_loops_are_on_or_off():
    with pytest.raises(InputError, match="self_loops is 'no' but must be True or False"):
        FeaturePropagation(Graph.from_edges([0], [1]), self_loops="no").fit([[1.0], [None]])
