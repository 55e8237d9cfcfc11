"""GraphSAGE against PyG's."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from classified_graph import classified_graph, edge_index  # noqa: E402

from graphfill.bench._models import sage  # noqa: E402
from graphfill.bench._models.blocks import receptive_field  # noqa: E402
from graphfill.bench._problem import Setting  # noqa: E402
from graphfill.bench._train import seeded  # noqa: E402


@pytest.mark.parametrize("hidden", [2, 6])  # further layers that widen, and that narrow
def test_logits_and_gradients_are_those_of_pyg(hidden):
    from torch_geometric.nn import SAGEConv

    problem = classified_graph(dtype=np.float64)
    X, graph = problem.dataset.X, problem.dataset.graph
    with seeded(3):
        network = sage.network(X, graph, 3, Setting(hidden=hidden, n_layers=3)).double().eval()
    first, n_in = network.first, X.shape[1]
    mine = [(first.weight[:n_in], first.weight[n_in:], first.bias)]
    mine += [(layer.mean, layer.own, layer.bias) for layer in network.layers]
    theirs = []
    for mean, own, bias in mine:
        layer = SAGEConv(*mean.shape).double()
        layer.lin_l.weight.data = mean.detach().T.contiguous()
        layer.lin_l.bias.data = bias.detach().clone()
        layer.lin_r.weight.data = own.detach().T.contiguous()
        theirs.append(layer)
    edges, _ = edge_index(graph)
    H = torch.from_numpy(X)
    for k, layer in enumerate(theirs):
        H = layer(H.relu() if k else H, edges)
    rows = problem.split.val
    (H[rows] ** 2).sum().backward()

    field = receptive_field(network.operator, rows, 2)
    logits = network.rest(first(first.prepare(field.rows)), field.blocks)
    torch.testing.assert_close(logits, H[rows], rtol=1e-10, atol=1e-10)
    (logits**2).sum().backward()
    gradient = torch.cat([theirs[0].lin_l.weight.grad.T, theirs[0].lin_r.weight.grad.T])
    torch.testing.assert_close(first.weight.grad, gradient, rtol=1e-9, atol=1e-10)
    for layer, other in zip(network.layers, theirs[1:], strict=True):
        torch.testing.assert_close(layer.mean.grad, other.lin_l.weight.grad.T, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(layer.own.grad, other.lin_r.weight.grad.T, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(layer.bias.grad, other.lin_l.bias.grad, rtol=1e-9, atol=1e-9)


def test_weights_start_as_pyg_s_do():
    problem = classified_graph(columns=50)
    with seeded(0):
        network = sage.network(problem.dataset.X, problem.dataset.graph, 3, Setting(hidden=200))
    for values in (network.first.weight, network.first.bias):
        assert 0.9 * 50**-0.5 < float(values.detach().abs().max()) <= 50**-0.5
