"""Nodes that arrive after a fit, filled from what it left behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph import Graph, with_self_loops
from ..solve import PropagationOptions
from . import _neighborhood as neighborhood
from ._base import Cells, Floats, Rows
from ._links import grown
from ._neighborhood import LocalSystem, Neighborhood, arcs, movable

REVISITED = 1 / 64  # of the columns, for they cost that share of a refit
REVISITED_STEPS = 16  # of conjugate gradients, from what was fitted


@dataclass(frozen=True)
class Newcomers:
    """What the last call to `transform_new` did.

    Attributes
    ----------
    n_new, n_resolved, n_held : int
        Nodes that arrived; fitted nodes solved anew; fitted nodes around those.
    n_columns : int
        Columns solved anew in the whole graph.
    n_iter : int
        Steps on the local system.
    drift : float
        How far one step moves the missing cells of the fitted nodes around those solved, relative
        to their norm: the residual that the old fill has in the grown graph. When it is large,
        fit again.
    seconds : float
    difference : float or None
        From a refit, relative, over the filled cells; None unless asked for.
    """

    n_new: int
    n_resolved: int
    n_held: int
    n_columns: int
    n_iter: int
    drift: float
    seconds: float = 0.0
    difference: float | None = None


@dataclass(frozen=True)
class KeptFill:
    """A filled table, one row per node, and which of its cells were missing and out of reach."""

    graph: Graph
    filled: Floats
    missing: NDArray[np.uint8]  # eight cells a byte, as `unreached`
    unreached: NDArray[np.uint8] | None
    missing_share: NDArray[np.float64]  # of each row

    @classmethod
    def of(cls, graph: Graph, table: Floats, filled: Floats, unreached: Cells | None) -> KeptFill:
        """Keep a copy: `filled` itself may be handed to the user."""
        missing = np.isnan(table)
        packed = None if unreached is None else np.packbits(unreached, axis=1)
        return cls(graph, filled.copy(), np.packbits(missing, axis=1), packed, missing.mean(axis=1))

    def cells(self, packed: NDArray[np.uint8], rows: Rows) -> Cells:
        return np.unpackbits(packed[rows], axis=1, count=self.filled.shape[1]).view(bool)

    def table(self, columns: Rows) -> Floats:
        """Some columns of the table as they were before they were filled."""
        bits = self.missing[:, columns // 8] >> (7 - columns % 8).astype(np.uint8)
        nan = self.filled.dtype.type(np.nan)
        return np.where((bits & 1).view(bool), nan, self.filled[:, columns])

    def in_z(
        self, rows: Rows, degree: NDArray[np.float64], root: Floats | None
    ) -> tuple[Floats, Cells, Cells | None]:
        """z of fitted nodes, their missing cells, and those out of reach (z = 0), if any.

        `degree` is that of the fitted graph, and `root` the square root of the degrees now. Where
        x is known, z follows the degree that the node has now; where x was filled, z is what was
        solved for, at the degree that it had.
        """
        z, missing = self.filled[rows], self.cells(self.missing, rows)
        if root is not None:
            old_root = _root(degree[rows], z.dtype)
            z /= old_root[:, None]
            changed = np.flatnonzero(old_root != root[rows])
            ratio = (old_root / root[rows])[changed, None]
            z[changed] *= np.where(missing[changed], z.dtype.type(1), ratio)
        if self.unreached is None or not self.unreached[rows].any():
            return z, missing, None
        unreached = self.cells(self.unreached, rows)
        z[unreached] = 0.0
        return z, missing, unreached


class NewRows(NamedTuple):
    """The new rows filled, their cells out of reach, and how it went.

    `left` is, for each column, the sum of squares of the residual at the fitted nodes around,
    before these moved.
    """

    X: Floats
    unreached: Cells | None
    left: Floats
    summary: Newcomers


def fill_newcomers(
    kept: KeptFill, X: Floats, links: Graph, options: PropagationOptions, hops: int, means: Floats
) -> NewRows:
    """Fill the NaN of X, the rows of the nodes that follow the fitted ones in `links`.

    `links` has no edges between old nodes; ``options.shrinkage`` pulls x towards `means` under
    "rw".
    """
    n_old = len(kept.filled)
    X = X.astype(kept.filled.dtype, copy=False)
    old, n_iter = kept.graph, None if options.exact else options.n_iter
    if options.self_loops:
        new = np.arange(n_old, links.n_nodes)
        loops = Graph.from_edges(new, new, n_nodes=links.n_nodes, self_loops=True)
        old, links = with_self_loops(old), grown(links, loops)
    degree = links.degrees().copy()
    degree[:n_old] += old.degrees()
    root, centre = None, means
    if options.normalization == "sym":
        root, centre = _root(degree, X.dtype), np.zeros_like(means)

    missing = np.isnan(X)
    rows = np.flatnonzero(missing.any(axis=1))
    inner = movable(old, links, degree, kept.missing_share, n_old + rows, hops)
    local = Neighborhood.cut(old, links, n_old + rows, inner, X.dtype)
    z_new = X.copy() if root is None else X / root[n_old:, None]
    held = local.around[local.around < n_old]
    z_held, held_missing, held_unreached = kept.in_z(held, old.degrees(), root)
    z_inner, inner_missing, _ = kept.in_z(inner, old.degrees(), root)
    z_around = np.concatenate([z_held, z_new[local.around[len(held) :] - n_old]])
    silent = None
    if held_unreached is not None:
        silent = np.zeros(z_around.shape, dtype=bool)
        silent[: len(held)] = held_unreached
        held_missing &= ~held_unreached
    z = np.concatenate([np.nan_to_num(z_new[rows]), z_inner])
    unknown = np.concatenate([missing[rows], inner_missing])
    system = LocalSystem(local, z, unknown, z_around, silent, options.shrinkage, centre)
    close = neighborhood.CLOSE if n_iter is None else neighborhood.ROUGH
    system.solve(neighborhood.BEFORE * close, n_iter)

    # The fitted nodes around move by one step, and the newcomers follow.
    z_new[rows] = system.z[: len(rows)]
    moved = system.z[len(rows) :] - z_inner
    moves = held_missing * _moves(
        local, links, held, z_new, moved, z_held, degree[held], options.shrinkage, centre
    )
    left = (degree[held] ** 2).astype(X.dtype) @ (moves * moves)
    system.b += local.B @ np.concatenate([moves, np.zeros_like(z_around[len(held) :])])
    system.solve(close, n_iter and max(n_iter, system.n_iter + 1))
    size = float(np.linalg.norm(z_held * held_missing))
    drift = float(np.linalg.norm(moves)) / size if size > 0 else 0.0

    solved = system.z[: len(rows)]
    if root is not None:
        solved = solved * root[n_old + rows, None]
    filled = X.copy()
    filled[rows] = np.where(missing[rows], solved, X[rows])
    unreached = None
    if system.unreached[: len(rows)].any():
        unreached = np.zeros(X.shape, dtype=bool)
        unreached[rows] = system.unreached[: len(rows)]
    summary = Newcomers(len(X), len(inner), len(held), 0, system.n_iter, drift)
    return NewRows(filled, unreached, left, summary)


def _root(degree: NDArray[np.float64], dtype: np.dtype[Any]) -> Floats:
    """D^1/2, with 1 for nodes without edges."""
    return np.sqrt(np.where(degree > 0, degree, 1.0)).astype(dtype)


def _moves(
    local: Neighborhood,
    links: Graph,
    held: Rows,
    z_new: Floats,
    moved: Floats,
    z_held: Floats,
    degree: NDArray[np.float64],
    shrinkage: float,
    centre: Floats,
) -> Floats:
    """How far one step moves the nodes held fixed: D^-1 r, r being 0 before nodes arrived."""
    n_old, dtype = links.n_nodes - len(z_new), z_new.dtype
    source, target, weight = arcs(links, held)
    to_new = scipy.sparse.csr_array(
        (weight.astype(dtype), (source, target - n_old)), shape=(len(held), len(z_new))
    )
    w = np.asarray(to_new.sum(axis=1), dtype=dtype)[:, None]
    r: Floats = to_new @ z_new
    r -= w * z_held
    if shrinkage:
        r -= shrinkage * w * (z_held - centre.astype(dtype))
    if len(moved):
        r += local.B[len(local.rows) - len(moved) :, : len(held)].T @ moved
    r /= (1.0 + shrinkage) * degree[:, None].astype(dtype)
    return r
