"""Sizes that floats handle well: of a graph's weights, and of columns.

Multiplying by a power of two is exact, so what is computed on another scale and brought back has
the bits it would have had.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, log10
from typing import Any

import numpy as np

from ..errors import InputError
from ..graph import Graph

Array = np.ndarray

ORDINARY_BITS = 30  # weights up to 2^30 and down to 2^-30 at their largest are left as they are
FLOAT32_BITS, FLOAT64_BITS = 60, 500  # below the largest, what still leaves room to compute
# Columns whose squares add up to more than 2 to this, or less than 2 to minus this, are scaled.
ORDINARY_SQUARES = {"float32": 100, "float64": 600}
DIGITS_LEFT = 1e-3  # what rounding may do to a weakly tied part


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
    exponent = np.frexp(np.nan_to_num(_largest(X)))[1]
    return np.where(np.abs(exponent) > bits, -exponent, 0).astype(np.intc)


def column_exponents(cells: Array, squares: Array) -> Array:
    """Powers of two that bring columns near one where their squares are not ordinary."""
    limit = ORDINARY_SQUARES[cells.dtype.name]
    ordinary = (squares > 2.0**-limit) & (squares < 2.0**limit)
    if ordinary.all():
        return np.zeros(len(squares), dtype=np.int32)
    largest = _largest(cells)
    ordinary |= ~(largest > 0)  # nothing but zeros, or nothing known
    return np.where(ordinary, 0, -np.frexp(largest)[1]).astype(np.int32)


def scaled(cells: Array, exponent: Array, dtype: np.dtype) -> Array:
    """A copy of some columns in another type, times powers of two."""
    wide = cells.astype(np.promote_types(cells.dtype, dtype), order="C")
    with np.errstate(over="ignore"):  # infinite then, and refused
        return (np.ldexp(wide, exponent) if exponent.any() else wide).astype(dtype, copy=False)


def _largest(X: Array) -> Array:
    """The largest known number of each column by size, NaN where none is known; copies nothing."""
    largest: Array = np.fmax(
        np.fmax.reduce(X, axis=0, initial=np.nan), -np.fmin.reduce(X, axis=0, initial=np.nan)
    )
    return largest
