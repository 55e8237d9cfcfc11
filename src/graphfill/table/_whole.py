"""Integers and moments as whole steps from the smallest of them, and filled floats as cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrow import Cells

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# In seconds as (numerator, denominator); the longest first.
UNITS = {
    "day": (86400, 1),
    "hour": (3600, 1),
    "minute": (60, 1),
    "second": (1, 1),
    "millisecond": (1, 10**3),
    "microsecond": (1, 10**6),
}
TOP = float(np.nextafter(2.0**64, 0))  # the largest float that is a uint64


@dataclass
class Steps:
    """Cells as base + step * k, with k a whole number of at least 0.

    Attributes
    ----------
    floats : ndarray of float64 [n]
        k, NaN where missing.
    base : int
        The smallest known cell, as the integer it is stored as.
    step, most : int
        The length of a step, and the largest k of a known cell.
    unit : str
        "day", "hour", ... if that is longer than what the dtype could hold; else "".
    zone : str or None
        Set if steps are days of the clocks in this zone.
    """

    floats: NDArray[np.float64]
    base: int
    step: int
    most: int
    unit: str
    zone: str | None
    dtype: Any

    @classmethod
    def of(cls, cells: Cells, missing: NDArray[np.bool_]) -> Steps:
        """Find the steps of a column."""
        known = ~missing
        ticks, zone = cells.ticks, None
        unit, step = _unit(cells, ticks[known])
        local = cells.local_ticks
        if local is not None:  # midnights of a zone are no midnights of UTC
            local_unit, local_step = _unit(cells, local[known])
            if local_unit == "day":
                ticks, zone, unit, step = local, cells.twin.type.tz, local_unit, local_step
        base = int(ticks[known].min())
        # Differences of 64-bit integers wrap around to the right value when taken unsigned.
        start = np.array(base, dtype=ticks.dtype).view(np.uint64)
        offset = ticks.view(np.uint64) - start
        if step > 1:
            offset //= np.uint64(step)
        floats = offset.astype(np.float64)
        floats[missing] = np.nan
        return cls(floats, base, step, int(offset[known].max()), unit, zone, ticks.dtype)

    @property
    def parity(self) -> int:
        """1 if the cell at k = 0 is odd, for rounding half to even what is base + k."""
        return self.base // self.step % 2

    def as_arrow(self, floats: NDArray[np.float64], kind: Any) -> Any:
        """Whole numbers of steps as an Arrow array of the type `kind`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        k = np.minimum(np.clip(floats, 0, TOP).astype(np.uint64), np.uint64(self.most))
        k[floats >= float(self.most)] = self.most  # which need not be a float itself
        start = np.array(self.base, dtype=self.dtype).view(np.uint64)
        ticks = pa.array((start + k * np.uint64(self.step)).view(self.dtype))
        if self.zone is not None:  # a midnight that clocks skip is the first moment after it
            clock = ticks.cast(pa.timestamp(kind.unit))
            return pc.assume_timezone(
                clock, self.zone, ambiguous="earliest", nonexistent="latest"
            ).cast(kind)
        if pa.types.is_temporal(kind) and kind.bit_width == 32:
            ticks = ticks.cast(pa.int32())
        return ticks.cast(kind)


def _unit(cells: Cells, known: NDArray[Any]) -> tuple[str, int]:
    """The longest unit of which all known moments are multiples, and its length in ticks."""
    per_second = TICKS.get(getattr(cells.twin.type, "unit", ""), 0)
    if str(cells.twin.type) == "date64[ms]":
        return "", 86400 * 1000
    for unit, (numerator, denominator) in UNITS.items():
        step = numerator * per_second // denominator
        if step > 1 and not (known[:100] % step).any() and not (known % step).any():
            return unit, step
    return "", 1


def as_type(values: NDArray[np.float64], cells: Cells, missing: NDArray[np.bool_]) -> Any:
    """Filled floats as an Arrow array that the column can take."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.twin.type
    if not pa.types.is_decimal(kind):
        return pa.array(values.astype(kind.to_pandas_dtype()), kind)
    wide = pa.decimal256(76, kind.scale)  # Arrow can do more with these than with short ones
    extremes = pc.min_max(cells.twin.filter(pa.array(~missing)).cast(wide))
    decimals = pa.array(values).cast(wide)  # rounded half to even
    for far, end in ((pc.less, extremes["min"]), (pc.greater, extremes["max"])):
        decimals = pc.if_else(far(decimals, end), end, decimals)
    return decimals.cast(kind)
