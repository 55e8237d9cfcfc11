"""How fast this machine is at what a fill does: the real code on samples, for a few seconds."""

from __future__ import annotations

import io
import os
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ...errors import InputError
from ...graph import CACHE_BYTES, WORTH_HAVING
from ...graph._graph import Graph
from ...kernels._threads import default_threads
from ...table._alignment import align
from ...table._column import Column
from ...table._columns import open_column
from ...table._inspect import column_agreement
from ...table._options import Source, TableOptions
from .._disk import EdgeFile, store_graph
from .._disk.sizing import LANES
from .sample import Sample

Array = NDArray[Any]
T = TypeVar("T")

ROW_BYTES = 8 * LANES
MOST_TILE_BYTES = 1 << 28
FEW_EDGES, MANY_EDGES = 1 << 14, 1 << 17
UNREAD_COST = 8  # times the reading, where ids are too many to try it
TRIED_ROWS, TRIED_COLUMNS, SURVEYED = 1 << 16, 6, 2
TOGETHER = 16  # channels
WRITTEN_BYTES = 1 << 24


class Pace(NamedTuple):
    """Seconds per entry and lane, and per row and lane, of one worker."""

    entry: float
    row: float


@dataclass(frozen=True)
class Speeds:
    """Seconds per unit of work."""

    entry: float  # of the graph, per lane, in a pass by all threads
    row: float  # of a tile, likewise
    entry_alone: float  # by one thread
    row_alone: float
    read_edge: float
    link: float  # an id, in the table or at an end of an edge, until the graph is in memory
    sort_edge: float  # into a file
    sort_chunk: float  # of edges that are sorted into a file, beside its edges
    read_cell: float
    cell: float  # made channels of and back
    write_cell: float
    survey: float  # of a column: do neighbours agree in it?
    write_byte: float  # to the disk, checksum included, until it is there


def measure_speeds(sample: Sample, folder: Path) -> Speeds:
    """Try everything once; `folder` is where the disk is tried."""
    threads = default_threads()
    pace = kernel_pace(sample, threads)
    alone = pace if threads == 1 else kernel_pace(sample, 1)
    with tempfile.TemporaryDirectory(prefix=".graphfill-", dir=folder) as place:
        edges, write_byte = _edge_speeds(sample, Path(place)), _disk_speed(Path(place))
    rest = {"read_edge": sample.read_seconds, **edges, **_table_speeds(sample)}
    return Speeds(*pace, *alone, write_byte=write_byte, **rest)


