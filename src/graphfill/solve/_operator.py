"""The normalised graph, as the solvers use it, in the order and the tiles that pay.

With A the adjacency, d = A 1 and D = diag(d), Feature Propagation averages with
S = D^-1/2 A D^-1/2 (``"sym"``) or P = D^-1 A (``"rw"``). Both are one kernel: with
z = D^-1/2 x, a step x <- S x is z <- P z, so

    FP_sym(X) = D^1/2 FP_rw(D^-1/2 X),

and in z-space an unweighted graph needs no edge values at all. The limit of either
solves L_uu z_u = A_uk z_k with L = D - A.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import kernels
from ..graph import Graph, choose_order, graph_components, inverse_order, with_self_loops
from ._memory import BLOCKS, Footprint, fits, tiles, widest_tile
from ._problem import Problem, PropagationOptions
from ._scaling import Components, Span

Array = np.ndarray

SMALL_BYTES = 16 << 20  # of a tile of 64 columns: then each thread has tiles of its own
EXPECTED_PRODUCTS = 15  # of conjugate gradients, for deciding what pays
# Solving on A_uu alone pays when that leaves out this share of the unknown rows' entries.
WORTH_LEAVING_OUT = 0.25


class Operator:
    """A graph with its degrees, its change of variables and its components.

    Of the options, ``normalization``, ``self_loops``, ``shrinkage`` (which adds shrinkage x D to
    the diagonal of L) and ``threads`` count here. Row r is node order[r]. ``diagonal`` is
    (1 + shrinkage) d and ``scale`` its inverse, 0 where d = 0; ``to_z`` and ``from_z`` are row
    factors between the user's values and z; ``span`` is that of the weights as they came, which
    are multiplied by 2^span.exponent here.
    """

    def __init__(
        self, graph: Graph, options: PropagationOptions, dtype: np.dtype, order: Array | None = None
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


@dataclass(frozen=True)
class Interior:
    """The rows that are missing whole, cut out of the operator: A_uu, and A_uk beside it."""

    rows: Array
    passes: kernels.Passes
    boundary: kernels.Passes


def interior_pays(matrix: Operator | Graph, missing: Array) -> bool:
    """Whether enough entries of the rows that are missing lead to known ones, by a sample."""
    entries = len(matrix.indices)
    if not missing.any() or not entries:
        return False
    sample = np.random.default_rng(0).integers(0, entries, min(entries, 100_000))
    sample.sort()  # rows near each other are looked up faster
    of_missing = missing[np.searchsorted(matrix.indptr, sample, side="right") - 1]
    if not of_missing.any():
        return False
    inside = np.mean(missing[matrix.indices[sample]][of_missing])
    return bool(inside <= 1.0 - WORTH_LEAVING_OUT)


def cut_interior(operator: Operator, missing: Array) -> Interior | None:
    """The interior, given which rows are missing whole; None when leaving A_uk out does not pay."""
    if operator.order is not None:
        missing = missing[operator.order]
    if not interior_pays(operator, missing):
        return None
    rows = np.flatnonzero(missing).astype(np.int32)
    inside = np.full(operator.n_nodes, -1, dtype=np.int32)
    inside[rows] = np.arange(len(rows), dtype=np.int32)
    outside = np.where(missing, -1, np.arange(operator.n_nodes)).astype(np.int32)

    def part(rank: Array) -> kernels.Passes:
        weights = None if operator.weights is None else operator.weights.astype(np.float64)
        indptr, indices, values = kernels.select_rows(
            operator.indptr, operator.indices, weights, rows, rank
        )
        values = None if values is None else values.astype(operator.dtype)
        return kernels.Passes(indptr, indices, values, operator.threads)

    return Interior(rows, part(inside), part(outside))


@dataclass(frozen=True)
class Layout:
    """The operator in the order to solve in, the tiles, and the interior where it pays."""

    operator: Operator
    tiles: list[tuple[slice, int]]
    interior: Interior | None


def lay_out(
    values: Array,
    graph: Graph,
    problem: Problem,
    missing_in_row: Array | None,
    *,
    more_blocks: int = 0,
    besides: int = 0,
) -> Layout:
    """Choose the order that pays for the products to come, then the widest tiles that fit.

    There is an interior only if ``missing_in_row`` is given. A method may keep ``more_blocks``
    tiles at once than the solver does, and other bytes besides. Where the type to compute in is
    not that of the values, a tile's columns are copied on the way in and on the way out.
    """
    options, dtype = problem.options, problem.dtype
    limit, reorder = options.memory_limit, options.reorder
    n, n_columns = values.shape
    whole_rows = False
    if missing_in_row is not None and not problem.direct:
        whole_rows = bool(np.isin(missing_in_row, (0, n_columns)).all())
    small = n * 64 * dtype.itemsize < SMALL_BYTES
    blocks = BLOCKS[problem.solver] + more_blocks + 2 * (dtype != values.dtype)
    footprint = Footprint(
        n_rows=n,
        n_columns=n_columns,
        itemsize=dtype.itemsize,
        entries=len(graph.indices),
        blocks=blocks * (options.n_threads if small else 1) + 2 * whole_rows,
        graph_copies=whole_rows + 3 * options.self_loops,
        weighted=graph.weights is not None,
        besides=besides,
    )
    reordered = replace(footprint, graph_copies=footprint.graph_copies + 1)
    if not fits(reordered, 1, limit):
        reorder = False  # no room for the graph in another order
    # As without a limit, so that a limit does not change the order, and with it the bits of sums.
    cuts = tiles(n_columns, widest_tile(footprint, dtype, None), dtype)
    width = max(w for _, w in cuts)  # less than allowed where columns are few
    passes = (EXPECTED_PRODUCTS if options.exact else options.n_iter) * len(cuts)
    order = choose_order(graph, reorder, row_bytes=width * dtype.itemsize, passes=passes)
    if limit is not None:
        width = widest_tile(footprint if order is None else reordered, dtype, limit)
        cuts = tiles(n_columns, width, dtype)
    operator = Operator(graph, options, dtype, order)
    interior = None
    if whole_rows and missing_in_row is not None:
        interior = cut_interior(operator, missing_in_row > 0)
    return Layout(operator, cuts, interior)


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
