"""What the command line does with inputs beyond memory, or beyond one machine."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..io import _refuse_outputs
from ..kernels._threads import available
from ..large import _refuse_shards
from ..large._disk import FileOptions, LinkNames, fill_file, least_in_memory
from ..large._disk.sizing import default_limit
from ..large._engines import ShardedSolving, open_engine
from ..large._estimate.cost import SHARDS_PER_WORKER
from ..solve._memory import parse_bytes
from ..solve._options import PropagationOptions
from ..solve._propagate import Result, propagate
from ..table._result import TableResult

PARQUET = (".parquet", ".pq")
PROPAGATION = ("normalization", "solver", "n_iter", "tol", "shrinkage", "threads")


@contextmanager
def solving(options: argparse.Namespace) -> Iterator[Callable[..., Result]]:
    """What solves channels: in this process, or on the engine that was named."""
    names = ("shards", "workers", "scheduler", "folder")
    given = {name: getattr(options, name) for name in names}
    _refuse_shards.check_engine_options(options.engine, given)
    if options.engine is None:
        yield propagate
        return
    _check_method(options)
    _refuse_shards.check_sharded_solver(options.solver)
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
                raise _refuse_outputs.no_folder(folder, error) from None
        engine = open_engine(options.engine, workers=options.workers, scheduler=options.scheduler)
        stack.callback(engine.close)
        n_shards = options.shards or SHARDS_PER_WORKER * (options.workers or available())
        solve = ShardedSolving(engine, n_shards, folder)
        yield solve
        solve.tidy()


def from_disk(options: argparse.Namespace) -> bool:
    """Whether to read the files piece by piece: where they would not fit, or there are shards."""
    files = options.table, options.edges, options.output
    if not all(str(path).lower().endswith(PARQUET) for path in files):
        return False
    if options.engine is not None:
        return True
    limit = parse_bytes(options.memory_limit)
    if limit is None or least_in_memory(*files[:2], *file_options(options)) <= limit:
        return False
    _check_method(options)
    return True


def fill(
    options: argparse.Namespace,
    propagate: Callable[..., Result],
    progress: Callable[[float], None],
    **method: Any,
) -> TableResult:
    """Fill from file to file; `method` is what was asked for, by the names of the options."""
    propagation = PropagationOptions(**{name: method.pop(name) for name in PROPAGATION})
    names, how = file_options(
        options,
        types=dict(options.types),
        missing=options.missing or [],
        seed=options.seed,
        propagation=propagation,
        **method,
    )
    return fill_file(
        options.table,
        options.edges,
        options.output,
        memory_limit=options.memory_limit or default_limit(),
        names=names,
        options=how,
        propagate=propagate,
        progress=progress,
    )


def file_options(options: argparse.Namespace, **more: Any) -> tuple[LinkNames, FileOptions]:
    """Which columns link the files, and how they are filled."""
    names = LinkNames(options.id, options.source, options.target, options.weight)
    if "propagation" not in more:
        more["propagation"] = PropagationOptions(
            normalization="rw", solver=options.solver, n_iter=options.steps
        )
    return names, FileOptions(columns=options.columns, exclude=options.exclude, **more)


def _check_method(options: argparse.Namespace) -> None:
    """Refuse what looks at all columns at once."""
    asked = [name for name in ("intervals", "scores", "report") if getattr(options, name)]
    _refuse_shards.check_sharded_method(options.method, asked)
