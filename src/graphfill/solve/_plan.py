"""What is decided before any solving: tiles, order, and the part of the graph to solve on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..graph._graph import Graph
from ..graph._ordering import choose_order
from ._memory import BLOCKS, Footprint, fits, tiles, widest_tile
from ._operator import Operator
from ._tiles import Interior, cut_interior

Array = np.ndarray

SMALL_BYTES = 16 << 20  # of a tile of 64 columns: then each thread has tiles of its own


@dataclass(frozen=True)
class Layout:
    """The operator in the order to solve in, the tiles, and the interior where it pays."""

    operator: Operator
    tiles: list[tuple[slice, int]]
    interior: Interior | None


def lay_out(
    values: Array,
    graph: Graph,
    *,
    dtype: np.dtype,
    missing_in_row: Array,
    solver: str,
    products: int,
    reorder: bool | str,
    memory_limit: int | None,
    threads: int,
    **operator_options: Any,
) -> Layout:
    """Choose the order that pays for so many products, then the widest tiles that fit.

    ``dtype`` is what to compute in; where that is not the type of the values, a tile's columns
    are copied on the way in and on the way out.
    """
    n, n_columns = values.shape
    whole_rows = solver != "direct" and bool(np.isin(missing_in_row, (0, n_columns)).all())
    small = n * 64 * dtype.itemsize < SMALL_BYTES
    blocks = BLOCKS[solver] + 2 * (dtype != values.dtype)
    footprint = Footprint(
        n_rows=n,
        n_columns=n_columns,
        itemsize=dtype.itemsize,
        entries=len(graph.indices),
        blocks=blocks * (threads if small else 1) + 2 * whole_rows,
        graph_copies=whole_rows + 3 * operator_options["self_loops"],
        weighted=graph.weights is not None,
    )
    reordered = replace(footprint, graph_copies=footprint.graph_copies + 1)
    if not fits(reordered, 1, memory_limit):
        reorder = False  # no room for the graph in another order
    # As without a limit, so that a limit does not change the order, and with it the bits of sums.
    cuts = tiles(n_columns, widest_tile(footprint, dtype, None), dtype)
    width = max(w for _, w in cuts)  # less than allowed where columns are few
    order = choose_order(
        graph, reorder, row_bytes=width * dtype.itemsize, passes=products * len(cuts)
    )
    if memory_limit is not None:
        width = widest_tile(footprint if order is None else reordered, dtype, memory_limit)
        cuts = tiles(n_columns, width, dtype)
    operator = Operator(graph, order=order, dtype=dtype, threads=threads, **operator_options)
    interior = cut_interior(operator, missing_in_row > 0) if whole_rows else None
    return Layout(operator, cuts, interior)
