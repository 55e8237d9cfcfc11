"""PaGNN's first layer."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from classified_graph import classified_graph  # noqa: E402

from graphfill.bench._models import gcn  # noqa: E402
from graphfill.bench._models.blocks import receptive_field  # noqa: E402
from graphfill.bench._problem import Setting  # noqa: E402
from graphfill.bench._train import seeded  # noqa: E402


def formula(X, S):
    """[(S 1) . S (M.X)] (/) (S M), in dense matrices."""
    known = (~np.isnan(X)).astype(float)
    above, below = S.sum(1)[:, None] * (S @ np.nan_to_num(X)), S @ known
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


@pytest.mark.parametrize("missing", [0.5, 0.97])  # one dense, one sparse on the way
def test_it_is_the_formula(missing):
    problem = classified_graph(missing=missing, dtype=np.float64)
    X = problem.incomplete().astype(np.float64)
    expected = formula(X, gcn.operator(problem.dataset.graph, np.float64).toarray())
    found = gcn.partial_aggregate(X, gcn.operator(problem.dataset.graph, np.float64))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (expected == 0).any()  # some cell has no neighbour that knows it


def test_with_nothing_missing_it_is_a_graph_convolution():
    problem = classified_graph()
    S = gcn.operator(problem.dataset.graph)
    np.testing.assert_array_equal(
        gcn.partial_aggregate(problem.dataset.X, S), S @ problem.dataset.X
    )


def test_logits_and_gradients_are_those_of_dense_matrices():
    problem = classified_graph(missing=0.8, dtype=np.float64)
    X, graph, rows = problem.incomplete().astype(np.float64), problem.dataset.graph, [3, 8, 40]
    with seeded(1):
        network = gcn.partial_network(X, graph, 3, Setting(hidden=6)).double().eval()
    (second,) = network.layers
    torch.nn.init.normal_(network.first.bias)
    S = gcn.operator(graph, np.float64).toarray()
    Z = formula(X, S)
    Z, S = torch.from_numpy(Z[:, Z.any(axis=0)]), torch.from_numpy(S)
    W, b, V, c = theirs = [
        part.detach().clone().requires_grad_()
        for part in (network.first.weight, network.first.bias, second.weight, second.bias)
    ]
    expected = (S @ torch.relu(Z @ W + b) @ V + c)[rows]
    (expected**2).sum().backward()

    field = receptive_field(network.operator, np.array(rows), network.n_blocks)
    logits = network.rest(network.first(network.first.prepare(field.rows)), field.blocks)
    torch.testing.assert_close(logits, expected, rtol=1e-10, atol=1e-10)
    (logits**2).sum().backward()
    mine = (network.first.weight, network.first.bias, second.weight, second.bias)
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own.grad, other.grad, rtol=1e-9, atol=1e-10)
