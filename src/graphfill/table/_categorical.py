"""Columns whose values are classes: an indicator each, and of the filled ones the largest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._arrow import Cells, take_rows
from ._column import Column, Floats, Mask

if TYPE_CHECKING:
    import narwhals as nw


class Category(Column):
    """Classes: a channel each, 1 where a cell is of the class, less the share of the class.

    Channels run from the most frequent class to the rarest, equally frequent ones in order of
    appearance: so the first of the most probable classes is the one to choose.

    Attributes
    ----------
    share : ndarray of float [classes]
        Of the known cells.
    """

    def __init__(
        self, cells: Cells, kind: str, missing: Mask, parent: Category | None = None
    ) -> None:
        super().__init__(cells, kind, missing)
        known = np.flatnonzero(~missing)
        codes = self._read()
        counts = np.bincount(codes[known])
        first = np.full(counts.size, missing.size)
        first[codes[known[::-1]]] = known[::-1]  # the last to be written is the first row
        order = np.lexsort((first, -counts))[: np.count_nonzero(counts)]
        rank = np.full(counts.size, -1, dtype=np.int32)
        rank[order] = np.arange(order.size, dtype=np.int32)
        self._class = np.full(missing.size, -1, dtype=np.int32)
        self._class[known] = rank[codes[known]]
        self.share = counts[order] / known.size
        self.n_channels = order.size
        self._example = first[order]
        self._parent_classes = None if parent is None else parent._class[self._example]
        self._start()

    def _again(self, cells: Cells, missing: Mask, hidden: bool = False) -> Column:
        return type(self)(cells, self.kind, missing, self if hidden else None)

    def learnt(self) -> dict[str, Any]:
        return {"classes": self._texts(), "share": self.share.tolist()}

    def hold(self, learnt: Mapping[str, Any]) -> None:
        """Number classes as `learnt` does, with its shares.

        A cell of a class that `learnt` lacks (`unseen`) counts as missing, but is kept; a class
        that no cell here shows is not filled in, for lack of a cell to take it from.
        """
        own = {text: number for number, text in enumerate(self._texts())}
        self._held, self.share = learnt, np.array(learnt["share"], dtype=np.float64)
        numbers = [own.get(text, -1) for text in learnt["classes"]]
        self._example = np.array([-1 if k < 0 else self._example[k] for k in numbers], np.intp)
        rank = np.full(len(own) + 1, -1, dtype=np.int32)  # the last for what is missing
        rank[numbers] = np.arange(len(numbers))
        rank[-1] = -1
        self._class = rank[self._class]
        self.unseen = self.unseen | (~self.missing & (self._class < 0))
        self.missing = self.missing | self.unseen
        self._rows = np.flatnonzero(self.missing)
        if self._parent_classes is not None:
            self._parent_classes = np.arange(len(numbers))
        self.n_channels = len(numbers)
        self._start()

    def _texts(self) -> list[str]:
        """The classes; a whole number reads the same whether it is stored as a float or not."""
        values = self.named(np.arange(len(self._example), dtype=np.float64))
        return [f"{v:.0f}" if isinstance(v, float) and v.is_integer() else str(v) for v in values]

    @property
    def parent_classes(self) -> NDArray[np.intp] | None:
        return self._parent_classes

    def _read(self) -> NDArray[np.intp]:
        return self._cells.codes

    @property
    def n_classes(self) -> int:
        return int(self.share.size)

    @property
    def all_equal(self) -> bool:
        return self.share.size == 1

    @property
    def fills_as_usual(self) -> bool:
        chosen = self._chosen[self._decoded()]
        several = self.share.size > 1 and chosen.size > 1
        return several and bool((chosen == self.share.argmax()).all())

    def levels(self) -> Floats:
        return np.where(self.missing, np.nan, self._class)

    def encode(self, channels: range, out: Floats) -> None:
        out[:] = -self.share[channels.start : channels.stop]
        rows = np.flatnonzero((self._class >= channels.start) & (self._class < channels.stop))
        out[rows, self._class[rows] - channels.start] += 1
        out[self._rows] = np.nan

    def _start(self) -> None:
        self._best = np.full(self._rows.size, -np.inf)
        self._chosen = np.full(self._rows.size, -1, dtype=np.int32)

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        if channels.start == 0:
            self._start()
        # One at a time: what is a tie must not depend on how the channels are split.
        for place, channel in enumerate(channels):
            if self._example[channel] < 0:
                continue
            likely = filled[:, place] + self.share[channel]
            better = likely > self._best + _rounding(filled)
            self._best[better] = likely[better]
            self._chosen[better] = channel

    def decode_levels(self, predicted: NDArray[np.floating]) -> None:
        self.decode(range(self.n_channels), predicted - self.share)

    def predicted(self, channels: range, filled: NDArray[np.floating]) -> Floats:
        return np.asarray(filled + self.share[channels.start : channels.stop], np.float64)

    def leave_missing(self, cells: Mask) -> None:
        self._chosen[cells[self._rows]] = -1

    def filled_levels(self) -> Floats:
        return self._chosen[self._decoded()].astype(np.float64)

    def named(self, levels: Floats) -> list[Any]:
        rows = self._cells.rows(self._example[levels.astype(np.intp)])
        return list(self._cells.series[rows.tolist()].to_list())

    @property
    def probability(self) -> Floats:
        return np.where(self._decoded(), np.clip(self._best, 0, 1), np.nan)

    def _decoded(self) -> Mask:
        return (self._chosen >= 0) & ~self.unseen[self._rows]

    def _filled(self, rows: NDArray[np.intp], decoded: Mask) -> nw.Series[Any]:
        source = np.arange(self.missing.size)
        source[rows] = self._cells.rows(self._example[self._chosen[decoded]])
        return take_rows(self._cells.series, source)


class Boolean(Category):
    """True or false (or 1 and 0): one channel, 1 where true, less the share that is true."""

    def _read(self) -> NDArray[np.intp]:
        return np.asarray(self._cells.floats == 1, np.intp)

    def __init__(
        self, cells: Cells, kind: str, missing: Mask, parent: Category | None = None
    ) -> None:
        super().__init__(cells, kind, missing, parent)
        self._mean(self._read()[self._example].astype(bool))

    def _mean(self, true: Mask) -> None:
        """Say which classes mean true: one, or none."""
        self.n_channels = 1
        self._true = int(np.argmax(true)) if true.any() else -1
        self._share_true = float(self.share[self._true]) if true.any() else 0.0

    def hold(self, learnt: Mapping[str, Any]) -> None:
        super().hold(learnt)
        self._mean(np.array([text in ("True", "1") for text in learnt["classes"]]))

    def encode(self, channels: range, out: Floats) -> None:
        if len(channels):
            np.equal(self._class, self._true, out=out[:, 0])
            out[:, 0] -= self._share_true
            out[self._rows] = np.nan

    def decode(self, channels: range, filled: NDArray[np.floating]) -> None:
        if not len(channels):
            return
        self._start()
        likely = filled[:, 0] + self._share_true
        if self.share.size == 1:  # no other value was seen
            self._chosen[~np.isnan(likely)] = 0
        else:
            tie = np.abs(likely - 0.5) <= _rounding(filled)
            true = np.where(tie, self._true == 0, likely > 0.5)
            self._chosen[:] = np.where(true, self._true, 1 - self._true)
            self._chosen[np.isnan(likely)] = -1
        self._chosen[self._example[self._chosen] < 0] = -1  # nowhere to take it from
        self._best = np.where(self._chosen == self._true, likely, 1 - likely)

    def decode_levels(self, predicted: NDArray[np.floating]) -> None:
        true = predicted[:, [self._true]] if self._true >= 0 else np.zeros((len(predicted), 1))
        self.decode(range(1), true - self._share_true)

    def predicted(self, channels: range, filled: NDArray[np.floating]) -> Floats:
        true = filled[:, 0] + self._share_true
        if self.share.size == 1:
            return np.asarray((true if self._true == 0 else 1 - true)[:, None], np.float64)
        both = np.column_stack([true, 1 - true] if self._true == 0 else [1 - true, true])
        return np.asarray(both, np.float64)


def _rounding(filled: NDArray[np.floating]) -> float:
    """Below this, two probabilities differ by rounding alone."""
    return 1e-9 if filled.dtype == np.float64 else 1e-6
