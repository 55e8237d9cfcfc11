"""How fast a pass over edges is here: the real kernel, on a tile of as many rows as there will be.

It gathers the rows that sampled edges lead to, so that caches are missed as they will be.
"""

from __future__ import annotations

import numpy as np

from ... import kernels
from ...graph._ordering import CACHE_BYTES, WORTH_HAVING
from .cost import LANES
from .outline import Outline
from .timing import timed

Array = np.ndarray

ROW_BYTES = 8 * LANES
MOST_TILE_BYTES = 1 << 28


def kernel_speed(seen: Outline, threads: int) -> tuple[float, float]:
    """Seconds per entry and lane of a pass over edges, and per row and lane of one over rows."""
    ends = np.concatenate([seen.ends, seen.ends[::-1]], axis=1)
    if not ends.size:
        ends = np.zeros((2, 1), dtype=np.int64)
    sizing = seen.sizing
    n_rows = min(sizing.n_nodes, MOST_TILE_BYTES // ROW_BYTES)
    ends = ends[:, np.argsort(ends[0], kind="stable")]
    rows, columns = (ends * (n_rows / max(sizing.n_nodes, 1))).astype(np.int32)
    entry, row = _passes(columns, n_rows, seen, threads)
    if renumbered(seen):
        # Nodes will be renumbered, which brings some neighbours near: half of them, say.
        near, _ = _passes(rows, n_rows, seen, threads)
        entry = (entry + near) / 2
    return entry, row


def renumbered(seen: Outline) -> bool:
    """Whether neighbours lie so far apart that the solver will look for a better order."""
    if seen.sizing.n_nodes * ROW_BYTES <= CACHE_BYTES or not seen.ends.size:
        return False
    window = CACHE_BYTES // ROW_BYTES
    return bool(np.mean(np.abs(seen.ends[0] - seen.ends[1]) <= window) <= 1.0 - WORTH_HAVING)


def _passes(columns: Array, n_rows: int, seen: Outline, threads: int) -> tuple[float, float]:
    degree = max(1, round(2 * seen.sizing.n_edges / max(seen.sizing.n_nodes, 1)))
    degree = min(degree, len(columns))
    n_tried = max(1, min(len(columns) // degree, n_rows))
    columns = np.sort(columns[: n_tried * degree].reshape(n_tried, degree), axis=1).ravel()
    indptr = np.arange(n_tried + 1, dtype=np.int64) * degree
    weights = np.ones(len(columns)) if seen.sizing.weighted else None
    passes = kernels.Passes(indptr, columns, weights, threads)
    p, out = (kernels.empty_tile(n_rows, LANES, np.dtype(float)) for _ in range(2))
    p.fill(1.0)
    factor = np.ones(n_rows)
    out.fill(np.nan)
    _, known = kernels.pack(out, slice(0, LANES), None, factor, LANES)
    out.fill(0.0)
    whole, _ = timed(passes.laplacian, factor, known, p, out, times=6)
    over_rows = kernels.Passes(np.zeros(n_rows + 1, np.int64), columns[:0], None, threads)
    alpha = np.zeros(LANES)
    step, _ = timed(over_rows.step_residual, factor, known, p, out, alpha, times=3)
    row = step / (n_rows * LANES)
    entry = max(whole - row * n_tried * LANES, 0.2 * whole) / (len(columns) * LANES)
    return entry, row
