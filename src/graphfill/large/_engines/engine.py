"""What runs the steps: a map with a barrier, and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from .. import _refuse_shards
from .dask import DaskEngine
from .local import LocalEngine
from .spark import SparkEngine

ENGINES = ("local", "dask", "spark")


@runtime_checkable
class Engine(Protocol):
    """Runs one function on many jobs, somewhere.

    ``map`` returns when all are done, results in the order of the jobs. A job whose worker died
    is run again, elsewhere; one that raises ends the map with what it raised. Functions are
    importable by name and jobs can be pickled; a job may run twice, so it must not mind. Job i
    is best given to the same worker each time, which then has its files at hand.
    """

    def map(
        self,
        function: Callable[[Any], Any],
        jobs: Sequence[Any],
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        """``[function(job) for job in jobs]``; calls ``tick`` as each is done, if it can."""
        ...

    def close(self) -> None:
        """Let go of the workers that were started for it."""
        ...


def open_engine(engine: Any, *, workers: int | None = None, scheduler: Any = None) -> Engine:
    """An engine by name, or one that is there already.

    Parameters
    ----------
    engine : {"local", "dask", "spark"} or Engine
    workers : int, optional
        How many worker processes to start; one per core by default.
    scheduler : str or object, optional
        Where the workers are: the address of a Dask scheduler (or a Client), a Spark master (or
        a session). Without it, they are started on this machine.
    """
    if engine == "local":
        return LocalEngine(workers)
    if engine == "dask":
        return DaskEngine(scheduler, workers)
    if engine == "spark":
        return SparkEngine(scheduler, workers)
    if isinstance(engine, str) or not callable(getattr(engine, "map", None)):
        raise _refuse_shards.unknown_engine(engine, ENGINES)
    return engine
