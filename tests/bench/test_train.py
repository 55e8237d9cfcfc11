"""The training loop: the same as the plain one, early stopping, seeds, mini-batches."""

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from classified_graph import classified_graph, edge_index  # noqa: E402

from graphfill.bench import _snapshots as snapshots  # noqa: E402
from graphfill.bench._models import gcn, sage  # noqa: E402
from graphfill.bench._models.blocks import (  # noqa: E402
    FixedMatrix,
    Sampler,
    draw,
    whole,
)
from graphfill.bench._problem import Setting  # noqa: E402
from graphfill.bench._train import fit, scores, seeded  # noqa: E402


def build(problem, setting, model=gcn, seed=0):
    with seeded(seed):
        return model.network(problem.incomplete(), problem.dataset.graph, 3, setting)


def plainly(network, problem, setting):
    """Two GCNConv over all nodes, evaluated by a second forward in every epoch."""
    from torch_geometric.nn import GCNConv

    graph, y = problem.dataset.graph, torch.from_numpy(problem.dataset.y)
    layers = torch.nn.ModuleList()
    for mine in [network.first, *network.layers]:
        layers.append(GCNConv(*mine.weight.shape).double())
        layers[-1].lin.weight.data = mine.weight.detach().T.clone(
            memory_format=torch.contiguous_format
        )
    edges, _ = edge_index(graph)
    X, split = torch.from_numpy(problem.dataset.X), problem.split

    def forward():
        return layers[1](layers[0](X, edges).relu(), edges)

    adam = torch.optim.Adam(layers.parameters(), setting.lr, weight_decay=setting.weight_decay)
    best, best_epoch, said = -1.0, 0, None
    for epoch in range(1, setting.max_epochs + 1):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(forward()[split.train], y[split.train]).backward()
        adam.step()
        with torch.no_grad():
            now = forward().argmax(1)
        accuracy = 100.0 * float((now == y)[split.val].double().mean())
        if accuracy > best:
            best, best_epoch, said = accuracy, epoch, now.numpy()
        if epoch - best_epoch >= setting.patience:
            break
    return best, best_epoch, epoch, said


@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
def test_it_is_the_plain_loop_on_fewer_rows(weight_decay):
    problem = classified_graph(seed=5, dtype=np.float64)
    setting = Setting(hidden=8, dropout=0.0, weight_decay=weight_decay, patience=30, max_epochs=150)
    with seeded(0):
        network = gcn.network(problem.dataset.X, problem.dataset.graph, 3, setting).double()
    best, best_epoch, n_epochs, said = plainly(network, problem, setting)
    fitted = fit(network, problem.dataset.y, problem.split, setting, seed=0)
    assert fitted.val_accuracy == pytest.approx(best)
    assert (fitted.best_epoch, fitted.n_epochs) == (best_epoch, n_epochs)
    np.testing.assert_array_equal(scores(network).argmax(1), said)


def test_the_first_best_epoch_is_kept_and_tested(monkeypatch):
    problem = classified_graph(seed=4)
    setting = Setting(hidden=16, lr=0.02, patience=15)
    network = build(problem, setting)
    accuracies, weights = [], []

    def note(epoch, accuracy):
        accuracies.append(accuracy)
        weights.append(network.first.weight.detach().clone())
        assert epoch == len(accuracies)

    monkeypatch.setattr(snapshots, "REPORT_EVERY", 0.0)
    monkeypatch.setattr(snapshots, "_listener", note)
    fitted = fit(network, problem.dataset.y, problem.split, setting, seed=1)
    assert fitted.val_accuracy == max(accuracies)
    assert accuracies.count(fitted.val_accuracy) > 1  # an equal one is no progress
    assert fitted.best_epoch == 1 + int(np.argmax(accuracies))
    assert fitted.n_epochs == fitted.best_epoch + 15 == len(accuracies)
    assert torch.equal(network.first.weight, weights[fitted.best_epoch - 1])
    right = scores(network).argmax(1) == problem.dataset.y
    assert 100 * right[problem.split.val].mean() == pytest.approx(fitted.val_accuracy)
    assert 100 * right[problem.split.test].mean() == pytest.approx(fitted.test_accuracy)
    assert fitted.test_accuracy > 60  # of 3 classes


