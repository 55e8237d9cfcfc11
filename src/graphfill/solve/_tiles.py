"""Fill a matrix tile by tile: pack, solve, unpack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..kernels import cut, share
from ._arrays import check_narrowed
from ._operator import Layout
from ._problem import Problem
from ._scaling import PIECE_ROWS, Scales, SmallComponents, column_exponents, scaled
from ._solvers import Progress, Solution, System, Workspace, conjugate_gradients
from ._steps import chebyshev, diffusion, direct

Array = np.ndarray


@dataclass
class Cells:
    """The columns of one tile as they are packed: in X itself, or in a scaled copy of them."""

    X: Array
    columns: slice
    start: Array | None
    exponent: Array


def keep_range(
    X: Array, given: Array, low: Array, high: Array, reached: Callable[[int, int], Array | bool]
) -> None:
    """Bring filled cells back between the least and the greatest known one of their column.

    Under "rw" every filled cell is a mean of known ones, so that what lies beyond them is an error
    of the search or of rounding, and the nearest end is nearer to the truth.

    Examples
    --------
    >>> given = np.array([[1.0], [np.nan], [2.0]])
    >>> X = np.array([[1.0], [2.000001], [2.0]])
    >>> keep_range(X, given, given[0], given[2], lambda lo, hi: True)
    >>> X.T
    array([[1., 2., 2.]])
    """
    for lo in range(0, len(X), PIECE_ROWS):
        rows = slice(lo, lo + PIECE_ROWS)
        filled = np.isnan(given[rows]) & reached(lo, lo + PIECE_ROWS)
        np.clip(X[rows], low, high, out=X[rows], where=filled)


class Fill:
    """Solve for the NaN of a matrix; known cells are copied bit for bit.

    Columns are solved in the operator's type, and on a scale on which their squares can be
    added: a power of two, which leaves the bits of ordinary columns as they are.

    ``start`` says where unknown cells start (None: at zero, after centring), ``fill_values`` what
    unreached cells of each column get. :meth:`run` fills ``X``, sets ``n_iter`` and ``residual``
    per column, and ``reached`` [components, columns]: whether a component knows anything of it.
    """

    def __init__(
        self, X: Array, layout: Layout, problem: Problem, start: Array | None, fill_values: Array
    ):
        self._given, self._start, self._fill_values = X, start, fill_values
        self._layout, self._problem = layout, problem
        self._operator = operator = layout.operator
        n_columns = X.shape[1]
        self.n_iter, self.residual = np.zeros(n_columns, dtype=int), np.zeros(n_columns)
        self.reached = np.ones((operator.components.count, n_columns), dtype=bool)
        # Narrow work is not worth sharing: then each thread takes whole tiles instead.
        wide = any(operator.passes.shared(width) for _, width in layout.tiles)
        self._whole_tiles = len(layout.tiles) > 1 and not wide
        self._threads = 1 if self._whole_tiles else operator.threads
        self._workspace = Workspace()
        self._small: SmallComponents | None = None
        if problem.resolution and problem.centre != "mean":
            self._small = SmallComponents(operator.components, operator.passes, operator.diagonal)

    def run(self, tick: Progress) -> None:
        """Fill all tiles."""
        self._tick, self.X, threads = tick, np.empty_like(self._given), self._operator.threads
        rows = cut(len(self.X), threads)
        share(lambda lo, hi: np.copyto(self.X[lo:hi], self._given[lo:hi]), rows, threads)
        share(self._fill_tile, self._layout.tiles, threads if self._whole_tiles else 1)

    def _fill_tile(self, columns: slice, width: int) -> None:
        """Fill some columns; ``width`` is that of the tile, which may be more."""
        operator, problem, interior = self._operator, self._problem, self._layout.interior
        workspace = Workspace() if self._whole_tiles else self._workspace
        cells, z, known = self._packed(
            columns, workspace.tile(operator.n_nodes, width, operator.dtype)
        )
        lanes = columns.stop - columns.start
        reach = kernels.reach(known, operator.components.rows, operator.components.starts)
        self.reached[:, columns] = kernels.known_cells(reach, lanes)

        shift, scales = self._centred(known, z)
        system = self._system(known, z, workspace)
        if problem.resolution:
            squares = operator.passes.squares(operator.diagonal, known, z)
            system.resolution, system.floor = problem.resolution, problem.resolution**2 * squares
        if cells.start is not None:
            self._begin(system, cells, z, shift, scales)
        solution = self._solve(system)
        self.n_iter[columns] = solution.n_iter[:lanes]
        self.residual[columns] = solution.residual[:lanes]

        if scales is not None:
            scales.undo(solution.z, None if interior is None else interior.rows)
        self._unpack(columns, cells, solution.z, system.known, shift, reach)
        if problem.keep_range:
            given = self._given[:, columns]
            low, high = np.fmin.reduce(given, axis=0), np.fmax.reduce(given, axis=0)
            keep_range(self.X[:, columns], given, low, high, self._reached_in(columns))
        workspace.release()

    def _reached_in(self, columns: slice) -> Callable[[int, int], Array | bool]:
        """By range of nodes, which cells are connected to a known one."""
        reached = self.reached[:, columns]
        if reached.all():
            return lambda lo, hi: True
        order, in_order = self._operator.order, self._operator.components.label
        label = in_order
        if order is not None:
            label = np.empty_like(in_order)
            label[order] = in_order
        return lambda lo, hi: reached[label[lo:hi]]

    def _pack(self, cells: Cells, z: Array, start: Array | None = None) -> tuple[Array, Array]:
        rows = self._operator.order, self._operator.to_z, z.shape[1]
        threads = self._threads
        return kernels.pack(cells.X, cells.columns, *rows, start=start, out=z, threads=threads)

    def _packed(self, columns: slice, z: Array) -> tuple[Cells, Array, Array]:
        """The tile in z, what is known of it, and the cells it was packed from."""
        X, operator, lanes = self._given, self._operator, columns.stop - columns.start

        def copied(exponent: Array) -> Cells:
            start = None if self._start is None else self._start[:, columns]
            if start is not None:
                start = scaled(start, exponent, operator.dtype)
            values = scaled(X[:, columns], exponent, operator.dtype)
            return Cells(values, slice(0, lanes), start, exponent)

        cells = Cells(X, columns, self._start, np.zeros(lanes, dtype=np.int32))
        if operator.dtype != X.dtype:
            cells = copied(cells.exponent)
        with np.errstate(over="ignore"):  # then these are the columns to scale
            z, known = self._pack(cells, z)
            squares = operator.passes.squares(operator.diagonal, known, z)
        exponent = column_exponents(X[:, columns], squares[:lanes])
        if exponent.any():
            cells = copied(exponent)
            z, known = self._pack(cells, z)
        return cells, z, known

    def _centred(self, known: Array, z: Array) -> tuple[Array, Scales | None]:
        """Measure z from its centre: what was subtracted per column, or per component instead."""
        operator, centre, width = self._operator, self._problem.centre, z.shape[1]
        shift = np.zeros(width)
        if centre != "zero":
            weight = operator.diagonal if centre == "degree" else np.ones(len(z), dtype=z.dtype)
            total = operator.passes.known_sums(weight, known, z, width)
            weights = operator.passes.known_sums(weight, known, None, width)
            np.divide(total, weights, out=shift, where=weights > 0)
        if self._small:
            scales = self._small.scales(known, z, shift, centred=centre == "degree")
            if scales is not None:
                scales.apply(z, known)
                return np.zeros(width), scales
        if centre != "zero":
            operator.passes.shift_known(operator.diagonal, known, z, -shift)
        return shift, None

    def _system(self, known: Array, z: Array, workspace: Workspace) -> System:
        operator, interior = self._operator, self._layout.interior
        diagonal, scale = operator.diagonal, operator.scale
        if interior is None:
            return System(operator.passes, diagonal, scale, known, z, workspace=workspace)
        rows = interior.rows
        known = known[rows]
        inner = workspace.tile(len(rows), z.shape[1], z.dtype)
        np.take(z, rows, axis=0, out=inner)
        source = np.zeros_like(inner)
        interior.boundary.diffuse(np.ones(len(rows), dtype=z.dtype), known, z, source)
        passes, diagonal, scale = interior.passes, diagonal[rows], scale[rows]
        return System(passes, diagonal, scale, known, inner, source, workspace=workspace)

    def _begin(
        self, system: System, cells: Cells, z: Array, shift: Array, scales: Scales | None
    ) -> None:
        """Start where the caller asked for; the plain start is what residuals are relative to."""
        interior = self._layout.interior
        system.reference = system.passes.residual(
            system.diagonal, system.known, system.z, system.tile(), system.source
        )
        begun, _ = self._pack(cells, z, cells.start)
        if scales is None:
            begun -= shift.astype(z.dtype)
        else:
            scales.apply(begun)
        if interior is not None:
            np.take(begun, interior.rows, axis=0, out=system.z)

    def _solve(self, system: System) -> Solution:
        problem, options = self._problem, self._problem.options
        if problem.direct:
            return direct(system, options.shrinkage, self._tick)
        if options.exact:
            return conjugate_gradients(system, problem.stop, options.max_iter, self._tick)
        method = chebyshev if options.solver == "chebyshev" else diffusion
        return method(system, options.n_iter, self._tick)

    def _unpack(
        self, columns: slice, cells: Cells, z: Array, known: Array, shift: Array, reach: Array
    ) -> None:
        """Write a solved tile to the missing cells of the result."""
        operator, interior = self._operator, self._layout.interior
        order, from_z, label = operator.order, operator.from_z, operator.components.label
        if interior is not None:
            rows = interior.rows
            order = rows if order is None else order[rows]
            from_z, label = from_z[rows], label[rows]
        all_reached = self.reached[:, columns].all()
        fill = np.zeros(z.shape[1])
        fill[: len(cells.exponent)] = np.ldexp(self._fill_values[columns], cells.exponent)
        in_place = cells.X is self._given
        arrays = self.X if in_place else cells.X, cells.columns, order, from_z, z, known
        kernels.unpack(
            *arrays,
            shift=shift,
            fill=fill,
            component=None if all_reached else label,
            reached=None if all_reached else reach,
            threads=self._threads,
        )
        if not in_place:
            missing = np.isnan(self._given[:, columns])
            back = scaled(cells.X, -cells.exponent, self._given.dtype)
            check_narrowed(back)
            np.copyto(self.X[:, columns], back, where=missing)
