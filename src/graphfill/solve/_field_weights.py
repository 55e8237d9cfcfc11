r"""Which known cells a cell that a field filled is made of, and with what weight.

With r the factors of one row's missing cells in a sum, that sum is

.. math:: r^T z_u = -r^T Q_{uu}^{-1} Q_{uk} z_k = w^T z_k, \qquad w = -Q_{ku} Q_{uu}^{-1} r .

The solution y of Q_uu y = r falls quickly with the distance from the row. So it is solved for in
the row's surroundings, as if y were 0 beyond; the residual of the whole system, which is then left
at the missing cells beyond, says whether they are wide enough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ._coupling import Floats
from ._field import FieldSystem, Mask

Nodes = NDArray[np.intp]

TOLERANCE = 1e-10  # residual, relative to the right-hand side
FEW_NODES = 300  # of the surroundings that are tried first, where nothing is missing
MOST_SCARCE = 0.1  # of the cells known: surroundings grow as known cells grow rare
WIDER = 4


def field_weights(
    system: FieldSystem, row: int, factors: Floats, tolerance: float = TOLERANCE
) -> tuple[Nodes, Floats]:
    """Nodes, and [nodes, channels] how much each known cell counts in a sum of one row's cells.

    A known cell of the row counts as its own factor besides; missing ones count 0.
    """
    known = 1.0 - np.count_nonzero(system.missing) / max(1, system.missing.size)
    count, done = int(FEW_NODES * max(known, MOST_SCARCE) ** -0.6), False
    while not done:
        nodes, near = surroundings(system.graph.graph, row, count)
        local = system
        if 2 * len(nodes) < system.graph.n_nodes:
            local = FieldSystem(system.graph.part(nodes), system.missing[nodes] & near[:, None])
            local.use(system.coupling)
        else:
            nodes = np.arange(system.graph.n_nodes)
        missing, right = system.missing[nodes], np.zeros((len(nodes), len(factors)))
        right[nodes == row] = factors
        asked = np.where(missing, right, 0.0)
        vector = local.vector(asked)[None]
        size = float(np.einsum("ki,ki->", vector, local.rows.times(vector)))
        found = local.solve(vector, None, tolerance * float(np.sqrt(size / local.n_missing)))
        y = local.put(found[0], np.zeros(missing.shape))
        image = local.product(y)
        beyond = np.where(missing & ~local.missing, image, 0.0)
        omega, theta = system.coupling.omega.diagonal(), system.coupling.theta.diagonal()
        scale = omega + local.graph.degree[:, None] * theta
        done = float(np.sum(beyond**2 / scale)) <= tolerance**2 * size
        count *= WIDER
    return nodes, np.where(missing, 0.0, right - image)


def surroundings(graph: Graph, node: int, count: int) -> tuple[Nodes, Mask]:
    """Nodes around one, ascending; and which of them are so near that all their neighbours are.

    The latter are those within so many steps that they are `count` or more.
    """
    taken = np.zeros(graph.n_nodes, dtype=bool)
    taken[node], ring, n_near = True, np.array([node]), 0
    near = taken
    while n_near < count and len(ring):
        near, n_near = taken.copy(), n_near + len(ring)
        ends = np.concatenate([graph.indices[graph.indptr[i] : graph.indptr[i + 1]] for i in ring])
        ring = np.unique(ends[~taken[ends]])
        taken[ring] = True
    nodes = np.flatnonzero(taken)
    return nodes, near[nodes]
