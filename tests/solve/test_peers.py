"""What other implementations get silently wrong, and what we do instead.

Each test states our answer; where PyTorch Geometric can be run on the case, it also shows
that its answer is another, so that the test would fail on the peer's behaviour.
"""

import warnings

import numpy as np
import pytest
import torch
from reference import data_set, dense_features
from torch_geometric.data import Data
from torch_geometric.transforms import FeaturePropagation as PyGFeaturePropagation

import graphfill as gf

nan = np.nan


def pyg(X, edges, steps=40, missing=None, **attributes):
    """PyG's own transform on float64 values."""
    X = torch.as_tensor(np.asarray(X, dtype=float))
    missing = torch.isnan(X) if missing is None else torch.as_tensor(missing)
    edges = torch.as_tensor(np.asarray(edges))
    if not attributes:  # else PyG makes weights of ones in float32 and cannot multiply
        attributes = {"edge_weight": torch.ones(edges.shape[1], dtype=torch.float64)}
    data = Data(x=X.clone(), edge_index=edges, **attributes)
    return PyGFeaturePropagation(missing_mask=missing, num_iterations=steps)(data).x.numpy()


def both_ways(edges):
    edges = np.asarray(edges)
    return np.concatenate([edges, edges[::-1]], axis=1)


def test_component_without_a_known_cell():
    X = [[1.0, 5.0], [nan, nan], [nan, nan], [nan, nan]]
    edges = both_ways([[0, 2], [1, 3]])
    graph = gf.Graph.from_edges(edges)
    assert pyg(X, edges)[2:].tolist() == [[0, 0], [0, 0]]  # and not a word
    with pytest.warns(gf.UnreachedWarning, match="^4 of 6 missing cells"):
        result = gf.propagate(X, graph, unreached="nan")
    np.testing.assert_array_equal(np.isnan(result.X), result.unreached)
    assert result.unreached.tolist() == [[False, False]] * 2 + [[True, True]] * 2


def test_isolated_node():
    X = [[1.0], [nan], [nan]]
    edges = both_ways([[0], [1]])
    assert pyg(X, edges)[2, 0] == 0
    with pytest.warns(gf.UnreachedWarning, match="^1 of 2 missing cells"):
        result = gf.propagate(X, gf.Graph.from_edges(edges, n_nodes=3), unreached="mean")
    assert result.X[2, 0] == 1.0


def test_directed_edges_carry_information_both_ways():
    X = [[nan], [nan], [1.0]]
    arcs = [[0, 1], [1, 2]]  # 0 -> 1 -> 2: messages never flow back to 0
    assert pyg(X, arcs)[:, 0].tolist() == [0, 0, 1]
    result = gf.propagate(X, gf.Graph.from_edges(arcs), normalization="rw", solver="exact")
    np.testing.assert_allclose(result.X[:, 0], 1.0)
    with pytest.raises(gf.InputError):
        gf.Graph.from_edges(arcs, directed="refuse")


def test_asymmetric_matrix_is_symmetrised_with_a_notice():
    import scipy.sparse as sp

    A = sp.csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    with pytest.warns(gf.SymmetrizedWarning):
        graph = gf.Graph.from_scipy(A)
    assert graph.n_edges == 2
    with pytest.raises(gf.InputError):
        gf.Graph.from_scipy(A, directed="refuse")


def test_nan_outside_the_mask():
    X = np.array([[1.0], [nan], [nan], [4.0]])
    edges = both_ways([[0, 1, 2], [1, 2, 3]])
    mask = np.array([[False], [True], [False], [False]])  # forgets that row 2 is NaN
    assert np.isnan(pyg(X, edges, missing=mask)[1, 0])  # it has spread
    graph = gf.Graph.from_edges(edges)
    with pytest.raises(gf.InputError, match="row 2, column 0 is NaN but missing_mask calls it"):
        gf.propagate(X, graph, missing_mask=mask)
    filled = gf.propagate(X, graph, normalization="rw", solver="exact").X
    np.testing.assert_allclose(filled[:, 0], [1, 2, 3, 4])


def test_edge_attributes_are_weights_only_by_name():
    X = [[0.0], [nan], [1.0]]
    edges = both_ways([[0, 1], [1, 2]])
    distance = torch.tensor([1.0, 9.0, 1.0, 9.0], dtype=torch.float64)
    with_attribute = pyg(X, edges, edge_attr=distance)
    assert not np.allclose(with_attribute, pyg(X, edges))  # PyG took it for a weight
    data = Data(edge_index=torch.as_tensor(edges), edge_attr=distance, num_nodes=3)
    options = {"normalization": "rw", "solver": "exact"}
    plain = gf.propagate(X, gf.Graph.from_pyg(data), **options)
    assert plain.X[1, 0] == 0.5
    asked = gf.propagate(X, gf.Graph.from_pyg(data, edge_weight="edge_attr"), **options)
    np.testing.assert_allclose(asked.X[1, 0], 0.9)


