"""Columns of numbers, integers and moments: one channel each, standardised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._arrow import Cells
from ._column import Column, Floats, Mask
from ._whole import Steps, as_type

if TYPE_CHECKING:
    import narwhals as nw


class Number(Column):
    """Numbers: one channel, (x - mean) / standard deviation of the known cells.

    A filled cell lies between the smallest and the largest known one.

    Attributes
    ----------
    low, high : float
        The smallest and the largest known value, in units of the channel before it is centred.
    """

    n_channels = 1
    parity = 0
    whole_by_guess = False  # whether the type would have room for decimals

    def __init__(
        self, cells: Cells, kind: str, missing: Mask, parent: Number | None = None
    ) -> None:
        super().__init__(cells, kind, missing)
        self._values = self._read(parent)
        known = self._values[~missing] if self._rows.size else self._values
        self.low, self.high = float(known.min()), float(known.max())
        # A power of two off all values first, so that no sum or square can overflow.
        self._exponent = int(np.frexp(max(abs(self.low), abs(self.high)))[1])
        if parent is not None:
            self._exponent = parent._exponent
        self._centre, self._scale = np.ldexp(self.low, -self._exponent), 1.0
        if self.low < self.high:
            known = np.ldexp(known, -self._exponent)
            self._centre = known.mean()
            self._scale = known.std() or 1.0
        self._fill = np.full(self._rows.size, np.nan)

    def _again(self, cells: Cells, missing: Mask, hidden: bool = False) -> Column:
        again = type(self)(cells, self.kind, missing, self if hidden else None)
        again.whole_by_guess = self.whole_by_guess
        return again

    def _read(self, parent: Number | None) -> Floats:
        return self._cells.floats

    def learnt(self) -> dict[str, Any]:
        origin, step = self._grid
        return {
            "origin": origin,
            "step": step,
            "low": self.low,
            "high": self.high,
            "exponent": self._exponent,
            "centre": float(self._centre),
            "scale": float(self._scale),
        }

    def hold(self, learnt: Mapping[str, Any]) -> None:
        """Measure values as `learnt` says; filled cells lie within both tables' known ones."""
        self._held = learnt
        self._values = self._moved(self._values)
        low, high = self._moved(np.array([self.low, self.high]))
        self.low, self.high = min(learnt["low"], float(low)), max(learnt["high"], float(high))
        self._exponent = learnt["exponent"]
        self._centre, self._scale = learnt["centre"], learnt["scale"]
        self.parity = learnt["origin"] // learnt["step"] % 2

    @property
    def _grid(self) -> tuple[int, int]:
        """A value v stands for origin + step * v."""
        return 0, 1

    def _moved(self, values: Floats, back: bool = False) -> Floats:
        """Values as `hold` has them measured, or back from there."""
        if self._held is None:
            return values
        own, other = self._grid, (self._held["origin"], self._held["step"])
        if back:
            own, other = other, own
        if own == other:
            return values
        return np.asarray((values * own[1] + float(own[0] - other[0])) / other[1])

    @property
    def all_equal(self) -> bool:
        return self.low == self.high

    @property
    def unit(self) -> float:
        return math.ldexp(1.0, min(self._exponent, 1023))  # 2^1024 would overflow

    @property
    def whole(self) -> bool:
        """Whether filled cells are rounded, as the kind "integer" of a column of floats asks."""
        return self.kind == "integer"

    def known_values(self) -> Floats:
        """The known cells as floats."""
        return self._cells.floats[~self.missing]

    def numbers(self) -> Floats:
        """All cells as floats; of those that are missing it may be anything."""
        return self._cells.floats

    def levels(self) -> Floats:
        # Scaled by a power of two alone, which is exact: no cell has a part in another's level.
        return np.where(self.missing, np.nan, np.ldexp(self._values, -self._exponent))

    def encode(self, channels: range, out: Floats) -> None:
        if not len(channels):
            return
        channel = out[:, 0]
        np.ldexp(self._values, -self._exponent, out=channel)
        channel -= self._centre
        channel /= self._scale
        channel[self._rows] = np.nan

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        if len(channels):
            self._fill = np.array(filled[:, 0], dtype=np.float64)

    def _decoded(self) -> Mask:
        return np.asarray(~np.isnan(self._fill) & ~self.unseen[self._rows])

    def decode_levels(self, predicted: NDArray[np.floating]) -> None:
        self.decode(range(1), (predicted - self._centre) / self._scale)

    def predicted(self, channels: range, filled: NDArray[np.floating]) -> Floats:
        return np.asarray(filled * self._scale + self._centre, np.float64)

    def leave_missing(self, cells: Mask) -> None:
        self._fill[cells[self._rows]] = np.nan

    def filled_levels(self) -> Floats:
        return self.predicted(range(1), self._fill[self._decoded()])

    def rebuilt_with(self, levels: Floats, word: str) -> nw.Series[Any]:
        import narwhals as nw

        other = self._again(self._cells, self.missing)
        other.unseen = self.unseen
        other.decode_levels(levels[:, None])
        series = other.rebuild().alias(f"{self.name}_{word}")
        shown = ~self.missing | other.filled_cells
        if shown.all():
            return series
        is_shown = nw.new_series(
            "shown", self.in_rows(shown), nw.Boolean, backend=series.implementation
        )
        frame = series.alias("bound").to_frame().with_columns(is_shown)
        bound = frame.select(nw.when(nw.col("shown")).then(nw.col("bound")))["bound"]
        return bound.alias(series.name)

    def named(self, levels: Floats) -> list[Any]:
        return list(self._moved(np.ldexp(levels, self._exponent), back=True).tolist())

    def values(self, decoded: Mask) -> Floats:
        """Filled values, rounded half to even if whole, between the known ones."""
        values = self._fill[decoded] * self._scale + self._centre
        limit = np.ldexp([self.low, self.high], -self._exponent)
        values = np.ldexp(np.clip(values, *limit), self._exponent)
        if self.whole:
            values = np.rint(values + self.parity) - self.parity
        return np.asarray(np.clip(values, self.low, self.high))

    def _filled(self, rows: NDArray[np.intp], decoded: Mask) -> nw.Series[Any]:
        values = self._moved(self.values(decoded), back=True)
        return self._cells.put(rows, as_type(values, self._cells, self.missing))


