r"""Which known cells a filled one is made of, and with what weight.

A filled value is a sum over known ones, :math:`x_i = \sum_k w_k x_k`. With y the solution of the
adjoint system

.. math:: L_{uu} y = e_i, \qquad w_k = \sum_j a_{kj} y_j,

which is symmetric, so the solvers of the fill solve it too, with e_i in place of A_uk z_k: the
same number of steps of diffusion gives the weights after so many steps. w_k is the chance that a
random walk from i meets its first known cell at k. So under "rw" weights are not negative, and in
the limit their sum is 1; steps and shrinkage leave a rest, which goes to where they start from or
shrink to. Under "sym" they are multiplied by sqrt(d_i / d_k), and their sum is any number.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .. import kernels
from ..graph import Graph, with_self_loops
from ._memory import tiles
from ._operator import row_factors
from ._problem import Problem, PropagationOptions
from ._solvers import Solution, System, conjugate_gradients
from ._steps import chebyshev, diffusion

Floats = NDArray[np.float64]
Nodes = NDArray[np.intp]
Mask = NDArray[np.bool_]
Rows = NDArray[Any]

LANES = 16  # cells that are solved for together
TOLERANCE = 1e-12  # relative residual of the weights, whatever that of the fill


def cell_weights(
    graph: Graph, known_mask: Mask, node: int, options: PropagationOptions
) -> tuple[Nodes, Floats]:
    """The known nodes that the value of an unknown one is made of, and their weights.

    Nothing where the node is out of reach of all known ones.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> options = PropagationOptions(normalization="rw", solver="exact")
    >>> nodes, weights = cell_weights(path, np.array([True, False, False, True]), 1, options)
    >>> nodes, weights.round(6)
    (array([0, 3]), array([0.666667, 0.333333]))
    """
    region = Walks(graph, known_mask, options).region(node)
    weights = region.of_cells(np.array([node]))[0]
    return region.boundary, weights


def neighbor_weights(graph: Graph, known_mask: Mask, node: int) -> tuple[Nodes, Floats]:
    """The same for the mean of the known neighbours: w_k = a_ik / sum of these."""
    entries = slice(graph.indptr[node], graph.indptr[node + 1])
    nodes = graph.indices[entries].astype(np.intp)
    weights = np.ones(len(nodes)) if graph.weights is None else graph.weights[entries]
    known = known_mask[nodes]
    nodes, weights = nodes[known], weights[known]
    if len(weights):
        weights = weights / weights.max()  # so that no sum overflows
    return nodes, np.asarray(weights / weights.sum())


class Walks:
    """Walks over the unknown nodes of a graph, each of which ends at the first known node.

    Attributes
    ----------
    diagonal, scale : [nodes]
        Of L, and its inverse.
    factor : [nodes]
        A weight of k in i is factor_i / factor_k of the walk's: 1 under "rw", sqrt(d) under "sym".
    unknown : the unknown nodes
    label : [unknown]
        The region of each: unknown nodes between which a path leads past no known one.
    """

    def __init__(
        self, graph: Graph, known_mask: Mask, options: PropagationOptions, tol: float = TOLERANCE
    ) -> None:
        self.options = replace(options, tol=tol)
        self.problem = Problem.of(self.options, graph, np.dtype(np.float64))
        if options.self_loops:
            graph = with_self_loops(graph)
        self.graph, exponent = graph, self.problem.span.exponent
        self.weights = None if graph.weights is None else np.ldexp(graph.weights, exponent)
        degree = np.ldexp(graph.degrees(), exponent if graph.weights is not None else 0)
        rows = row_factors(degree, options.normalization, options.shrinkage, np.dtype(float))
        self.diagonal, self.scale, self.factor = rows["diagonal"], rows["scale"], rows["from_z"]
        self.unknown = np.flatnonzero(~known_mask).astype(np.int32)
        self._known = np.where(known_mask, np.arange(graph.n_nodes), -1).astype(np.int32)
        self._rank = np.full(graph.n_nodes, -1, dtype=np.int32)
        indptr, indices, _ = self.inner(self.unknown)
        self.label = kernels.components(indptr, indices)[1]

    def inner(self, nodes: NDArray[np.int32]) -> tuple[Rows, Rows, Rows | None]:
        """The edges among some unknown nodes, which are numbered anew."""
        self._rank[nodes] = np.arange(len(nodes), dtype=np.int32)
        arrays = self.graph.indptr, self.graph.indices, self.weights
        rows = kernels.select_rows(*arrays, nodes, self._rank)
        self._rank[nodes] = -1
        return rows

    def outer(self, nodes: NDArray[np.int32]) -> tuple[Rows, Rows, Rows | None]:
        """The edges from some unknown nodes to known ones."""
        arrays = self.graph.indptr, self.graph.indices, self.weights
        return kernels.select_rows(*arrays, nodes, self._known)

    def region(self, node: int) -> Region:
        """The region of an unknown node."""
        place = np.searchsorted(self.unknown, node)
        return Region(self, self.unknown[self.label == self.label[place]])


class Region:
    """The unknown nodes that a walk from one of them may visit, and the known ones it may end at.

    Several regions do as well: no walk leads from one to another.

    Attributes
    ----------
    nodes : the unknown ones, ascending
    boundary : the known ones, ascending
    outer : [nodes, boundary]
        The edges between them, A_uk.
    """

    def __init__(self, walks: Walks, nodes: NDArray[np.int32]) -> None:
        self.walks, self.nodes = walks, nodes
        indptr, ends, weights = walks.outer(nodes)
        self.boundary, place = np.unique(ends.astype(np.intp), return_inverse=True)
        values = np.ones(len(ends)) if weights is None else weights
        shape = len(nodes), len(self.boundary)
        self.outer = scipy.sparse.csr_array((values, place, indptr), shape=shape)

    def of_cells(self, cells: Rows) -> Floats:
        """[cells, boundary]: the weights of some unknown nodes of the region."""
        place = np.searchsorted(self.nodes, cells)
        source = np.zeros((len(self.nodes), len(cells)))
        source[place, np.arange(len(cells))] = 1.0
        weights = np.asarray((self.outer.T @ self.solve(source)).T)
        factor = self.walks.factor
        return np.asarray(weights * factor[cells][:, None] / factor[self.boundary])

    @cached_property
    def _passes(self) -> kernels.Passes:
        return kernels.Passes(*self.walks.inner(self.nodes), self.walks.options.n_threads)

    def solve(self, source: Floats) -> Floats:
        """y of L_uu y = source, or what steps towards it from 0 give, column by column."""
        y = np.zeros(source.shape)
        if not len(self.boundary):
            return y
        n, walks = len(self.nodes), self.walks
        diagonal, scale = walks.diagonal[self.nodes], walks.scale[self.nodes]
        for columns, width in tiles(source.shape[1], LANES, source.dtype):
            lanes = columns.stop - columns.start
            empty = np.full((n, lanes), np.nan)
            z, known = kernels.pack(empty, slice(0, lanes), None, np.ones(n), width)
            right = np.zeros_like(z)
            right[:, :lanes] = source[:, columns]
            system = System(self._passes, diagonal, scale, known, z, right)
            y[:, columns] = self._solved(system).z[:, :lanes]
        return y

    def _solved(self, system: System) -> Solution:
        options, problem = self.walks.options, self.walks.problem
        if options.exact:
            return conjugate_gradients(system, problem.stop, options.max_iter, _silent)
        method = chebyshev if options.solver == "chebyshev" else diffusion
        return method(system, options.n_iter, _silent)


def _silent(share: float) -> None:
    """Weights show no progress."""
