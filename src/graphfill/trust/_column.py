"""A column as trust sees it: levels and channels, whatever table it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


class FillableColumn(Protocol):
    """A column whose rows are the first nodes of the graph; see ``table._column.Column``.

    Attributes
    ----------
    name : what the user calls it
    missing : [rows]
    n_channels, n_classes : int
        Float columns it is solved as; different values of a column of classes, 0 for numbers.
    unit : float
        What one level is worth in the column's own units.
    """

    @property
    def name(self) -> str: ...
    @property
    def missing(self) -> Mask: ...
    @property
    def n_channels(self) -> int: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def unit(self) -> float: ...
    @property
    def parent_classes(self) -> Rows | None:
        """After `hide`, the number that each class had before; None for numbers."""

    def levels(self) -> Floats:
        """One number per row, NaN where missing: its value but for a scale, or its class."""

    def encode(self, channels: range, out: Floats) -> None:
        """Write the channels, [rows, channels]; NaN where missing."""

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        """Fill the missing cells from their channels, [missing, channels]."""

    def decode_levels(self, predicted: NDArray[np.floating]) -> None:
        """Fill the missing cells from levels, [missing, 1], or probabilities of the classes."""

    def predicted(self, channels: range, filled: NDArray[np.floating]) -> Floats:
        """Filled channels as levels, or as probabilities of their classes."""

    def hide(self, missing_mask: Mask) -> FillableColumn:
        """The column with further cells missing, its levels on the same scale."""

    def named(self, levels: Floats) -> Any:
        """Levels as the values they stand for."""


@dataclass(frozen=True)
class Target:
    """A column to predict: one level per row, NaN where missing.

    Attributes
    ----------
    levels : [rows]
        A number's value but for a scale, or the number of a class.
    n_classes : int
        0 for numbers.
    """

    levels: Floats
    n_classes: int

    @classmethod
    def of(cls, column: FillableColumn) -> Target:
        return cls(column.levels(), column.n_classes)

    @property
    def width(self) -> int:
        """Columns of a prediction: one, or one per class."""
        return self.n_classes or 1

    @property
    def known(self) -> Rows:
        return np.flatnonzero(~np.isnan(self.levels))

    @property
    def missing(self) -> Rows:
        return np.flatnonzero(np.isnan(self.levels))

    def truth(self, rows: Rows) -> Floats:
        """[rows, width]: the numbers, or 1 at the class of each."""
        if not self.n_classes:
            return self.levels[rows, None]
        return np.equal(self.levels[rows, None], np.arange(self.n_classes)).astype(np.float64)


class Recorded:
    """A column that also keeps what it is filled with, as levels or probabilities.

    Attributes
    ----------
    predictions : [missing, width]
    """

    def __init__(self, column: FillableColumn) -> None:
        self.column = column
        self.name, self.missing, self.n_channels = column.name, column.missing, column.n_channels
        self.encode = column.encode
        self.predictions = np.empty((np.count_nonzero(column.missing), column.n_classes or 1))

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        self.column.decode(channels, filled)
        predicted = self.column.predicted(channels, filled)
        if self.n_channels == self.predictions.shape[1]:
            self.predictions[:, channels.start : channels.stop] = predicted
        else:  # one channel for two classes
            self.predictions[:] = predicted

    def at(self, rows: Rows, n_classes: int) -> Floats:
        """The predictions of some missing rows, classes numbered as before `hide`."""
        place = np.searchsorted(np.flatnonzero(self.missing), rows)
        return renumbered(self.column, self.predictions[place], n_classes)


def renumbered(hidden: FillableColumn, predictions: Floats, n_classes: int) -> Floats:
    """Predictions of a column with hidden cells, classes numbered as before `hide`."""
    if hidden.parent_classes is None:
        return predictions
    renumbered = np.zeros((len(predictions), n_classes))
    renumbered[:, hidden.parent_classes] = predictions
    return renumbered


def mask_of(rows: Rows, n_rows: int) -> Mask:
    """True at some rows."""
    mask = np.zeros(n_rows, dtype=bool)
    mask[rows] = True
    return mask
