"""What the command line does with inputs beyond memory, or beyond one machine."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..errors import InputError, option, parameter, switch
from ..kernels._threads import available
from ..solve import propagate_with
from ..solve._memory import parse_bytes
from ..table import TableResult
from ..trust import LEARNT, Solve
from ._options import table_options

PARQUET = (".parquet", ".pq")


@contextmanager
def solving(options: argparse.Namespace) -> Iterator[Solve]:
    """What solves channels: in this process, or on the engine that was named."""
    if options.engine is None:
        for name in ("shards", "workers", "scheduler", "folder"):
            if getattr(options, name) is not None:
                raise InputError(
                    f"{parameter(name)} is for an engine: name it with {option('engine')}, or "
                    "leave it out."
                )
        yield propagate_with
        return
    from ..large._engines import ShardedSolving, open_engine
    from ..large._engines.engine import SHARDS_PER_WORKER
    from ..large._engines.propagate import check_sharded_solver

    _check_method(options)
    check_sharded_solver(options.solver)
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
                raise InputError(
                    f"The folder {folder} cannot be made ({error.strerror}): name another with "
                    f"{option('folder')}."
                ) from None
        engine = open_engine(options.engine, workers=options.workers, scheduler=options.scheduler)
        stack.callback(engine.close)
        n_shards = options.shards or SHARDS_PER_WORKER * (options.workers or available())
        solve = ShardedSolving(engine, n_shards, folder)
        yield solve
        solve.tidy()


def from_disk(options: argparse.Namespace) -> bool:
    """Whether to read the files piece by piece: where they would not fit, or there are shards."""
    files = options.table, options.edges, options.output
    if not all(str(path).lower().endswith(PARQUET) for path in files) or _links(options):
        if options.engine is not None and _links(options):
            raise InputError(
                f"{parameter('engine')} fills by links that are read from a file: write them "
                f"with {option('keep_links')} in a run without it, and name that file."
            )
        return False
    if options.engine is not None:
        return True
    from ..large._disk import least_in_memory

    limit = parse_bytes(options.memory_limit)
    if limit is None or least_in_memory(*files[:2], table_options(options)) <= limit:
        return False
    _check_method(options)
    return True


def _check_weights(options: argparse.Namespace) -> None:
    """Refuse distances, which are not made weights piece by piece."""
    if options.weight_means == "distance":
        raise InputError(
            "--weight-means distance needs the edges in memory: choose a higher limit, or name a "
            "column of weights."
        )


def _links(options: argparse.Namespace) -> bool:
    return bool(table_options(options).links) or options.edges is None


def fill(
    options: argparse.Namespace, solve: Solve, progress: Callable[[float], None]
) -> TableResult:
    """Fill from file to file."""
    from ..large._disk import fill_file
    from ..large._disk.sizing import default_limit

    files, limit = (options.table, options.edges, options.output), options.memory_limit
    _check_weights(options)
    limit, chosen = limit or default_limit(), table_options(options)
    result = fill_file(*files, memory_limit=limit, options=chosen, solve=solve, progress=progress)
    if getattr(options, "fell_back", False):
        result.notes.append(
            "The columns were filled one by one, by propagation: to compare methods on the whole "
            "table, it has to be in memory."
        )
    return result


def _check_method(options: argparse.Namespace) -> None:
    """Refuse what looks at all columns at once, where a few are in memory at a time.

    Where no method was named, it is propagation.
    """
    options.fell_back = options.method is None
    options.method = options.method or "propagation"
    if options.method in LEARNT:
        raise InputError(
            f"{parameter('method')} {options.method} looks at all columns at once, which needs "
            "them in memory: choose propagation, neighbors or mean, or a higher limit."
        )
    for name in ("intervals", "scores", "draws", "report"):
        if getattr(options, name):
            raise InputError(
                f"{switch(name)} looks at all columns at once, which needs them in memory: leave "
                "it out, or choose a higher limit."
            )
