"""Feature Propagation over shards, in place of ``propagate`` and where tables are filled."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, check_choice, parameter
from ...solve import Problem, PropagationOptions, Result, finish, graph_of_rows, open_matrix
from .._shards import cut, join
from .._shards.manifest import NAME, check_same_inputs, describe, open_manifest
from .driver import run
from .engine import Engine


def propagate_sharded(
    X: Any,
    graph: Any,
    *,
    n_shards: int,
    engine: str | Engine = "local",
    scheduler: Any = None,
    workers: int | None = None,
    folder: str | Path | None = None,
    order: str = "given",
    missing_mask: Any = None,
    normalization: str = "sym",
    solver: str = "diffusion",
    n_iter: int = 40,
    tol: float | None = None,
    max_iter: int = 10_000,
    self_loops: bool = False,
    shrinkage: float = 0.0,
    unreached: str = "zero",
    progress: bool | Callable[[float], None] = False,
) -> Result:
    """Fill the missing cells of a matrix as :func:`graphfill.propagate` does, shard by shard.

    The rows are cut into ``n_shards`` ranges, kept in files; worker processes take one step of
    one shard at a time. Diffusion gives the bits that ``propagate`` gives, but for means of
    columns (``unreached="mean"``; ``shrinkage`` under "rw"), which agree within rounding;
    ``exact`` is within rounding of it, with the same bits for any number of shards and any engine,
    but has one scale for a column, so that components of far smaller values are less exact.
    Numbers near the ends of their type are refused.

    Parameters
    ----------
    X, missing_mask : as in ``propagate``; X may be a ``numpy.memmap``
    graph : Graph, or anything ``Graph.of`` recognises
    n_shards : int
    engine : {"local", "dask", "spark"} or Engine
        Processes on this machine, or the workers of a cluster.
    scheduler : str, optional
        The address of a Dask scheduler or a Spark master.
    workers : int, optional
        How many processes to start where no scheduler is named; one per core.
    folder : path, optional
        Where the shards are kept; every worker must see it. Called again with the same inputs
        and folder, a run goes on from where it was stopped. By default a temporary folder.
    order : {"given", "locality"}
        Cut ranges of node numbers, or of an order that puts clusters together.
    normalization, solver, n_iter, tol, max_iter, self_loops, shrinkage, unreached, progress
        As in ``propagate``; there is no "chebyshev" here.

    Examples
    --------
    >>> import graphfill as gf
    >>> from graphfill.large._engines import propagate_sharded
    >>> path = gf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> r = propagate_sharded(
    ...     [1.0, None, None, 4.0], path, n_shards=2, workers=1, normalization="rw", solver="exact"
    ... )
    >>> r.X.round(6)
    array([1., 2., 3., 4.])
    """
    check_choice("solver", solver, ("diffusion", "exact"))
    options = PropagationOptions(
        normalization=normalization, solver=solver, n_iter=n_iter, tol=tol, max_iter=max_iter,
        self_loops=self_loops, shrinkage=shrinkage, unreached=unreached,
    )  # fmt: skip
    opened = open_matrix(X, missing_mask=missing_mask)
    values = opened.values
    rows = graph_of_rows(graph, len(values))
    problem = Problem.of(options, rows, values.dtype)
    with ExitStack() as stack:
        if folder is None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphfill-")))
        else:
            place = Path(folder)
        if (place / NAME).exists():
            manifest = open_manifest(place)
            inputs, solving = describe(rows, values, n_shards, order, problem)
            check_same_inputs(manifest, inputs | solving)
        else:
            durable = folder is not None
            manifest = cut(rows, values, n_shards, place, options, order=order, durable=durable)
        run(place, engine, progress=progress, workers=workers, scheduler=scheduler)
        joined = join(place, unreached=unreached)
    return finish(
        problem, opened.rebuild(joined.X), n_iter=joined.n_iter, residuals=joined.residual,
        label=joined.label, reached=joined.reached, names=opened.feature_names,
        known_in_column=np.array(manifest.known_in_column),
    )  # fmt: skip


@dataclass
class ShardedSolving:
    """Takes the place of ``propagate_with`` where tables are filled.

    Each call has a numbered folder of its own: the same calls made again go on from where the
    ones before were stopped.
    """

    engine: Engine
    n_shards: int
    folder: Path  # that every worker sees
    order: str = "given"  # or "locality"
    calls: int = field(default=0, init=False)

    def __call__(
        self,
        X: Any,
        graph: Any,
        options: PropagationOptions,
        *,
        progress: bool | Callable[[float], None] = False,
    ) -> Result:
        """As ``propagate_with``; the order of nodes, memory and threads are the workers' affair."""
        check_sharded_solver(options.solver)
        shared = asdict(options)
        for name in ("reorder", "memory_limit", "threads"):
            del shared[name]
        self.calls += 1
        folder = self.folder / f"solve-{self.calls:04d}"
        return propagate_sharded(
            X, graph, n_shards=self.n_shards, engine=self.engine, folder=folder, order=self.order,
            progress=progress, **shared,
        )  # fmt: skip

    def tidy(self) -> None:
        """Remove the folders of all calls, once their results are written elsewhere."""
        for number in range(1, self.calls + 1):
            shutil.rmtree(self.folder / f"solve-{number:04d}", ignore_errors=True)


def check_sharded_solver(solver: str) -> None:
    """Refuse a solver that works in one piece only."""
    if solver not in ("diffusion", "exact"):
        raise InputError(
            f"{parameter('solver')} {solver} works in one piece, not in shards: choose diffusion "
            "or exact."
        )
