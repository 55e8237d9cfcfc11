"""Components whose values are of quite another size than those of the largest component.

Components do not touch each other, but a column is measured from one mean, and its search stops
by one sum of squares over all of them: values of 1 beside values of a million would be lost in
the rounding, and in the tolerance, of the million. In such columns every component is measured
from its own mean and brought to one scale: by a power of two, which is undone in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import kernels
from ._operator import Operator

Array = np.ndarray

APART = 100.0  # from this ratio of sizes on, a column's components are measured one by one
PIECE_ROWS = 1 << 14  # read together, or one component's
PIECE_CELLS = 1 << 20
LARGEST_BITS = {"float32": 50, "float64": 300}  # of a change of scale: squares stay ordinary


@dataclass(frozen=True)
class Scales:
    """What each component of a tile's columns is measured from, and multiplied by.

    Attributes
    ----------
    component : [n]
        The row of the next two for each row of the tile.
    shift, factor : [components, width]
    """

    component: Array
    shift: Array
    factor: Array

    def apply(self, z: Array, known: Array | None = None) -> None:
        """z <- factor (z - shift), at known cells or at all."""
        for lo in range(0, len(z), PIECE_ROWS):
            part = z[lo : lo + PIECE_ROWS]
            component = self.component[lo : lo + PIECE_ROWS]
            where: Array | bool = True
            if known is not None:
                where = kernels.known_cells(known[lo : lo + PIECE_ROWS], z.shape[1])
            np.subtract(part, self.shift[component], out=part, where=where)
            np.multiply(part, self.factor[component], out=part)

    def undo(self, z: Array, rows: Array | None = None) -> None:
        """The way back, at all cells; z may hold some of the rows only."""
        components = self.component if rows is None else self.component[rows]
        for lo in range(0, len(z), PIECE_ROWS):
            part, component = z[lo : lo + PIECE_ROWS], components[lo : lo + PIECE_ROWS]
            part /= self.factor[component]
            part += self.shift[component]


def choose_scales(
    sums: Sequence[Array], shift: Array, dtype: np.dtype, *, centred: bool
) -> tuple[Array, Array] | None:
    """Shift and factor of each component and column; None where the columns' ``shift`` serves all.

    ``sums`` are those of weight, weight z and weight z^2 over a component's known cells, arrays
    [components, columns]; a size is the root of the mean square. ``centred`` measures from means,
    weighted by degree, and not from zero.
    """
    weights, totals, squares = sums
    size = np.sqrt(_ratio(squares, weights))
    top = size.max(axis=0)
    apart = ((size > 0) & (size * APART < top)).any(axis=0)
    if not apart.any():
        return None
    mean, level = np.zeros_like(size), size
    if centred:
        mean = _ratio(totals, weights)
        spread = np.sqrt(np.maximum(_ratio(squares, weights) - mean**2, 0.0))
        # What is left of equal values is rounding, and stays as small as it is.
        level = np.maximum(spread, 4.0 * np.finfo(dtype).eps * size)
    bits = np.where(level > 0, np.frexp(top)[1] - np.frexp(level)[1], 0)
    factor = np.ldexp(1.0, np.clip(bits, 0, LARGEST_BITS[dtype.name]))
    shifts = np.where(apart, mean.astype(dtype), shift.astype(dtype))
    return shifts, np.where(apart, factor, 1.0).astype(dtype)


class SmallComponents:
    """The components beside the largest one of an operator; false where there are none.

    Attributes
    ----------
    component : [n]
        Their numbers from 1 on; 0 is the largest component, and nodes without edges.
    """

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
        self.component = np.zeros(operator.n_nodes, dtype=np.int32)
        self.component[self._rows] = np.cumsum(first)
        self._largest = np.where(apart, 0, operator.diagonal).astype(operator.dtype)
        self._pieces = self._cut()

    def __bool__(self) -> bool:
        return len(self._rows) > 0

    def __len__(self) -> int:
        return len(self._starts) + 1 if self else 1

    def scales(self, known: Array, z: Array, shift: Array, *, centred: bool) -> Scales | None:
        """How to measure the components of a tile: see :func:`choose_scales`."""
        passes, width = self._operator.passes, z.shape[1]
        of_largest = (
            passes.known_sums(self._largest, known, None, width),
            passes.known_sums(self._largest, known, z, width),
            passes.squares(self._largest, known, z),
        )
        scales = None
        longest = max(hi - lo for *_, lo, hi in self._pieces)
        step = max(1, PIECE_CELLS // max(longest, len(self._starts)))
        for left in range(0, width, step):
            lanes = slice(left, left + step)
            of_others = self._sums(known, z, lanes)
            sums = [np.vstack([a[lanes], b]) for a, b in zip(of_largest, of_others, strict=True)]
            chosen = choose_scales(sums, shift[lanes], z.dtype, centred=centred)
            if chosen is None:
                continue
            if scales is None:
                shape = len(self), width
                shifts = np.broadcast_to(shift.astype(z.dtype), shape).copy()
                scales = Scales(self.component, shifts, np.ones(shape, dtype=z.dtype))
            scales.shift[:, lanes], scales.factor[:, lanes] = chosen
        return scales

    def _sums(self, known: Array, z: Array, lanes: slice) -> tuple[Array, Array, Array]:
        """Per component, the sums of weight, weight z and weight z^2 over known cells.

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
        """Ranges of whole components, and of their rows, of about PIECE_ROWS rows each."""
        ends = np.append(self._starts, len(self._rows))
        pieces, first = [], 0
        while first < len(self._starts):
            last = int(np.searchsorted(ends, ends[first] + PIECE_ROWS, side="right")) - 1
            last = max(last, first + 1)
            pieces.append((first, last, int(ends[first]), int(ends[last])))
            first = last
        return pieces


def _ratio(total: Array, weights: Array) -> Array:
    ratio: Array = np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)
    return ratio
