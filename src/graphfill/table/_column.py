"""One column of a user's table as float channels, and the filled channels as the same column.

A number, an integer or a moment is one channel, a category with k values is k indicators. All
are centred on the mean of the known cells, so that 0 in any channel says "as the others are".

Each kind of column is a class of its own (``_numeric``, ``_categorical``); ``open_column`` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._arrow import Cells

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
    _held: Mapping[str, Any] | None = None  # what `hold` was given
    taken: Mapping[str, int] = {}  # words that count as missing, and how often
    kept: Mapping[str, int] = {}  # those that may, and are kept where they stand
    notes: tuple[str, ...] = ()

    def __init__(self, cells: Cells, kind: str, missing: Mask) -> None:
        self.name = cells.series.name
        self.kind = kind
        self.missing = missing
        self._cells = cells
        self._rows = np.flatnonzero(missing)
        # Counted among the missing cells while others are filled, but kept as they stand: cells of
        # a class that a fit never saw, and those that perhaps mean missing.
        self.unseen = np.zeros(missing.size, dtype=bool)

    def __repr__(self) -> str:
        gaps = f"{self._rows.size} of {self.missing.size} missing"
        return f"<column {self.name!r}: {self.kind}, {gaps}>"

    def hide(self, missing_mask: Mask) -> Column:
        """The column with further cells missing: statistics from what stays known, same scale."""
        missing = self.missing | missing_mask
        if missing.all() and self._held is None:
            return LeftAlone(self._cells, "no known cell", missing)
        again = self._again(self._cells, missing, hidden=True)
        again.unseen = self.unseen
        if self._held is not None:
            again.hold(self._held)
        return again

    def in_order(self, order: NDArray[np.intp]) -> Column:
        """The column with its cells in another order; `rebuild` gives them back in their own."""
        again = self._again(self._cells.in_order(order), self.missing[order])
        again.notes, again.unseen = self.notes, self.unseen[order]
        again.taken, again.kept = self.taken, self.kept
        return again

    def as_(self, make: type[Column], kind: str, notes: tuple[str, ...]) -> Column:
        """The same cells as another kind of column, or left alone for a reason."""
        other = make(self._cells, kind, self.missing)
        other.notes, other.unseen = notes, self.unseen
        other.taken, other.kept = self.taken, self.kept
        return other

    def keeping(self, cells: Mask, words: Mapping[str, int]) -> Column:
        """The column with some known cells kept where they stand, so that they inform no other."""
        again = self._again(self._cells, self.missing | cells)
        again.notes, again.taken = self.notes, self.taken
        again.unseen, again.kept = cells, words
        return again

    @property
    def blank(self) -> Mask:
        """Which cells are to be filled."""
        return self.missing & ~self.unseen

    @property
    def read_as(self) -> str | None:
        """An example of its cells, if they are numbers that are not written plainly."""
        return self._cells.read_as

    def _again(self, cells: Cells, missing: Mask, hidden: bool = False) -> Column:
        return type(self)(cells, self.kind, missing)

    @property
    def type(self) -> str:
        """What its cells are, whatever they are taken for: "text", "category", "int64", ..."""
        if self._cells.categorical:
            return "category"
        return "text" if self._cells.family == "text" else str(self._cells.twin.type)

    def learnt(self) -> dict[str, Any]:
        """The scale of its channels and levels, as plain numbers and texts."""
        return {}

    def hold(self, learnt: Mapping[str, Any]) -> None:
        """Take the scale that another table's column of this name had (`learnt`)."""

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
    def all_equal(self) -> bool:
        """Whether all known cells have the same value, so that there is nothing to choose from."""
        return False

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
        return LeftAlone(cells, self.reason, missing)

    def levels(self) -> Floats:
        return np.full(self.missing.size, np.nan)

    def encode(self, channels: range, out: Floats) -> None:
        """There is nothing to write."""

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        """There is nothing to take."""

    def _decoded(self) -> Mask:
        return np.zeros(self._rows.size, dtype=bool)
