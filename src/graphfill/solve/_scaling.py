"""Sizes that floats handle well: of a graph's weights, of columns, and of their components.

Multiplying by a power of two is exact, so what is computed on another scale and brought back has
the bits it would have had.

Components do not touch each other, but a column is measured from one mean, and its search stops
by one sum of squares over all of them: values of 1 beside values of a million would be lost in
the rounding, and in the tolerance, of the million. In such columns every component is measured
from its own mean and brought to one scale: by a power of two, which is undone in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import frexp, log10
from typing import Any

import numpy as np

from .. import kernels
from ..errors import InputError
from ..graph import Graph

Array = np.ndarray

ORDINARY_BITS = 30  # weights up to 2^30 and down to 2^-30 at their largest are left as they are
FLOAT32_BITS, FLOAT64_BITS = 60, 500  # below the largest, what still leaves room to compute
# Columns whose squares add up to more than 2 to this, or less than 2 to minus this, are scaled.
ORDINARY_SQUARES = {"float32": 100, "float64": 600}
DIGITS_LEFT = 1e-3  # what rounding may do to a weakly tied part
APART = 100.0  # from this ratio of sizes on, a column's components are measured one by one
PIECE_ROWS = 1 << 14  # read together, or one component's
PIECE_CELLS = 1 << 20
LARGEST_BITS = {"float32": 50, "float64": 300}  # of a change of scale: squares stay ordinary


@dataclass(frozen=True)
class Span:
    """The smallest and the largest weight of a graph; 1 and 1 where edges have none.

    A common factor of all weights changes nothing. Where weights lie far apart, a part of the
    graph that is held together by strong edges and tied to the rest by weak ones has to differ
    from one that is cut off: L = D - A takes the difference of 1 and 1 less the weak edge, which
    float32 loses beyond some four decades and float64 beyond twelve.

    ``shrinkage`` ties every node to the mean by that share of its degree.

    Examples
    --------
    >>> Span(1e-8, 2.0).dtype(np.dtype("float32"), exact=True).name
    'float64'
    >>> Span(0.1, 2.0).exponent, Span(1e-50, 2e-50).exponent
    (0, 165)
    """

    low: float
    high: float
    shrinkage: float = 0.0

    @classmethod
    def of(cls, graph: Any, *, self_loops: bool = False, shrinkage: float = 0.0) -> Span:
        """The span of a graph's weights, and of the loops of weight one if they are added."""
        if graph.weights is None or not len(graph.weights):
            return cls(1.0, 1.0)

        def compute() -> tuple[float, float]:
            return float(graph.weights.min()), float(graph.weights.max())

        low, high = graph.derived("span", compute) if isinstance(graph, Graph) else compute()
        if self_loops:
            low, high = min(low, 1.0), max(high, 1.0)
        span = cls(low, high, shrinkage)
        if span.bits > FLOAT64_BITS:
            raise InputError(
                f"The weights span {span.decades:.0f} decades, more than can be computed with at "
                "once: leave out the weakest edges, or take the logarithm or a root of all weights."
            )
        return span

    @property
    def ratio(self) -> float:
        """How much more strongly nodes may be tied to each other than to anything known."""
        ratio = self.high / self.low
        return min(ratio, 1.0 / self.shrinkage) if self.shrinkage else ratio

    @property
    def decades(self) -> float:
        return log10(self.high) - log10(self.low)

    @property
    def bits(self) -> int:
        return frexp(self.high)[1] - frexp(self.low)[1]

    @property
    def exponent(self) -> int:
        """The power of two to multiply the weights by: exact, so that results keep their bits."""
        exponent = frexp(self.high)[1]
        return 0 if abs(exponent) <= ORDINARY_BITS else -exponent

    def blurs(self, dtype: np.dtype) -> bool:
        """Whether weakly tied parts are lost in the rounding of this type."""
        return self.ratio * float(np.finfo(dtype).eps) > DIGITS_LEFT

    def dtype(self, dtype: np.dtype, *, exact: bool) -> np.dtype:
        """The type to compute in, for values of this one.

        A step of diffusion takes means, whose digits do not depend on the span; it only has to
        hold every weight.
        """
        wide = self.blurs(dtype) if exact else self.bits > FLOAT32_BITS
        return np.dtype(np.float64) if wide else dtype

    def tolerance(self, tol: float) -> float:
        """The residual to stop at for one of ``tol`` to mean as much as it usually does.

        A weakly tied part shows in the residual by its weak edges alone, however far off it is:
        its error is the residual times the ratio, where some hundred times is usual.
        """
        return 100.0 * tol / self.ratio if self.blurs(np.dtype(np.float32)) else tol


