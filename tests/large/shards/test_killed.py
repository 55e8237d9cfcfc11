"""Workers and drivers killed at any moment: the run goes on, to the same bits."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest

import graphfill as gf
from graphfill.errors import InputError
from graphfill.large._engines import DaskEngine, LocalEngine, propagate_sharded, run
from graphfill.large._shards import cut, join
from graphfill.solve import PropagationOptions

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")

OPTIONS = {"diffusion": {"n_iter": 30}, "exact": {"solver": "exact", "tol": 1e-9}}


def barriers(folder):
    """The number of the last barrier reached, or -1."""
    return max((int(p.stem) for p in (folder / "barriers").glob("0*.json")), default=-1)


def wait_for(folder, barrier):
    """Until the run has come that far, or is too slow for a test."""
    end = time.monotonic() + 60
    while barriers(folder) < barrier and time.monotonic() < end:
        time.sleep(0.001)


def pids_of(engine):
    """Process numbers of the workers that run."""
    if isinstance(engine, DaskEngine):  # known here, whatever state the workers are in
        return [nanny.pid for nanny in engine._cluster.workers.values() if nanny.pid]
    return [worker.pid for worker in list(engine._workers.values()) if worker.poll() is None]


def kill_workers(engine, folder, kills, rng, done):
    """Kill one worker after another, each a random while after a further barrier."""
    reached = 0
    for _ in range(kills):
        wait_for(folder, reached)
        time.sleep(rng.random() * 0.02)
        pids = pids_of(engine)
        if pids:
            os.kill(rng.choice(pids), signal.SIGKILL)
            done.append(barriers(folder))
        reached = barriers(folder) + 1


def with_killed_workers(engine, solver, kills, problem, folder, seed):
    graph, X = problem(columns=3, seed=seed)
    expected = propagate_sharded(X, graph, n_shards=1, workers=1, **OPTIONS[solver])
    cut(graph, X, 3, folder, PropagationOptions(**OPTIONS[solver]))
    done = []
    killer = threading.Thread(
        target=kill_workers, args=(engine, folder, kills, np.random.default_rng(seed), done)
    )
    killer.start()
    run(folder, engine)
    killer.join()
    np.testing.assert_array_equal(join(folder).X, expected.X)
    return done


def test_killed_workers(problem, tmp_path):
    with closing(LocalEngine(2)) as engine:
        done = with_killed_workers(engine, "diffusion", 3, problem, tmp_path / "cut", 0)
    assert len(done) == 3
    assert done[0] < 31  # it was not over yet


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LocalEngine, DaskEngine])
@pytest.mark.parametrize("solver", ["diffusion", "exact"])
def test_many_killed_workers(problem, tmp_path, solver, kind):
    kills = 0
    for seed in range(4):
        with closing(kind(workers=2)) as engine:
            kills += len(
                with_killed_workers(engine, solver, 5, problem, tmp_path / str(seed), seed)
            )
    assert kills >= 20


@pytest.mark.slow
def test_all_dask_workers_killed_at_once(problem, tmp_path):
    graph, X = problem(columns=3)
    cut(graph, X, 3, tmp_path, PropagationOptions(**OPTIONS["diffusion"]))
    with closing(DaskEngine(workers=2)) as engine:
        pids = pids_of(engine)

        def kill_all():
            wait_for(tmp_path, 4)
            for pid in pids:
                os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_all)
        killer.start()
        run(tmp_path, engine)
        killer.join()
    np.testing.assert_array_equal(
        join(tmp_path).X, gf.propagate(X, graph, n_iter=30, reorder=False).X
    )


DRIVER = """
import sys
from graphfill.large._engines import run
run(sys.argv[1], workers=1)
"""


def with_killed_drivers(solver, kills, problem, folder, here):
    graph, X = problem(columns=3)
    expected = propagate_sharded(X, graph, n_shards=1, engine=here, **OPTIONS[solver])
    cut(graph, X, 3, folder, PropagationOptions(**OPTIONS[solver]))
    rng = np.random.default_rng(kills)
    seen = []
    for _ in range(kills):
        before = barriers(folder)
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, folder])
        wait_for(folder, before + int(rng.integers(1, 4)))
        time.sleep(rng.random() * 0.01)
        driver.kill()
        driver.wait()
        seen.append(barriers(folder))
    assert seen == sorted(seen)
    assert seen[0] >= 0
    told = []
    propagated = propagate_sharded(
        X, graph, n_shards=3, folder=folder, engine=here, progress=told.append, **OPTIONS[solver]
    )
    np.testing.assert_array_equal(propagated.X, expected.X)
    assert not list(folder.rglob("*.part"))
    return told


def test_killed_drivers(problem, tmp_path, here):
    told = with_killed_drivers("diffusion", 3, problem, tmp_path / "cut", here)
    assert sum(told) == pytest.approx(1.0)
    assert told[0] > 0  # what was done before counts


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["diffusion", "exact"])
def test_many_killed_drivers(problem, tmp_path, here, solver):
    with_killed_drivers(solver, 10, problem, tmp_path / "cut", here)


def test_two_drivers(problem, tmp_path, here):
    graph, X = problem()
    cut(graph, X, 2, tmp_path, PropagationOptions(n_iter=2))

    class Meets:
        def map(self, function, jobs, tick=None):
            with pytest.raises(InputError, match="Another run works in"):
                run(tmp_path, here)
            return here.map(function, jobs, tick)

    run(tmp_path, Meets())
    np.testing.assert_array_equal(
        join(tmp_path).X, gf.propagate(X, graph, n_iter=2, reorder=False).X
    )


def test_a_job_that_kills_every_worker_is_named(monkeypatch):
    monkeypatch.setattr("graphfill.large._engines.engine.ATTEMPTS", 2)
    with closing(LocalEngine(1)) as engine, pytest.raises(InputError, match="of 7 died 2 times"):
        engine.map(os._exit, [7])


SLEEPER = """
import time
from graphfill.large._engines import LocalEngine
engine = LocalEngine(2)
engine.map(abs, [1, 2])
print(*(worker.pid for worker in engine._workers.values()), flush=True)
engine.map(time.sleep, [60, 60, 60])
"""


def test_an_interrupt_ends_the_workers():
    driver = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    pids = [int(pid) for pid in driver.stdout.readline().split()]
    time.sleep(0.1)
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_what_a_job_raises_comes_back():
    with closing(LocalEngine(1)) as engine:
        with pytest.raises(ValueError, match="invalid literal for int"):
            engine.map(int, ["1", "one"])
        assert engine.map(abs, [-1, -2, -3]) == [1, 2, 3]
