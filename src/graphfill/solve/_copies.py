r"""Filled cells that are nearly a copy of one known cell.

The weight of k in i is at most b_i, whatever k is, where

.. math:: b_i = \max_k p_{ik} + \sum_{j \text{ unknown}} p_{ij} b_j, \qquad p_{ij} = a_{ij} / d_i,

and steps of this equation from b = 1 only come down to it. A weight is the mean of its neighbours'
weights, so that the largest of k's is at a neighbour i of k: where p_ik + sum_j p_ij b_j is below
the threshold for each of them, k is copied nowhere. For the other k all weights are solved for.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ..graph import Graph
from ._problem import PropagationOptions
from ._weights import LANES, Floats, Mask, Nodes, Region, Rows, Walks

BOUND_STEPS = 20
TOLERANCE = 1e-8  # relative residual


def near_copies(
    graph: Graph,
    known_mask: Mask,
    options: PropagationOptions,
    threshold: float,
    reliance: float = 1.0,
) -> tuple[Nodes, Nodes, Floats]:
    """Unknown nodes, the known one that makes up so much of their value, and its share.

    Weights count `reliance` times, the rest being the column's mean; where they add up to more
    than 1, as they may under "sym", their sum counts as 1. It takes one solve for some LANES known
    nodes of each region that could be copied.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3])
    >>> options = PropagationOptions(normalization="rw", solver="exact")
    >>> near_copies(star, np.array([True, True, False, False]), options, 0.9)
    (array([2, 3]), array([0, 0]), array([1., 1.]))
    """
    walks = Walks(graph, known_mask, options, TOLERANCE)
    whole = Region(walks, walks.unknown)
    edges = whole.outer.tocoo()
    least = threshold / reliance if reliance else np.inf
    copied = np.ones(edges.nnz, dtype=bool)
    if options.normalization == "rw":
        copied = _bounds(whole, edges) >= least
    # Each known node beside each region is one problem; those of several regions share a lane.
    pairs, pair = np.unique(
        walks.label[edges.row] * np.int64(len(whole.boundary)) + edges.col, return_inverse=True
    )
    wanted = np.bincount(pair, copied, minlength=len(pairs)) > 0
    lane = np.full(len(pairs), -1)
    regions = pairs[wanted] // max(len(whole.boundary), 1)
    lane[wanted] = np.arange(len(regions)) - np.searchsorted(regions, regions)
    best, source = np.zeros(len(whole.nodes)), np.zeros(len(whole.nodes), dtype=np.intp)
    total = np.zeros(len(whole.nodes))
    if options.normalization == "sym" and len(regions):
        total = whole.solve(whole.outer @ (1.0 / walks.factor[whole.boundary])[:, None])[:, 0]
        total *= reliance * walks.factor[whole.nodes]
    for first in range(0, int(lane.max(initial=-1)) + 1, LANES):
        some = (lane[pair] >= first) & (lane[pair] < first + LANES)
        places = np.flatnonzero(np.isin(walks.label, walks.label[edges.row[some]]))
        rank = np.searchsorted(places, edges.row[some]), lane[pair][some] - first
        right = np.zeros((len(places), LANES))
        right[rank] = edges.data[some] / walks.factor[whole.boundary[edges.col[some]]]
        weights = Region(walks, whole.nodes[places]).solve(right)
        weights *= reliance * walks.factor[whole.nodes[places]][:, None]
        ends = _ends(walks.label[places], lane, pairs, first, whole.boundary)
        at = weights.argmax(axis=1)
        largest = weights[np.arange(len(places)), at]
        better = largest > best[places]
        best[places[better]] = largest[better]
        source[places[better]] = ends[np.arange(len(places)), at][better]
    best /= np.maximum(1.0, total)
    near = np.flatnonzero((best >= threshold) & (best > 0))
    return whole.nodes[near].astype(np.intp), source[near], best[near]


def _bounds(whole: Region, edges: scipy.sparse.coo_array) -> Floats:
    """By edge from an unknown node i to a known k: p_ik + sum_j p_ij b_j."""
    walks = whole.walks
    indptr, indices, weights = walks.inner(whole.nodes)
    values = np.ones(len(indices)) if weights is None else weights
    n = len(whole.nodes)
    inner = scipy.sparse.csr_array((values, indices, indptr), shape=(n, n))
    scale = walks.scale[whole.nodes]
    direct = edges.data * scale[edges.row]
    largest = np.zeros(n)
    np.maximum.at(largest, edges.row, direct)
    b = np.ones(n)
    for _ in range(BOUND_STEPS):
        b = largest + scale * (inner @ b)
    return np.asarray(direct + (scale * (inner @ b))[edges.row])


def _ends(label: Rows, lane: Rows, pairs: Rows, first: int, boundary: Rows) -> Rows:
    """[nodes, LANES]: the known node that each lane is about, by the region of the node."""
    some = np.flatnonzero((lane >= first) & (lane < first + LANES))
    region, column = np.divmod(pairs[some], len(boundary))
    named, place = np.unique(region, return_inverse=True)
    ends = np.zeros((len(named), LANES), dtype=np.intp)
    ends[place, lane[some] - first] = boundary[column]
    return np.asarray(ends[np.searchsorted(named, label)])