def exponents(X: Array, bits: int) -> Array:
    """What brings the largest known number of each column near one.

    0 where it lies between 2^-bits and 2^bits, so that ordinary columns stay as they are.

    Examples
    --------
    >>> exponents(np.array([[1.5, 2.0**600], [np.nan, -(2.0**700)]]), 500)
    array([   0, -701], dtype=int32)
    """
    exponent = np.frexp(np.nan_to_num(largest(X)))[1]
    return np.where(np.abs(exponent) > bits, -exponent, 0).astype(np.intc)


def column_exponents(cells: Array, squares: Array) -> Array:
    """Powers of two that bring columns near one where their squares are not ordinary."""
    limit = ORDINARY_SQUARES[cells.dtype.name]
    ordinary = (squares > 2.0**-limit) & (squares < 2.0**limit)
    if ordinary.all():
        return np.zeros(len(squares), dtype=np.int32)
    ordinary |= ~(largest(cells) > 0)  # nothing but zeros, or nothing known
    return np.where(ordinary, 0, -np.frexp(largest(cells))[1]).astype(np.int32)


def scaled(cells: Array, exponent: Array, dtype: np.dtype) -> Array:
    """A copy of some columns in another type, times powers of two."""
    wide = cells.astype(np.promote_types(cells.dtype, dtype), order="C")
    with np.errstate(over="ignore"):  # infinite then, and refused
        return (np.ldexp(wide, exponent) if exponent.any() else wide).astype(dtype, copy=False)


def largest(X: Array) -> Array:
    """The largest known number of each column by size, NaN where none is known; copies nothing."""
    highest = np.fmax.reduce(X, axis=0, initial=np.nan)
    return np.asarray(np.fmax(highest, -np.fmin.reduce(X, axis=0, initial=np.nan)))


@dataclass(frozen=True)
class Components:
    """Which nodes are connected, in the solver's order."""

    count: int
    label: Array

    @cached_property
    def sizes(self) -> Array:
        return np.bincount(self.label, minlength=self.count)

    @cached_property
    def rows(self) -> Array | None:
        """The rows listed component by component; None when there is only one."""
        return None if self.count == 1 else np.argsort(self.label, kind="stable")

    @cached_property
    def starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])


@dataclass(frozen=True)
class Scales:
    """What each component of a tile's columns is measured from, and multiplied by.

    ``component`` is, for each row of the tile, the row of the other two, [components, width].
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
    """The components beside the largest one of a graph; false where there are none.

    ``component`` is their number from 1 on per node; 0 is the largest, and nodes without edges.
    """

    def __init__(self, components: Components, passes: kernels.Passes, diagonal: Array):
        self._passes, self._diagonal = passes, diagonal
        self._rows = np.empty(0, dtype=np.intp)
        if components.rows is None:
            return
        apart = (components.label != components.sizes.argmax()) & (diagonal > 0)
        self._rows = components.rows[apart[components.rows]]  # component by component
        first = np.diff(components.label[self._rows], prepend=-1) != 0
        self._starts = np.flatnonzero(first)
        self.component = np.zeros(len(diagonal), dtype=np.int32)
        self.component[self._rows] = np.cumsum(first)
        self._largest = np.where(apart, 0, diagonal).astype(diagonal.dtype)
        self._pieces = self._cut()

    def __bool__(self) -> bool:
        return len(self._rows) > 0

    def __len__(self) -> int:
        return len(self._starts) + 1 if self else 1

    def scales(self, known: Array, z: Array, shift: Array, *, centred: bool) -> Scales | None:
        """How to measure the components of a tile: see :func:`choose_scales`."""
        passes, width = self._passes, z.shape[1]
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
            terms = known_here * self._diagonal[rows, None].astype(np.float64)
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
    return np.asarray(np.divide(total, weights, out=np.zeros_like(total), where=weights > 0))
