"""The inner loops: arrays in, arrays out.

There are two implementations with the same names and meanings: ``_compiled_graphs`` and
``_compiled_tiles`` (the C extension), and ``_scipy`` (where it could not be built; the same
results to rounding). The extension is used if it is there, unless the environment sets
``GRAPHFILL_KERNELS=scipy``.

A *tile* is a block of columns as the solvers see it: n rows of ``width`` numbers, rows in
the solver's order. Which of its cells are known is an opaque handle, made by ``pack``.
"""

from __future__ import annotations

import os
import warnings

from ..errors import GraphfillWarning
from ._threads import available, cut, share

__all__ = ["Passes"]  # a pass over a graph's edges, or over the rows of a tile, per method
# From the user's matrix to a tile and back; from edges to a matrix, and the order of its rows.
__all__ += ["known_cells", "pack", "reach", "survey", "unpack"]
__all__ += ["build_csr", "cluster_order", "components", "select_rows"]
# What a tile can be, and what memory the passes take besides; threads, and the rows they share.
__all__ += ["empty_tile", "extra_bytes", "tile_widths"]
__all__ += ["available", "cut", "implementation", "share"]

implementation = "scipy"
if os.environ.get("GRAPHFILL_KERNELS") != "scipy":
    try:
        from . import _compiled  # noqa: F401

        implementation = "compiled"
    except ImportError:
        text = (
            "graphfill was installed without its compiled kernels and runs on SciPy, several "
            "times slower; reinstall it where a C compiler is found"
        )
        warnings.warn(text, GraphfillWarning, stacklevel=1)

if implementation == "compiled":
    from . import _compiled_graphs as _graphs
    from . import _compiled_tiles as _tiles
else:
    from . import _scipy as _graphs  # type: ignore[no-redef]
    from . import _scipy as _tiles  # type: ignore[no-redef]

Passes = _tiles.Passes
known_cells, pack, reach = _tiles.known_cells, _tiles.pack, _tiles.reach
survey, unpack = _tiles.survey, _tiles.unpack
build_csr, cluster_order = _graphs.build_csr, _graphs.cluster_order
components, select_rows = _graphs.components, _graphs.select_rows
empty_tile, extra_bytes, tile_widths = _tiles.empty_tile, _tiles.extra_bytes, _tiles.tile_widths
