"""One column of a user's table as float channels, and the filled channels as the same column.

A number, an integer or a moment is one channel, a category with k values is k indicators. All
are centred on the mean of the known cells, so that 0 in any channel says "as the others are".

Each kind of column is a class here; ``open_column`` chooses among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._arrow import Cells, put_values
from ._whole import Steps, as_type

if TYPE_CHECKING:
    import narwhals as nw

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Column:
    """A column, its kind, and what it takes to fill it; this class itself leaves it alone.

    Attributes
    ----------
    name : str
    kind : str
        "number", "integer", "boolean", "category", "date", "time", "duration" or "left alone".
    reason : str
        Why a column is left alone, as a clause: "binary", "no known cell"; "" for the others.
    notes : tuple of str
        What was guessed, a sentence each.
    missing : ndarray of bool [n]
        True where a cell is missing.
    n_channels : int
    filled_cells : ndarray of bool [n]
        Which cells have been filled; none before :meth:`decode`.
    probability : ndarray of float [missing cells] or None
        Of the values chosen for the missing cells of a category or boolean; NaN where none is.
    """

    reason = ""
    n_channels = 0
    notes: tuple[str, ...] = ()

    def __init__(self, cells: Cells, kind: str, missing: Mask) -> None:
        self.name = cells.series.name
        self.kind = kind
        self.missing = missing
        self._cells = cells
        self._rows = np.flatnonzero(missing)

    def __repr__(self) -> str:
        gaps = f"{self._rows.size} of {self.missing.size} missing"
        return f"<column {self.name!r}: {self.kind}, {gaps}>"

    def hide(self, missing_mask: Mask) -> Column:
        """The column with further cells missing: statistics from what stays known, same scale."""
        missing = self.missing | missing_mask
        if missing.all():
            return LeftAlone(self._cells, "no known cell", missing)
        return self._again(self._cells, missing, hidden=True)

    def in_order(self, order: NDArray[np.intp]) -> Column:
        """The column with its cells in another order; `rebuild` gives them back in their own."""
        return self._again(self._cells.in_order(order), self.missing[order])

    def _again(self, cells: Cells, missing: Mask, hidden: bool = False) -> Column:
        return type(self)(cells, self.kind, missing)

    @property
    def parent_classes(self) -> NDArray[np.intp] | None:
        """After `hide`, the number that each class had before; None for numbers."""
        return None

    @property
    def probability(self) -> Floats | None:
        return None

    @property
    def is_class(self) -> bool:
        """Whether values are classes, of which none is more than another."""
        return self.kind in ("category", "boolean")

    @property
    def unit(self) -> float:
        """What one level is worth in the column's own units."""
        return 1.0

    @property
    def whole(self) -> bool:
        """Whether filled cells are rounded to whole steps."""
        return False

    @property
    def unit_name(self) -> str:
        """What errors are measured in; nothing for plain numbers."""
        return ""

    def filled_levels(self) -> Floats:
        """The levels of the filled cells, after `decode`."""
        return np.empty(0)

    def named(self, levels: Floats) -> list[Any]:
        """Levels as the values they stand for: numbers, moments, or the names of classes."""
        raise NotImplementedError

    @property
    def n_classes(self) -> int:
        """How many classes there are; 0 for numbers."""
        return 0

    @property
    def fills_as_usual(self) -> bool:
        """Whether all filled cells got the most frequent value although several are known."""
        return False

    def levels(self) -> Floats:
        """One number per cell, NaN where missing: its value but for a scale, or its class."""
        raise NotImplementedError

    def encode(self, channels: range, out: Floats) -> None:
        """Write the channels, [n, len(channels)]; NaN where missing."""
        raise NotImplementedError

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        """Take the filled channels of the missing cells, [n_missing, len(channels)].

        Channels come in ascending order, in any split; channel 0 starts anew. NaN stays missing.
        """
        raise NotImplementedError

    def decode_levels(self, predicted: NDArray[np.floating]) -> None:
        """The same from [n_missing, 1] levels, or [n_missing, classes] probabilities."""
        raise NotImplementedError

    def predicted(self, channels: range, filled: NDArray[np.floating]) -> Floats:
        """Filled channels as levels, or as probabilities of their classes."""
        raise NotImplementedError

    def leave_missing(self, cells: Mask) -> None:
        """Some of the missing cells, [n], stay missing although they were filled."""
        raise NotImplementedError

    def rebuilt_with(self, levels: Floats, word: str) -> nw.Series[Any]:
        """The column as <name>_<word>, with other levels in its missing cells; null for NaN."""
        raise NotImplementedError

    @property
    def filled_cells(self) -> Mask:
        filled = np.zeros(self.missing.size, dtype=bool)
        filled[self._rows[self._decoded()]] = True
        return filled

    def _decoded(self) -> Mask:
        """Which of the missing cells have been filled."""
        raise NotImplementedError

    def rebuild(self) -> nw.Series[Any]:
        """The column, filled: same library, dtype, name and index, every known cell untouched.

        A cell whose channel was NaN stays as it was.
        """
        decoded = self._decoded()
        if not decoded.any():
            return self._cells.series
        return self._filled(self._cells.rows(self._rows[decoded]), decoded)

    def _filled(self, rows: NDArray[np.intp], decoded: Mask) -> nw.Series[Any]:
        raise NotImplementedError

    def in_rows(self, values: Any) -> Any:
        """Values of all cells, a list or an array, in the order of the table's rows."""
        order = self._cells.order
        if order is None:
            return values
        if isinstance(values, list):
            return self.in_rows(np.fromiter(values, dtype=object, count=len(values))).tolist()
        placed = np.empty_like(values)
        placed[order] = values
        return placed


