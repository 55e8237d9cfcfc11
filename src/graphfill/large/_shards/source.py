"""What a cut must know of its inputs, read in pieces: they may lie on disk, mapped into memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError
from ...graph._components import with_self_loops
from ...graph._graph import Graph
from ...solve import check_row_count

Array = np.ndarray

CHUNK = 1 << 20  # entries, or cells, read together
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


class StoredGraph(Graph):
    """A graph whose arrays are files, mapped into memory."""

    __slots__ = ()

    @classmethod
    def open(
        cls, indptr: str | Path, indices: str | Path, weights: str | Path | None = None
    ) -> Graph:
        """Map .npy files of int64, int32 and float64, and check them: sorted, in range, symmetric.

        Whether both triangles hold the same edges is decided by the sums of a hash over each,
        which takes no memory and is wrong once in 2^64 times.
        """
        starts, columns = (np.load(path, mmap_mode="r") for path in (indptr, indices))
        values = None if weights is None else np.load(weights, mmap_mode="r")
        try:
            n_loops = _check_rows(starts, columns, values)
        except ValueError as problem:
            raise InputError(
                f"{Path(indices)} is no graph of {max(len(starts) - 1, 0)} node(s) in compressed "
                f"sparse rows ({problem}): write int64 indptr, int32 indices that ascend in each "
                "row, and each edge in both its rows."
            ) from None
        return cls.of_sorted_rows(starts, columns, values, n_self_loops=n_loops)


def _check_rows(indptr: Array, indices: Array, weights: Array | None) -> int:
    """The number of self-loops; a ValueError says what is wrong with the arrays of a graph."""
    if indptr.dtype != np.int64 or indices.dtype != np.int32:
        raise ValueError(f"indptr is {indptr.dtype} and indices {indices.dtype}")
    if indptr.ndim != 1 or not len(indptr) or indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError(f"indptr does not run from 0 to {len(indices)}")
    if (np.diff(indptr) < 0).any():
        raise ValueError("indptr descends")
    if weights is not None and (weights.dtype != np.float64 or weights.shape != indices.shape):
        raise ValueError(f"weights are {weights.dtype}, {len(weights)} for {len(indices)} entries")
    n_loops = balance = 0
    for lo, hi, row, column, value in _row_chunks(indptr, indices, weights):
        if column.size and (column.min() < 0 or column.max() >= len(indptr) - 1):
            raise ValueError(f"an index of rows {lo} to {hi} is out of range")
        if ((np.diff(column) <= 0) & (np.diff(row) == 0)).any():
            raise ValueError(f"indices of rows {lo} to {hi} do not ascend")
        low, high = np.minimum(row, column), np.maximum(row, column)
        key = low.astype(np.uint64) * _MIX[0] ^ (high.astype(np.uint64) + _MIX[1])
        if value is not None:
            if not (np.isfinite(value).all() and (value > 0).all()):
                raise ValueError(f"a weight of rows {lo} to {hi} is not a positive number")
            key ^= value.view(np.uint64) * _MIX[1]
        key = (key ^ (key >> np.uint64(29))) * _MIX[1]
        key ^= key >> np.uint64(32)
        balance += int(key[row < column].sum()) - int(key[row > column].sum())
        n_loops += int((row == column).sum())
    if balance % 2**64:
        raise ValueError("some edge is listed in one of its rows only")
    return n_loops


def _row_chunks(
    indptr: Array, indices: Array, weights: Array | None
) -> Iterator[tuple[int, int, Array, Array, Array | None]]:
    """Ranges of rows of about CHUNK entries each: first row, last row + 1, and their entries."""
    n, lo = len(indptr) - 1, 0
    while lo < n:
        hi = int(np.searchsorted(indptr, indptr[lo] + CHUNK, side="right")) - 1
        hi = min(max(hi, lo + 1), n)
        entries = slice(int(indptr[lo]), int(indptr[hi]))
        row = np.repeat(np.arange(lo, hi), np.diff(indptr[lo : hi + 1]))
        value = None if weights is None else np.array(weights[entries])
        yield lo, hi, row, indices[entries].astype(np.int64), value
        lo = hi


def with_loops(graph: Graph, folder: Path) -> Graph:
    """The graph with a loop of weight one where there is none; a stored one is written anew."""
    if not isinstance(graph, StoredGraph):
        return with_self_loops(graph)
    arrays = graph.indptr, graph.indices, graph.weights
    lacks_loop = np.ones(graph.n_nodes, dtype=bool)
    for _, _, row, column, _ in _row_chunks(*arrays):
        lacks_loop[row[row == column]] = False
    indptr = np.concatenate([[0], np.cumsum(np.diff(graph.indptr) + lacks_loop)])

    def empty(name: str, dtype: type) -> Any:
        path, shape = folder / f"loops-{name}.npy", (int(indptr[-1]),)
        return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)

    indices = empty("indices", np.int32)
    weights = None if graph.weights is None else empty("weights", np.float64)
    for lo, hi, row, column, value in _row_chunks(*arrays):
        loops = lo + np.flatnonzero(lacks_loop[lo:hi])
        rows, columns = np.concatenate([row, loops]), np.concatenate([column, loops])
        order = np.lexsort((columns, rows))
        entries = slice(int(indptr[lo]), int(indptr[hi]))
        indices[entries] = columns[order]
        if value is not None and weights is not None:
            weights[entries] = np.concatenate([value, np.ones(len(loops))])[order]
    return StoredGraph.of_sorted_rows(indptr, indices, weights, n_self_loops=graph.n_nodes)


def digest(*arrays: Array | None) -> str:
    """SHA-256 of some arrays, their types and their shapes."""
    total = hashlib.sha256()
    for array in arrays:
        if array is None:
            total.update(b"none")
            continue
        total.update(f"{array.dtype.str}{array.shape}".encode())
        flat = array.reshape(-1)
        for start in range(0, len(flat), CHUNK):
            total.update(np.ascontiguousarray(flat[start : start + CHUNK]).view(np.uint8).data)
    return total.hexdigest()


def as_graph(graph: Any, n_rows: int) -> Graph:
    """The graph, with one node per row of X."""
    rows = Graph.of(graph, n_nodes=n_rows)
    check_row_count(n_rows, rows.n_nodes)
    return rows


def describe(graph: Graph, values: Array, **options: Any) -> dict[str, Any]:
    """What a folder was cut from: to go on in it, all of this must be the same."""
    entries = digest(graph.indptr, graph.indices, graph.weights)
    return {"graph": entries, "X": digest(values), **options}


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


def survey(X: Array) -> tuple[Array, Array, dict[str, Any]]:
    """Missing cells per row, the largest magnitude per column, and what the manifest says of X.

    X is read once, in ranges of rows that depend on its shape alone.
    """
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
