"""Many runs, spread over processes: skipped where their rows are there, written as they come."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import option
from ..kernels import available
from ._own import Own
from ._results import Results, Row
from ._runs import SYSTEM, Run

WRITE_EVERY = 3.0  # seconds
INTERRUPTED = 130  # the exit code


@dataclass
class Grid:
    """What came of a list of runs."""

    n_done: int = 0
    n_skipped: int = 0  # runs whose rows were there before
    failures: list[tuple[Run, str]] = field(default_factory=list)  # each with its sentence

    def sentences(self) -> list[str]:
        """Each reason once, with the runs it holds for."""
        runs: dict[str, list[Run]] = {}
        for run, sentence in self.failures:
            runs.setdefault(sentence, []).append(run)
        return [
            f"{sentence} ({len(failed)} run{'s' * (len(failed) > 1)} without a row; the first: "
            f"{failed[0]})"
            for sentence, failed in runs.items()
        ]


def run_grid(
    runs: Sequence[Run],
    results: Results,
    jobs: int | None = None,
    progress: bool = True,
    *,
    files: Mapping[str, Own] | None = None,
    system: str = SYSTEM,
) -> Grid:
    """Do the runs that have no row yet, in order, and add their rows to the results.

    A run that fails, or whose process dies, is reported at the end and the others go on. An
    interrupt keeps all rows of finished runs, and of a long one where its training stood; the same
    call goes on from there.

    `jobs` processes have one thread each; there are as many as cores by default. `files` says, by
    name of a set, where the user's own is read from. The system is a ``module:function`` or
    ``file.py:function`` that solves a problem, as `_systems.run` does.
    """
    unique = list({run.key: run for run in runs}.values())
    todo: queue.SimpleQueue[Run] = queue.SimpleQueue()
    for run in unique:
        if not results.has(run.key):
            todo.put(run)
    n_todo = todo.qsize()
    grid = Grid(n_skipped=len(unique) - n_todo)
    if n_todo == 0:
        return grid
    answers: queue.SimpleQueue[tuple[Run, str, Any]] = queue.SimpleQueue()
    order = (system, dict(files or {}), results.unfinished)
    workers = [_Worker(order, todo, answers) for _ in range(min(jobs or available(), n_todo))]
    waiting: list[Row] = []
    written = time.monotonic()
    try:
        with _bar(n_todo, progress) as bar:
            for worker in workers:
                worker.start()
            while grid.n_done + len(grid.failures) < n_todo:
                if waiting and time.monotonic() - written > WRITE_EVERY:
                    results.add(waiting)
                    waiting, written = [], time.monotonic()
                try:
                    run, kind, answer = answers.get(timeout=WRITE_EVERY)
                except queue.Empty:
                    continue
                if kind == "epoch":
                    epoch, accuracy = answer
                    bar.set_postfix_str(f"{run.set} {run.method}: epoch {epoch}, {accuracy:.1f} %")
                    continue
                if kind == "row":
                    waiting.append(answer)
                    grid.n_done += 1
                else:
                    grid.failures.append((run, answer))
                bar.set_postfix_str(f"{run.set} {run.method}", refresh=False)
                bar.update()
    finally:
        with _undisturbed():
            for worker in workers:
                worker.stop()
            while not answers.empty():  # those that came before an interrupt
                _, kind, answer = answers.get()
                waiting += [answer] if kind == "row" else []
            results.add(waiting)
    return grid


def run_and_report(
    runs: Sequence[Run],
    results: Results,
    jobs: int | None,
    progress: bool,
    files: Mapping[str, Own] | None = None,
) -> int:
    """The same for the command line: failures on stderr, the exit code as result."""
    try:
        grid = run_grid(runs, results, jobs, progress, files=files)
    except KeyboardInterrupt:
        print(f"graphfill: interrupted; finished runs are in {results.path}, and the same command "
              "goes on from there", file=sys.stderr)  # fmt: skip
        return INTERRUPTED
    for sentence in grid.sentences():
        print(f"graphfill: {sentence}", file=sys.stderr)
    return 1 if grid.failures else 0


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore the signals that end a process: a second one must not lose the finished rows."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), signal.SIG_IGN) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler or signal.SIG_DFL)


class _Worker(threading.Thread):
    """A thread that hands runs to a process of its own, and starts another when that one dies."""

    def __init__(
        self,
        order: tuple[str, dict[str, Own], Path],
        todo: queue.SimpleQueue[Run],
        answers: queue.SimpleQueue[tuple[Run, str, Any]],
    ) -> None:
        super().__init__(daemon=True)
        self._order, self._todo, self._answers = order, todo, answers
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> None:
        while not self._stopped:
            try:
                run = self._todo.get_nowait()
            except queue.Empty:
                break
            kind, answer = self._do(run)
            if not self._stopped:
                self._answers.put((run, kind, answer))
        self.stop()

    def _do(self, run: Run) -> tuple[str, Any]:
        try:
            if self._process is None:
                self._process = self._new_process()
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            pickle.dump(run, self._process.stdin)
            self._process.stdin.flush()
            while True:
                kind, answer = pickle.load(self._process.stdout)
                if kind != "epoch":
                    return kind, answer
                self._answers.put((run, kind, answer))
        except Exception:  # of any kind: run_grid waits for an answer
            code = self._exit_code()
            end = f"was ended by signal {-code}" if code is not None and code < 0 else None
            return "sentence", (
                f"Its process {end or f'ended with {code}'} (out of memory?): run it again with "
                f"fewer {option('jobs')}."
            )

    def _new_process(self) -> subprocess.Popen[bytes]:
        one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        # An epoch frees what the next one takes: with glibc's defaults large blocks go back to
        # the system in between, and on a large graph half an epoch is spent on fetching them.
        reused = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**62)}
        process = subprocess.Popen(
            [sys.executable, "-m", "graphfill.bench._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | reused | one,
            start_new_session=True,  # an interrupt at the keyboard reaches run_grid alone
        )
        assert process.stdin is not None
        pickle.dump(self._order, process.stdin)
        return process

    def _exit_code(self) -> int | None:
        """How a process ended that no longer answers."""
        process, self._process = self._process, None
        if process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=5)
        process.kill()
        return process.wait()

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._stopped = True
        process = self._process
        if process is not None:
            process.kill()
            process.wait()


def _bar(total: int, shown: bool) -> Any:
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc="runs",
        disable=not shown or not sys.stderr.isatty(),
        bar_format="{desc} {n_fmt}/{total_fmt} |{bar:30}| {elapsed} so far, {remaining} left"
        "{postfix}",
    )
