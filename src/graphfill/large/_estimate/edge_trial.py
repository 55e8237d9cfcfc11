"""How fast edges become a graph here: in memory, and sorted into a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...table._alignment import align
from ...table._options import Source, TableOptions
from .._disk import EdgeFile, store_graph
from .outline import Outline
from .timing import timed

TRIED_EDGES = 1 << 17
FEW_EDGES = 1 << 14
UNREAD_COST = 8  # times the reading, where ids are too many to try it


def link_speed(seen: Outline) -> float:
    """Seconds per id, in the table or at an end of an edge, until the graph is there."""
    import narwhals as nw
    import pyarrow as pa

    if seen.numbering is None or not seen.ends.size:
        return UNREAD_COST / 2 * seen.read_seconds
    frame = nw.from_native(pa.table({"id": seen.numbering.ids.values}), eager_only=True)
    listed = _listed(seen, TRIED_EDGES)
    if not len(listed):
        return UNREAD_COST / 2 * seen.read_seconds
    took, _ = timed(
        lambda: align(frame, listed, TableOptions(id="id", source="a", target="b"), Source())
    )
    return took / (len(frame) + 2 * len(listed))


def sort_speed(seen: Outline, folder: Path) -> tuple[float, float]:
    """Seconds per edge that is sorted into a file, and per chunk of them that is read."""
    if seen.numbering is None or not seen.ends.size:
        return UNREAD_COST * seen.read_seconds, 0.0
    sizes, seconds = [], []
    for size in (FEW_EDGES, TRIED_EDGES):
        took, n_edges = _sort(seen, _listed(seen, size), folder)
        sizes.append(max(n_edges, 1))
        seconds.append(took)
    each = seconds[1] / sizes[1]
    if sizes[1] > 2 * sizes[0]:
        slope = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
        each = float(np.clip(slope, 0.2 * each, each))
    return each, seconds[1] - each * sizes[1]


def _listed(seen: Outline, size: int) -> Any:
    """Sampled edges by their ids."""
    import pyarrow as pa

    assert seen.numbering is not None
    ids = seen.numbering.ids.values
    ends = seen.ends[:, (seen.ends < len(ids)).all(axis=0)][:, :size]
    return pa.table({name: ids.take(pa.array(end)) for name, end in zip("ab", ends, strict=True)})


def _sort(seen: Outline, listed: Any, folder: Path) -> tuple[float, int]:
    from pyarrow import parquet

    parquet.write_table(listed, folder / "edges.parquet")
    edges = EdgeFile(folder / "edges.parquet", "a", "b")
    assert seen.numbering is not None
    return timed(store_graph, edges, seen.numbering, folder)[0], edges.n_edges
