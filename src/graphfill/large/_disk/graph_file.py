"""Edges sorted on disk into compressed sparse rows, in memory that does not grow with them.

Both directions of every edge are dealt out to files by the row they start from, ranges of rows
with about as many entries each; a file at a time is then sorted, its duplicates merged, and
written behind the rows before it. Edges are read twice: to count what each row will have, and to
deal them out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import Graph, check_node_count, check_weight_total
from ...io._atomic import refusal
from ...table import _refuse_tables
from ...table._id_column import Ids
from .numbering import Numbering
from .parquet import EDGES_AT_ONCE, EdgeFile

Array = NDArray[Any]
Tick = Callable[[float], None]

SORT_BYTES = 40  # at most, per entry of a file that is being sorted
EDGE_BYTES = 120  # per edge of a chunk that is being read
MOST_FILES = 512
ROW, COLUMN = np.uint64(32), np.uint64(0xFFFFFFFF)


def store_graph(
    edges: EdgeFile,
    numbering: Numbering,
    folder: Path,
    *,
    budget: int = 1 << 30,
    progress: Tick | None = None,
) -> tuple[Graph, Numbering]:
    """Sort the edges into files of `folder`; return the graph mapped from them.

    The graph has the rows, entries and weights that ``Graph.from_edges`` would have given it.

    Parameters
    ----------
    edges : EdgeFile
    numbering : Numbering
        Of the table's rows; what else edges name is added to the one returned.
    budget : int
        Bytes to work in, beyond some 30 per node.
    """
    tell = progress or (lambda share: None)
    at_once = int(np.clip(budget // (2 * EDGE_BYTES), 1 << 12, EDGES_AT_ONCE))
    numbering, counts, all_one = _count(edges, numbering, at_once, lambda s: tell(0.3 * s))
    check_node_count(numbering.n_nodes)
    bounds = _bounds(counts, max(budget // (2 * SORT_BYTES), 1))
    weighted = edges.weight is not None and not all_one
    try:
        files = [folder / f"edges-{k:03d}.bin" for k in range(len(bounds) - 1)]
        _deal(edges, numbering, files, bounds, weighted, at_once, lambda s: tell(0.4 * s))
        graph = _sort(numbering.n_nodes, files, bounds, weighted, folder, lambda s: tell(0.3 * s))
    except OSError as error:
        raise refusal(folder, error) from error
    return graph, numbering


def _count(
    edges: EdgeFile, numbering: Numbering, at_once: int, tell: Tick
) -> tuple[Numbering, Array, bool]:
    """Find the nodes that the table lacks, and how many entries each row has at most."""
    import pyarrow as pa

    counts = np.zeros(numbering.n_nodes, dtype=np.int64)
    unknown: tuple[list[Any], list[Any]] = [], []
    n_unknown, all_one = 0, True
    for source, target, weights in edges.chunks(at_once):
        for ends, seen in zip((source, target), unknown, strict=True):
            _check_alike(ends, numbering, edges)
            rows = numbering.rows(ends)
            found = rows >= 0
            if not found.all():
                here = ends.values.filter(pa.array(~found)).unique()
                seen[:] = [pa.concat_arrays([*seen, here]).unique()]
                n_unknown += len(rows) - int(found.sum())
                rows = rows[found]
            counts += np.bincount(rows, minlength=len(counts))
        all_one = all_one and weights is not None and bool(np.isin(weights, (0, 1)).all())
        tell(len(source) / max(edges.n_edges, 1))
    listed = [*unknown[0], *unknown[1]]
    if not listed:
        return numbering, counts, all_one
    others = Ids(pa.concat_arrays(listed).unique())
    share = -(-n_unknown // len(others))
    return (
        numbering.extended(others),
        np.concatenate([counts, np.full(len(others), share)]),
        all_one,
    )


def _check_alike(ends: Ids, numbering: Numbering, edges: EdgeFile) -> None:
    """Refuse ends of another kind than the table's ids: numbers, say, and not text."""
    own = numbering.ids
    if ends.kind != own.kind and len(ends):
        raise _refuse_tables.no_id_matches(
            "the table", None, own[0], own.kind, edges.path.name, ends[0], ends.kind
        )


