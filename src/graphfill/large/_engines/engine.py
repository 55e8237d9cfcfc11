"""What runs the steps, a map with a barrier and no more; and worker processes on this machine.

Jobs go to a process through one pipe, and results come back through another.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Protocol

from ...errors import InputError, check_number
from ...kernels._threads import available

SHARDS_PER_WORKER = 4  # where nobody says how many
ATTEMPTS = 4  # workers that a job may outlive
START = "import sys; sys.path[:] = {!r}; from graphfill.large._engines.engine import work; work()"

Function = Callable[[Any], Any]
Tick = Callable[[], None] | None
Worker = subprocess.Popen[bytes]


class Engine(Protocol):
    """Runs one function on many jobs, somewhere.

    ``map`` returns when all are done, results in the order of the jobs. A job whose worker died
    is run again, elsewhere; one that raises ends the map with what it raised. Functions are
    importable by name and jobs can be pickled; a job may run twice and must allow it. Job i is
    best given to the same worker each time, which then has its files at hand.
    """

    def map(self, function: Function, jobs: Sequence[Any], tick: Tick = None) -> list[Any]:
        """``[function(job) for job in jobs]``; calls ``tick`` as each is done, if it can."""
        ...

    def close(self) -> None:
        """End the workers that were started for it."""
        ...


def missing_engine(name: str, package: str) -> InputError:
    """An engine whose package is not installed."""
    return InputError(
        f'engine="{name}" needs the package {package}: pip install "graphfill[{name}]".'
    )


def worker_died(job: Any, times: int, detail: str) -> InputError:
    """A job that ends every worker it is given to."""
    return InputError(
        f"The worker of {job} died {times} times ({detail}): is there memory enough for a shard? "
        "Cut the graph into more shards, or start fewer workers; what is done is kept."
    )


class LocalEngine(Engine):
    """Fresh Python processes, one job each at a time; a dead one is replaced.

    They are not forked, and do not import the script that starts them, which therefore needs no
    ``if __name__ == "__main__":``. Job i goes to worker i modulo their number, unless another
    one has nothing left to do.
    """

    def __init__(self, workers: int | None = None):
        if workers is not None:
            check_number("workers", workers, low=1, integer=True)
        self.n_workers = workers or available()
        self._workers: dict[int, Worker] = {}
        self._interrupted = threading.Event()

    def map(self, function: Function, jobs: Sequence[Any], tick: Tick = None) -> list[Any]:
        """Run the jobs; raises what the first failing one raised, once those begun are done."""
        n = min(self.n_workers, len(jobs))
        queues = [deque(range(k, len(jobs), n)) for k in range(n)]
        results: list[Any] = [None] * len(jobs)
        failures: list[BaseException] = []
        lock = threading.Lock()
        self._interrupted.clear()

        def next_job(k: int) -> int | None:
            """The worker's own next job, or the last one of the longest queue."""
            with lock:
                if failures:
                    return None
                longest = max(queues, key=len)
                if queues[k]:
                    return queues[k].popleft()
                return longest.pop() if longest else None

        def serve(k: int) -> None:
            try:
                while (i := next_job(k)) is not None:
                    results[i] = self._run(k, function, jobs[i])
                    with lock:
                        if tick is not None:
                            tick()
            except BaseException as error:
                with lock:
                    failures.append(error)

        with ThreadPoolExecutor(max(n, 1)) as threads:
            served = [threads.submit(serve, k) for k in range(n)]
            try:
                wait(served)
            except BaseException:  # an interrupt: end the workers, which ends the threads
                self._interrupted.set()
                for worker in list(self._workers.values()):
                    worker.kill()
                wait(served)
                self.close()
                raise
        if failures:
            raise failures[0]
        return results

    def close(self) -> None:
        """End the workers."""
        while self._workers:
            _end(self._workers.popitem()[1])

    def _run(self, k: int, function: Function, job: Any) -> Any:
        detail = ""
        for _ in range(ATTEMPTS):
            if self._interrupted.is_set():
                raise KeyboardInterrupt
            worker = self._workers.get(k)
            if worker is None or worker.poll() is not None:
                worker = self._workers[k] = _start()
            answer = None
            with suppress(BrokenPipeError):
                send(worker.stdin, (function, job))
                answer = receive(worker.stdout)
            if answer is not None:
                success, value = answer
                if success:
                    return value
                raise value
            _end(worker)
            detail = f"exit code {worker.returncode}"
        raise worker_died(job, ATTEMPTS, detail)


def _start() -> Worker:
    command = [sys.executable, "-c", START.format(sys.path)]
    environment, pipe = {"OMP_NUM_THREADS": "1", **os.environ}, subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe)


def _end(worker: Worker) -> None:
    worker.kill()
    for pipe in (worker.stdin, worker.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
    worker.wait()


def work() -> None:
    """A worker process: do jobs until the driver closes the pipe, also by dying."""
    jobs = os.fdopen(os.dup(0), "rb")
    results = os.fdopen(os.dup(1), "wb")
    # What a job prints must not get between the results, nor may it read the jobs.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    while (job := receive(jobs)) is not None:
        function, argument = job
        answer: tuple[bool, Any]
        try:
            answer = True, function(argument)
        except Exception as error:
            answer = False, error
        send(results, answer)


def send(pipe: Any, message: Any) -> None:
    """Write one message."""
    try:
        data = pickle.dumps(message)
    except Exception as error:  # an exception that cannot travel: its text can
        data = pickle.dumps((False, RuntimeError(f"{message!r} cannot be sent: {error}")))
    pipe.write(data)
    pipe.flush()


def receive(pipe: Any) -> Any:
    """Read one message; None when the other side is gone."""
    try:
        return pickle.load(pipe)
    except (EOFError, pickle.UnpicklingError):
        return None
