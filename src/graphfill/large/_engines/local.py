"""Worker processes on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ... import errors
from ...kernels._threads import available
from .. import _refuse_shards
from .worker import receive, send

ATTEMPTS = 4  # workers that a job may outlive
START = "import sys; sys.path[:] = {!r}; from graphfill.large._engines.worker import main; main()"


class LocalEngine:
    """Fresh Python processes, one job each at a time; a dead one is replaced.

    They are not forked, and do not import the script that starts them, which therefore needs no
    ``if __name__ == "__main__":``. Job i goes to worker i modulo their number, unless another
    one has nothing left to do.

    Parameters
    ----------
    workers : int, optional
        One per core by default.
    """

    def __init__(self, workers: int | None = None):
        if workers is not None:
            errors.check_number("workers", workers, low=1, integer=True)
        self._workers: list[subprocess.Popen | None] = [None] * (workers or available())
        self._interrupted = threading.Event()

    @property
    def pids(self) -> list[int]:
        """Process numbers of the workers that run."""
        return [w.pid for w in self._workers if w is not None and w.poll() is None]

    def map(
        self,
        function: Callable[[Any], Any],
        jobs: Sequence[Any],
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        """Run the jobs; raises what the first failing one raised, once those begun are done."""
        n = min(len(self._workers), len(jobs))
        queues = [deque(range(k, len(jobs), n)) for k in range(n)]
        results: list[Any] = [None] * len(jobs)
        failures: list[BaseException] = []
        told = threading.Lock()
        self._interrupted.clear()

        def take(k: int) -> int | None:
            """The worker's own next job, or the last one of the longest queue."""
            with told:
                if failures:
                    return None
                longest = max(queues, key=len)
                if queues[k]:
                    return queues[k].popleft()
                return longest.pop() if longest else None

        def serve(k: int) -> None:
            try:
                while (i := take(k)) is not None:
                    results[i] = self._do(k, function, jobs[i])
                    with told:
                        if tick is not None:
                            tick()
            except BaseException as error:
                with told:
                    failures.append(error)

        threads = [threading.Thread(target=serve, args=(k,), daemon=True) for k in range(n)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:  # an interrupt: end the workers, which ends the threads
            self._interrupted.set()
            for worker in self._workers:
                if worker is not None:
                    worker.kill()
            for thread in threads:
                thread.join()
            self.close()
            raise
        if failures:
            raise failures[0]
        return results

    def close(self) -> None:
        """End the workers."""
        for k, worker in enumerate(self._workers):
            if worker is not None:
                self._end(worker)
                self._workers[k] = None

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _do(self, k: int, function: Callable[[Any], Any], job: Any) -> Any:
        detail = ""
        for _ in range(ATTEMPTS):
            if self._interrupted.is_set():
                raise KeyboardInterrupt
            worker = self._worker(k)
            answer = None
            with suppress(BrokenPipeError):
                send(worker.stdin, (function, job))  # type: ignore[arg-type]
                answer = receive(worker.stdout)  # type: ignore[arg-type]
            if answer is not None:
                fine, value = answer
                if fine:
                    return value
                raise value
            self._end(worker)
            detail = f"exit code {worker.returncode}"
        raise _refuse_shards.shard_worker_died(job, ATTEMPTS, detail)

    def _worker(self, k: int) -> subprocess.Popen:
        worker = self._workers[k]
        if worker is None or worker.poll() is not None:
            environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
            worker = subprocess.Popen(
                [sys.executable, "-c", START.format(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
            )
            self._workers[k] = worker
        return worker

    @staticmethod
    def _end(worker: subprocess.Popen) -> None:
        worker.kill()
        for pipe in (worker.stdin, worker.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        worker.wait()
