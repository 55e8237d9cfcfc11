"""How much memory a fill takes, and how wide its tiles may be.

Columns do not depend on each other, so they are solved tile by tile: a tile's width sets
the working memory and hardly the time.
"""

from __future__ import annotations

import ctypes
import re
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..errors import InputError, parameter

# Tiles of n rows that a solver keeps at once.
BLOCKS = {"diffusion": 2, "chebyshev": 4, "exact": 4, "direct": 4}
# A row of 128 bytes is two cache lines: wider rows are hardly faster and cost memory.
ROW_BYTES = 128
# Tiles that would outgrow both the result and this take rows of one cache line.
ROOMY_BYTES = 1 << 30


@dataclass(frozen=True)
class Footprint:
    """The sizes that decide how much memory a fill takes: of the matrix, and of the graph's CSR."""

    n_rows: int
    n_columns: int
    itemsize: int
    entries: int
    blocks: int  # tiles kept at once
    graph_copies: int  # in another order, with loops ...
    weighted: bool
    besides: int = 0  # bytes of what else is kept meanwhile

    @property
    def result_bytes(self) -> int:
        return self.n_rows * self.n_columns * self.itemsize

    def total_bytes(self, width: int) -> int:
        """What the call allocates with tiles of this width, the result included."""
        tile = self.n_rows * width * self.itemsize
        bits = self.n_rows * (width + 7) // 8
        per_row = self.n_rows * (8 * 8 + 5 * self.itemsize)
        entry = 4 + 8 * self.weighted
        graph = self.entries * (entry * self.graph_copies + self.itemsize * self.weighted)
        extra = kernels.extra_bytes(self.n_rows, self.n_columns, self.entries, width, self.itemsize)
        return (
            self.result_bytes
            + self.blocks * tile
            + 3 * bits
            + per_row
            + graph
            + extra
            + self.besides
        )


def parse_bytes(limit: int | float | str | None) -> int | None:
    """A number of bytes from 4e9, "4GB", "512 MiB" or None.

    Examples
    --------
    >>> parse_bytes("1.5 GB"), parse_bytes("2MiB"), parse_bytes(None)
    (1500000000, 2097152, None)
    """
    if limit is None:
        return None
    size = limit
    if isinstance(limit, str):
        pattern = r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kMGT]?)(i?)B?\s*"
        match = re.fullmatch(pattern, limit, flags=re.IGNORECASE)
        if match is None:
            raise InputError(
                f'{parameter("memory_limit")}={limit!r} is not a size; write for example "4GB".'
            )
        number, prefix, binary = match.groups()
        size = float(number) * (1024 if binary else 1000) ** " KMGT".index(prefix.upper() or " ")
    kinds = (int, float, np.integer, np.floating)
    if isinstance(size, bool) or not isinstance(size, kinds) or not 0 < size < np.inf:
        raise InputError(
            f"{parameter('memory_limit')}={limit!r} must be a positive number of bytes."
        )
    return int(size)


def fits(footprint: Footprint, width: int, limit: int | None) -> bool:
    """Whether tiles of this width stay within the limit, if there is one."""
    return limit is None or footprint.total_bytes(width) <= limit


def widest_tile(footprint: Footprint, dtype: np.dtype, limit: int | None) -> int:
    """The width to solve with: the widest that fits.

    Rows are two cache lines wide where the limit allows it, and without a limit where the
    tiles stay within what the result takes anyway; else one cache line.
    """
    widths = [w for w in kernels.tile_widths(dtype) if w * footprint.itemsize <= ROW_BYTES]
    if limit is None:
        tiles_bytes = footprint.blocks * footprint.n_rows * ROW_BYTES
        roomy = tiles_bytes <= max(footprint.result_bytes, ROOMY_BYTES)
        row_bytes = ROW_BYTES if roomy else ROW_BYTES // 2
        return max(w for w in widths if w * footprint.itemsize <= row_bytes)
    fitting = [w for w in widths if fits(footprint, w, limit)]
    if not fitting:
        name = parameter("memory_limit")
        left = f"is {readable(limit)}"
        if name.startswith("--"):
            # A command has read a table by then, and what is left is less than what was typed:
            # perhaps nothing, for which 1 stands.
            left = f"leaves {readable(limit) if limit > 1 else 'nothing'}"
        raise InputError(
            f"{name} {left} but filling {footprint.n_rows} x "
            f"{footprint.n_columns} cells takes at least {readable(footprint.total_bytes(1))} "
            f"({readable(footprint.result_bytes)} of it for the result): raise the limit or fill "
            "fewer columns at a time."
        )
    return max(fitting)


def readable(size: float) -> str:
    """
    >>> readable(1_230_000_000), readable(1)
    ('1.23 GB', '1 byte')
    """
    if size == 1:
        return "1 byte"
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def tiles(n_columns: int, widest: int, dtype: np.dtype) -> list[tuple[slice, int]]:
    """Cut the columns into tiles: the columns of each, and the width that holds them.

    Examples
    --------
    >>> [(t.start, t.stop) for t, _ in tiles(70, 32, np.dtype("float32"))]
    [(0, 32), (32, 64), (64, 70)]
    """
    widths = [w for w in kernels.tile_widths(dtype) if w <= widest]
    cuts = []
    for start in range(0, n_columns, widths[-1]):
        stop = min(start + widths[-1], n_columns)
        cuts.append((slice(start, stop), min(w for w in widths if w >= stop - start)))
    return cuts


def give_back() -> None:
    """Hand freed memory back to the system, where Arrow and the C library would keep some."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, TypeError, AttributeError):  # not the GNU C library
        ctypes.CDLL(None).malloc_trim(0)