class LeftAlone(Column):
    """A column that comes back as it came, and why."""

    def __init__(
        self, cells: Cells, reason: str, missing: Mask, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(cells, "left alone", missing)
        self.reason = reason
        self.notes = notes

    def _again(self, cells: Cells, missing: Mask, hidden: bool = False) -> Column:
        return LeftAlone(cells, self.reason, missing, self.notes)

    def levels(self) -> Floats:
        return np.full(self.missing.size, np.nan)

    def encode(self, channels: range, out: Floats) -> None:
        """There is nothing to write."""

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        """There is nothing to take."""

    def _decoded(self) -> Mask:
        return np.zeros(self._rows.size, dtype=bool)


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
        return type(self)(cells, self.kind, missing, self if hidden else None)

    def _read(self, parent: Number | None) -> Floats:
        return self._cells.floats

    @property
    def unit(self) -> float:
        return float(np.ldexp(1.0, self._exponent))

    @property
    def whole(self) -> bool:
        """Whether filled cells are rounded, as the kind "integer" of a column of floats asks."""
        return self.kind == "integer"

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
        return np.asarray(~np.isnan(self._fill))

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
        return list(np.ldexp(levels, self._exponent).tolist())

    def values(self, decoded: Mask) -> Floats:
        """Filled values, rounded half to even if whole, between the known ones."""
        values = self._fill[decoded] * self._scale + self._centre
        limit = np.ldexp([self.low, self.high], -self._exponent)
        values = np.ldexp(np.clip(values, *limit), self._exponent)
        if self.whole:
            values = np.rint(values + self.parity) - self.parity
        return np.asarray(np.clip(values, self.low, self.high))

    def _filled(self, rows: NDArray[np.intp], decoded: Mask) -> nw.Series[Any]:
        values = as_type(self.values(decoded), self._cells, self.missing)
        return put_values(self._cells.series, rows, values)


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
    def unit_name(self) -> str:
        if self.kind == "integer":
            return ""
        return f"{self._steps.unit or 'step'}s"

    def named(self, levels: Floats) -> list[Any]:
        whole = np.rint(np.ldexp(levels, self._exponent))
        return list(self._steps.as_arrow(whole, self._cells.twin.type).to_pylist())

    def _filled(self, rows: NDArray[np.intp], decoded: Mask) -> nw.Series[Any]:
        values = self._steps.as_arrow(self.values(decoded), self._cells.twin.type)
        return put_values(self._cells.series, rows, values)
