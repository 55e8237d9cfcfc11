"""One shard's arrays, taken out of the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import kernels
from ...solve import WORTH_LEAVING_OUT
from .source import AnyGraph

Array = np.ndarray


@dataclass
class Extract:
    """Takes the rows of one shard out of the whole graph and matrix.

    ``dtype`` is what to compute in; weights (and ``degree`` already) are multiplied by
    2^``exponent``. ``order`` and ``rank`` are None where rows keep the order of the nodes;
    ``sum_last`` is what :func:`known_first` returns.
    """

    graph: AnyGraph
    X: Array
    dtype: np.dtype
    exponent: int
    order: Array | None
    rank: Array | None
    degree: Array
    label: Array
    bounds: list[int]
    normalization: str
    shrinkage: float
    sum_last: Array | None

    def shard(self, shard: int) -> dict[str, Array]:
        """Every array of one shard."""
        lo, hi = self.bounds[shard], self.bounds[shard + 1]
        rows = slice(lo, hi) if self.order is None else self.order[lo:hi]
        indptr, column, weights = self._rows(lo, hi)
        column, weights = self._sorted(indptr, column, weights)
        own = (column >= lo) & (column < hi)
        halo = np.unique(column[~own])
        local = np.searchsorted(halo, column) + (hi - lo)
        indices = np.where(own, column - lo, local).astype(np.int32)
        starts = np.searchsorted(halo, self.bounds)
        owner_start = np.repeat(self.bounds[:-1], np.diff(starts))
        halo_nodes = halo if self.order is None else self.order[halo]
        arrays = {
            "indptr": indptr,
            "indices": indices,
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
        """The rows in the chosen order, columns by their place in it, entries in node order."""
        graph = self.graph
        if self.order is not None:
            chosen = np.ascontiguousarray(self.order[lo:hi])
            return kernels.select_rows(
                graph.indptr,
                graph.indices,
                graph.weights,
                chosen,
                self.rank,  # type: ignore[arg-type]
            )
        start, stop = int(graph.indptr[lo]), int(graph.indptr[hi])
        weights = None if graph.weights is None else graph.weights[start:stop]
        return graph.indptr[lo : hi + 1] - start, graph.indices[start:stop], weights

    def _sorted(
        self, indptr: Array, column: Array, weights: Array | None
    ) -> tuple[Array, Array | None]:
        """Entries in the order of the sums: known rows first where an unsharded run does so."""
        if self.sum_last is None:
            return np.asarray(column), weights
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        node = column if self.order is None else self.order[column]
        turn = np.argsort(2 * row + self.sum_last[node], kind="stable")
        return column[turn], None if weights is None else weights[turn]

    def _diagonal(self, degree: Array) -> Array:
        return ((1.0 + self.shrinkage) * degree).astype(self.dtype)

    def _factors(self, degree: Array) -> dict[str, Array]:
        """As in :class:`~graphfill.solve._operator.Operator`."""
        connected = degree > 0
        d = np.where(connected, degree, 1.0)
        root = np.sqrt(d) if self.normalization == "sym" else np.ones(len(d))
        scale = np.where(connected, 1.0 / ((1.0 + self.shrinkage) * d), 0.0)
        factors = {"scale": scale, "to_z": 1.0 / root, "from_z": root}
        return {"diagonal": self._diagonal(degree)} | {
            name: value.astype(self.dtype) for name, value in factors.items()
        }


def known_first(graph: AnyGraph, missing_in_row: Array, n_columns: int) -> Array | None:
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
