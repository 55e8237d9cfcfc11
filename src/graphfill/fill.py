"""Fill a matrix tile by tile: pack, solve, unpack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import kernels
from .operator import Operator
from .solvers import Progress, Solution, System, Workspace
from .threads import cut, share

Array = np.ndarray
Solver = Callable[[System, Progress], Solution]

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
    tick: Progress,
) -> Filled:
    """Solve for the NaN of X; known cells are copied bit for bit.

    Parameters
    ----------
    centre : {"zero", "mean", "degree"}
        What z is measured from: nothing, the mean of the column's known cells, or their
        mean weighted by degree. A constant lies in the null space of L, so centring leaves
        the exact solution as it is and starts the search from that constant.
    start : matrix like X, or None
        Where unknown cells start; None: at zero (after centring).
    fill_values : [columns]
        What unreached cells get.
    resolution : float
        Residuals are relative to no less than this share of the known cells' norm.
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

    def one_tile(columns: slice, width: int) -> None:
        workspace = Workspace() if whole_tiles else shared_workspace
        lanes = columns.stop - columns.start
        order, from_z, label = operator.order, operator.from_z, operator.components.label
        z = workspace.tile(len(from_z), width, X.dtype)
        z, known = kernels.pack(X, columns, order, operator.to_z, width, out=z, threads=threads)
        reach = kernels.reach(known, operator.components.rows, operator.components.starts)
        result.reached[:, columns] = kernels.known_cells(reach, lanes)

        shift = _centre(operator, known, z, centre)
        system = _system(operator, known, z, interior, workspace)
        if resolution:
            squares = operator.passes.squares(operator.diagonal, known, z)
            system.resolution, system.floor = resolution, resolution**2 * squares
        if start is not None:
            # The plain start is what residuals are measured against.
            system.reference = system.passes.residual(
                system.diagonal, system.known, system.z, system.tile(), system.source
            )
            begun, _ = kernels.pack(X, columns, order, operator.to_z, width, start=start, out=z)
            begun -= shift.astype(z.dtype)
            if interior is not None:
                np.take(begun, interior.rows, axis=0, out=system.z)
        solution = solver(system, tick)
        result.n_iter[columns] = solution.n_iter[:lanes]
        result.residual[columns] = solution.residual[:lanes]

        if interior is not None:
            rows = interior.rows
            order = rows if order is None else order[rows]
            from_z, label = from_z[rows], label[rows]
        all_reached = result.reached[:, columns].all()
        padded_fill = np.zeros(width)
        padded_fill[:lanes] = fill_values[columns]
        kernels.unpack(
            out,
            columns,
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
        workspace.release()

    share(one_tile, tiles, operator.threads if whole_tiles else 1)
    return result


def _centre(operator: Operator, known: Array, z: Array, centre: str) -> Array:
    """Subtract the chosen mean from the known cells of z; return it per column."""
    width = z.shape[1]
    if centre == "zero":
        return np.zeros(width)
    weight = operator.diagonal if centre == "degree" else np.ones(len(z), dtype=z.dtype)
    total = operator.passes.known_sums(weight, known, z, width)
    weights = operator.passes.known_sums(weight, known, None, width)
    shift = np.divide(total, weights, out=np.zeros(width), where=weights > 0)
    # Rounded to the tile's type, so that adding it back undoes subtracting it.
    shift = shift.astype(z.dtype).astype(np.float64)
    operator.passes.shift_known(operator.diagonal, known, z, -shift)
    return shift


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
