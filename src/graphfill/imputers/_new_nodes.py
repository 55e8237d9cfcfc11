"""Nodes that arrive after a fit with their edges, filled from what it left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..errors import InputError, named
from ..graph import Graph, as_ids, from_table, is_table, split_pairs, with_self_loops
from ..graph._edges import check_ends, check_numbered
from ..solve import PropagationOptions
from . import _neighborhood as neighborhood
from ._base import Cells, Floats, Rows
from ._neighborhood import LocalSystem, Neighborhood, movable

REVISITED = 1 / 64  # of the columns, for they cost that share of a refit
REVISITED_STEPS = 16  # of conjugate gradients, from what was fitted


@dataclass(frozen=True)
class Newcomers:
    """What the last call to `transform_new` did."""

    n_new: int  # nodes that arrived
    n_resolved: int  # fitted nodes solved anew
    n_held: int  # fitted nodes around those
    n_columns: int  # columns solved anew in the whole graph
    n_iter: int  # steps on the local system
    # How far one step moves the missing cells of the fitted nodes around those solved, relative to
    # their norm: the residual that the old fill has in the grown graph. If it is large, fit again.
    drift: float
    seconds: float = 0.0
    difference: float | None = None  # from a refit, relative, over the filled cells; if asked for


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
    moves = system.moves_around(links, held, z_held, z_new, moved)
    moves /= (1.0 + options.shrinkage) * degree[held, None].astype(X.dtype)
    moves = held_missing * moves
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


# -- edges that arrive with new nodes --


def read_links(graph: Graph, labels: Any, n_new: int, new_edges: Any, weight: Any) -> Graph:
    """New edges as a graph of the fitted nodes and, after them, the new ones.

    `labels` are the ids of the new nodes where the graph has ids; edges and their weight may come
    in all forms that `transform_new` takes.
    """
    if graph.weights is not None and weight is None:
        raise InputError(
            "The fitted graph has edge weights but the new edges have none: pass weight=, one "
            "number per edge or the name of a column."
        )
    if is_table(new_edges):
        name = weight if isinstance(weight, str) else None
        source, target, weights = from_table(new_edges, None, None, name)
        weight = weights if name is not None else weight
    else:
        source, target = split_pairs(new_edges)
    source, target = as_ids(source, "source"), as_ids(target, "target")
    check_ends(source, target)
    n_old, n_nodes = graph.n_nodes, graph.n_nodes + n_new
    listed = source, target
    if graph.ids is None:
        check_numbered(source, target, n_nodes)
    else:
        ids = graph.ids
        known = graph.derived("row of id", lambda: {id: row for row, id in enumerate(ids.tolist())})
        new = _rows_of_new_ids(labels, known, n_old, n_new)
        source, target = (
            np.array([known.get(id, new.get(id, -1)) for id in ends.tolist()], dtype=np.int64)
            for ends in listed
        )
    for ends, rows in zip(listed, (source, target), strict=True):
        outside = (rows < 0) | (rows >= n_nodes)
        if outside.any():
            number = int(np.argmax(outside))
            raise InputError(
                f"New edge {number} ends at {named(ends.tolist()[number])}, which is neither one "
                f"of the {n_old} fitted nodes nor one of the {n_new} new ones: add its row, or "
                "drop the edge."
            )
    between_old = (source < n_old) & (target < n_old)
    if between_old.any():
        number = int(np.argmax(between_old))
        raise InputError(
            f"New edge {number} links two fitted nodes (rows {source[number]} and "
            f"{target[number]}; {int(between_old.sum())} such edge(s)): fit again to add edges "
            "between old nodes."
        )
    return Graph.from_edges(source, target, weight=weight, n_nodes=n_nodes)


def _rows_of_new_ids(
    labels: Any, known: Mapping[Any, int], n_old: int, n_new: int
) -> dict[Any, int]:
    """The row of each new node among all; `known` are those of the fitted ones."""
    if labels is None:
        raise InputError(
            "The graph has ids but the new rows have none: pass a pandas table whose index holds "
            "them, or ids=."
        )
    ids = as_ids(labels, "node").tolist()
    if len(ids) != n_new:
        raise InputError(f"There are {len(ids)} ids for {n_new} new row(s): pass one id per row.")
    rows: dict[Any, int] = {}
    for row, id in enumerate(ids):
        if id in known:
            raise InputError(
                f"The new row {row} has the id {named(id)}, which the fitted graph has already "
                f"(node {known[id]}): pass new nodes only, or fit again to change old ones."
            )
        if id in rows:
            raise InputError(
                f"The id {named(id)} occurs twice, in the new rows {rows[id] - n_old} and {row}: "
                "pass one row per node."
            )
        rows[id] = n_old + row
    return rows


def grown(graph: Graph, links: Graph) -> Graph:
    """The fitted graph with the new nodes and edges, without ids."""
    n = links.n_nodes
    weighted = graph.weights is not None or links.weights is not None

    def matrix(part: Graph) -> scipy.sparse.csr_array:
        weights = np.ones(len(part.indices)) if part.weights is None else part.weights
        ends = np.full(n + 1 - len(part.indptr), part.indptr[-1])
        return scipy.sparse.csr_array(
            (weights, part.indices, np.concatenate([part.indptr, ends])), shape=(n, n)
        )

    # No edge is in both, so that none is summed: SciPy merges the rows.
    both = matrix(graph) + matrix(links)
    return Graph.of_sorted_rows(
        both.indptr.astype(np.int64, copy=False),
        both.indices.astype(np.int32, copy=False),
        both.data if weighted else None,
        n_self_loops=graph.n_self_loops + links.n_self_loops,
    )
