"""The workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _refuse_shards

RETRIES = 3  # of a job whose worker died, beyond Dask's own
PATIENCE = 2.0  # seconds without a result until workers are counted


class DaskEngine:
    """Jobs as Dask tasks; Dask runs those of a dead worker again.

    Parameters
    ----------
    scheduler : str, Client or None
        The address of a scheduler ("tcp://host:8786"), or a client of one; None starts worker
        processes on this machine, which end with the engine.
    workers : int, optional
        How many of these; one per core by default.
    """

    def __init__(self, scheduler: Any = None, workers: int | None = None):
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise _refuse_shards.missing_engine("dask", "distributed") from None
        self._cluster = None
        self._own = not isinstance(scheduler, Client)
        if scheduler is None:
            self._cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
            )
        self.client = Client(self._cluster or scheduler) if self._own else scheduler
        self._places: list[str] = []

    @property
    def pids(self) -> list[int]:
        """Process numbers of the workers that run."""
        if self._cluster is not None:  # known here, whatever state the workers are in
            return [nanny.pid for nanny in self._cluster.workers.values() if nanny.pid]
        return list(self.client.run(_pid).values())

    def map(
        self,
        function: Callable[[Any], Any],
        jobs: Sequence[Any],
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        """Run the jobs; raises what the first failing one raised."""
        from distributed.scheduler import KilledWorker

        results: dict[int, Any] = {}
        deaths = 0
        while len(results) < len(jobs):
            self._places = self._places or sorted(self.client.nthreads())
            futures = {
                self._submit(function, jobs[i], i): i for i in range(len(jobs)) if i not in results
            }
            try:
                self._collect(futures, results, tick)
            except KilledWorker as error:
                deaths, first = deaths + 1, jobs[min(futures.values())]
                if deaths > RETRIES:
                    raise _refuse_shards.shard_worker_died(first, deaths, str(error)[:80]) from None
                self._places = []
            finally:
                if len(results) < len(jobs):
                    self.client.cancel(list(futures))
        return [results[i] for i in range(len(jobs))]

    def _submit(self, function: Callable[[Any], Any], job: Any, number: int) -> Any:
        """The same worker each time, if it is there: it has the shard at hand."""
        place = self._places[number % len(self._places)] if self._places else None
        options = {} if place is None else {"workers": [place], "allow_other_workers": True}
        return self.client.submit(function, job, pure=False, **options)

    def _collect(
        self, futures: dict[Any, int], results: dict[int, Any], tick: Callable[[], None] | None
    ) -> None:
        """Wait for results; return early when a worker is gone.

        A job that was meant for it may never run, nor one run again whose result went with it:
        when no worker at all was left for a moment, Dask goes on waiting for that one. Such jobs
        are then submitted anew.
        """
        from distributed import wait

        pending = set(futures)
        while pending:
            try:
                done, _ = wait(pending, timeout=PATIENCE, return_when="FIRST_COMPLETED")
                for future in done:
                    results[futures[future]] = future.result(timeout=PATIENCE)
                    pending.remove(future)
                    if tick is not None:
                        tick()
            except TimeoutError:
                if not set(self._places) <= set(self.client.nthreads()):
                    self._places = []
                    return

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        if self._own:
            self.client.close()
        if self._cluster is not None:
            self._cluster.close()

    def __enter__(self) -> DaskEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _pid() -> int:
    import os

    return os.getpid()
