r"""The part of a grown graph that is solved anew when nodes have arrived.

With z as in ``solve._operator``, R the nodes solved and B those around them, held fixed,

.. math:: (D - A)_{RR} z_R = A_{RB} z_B \quad \text{at missing cells.}

R are the newcomers and, of the fitted nodes within some hops, those that newcomers can move.
Most neighbours of a newcomer have many more old neighbours than new ones: they hardly move, and
are the expensive ones. These move by one step each, which needs none of their old edges: what was
fitted solves the old equations, so that only what is new or has moved is left of them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ..errors import UnreachedWarning
from ..graph._graph import Graph
from ..solve._propagate import propagate
from ._base import Cells, Floats, Rows

MOVED = 0.05  # share of a node's value that has to come from newcomers for it to be solved anew
CLOSE = 1e-4  # estimated relative error at which steps to the limit end
ROUGH = 1e-3  # the same where the fit took a number of steps, and is not that close to its limit
BEFORE = 10  # times as large before the nodes around have moved
MOST_STEPS = 50  # before conjugate gradients take over


def arcs(graph: Graph, rows: Rows) -> tuple[Rows, NDArray[np.int32], NDArray[np.float64]]:
    """Position in `rows`, neighbour and weight of each edge of these nodes."""
    count = np.diff(graph.indptr)[rows]
    source = np.repeat(np.arange(len(rows)), count)
    before = np.concatenate([[0], np.cumsum(count)[:-1]]) if len(rows) else count
    at = np.arange(count.sum()) + np.repeat(graph.indptr[rows] - before, count)
    weights = np.ones(len(at)) if graph.weights is None else graph.weights[at]
    return source, graph.indices[at], weights


def movable(
    old: Graph,
    links: Graph,
    degree: NDArray[np.float64],
    missing_share: NDArray[np.float64],
    newcomers: Rows,
    hops: int,
) -> Rows:
    """Fitted nodes within `hops` of newcomers, a share MOVED of whose value comes from them.

    That share is missing_share x (A pull) / degree, with a pull of 1 at every newcomer.
    """
    n_old = old.n_nodes
    chosen: list[Rows] = [np.empty(0, dtype=np.intp)]
    taken = np.zeros(n_old, dtype=bool)
    _, ends, _ = arcs(links, newcomers)
    near: Rows = np.unique(ends[ends < n_old]).astype(np.intp)
    pull = missing_share[near] * links.degrees()[near] / degree[near]
    for _ in range(hops):
        enough = (pull >= MOVED) & ~taken[near]
        rows = near[enough]
        if not len(rows):
            break
        chosen.append(rows)
        taken[rows] = True
        source, target, weight = arcs(old, rows)
        total = np.bincount(target, weight * pull[enough][source], minlength=n_old)
        near = np.flatnonzero(total)
        pull = missing_share[near] * total[near] / degree[near]
    return np.concatenate(chosen)


@dataclass
class Neighborhood:
    """Where the local system lies: its nodes, and the edges inside and to the nodes around."""

    rows: Rows  # nodes solved
    around: Rows  # nodes held fixed
    n_new: int  # how many of the rows are newcomers, which come first
    A: scipy.sparse.csr_array  # [rows, rows]
    B: scipy.sparse.csr_array  # [rows, around]

    @classmethod
    def cut(
        cls, old: Graph, links: Graph, newcomers: Rows, inner: Rows, dtype: np.dtype
    ) -> Neighborhood:
        """Take the rows of the grown graph that belong to newcomers and `inner` old nodes."""
        rows = np.concatenate([newcomers, inner])
        from_new, from_old = arcs(links, rows), arcs(old, inner)
        source = np.concatenate([from_new[0], len(newcomers) + from_old[0]])
        target = np.concatenate([from_new[1], from_old[1]])
        weight = np.concatenate([from_new[2], from_old[2]]).astype(dtype)
        place = np.full(links.n_nodes, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        inside = place[target] >= 0
        around = np.unique(target[~inside]).astype(np.intp)
        place[around] = np.arange(len(around))

        def part(chosen: Cells, width: int) -> scipy.sparse.csr_array:
            entries = weight[chosen], (source[chosen], place[target[chosen]])
            return scipy.sparse.csr_array(entries, shape=(len(rows), width))

        A, B = part(inside, len(rows)), part(~inside, len(around))
        return cls(rows, around, len(newcomers), A, B)


class LocalSystem:
    """The equations of a neighbourhood, and how far they are solved."""

    def __init__(
        self,
        place: Neighborhood,
        z: Floats,  # [rows, columns]; known values, and where unknown cells start; overwritten
        unknown: Cells,  # [rows, columns]
        z_around: Floats,  # [around, columns]
        silent: Cells | None,  # cells of `z_around` that are unknown: their edges do not count
        shrinkage: float,
        centre: Floats,  # what unknown cells of each column are pulled towards
    ) -> None:
        dtype = z.dtype
        self.place, self.z, self.unknown = place, z, unknown
        self.shrinkage, self.centre = shrinkage, centre.astype(dtype)
        inside = np.asarray(place.A.sum(axis=1), dtype=dtype)[:, None]
        self.outside = np.asarray(place.B.sum(axis=1), dtype=dtype)[:, None]
        if silent is not None:
            self.outside = place.B @ (~silent).astype(dtype)
        d = inside + self.outside
        self.b = place.B @ z_around
        if shrinkage:
            self.b += shrinkage * d * self.centre
        d *= dtype.type(1.0 + shrinkage)
        self.scale = np.divide(1, d, out=np.zeros_like(d), where=d > 0)
        self.free = unknown.astype(dtype)
        self.unreached = unknown & ~self._reached()  # nothing known is connected to these
        self.n_iter = 0  # steps taken

    def solve(self, close: float, n_iter: int | None) -> None:
        """Step until the estimated relative error is `close`, or `n_iter` steps were taken in all.

        None: as many as it takes; where that would be many, by conjugate gradients.
        """
        cut = self.place.n_new
        parts = [(rows, self.place.A[rows]) for rows in (slice(cut), slice(cut, None))]
        most = (100 if self.shrinkage else 1) * MOST_STEPS if n_iter is None else n_iter
        last, error = 0.0, np.inf
        while self.n_iter < most and error > close:
            squared = 0.0
            # Newcomers first, then the old nodes by what is new: fewer steps than all at once.
            for rows, A in parts:
                move = A @ self.z
                move += self.b[rows]
                move *= self.scale[rows]
                move -= self.z[rows]
                move *= self.free[rows]
                self.z[rows] += move
                squared += float(np.vdot(move, move))
            self.n_iter += 1
            size = squared**0.5
            # The moves still ahead shrink geometrically, by the last two.
            ahead = np.inf if size else 0.0
            if 0 < size < last:
                ahead = size * size / (last - size)
            error = ahead / max(float(np.linalg.norm(self.z)), 1e-300)
            last = size
        if n_iter is None and not self.shrinkage and error > close:
            self._solve_exactly()

    def moves_around(
        self, links: Graph, held: Rows, z_held: Floats, z_new: Floats, moved: Floats
    ) -> Floats:
        """How far one step moves old nodes around: r over the new edges, 0 before nodes arrived."""
        n_old, dtype = links.n_nodes - len(z_new), z_new.dtype
        source, target, weight = arcs(links, held)
        to_new = scipy.sparse.csr_array(
            (weight.astype(dtype), (source, target - n_old)), shape=(len(held), len(z_new))
        )
        w = np.asarray(to_new.sum(axis=1), dtype=dtype)[:, None]
        r: Floats = to_new @ z_new
        r -= w * z_held
        if self.shrinkage:
            r -= self.shrinkage * w * (z_held - self.centre)
        if len(moved):
            r += self.place.B[len(self.place.rows) - len(moved) :, : len(held)].T @ moved
        return r

    def _reached(self) -> Cells:
        """Cells whose part of the neighbourhood knows the column, or lies next to one that does."""
        informed = self.outside > 0
        reached = np.ones_like(self.unknown)
        doubtful = ~informed.all(axis=1)
        if doubtful.any():
            count, label = connected_components(self.place.A, directed=False)
            rows = np.flatnonzero(np.isin(label, label[doubtful]))
            some = np.zeros((count, self.unknown.shape[1]), dtype=bool)
            informed = np.broadcast_to(informed, reached.shape)[rows]
            np.logical_or.at(some, label[rows], informed | ~self.unknown[rows])
            reached[rows] = some[label[rows]]
        return reached

    def _solve_exactly(self) -> None:
        """Solve by conjugate gradients, where steps take too long: chains of newcomers are long.

        The nodes around a node are one node, with their mean and the sum of their weights.
        """
        n, b, dtype = len(self.z), self.b, self.z.dtype
        weight = np.asarray(self.place.B.sum(axis=1)).ravel()
        linked = np.flatnonzero(weight)
        entries = self.place.A.tocoo()
        local = Graph.from_edges(
            np.concatenate([entries.row, linked]),
            np.concatenate([entries.col, n + linked]),
            weight=np.concatenate([entries.data, weight[linked]]),
            n_nodes=2 * n,
        )
        informed = np.broadcast_to(self.outside > 0, b.shape)
        means = np.divide(b, self.outside, out=np.full_like(b, np.nan), where=informed)
        table = np.concatenate([np.where(self.unknown, dtype.type(np.nan), self.z), means])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreachedWarning)
            result = propagate(table, local, normalization="rw", solver="exact")
        self.z[:] = result.X[:n]
        self.n_iter += result.n_iter
