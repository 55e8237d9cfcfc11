"""The grid: rows as runs end, failures told apart, resumed after an end of any kind."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from bench.groups import write_groups

from graphfill.bench import _snapshots as snapshots
from graphfill.bench._grid import Run, run_grid
from graphfill.bench._own import Files
from graphfill.bench._results import Results
from graphfill.bench._runs import execute, pose

# A system that needs no torch: what is left of the features is its accuracy.
SYSTEM = """
import os, time
from pathlib import Path
import numpy as np
from graphfill.bench import _snapshots as snapshots
from graphfill.bench._problem import Outcome
def run(problem, method, model, setting):
    print("noise on stdout")
    Path(os.environ["STARTED"], f"{os.getpid()}-{method}-{problem.seed}").touch()
    if method == "random" and problem.seed == 1:
        os.kill(os.getpid(), 9)
    if method == "neighbors" and problem.seed == 1:
        time.sleep(300)
    if method == "zero" and problem.seed == 1:
        raise ZeroDivisionError("none left")
    if method == "fp":
        snapshots.REPORT_EVERY = 0.0
        snapshots.report(7, 65.43)
    size = float(np.nansum(np.abs(problem.incomplete())))
    return Outcome(size, 1.0, 10, 5, 0.1, 0.2, 0.5, {"threads": os.environ["OMP_NUM_THREADS"]})
"""


@pytest.fixture
def setup(tmp_path, monkeypatch):
    """Own files, a system, and an empty record."""
    nodes, edges = write_groups(tmp_path)
    (tmp_path / "system.py").write_text(SYSTEM)
    (tmp_path / "started").mkdir()
    monkeypatch.setenv("STARTED", str(tmp_path / "started"))
    files = {"own": Files(str(nodes), str(edges), "kind")}
    how = {"files": files, "system": f"{tmp_path}/system.py:run", "progress": False}
    return Results(tmp_path / "runs.parquet"), how, tmp_path


def runs_of(*methods, n=3):
    return [Run("own", m, rate=0.5, split="thirds", run=k) for k in range(n) for m in methods]


def test_failures_and_deaths_are_told_and_the_rest_goes_on(setup):
    results, how, folder = setup
    runs = runs_of("mean", "zero", "random")
    grid = run_grid(runs, results, jobs=2, **how)
    assert (grid.n_done, grid.n_skipped) == (7, 0)
    assert {run.key for run, _ in grid.failures} == {runs[4].key, runs[5].key}
    told = " ".join(grid.sentences())
    assert "ZeroDivisionError: none left" in told
    assert "ended by signal 9" in told
    assert "own, zero, gcn, 0.5 uniform, thirds, run 1" in told
    rows = {(row["method"], row["run"]): row for row in results.rows()}
    assert len(rows) == 7
    first = rows["mean", 0]
    assert json.loads(first["details"]) == {"threads": "1"}
    assert first["seed"] == 0
    assert 60 < first["n_missing"] < 120
    assert first["mask_checksum"] == rows["zero", 0]["mask_checksum"]
    assert first["mask_checksum"] != rows["mean", 2]["mask_checksum"]
    assert set(json.loads(first["versions"])) == {"graphfill", "torch", "torch_geometric", "numpy"}

    # Again: only what has no row is tried.
    for started in (folder / "started").iterdir():
        started.unlink()
    (folder / "system.py").write_text(SYSTEM.replace("problem.seed == 1", "problem.seed == 7"))
    grid = run_grid(runs, results, jobs=1, **how)
    assert (grid.n_done, grid.n_skipped, grid.failures) == (2, 7, [])
    started = sorted(path.name.partition("-")[2] for path in (folder / "started").iterdir())
    assert started == ["random-1", "zero-1"]
    assert len({path.name.partition("-")[0] for path in (folder / "started").iterdir()}) == 1
    # Whoever did a run, and beside what: the same seed, the same result.
    again = execute(runs[0], how["files"], load_system(folder))
    assert again["test_accuracy"] == pytest.approx(first["test_accuracy"], rel=1e-6)


def load_system(folder):
    from graphfill.bench._fills import load_function

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return load_function(f"{folder}/system.py:run")


INTERRUPTED = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which nohup would have taken away
from graphfill.bench import _snapshots as snapshots
from graphfill.bench._own import Files
from graphfill.bench._grid import Run, run_grid
from graphfill.bench._results import Results
folder = sys.argv[1]
files = {"own": Files(f"{folder}/nodes.csv", f"{folder}/edges.csv", "kind")}
methods = ["mean", "neighbors"]
runs = [Run("own", m, rate=0.5, split="thirds", run=k) for k in range(2) for m in methods]
run_grid(runs, Results(f"{folder}/runs.parquet"), jobs=1, files=files, system=f"{folder}/system.py:run")
"""  # noqa: E501


def test_a_long_run_says_which_epoch_it_is_in(setup, monkeypatch):
    results, how, _ = setup
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    grid = run_grid(runs_of("fp", n=2), results, jobs=1, **how | {"progress": True})
    assert (grid.n_done, grid.failures) == (2, [])
    assert "own fp: epoch 7, 65.4 %" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()


def test_nobody_is_told_more_often_than_asked(monkeypatch):
    told = []
    snapshots.listen(lambda *what: told.append(what))
    try:
        snapshots.report(1, 50.0)  # at once
        monkeypatch.setattr(snapshots, "REPORT_EVERY", 0.0)
        snapshots.report(2, 60.0)
    finally:
        snapshots.listen(None)
    snapshots.report(3, 70.0)
    assert told == [(2, 60.0)]


@pytest.mark.parametrize("times", [1, 3])
def test_interrupts_keep_finished_rows_and_leave_no_process(times, setup):
    results, _, folder = setup
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, folder], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (slow := list((folder / "started").glob("*-neighbors-1"))):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
    done = [(row["method"], row["run"]) for row in results.rows()]
    assert done == [("mean", 0), ("neighbors", 0), ("mean", 1)]
    worker = int(slow[0].name.partition("-")[0])
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_a_finished_row_is_written_while_another_run_says_nothing(setup, monkeypatch):
    results, _, folder = setup
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, folder], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while len(results) < 3:  # the fourth sleeps
            assert time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def test_what_a_run_poses(made_up):
    run = Run("made-up", "fp", rate=0.5, split="thirds", run=4)
    problem = pose(run, made_up)
    assert problem.seed == 4
    assert np.isnan(problem.incomplete()).mean() == problem.missing.mean() > 0.4
    assert pose(replace(run, method="full"), made_up).missing is None
    assert pose(replace(run, method="labels", model=None), made_up).missing is None


def test_refusals_before_anything_is_trained(made_up):
    def never(*problem):
        raise AssertionError

    bare = replace(made_up, X=None)
    with pytest.raises(ValueError, match="has no features here, which method 'fp' takes"):
        pose(Run("made-up", "fp", split="thirds"), bare)
    gappy = replace(made_up, X=np.where(made_up.X > 2.9, np.nan, made_up.X))
    n_gaps = int((made_up.X > 2.9).sum())
    with pytest.raises(ValueError, match=f"without gaps but {n_gaps} cells"):
        pose(Run("made-up", "full", split="thirds"), gappy)
    with pytest.raises(ValueError, match="'labels' takes no model"):
        execute(Run("cora", "labels"), {}, never)
