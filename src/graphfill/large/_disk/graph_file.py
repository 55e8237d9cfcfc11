"""Edges sorted on disk into compressed sparse rows, in memory that does not grow with them.

Both directions of every edge are written to files by the row they start from, ranges of rows
with about as many entries each; a file at a time is then sorted, its duplicates merged, and
written behind the rows before it. Edges are read twice: to count what each row will have, and to
distribute them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import Graph, check_node_count, check_weight_total
from ...io import refusal
from ...table._alignment import no_id_matches
from ...table._id_column import Ids
from ...table._options import Naming
from .parquet import EDGES_AT_ONCE, EdgeFile

Array = NDArray[Any]
Tick = Callable[[float], None]

SORT_BYTES = 40  # at most, per entry of a file that is being sorted
EDGE_BYTES = 120  # per edge of a chunk that is being read
MOST_FILES = 512
SPARSE = 4  # a table over the whole span of whole numbers, unless it were mostly holes
ROW, COLUMN = np.uint64(32), np.uint64(0xFFFFFFFF)  # halves of an entry's key


class Numbering:
    """Nodes by their ids: the rows of a table, and behind them those that only edges name."""

    def __init__(self, ids: Ids):
        self.ids = ids
        self._row_of: Array | None = None
        if ids.kind == "whole numbers" and len(ids):
            numbers = ids.numpy()
            low, high = int(numbers.min()), int(numbers.max())
            if high - low < SPARSE * len(ids):
                self._low = low
                # One more place at either end, for what lies outside.
                self._row_of = np.full(high - low + 3, -1, dtype=np.int32)
                self._row_of[numbers - (low - 1)] = np.arange(len(ids), dtype=np.int32)

    def rows(self, ends: Ids) -> Array:
        """The number of each end, -1 where it is none of these nodes."""
        import pyarrow.compute as pc

        if self._row_of is not None:
            places = np.clip(ends.numpy() - (self._low - 1), 0, len(self._row_of) - 1)
            return np.asarray(self._row_of[places])
        rows = pc.fill_null(pc.index_in(ends.values, value_set=self.ids.values), -1)
        return np.asarray(rows)


def store_graph(
    edges: EdgeFile,
    numbering: Numbering,
    folder: Path,
    *,
    budget: int = 1 << 30,
    progress: Tick | None = None,
) -> Graph:
    """Sort the edges into files of `folder`; return the graph mapped from them.

    The graph has the rows, entries and weights that ``Graph.from_edges`` would have given it.
    `numbering` is that of the table's rows; what else edges name comes after them. The `budget` is
    the bytes to work in, beyond some 30 per node.
    """
    tick = progress or (lambda share: None)
    at_once = int(np.clip(budget // (2 * EDGE_BYTES), 1 << 12, EDGES_AT_ONCE))
    numbering, counts, all_one = _count(edges, numbering, at_once, lambda s: tick(0.3 * s))
    check_node_count(len(numbering.ids))
    bounds = _bounds(counts, max(budget // (2 * SORT_BYTES), 1))
    weight = [] if edges.weight is None or all_one else [("weight", np.float64)]
    entry = np.dtype([("key", np.uint64), *weight])
    files = [folder / f"edges-{k:03d}.bin" for k in range(len(bounds) - 1)]
    file_of = np.repeat(np.arange(len(files), dtype=np.uint16), np.diff(bounds))
    try:
        with ExitStack() as stack:
            handles = [stack.enter_context(open(path, "wb")) for path in files]
            for source, target, weights in edges.chunks(at_once):
                ends = np.stack([numbering.rows(source), numbering.rows(target)], axis=1)
                parts = _both_ways(ends, weights, entry, file_of)
                for handle, part in zip(handles, parts, strict=True):
                    handle.write(part.data)
                tick(0.4 * len(ends) / max(edges.n_edges, 1))
        return _sort(files, bounds, entry, folder, lambda s: tick(0.3 * s))
    except OSError as error:
        raise refusal(folder, error) from error


def _count(
    edges: EdgeFile, numbering: Numbering, at_once: int, tick: Tick
) -> tuple[Numbering, Array, bool]:
    """The nodes with those that the table lacks; how many entries each row has at most; whether
    all weights are 1 or 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = np.zeros(len(numbering.ids), dtype=np.int64)
    unknown: tuple[list[Any], list[Any]] = [], []  # different ids at either end
    n_unknown, all_one, ids = 0, True, numbering.ids
    for source, target, weights in edges.chunks(at_once):
        for ends, seen in zip((source, target), unknown, strict=True):
            if ends.kind != ids.kind and len(ends):  # numbers, say, and not text
                raise no_id_matches(Naming(edges=edges.path.name), None, ids, ends)
            rows = numbering.rows(ends)
            known = rows >= 0
            if not known.all():
                here = ends.values.filter(pa.array(~known)).unique()
                seen[:] = [pa.concat_arrays([*seen, here]).unique()]
                n_unknown += len(rows) - int(known.sum())
                rows = rows[known]
            counts += np.bincount(rows, minlength=len(counts))
        all_one = all_one and weights is not None and bool(np.isin(weights, (0, 1)).all())
        tick(len(source) / max(edges.n_edges, 1))
    if not any(unknown):
        return numbering, counts, all_one
    others = pa.concat_arrays([*unknown[0], *unknown[1]]).unique()
    if ids.kind == "whole numbers":  # in order, and others as they come
        others = others.take(pc.sort_indices(others))
    share = np.full(len(others), -(-n_unknown // len(others)))
    more = Numbering(Ids(pa.concat_arrays([ids.values, others])))
    return more, np.concatenate([counts, share]), all_one


def _bounds(counts: Array, entries: int) -> Array:
    """Ranges of rows with about as many entries each as fit in memory; a row is never cut."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    n_files = min(MOST_FILES, max(1, -(-total // entries)))
    cuts = np.searchsorted(ends, total * np.arange(1, n_files) / n_files) + 1
    return np.unique(np.concatenate([[0], np.minimum(cuts, len(counts)), [len(counts)]]))


def _both_ways(ends: Array, weights: Array | None, entry: np.dtype, file_of: Array) -> list[Array]:
    """Both directions of some edges [edges, 2], by the file of the row they start from."""
    kept = ends[:, 0] != ends[:, 1]
    if weights is not None:
        kept &= weights != 0
    both = ends[kept].astype(np.uint64)
    row, column = both.ravel(), both[:, ::-1].ravel()
    entries = np.empty(len(row), dtype=entry)
    entries["key"] = (row << ROW) | column
    if weights is not None and "weight" in entries.dtype.fields:
        entries["weight"] = np.repeat(weights[kept], 2)
    file = file_of[row]
    entries = entries[np.argsort(file, kind="stable")]
    n_files = int(file_of[-1]) + 1 if len(file_of) else 0
    return np.split(entries, np.cumsum(np.bincount(file, minlength=n_files))[:-1])


def _sort(files: list[Path], bounds: Array, entry: np.dtype, folder: Path, tick: Tick) -> Graph:
    """Sort file by file, and put the rows behind each other."""
    length = np.zeros(bounds[-1], dtype=np.int64)
    weighted = "weight" in (entry.names or ())
    columns, values = folder / "indices.bin", folder / "weights.bin"
    with open(columns, "wb") as indices, open(values, "wb") as weights:
        for path, low, high in zip(files, bounds[:-1], bounds[1:], strict=True):
            entries = np.fromfile(path, dtype=entry)
            if weighted:
                entries = entries[np.argsort(entries["key"], kind="stable")]
            else:
                entries["key"].sort()
            key = entries["key"]
            first = np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]
            if weighted:  # the mean of each pair's
                pair = np.cumsum(first) - 1
                weights.write((np.bincount(pair, entries["weight"]) / np.bincount(pair)).data)
            key = key[first]
            indices.write((key & COLUMN).astype(np.int32).data)
            row = (key >> ROW).astype(np.int64) - low
            length[low:high] = np.bincount(row, minlength=int(high - low))
            path.unlink()
            tick(1 / len(files))
    indptr = np.concatenate([[0], np.cumsum(length)])

    def mapped(path: Path, dtype: type) -> Array:  # an empty file cannot be mapped
        return np.memmap(path, dtype=dtype, mode="r") if indptr[-1] else np.empty(0, dtype=dtype)

    of_entries = mapped(values, np.float64) if weighted else None
    if of_entries is not None and indptr[-1]:
        check_weight_total(of_entries)
    return Graph.of_sorted_rows(indptr, mapped(columns, np.int32), of_entries)
