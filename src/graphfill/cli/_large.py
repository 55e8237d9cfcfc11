"""What the command line does with inputs beyond memory, or beyond one machine."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..io import no_folder
from ..kernels._threads import available
from ..large import _refuse_shards
from ..solve._memory import parse_bytes
from ..solve._propagate import Result, propagate
from ..table._result import TableResult

SHARDS_PER_WORKER = 4
MOST_OF_MEMORY = 0.75  # where no limit is named
PARQUET = (".parquet", ".pq")


@contextmanager
def solving(options: argparse.Namespace) -> Iterator[Callable[..., Result]]:
    """What solves channels: in this process, or on the engine that was named."""
    names = ("shards", "workers", "scheduler", "folder")
    given = {name: getattr(options, name) for name in names}
    _refuse_shards.check_engine_options(options.engine, given)
    if options.engine is None:
        yield propagate
        return
    _refuse_shards.check_sharded_method(options.method, _all_columns(options))
    _refuse_shards.check_sharded_solver(options.solver)
    from ..large._engines import ShardedSolving, open_engine

    with ExitStack() as stack:
        if options.folder is None:
            beside = Path(options.output).resolve().parent
            temporary = tempfile.TemporaryDirectory(prefix=".graphfill-", dir=beside)
            folder = Path(stack.enter_context(temporary))
        else:
            folder = Path(options.folder).resolve()
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise no_folder(folder, error) from None
        engine = open_engine(options.engine, workers=options.workers, scheduler=options.scheduler)
        stack.callback(engine.close)
        n_shards = options.shards or SHARDS_PER_WORKER * (options.workers or available())
        solve = ShardedSolving(engine, n_shards, folder)
        yield solve
        solve.tidy()


def from_disk(options: argparse.Namespace) -> bool:
    """Whether to read the files piece by piece: where they would not fit, or there are shards."""
    files = [Path(options.table), Path(options.edges), Path(options.output)]
    parquet = all(path.name.lower().endswith(PARQUET) for path in files)
    if not parquet:
        return False
    if options.engine is not None:
        return True
    limit = parse_bytes(options.memory_limit)
    if limit is None or _sizing(options).in_memory_bytes <= limit:
        return False
    _refuse_shards.check_sharded_method(options.method, _all_columns(options))
    return True


def fill(options: argparse.Namespace, propagate: Callable[..., Result], **how: Any) -> TableResult:
    """Fill from file to file."""
    from ..large._disk import fill_file

    return fill_file(
        options.table,
        options.edges,
        options.output,
        memory_limit=options.memory_limit or int(MOST_OF_MEMORY * machine_bytes()),
        id=options.id,
        source=options.source,
        target=options.target,
        weight=options.weight,
        columns=options.columns,
        exclude=options.exclude,
        types=dict(options.types),
        missing=options.missing or [],
        seed=options.seed,
        propagate=propagate,
        **how,
    )


def _all_columns(options: argparse.Namespace) -> list[str]:
    """What was asked for that looks at all columns at once."""
    return [name for name in ("intervals", "scores", "report") if getattr(options, name)]


def _sizing(options: argparse.Namespace) -> Any:
    from ..large._disk import EdgeFile, Sizing, TableFile

    rows = TableFile(Path(options.table))
    edges = EdgeFile(Path(options.edges), options.source, options.target, options.weight)
    wanted = [name for name in rows.names if name not in (options.id, *options.exclude)]
    if options.columns is not None:
        wanted = [name for name in wanted if name in options.columns]
    return Sizing.of(rows, edges, options.id or rows.names[0], wanted, options.solver)


def machine_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 8 << 30
