r"""Omega and Theta of a field, fitted to the known cells by their moments.

For complete data the most likely Omega and Theta are those under which the expected moments equal
the observed S0 = Z'Z / n and S1 = Z'LZ / n. In the basis W that diagonalises both (W' S0 W = I,
W' S1 W = diag(e)) every mode is a problem of one number: with w = 1 - t e, the average of
1 / (w + t lambda) over the spectrum of L must be 1 (that of lambda / (w + t lambda) is then e).
With cells missing, rounds alternate between draws of them and this match (Monte Carlo EM). The
noise of the draws is the same in every round, so that each solve starts near its end.

The first moments come from pairs of known cells. With few rows, or many indicators of rare classes,
the fit would repeat what is accidental. So all correlations are shrunk: by as many made-up
observations without correlation as there are channels, or by a noise of each channel of its own
(`_channel_noise`), which keeps what columns say that nearly follow from each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ._channel_noise import FEW_ROWS, channel_noise
from ._coupling import Coupling, Floats
from ._field import FieldSystem, Mask
from ._field_graph import FieldGraph, between
from ._spectrum import Spectrum

ROUNDS = 3
INVERTED = 1  # rounds after which the preconditioner is made anew; later ones change little
TOLERANCE = 0.1  # of the solves within the fit
DRAWN_ROWS = 1200  # rows drawn in a round, at least: several draws where rows are few
MOST_DRAWS = 4
MOST_NODES = 10_000  # fitted on; of a larger graph, some neighbourhoods of this many nodes
MOST_CHANGES = 1 << 20  # of edges times channels, looked at together
FEW_PAIRS = 20  # a moment of this many pairs of known cells counts half
LEAST_EIGENVALUE = 0.02  # of the first correlations


def fit_field(
    Z: Floats, graph: FieldGraph, seed: int = 0, rounds: int = ROUNDS, by_channel: bool = True
) -> tuple[FieldSystem, Floats | None]:
    """The equations of standardised channels, NaN where missing, and about what they solve to.

    `by_channel` shrinks the correlations of each channel by a noise of its own where rows are few.
    """
    if graph.n_nodes > MOST_NODES:
        nodes = neighbourhoods(graph.graph, np.asarray(~np.isnan(Z).all(axis=1)), MOST_NODES, seed)
        part = FieldGraph(between(graph.graph, nodes))
        coupling = fit_field(Z[nodes], part, seed, rounds, by_channel)[0].coupling
        system = FieldSystem(graph, np.isnan(Z))
        system.use(coupling)
        return system, None
    rng = np.random.default_rng([seed, 9])
    system = FieldSystem(graph, np.isnan(Z))
    n_draws = draws_of(graph.n_nodes)
    noises = [system.noise(rng) for _ in range(n_draws)]
    known = ~np.isnan(Z)
    rows, noise_of = known.any(axis=1), None
    by_channel = by_channel and np.count_nonzero(rows) < FEW_ROWS * Z.shape[1]
    system.use(match_moments(*_first_moments(Z, graph), graph))
    cells, solved = np.where(system.missing, 0.0, Z), None
    for number in range(rounds):
        rights = [-system.known_part(Z), *map(system.noise_part, noises)]
        solved = system.solve(np.stack(rights), solved, TOLERANCE)
        S0 = S1 = np.zeros((Z.shape[1], Z.shape[1]))
        draws = []
        for deviation in solved[1:]:
            drawn = system.put(solved[0] + deviation, cells)
            draws.append(drawn[rows])
            S0 = S0 + drawn.T @ drawn
            S1 = S1 + drawn.T @ graph.laplacian(drawn)
        if number == 0 and by_channel:
            noise_of = channel_noise(draws, system.put(solved[0], cells)[rows], known[rows], seed)
        count = n_draws * graph.n_nodes
        coupling = match_moments(S0 / count, S1 / count, graph, noise_of)
        system.use(coupling, invert=number < INVERTED)
    return system, None if solved is None else system.put(solved[0], cells)


def draws_of(n_nodes: int) -> int:
    """In each round."""
    return int(np.clip(DRAWN_ROWS // max(n_nodes, 1), 1, MOST_DRAWS))


def match_moments(
    S0: Floats, S1: Floats, graph: FieldGraph, noise: Floats | None = None
) -> Coupling:
    """The Omega and Theta under which the shrunk moments are as expected.

    Noise of a channel differs from node to node, so that it is as rough as the graph allows.
    """
    import scipy.linalg

    p, scale = len(S0), graph.spectrum.mean
    if noise is None:
        apart = p / (graph.n_nodes + p)
        S0 = (1 - apart) * S0 + np.diag(apart * np.diag(S0) + 1e-5)
        S1 = (1 - apart) * S1 + np.diag(apart * np.diag(S1) + 1e-5 * scale)
    else:
        variance = noise * np.diag(S0) + 1e-5
        S0, S1 = S0 + np.diag(variance), S1 + np.diag(variance * scale)

    root = np.linalg.cholesky(S0)
    inverse = scipy.linalg.solve_triangular(root, np.eye(p), lower=True)
    e, U = np.linalg.eigh(inverse @ ((S1 + S1.T) / 2) @ inverse.T)
    links = smoothness(np.maximum(e, 1e-9), graph.spectrum)
    return Coupling(inverse.T @ U, np.maximum(1.0 - links * e, 1e-9), links)


def smoothness(e: Floats, spectrum: Spectrum) -> Floats:
    """The t of each mode: the average of 1 / (1 - t e + t lambda) is 1, or t = 0.

    A mode that is no smoother than noise (e at the mean of lambda or above) has t = 0.

    Examples
    --------
    >>> two = Spectrum(np.array([0.0, 2.0]), np.array([0.5, 0.5]))
    >>> smoothness(np.array([0.5, 1.0]), two).round(6)
    array([0.666667, 0.      ])
    """
    smooth = e < 0.999 * spectrum.mean
    low, high = np.full(len(e), 1e-6), np.full(len(e), 1.0 - 1e-9)
    low[~smooth] = high[~smooth] = 0.0
    for _ in range(60):
        middle = np.where(smooth, np.sqrt(low * high), 0.0)
        t = middle / e
        terms = 1.0 / (1.0 - middle[:, None] + t[:, None] * spectrum.nodes)
        below = terms @ spectrum.weights < 1.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(low / e)


def _first_moments(Z: Floats, graph: FieldGraph) -> tuple[Floats, Floats]:
    """S0 and S1 from pairs of known cells, drawn towards 0 where these are few."""
    known = (~np.isnan(Z)).astype(np.float64)
    Z = np.nan_to_num(Z)
    pairs = known.T @ known
    S0 = Z.T @ Z / np.maximum(pairs, 1.0)
    variance = np.diag(S0).copy()
    S0 *= pairs / (pairs + FEW_PAIRS)
    np.fill_diagonal(S0, variance)
    indptr, indices = graph.graph.indptr, graph.graph.indices
    u = np.repeat(np.arange(graph.n_nodes), np.diff(indptr))
    edges = np.flatnonzero(u < indices)
    S1, weight, pairs = (np.zeros(S0.shape) for _ in range(3))
    for start in range(0, len(edges), max(1, MOST_CHANGES // len(S0))):
        some = edges[start : start + max(1, MOST_CHANGES // len(S0))]
        one, other, weights = u[some], indices[some], graph.weights(some)
        both = known[one] * known[other]
        change = (Z[one] - Z[other]) * both
        S1 += (change.T * weights) @ change
        pairs += both.T @ both
        if graph.graph.weights is not None:
            weight += (both.T * weights) @ both
    if graph.graph.weights is None:
        weight = pairs / graph.mean_degree
    S1 /= np.where(weight > 0, weight, 1.0)
    S1 *= graph.weights(edges).sum() / graph.n_nodes
    unrelated, own = graph.spectrum.mean * variance, np.diag(pairs)
    smooth = (np.diag(S1) * own + unrelated * FEW_PAIRS) / (own + FEW_PAIRS)
    S1 *= pairs / (pairs + FEW_PAIRS)
    np.fill_diagonal(S1, smooth)
    return _positive(S0), _positive(S1)


def _positive(S: Floats) -> Floats:
    """The symmetric matrix with its correlations made positive definite, its diagonal kept."""
    scale = np.sqrt(np.maximum(np.diag(S), 1e-8))
    values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
    R = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    scale = scale / np.sqrt(np.diag(R))
    return np.asarray(R * np.outer(scale, scale))


def neighbourhoods(graph: Graph, rows: Mask, size: int, seed: int) -> NDArray[np.intp]:
    """About `size` nodes in neighbourhoods of nodes drawn among the `rows`, sorted.

    They are nearly the same where nearly the same rows are asked for.
    """
    starts = np.random.default_rng([seed, 10]).permutation(graph.n_nodes)
    starts = starts[rows[starts]]
    taken = np.zeros(graph.n_nodes, dtype=bool)
    count = 0
    for start in starts:
        if taken[start]:
            continue
        ring, mine = np.array([start]), 0
        while len(ring) and mine < size // 20 and count < size:
            ring = ring[~taken[ring]][: size - count]
            taken[ring] = True
            count, mine = count + len(ring), mine + len(ring)
            ends = [graph.indices[graph.indptr[i] : graph.indptr[i + 1]] for i in ring]
            ring = np.unique(np.concatenate([np.empty(0, np.intp), *ends]))
        if count >= size:
            break
    return np.flatnonzero(taken)
