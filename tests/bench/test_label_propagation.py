"""Label propagation against PyG's and against the paper's figures."""

import numpy as np
import pytest
from reference import data_set

from graphfill import Graph
from graphfill.bench import _data as data
from graphfill.bench import _draws as draws
from graphfill.bench._models.featureless import propagate_labels, run_labels
from graphfill.bench._models.gcn import normalized_adjacency
from graphfill.bench._problem import Dataset, Problem, Split


@pytest.fixture(scope="module")
def cora():
    data_set("cora")
    return data.load("cora")


@pytest.mark.parametrize("self_loops", [False, True])
def test_scores_are_those_of_pyg(cora, self_loops):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn.models import LabelPropagation
    from torch_geometric.utils import add_self_loops

    split = draws.draw_split(cora, "paper", 0)
    S = normalized_adjacency(cora.graph, self_loops=self_loops)
    A = normalized_adjacency(cora.graph).tocoo()
    edges = torch.tensor(np.stack([A.row, A.col]), dtype=torch.long)
    if self_loops:
        edges, _ = add_self_loops(edges, num_nodes=cora.n_nodes)
    for alpha in (0.5, 0.99):
        ours = propagate_labels(S, cora.y, split.train, alpha=alpha)
        theirs = LabelPropagation(50, alpha)(
            torch.from_numpy(cora.y), edges, mask=torch.from_numpy(split.train)
        )
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-6)


def test_scores_are_clipped_at_a_hub():
    star = Graph.from_edges(np.zeros(9, dtype=int), np.arange(1, 10))
    y = np.zeros(10, dtype=np.int64)
    S = normalized_adjacency(star)
    scores = propagate_labels(S, y, np.arange(1, 10), alpha=0.9, n_steps=1)
    # Nine leaves send a third each: 0.9 x 3 without the bound.
    assert scores[0, 0] == 1.0


def test_alpha_is_chosen_by_validation_accuracy(cora):
    split = draws.draw_split(cora, "paper", 0)
    problem = Problem(cora, split, None, seed=0)
    chosen = run_labels(problem)
    single = {alpha: run_labels(problem, alphas=[alpha]) for alpha in (0.1, 0.9, 0.95, 0.99)}
    assert chosen.val_accuracy >= max(outcome.val_accuracy for outcome in single.values())
    again = run_labels(problem, alphas=[chosen.details["alpha"]])
    assert (again.val_accuracy, again.test_accuracy) == (chosen.val_accuracy, chosen.test_accuracy)
    # The test labels take no part: scrambling them changes the test accuracy alone.
    y = cora.y.copy()
    y[split.test] = np.random.default_rng(0).permutation(y[split.test])
    scrambled = run_labels(Problem(Dataset("scrambled", cora.graph, None, y), split, None, seed=0))
    assert scrambled.details == chosen.details
    assert scrambled.val_accuracy == chosen.val_accuracy
    assert scrambled.test_accuracy < chosen.test_accuracy - 20


def test_rows_without_a_label_take_no_part():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    y = np.array([0, 0, -1, 1, 1])
    split = Split(np.array([0, 4]), np.array([1]), np.array([3]))
    outcome = run_labels(Problem(Dataset("path", path, None, y), split, None, seed=0))
    assert outcome.test_accuracy == outcome.val_accuracy == 100.0


# The paper's ten runs share one set of test nodes, which alone moves the mean by three points on
# CiteSeer: it is these that ours is held to its figures on.
PUBLISHED = [("cora", "cora", 74.68)] + [
    pytest.param(*row, marks=pytest.mark.slow)
    for row in (
        ("citeseer", "citeseer", 64.60),
        ("pubmed", "pubmed", 73.81),
        ("photo", "amazon_photo", 83.45),
        ("computers", "amazon_computers", 74.48),
    )
]


@pytest.mark.parametrize(("name", "file", "published"), PUBLISHED)
def test_accuracy_is_the_papers(name, file, published):
    data_set(file)
    dataset = data.load(name)
    drawn = (draws.draw_split(dataset, "development", seed) for seed in range(10))
    accuracies = [
        run_labels(Problem(dataset, split, None, seed)).test_accuracy
        for seed, split in enumerate(drawn)
    ]
    assert abs(np.mean(accuracies) - published) < 2.0


@pytest.mark.slow
def test_accuracy_on_arxiv_is_the_papers():
    data_set("ogbn_arxiv_graph")
    dataset = data.load("arxiv")
    outcome = run_labels(Problem(dataset, dataset.official[0], None, seed=0))
    assert abs(outcome.test_accuracy - 67.56) < 0.05
    assert outcome.details == {"alpha": 0.7}