@pytest.mark.parametrize("weight", [-1.0, nan, np.inf])
def test_impossible_weights_are_refused(weight):
    with pytest.raises(gf.InputError, match="Edge 1"):
        gf.Graph.from_edges([0, 1], [1, 2], weight=[1.0, weight])


def test_negative_values_are_ordinary():
    result = gf.propagate([-1.0, nan, -3.0], gf.Graph.from_edges([0, 1], [1, 2]),
                          normalization="rw", solver="exact")  # fmt: skip
    np.testing.assert_allclose(result.X, [-1, -2, -3])


@pytest.mark.parametrize(
    "X",
    [
        [1, None, 3],
        np.array([1, None, 3], dtype=object),
        np.array([1.0, nan, 3.0]),
        np.array([[1.0], [nan], [3.0]], dtype=np.float16),
    ],
)
def test_integers_one_dimension_and_objects(X):
    graph = gf.Graph.from_edges([0, 1], [1, 2])
    filled = np.asarray(gf.propagate(X, graph, normalization="rw", solver="exact").X)
    assert filled.ravel().tolist() == [1, 2, 3]


def test_integers_with_a_mask():
    graph = gf.Graph.from_edges([0, 1], [1, 2])
    X, mask = np.array([[1], [7], [4]]), np.array([[False], [True], [False]])
    filled = gf.propagate(X, graph, missing_mask=mask, normalization="rw", solver="exact").X
    assert filled.tolist() == [[1], [2.5], [4]]


def test_words_are_refused_in_a_sentence():
    graph = gf.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(gf.InputError, match="row 1, column 0 holds 'x'"):
        gf.propagate(np.array([[1], ["x"], [2]], dtype=object), graph)


def test_not_converged_is_said():
    n = 200
    edges = both_ways([np.arange(n - 1), np.arange(1, n)])
    X = np.full((n, 1), nan)
    X[0], X[-1] = 0.0, 1.0
    forty = pyg(X, edges)
    limit = gf.propagate(X, gf.Graph.from_edges(edges), solver="exact").X
    assert np.abs(forty - limit).max() > 0.4  # 40 steps are nowhere near, silently
    with pytest.warns(gf.ConvergenceWarning, match="residual"):
        result = gf.propagate(X, gf.Graph.from_edges(edges), tol=1e-3)
    assert result.converged is False
    np.testing.assert_allclose(result.X, forty, atol=1e-12)


def test_column_all_missing_is_kept_and_named():
    graph = gf.Graph.from_edges([0, 1], [1, 2])
    X = np.array([[1.0, nan], [nan, nan], [3.0, nan]])
    with pytest.warns(gf.UnreachedWarning, match="columns without any known cell: 1$"):
        assert gf.propagate(X, graph).X.shape == (3, 2)


def fill(X, graph):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.UnreachedWarning)
        return gf.propagate(X, graph).X


@pytest.mark.parametrize("missing", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("whole_nodes", [False, True], ids=["cells", "nodes"])
class TestPaperModeEqualsPyG:
    def hide(self, X, missing, whole_nodes, seed=0):
        rng = np.random.default_rng(seed)
        lost = rng.random((len(X), 1) if whole_nodes else X.shape) < missing
        return np.broadcast_to(lost, X.shape).copy()

    @pytest.mark.parametrize("name", ["cora", "amazon_photo", "pubmed"])
    def test_on_the_papers_graphs(self, name, missing, whole_nodes):
        data = data_set(name)
        columns = slice(0, 60)  # each column is a problem of its own
        X, edges = dense_features(data)[:, columns], data["edge_index"].astype(np.int64)
        graph = gf.Graph.from_edges(edges, n_nodes=len(X))
        lost = self.hide(X, missing, whole_nodes)
        exact = pyg(X, both_ways(edges), missing=lost)
        ours = fill(np.where(lost, nan, X.astype(float)), graph)
        assert np.abs(ours - exact).max() <= 1e-6

        # In float32 neither is nearer to the float64 answer than rounding allows.
        single = Data(x=torch.from_numpy(X.copy()), edge_index=torch.from_numpy(both_ways(edges)))
        single = PyGFeaturePropagation(torch.from_numpy(lost))(single).x.numpy()
        ours = fill(np.where(lost, np.float32(nan), X), graph)
        rounding = max(np.abs(single - exact).max(), 1e-6)
        assert np.abs(ours - exact).max() <= 2 * rounding

    def test_on_weighted_graphs(self, missing, whole_nodes):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            n = 400
            ends = np.unique(np.sort(rng.integers(0, n, (2, 1500)), axis=0), axis=1)
            ends = ends[:, ends[0] != ends[1]]
            weight = rng.random(ends.shape[1]) + 0.1
            X = rng.standard_normal((n, 12))
            lost = self.hide(X, missing, whole_nodes, seed)
            weights = torch.from_numpy(np.tile(weight, 2))
            peer = pyg(X, both_ways(ends), missing=lost, edge_weight=weights)
            graph = gf.Graph.from_edges(ends, n_nodes=n, weight=weight)
            ours = fill(np.where(lost, nan, X), graph)
            assert np.abs(ours - peer).max() <= 1e-6
