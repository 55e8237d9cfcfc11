"""Drive a run from barrier to barrier, or go on with one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, shown
from ...solve._propagate import progress_bar
from .._shards.manifest import Barrier, Manifest, drop, load_barrier, newest, open_manifest, tidy
from .._shards.plan import Plan, make_plan
from .._shards.steps import Job, step
from .clusters import DaskEngine, SparkEngine
from .engine import Engine, LocalEngine

Array = np.ndarray

KEPT = 2  # barriers whose files are kept


def run(
    folder: str | Path,
    engine: Engine | str = "local",
    *,
    progress: bool | Callable[[float], None] = False,
    workers: int | None = None,
    scheduler: Any = None,
) -> Manifest:
    """Run the solver that a folder was cut for to its end, from wherever it has come to.

    Every step of every shard writes new files; once all have, the barrier is written, and the
    files it refers to are the ones that count. Whatever is killed in between, another ``run``
    goes on from the last barrier, to the same bits. Files that are missing, cut off or changed
    are refused before the first step.

    The `folder` is one that :func:`graphfill.large._shards.cut` filled; workers must see it under
    the same name. `engine`, `workers` and `scheduler` are those of :func:`open_engine`; `progress`
    is as in :func:`graphfill.propagate`, and called as shards finish.
    """
    manifest = open_manifest(Path(folder).resolve())
    with ExitStack() as stack:
        stack.enter_context(_alone(manifest.folder))
        mapper = open_engine(engine, workers=workers, scheduler=scheduler)
        if mapper is not engine:
            stack.callback(mapper.close)
        barrier = newest(manifest)
        plan = make_plan(manifest, None if barrier is None else barrier.state)
        number = -1 if barrier is None else barrier.number
        mapper.map(step, _jobs(manifest, "check", number))
        before = load_barrier(manifest, number - 1)
        kept = [b for b in (before, barrier) if b is not None]
        tidy(manifest, kept)
        # One thread writes barriers while shards take the next step: should all end before it
        # has, that step is taken again.
        tick = stack.enter_context(progress_bar(progress))
        writer = stack.enter_context(ThreadPoolExecutor(1))
        written: Future[None] | None = None
        share = plan.share()
        tick(share)
        while not plan.done:
            by_shard = plan.share_of_step() > 0  # each shard reports its part of the progress
            barrier = _pass(manifest, plan, barrier, mapper, tick)
            if written is not None:
                written.result()
            kept = [*kept, barrier]
            written = writer.submit(_save, manifest, kept)
            kept = kept[-KEPT:]
            if not by_shard:
                tick(max(0.0, plan.share() - share))
            share = max(share, plan.share())
        if written is not None:
            written.result()
    return manifest


def open_engine(engine: Any, *, workers: int | None = None, scheduler: Any = None) -> Engine:
    """An engine by name, or one that is there already.

    An `engine` is "local", "dask", "spark" or an object with a method ``map``. `workers` says how
    many to start where no scheduler is named, one per core by default; they run on this machine,
    and end with the engine. A `scheduler` is the address of a Dask scheduler ("tcp://host:8786")
    or its Client, of a Spark master ("spark://host:7077") or its session.
    """
    if engine == "local":
        return LocalEngine(workers)
    if engine == "dask":
        return DaskEngine(scheduler, workers)
    if engine == "spark":
        return SparkEngine(scheduler, workers)
    if isinstance(engine, str) or not callable(getattr(engine, "map", None)):
        raise InputError(
            f"engine is {shown(engine)} but must be one of 'local', 'dask', 'spark', or have a "
            "method map(function, jobs)."
        )
    opened: Engine = engine
    return opened


def _jobs(manifest: Manifest, name: str, version: int, *arguments: Any) -> list[Job]:
    """One step of every shard."""
    folder = str(manifest.folder)
    return [Job(folder, shard, name, version, *arguments) for shard in range(manifest.n_shards)]


def _pass(
    manifest: Manifest,
    plan: Plan,
    barrier: Barrier | None,
    engine: Engine,
    tick: Callable[[float], None],
) -> Barrier:
    """Take one step with all shards."""
    number, versions, checksums = 0, {}, {}
    if barrier is not None:
        number = barrier.number + 1
        versions, checksums = dict(barrier.versions), dict(barrier.checksums)
    phase = plan.phase()
    reads = {name: versions[name] for name in phase.reads if name in versions}
    part = plan.share_of_step() / manifest.n_shards
    jobs = _jobs(manifest, phase.step, number, reads, phase.lanes)
    done = engine.map(step, jobs, lambda: tick(part))
    plan.after(_total([d.sums for d in done]), _total([d.more for d in done]))
    for name in done[0].checksums:
        versions[name] = number
        checksums[name] = [d.checksums[name] for d in done]
    return Barrier(number, versions, checksums, plan.plain_state())


def _total(parts: list[Array | None]) -> Array | None:
    """Column sums over all shards: block after block, so that the cut does not matter."""
    blocks = [part for part in parts if part is not None]
    if not blocks:
        return None
    total: Array = np.vstack(blocks).cumsum(axis=0)[-1]
    return total


def _save(manifest: Manifest, barriers: list[Barrier]) -> None:
    """Write the last barrier, and delete what is older than the last two."""
    barriers[-1].save(manifest)
    for old in barriers[:-KEPT]:
        drop(manifest, old, barriers[-KEPT:])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse a second driver in the same folder; the lock goes with the process that has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW  # a link would be followed elsewhere
    with open(os.open(folder / "lock", flags, 0o666), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"Another run works in {folder}: wait for its end, or name another folder."
            ) from None
        yield
