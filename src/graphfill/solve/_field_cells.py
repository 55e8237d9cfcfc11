"""The missing cells of a table as vectors, in groups of rows that are worked on together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._field_graph import Tiles

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Array = NDArray[Any]

SHARED = 64  # rows that miss the same channels: from here on they share their modes
PADDED = 4  # rows whose missing cells are as many but for up to so many are solved together


@dataclass
class Group:
    """Rows whose missing cells are preconditioned together, and where these are in a vector.

    Attributes
    ----------
    rows : [rows]
    cells : [channels] that all these rows miss; or [rows, channels], filled up with numbers beyond
        the last channel, which stand for no cell
    """

    rows: NDArray[np.intp]
    cells: NDArray[np.intp]
    span: slice

    @property
    def shared(self) -> bool:
        """Whether all rows miss the same channels."""
        return self.cells.ndim == 1

    def of(self, vectors: Array) -> Array:
        """The group's part of some vectors, [vectors, rows, channels]."""
        return vectors[:, self.span].reshape(len(vectors), len(self.rows), -1)


class MissingCells:
    """Where the missing cells of a table are in a vector, group by group.

    Examples
    --------
    >>> cells = MissingCells(np.array([[False, True], [True, True]]))
    >>> cells.vector(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([2., 3., 4.])
    """

    def __init__(self, missing: Mask) -> None:
        self.missing = missing
        self.groups: list[Group] = []
        count = missing.sum(axis=1)
        alone = count > 0
        for rows in alike(missing, SHARED):
            if count[rows[0]]:
                self._add(rows, np.flatnonzero(missing[rows[0]]))
                alone[rows] = False
        width = -(-count // PADDED) * PADDED if missing.shape[1] > PADDED else count
        for number in np.unique(width[alone]):
            rows = np.flatnonzero(alone & (width == number))
            beyond = np.arange(number) - count[rows, None]
            cells = missing.shape[1] + np.maximum(beyond, 0)
            cells[beyond < 0] = np.nonzero(missing[rows])[1]
            self._add(rows, cells)

    def _add(self, rows: NDArray[np.intp], cells: NDArray[np.intp]) -> None:
        start, size = self.size, len(rows) * cells.shape[-1]
        self.groups.append(Group(rows, cells, slice(start, start + size)))

    @property
    def size(self) -> int:
        """Of a vector."""
        return self.groups[-1].span.stop if self.groups else 0

    def places(self, tiles: Tiles) -> NDArray[np.intp]:
        """Where each cell of a vector lies in tiles."""
        out = np.empty(self.size, dtype=np.intp)
        for group in self.groups:
            out[group.span] = tiles.place(group.rows[:, None], group.cells).reshape(-1)
        return out

    def vector(self, Z: Floats) -> Floats:
        """The missing cells of a table."""
        out = np.zeros(self.size)
        for group in self.groups:
            part, rows = group.of(out[None])[0], group.rows[:, None]
            if group.shared:
                part[:] = Z[rows, group.cells]
            else:
                there = group.cells < Z.shape[1]
                part[:] = np.where(there, Z[rows, np.where(there, group.cells, 0)], 0.0)
        return out

    def put(self, vector: Array, Z: Floats) -> Floats:
        """Write the missing cells into a table, which is returned."""
        for group in self.groups:
            part, there = group.of(vector[None])[0], group.cells < Z.shape[1]
            if there.all():
                Z[group.rows[:, None], group.cells] = part
            else:
                Z[np.broadcast_to(group.rows[:, None], there.shape)[there], group.cells[there]] = (
                    part[there]
                )
        return Z


def alike(missing: Mask, fewest: int) -> list[NDArray[np.intp]]:
    """Rows that miss the same channels, where so many do, in order."""
    if not missing.size:
        return []
    packed = np.packbits(missing, axis=1)
    pattern = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    pattern[:, : packed.shape[1]] = packed
    words = pattern.view(np.uint64)
    order = np.lexsort(words.T[::-1])
    new = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    ends = np.concatenate([[0], np.flatnonzero(new) + 1, [len(order)]])
    many = np.flatnonzero(np.diff(ends) >= fewest)
    return [order[ends[k] : ends[k + 1]] for k in many]
