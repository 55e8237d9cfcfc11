"""The normalised graph, as the solvers use it.

With A the adjacency, d = A 1 and D = diag(d), Feature Propagation averages with
S = D^-1/2 A D^-1/2 (``"sym"``) or P = D^-1 A (``"rw"``). Both are one kernel: with
z = D^-1/2 x, a step x <- S x is z <- P z, so

    FP_sym(X) = D^1/2 FP_rw(D^-1/2 X),

and in z-space an unweighted graph needs no edge values at all. The limit of either
solves L_uu z_u = A_uk z_k with L = D - A.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import kernels
from ..graph import Graph, graph_components, inverse_order, with_self_loops
from ._options import PropagationOptions
from ._scaling import Span

Array = np.ndarray


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


class Operator:
    """A graph with its degrees, its change of variables and its components.

    Parameters
    ----------
    graph : Graph
    options : PropagationOptions
        Of which ``normalization``, ``self_loops``, ``shrinkage`` (which adds shrinkage x D to the
        diagonal of L) and ``threads`` count here.
    dtype : float32 or float64
    order : int32 array or None
        Row r of the operator is node order[r]; None keeps the graph's order.

    Attributes
    ----------
    passes : kernels.Passes
    span : Span
        Of the weights as they came; here they are multiplied by 2^span.exponent.
    degree : float64 [n]
    diagonal, scale : [n]
        (1 + shrinkage) d and its inverse, 0 where d = 0.
    components : Components
    to_z, from_z : [n]
        Row factors between the user's values and z.
    """

    def __init__(
        self,
        graph: Graph,
        options: PropagationOptions,
        dtype: np.dtype,
        order: Array | None = None,
    ):
        self.order, self.dtype, self.threads = order, dtype, options.n_threads
        count, label, _ = graph_components(graph)
        self.components = Components(count, label if order is None else label[order])
        self.span = Span.of(graph, self_loops=options.self_loops)
        # The graph itself is not kept: where its arrays are rewritten, it may be freed.
        if options.self_loops:
            graph = with_self_loops(graph)
        indptr, indices, weights = graph.indptr, graph.indices, graph.weights
        self.degree = graph.degrees()
        if self.span.exponent and weights is not None:
            weights = np.ldexp(weights, self.span.exponent)
            self.degree = np.ldexp(self.degree, self.span.exponent)
        if order is not None:
            self.degree = self.degree[order]
            indptr, indices, weights = kernels.select_rows(
                indptr, indices, weights, order, inverse_order(order)
            )
        self.indptr, self.indices = indptr, indices
        self.weights = None if weights is None else weights.astype(self.dtype)
        self.passes = kernels.Passes(indptr, indices, self.weights, self.threads)

        factors = row_factors(self.degree, options.normalization, options.shrinkage, dtype)
        self.diagonal, self.scale, self.to_z, self.from_z = factors.values()

    @property
    def n_nodes(self) -> int:
        return len(self.degree)


def row_factors(
    degree: Array, normalization: str, shrinkage: float, dtype: np.dtype
) -> dict[str, Array]:
    """The diagonal, scale, to_z and from_z of some rows, as :class:`Operator` describes them."""
    connected = degree > 0
    d = np.where(connected, degree, 1.0)
    root = np.sqrt(d) if normalization == "sym" else np.ones(len(d))
    grown = 1.0 + shrinkage
    scale = np.where(connected, 1.0 / (grown * d), 0.0)
    factors = {"diagonal": grown * degree, "scale": scale, "to_z": 1.0 / root, "from_z": root}
    return {name: factor.astype(dtype) for name, factor in factors.items()}
