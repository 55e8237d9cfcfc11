"""Cut a graph and a matrix into shards of rows, one shard at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import errors, kernels
from ...graph._components import inverse_order
from ...graph._graph import Graph
from ...graph._ordering import cluster_order
from ...solve import Span, check_magnitudes, check_row_count, open_matrix
from .. import _refuse_shards
from .extract import Extract, known_first
from .layout import block_rows, cut_columns, cut_rows
from .manifest import Manifest, make_folders
from .source import AnyGraph, components, degrees, digest, survey, with_loops
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
    n_shards : int
    folder : path
        Made if need be; must be empty.
    normalization, self_loops, shrinkage
        As in :func:`graphfill.propagate`.
    order : {"given", "locality"}
        Cut ranges of node numbers, or of an order that puts clusters together, which makes
        halos smaller.
    solver : dict, optional
        What to run: ``{"name": "diffusion", "n_iter": 40}``, the default, or
        ``{"name": "exact", "tol": 1e-6, "max_iter": 10000}``.
    durable : bool
        Force files to disk before they count. Without it, a crash of the machine (not of a
        process) can spoil the folder, which is then refused.

    Returns
    -------
    Manifest
        ``halo`` and ``halo_share`` say how many rows shards need of each other.
    """
    errors.check_choice("normalization", normalization, ("sym", "rw"))
    errors.check_choice("order", order, ("given", "locality"))
    errors.check_number("n_shards", n_shards, low=1, integer=True)
    errors.check_flag("self_loops", self_loops)
    errors.check_number("shrinkage", shrinkage, low=0)
    values = open_matrix(X).values
    graph = as_graph(graph, len(values))
    folder = Path(folder)
    _refuse_shards.check_empty_folder(folder)
    inputs = describe(graph, values, n_shards, normalization, self_loops, shrinkage, order)
    solver = solver or {"name": "diffusion", "n_iter": 40}
    span = Span.of(graph, self_loops=self_loops, shrinkage=shrinkage)
    if "tol" in solver and span.tolerance(solver["tol"]) < solver["tol"]:
        solver = {**solver, "stop": span.tolerance(solver["tol"])}
    n, dtype = len(values), span.dtype(values.dtype, exact=solver["name"] == "exact")
    seen = survey(values)
    check_magnitudes(seen.largest, dtype)  # columns are not scaled, as in one piece
    tiles = cut_columns(values.shape[1], dtype)

    count, label, walk = components(graph)
    plain = graph
    turn = None
    if order == "locality" and len(graph.indices):
        if isinstance(graph, Graph):
            turn = cluster_order(graph)
        else:
            turn = kernels.cluster_order(graph.indptr, graph.indices, walk)
    del walk
    rank = None if turn is None else inverse_order(turn)
    length = np.diff(graph.indptr)
    bounds = cut_rows(1 + (length if turn is None else length[turn]), n_shards)
    make_folders(folder)
    if self_loops:
        graph = with_loops(plain, folder)
    degree = np.ldexp(degrees(graph), span.exponent) if span.exponent else degrees(graph)
    source = Extract(
        graph, values, dtype, span.exponent, turn, rank, degree, label, bounds, normalization,
        shrinkage, known_first(graph, seen.missing_in_row, values.shape[1]),
    )  # fmt: skip

    bits = np.zeros((count, -(-values.shape[1] // 8)), dtype=np.uint8)
    shards, halo = [], []
    for shard in range(n_shards):
        arrays = source.shard(shard)
        _reach(bits, arrays["label"], arrays["X"])
        halo.append(len(arrays["halo"]))
        shards.append(write_arrays(folder / f"shard-{shard:05d}.bin", arrays, durable))
    for path in folder.glob("loops-*.npy"):
        path.unlink()
    reached = write_arrays(folder / "reached.bin", {"bits": bits}, durable)
    manifest = Manifest(
        folder=folder,
        n_rows=n,
        n_columns=values.shape[1],
        dtype=dtype.name,
        n_entries=len(graph.indices),
        bounds=bounds,
        block_rows=block_rows(n),
        tiles=tiles,
        inputs=inputs,
        solver=solver,
        halo=halo,
        n_components=int(count),
        n_unreached=_count_unreached(bits, np.bincount(label, minlength=count), values.shape[1]),
        n_missing=int(seen.missing_in_row.sum(dtype=np.int64)),
        known_in_column=seen.known_in_column.tolist(),
        means=seen.means.tolist(),
        kernels=kernels.implementation,
        durable=durable,
        shards=shards,
        reached=reached,
    )
    manifest.save()
    return manifest


def as_graph(graph: Any, n_rows: int) -> AnyGraph:
    """The graph as rows that can be cut; one row of X per node."""
    if not isinstance(graph, AnyGraph):
        graph = Graph.of(graph, n_nodes=n_rows)
    check_row_count(n_rows, graph.n_nodes)
    return graph


def describe(
    graph: AnyGraph,
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


def _reach(bits: Array, label: Array, X: Array) -> None:
    """Add what some rows know to what is known of their components."""
    by_component = np.argsort(label, kind="stable")
    found, starts = np.unique(label[by_component], return_index=True)
    known = np.packbits(~np.isnan(X), axis=1)[by_component]
    bits[found] |= np.bitwise_or.reduceat(known, starts, axis=0)


def _count_unreached(bits: Array, sizes: Array, n_columns: int) -> int:
    """Cells of components that know nothing of their column."""
    total, step = 0, 1 << 16  # components at a time: there may be as many as nodes
    for lo in range(0, len(bits), step):
        known = np.unpackbits(bits[lo : lo + step], axis=1, count=n_columns)
        total += int(sizes[lo : lo + step] @ (n_columns - known.sum(axis=1, dtype=np.int64)))
    return total
