"""Blocks of columns that a network's input is made of: fills of the features, and the graph's own.

Features are standardised by their known cells first, so that units do not matter and 0 is the mean;
each block is then scaled as a whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GraphfillWarning
from ..graph import Graph
from ..solve import fill_field, fill_pcfi, fill_spectral, propagate
from ..solve._neighbors import known_means
from ..solve._positions import encode, unit_rows

Floats = NDArray[np.floating]

FEATURE_LENGTH, CONTEXT_LENGTH = 2.0, 1.0  # root mean square of a node's row within a block
FEW_COLUMNS = 64  # up to which columns are also filled from eigenvectors and by the coupled field
N_EIGENVECTORS = 20
EXACT = 1e-4  # relative residual of the limit
TOLERANCE, MOST_RESTARTS = 1e-5, 10  # of eigenvalues; long thin graphs would take for ever
CONTEXT = ("eigenvectors", "labels")  # blocks that are no fill of the features
HELD_SHARE = 0.1  # of the known cells, or rows


def standardised(X: Floats) -> Floats:
    """Columns of mean 0 and deviation 1 by their known cells; a constant one becomes 0."""
    centred = X - np.nan_to_num(known_means(X)).astype(X.dtype)
    spread = np.sqrt(np.nan_to_num(known_means(np.square(centred, dtype=np.float64))))
    largest = np.nan_to_num(np.fmax.reduce(np.abs(X), axis=0))
    varies = spread > 1e-6 * largest  # and not by rounding alone
    scale = np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
    return np.asarray(centred * scale.astype(X.dtype))


def scaled(block: Floats, length: float) -> Floats:
    """The block times a number, so that its rows have this length in the root mean square."""
    size = float(np.sqrt(np.square(block, dtype=np.float64).sum() / max(1, len(block))))
    return np.asarray(block * block.dtype.type(length / size if size > 0 else 0.0))


def _known_and_where(Z: Floats) -> Floats:
    """Zeros for what is missing, and where it is: one column if whole rows are."""
    missing = np.isnan(Z)
    if (missing == missing[:, :1]).all():
        missing = missing[:, :1]
    where = missing.astype(Z.dtype)
    where -= where.mean(axis=0)
    return np.hstack([scaled(np.nan_to_num(Z), 1.0), scaled(where, 1.0)])


def fills(n_columns: int, threads: int | None) -> dict[str, Callable[[Floats, Graph], Floats]]:
    """The fills of standardised features, by name; the last two where columns are few."""
    every: dict[str, Callable[[Floats, Graph], Any]] = {
        "indicator": lambda Z, graph: _known_and_where(Z),
        "fp": lambda Z, graph: propagate(Z, graph, threads=threads).X,
        "exact": lambda Z, graph: propagate(Z, graph, solver="exact", tol=EXACT, threads=threads).X,
        "pcfi": lambda Z, graph: fill_pcfi(Z, graph, threads=threads).X,
    }
    if n_columns <= FEW_COLUMNS:
        every["spectral"] = lambda Z, graph: fill_spectral(Z, graph, threads=threads).X
        every["field"] = lambda Z, graph: fill_field(Z, graph, threads=threads).X
    return every


def feature_blocks(X: Floats, graph: Graph, threads: int | None) -> dict[str, Floats]:
    """Every fill as a block; one of the features as they are if all are known, none if none is."""
    Z = standardised(X)
    made = {"features": Z}
    if np.isnan(Z).any():
        some = np.flatnonzero(np.nan_to_num(Z).any(axis=0))  # of the others nothing is known
        Z = np.ascontiguousarray(Z[:, some])
        made = {}
        if len(some):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GraphfillWarning)
                made = {k: fill(Z, graph) for k, fill in fills(Z.shape[1], threads).items()}
    blocks = {name: scaled(block, FEATURE_LENGTH) for name, block in made.items()}
    return {name: block for name, block in blocks.items() if block.any()}


def eigenvector_block(graph: Graph) -> Floats:
    """The leading eigenvectors of the normalised adjacency, rows of length 1 or 0."""
    if not len(graph.indices):
        return np.zeros((graph.n_nodes, 0), np.float32)
    found = encode(graph, N_EIGENVECTORS, tol=TOLERANCE, restarts=MOST_RESTARTS)
    return scaled(unit_rows(found[:, found.any(axis=0)]), CONTEXT_LENGTH)


def held_out_scores(X: Floats, graph: Graph, threads: int | None, seed: int) -> dict[str, float]:
    """Per fill, the share of the variance of known cells that it explains when they are hidden.

    Whole rows are hidden where rows are missing whole. Empty where too little is known.
    """
    Z, known = standardised(X), ~np.isnan(X)
    rng = np.random.default_rng([seed, 23])
    whole = bool((known == known[:, :1]).all())
    there = np.flatnonzero(known[:, 0] if whole else known.ravel())
    n_held = int(HELD_SHARE * len(there)) or int(len(there) >= 4)
    if not n_held:
        return {}
    held = np.zeros(known.shape, bool)
    chosen = rng.permutation(there)[:n_held]
    held[chosen if whole else np.unravel_index(chosen, held.shape)] = True
    truth = Z[held].astype(np.float64)
    total = float(np.square(truth).sum())
    if not total:
        return {}
    shown = np.where(held, Z.dtype.type(np.nan), Z)
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphfillWarning)
        for name, fill in fills(Z.shape[1], threads).items():
            # Zeros explain nothing; an indicator has further columns.
            filled = np.zeros_like(Z) if name == "indicator" else fill(shown, graph)
            scores[name] = 1.0 - float(np.square(filled[held] - truth).sum()) / total
    return scores