def timed(work: Callable[..., T], *arguments: Any, times: int = 1) -> tuple[float, T]:
    """The best of some times, and the result."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        result = work(*arguments)
        best = min(best, time.perf_counter() - began)
    return best, result


# -- a pass over edges: the real kernel, on a tile of as many rows as there will be --


def kernel_pace(sample: Sample, threads: int) -> Pace:
    """Seconds per entry and lane of a pass over edges, and per row and lane of one over rows.

    It gathers the rows that sampled edges lead to, so that caches are missed as they will be.
    """
    n_nodes = sample.sizing.n_nodes
    n_rows = min(n_nodes, MOST_TILE_BYTES // ROW_BYTES)
    ends = np.concatenate([sample.ends, sample.ends[::-1]], axis=1)
    if not ends.size:
        ends = np.zeros((2, 1), dtype=np.int64)
    ends = ends[:, np.argsort(ends[0], kind="stable")]
    rows, columns = (ends * (n_rows / max(n_nodes, 1))).astype(np.int32)
    pace = _passes(columns, n_rows, sample, threads)
    # Where neighbours lie far apart, the solver will look for a better order of the nodes, which
    # brings some of them near: half of them, say.
    if n_nodes * ROW_BYTES > CACHE_BYTES and sample.ends.size:
        near = np.abs(sample.ends[0] - sample.ends[1]) <= CACHE_BYTES // ROW_BYTES
        if np.mean(near) <= 1.0 - WORTH_HAVING:
            ordered = _passes(rows, n_rows, sample, threads)
            return Pace((pace.entry + ordered.entry) / 2, pace.row)
    return pace


def _passes(columns: Array, n_rows: int, sample: Sample, threads: int) -> Pace:
    degree = round(2 * sample.sizing.n_edges / max(sample.sizing.n_nodes, 1))
    degree = min(max(1, degree), len(columns))
    n_tried = max(1, min(len(columns) // degree, n_rows))
    columns = np.sort(columns[: n_tried * degree].reshape(n_tried, degree), axis=1).ravel()
    indptr = np.arange(n_tried + 1, dtype=np.int64) * degree
    weights = np.ones(len(columns)) if sample.sizing.weighted else None
    passes = kernels.Passes(indptr, columns, weights, threads)
    p, out = (kernels.empty_tile(n_rows, LANES, np.dtype(float)) for _ in range(2))
    p.fill(1.0)
    out.fill(np.nan)
    factor = np.ones(n_rows)
    _, known = kernels.pack(out, slice(0, LANES), None, factor, LANES)
    out.fill(0.0)
    tried = factor[:n_tried], known[:n_tried], p, out[:n_tried]
    whole, _ = timed(passes.laplacian, *tried, times=6)
    over_rows = kernels.Passes(np.zeros(n_rows + 1, np.int64), columns[:0], None, threads)
    alpha = np.zeros(LANES)
    step, _ = timed(over_rows.step_residual, factor, known, p, out, alpha, times=3)
    row = step / (n_rows * LANES)
    entry = max(whole - row * n_tried * LANES, 0.2 * whole) / (len(columns) * LANES)
    return Pace(entry, row)


# -- edges that become a graph: in memory, and sorted into a file --


def _edge_speeds(sample: Sample, folder: Path) -> dict[str, float]:
    import narwhals as nw
    import pyarrow as pa
    from pyarrow import parquet

    unread = UNREAD_COST * sample.read_seconds
    if sample.numbering is None or not sample.ends.size:
        return {"link": unread / 2, "sort_edge": unread, "sort_chunk": 0.0}
    ids = sample.numbering.ids.values
    ends = sample.ends[:, (sample.ends < len(ids)).all(axis=0)]
    many = pa.table([ids.take(pa.array(end[:MANY_EDGES])) for end in ends], names=["a", "b"])
    few, link = many[:FEW_EDGES], unread / 2
    if len(many):
        frame = nw.from_native(pa.table({"id": ids}), eager_only=True)
        names = TableOptions(id="id", source="a", target="b")
        took, _ = timed(lambda: align(frame, many, names, Source()))
        link = took / (len(frame) + 2 * len(many))
    seconds, sizes = [], [max(len(some), 1) for some in (few, many)]
    file = folder / "edges.parquet"
    for some in (few, many):
        parquet.write_table(some, file)
        took, _ = timed(store_graph, EdgeFile(file, "a", "b"), sample.numbering, folder)
        seconds.append(took)
    each = seconds[1] / sizes[1]
    if sizes[1] > 2 * sizes[0]:
        slope = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
        each = float(np.clip(slope, 0.2 * each, each))
    return {"link": link, "sort_edge": each, "sort_chunk": seconds[1] - each * sizes[1]}


# -- cells that are read, made channels of and back, and written --


def _table_speeds(sample: Sample) -> dict[str, float]:
    import narwhals as nw

    table, sizes = sample.inputs.table, sample.sizing.columns
    names = ([name for name in sizes if sizes[name].channels] or list(sizes))[:TRIED_COLUMNS]
    if not names:
        return {"read_cell": 0.0, "cell": 0.0, "write_cell": 0.0, "survey": 0.0}
    reading, cells = timed(lambda: table.first_rows(names, TRIED_ROWS, threads=True))
    frame = nw.from_native(cells, eager_only=True)
    graph = Graph.from_edges(*(sample.ends % len(cells)), n_nodes=len(cells))
    working, n_worked = 0.0, 0
    surveying: list[float] = []
    for name in names:
        try:
            opening, column = timed(open_column, frame.get_column(name))
        except InputError:  # said when it is filled
            continue
        if not (column.n_channels and column.missing.any()):
            continue
        working += opening + timed(_encode_and_decode, column)[0]
        n_worked += len(column.missing)
        if len(surveying) < SURVEYED:
            surveying.append(timed(column_agreement, column, graph, 0)[0])

    from ...io._columnar import parquet_writer

    def write() -> None:
        with io.BytesIO() as file, parquet_writer(file, cells.schema, table.grouping) as writer:
            writer.write_table(cells)

    n_cells = len(cells) * len(names)
    return {
        "read_cell": reading / n_cells,
        "cell": working / max(n_worked, 1),
        "write_cell": timed(write)[0] / n_cells,
        "survey": sum(surveying) / max(len(surveying), 1),
    }


def _encode_and_decode(column: Column) -> Any:
    """What happens to a column beside being solved; reliance is fitted on a second encoding."""
    n_missing = int(column.missing.sum())
    for start in range(0, column.n_channels, TOGETHER):
        channels = range(start, min(start + TOGETHER, column.n_channels))
        X = np.empty((len(column.missing), len(channels)))
        for _ in range(2):
            column.encode(channels, X)
        column.decode(channels, np.zeros((n_missing, len(channels))))
    return column.rebuild()


def _disk_speed(folder: Path) -> float:
    """Seconds per byte that is summed up, written and forced to disk."""
    data = np.random.default_rng(0).bytes(WRITTEN_BYTES)

    def write() -> None:
        with open(folder / "trial.bin", "wb", buffering=0) as file:
            zlib.crc32(data)
            file.write(data)
            os.fsync(file.fileno())

    return timed(write)[0] / WRITTEN_BYTES
