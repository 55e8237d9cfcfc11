"""Drive a run from barrier to barrier, or go on with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...solve._propagate import progress_bar
from .. import _refuse_shards
from .._shards import Job, Manifest, make_plan, newest, open_manifest, step
from .._shards.manifest import KEPT, Barrier, drop, load_barrier, tidy
from .._shards.plan import Plan
from .engine import Engine, open_engine

Array = np.ndarray


def run(
    folder: str | Path,
    engine: Engine | str = "local",
    *,
    progress: bool | Callable[[float], None] = False,
    workers: int | None = None,
    scheduler: Any = None,
) -> Manifest:
    """Run the solver that a folder was cut for to its end, from wherever it has come to.

    Every step of every shard writes its result aside; once all have, the barrier is written
    down, and what it refers to is what counts. Whatever is killed in between, another ``run``
    goes on from the last barrier, to the same bits. Files that are missing, cut off or changed
    are refused before the first step.

    Parameters
    ----------
    folder : path
        See :func:`graphfill.large._shards.cut`; workers must see it under the same name.
    engine : {"local", "dask", "spark"} or Engine
    progress : bool or callable
        As in :func:`graphfill.propagate`; told as shards finish.
    workers, scheduler
        As in :func:`~.engine.open_engine`, for an engine given by name.
    """
    manifest = open_manifest(Path(folder).resolve())
    with _alone(manifest.folder), _opened(engine, workers, scheduler) as mapper:
        barrier = newest(manifest)
        plan = make_plan(manifest, None if barrier is None else barrier.state)
        _check(manifest, barrier, mapper)
        before = None if barrier is None else load_barrier(manifest, barrier.number - 1)
        kept = [b for b in (before, barrier) if b is not None]
        tidy(manifest, kept)
        # One thread writes barriers down while shards take the next step: should all end before
        # it has, that step is taken again.
        with progress_bar(progress) as tell, ThreadPoolExecutor(1) as clerk:
            shown = plan.share()
            tell(shown)
            written: list[Future[None]] = []
            while not plan.done:
                told = plan.share_of_step() > 0  # by the shards, each of its part
                barrier = _pass(manifest, plan, barrier, mapper, tell)
                for note in written:
                    note.result()
                kept = [*kept, barrier]
                written = [clerk.submit(_write_down, manifest, kept)]
                kept = kept[-KEPT:]
                if not told:
                    tell(max(0.0, plan.share() - shown))
                shown = max(shown, plan.share())
            for note in written:
                note.result()
    return manifest


def _write_down(manifest: Manifest, barriers: list[Barrier]) -> None:
    """Write the last barrier down, and let go of what is older than the last two."""
    barriers[-1].save(manifest)
    for old in barriers[:-KEPT]:
        drop(manifest, old, barriers[-KEPT:])


def _pass(
    manifest: Manifest,
    plan: Plan,
    barrier: Barrier | None,
    engine: Engine,
    tell: Callable[[float], None],
) -> Barrier:
    """Take one step with all shards."""
    number = 0 if barrier is None else barrier.number + 1
    versions = {} if barrier is None else dict(barrier.versions)
    checksums = {} if barrier is None else dict(barrier.checksums)
    phase = plan.phase()
    reads = {name: versions[name] for name in phase.reads if name in versions}
    jobs = [
        Job(str(manifest.folder), shard, phase.step, number, reads, phase.lanes)
        for shard in range(manifest.n_shards)
    ]
    part = plan.share_of_step() / manifest.n_shards
    done = engine.map(step, jobs, lambda: tell(part))
    plan.after(_total([d.sums for d in done]), _total([d.more for d in done]))
    for name in done[0].checksums:
        versions[name] = number
        checksums[name] = [d.checksums[name] for d in done]
    return Barrier(number, versions, checksums, plan.plain_state())


def _total(parts: list[Array | None]) -> Array | None:
    """Column sums over all shards: block after block, so that the cut does not matter."""
    if parts[0] is None:
        return None
    blocks = np.vstack([part for part in parts if part is not None])
    return blocks[0] if len(blocks) == 1 else blocks.cumsum(axis=0)[-1]


def _check(manifest: Manifest, barrier: Barrier | None, engine: Engine) -> None:
    number = -1 if barrier is None else barrier.number
    folder = str(manifest.folder)
    engine.map(step, [Job(folder, s, "check", number) for s in range(manifest.n_shards)])


@contextmanager
def _opened(engine: Any, workers: int | None, scheduler: Any) -> Iterator[Engine]:
    """The engine; closed in the end if it was made here."""
    mapper = open_engine(engine, workers=workers, scheduler=scheduler)
    try:
        yield mapper
    finally:
        if mapper is not engine:
            mapper.close()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse a second driver in the same folder; the lock goes with the process that has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with open(folder / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refuse_shards.already_running(folder) from None
        yield
