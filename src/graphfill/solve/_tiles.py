"""Fill a matrix tile by tile: pack, solve, unpack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..graph import _refuse_matrices
from ..kernels._threads import cut, share
from ._component_scaling import Islands
from ._operator import Operator
from ._solvers import Progress, Solution, System, Workspace

Array = np.ndarray
Solver = Callable[[System, Progress], Solution]

# Columns whose squares add up to more than 2 to this, or less than 2 to minus this, are scaled.
ORDINARY_SQUARES = {"float32": 100, "float64": 600}
# Solving on A_uu alone pays when that leaves out this share of the unknown rows' entries.
WORTH_LEAVING_OUT = 0.25


@dataclass
class Filled:
    """The filled matrix, and per column the iterations and the relative residual.

    ``reached[k, c]`` tells whether component k knows anything of column c.
    """

    X: Array
    n_iter: Array
    residual: Array
    reached: Array


@dataclass(frozen=True)
class Interior:
    """The rows that are missing whole, cut out of the operator: A_uu, and A_uk beside it."""

    rows: Array
    passes: kernels.Passes
    boundary: kernels.Passes


def cut_interior(operator: Operator, missing: Array) -> Interior | None:
    """The interior, given which rows are missing whole; None when leaving A_uk out does not pay."""
    if operator.order is not None:
        missing = missing[operator.order]
    entries = len(operator.indices)
    if not missing.any() or not entries:
        return None
    sample = np.random.default_rng(0).integers(0, entries, min(entries, 100_000))
    sample.sort()  # rows near each other are looked up faster
    row = np.searchsorted(operator.indptr, sample, side="right") - 1
    of_missing = missing[row]
    if not of_missing.any() or np.mean(missing[operator.indices[sample]][of_missing]) > (
        1.0 - WORTH_LEAVING_OUT
    ):
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


def fill(
    X: Array,
    operator: Operator,
    solver: Solver,
    tiles: list[tuple[slice, int]],
    *,
    centre: str = "zero",
    start: Array | None = None,
    fill_values: Array,
    interior: Interior | None = None,
    resolution: float = 0.0,
    keep_range: bool = False,
    tick: Progress,
) -> Filled:
    """Solve for the NaN of X; known cells are copied bit for bit.

    Columns are solved in the operator's type, and on a scale on which their squares can be
    added: a power of two, which leaves the bits of ordinary columns as they are.

    Parameters
    ----------
    centre : {"zero", "mean", "degree"}
        What z is measured from: nothing, the mean of the column's known cells, or their
        mean weighted by degree. A constant lies in the null space of L, so centring leaves
        the exact solution as it is and starts the search from that constant. Where a
        column's components differ much in size, it is the mean of each (see ``islands``).
    start : matrix like X, or None
        Where unknown cells start; None: at zero (after centring).
    fill_values : [columns]
        What unreached cells get.
    resolution : float
        Residuals are relative to no less than this share of the known cells' norm.
    keep_range : bool
        Bring what rounding carried out of the range of the column's known cells back to it.
    """
    out = np.empty_like(X)
    share(
        lambda lo, hi: np.copyto(out[lo:hi], X[lo:hi]),
        cut(len(X), operator.threads),
        operator.threads,
    )
    n_columns = X.shape[1]
    result = Filled(
        out,
        np.zeros(n_columns, dtype=int),
        np.zeros(n_columns),
        np.ones((operator.components.count, n_columns), dtype=bool),
    )
    # Narrow work is not worth sharing: then each thread takes whole tiles instead.
    whole_tiles = len(tiles) > 1 and not any(operator.passes.shared(width) for _, width in tiles)
    threads = 1 if whole_tiles else operator.threads

    shared_workspace = Workspace()
    islands = Islands(operator) if resolution and centre != "mean" else None

    def one_tile(columns: slice, width: int) -> None:
        workspace = Workspace() if whole_tiles else shared_workspace
        lanes = columns.stop - columns.start
        order, from_z, label = operator.order, operator.from_z, operator.components.label
        z = workspace.tile(len(from_z), width, operator.dtype)
        cells, place, begin = X, columns, start
        exponent = np.zeros(lanes, dtype=np.int32)

        def pack() -> tuple[Array, Array]:
            return kernels.pack(cells, place, order, operator.to_z, width, out=z, threads=threads)

        def cut_out() -> tuple[Array, slice, Array | None]:
            parts = (None if A is None else A[:, columns] for A in (X, start))
            copies = [_scaled(part, exponent, operator.dtype) for part in parts]
            return copies[0], slice(0, lanes), copies[1]

        if operator.dtype != X.dtype:
            cells, place, begin = cut_out()
        with np.errstate(over="ignore"):  # then these are the columns to scale
            z, known = pack()
            squares = operator.passes.squares(operator.diagonal, known, z)
        exponent = _exponents(X, columns, squares)
        if exponent.any():
            cells, place, begin = cut_out()
            z, known = pack()
        reach = kernels.reach(known, operator.components.rows, operator.components.starts)
        result.reached[:, columns] = kernels.known_cells(reach, lanes)

        shift = _centre(operator, known, z, centre)
        levels = None
        if islands:
            levels = islands.levels(known, z, shift, centred=centre == "degree")
        if levels is not None:
            levels.measure(z, known)
            shift = np.zeros(width)
        elif centre != "zero":
            operator.passes.shift_known(operator.diagonal, known, z, -shift)
        system = _system(operator, known, z, interior, workspace)
        if resolution:
            squares = operator.passes.squares(operator.diagonal, known, z)
            system.resolution, system.floor = resolution, resolution**2 * squares
        if start is not None:
            # The plain start is what residuals are measured against.
            system.reference = system.passes.residual(
                system.diagonal, system.known, system.z, system.tile(), system.source
            )
            begun, _ = kernels.pack(cells, place, order, operator.to_z, width, start=begin, out=z)
            if levels is None:
                begun -= shift.astype(z.dtype)
            else:
                levels.measure(begun)
            if interior is not None:
                np.take(begun, interior.rows, axis=0, out=system.z)
        solution = solver(system, tick)
        result.n_iter[columns] = solution.n_iter[:lanes]
        result.residual[columns] = solution.residual[:lanes]

        if levels is not None:
            levels.undo(solution.z, None if interior is None else interior.rows)
        if keep_range:
            low, high = (
                np.pad(end.reduce(cells[:, place], axis=0), (0, width - lanes))
                for end in (np.fmin, np.fmax)
            )
            shifted = shift.astype(z.dtype)
            np.clip(solution.z, low - shifted, high - shifted, out=solution.z)
        if interior is not None:
            rows = interior.rows
            order = rows if order is None else order[rows]
            from_z, label = from_z[rows], label[rows]
        all_reached = result.reached[:, columns].all()
        padded_fill = np.zeros(width)
        padded_fill[:lanes] = np.ldexp(fill_values[columns], exponent)
        kernels.unpack(
            out if cells is X else cells,
            place,
            order,
            from_z,
            solution.z,
            system.known,
            shift=shift,
            fill=padded_fill,
            component=None if all_reached else label,
            reached=None if all_reached else reach,
            threads=threads,
        )
        if cells is not X:
            missing = np.isnan(X[:, columns])
            back = _scaled(cells, -exponent, X.dtype)
            _refuse_matrices.check_narrowed(back)
            np.copyto(out[:, columns], back, where=missing)
        workspace.release()

    share(one_tile, tiles, operator.threads if whole_tiles else 1)
    return result


def _exponents(X: Array, columns: slice, squares: Array) -> Array:
    """Powers of two that bring columns near one where their squares are not ordinary."""
    squares = squares[: columns.stop - columns.start]
    limit = ORDINARY_SQUARES[X.dtype.name]
    ordinary = (squares > 2.0**-limit) & (squares < 2.0**limit)
    if ordinary.all():
        return np.zeros(len(squares), dtype=np.int32)
    cells = X[:, columns]  # a view: both ends of it, without a copy of their sizes
    largest = np.fmax(np.fmax.reduce(cells, axis=0), -np.fmin.reduce(cells, axis=0))
    ordinary |= ~(largest > 0)  # nothing but zeros, or nothing known
    return np.where(ordinary, 0, -np.frexp(largest)[1]).astype(np.int32)


def _scaled(cells: Any, exponent: Array, dtype: np.dtype) -> Any:
    """A copy of some columns in another type, times powers of two; None of None."""
    if cells is None:
        return None
    wide = cells.astype(np.promote_types(cells.dtype, dtype), order="C")
    with np.errstate(over="ignore"):  # infinite then, and refused
        return (np.ldexp(wide, exponent) if exponent.any() else wide).astype(dtype, copy=False)


def _centre(operator: Operator, known: Array, z: Array, centre: str) -> Array:
    """The chosen mean of the known cells of z, per column."""
    width = z.shape[1]
    if centre == "zero":
        return np.zeros(width)
    weight = operator.diagonal if centre == "degree" else np.ones(len(z), dtype=z.dtype)
    total = operator.passes.known_sums(weight, known, z, width)
    weights = operator.passes.known_sums(weight, known, None, width)
    shift = np.divide(total, weights, out=np.zeros(width), where=weights > 0)
    # Rounded to the tile's type, so that adding it back undoes subtracting it.
    return shift.astype(z.dtype).astype(np.float64)


def _system(
    operator: Operator, known: Array, z: Array, interior: Interior | None, workspace: Workspace
) -> System:
    if interior is None:
        return System(
            operator.passes, operator.diagonal, operator.scale, known, z, workspace=workspace
        )
    rows = interior.rows
    known = known[rows]
    inner = workspace.tile(len(rows), z.shape[1], z.dtype)
    np.take(z, rows, axis=0, out=inner)
    source = np.zeros_like(inner)
    ones = np.ones(len(rows), dtype=z.dtype)
    interior.boundary.diffuse(ones, known, z, source)
    return System(
        interior.passes,
        operator.diagonal[rows],
        operator.scale[rows],
        known,
        inner,
        source,
        workspace=workspace,
    )
