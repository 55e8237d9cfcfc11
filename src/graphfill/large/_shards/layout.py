"""Where a graph is cut, and the arrays of one shard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import kernels
from ...errors import InputError
from ...graph._graph import Graph
from ...solve import WORTH_LEAVING_OUT
from ...solve._memory import ROW_BYTES, tiles

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


def check_shard_count(n_shards: int, n_rows: int) -> int:
    """The number of blocks of rows; more shards than these are refused."""
    n_blocks = max(1, -(-n_rows // block_rows(n_rows)))
    if n_shards > n_blocks:
        raise InputError(
            f"n_shards is {n_shards} but {n_rows} row(s) can be cut into {n_blocks} at most: pass "
            "fewer shards."
        )
    return n_blocks


def cut_rows(work: Array, n_shards: int) -> list[int]:
    """Bounds of shards of about equal work, at multiples of the block; ``work`` is per row.

    Examples
    --------
    >>> cut_rows(np.array([2, 2, 2, 2, 4, 4]), 2)
    [0, 4, 6]
    """
    n = len(work)
    size, n_blocks = block_rows(n), check_shard_count(n_shards, n)
    ends = np.concatenate([[0], np.cumsum(np.add.reduceat(work, np.arange(0, n, size)))])
    goals = ends[-1] * np.arange(1, n_shards) / n_shards
    # To the nearest end; then every shard gets one block at least, from either side.
    nearest = np.searchsorted(ends, goals)
    nearest -= goals - ends[nearest - 1] < ends[nearest] - goals
    cuts = np.concatenate([[0], nearest, [n_blocks]])
    steps = np.arange(n_shards + 1)
    cuts = np.maximum.accumulate(cuts - steps) + steps
    cuts = np.minimum(cuts, n_blocks - n_shards + steps)
    return [int(b) for b in np.minimum(cuts * size, n)]


def cut_columns(n_columns: int, dtype: np.dtype) -> list[list[int]]:
    """Tiles of columns: first, last + 1, and the width that holds them."""
    widest = max(w for w in kernels.tile_widths(dtype) if w * dtype.itemsize <= ROW_BYTES)
    return [[t.start, t.stop, width] for t, width in tiles(n_columns, widest, dtype)]


@dataclass
class Extract:
    """Takes the rows of one shard out of the whole graph and matrix."""

    graph: Graph
    X: Array
    dtype: np.dtype  # to compute in
    exponent: int  # weights (and ``degree`` already) are multiplied by 2^exponent
    order: Array | None  # None where rows keep the order of the nodes
    rank: Array | None
    degree: Array
    label: Array
    bounds: list[int]
    normalization: str
    shrinkage: float
    sum_last: Array | None  # see :func:`known_first`

    def shard(self, shard: int) -> dict[str, Array]:
        """Every array of one shard."""
        lo, hi = self.bounds[shard], self.bounds[shard + 1]
        rows = slice(lo, hi) if self.order is None else self.order[lo:hi]
        indptr, column, weights = self._rows(lo, hi)
        own = (column >= lo) & (column < hi)
        halo = np.unique(column[~own])
        local = np.searchsorted(halo, column) + (hi - lo)
        starts = np.searchsorted(halo, self.bounds)
        owner_start = np.repeat(self.bounds[:-1], np.diff(starts))
        halo_nodes = halo if self.order is None else self.order[halo]
        arrays = {
            "indptr": indptr,
            "indices": np.where(own, column - lo, local).astype(np.int32),
            "halo": (halo - owner_start).astype(np.int64),
            "halo_starts": starts.astype(np.int64),
            "halo_diagonal": self._diagonal(self.degree[halo_nodes]),
            "label": self.label[rows],
            "X": self.X[rows].astype(self.dtype, copy=False),
            **self._factors(self.degree[rows]),
        }
        if self.order is not None:
            arrays["nodes"] = self.order[lo:hi]
        if weights is not None:
            scaled = np.ldexp(weights, self.exponent) if self.exponent else weights
            arrays["weights"] = scaled.astype(self.dtype)
        return arrays

    def _rows(self, lo: int, hi: int) -> tuple[Array, Array, Array | None]:
        """The rows in the chosen order, columns by their place in it; entries in the order of the
        sums: that of the nodes, or known ones first where an unsharded run does so."""
        indptr, column, weights = self.graph.indptr, self.graph.indices, self.graph.weights
        if self.order is not None and self.rank is not None:
            rows = np.ascontiguousarray(self.order[lo:hi])
            indptr, column, weights = kernels.select_rows(indptr, column, weights, rows, self.rank)
        else:
            entries = slice(int(indptr[lo]), int(indptr[hi]))
            indptr, column = indptr[lo : hi + 1] - entries.start, np.asarray(column[entries])
            weights = None if weights is None else weights[entries]
        if self.sum_last is None:
            return indptr, column, weights
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        node = column if self.order is None else self.order[column]
        by_sum = np.argsort(2 * row + self.sum_last[node], kind="stable")
        return indptr, column[by_sum], None if weights is None else weights[by_sum]

    def _diagonal(self, degree: Array) -> Array:
        return ((1.0 + self.shrinkage) * degree).astype(self.dtype)

    def _factors(self, degree: Array) -> dict[str, Array]:
        """As in :class:`~graphfill.solve._operator.Operator`."""
        connected = degree > 0
        d = np.where(connected, degree, 1.0)
        root = np.sqrt(d) if self.normalization == "sym" else np.ones(len(d))
        scale = np.where(connected, 1.0 / ((1.0 + self.shrinkage) * d), 0.0)
        factors = {"scale": scale, "to_z": 1.0 / root, "from_z": root}
        factors = {name: value.astype(self.dtype) for name, value in factors.items()}
        return {"diagonal": self._diagonal(degree), **factors}


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
