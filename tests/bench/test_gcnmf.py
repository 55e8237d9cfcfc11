"""GCNMF's first layer against plain loops, integrals and an ordinary graph convolution."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reference import data_set  # noqa: E402

from graphfill import Graph  # noqa: E402
from graphfill.bench import _data as data  # noqa: E402
from graphfill.bench import _draws as draws  # noqa: E402
from graphfill.bench._models import gcnmf  # noqa: E402
from graphfill.bench._models.gcn import operator  # noqa: E402
from graphfill.bench._problem import Problem, Setting  # noqa: E402

RING = Graph.from_edges(np.arange(6), (np.arange(6) + 1) % 6)


def example(rate, n_columns=4, n_components=3, seed=0):
    """A layer of two outputs on a ring of six nodes, in double precision, and its X."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, n_columns))
    X[rng.random(X.shape) < rate] = np.nan
    mixture = gcnmf.Mixture(
        rng.dirichlet(np.ones(n_components)),
        rng.normal(size=(n_components, n_columns)),
        rng.uniform(0.2, 2.0, size=(n_components, n_columns)),
    )
    layer = gcnmf.MixtureConvolution(X, operator(RING, np.float64), mixture, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(rng.normal(size=(n_columns, 2))))
        layer.bias.copy_(torch.from_numpy(rng.normal(size=2)))
    return layer, X, mixture


def looped(layer, X, mixture):
    """The layer's output node by node, component by component, column by column."""
    from scipy.stats import norm

    S, W, b = operator(RING, np.float64).toarray(), layer.weight.detach().numpy(), layer.bias
    b = b.detach().numpy()
    n_components = len(mixture.weights)
    out = np.zeros((len(X), W.shape[1]))
    for i in range(len(X)):
        known = ~np.isnan(X[i])
        odds = mixture.weights * [
            norm.pdf(
                X[i, known], mixture.means[k, known], np.sqrt(mixture.variances[k, known])
            ).prod()
            for k in range(n_components)
        ]
        for k in range(n_components):
            for o in range(W.shape[1]):
                a = s = 0.0
                for j in range(len(X)):
                    mean = np.where(np.isnan(X[j]), mixture.means[k], X[j])
                    variance = np.where(np.isnan(X[j]), mixture.variances[k], 0.0)
                    a += S[i, j] * (mean @ W[:, o] + b[o])
                    s += S[i, j] ** 2 * (variance @ W[:, o] ** 2)
                w = a / np.sqrt(s) if s else 0.0
                expected = np.sqrt(s) * norm.pdf(w) + a * norm.cdf(w) if s else max(a, 0.0)
                out[i, o] += odds[k] / odds.sum() * expected
    return out


# Most, some and few cells missing take different products.
@pytest.mark.parametrize("rate", [0.97, 0.5, 0.1])
def test_the_layer_is_the_sum_it_stands_for(rate):
    layer, X, mixture = example(rate, n_columns=12)
    rows = np.array([4, 0, 1])
    H = layer(layer.prepare(rows)).detach().numpy()
    np.testing.assert_allclose(H, looped(layer, X, mixture)[rows], rtol=1e-9, atol=1e-12)


def test_expected_relu_is_the_integral():
    from scipy.integrate import quad
    from scipy.stats import norm

    a, s = np.array([-3.0, -0.5, 0.0, 0.7, 4.0]), np.array([1.0, 0.3, 2.0, 0.01, 5.0])
    ours = gcnmf.expected_relu(torch.from_numpy(a), torch.from_numpy(s)).numpy()
    for mean, variance, value in zip(a, s, ours, strict=True):
        root = np.sqrt(variance)
        integral = quad(lambda z, m=mean, r=root: z * norm.pdf(z, m, r), 0, mean + 12 * root + 12)[
            0
        ]
        assert value == pytest.approx(integral, abs=1e-8)


def test_expected_relu_far_out_and_without_variance():
    a = torch.tensor([-50.0, 50.0, -1.0, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    E = gcnmf.expected_relu(a, s)
    np.testing.assert_allclose(E.detach(), [0, 50, 0, 2, 0], atol=1e-12)
    E.sum().backward()
    np.testing.assert_allclose(a.grad, [0, 1, 0, 1, 0], atol=1e-12)
    assert torch.isfinite(s.grad).all()


def test_gradients_are_the_limits_of_differences():
    layer, _, _ = example(0.5)
    part = layer.prepare(np.arange(6))
    names = [name for name, _ in layer.named_parameters()]
    assert len(names) == 5

    def output(*values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (part,))

    values = [p.detach().clone().requires_grad_() for p in layer.parameters()]
    assert torch.autograd.gradcheck(output, values)


def test_without_missing_cells_it_is_a_graph_convolution():
    layer, X, _ = example(0.0)
    H = layer(layer.prepare(np.arange(6))).detach().numpy()
    S, W = operator(RING, np.float64), layer.weight.detach().numpy()
    np.testing.assert_allclose(
        H, np.maximum(S @ (X @ W + layer.bias.detach().numpy()), 0.0), rtol=1e-10
    )


def test_a_row_without_gaps_among_empty_ones_has_no_variance():
    known = np.zeros((20, 30), dtype=bool)
    known[3] = True
    V = torch.rand(30, 4) * 1e3
    product = gcnmf._Missing(known, np.dtype(np.float32)) @ V
    assert (product[3] == 0).all()
    np.testing.assert_allclose(product[4], V.sum(0), rtol=1e-6)


def test_a_column_nobody_knows_stays():
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    X[:, 1] = np.nan
    mixture = gcnmf.start_mixture(X, 5, seed=0)
    assert mixture.means.shape == (5, 3)
    np.testing.assert_allclose(mixture.means[:, 1], 0.0)
    assert (mixture.variances > 0).all()


def test_a_run_on_cora_learns():
    data_set("cora")
    dataset = data.load("cora")
    split = draws.draw_split(dataset, "paper", 0)
    missing = draws.draw_mask(dataset, "uniform", 0.5, 0)
    setting = Setting(hidden=8, max_epochs=25)
    outcome = gcnmf.run(Problem(dataset, split, missing, seed=0), setting)
    most_frequent = 100 * np.bincount(dataset.y).max() / dataset.n_nodes
    assert outcome.test_accuracy > most_frequent + 10
    assert outcome.n_epochs == 25
