"""How far edges reach: the rows that a shard would have to read of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .distinct import expected_distinct

Array = np.ndarray

LOOKED_AT = 8  # shards whose halo is estimated


@dataclass(frozen=True)
class Halo:
    """What shards need of each other.

    Attributes
    ----------
    crossing : float
        Share of the entries that lead from one shard to another.
    rows : int
        Different rows that a shard reads of the others, on average.
    """

    crossing: float
    rows: int


def estimate_halo(ends: Array, n_nodes: int, n_edges: int, n_shards: int) -> Halo:
    """From sampled edges, rows being cut in the order they have.

    Examples
    --------
    >>> path = np.stack([np.arange(99), np.arange(1, 100)])
    >>> estimate_halo(path, 100, 99, 4).rows
    1
    """
    if n_shards <= 1 or not ends.size:
        return Halo(0.0, 0)
    bounds = _bounds(ends, n_nodes, n_edges, n_shards)
    shard = np.searchsorted(bounds, ends, side="right")
    across = shard[0] != shard[1]
    scale = n_edges / ends.shape[1]
    found = []
    for place in np.unique(np.linspace(0, n_shards - 1, min(n_shards, LOOKED_AT)).astype(int)):
        read = np.concatenate(
            [ends[1][across & (shard[0] == place)], ends[0][across & (shard[1] == place)]]
        )
        times = np.unique(read, return_counts=True)[1]
        rows = expected_distinct(times, len(read) * scale) if len(read) else 0
        found.append(min(rows, n_nodes - n_nodes // n_shards))
    return Halo(float(across.mean()), int(np.mean(found)))


def _bounds(ends: Array, n_nodes: int, n_edges: int, n_shards: int) -> Array:
    """Where ranges of rows with about as many rows and entries each begin, but for the first."""
    grid = np.linspace(0, n_nodes, 4096)
    below = np.searchsorted(np.sort(ends.ravel()), grid) / ends.size
    work = grid + 2 * n_edges * below
    return np.interp(work[-1] * np.arange(1, n_shards) / n_shards, work, grid)