def _bounds(counts: Array, entries: int) -> Array:
    """Ranges of rows with about as many entries each as fit in memory; a row is never cut."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    n_files = min(MOST_FILES, max(1, -(-total // entries)))
    cuts = np.searchsorted(ends, total * np.arange(1, n_files) / n_files) + 1
    return np.unique(np.concatenate([[0], np.minimum(cuts, len(counts)), [len(counts)]]))


def _deal(
    edges: EdgeFile,
    numbering: Numbering,
    files: list[Path],
    bounds: Array,
    weighted: bool,
    at_once: int,
    tell: Tick,
) -> None:
    """Write both directions of each edge to the file of the row it starts from, in order."""
    file_of = np.repeat(np.arange(len(files), dtype=np.uint16), np.diff(bounds))
    with ExitStack() as stack:
        handles = [stack.enter_context(open(path, "wb")) for path in files]
        values = [
            stack.enter_context(open(path.with_suffix(".weights"), "wb"))
            for path in files
            if weighted
        ]
        for source, target, weights in edges.chunks(at_once):
            u, v = numbering.rows(source), numbering.rows(target)
            kept = u != v
            if weights is not None:
                kept &= weights != 0
                weights = weights[kept]
            both = np.stack([u[kept], v[kept]], axis=1).astype(np.uint64)
            row, column = both.ravel(), both[:, ::-1].ravel()
            place = file_of[row]
            turn = np.argsort(place, kind="stable")
            key = ((row << ROW) | column)[turn]
            ends = np.searchsorted(place[turn], np.arange(len(files) + 1))
            twice = np.repeat(weights, 2)[turn] if weighted and weights is not None else None
            for k in np.flatnonzero(np.diff(ends)):
                span = slice(ends[k], ends[k + 1])
                handles[k].write(key[span].data)
                if twice is not None:
                    values[k].write(twice[span].data)
            tell(len(source) / max(edges.n_edges, 1))


def _sort(
    n_nodes: int, files: list[Path], bounds: Array, weighted: bool, folder: Path, tell: Tick
) -> Graph:
    """Sort file by file, and put the rows behind each other."""
    length = np.zeros(n_nodes, dtype=np.int64)
    entries, values = folder / "indices.bin", folder / "weights.bin"
    with open(entries, "wb") as indices, open(values, "wb") as weights:
        for k, path in enumerate(files):
            key = np.fromfile(path, dtype=np.uint64)
            if weighted:
                listed = np.fromfile(path.with_suffix(".weights"), dtype=np.float64)
                turn = np.argsort(key, kind="stable")
                key, listed = key[turn], listed[turn]
                first = np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]
                pair = np.cumsum(first) - 1
                mean = np.bincount(pair, listed) / np.bincount(pair)
                key = key[first]
                weights.write(mean.data)
                path.with_suffix(".weights").unlink()
            else:
                key.sort()
                key = key[np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]]
            indices.write((key & COLUMN).astype(np.int32).data)
            row = (key >> ROW).astype(np.int64) - bounds[k]
            length[bounds[k] : bounds[k + 1]] = np.bincount(
                row, minlength=int(bounds[k + 1] - bounds[k])
            )
            path.unlink()
            tell(1 / len(files))
    indptr = np.concatenate([[0], np.cumsum(length)])
    if not indptr[-1]:
        empty = np.empty(0, dtype=np.float64) if weighted else None
        return Graph.of_sorted_rows(indptr, np.empty(0, dtype=np.int32), empty)
    mapped = None
    if weighted:
        mapped = np.memmap(values, dtype=np.float64, mode="r")
        check_weight_total(mapped)
    return Graph.of_sorted_rows(indptr, np.memmap(entries, dtype=np.int32, mode="r"), mapped)
