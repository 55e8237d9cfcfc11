"""How far apart a graph's weights lie, and what arithmetic that takes.

Multiplying all weights by one number changes nothing, so they are brought to a size that floats
handle well. Where they lie far apart, a part of the graph that hangs together by strong edges and
on the rest by weak ones has to be told from one cut off: L = D - A takes the difference of what
weighs 1 and what weighs 1 less the weak edge, which float32 loses beyond some four decades and
float64 beyond twelve.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, log10
from typing import Any

import numpy as np

from ..graph import _refuse_graphs
from ..graph._graph import Graph

ORDINARY_BITS = 30  # weights up to 2^30 and down to 2^-30 at their largest are left as they are
FLOAT32_BITS, FLOAT64_BITS = 60, 500  # below the largest, what still leaves room to compute
DIGITS_LEFT = 1e-3  # what rounding may do to a weakly tied part


@dataclass(frozen=True)
class Span:
    """The smallest and the largest weight of a graph; 1 and 1 where edges have none.

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
        _refuse_graphs.check_weight_span(span.decades, span.bits <= FLOAT64_BITS)
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
