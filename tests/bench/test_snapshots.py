"""A training that was stopped goes on where it stood, and comes to the same bits."""

import os
import time

import pytest

torch = pytest.importorskip("torch")

from bench.groups import write_groups  # noqa: E402
from classified_graph import classified_graph  # noqa: E402

from graphfill.bench import _snapshots as snapshots  # noqa: E402
from graphfill.bench._grid import Run, run_grid  # noqa: E402
from graphfill.bench._models import gcn  # noqa: E402
from graphfill.bench._own import Files  # noqa: E402
from graphfill.bench._problem import Setting  # noqa: E402
from graphfill.bench._results import Results  # noqa: E402
from graphfill.bench._train import fit, seeded  # noqa: E402

WHOLE = {"hidden": 8, "lr": 0.02, "patience": 40}
SAMPLED = {**WHOLE, "batch": 20, "fanout": (4, 3)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place for snapshots, of which one is made after every epoch."""
    monkeypatch.setattr(snapshots, "folder", tmp_path / "unfinished")
    monkeypatch.setattr(snapshots, "EVERY", 0.0)
    monkeypatch.setattr(snapshots, "REPORT_EVERY", 0.0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so little work is not worth two
    yield tmp_path / "unfinished"
    torch.set_num_threads(threads)


class Stopped(Exception):
    pass


def trained(max_epochs, how=WHOLE, stop=None, double=False):
    """What came of it, its weights, and the epochs that this call did."""
    problem = classified_graph(seed=4)
    setting = Setting(**how, max_epochs=max_epochs)
    X = problem.dataset.X * (2 if double else 1)
    with seeded(0):
        network = gcn.network(X, problem.dataset.graph, 3, setting)
    told = []

    def note(epoch, accuracy):
        told.append(epoch)
        if epoch == stop:
            raise Stopped

    snapshots.listen(note)
    try:
        fitted = fit(network, problem.dataset.y, problem.split, setting, seed=1)
    except Stopped:
        fitted = None
    finally:
        snapshots.listen(None)
    return fitted, network.state_dict(), told


def same(one, other):
    (fitted, weights, _), (expected, expected_weights, _) = one, other
    for name in ("test_accuracy", "val_accuracy", "best_epoch", "n_epochs"):
        assert getattr(fitted, name) == getattr(expected, name)
    assert all(torch.equal(weights[name], expected_weights[name]) for name in weights)


@pytest.mark.parametrize("how", [WHOLE, SAMPLED])
def test_a_stopped_training_comes_to_the_same_bits(how, folder, monkeypatch):
    monkeypatch.setattr(snapshots, "folder", None)
    expected = trained(30, how)
    assert not folder.exists()
    monkeypatch.setattr(snapshots, "folder", folder)
    trained(30, how, stop=9)
    trained(30, how, stop=21)
    began = time.perf_counter()
    resumed = trained(30, how)
    assert resumed[0].train_seconds > time.perf_counter() - began  # all three parts of it count
    assert resumed[2] == list(range(21, 31))
    same(resumed, expected)


def test_a_higher_limit_goes_on_and_a_lower_one_begins_anew(folder):
    first = trained(12)
    assert trained(12)[2] == []  # all there
    same(trained(12), first)
    higher = trained(20)
    assert higher[2] == list(range(13, 21))
    lower = trained(12)
    assert lower[2] == list(range(1, 13))
    same(lower, first)
    again = trained(20)
    assert again[2] == []  # the lower one left it alone
    same(again, higher)


def test_what_begins_otherwise_is_another_training(folder):
    trained(12)
    assert trained(12, double=True)[2] == list(range(1, 13))  # other features
    assert trained(12, {**WHOLE, "lr": 0.01})[2] == list(range(1, 13))
    assert len(list(folder.iterdir())) == 3


def test_what_has_ended_by_itself_or_soon_leaves_no_file(folder, monkeypatch):
    fitted, _, _ = trained(10_000)
    assert fitted.n_epochs == fitted.best_epoch + 40
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(snapshots, "EVERY", 300.0)
    trained(12)
    assert list(folder.iterdir()) == []


def test_a_damaged_file_is_named(folder):
    trained(12)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(ValueError, match=rf"{file.name}.*delete it"):
        trained(14)


def test_a_folder_that_cannot_be_written_does_not_end_the_training(folder):
    folder.write_text("a file where a folder should be")
    with pytest.warns(UserWarning, match="would begin anew after a stop"):
        fitted, _, _ = trained(12)
    assert fitted.n_epochs == 12


# Dies in its 15th epoch, once.
KILLED = """
import os
from pathlib import Path
from graphfill.bench import _snapshots as snapshots, _runs as systems
def run(problem, method, model, setting):
    marker = Path(os.environ["MARKER"])
    def beat(epoch, accuracy):
        if epoch == 15 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), 9)
        with open(marker.with_suffix(".epochs"), "a") as file:
            print(epoch, file=file)
    snapshots.report, snapshots.EVERY = beat, 0.0
    return systems.run(problem, method, model, setting)
"""


def test_a_grid_goes_on_within_a_run_whose_process_was_killed(tmp_path, monkeypatch):
    nodes, edges = write_groups(tmp_path)
    (tmp_path / "killed.py").write_text(KILLED)
    monkeypatch.setenv("MARKER", str(tmp_path / "killed"))
    runs = [Run("own", "mean", rate=0.5, split="thirds", setting=Setting(max_epochs=25))]
    how = {"files": {"own": Files(str(nodes), str(edges), "kind")}, "progress": False}
    results = Results(tmp_path / "runs.parquet")
    grid = run_grid(runs, results, system=f"{tmp_path}/killed.py:run", **how)
    assert "signal 9" in grid.sentences()[0]
    assert len(os.listdir(results.unfinished)) == 1
    grid = run_grid(runs, results, system=f"{tmp_path}/killed.py:run", **how)
    assert grid.failures == []
    done = [int(line) for line in (tmp_path / "killed.epochs").read_text().split()]
    assert done == list(range(1, 26))
    other = Results(tmp_path / "other.parquet")
    run_grid(runs, other, **how)
    (row,), (expected,) = results.rows(), other.rows()
    timed = {"when", "seconds", "fill_seconds", "train_seconds"}
    assert all(row[name] == expected[name] for name in row if name not in timed)
    assert not other.unfinished.exists()