class Whole(Number):
    """Integers and moments: whole steps from the smallest known cell, none of them lost to floats.

    A step is 1 for integers; for moments it is the longest of day, hour, ... of which all known
    cells are multiples: a column of midnights is filled with midnights.
    """

    whole = True

    def __init__(
        self, cells: Cells, kind: str, missing: Mask, parent: Number | None = None
    ) -> None:
        self._steps: Steps = (
            parent._steps if isinstance(parent, Whole) else Steps.of(cells, missing)
        )
        self.parity = self._steps.parity
        super().__init__(cells, kind, missing, parent)
        unit = self._steps.unit
        clauses = [cells.note, unit and f"is filled to the {unit}, like its known cells"]
        if self._rows.size:
            self.notes = tuple(f"Column {self.name!r} {clause}." for clause in clauses if clause)

    def _read(self, parent: Number | None) -> Floats:
        return self._steps.floats

    @property
    def _grid(self) -> tuple[int, int]:
        return self._steps.base, self._steps.step

    def learnt(self) -> dict[str, Any]:
        return super().learnt() | {"most": self._steps.most}

    def _written(self, values: Floats) -> Any:
        """Values as Arrow, in steps that reach over the known cells of both tables."""
        steps, held = self._steps, self._held
        values = np.rint(self._moved(values, back=True))
        if held is not None and held.get("most") is not None and held["step"] == steps.step:
            top = max(
                steps.base + steps.step * steps.most, held["origin"] + held["step"] * held["most"]
            )
            base = min(steps.base, held["origin"])
            values = values + float((steps.base - base) // steps.step)
            steps = replace(steps, base=base, most=(top - base) // steps.step)
        return steps.as_arrow(values, self._cells.twin.type)

    @property
    def unit_name(self) -> str:
        if self.kind == "integer":
            return ""
        return f"{self._steps.unit or 'step'}s"

    def named(self, levels: Floats) -> list[Any]:
        return list(self._written(np.rint(np.ldexp(levels, self._exponent))).to_pylist())

    def _filled(self, rows: NDArray[np.intp], decoded: Mask) -> nw.Series[Any]:
        return self._cells.put(rows, self._written(self.values(decoded)))
