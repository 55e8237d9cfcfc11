"""What a cut must know of its inputs, read in pieces: they may lie on disk, mapped into memory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError
from ...graph._graph import Graph
from ...solve import WORTH_LEAVING_OUT, PropagationOptions, check_row_count

Array = np.ndarray

CHUNK = 1 << 20  # entries, or cells, read together


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


def describe(
    graph: Graph, values: Array, n_shards: int, options: PropagationOptions, order: str
) -> dict[str, Any]:
    """What a folder was cut from: to go on in it, all of this must be the same."""
    return {
        "graph": digest(graph.indptr, graph.indices, graph.weights), "X": digest(values),
        "n_shards": n_shards, "normalization": options.normalization,
        "self_loops": options.self_loops, "shrinkage": float(options.shrinkage), "order": order,
    }  # fmt: skip


def describe_solver(options: PropagationOptions, tol: float) -> dict[str, Any]:
    """The solver that a folder was cut for; `tol` is the one that follows from the options."""
    if options.exact:
        return {"name": "exact", "tol": tol, "max_iter": int(options.max_iter)}
    return {"name": "diffusion", "n_iter": int(options.n_iter)}


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


def known_first(graph: Graph, missing_in_row: Array, n_columns: int) -> Array | None:
    """Which nodes to sum over last, where an unsharded run sums over the known ones first.

    It does when rows are known or missing whole and leaving the known ones out of its loops pays
    (see ``cut_interior``, whose sample this is); None where it does not.
    """
    if not np.isin(missing_in_row, (0, n_columns)).all() or not len(graph.indices):
        return None
    missing = missing_in_row > 0
    entries = len(graph.indices)
    sample = np.random.default_rng(0).integers(0, entries, min(entries, 100_000))
    of_missing = missing[np.searchsorted(graph.indptr, sample, side="right") - 1]
    if not of_missing.any():
        return None
    share = np.mean(missing[graph.indices[sample]][of_missing])
    return None if share > 1.0 - WORTH_LEAVING_OUT else missing
