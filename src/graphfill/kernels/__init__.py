"""The inner loops: arrays in, arrays out.

There are two implementations with the same names and meanings: ``_compiled_graphs`` and
``_compiled_tiles`` (the C extension), and ``_scipy`` (where it could not be built; the same
results to rounding). The extension is used if it is there, unless the environment sets
``GRAPHFILL_KERNELS=scipy``.

A *tile* is a block of columns as the solvers see it: n rows of ``width`` numbers, rows in
the solver's order. Which of its cells are known is an opaque handle, made by ``pack``.

``Passes(indptr, indices, weights, threads)``
    One pass over a graph's edges per method: diffuse, diffuse_measured, residual,
    laplacian, chebyshev; and over the rows of a tile: step_residual, step_direction,
    known_sums, squares, shift_known.
``survey``, ``pack``, ``unpack``, ``reach``, ``known_cells``
    From the user's matrix to a tile and back.
``edge_range``, ``build_csr``, ``components``, ``cluster_order``, ``select_rows``
    From edges to a matrix, and the order of its rows.
``tile_widths``, ``empty_tile``, ``extra_bytes``
    What a tile can be, and what memory the passes take besides.
``available``, ``cut``, ``share``
    Threads, and the ranges of rows that they share.
"""

from __future__ import annotations

import os
import warnings

from ..errors import GraphfillWarning
from ._threads import available, cut, share

__all__ = ["Passes", "available", "cut", "implementation", "share"]
__all__ += ["build_csr", "cluster_order", "components", "edge_range", "select_rows"]
__all__ += ["empty_tile", "extra_bytes", "known_cells", "pack", "reach", "survey", "tile_widths"]
__all__ += ["unpack"]

implementation = "scipy"
if os.environ.get("GRAPHFILL_KERNELS") != "scipy":
    try:
        from . import _compiled  # noqa: F401

        implementation = "compiled"
    except ImportError:
        warnings.warn(
            "graphfill was installed without its compiled kernels and runs on SciPy, several "
            "times slower; reinstall it where a C compiler is found",
            GraphfillWarning,
            stacklevel=2,
        )

if implementation == "compiled":
    from ._compiled_graphs import build_csr, cluster_order, components, edge_range, select_rows
    from ._compiled_tiles import (
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
else:
    from ._scipy import (  # type: ignore[assignment]
        Passes,
        build_csr,
        cluster_order,
        components,
        edge_range,
        empty_tile,
        extra_bytes,
        known_cells,
        pack,
        reach,
        select_rows,
        survey,
        tile_widths,
        unpack,
    )
