"""The executors of a Spark cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ... import errors
from .. import _refuse_shards


class SparkEngine:
    """Jobs as the partitions of one stage; Spark runs those of a dead executor again.

    Only jobs and their small results pass through Spark: shards are read and written by the
    executors themselves, in a folder that all of them see.

    Parameters
    ----------
    master : str, SparkSession or None
        The address of a master ("spark://host:7077"), or a session; None starts one in this
        process, which ends with the engine.
    workers : int, optional
        How many jobs it runs at a time then; one per core by default.
    """

    def __init__(self, master: Any = None, workers: int | None = None):
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise _refuse_shards.missing_engine("spark", "pyspark") from None
        self._own = master is None or isinstance(master, str)
        self.session = master
        if self._own:
            if master is None:  # its workers are this Python's, not the first one on the path
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            # A failed task is tried four times: local masters would try it once.
            name = master or f"local[{workers or '*'},4]"
            builder = SparkSession.builder.master(name).appName("graphfill")
            self.session = builder.config("spark.ui.enabled", "false").getOrCreate()

    def map(
        self,
        function: Callable[[Any], Any],
        jobs: Sequence[Any],
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        """Run the jobs; raises what a failing one raised. Progress comes all at once."""
        context = self.session.sparkContext
        answers = context.parallelize(list(jobs), len(jobs)).mapPartitions(_Each(function))
        results = []
        for fine, value in answers.collect():
            if not fine:
                raise value
            results.append(value)
            if tick is not None:
                tick()
        return results

    def close(self) -> None:
        """End the session, if it was started here."""
        if self._own:
            self.session.stop()

    def __enter__(self) -> SparkEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Each:
    """A function for every job of a partition; refusals come back as values, not as retries."""

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function

    def __call__(self, jobs: Iterator[Any]) -> Iterator[tuple[bool, Any]]:
        for job in jobs:
            try:
                yield True, self.function(job)
            except errors.InputError as error:
                yield False, error
