"""Cut a graph and a matrix into shards of rows, one shard at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError, check_choice, check_flag, check_number
from ...graph import cluster_order
from ...graph._components import graph_components, inverse_order
from ...graph._graph import Graph
from ...io import refusal, sync_folder
from ...solve import Span, check_magnitudes, check_row_count
from ...solve._matrix import open_matrix
from .layout import Extract, block_rows, cut_columns, cut_rows, known_first
from .manifest import Manifest
from .source import digest, survey, with_loops
from .storage import write_arrays

Array = np.ndarray


def cut(
    graph: Any,
    X: Any,
    n_shards: int,
    folder: str | Path,
    *,
    normalization: str = "sym",
    self_loops: bool = False,
    shrinkage: float = 0.0,
    order: str = "given",
    solver: dict[str, Any] | None = None,
    durable: bool = True,
) -> Manifest:
    """Cut the rows of a graph and a matrix into shards, each a file of its own.

    A shard holds a range of rows: their neighbours as local numbers (its own rows first, then
    those of other shards, its halo, grouped by owner) in the order they have in the whole graph,
    their degrees, and their rows of X. Sums over neighbours therefore have the bits they have
    in one piece.

    Takes one shard's memory, some 40 bytes per node, and a bit per component and column; the
    graph and X may be memory-mapped.

    Parameters
    ----------
    graph : Graph, StoredGraph, or anything ``Graph.of`` recognises
    X : matrix of shape (nodes, columns), NaN where missing; may be a ``numpy.memmap``
    folder : path
        Made if need be; must be empty.
    normalization, self_loops, shrinkage
        As in :func:`graphfill.propagate`.
    order : {"given", "locality"}
        Locality puts clusters together, which makes halos smaller.
    solver : dict, optional
        What to run: ``{"name": "diffusion", "n_iter": 40}``, the default, or
        ``{"name": "exact", "tol": 1e-6, "max_iter": 10000}``.
    durable : bool
        Force files to disk before they count. Without it, a crash of the machine (not of a
        process) can spoil the folder, which is then refused.
    """
    check_choice("normalization", normalization, ("sym", "rw"))
    check_choice("order", order, ("given", "locality"))
    check_number("n_shards", n_shards, low=1, integer=True)
    check_flag("self_loops", self_loops)
    check_number("shrinkage", shrinkage, low=0)
    values = open_matrix(X).values
    graph = as_graph(graph, len(values))
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists and is no empty folder: name another, or empty it to cut again."
        )
    inputs = describe(graph, values, n_shards, normalization, self_loops, shrinkage, order)
    solver = solver or {"name": "diffusion", "n_iter": 40}
    span = Span.of(graph, self_loops=self_loops, shrinkage=shrinkage)
    if "tol" in solver and span.tolerance(solver["tol"]) < solver["tol"]:
        solver = {**solver, "stop": span.tolerance(solver["tol"])}
    dtype = span.dtype(values.dtype, exact=solver["name"] == "exact")
    missing_in_row, largest, seen = survey(values)
    # Columns are not scaled here, as they are in one piece.
    check_magnitudes(largest, dtype)
    n_components, label, _ = graph_components(graph)
    by_cluster = order == "locality" and len(graph.indices) > 0
    nodes = cluster_order(graph) if by_cluster else None
    work = 1 + np.diff(graph.indptr)
    bounds = cut_rows(work if nodes is None else work[nodes], n_shards)
    try:
        for name in ("state", "barriers"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(folder, error) from error
    sync_folder(folder)
    if self_loops:
        graph = with_loops(graph, folder)
    degree = np.ldexp(graph.degrees(), span.exponent) if span.exponent else graph.degrees()
    whole = Extract(
        graph, values, dtype, span.exponent, nodes, None if nodes is None else inverse_order(nodes),
        degree, label, bounds, normalization, shrinkage,
        known_first(graph, missing_in_row, values.shape[1]),
    )  # fmt: skip
    written = _write_shards(whole, n_components, folder, durable)
    manifest = Manifest(
        folder=folder,
        n_rows=len(values),
        n_columns=values.shape[1],
        dtype=dtype.name,
        n_entries=len(graph.indices),
        bounds=bounds,
        block_rows=block_rows(len(values)),
        tiles=cut_columns(values.shape[1], dtype),
        inputs=inputs,
        solver=solver,
        n_components=int(n_components),
        kernels=kernels.implementation,
        durable=durable,
        **seen,
        **written,
    )
    manifest.save()
    return manifest


def _write_shards(whole: Extract, n_components: int, folder: Path, durable: bool) -> dict[str, Any]:
    """Write all shards, and which component knows which column; what the manifest says of them."""
    n_columns = whole.X.shape[1]
    bits = np.zeros((n_components, -(-n_columns // 8)), dtype=np.uint8)
    shards, halo = [], []
    for shard in range(len(whole.bounds) - 1):
        arrays = whole.shard(shard)
        by_component = np.argsort(arrays["label"], kind="stable")
        components, starts = np.unique(arrays["label"][by_component], return_index=True)
        known = np.packbits(~np.isnan(arrays["X"]), axis=1)[by_component]
        bits[components] |= np.bitwise_or.reduceat(known, starts, axis=0)
        halo.append(len(arrays["halo"]))
        shards.append(write_arrays(folder / f"shard-{shard:05d}.bin", arrays, durable))
    for path in folder.glob("loops-*.npy"):
        path.unlink()
    reached = write_arrays(folder / "reached.bin", {"bits": bits}, durable)
    sizes = np.bincount(whole.label, minlength=n_components)
    n_unreached, step = 0, 1 << 16  # components at a time: there may be as many as nodes
    for lo in range(0, n_components, step):
        known = np.unpackbits(bits[lo : lo + step], axis=1, count=n_columns)
        n_unreached += int(sizes[lo : lo + step] @ (n_columns - known.sum(axis=1, dtype=np.int64)))
    return {"shards": shards, "halo": halo, "reached": reached, "n_unreached": n_unreached}


def as_graph(graph: Any, n_rows: int) -> Graph:
    """The graph, with one node per row of X."""
    rows = Graph.of(graph, n_nodes=n_rows)
    check_row_count(n_rows, rows.n_nodes)
    return rows


def describe(
    graph: Graph,
    values: Array,
    n_shards: int,
    normalization: str,
    self_loops: bool,
    shrinkage: float,
    order: str,
) -> dict[str, Any]:
    """What a folder was cut from: to go on in it, all of this must be the same."""
    return {
        "graph": digest(graph.indptr, graph.indices, graph.weights),
        "X": digest(values),
        "n_shards": n_shards,
        "normalization": normalization,
        "self_loops": self_loops,
        "shrinkage": float(shrinkage),
        "order": order,
    }


def check_same_inputs(folder: Path, cut: dict[str, Any], given: dict[str, Any]) -> None:
    """Refuse to go on in a folder that another graph, another X or other options were cut into."""
    for name, value in given.items():
        if cut.get(name) != value:
            change = f"{name} is {value!r} but was {cut.get(name)!r}"
            if name in ("graph", "X"):
                now, before = str(value)[:12], str(cut.get(name))[:12]
                change = f"{name} has the checksum {now}... but had {before}..."
            raise InputError(
                f"{folder} was cut from other inputs ({change}): pass what it was cut from to go "
                "on, or name an empty folder to start anew."
            )
