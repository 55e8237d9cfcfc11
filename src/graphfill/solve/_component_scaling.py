"""Components whose values are of quite another size than those of the largest component.

Components do not touch each other, but a column is measured from one mean, and its search stops
by one sum of squares over all of them: values of 1 beside values of a million would be lost in
the rounding, and in the tolerance, of the million. In such columns every component is measured
from its own mean and brought to one scale: by a power of two, which is undone in the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ._operator import Operator

Array = np.ndarray

APART = 100.0  # from this ratio of sizes on, a column's components are told apart
PIECE_ROWS = 1 << 14  # looked at together, or one component's
PIECE_CELLS = 1 << 20
LARGEST_BITS = {"float32": 50, "float64": 300}  # of a change of scale: squares stay ordinary


@dataclass(frozen=True)
class Levels:
    """What each component of a tile's columns is measured from, and multiplied by.

    Attributes
    ----------
    component : [n]
        The row of the next two for each row of the tile.
    shift, factor : [islands + 1, width]
    """

    component: Array
    shift: Array
    factor: Array

    def measure(self, z: Array, known: Array | None = None) -> None:
        """z <- factor (z - shift), at known cells or at all."""
        for lo in range(0, len(z), PIECE_ROWS):
            part = z[lo : lo + PIECE_ROWS]
            own = self.component[lo : lo + PIECE_ROWS]
            where: Array | bool = True
            if known is not None:
                where = kernels.known_cells(known[lo : lo + PIECE_ROWS], z.shape[1])
            np.subtract(part, self.shift[own], out=part, where=where)
            np.multiply(part, self.factor[own], out=part)

    def undo(self, z: Array, rows: Array | None = None) -> None:
        """The way back, at all cells; z may hold some of the rows only."""
        component = self.component if rows is None else self.component[rows]
        for lo in range(0, len(z), PIECE_ROWS):
            part, own = z[lo : lo + PIECE_ROWS], component[lo : lo + PIECE_ROWS]
            part /= self.factor[own]
            part += self.shift[own]


class Islands:
    """The components beside the largest one of an operator; false where there are none."""

    def __init__(self, operator: Operator):
        components = operator.components
        self._operator = operator
        self._rows = np.empty(0, dtype=np.intp)
        if components.rows is None:
            return
        apart = (components.label != components.sizes.argmax()) & (operator.diagonal > 0)
        self._rows = components.rows[apart[components.rows]]  # component by component
        first = np.diff(components.label[self._rows], prepend=-1) != 0
        self._starts = np.flatnonzero(first)
        self._component = np.zeros(operator.n_nodes, dtype=np.int32)
        self._component[self._rows] = np.cumsum(first)  # 0 is the largest
        self._mainland = np.where(apart, 0, operator.diagonal).astype(operator.dtype)
        self._pieces = self._cut()

    def __bool__(self) -> bool:
        return len(self._rows) > 0

    def levels(self, known: Array, z: Array, shift: Array, *, centred: bool) -> Levels | None:
        """How to measure the components of a tile; None where the columns' ``shift`` serves all.

        ``centred`` says whether from their means, weighted by degree, or from zero. A size is the
        root of the mean square of what is known.
        """
        passes, width = self._operator.passes, z.shape[1]
        mainland = (
            passes.known_sums(self._mainland, known, None, width),
            passes.known_sums(self._mainland, known, z, width),
            passes.squares(self._mainland, known, z),
        )
        levels = None
        longest = max(hi - lo for *_, lo, hi in self._pieces)
        step = max(1, PIECE_CELLS // max(longest, len(self._starts)))
        for left in range(0, width, step):
            lanes = slice(left, left + step)
            islands = self._sums(known, z, lanes)
            weights, totals, squares = (
                np.vstack([one[lanes], others])
                for one, others in zip(mainland, islands, strict=True)
            )
            size = np.sqrt(_ratio(squares, weights))
            top = size.max(axis=0)
            apart = ((size > 0) & (size * APART < top)).any(axis=0)
            if not apart.any():
                continue
            if levels is None:
                shape = len(size), width
                shifts = np.broadcast_to(shift.astype(z.dtype), shape).copy()
                levels = Levels(self._component, shifts, np.ones(shape, dtype=z.dtype))
            mean, level = np.zeros_like(size), size
            if centred:
                mean = _ratio(totals, weights)
                spread = np.sqrt(np.maximum(_ratio(squares, weights) - mean**2, 0.0))
                # What is left of equal values is rounding, and stays as small as it is.
                level = np.maximum(spread, 4.0 * np.finfo(z.dtype).eps * size)
            bits = np.where(level > 0, np.frexp(top)[1] - np.frexp(level)[1], 0)
            bits = np.clip(bits, 0, LARGEST_BITS[z.dtype.name])
            np.copyto(levels.shift[:, lanes], mean, where=apart, casting="same_kind")
            np.copyto(
                levels.factor[:, lanes], np.ldexp(1.0, bits), where=apart, casting="same_kind"
            )
        return levels

    def _sums(self, known: Array, z: Array, lanes: slice) -> tuple[Array, Array, Array]:
        """Per island, the sums of weight, weight z and weight z^2 over known cells.

        Rows are added in their order, each column by itself, whatever the tile's width.
        """
        shape = len(self._starts), len(range(z.shape[1])[lanes])
        sums = np.empty(shape), np.empty(shape), np.empty(shape)
        for first, last, lo, hi in self._pieces:
            rows, starts = self._rows[lo:hi], self._starts[first:last] - lo
            known_here = kernels.known_cells(known[rows], z.shape[1])[:, lanes]
            values = z[rows, lanes].astype(np.float64)
            terms = known_here * self._operator.diagonal[rows, None].astype(np.float64)
            for total in sums:
                np.add.reduceat(terms, starts, axis=0, out=total[first:last])
                terms *= values
        return sums

    def _cut(self) -> list[tuple[int, int, int, int]]:
        """Ranges of whole islands, and of their rows, of about PIECE_ROWS rows each."""
        ends = np.append(self._starts, len(self._rows))
        pieces, first = [], 0
        while first < len(self._starts):
            last = int(np.searchsorted(ends, ends[first] + PIECE_ROWS, side="right")) - 1
            last = max(last, first + 1)
            pieces.append((first, last, int(ends[first]), int(ends[last])))
            first = last
        return pieces


def _ratio(total: Array, weights: Array) -> Array:
    return np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)
