"""Every method by name, on one problem."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

from classified_graph import classified_graph

from graphfill.bench import _runs as systems
from graphfill.bench._problem import CATALOGUE, Dataset, Problem, Setting
from graphfill.errors import InputError

QUICK = Setting(hidden=16, lr=0.03, max_epochs=40)
NEEDS_NO_FILL = (
    *systems.FULL, *systems.WITHOUT_FEATURES, "pagnn", "gcnmf", "chosen", "chosen-train",
)  # fmt: skip


@pytest.mark.parametrize("method", CATALOGUE["methods"])
def test_every_method_runs_and_repeats_itself(method):
    problem = classified_graph(missing=0.8)
    model = None if method in systems.WITHOUT_MODEL else "gcn"
    outcome = systems.run(problem, method, model, QUICK)
    assert outcome.test_accuracy > 34  # of 3 classes
    assert 1 <= outcome.best_epoch <= outcome.n_epochs or method in systems.LABELS
    assert outcome.fill_seconds >= 0 < outcome.train_seconds
    assert (outcome.reconstruction is None) == (method in NEEDS_NO_FILL)
    if method == "mgcnn":
        return  # the slowest; its own test trains it twice
    again = systems.run(problem, method, model, QUICK)
    assert again.test_accuracy == outcome.test_accuracy
    assert again.reconstruction == outcome.reconstruction


def test_the_reconstruction_error_is_relative_and_of_hidden_cells_only():
    problem = classified_graph(missing=0.5)
    truth = problem.dataset.X.copy()
    assert systems.run(problem, "zero", "sage", QUICK).reconstruction == 1.0
    assert systems.reconstruction_error(problem, "own", truth) == 0.0
    assert systems.reconstruction_error(problem, "own", 1.5 * truth) == pytest.approx(0.5)
    # A cell that was never known is neither hidden nor judged.
    gap = np.argwhere(problem.missing)[0]
    truth[tuple(gap)] = np.nan
    dataset = Dataset("gap", problem.dataset.graph, truth, problem.dataset.y)
    other = Problem(dataset, problem.split, problem.missing, seed=0)
    assert systems.reconstruction_error(other, "own", np.nan_to_num(truth)) == 0.0


@pytest.mark.parametrize(
    ("method", "model", "changes", "message"),
    [
        ("fb", "gcn", {}, "There is no method 'fb'"),
        ("fp", "gnc", {}, "did you mean 'gcn'"),
        ("fp", None, {}, "takes a model"),
        ("labels", "gcn", {}, "takes no model"),
        ("fp", "gcn", {"n_layers": 1}, "n_layers is 1"),
        ("fp", "gcn", {"jumping": "cat"}, "jumping is 'cat'"),
    ],
)
def test_refusals(method, model, changes, message):
    with pytest.raises(InputError, match=message):
        systems.run(classified_graph(missing=0.5), method, model, Setting(**changes))


def test_features_that_are_not_there_are_refused():
    problem = classified_graph()
    bare = Dataset("bare", problem.dataset.graph, None, problem.dataset.y)
    with pytest.raises(InputError, match="has no features"):
        systems.run(Problem(bare, problem.split, None, 0), "fp", "gcn", QUICK)


def test_torch_is_loaded_only_to_run():
    code = "import sys, graphfill.bench._runs; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_features_as_0_and_1():
    problem = classified_graph(missing=0.0)
    expected = (problem.dataset.X != 0).astype(problem.dataset.X.dtype)
    np.testing.assert_array_equal(systems._filled(problem, "full-binary"), expected)
    np.testing.assert_array_equal(systems._filled(problem, "full"), problem.dataset.X)