def test_the_same_seed_gives_the_same_bits_and_leaves_torch_s_own_alone():
    problem = classified_graph()
    setting = Setting(hidden=16, max_epochs=12)
    torch.manual_seed(99)
    expected = torch.rand(3)
    torch.manual_seed(99)
    weights = []
    for seed in (0, 0, 1):
        network = build(problem, setting, seed=0)
        fit(network, problem.dataset.y, problem.split, setting, seed)
        weights.append(network.first.weight.detach())
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])  # another dropout
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("network", [gcn.network, sage.network, gcn.partial_network])
def test_one_batch_with_all_neighbours_is_the_whole_graph(network):
    problem = classified_graph(missing=0.6 if network is gcn.partial_network else None)
    full = Setting(hidden=8, n_layers=3, dropout=0.0, max_epochs=15, jumping="max")
    sampled = Setting(**{**vars(full), "batch": 1000, "fanout": (300,)})
    weights = []
    for setting in (full, sampled):
        built = build(problem, setting, SimpleNamespace(network=network))
        fit(built, problem.dataset.y, problem.split, setting, seed=0)
        weights.append(built.first.weight.detach())
    torch.testing.assert_close(*weights, rtol=1e-3, atol=1e-5)


def test_small_batches_of_few_neighbours_learn_as_well():
    problem = classified_graph(seed=3, n=400)
    setting = Setting(hidden=16, lr=0.02, max_epochs=40, batch=10, fanout=(4, 3))
    fitted = fit(build(problem, setting, sage), problem.dataset.y, problem.split, setting, seed=0)
    assert fitted.test_accuracy > 60


def test_sampled_rows_are_right_on_average_and_bounded():
    problem = classified_graph()
    S = gcn.operator(problem.dataset.graph, np.float64)
    rows, rng = problem.split.train, np.random.default_rng(0)
    X = rng.standard_normal((S.shape[0], 1))
    sampler, total = Sampler(S, (2,)), 0.0
    for _ in range(1500):
        nodes, matrix = sampler.hop(rows, 2, rng)
        assert np.diff(matrix.indptr).max() == 3  # two neighbours and itself
        total = total + matrix @ X[nodes]
    assert np.array_equal(nodes[: len(rows)], rows)
    assert len(set(nodes)) == len(nodes)
    np.testing.assert_allclose(total / 1500, (S @ X)[rows], atol=0.06)


def test_draws_are_different_and_each_set_of_them_is_as_likely():
    drawn = np.sort(draw(np.full(12_000, 4), 2, np.random.default_rng(0)), axis=1)
    pairs, count = np.unique(drawn, axis=0, return_counts=True)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert abs(count - 2000).max() < 200  # five standard deviations


@pytest.mark.parametrize("jumping", [None, "max"])
def test_entries_are_dropped_in_training_alone(jumping):
    problem = classified_graph()
    setting = Setting(hidden=200, dropout=0.3, jumping=jumping)
    network = build(problem, setting)
    blocks = whole(network.operator, network.n_blocks)
    H, given = torch.ones(problem.dataset.n_nodes, 200), []
    network.layers[0].register_forward_pre_hook(lambda _, arguments: given.append(arguments[0]))
    torch.manual_seed(1)
    for training in (True, True, False):
        network.train(training).rest(-H + 2, blocks)
    first, second, quiet = given
    assert abs(float((first == 0).double().mean()) - 0.3) < 0.02
    assert float(first.max()) == pytest.approx(1 / 0.7)
    assert not torch.equal(first, second)
    assert torch.equal(quiet, H)
    network.rest(-H, blocks)
    assert not given[-1].any()  # what is negative


@pytest.mark.parametrize("shape", [(5, 7), (7, 5)])
def test_a_fixed_matrix_has_the_gradient_of_its_product(shape):
    from scipy import sparse

    A = sparse.random_array(shape, density=0.4, format="csr", rng=0)
    fixed, H = FixedMatrix(A), torch.randn(shape[1], 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close((fixed @ H).detach(), torch.from_numpy(A @ H.detach().numpy()))
    assert torch.autograd.gradcheck(lambda H: fixed @ H, (H,))
