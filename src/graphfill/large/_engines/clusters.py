"""The workers of a Dask cluster, or the executors of a Spark cluster.

Only jobs and their small results pass through them: shards are read and written by the workers
themselves, in a folder that all of them see.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ...errors import InputError
from .engine import Engine, Function, Tick, missing_engine, worker_died

RETRIES = 3  # of a job whose worker died, beyond Dask's own
PATIENCE = 2.0  # seconds without a result until workers are counted


class DaskEngine(Engine):
    """Jobs as Dask tasks; Dask runs those of a dead worker again."""

    def __init__(self, scheduler: Any = None, workers: int | None = None):
        try:
            import distributed
        except ImportError:
            raise missing_engine("dask", "distributed") from None
        dask: Any = distributed  # which has no types
        self._cluster = None
        self._opened_here = not isinstance(scheduler, dask.Client)
        if scheduler is None:
            # Nobody beyond this machine is to reach what anyone could run code in.
            self._cluster = dask.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
            )  # fmt: skip
        self.client = scheduler
        if self._opened_here:
            self.client = dask.Client(self._cluster or scheduler)
        self._addresses: list[str] = []  # of the workers

    def map(self, function: Function, jobs: Sequence[Any], tick: Tick = None) -> list[Any]:
        """Run the jobs; raises what the first failing one raised."""
        from distributed.scheduler import KilledWorker

        results: dict[int, Any] = {}
        deaths = 0
        while len(results) < len(jobs):
            self._addresses = self._addresses or sorted(self.client.nthreads())
            waiting = [i for i in range(len(jobs)) if i not in results]
            futures = {}
            for i in waiting:
                # The same worker each time, if it is there: it has the shard at hand.
                options: dict[str, Any] = {"pure": False}
                if self._addresses:
                    address = self._addresses[i % len(self._addresses)]
                    options |= {"workers": [address], "allow_other_workers": True}
                futures[self.client.submit(function, jobs[i], **options)] = i
            try:
                self._collect(futures, results, tick)
            except KilledWorker as error:
                deaths += 1
                if deaths > RETRIES:
                    raise worker_died(jobs[waiting[0]], deaths, str(error)[:80]) from None
                self._addresses = []
            finally:
                if len(results) < len(jobs):
                    self.client.cancel(list(futures))
        return [results[i] for i in range(len(jobs))]

    def _collect(self, futures: dict[Any, int], results: dict[int, Any], tick: Tick) -> None:
        """Wait for results; return early when a worker is gone.

        A job that was meant for it may never run, nor one run again whose result went with it:
        when no worker at all was left for a moment, Dask goes on waiting for that one. Such jobs
        are then submitted anew.
        """
        import distributed

        wait: Callable[..., Any] = distributed.wait
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
                if not set(self._addresses) <= set(self.client.nthreads()):
                    self._addresses = []
                    return

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        if self._opened_here:
            self.client.close()
        if self._cluster is not None:
            self._cluster.close()


class SparkEngine(Engine):
    """Jobs as the partitions of one stage; Spark runs those of a dead executor again."""

    def __init__(self, master: Any = None, workers: int | None = None):
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise missing_engine("spark", "pyspark") from None
        self._opened_here = master is None or isinstance(master, str)
        self.session = master
        if self._opened_here:
            if master is None:  # its workers are this Python's, not the first one on the path
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            # A failed task is tried four times: local masters would try it once.
            name = master or f"local[{workers or '*'},4]"
            builder = SparkSession.builder.master(name).appName("graphfill")
            self.session = builder.config("spark.ui.enabled", "false").getOrCreate()

    def map(self, function: Function, jobs: Sequence[Any], tick: Tick = None) -> list[Any]:
        """Run the jobs; raises what a failing one raised. Progress comes all at once."""
        partitions = self.session.sparkContext.parallelize(list(jobs), len(jobs))
        results = []
        for success, value in partitions.mapPartitions(partial(_each_job, function)).collect():
            if not success:
                raise value
            results.append(value)
            if tick is not None:
                tick()
        return results

    def close(self) -> None:
        """End the session, if it was started here."""
        if self._opened_here:
            self.session.stop()


def _each_job(function: Function, jobs: Iterator[Any]) -> Iterator[tuple[bool, Any]]:
    """The jobs of a partition; refusals come back as values, not as retries."""
    for job in jobs:
        try:
            yield True, function(job)
        except InputError as error:
            yield False, error
