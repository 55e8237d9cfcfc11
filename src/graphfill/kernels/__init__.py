"""The inner loops: arrays in, arrays out.

There are two implementations with the same results to rounding: the C extension, and ``_scipy``
where it could not be built. The extension is used if it is there, unless the environment sets
``GRAPHFILL_KERNELS=scipy``.

A *tile* is a block of columns as the solvers see it: n rows of ``width`` numbers, rows in
the solver's order. Which of its cells are known is an opaque handle, made by ``pack``.
"""

from __future__ import annotations

from ._blocks import invert_blocks
from ._forest import forest
from ._loops import implementation
from ._threads import available, cut, default_threads, share
from ._tiles import (
    Passes,
    empty_tile,
    extra_bytes,
    known_cells,
    pack,
    reach,
    survey,
    tile_widths,
    unpack,
)

__all__ = ["Passes"]  # a pass over a graph's edges, or over the rows of a tile, per method
# From the user's matrix to a tile and back; from edges to a matrix, the order of its rows, and
# how far these are from those of a set.
__all__ += ["known_cells", "pack", "reach", "survey", "unpack"]
__all__ += ["build_csr", "cluster_order", "components", "count_hops", "select_rows"]
# What a tile can be, and what memory the passes take besides; threads, and the rows they share.
__all__ += ["empty_tile", "extra_bytes", "tile_widths"]
__all__ += ["available", "cut", "default_threads", "implementation", "share"]
__all__ += ["forest", "invert_blocks"]  # trees; small matrices, many of them

if implementation == "compiled":
    from ._compiled_graphs import build_csr, cluster_order, components, count_hops, select_rows
else:
    from ._scipy import build_csr, cluster_order, components, count_hops, select_rows
