"""What is decided before any solving: tiles, order, and the part of the graph to solve on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..graph import Graph, choose_order
from ._memory import BLOCKS, Footprint, fits, tiles, widest_tile
from ._operator import Operator
from ._problem import Problem

Array = np.ndarray

SMALL_BYTES = 16 << 20  # of a tile of 64 columns: then each thread has tiles of its own
EXPECTED_PRODUCTS = 15  # of conjugate gradients, for deciding what pays
# Solving on A_uu alone pays when that leaves out this share of the unknown rows' entries.
WORTH_LEAVING_OUT = 0.25


@dataclass(frozen=True)
class Interior:
    """The rows that are missing whole, cut out of the operator: A_uu, and A_uk beside it."""

    rows: Array
    passes: kernels.Passes
    boundary: kernels.Passes


def cut_interior(operator: Operator, missing: Array) -> Interior | None:
    """The interior, given which rows are missing whole; None when leaving A_uk out does not pay."""
    if operator.order is not None:
        missing = missing[operator.order]
    entries = len(operator.indices)
    if not missing.any() or not entries:
        return None
    sample = np.random.default_rng(0).integers(0, entries, min(entries, 100_000))
    sample.sort()  # rows near each other are looked up faster
    row = np.searchsorted(operator.indptr, sample, side="right") - 1
    of_missing = missing[row]
    if not of_missing.any() or np.mean(missing[operator.indices[sample]][of_missing]) > (
        1.0 - WORTH_LEAVING_OUT
    ):
        return None
    rows = np.flatnonzero(missing).astype(np.int32)
    inside = np.full(operator.n_nodes, -1, dtype=np.int32)
    inside[rows] = np.arange(len(rows), dtype=np.int32)
    outside = np.where(missing, -1, np.arange(operator.n_nodes)).astype(np.int32)

    def part(rank: Array) -> kernels.Passes:
        weights = None if operator.weights is None else operator.weights.astype(np.float64)
        indptr, indices, values = kernels.select_rows(
            operator.indptr, operator.indices, weights, rows, rank
        )
        values = None if values is None else values.astype(operator.dtype)
        return kernels.Passes(indptr, indices, values, operator.threads)

    return Interior(rows, part(inside), part(outside))


@dataclass(frozen=True)
class Layout:
    """The operator in the order to solve in, the tiles, and the interior where it pays."""

    operator: Operator
    tiles: list[tuple[slice, int]]
    interior: Interior | None


def lay_out(values: Array, graph: Graph, problem: Problem, missing_in_row: Array) -> Layout:
    """Choose the order that pays for the products to come, then the widest tiles that fit.

    Where the type to compute in is not that of the values, a tile's columns are copied on the way
    in and on the way out.
    """
    options, dtype = problem.options, problem.dtype
    limit, reorder = options.memory_limit, options.reorder
    n, n_columns = values.shape
    whole_rows = not problem.direct and bool(np.isin(missing_in_row, (0, n_columns)).all())
    small = n * 64 * dtype.itemsize < SMALL_BYTES
    blocks = BLOCKS[problem.solver] + 2 * (dtype != values.dtype)
    footprint = Footprint(
        n_rows=n,
        n_columns=n_columns,
        itemsize=dtype.itemsize,
        entries=len(graph.indices),
        blocks=blocks * (options.n_threads if small else 1) + 2 * whole_rows,
        graph_copies=whole_rows + 3 * options.self_loops,
        weighted=graph.weights is not None,
    )
    reordered = replace(footprint, graph_copies=footprint.graph_copies + 1)
    if not fits(reordered, 1, limit):
        reorder = False  # no room for the graph in another order
    # As without a limit, so that a limit does not change the order, and with it the bits of sums.
    cuts = tiles(n_columns, widest_tile(footprint, dtype, None), dtype)
    width = max(w for _, w in cuts)  # less than allowed where columns are few
    passes = (EXPECTED_PRODUCTS if options.exact else options.n_iter) * len(cuts)
    order = choose_order(graph, reorder, row_bytes=width * dtype.itemsize, passes=passes)
    if limit is not None:
        width = widest_tile(footprint if order is None else reordered, dtype, limit)
        cuts = tiles(n_columns, width, dtype)
    operator = Operator(graph, options, dtype, order)
    interior = cut_interior(operator, missing_in_row > 0) if whole_rows else None
    return Layout(operator, cuts, interior)
