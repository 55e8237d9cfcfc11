"""Graph convolutions against PyG's and against dense matrices."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from classified_graph import classified_graph, edge_index  # noqa: E402

from graphfill.bench._models import gcn  # noqa: E402
from graphfill.bench._models.blocks import receptive_field, whole  # noqa: E402
from graphfill.bench._problem import Setting  # noqa: E402
from graphfill.bench._train import seeded  # noqa: E402


def twin(network, X, live):
    """PyG's layers with the same weights; those of columns left out are whatever."""
    from torch_geometric.nn import GCNConv

    layers = []
    for mine in [network.first, *network.layers]:
        weight = mine.weight.detach().clone()
        if mine is network.first:
            weight = torch.full((X.shape[1], weight.shape[1]), 7.0, dtype=torch.float64)
            weight[torch.from_numpy(live)] = mine.weight.detach()
        layer = GCNConv(*weight.shape).double()
        layer.lin.weight.data = weight.T.contiguous()
        layer.bias.data = mine.bias.detach().clone()
        layers.append(layer)
    return layers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "setting", [Setting(hidden=5), Setting(hidden=2, n_layers=4, jumping="max")], ids=["2", "4 jk"]
)
def test_logits_and_gradients_are_those_of_pyg(weighted, setting):
    problem = classified_graph(dtype=np.float64, weighted=weighted)
    graph, X = problem.dataset.graph, problem.dataset.X
    X[:, [1, 4]] = 0.0  # columns that are left out
    with seeded(3):
        network = gcn.network(X, graph, 3, setting).double().eval()
    for bias in [network.first.bias, *(layer.bias for layer in network.layers)]:
        torch.nn.init.normal_(bias)
    theirs = twin(network, X, X.any(axis=0))

    edges, weights = edge_index(graph)
    H, seen = torch.from_numpy(X), []
    for k, layer in enumerate(theirs):
        H = layer(H, edges, weights)
        if setting.jumping or k < len(theirs) - 1:
            H = H.relu()
            seen.append(H)
    if setting.jumping:
        H = network.head(torch.stack(seen).amax(0))
    rows = problem.split.train
    (H[rows] ** 2).sum().backward()

    everyone = np.arange(graph.n_nodes)
    whole_way = network.rest(
        network.first(network.first.prepare(everyone)), whole(network.operator, network.n_blocks)
    )
    torch.testing.assert_close(whole_way, H, rtol=1e-10, atol=1e-10)

    if setting.jumping:
        network.head.zero_grad()
    field = receptive_field(network.operator, rows, network.n_blocks)
    logits = network.rest(network.first(network.first.prepare(field.rows)), field.blocks)
    (logits**2).sum().backward()
    for mine, other in zip([network.first, *network.layers], theirs, strict=True):
        expected = other.lin.weight.grad.T
        if mine is network.first:
            expected = expected[torch.from_numpy(X.any(axis=0))]
        torch.testing.assert_close(mine.weight.grad, expected, rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(mine.bias.grad, other.bias.grad, rtol=1e-9, atol=1e-10)


def test_a_field_holds_no_more_rows_than_are_needed():
    problem = classified_graph(n=600)
    S = gcn.operator(problem.dataset.graph)
    rows = problem.split.train[:3]
    field = receptive_field(S, rows, 2)
    near = np.flatnonzero(((S @ S)[rows] != 0).sum(axis=0))
    assert sorted(field.rows) == sorted(near)
    assert len(near) < 300
    among = np.arange(0, 600, 2)
    further = receptive_field(S, rows, 2, among=among)
    assert sorted(further.rows) == sorted(set(near) - set(among))
    H = np.random.default_rng(0).standard_normal((600, 4)).astype(np.float32)
    given = torch.from_numpy(H[np.concatenate([among, further.rows])])
    for block in further.blocks:
        own, given = block.own(given), block.matrix @ given
    np.testing.assert_allclose(given, (S @ (S @ H))[rows], rtol=1e-4, atol=1e-6)
    assert own.shape == given.shape


def test_weights_start_as_pyg_s_do():
    problem = classified_graph(columns=40)
    with seeded(0):
        network = gcn.network(problem.dataset.X, problem.dataset.graph, 3, Setting(hidden=200))
    bound = (6 / (40 + 200)) ** 0.5
    largest = float(network.first.weight.detach().abs().max())
    assert 0.98 * bound < largest <= bound
    assert not network.first.bias.any()


def test_sparse_features_give_the_same_as_dense_ones(monkeypatch):
    problem = classified_graph(columns=200)
    X = problem.dataset.X * (np.random.default_rng(0).random(problem.dataset.X.shape) < 0.03)
    outputs = []
    for below in (1.0, 0.0):
        monkeypatch.setattr("graphfill.bench._models.network.SPARSE_BELOW", below)
        with seeded(1):
            network = gcn.network(X, problem.dataset.graph, 3, Setting())
        part = network.first.prepare(np.arange(50))
        assert isinstance(part, torch.Tensor) == (below == 0.0)
        H = network.first(part)
        H.square().sum().backward()
        outputs.append((H.detach(), network.first.weight.grad))
    torch.testing.assert_close(*(H for H, _ in outputs), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(*(G for _, G in outputs), rtol=1e-4, atol=1e-5)
