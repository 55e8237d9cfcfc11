"""Cut a graph and a matrix into shards of rows, one shard at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError, check_choice, check_number
from ...graph import Graph, cluster_order, graph_components, inverse_order, with_self_loops
from ...io import refusal, sync_folder
from ...solve import Problem, PropagationOptions, check_magnitudes, graph_of_rows, open_matrix
from ...solve._memory import ROW_BYTES, tiles
from ...solve._operator import interior_pays, row_factors
from .manifest import CHUNK, REACHED, Manifest, describe, shard_file
from .storage import write_arrays

Array = np.ndarray

BLOCK_ROWS = 256  # as in the kernels: then totals have the bits of an unsharded run
# What a folder holds before its manifest, which is written last.
UNFINISHED = re.compile(
    r"state|barriers|(shard-[0-9]{5}|reached)\.bin"
    r"|\.(shard-[0-9]{5}\.bin|reached\.bin|manifest\.json)\.[0-9a-f]{32}\.part"
)
FEWEST_BLOCKS, MOST_BLOCKS = 64, 16_384


def cut(
    graph: Any,
    X: Any,
    n_shards: int,
    folder: str | Path,
    options: PropagationOptions | None = None,
    *,
    order: str = "given",
    durable: bool = True,
) -> Manifest:
    """Cut the rows of a graph and a matrix into shards, each a file of its own.

    A shard holds a range of rows: their neighbours as local numbers (its own rows first, then
    those of other shards, its halo, grouped by owner) in the order they have in the whole graph,
    their degrees, and their rows of X. Sums over neighbours therefore have the bits they have
    in one piece.

    Takes one shard's memory, some 40 bytes per node, and a bit per component and column; the
    arrays of the graph, and X, may be memory-mapped.

    `graph` is a Graph or anything ``Graph.of`` recognises; the `folder` is made if need be, and
    must be empty. Of the `options`, the solver is diffusion or exact; the `order` "locality" puts
    clusters together, which makes halos smaller. A `durable` cut forces files to disk before they
    count: without it, a crash of the machine (not of a process) can spoil the folder, which is
    then refused.
    """
    check_choice("order", order, ("given", "locality"))
    check_number("n_shards", n_shards, low=1, integer=True)
    options = options or PropagationOptions()
    values, folder = open_matrix(X).values, Path(folder)
    graph = graph_of_rows(graph, len(values))
    _make_empty(folder)
    problem = Problem.of(options, graph, values.dtype)
    inputs, solver = describe(graph, values, n_shards, order, problem)
    dtype, exponent = problem.dtype, problem.span.exponent
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
    if options.self_loops:
        graph = with_self_loops(graph)
    degree = np.ldexp(graph.degrees(), exponent) if exponent else graph.degrees()
    # An unsharded run sums over known rows first where rows are known or missing whole, and
    # leaving the known ones out of its loops pays.
    last = missing_in_row > 0
    by_row = np.isin(missing_in_row, (0, values.shape[1])).all()
    sum_last = last if by_row and interior_pays(graph, last) else None
    whole = Extract(graph, values, dtype, exponent, nodes, degree, label, bounds, options, sum_last)
    written = _write_shards(whole, n_components, folder, durable)
    widest = max(w for w in kernels.tile_widths(dtype) if w * dtype.itemsize <= ROW_BYTES)
    manifest = Manifest(
        folder=folder,
        n_rows=len(values),
        n_columns=values.shape[1],
        dtype=dtype.name,
        n_entries=len(graph.indices),
        bounds=bounds,
        block_rows=block_rows(len(values)),
        tiles=[[t.start, t.stop, w] for t, w in tiles(values.shape[1], widest, dtype)],
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


def _make_empty(folder: Path) -> None:
    """Remove what a cut that was stopped has left; refuse a folder that holds anything else."""
    if not folder.exists():
        return
    found = sorted(folder.iterdir(), reverse=True) if folder.is_dir() else [folder]
    for path in found:
        ours = not path.is_symlink() and UNFINISHED.fullmatch(path.name)
        if not ours or (path.is_dir() and any(path.iterdir())):
            raise InputError(
                f"{folder} exists and is no empty folder: name another, or empty it to cut again."
            )
    for path in found:
        path.rmdir() if path.is_dir() else path.unlink()


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
        shards.append(write_arrays(folder / shard_file(shard), arrays, durable))
    reached = write_arrays(folder / REACHED, {"bits": bits}, durable)
    sizes = np.bincount(whole.label, minlength=n_components)
    n_unreached, step = 0, 1 << 16  # components at a time: there may be as many as nodes
    for lo in range(0, n_components, step):
        known = np.unpackbits(bits[lo : lo + step], axis=1, count=n_columns)
        n_unreached += int(sizes[lo : lo + step] @ (n_columns - known.sum(axis=1, dtype=np.int64)))
    return {"shards": shards, "halo": halo, "reached": reached, "n_unreached": n_unreached}


def survey(X: Array) -> tuple[Array, Array, dict[str, Any]]:
    """Missing cells per row, the largest magnitude per column, and what the manifest says of X."""
    n, columns = X.shape
    missing_in_row = np.empty(n, dtype=np.int32)
    known, total, largest = np.zeros(columns, dtype=np.int64), np.zeros(columns), np.zeros(columns)
    step = max(1, CHUNK // columns)
    for lo in range(0, n, step):
        part = np.ascontiguousarray(X[lo : lo + step])
        missing_in_row[lo : lo + step], here, _ = kernels.survey(part, 1)
        known += here
        total += np.nansum(part, axis=0, dtype=np.float64)
        largest = np.fmax(largest, np.fmax.reduce(np.abs(part), axis=0))
    means = total / np.maximum(known, 1)
    n_missing = int(missing_in_row.sum(dtype=np.int64))
    summary = {"n_missing": n_missing, "known_in_column": known.tolist(), "means": means.tolist()}
    return missing_in_row, largest, summary


# -- where to cut, and the arrays of one shard --


def block_rows(n_rows: int) -> int:
    """Rows whose sums are added first, a function of their number alone.

    Shards are cut between blocks, and totals are added block by block: so they do not depend on
    the number of shards.

    >>> block_rows(10), block_rows(2_000_000), block_rows(10_000_000)
    (1, 256, 1024)
    """
    size = min(BLOCK_ROWS, max(1, n_rows // FEWEST_BLOCKS))
    while n_rows > size * MOST_BLOCKS:
        size *= 2
    return size


def count_blocks(n_rows: int) -> int:
    """The number of blocks of rows, which is the largest number of shards."""
    return max(1, -(-n_rows // block_rows(n_rows)))


def check_shard_count(n_shards: int, n_rows: int) -> None:
    """Refuse more shards than there are blocks of rows."""
    if n_shards > count_blocks(n_rows):
        raise InputError(
            f"n_shards is {n_shards} but {n_rows} row(s) can be cut into {count_blocks(n_rows)} at "
            "most: pass fewer shards."
        )


def cut_rows(work: Array, n_shards: int) -> list[int]:
    """Bounds of shards of about equal work, at multiples of the block; ``work`` is per row.

    >>> cut_rows(np.array([2, 2, 2, 2, 4, 4]), 2)
    [0, 4, 6]
    """
    n = len(work)
    check_shard_count(n_shards, n)
    size, n_blocks = block_rows(n), count_blocks(n)
    ends = np.concatenate([[0], np.cumsum(np.add.reduceat(work, np.arange(0, n, size)))])
    goals = ends[-1] * np.arange(1, n_shards) / n_shards
    # To the nearest end; then every shard gets one block at least, from either side.
    nearest = np.searchsorted(ends, goals)
    nearest -= goals - ends[nearest - 1] < ends[nearest] - goals
    cuts = np.concatenate([[0], nearest, [n_blocks]])
    steps = np.arange(n_shards + 1)
    cuts = np.maximum.accumulate(cuts - steps) + steps
    cuts = np.minimum(cuts, n_blocks - n_shards + steps)
    bounds: list[int] = np.minimum(cuts * size, n).tolist()
    return bounds


@dataclass
class Extract:
    """Takes the rows of one shard out of the whole graph and matrix."""

    graph: Graph
    X: Array
    dtype: np.dtype  # to compute in
    exponent: int  # weights (and ``degree`` already) are multiplied by 2^exponent
    order: Array | None  # None where rows keep the order of the nodes
    degree: Array
    label: Array
    bounds: list[int]
    options: PropagationOptions
    sum_last: Array | None  # nodes that come last in sums, where an unsharded run does so

    @cached_property
    def rank(self) -> Array | None:
        return None if self.order is None else inverse_order(self.order)

    def shard(self, shard: int) -> dict[str, Array]:
        """Every array of one shard."""
        lo, hi = self.bounds[shard], self.bounds[shard + 1]
        rows = slice(lo, hi) if self.order is None else self.order[lo:hi]
        indptr, column, weights = self._rows(lo, hi)
        own = (column >= lo) & (column < hi)
        halo = np.unique(column[~own])
        local = np.searchsorted(halo, column) + (hi - lo)
        starts = np.searchsorted(halo, self.bounds)
        owner_start = np.repeat(self.bounds[:-1], np.diff(starts))
        halo_nodes = halo if self.order is None else self.order[halo]
        arrays = {
            "indptr": indptr,
            "indices": np.where(own, column - lo, local).astype(np.int32),
            "halo": (halo - owner_start).astype(np.int64),
            "halo_starts": starts.astype(np.int64),
            "halo_diagonal": self._factors(halo_nodes)["diagonal"],
            "label": self.label[rows],
            "X": self.X[rows].astype(self.dtype, copy=False),
            **self._factors(rows),
        }
        if self.order is not None:
            arrays["nodes"] = self.order[lo:hi]
        if weights is not None:
            scaled = np.ldexp(weights, self.exponent) if self.exponent else weights
            arrays["weights"] = scaled.astype(self.dtype)
        return arrays

    def _rows(self, lo: int, hi: int) -> tuple[Array, Array, Array | None]:
        """The rows in the chosen order, columns by their place in it; entries in the order of the
        sums: that of the nodes, or known ones first where an unsharded run does so."""
        indptr, column, weights = self.graph.indptr, self.graph.indices, self.graph.weights
        if self.order is not None and self.rank is not None:
            rows = np.ascontiguousarray(self.order[lo:hi])
            indptr, column, weights = kernels.select_rows(indptr, column, weights, rows, self.rank)
        else:
            entries = slice(int(indptr[lo]), int(indptr[hi]))
            indptr, column = indptr[lo : hi + 1] - entries.start, np.asarray(column[entries])
            weights = None if weights is None else weights[entries]
        if self.sum_last is None:
            return indptr, column, weights
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        node = column if self.order is None else self.order[column]
        by_sum = np.argsort(2 * row + self.sum_last[node], kind="stable")
        return indptr, column[by_sum], None if weights is None else weights[by_sum]

    def _factors(self, rows: Any) -> dict[str, Array]:
        options = self.options
        return row_factors(self.degree[rows], options.normalization, options.shrinkage, self.dtype)
