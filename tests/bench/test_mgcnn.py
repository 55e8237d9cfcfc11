"""MGCNN's parts against dense computations, and what its training achieves."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reference import data_set  # noqa: E402

from graphfill import Graph  # noqa: E402
from graphfill.bench import _data as data  # noqa: E402
from graphfill.bench import _draws as draws  # noqa: E402
from graphfill.bench._models import mgcnn  # noqa: E402
from graphfill.bench._models.gcn import normalized_adjacency  # noqa: E402

RING = Graph.from_edges(np.arange(7), (np.arange(7) + 1) % 7)


@pytest.fixture
def S():
    return normalized_adjacency(RING, dtype=np.float64)


def polynomials(S, order):
    """T_0 to T_{order - 1} of L - I as dense matrices, by the cosine of the eigenvalues."""
    values, U = np.linalg.eigh(-S.toarray())
    angle = np.arccos(np.clip(values, -1, 1))
    return [U @ np.diag(np.cos(k * angle)) @ U.T for k in range(order)]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_chebyshev_polynomials(S, order):
    layer = mgcnn.Chebyshev(S, order)
    H = np.random.default_rng(0).normal(size=(7, 3))
    dense = [T @ H for T in polynomials(S, order)]
    spread = layer.spread(torch.from_numpy(H))
    np.testing.assert_allclose(spread, np.concatenate(dense, axis=1), atol=1e-12)
    parts = np.random.default_rng(1).normal(size=(order, 7, 3))
    total = sum(T @ part for T, part in zip(polynomials(S, order), parts, strict=True))
    gathered = layer.gather(torch.from_numpy(parts).unbind())
    np.testing.assert_allclose(gathered, total, atol=1e-12)


def test_network_is_two_convolutions_as_pyg_has_them(S):
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn import ChebConv

    torch.manual_seed(0)
    network = mgcnn.Completion(S, 4, n_filters=6).double()
    inner, outer = ChebConv(4, 6, K=5).double(), ChebConv(6, 4, K=5).double()
    with torch.no_grad():
        network.inner_bias.normal_()
        network.outer.normal_()
        for k in range(5):
            inner.lins[k].weight.copy_(network.inner[:, 6 * k : 6 * (k + 1)].T)
            outer.lins[k].weight.copy_(network.outer[6 * k : 6 * (k + 1)].T)
        inner.bias.copy_(network.inner_bias)
        outer.bias.copy_(network.outer[-1])
    A = S.tocoo()
    edges = torch.tensor(np.stack([A.row, A.col]), dtype=torch.long)
    X = torch.randn(7, 4, dtype=torch.float64)
    theirs = outer(torch.relu(inner(X, edges)), edges).detach()
    G = network.encode(X)
    np.testing.assert_allclose(network.matrix(G).detach(), theirs, atol=1e-6)

    L = np.eye(7) - S.toarray()
    Y = network.matrix(G).detach().numpy()
    assert network.roughness(G).item() == pytest.approx(np.trace(Y.T @ L @ Y))


@pytest.mark.parametrize("n_cells", [2, 20])  # one by one, and by way of the whole matrix
def test_gradients_are_those_of_dense_matrices(S, n_cells):
    torch.manual_seed(0)
    network = mgcnn.Completion(S, 4, n_filters=6).double()
    torch.nn.init.normal_(network.inner_bias)
    torch.nn.init.normal_(network.outer)
    X = torch.randn(7, 4, dtype=torch.float64)
    rows, columns = torch.arange(n_cells) % 7, torch.arange(n_cells) % 4
    G = network.encode(X)
    (network.cells(G, rows, columns).square().mean() + 0.3 * network.roughness(G)).backward()

    mine = (network.inner, network.inner_bias, network.outer)
    inner, bias, outer = theirs = [part.detach().clone().requires_grad_() for part in mine]
    T = [torch.from_numpy(t) for t in polynomials(S, 5)]
    H = torch.relu(sum(t @ X @ inner[:, 6 * k : 6 * k + 6] for k, t in enumerate(T)) + bias)
    Y = sum(t @ H @ outer[6 * k : 6 * k + 6] for k, t in enumerate(T)) + outer[-1]
    L = torch.eye(7, dtype=torch.float64) - torch.from_numpy(S.toarray())
    (Y[rows, columns].square().mean() + 0.3 * torch.trace(Y.T @ L @ Y)).backward()
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own.grad, other.grad, rtol=1e-9, atol=1e-10)


def test_few_cells_are_those_of_the_whole(S):
    network = mgcnn.Completion(S, 40).double()
    G = network.encode(torch.randn(7, 40, dtype=torch.float64))
    whole = network.matrix(G).detach().numpy()
    for n_cells in (3, 100):  # one by one, and by way of the whole matrix
        rows, columns = torch.arange(n_cells) % 7, torch.arange(n_cells) % 40
        few = network.cells(G, rows, columns).detach()
        np.testing.assert_allclose(few, whole[rows, columns], atol=1e-12)


def test_training_beats_zeros_on_cora_and_keeps_what_is_known():
    data_set("cora")
    dataset = data.load("cora")
    X = dataset.dense()
    missing = draws.draw_mask(dataset, "uniform", 0.8, 0)
    incomplete = np.where(missing, np.nan, X).astype(np.float32)
    before = incomplete.copy()
    filled = mgcnn.fill(incomplete, dataset.graph, seed=0, max_epochs=12)
    np.testing.assert_array_equal(incomplete, before)
    np.testing.assert_array_equal(filled[~missing], X[~missing])
    assert filled.dtype == np.float32
    # In squared error, zeros are hard to beat on a bag of words: one cell in eighty is a one.
    assert np.square(filled - X)[missing].sum() < 0.99 * np.square(X)[missing].sum()


def test_a_seed_fixes_every_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.4] = np.nan
    first = mgcnn.fill(X, RING, seed=1, max_epochs=20)
    np.testing.assert_array_equal(first, mgcnn.fill(X, RING, seed=1, max_epochs=20))
    assert (first != mgcnn.fill(X, RING, seed=2, max_epochs=20)).any()


def test_nothing_known_and_nothing_missing():
    empty = np.full((7, 2), np.nan, dtype=np.float32)
    np.testing.assert_array_equal(mgcnn.fill(empty, RING), np.zeros((7, 2), np.float32))
    full = np.ones((7, 2), dtype=np.float32)
    np.testing.assert_array_equal(mgcnn.fill(full, RING), full)
