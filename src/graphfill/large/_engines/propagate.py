"""Feature Propagation over shards: as ``propagate``, for graphs beyond one machine's memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ... import errors
from ...solve._convergence import has_converged, warn_of_residual
from ...solve._matrix import open_matrix
from ...solve._propagate import DEFAULT_TOL, Result, warn_of
from ...solve._weight_span import Span
from .._shards import cut, join, open_manifest
from .._shards.cutting import as_graph, check_same_inputs, describe
from .._shards.manifest import NAME
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
    graph : Graph, anything ``Graph.of`` recognises, or a ``StoredGraph`` on disk
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
    errors.check_choice("solver", solver, ("diffusion", "exact"))
    errors.check_choice("unreached", unreached, ("zero", "mean", "nan"))
    errors.check_flag("self_loops", self_loops)
    errors.check_number("n_iter", n_iter, low=0, integer=True)
    errors.check_number("max_iter", max_iter, low=1, integer=True)
    if tol is not None:
        errors.check_number("tol", tol, low=0)
    opened = open_matrix(X, missing_mask=missing_mask)
    values = opened.values
    rows = as_graph(graph, len(values))
    span = Span.of(rows, self_loops=self_loops, shrinkage=shrinkage)
    dtype = span.dtype(values.dtype, exact=solver == "exact")
    tolerance = DEFAULT_TOL[values.dtype.name] if tol is None else float(tol)
    chosen: dict[str, Any] = {"name": "diffusion", "n_iter": int(n_iter)}
    if solver == "exact":
        chosen = {"name": "exact", "tol": tolerance, "max_iter": int(max_iter)}
    with ExitStack() as stack:
        if folder is None:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphfill-")))
        else:
            place = Path(folder)
        if (place / NAME).exists():
            manifest = open_manifest(place)
            given = describe(rows, values, n_shards, normalization, self_loops, shrinkage, order)
            check_same_inputs(place, {**manifest.inputs, **manifest.solver}, {**given, **chosen})
        else:
            manifest = cut(
                rows,
                values,
                n_shards,
                place,
                normalization=normalization,
                self_loops=self_loops,
                shrinkage=shrinkage,
                order=order,
                solver=chosen,
                durable=folder is not None,
            )
        run(place, engine, progress=progress, workers=workers, scheduler=scheduler)
        joined = join(place, unreached=unreached)
    asked = tolerance if solver == "exact" else tol
    blurred = solver == "exact" and manifest.n_missing > 0 and span.blurs(dtype)
    residual = joined.residual
    result = Result(
        opened.rebuild(joined.X),
        n_iter=int(joined.n_iter.max()),
        residual=float(residual.max()),
        residuals=residual,
        converged=has_converged(residual, asked, blurred),
        n_unreached=manifest.n_unreached,
        _label=joined.label,
        _reached=joined.reached,
    )
    known = np.array(manifest.known_in_column)
    warn_of(result, manifest.n_missing, unreached, known, opened.feature_names)
    if result.converged is False:
        limits = max_iter, dtype, span if blurred else None
        warn_of_residual(result.n_iter, result.residual, asked, solver, *limits)
    return result
