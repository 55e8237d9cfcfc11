"""Where a graph is cut: rows into shards, columns into tiles."""

from __future__ import annotations

import numpy as np

from ... import kernels
from ...solve._memory import ROW_BYTES, tiles
from .. import _refuse_shards

Array = np.ndarray

BLOCK_ROWS = 256  # as in the kernels: then totals have the bits of an unsharded run
FEWEST_BLOCKS, MOST_BLOCKS = 64, 16_384


def block_rows(n_rows: int) -> int:
    """Rows whose sums are added first, a function of their number alone.

    Shards are cut between blocks, and totals are added block by block: so they do not depend on
    the number of shards.

    Examples
    --------
    >>> block_rows(10), block_rows(2_000_000), block_rows(10_000_000)
    (1, 256, 1024)
    """
    size = min(BLOCK_ROWS, max(1, n_rows // FEWEST_BLOCKS))
    while n_rows > size * MOST_BLOCKS:
        size *= 2
    return size


def cut_rows(work: Array, n_shards: int) -> list[int]:
    """Bounds of shards of about equal work, at multiples of the block; ``work`` is per row.

    Examples
    --------
    >>> cut_rows(np.array([2, 2, 2, 2, 4, 4]), 2)
    [0, 4, 6]
    """
    n = len(work)
    size = block_rows(n)
    n_blocks = -(-n // size)
    _refuse_shards.check_shard_count(n_shards, n_blocks, n)
    ends = np.concatenate([[0], np.cumsum(np.add.reduceat(work, np.arange(0, n, size)))])
    goals = ends[-1] * np.arange(1, n_shards) / n_shards
    # To the nearest end; then every shard gets one block at least, from either side.
    found = np.searchsorted(ends, goals)
    found -= goals - ends[found - 1] < ends[found] - goals
    cuts = np.concatenate([[0], found, [n_blocks]])
    steps = np.arange(n_shards + 1)
    cuts = np.maximum.accumulate(cuts - steps) + steps
    cuts = np.minimum(cuts, n_blocks - n_shards + steps)
    return [int(b) for b in np.minimum(cuts * size, n)]


def cut_columns(n_columns: int, dtype: np.dtype) -> list[list[int]]:
    """Tiles of columns: first, last + 1, and the width that holds them."""
    itemsize = np.dtype(dtype).itemsize
    widest = max(w for w in kernels.tile_widths(dtype) if w * itemsize <= ROW_BYTES)
    return [[t.start, t.stop, width] for t, width in tiles(n_columns, widest, dtype)]
