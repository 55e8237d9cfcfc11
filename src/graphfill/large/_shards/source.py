"""A graph in files, read through maps rather than loaded; what a cut must know of its inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...graph._components import with_self_loops
from ...graph._graph import Graph
from .. import _refuse_shards

Array = np.ndarray

CHUNK = 1 << 20  # entries, or cells, looked at together
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


@dataclass(frozen=True)
class StoredGraph:
    """The rows of a symmetric adjacency matrix, in files of their own.

    Attributes
    ----------
    indptr : int64 array of n_nodes + 1, memory-mapped
    indices : int32 array, memory-mapped, ascending in each row
    weights : float64 array, memory-mapped; or None, all edges being equal
    """

    indptr: Array
    indices: Array
    weights: Array | None = None

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @classmethod
    def open(
        cls, indptr: str | Path, indices: str | Path, weights: str | Path | None = None
    ) -> StoredGraph:
        """Map three .npy files, and look through them once: sorted, in range, symmetric.

        That both triangles hold the same edges is told from sums of a hash over each, which
        takes no memory and is wrong once in 2^64 times.
        """
        arrays = [np.load(path, mmap_mode="r") for path in (indptr, indices)]
        values = None if weights is None else np.load(weights, mmap_mode="r")
        graph = cls(arrays[0], arrays[1], values)
        problem = _problem(graph)
        _refuse_shards.check_stored_graph(Path(indices), max(graph.n_nodes, 0), problem)
        return graph


AnyGraph = Graph | StoredGraph


def _problem(graph: StoredGraph) -> str:
    """What is wrong with a graph, or an empty text."""
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    if indptr.dtype != np.int64 or indices.dtype != np.int32:
        return f"indptr is {indptr.dtype} and indices {indices.dtype}"
    if indptr.ndim != 1 or not len(indptr) or indptr[0] != 0 or indptr[-1] != len(indices):
        return f"indptr does not run from 0 to {len(indices)}"
    if (np.diff(indptr) < 0).any():
        return "indptr descends"
    if weights is not None and (weights.dtype != np.float64 or weights.shape != indices.shape):
        return f"weights are {weights.dtype}, {len(weights)} for {len(indices)} entries"
    balance = 0
    for lo, hi in row_chunks(indptr):
        start, stop = int(indptr[lo]), int(indptr[hi])
        column = indices[start:stop].astype(np.int64)
        row = np.repeat(np.arange(lo, hi), np.diff(indptr[lo : hi + 1]))
        if column.size and (column.min() < 0 or column.max() >= graph.n_nodes):
            return f"an index of rows {lo} to {hi} is out of range"
        if ((np.diff(column) <= 0) & (np.diff(row) == 0)).any():
            return f"indices of rows {lo} to {hi} do not ascend"
        low, high = np.minimum(row, column), np.maximum(row, column)
        key = low.astype(np.uint64) * _MIX[0] ^ (high.astype(np.uint64) + _MIX[1])
        if weights is not None:
            value = np.array(weights[start:stop])
            if not (np.isfinite(value).all() and (value > 0).all()):
                return f"a weight of rows {lo} to {hi} is not a positive number"
            key ^= value.view(np.uint64) * _MIX[1]
        key = (key ^ (key >> np.uint64(29))) * _MIX[1]
        key ^= key >> np.uint64(32)
        balance += int(key[row < column].sum()) - int(key[row > column].sum())
    return "" if balance % 2**64 == 0 else "some edge is listed in one of its rows only"


def row_chunks(indptr: Array) -> Iterator[tuple[int, int]]:
    """Ranges of rows of about CHUNK entries each; fixed by the graph alone."""
    n, lo = len(indptr) - 1, 0
    while lo < n:
        hi = int(np.searchsorted(indptr, indptr[lo] + CHUNK, side="right")) - 1
        hi = min(max(hi, lo + 1), n)
        yield lo, hi
        lo = hi


def degrees(graph: AnyGraph) -> Array:
    """Row sums of A; 8 bytes per node."""
    if isinstance(graph, Graph):
        return graph.degrees()
    count = np.diff(graph.indptr)
    if graph.weights is None:
        return count.astype(np.float64)
    total = np.zeros(graph.n_nodes)
    for lo, hi in row_chunks(graph.indptr):
        filled = lo + np.flatnonzero(count[lo:hi])
        if len(filled):
            start, stop = int(graph.indptr[lo]), int(graph.indptr[hi])
            value = np.array(graph.weights[start:stop])
            total[filled] = np.add.reduceat(value, graph.indptr[filled] - start)
    return total


def components(graph: AnyGraph) -> tuple[int, Array, Array]:
    """Number of components, label per node, nodes in breadth-first order; 8 bytes per node."""
    if isinstance(graph, Graph):
        from ...graph._components import graph_components

        return graph_components(graph)
    return kernels.components(graph.indptr, graph.indices)


def with_loops(graph: AnyGraph, folder: Path) -> AnyGraph:
    """The graph with a loop of weight one where there is none; a stored one is written anew."""
    if isinstance(graph, Graph):
        return with_self_loops(graph)
    n, indptr = graph.n_nodes, graph.indptr
    lacks = np.ones(n, dtype=bool)
    for row, column, *_ in _entries(graph):
        lacks[row[row == column]] = False
    new_indptr = np.concatenate([[0], np.cumsum(np.diff(indptr) + lacks)])

    def empty(name: str, dtype: type) -> Any:
        path, shape = folder / f"loops-{name}.npy", (int(new_indptr[-1]),)
        return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)

    indices = empty("indices", np.int32)
    weights = None if graph.weights is None else empty("weights", np.float64)
    for row, column, value, lo, hi in _entries(graph):
        loops = lo + np.flatnonzero(lacks[lo:hi])
        rows, columns = np.concatenate([row, loops]), np.concatenate([column, loops])
        turn = np.lexsort((columns, rows))
        span = slice(int(new_indptr[lo]), int(new_indptr[hi]))
        indices[span] = columns[turn]
        if weights is not None:
            weights[span] = np.concatenate([value, np.ones(len(loops))])[turn]
    return StoredGraph(new_indptr, indices, weights)


def _entries(graph: AnyGraph) -> Iterator[tuple[Array, Array, Array | None, int, int]]:
    for lo, hi in row_chunks(graph.indptr):
        start, stop = int(graph.indptr[lo]), int(graph.indptr[hi])
        row = np.repeat(np.arange(lo, hi), np.diff(graph.indptr[lo : hi + 1]))
        value = None if graph.weights is None else graph.weights[start:stop]
        yield row, graph.indices[start:stop], value, lo, hi


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


@dataclass(frozen=True)
class Survey:
    """What X lacks: per row, and per column with the mean and the largest size of what is known."""

    missing_in_row: Array
    known_in_column: Array
    means: Array
    largest: Array


def survey(X: Array) -> Survey:
    """Look through X once, in ranges of rows that depend on its shape alone."""
    n, columns = X.shape
    missing_in_row = np.empty(n, dtype=np.int32)
    known, total = np.zeros(columns, dtype=np.int64), np.zeros(columns)
    largest = np.zeros(columns)
    step = max(1, CHUNK // columns)
    for lo in range(0, n, step):
        part = np.ascontiguousarray(X[lo : lo + step])
        missing_in_row[lo : lo + step], here, _ = kernels.survey(part, 1)
        known += here
        total += np.nansum(part, axis=0, dtype=np.float64)
        largest = np.fmax(largest, np.fmax.reduce(np.abs(part), axis=0))
    return Survey(missing_in_row, known, total / np.maximum(known, 1), largest)
