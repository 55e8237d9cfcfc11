"""A matrix of float64 filled by a field: standardised, fitted, solved for its missing cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._coupling import Coupling, Floats
from ._field import COARSE, SINGLE_CELLS, FieldSystem, Mask
from ._field_cells import SHARED, alike
from ._field_fit import MOST_CHANGES, MOST_NODES, ROUNDS, draws_of, fit_field
from ._field_graph import NOISE_ENTRIES, FieldGraph
from ._field_rows import BLOCK_BYTES
from ._scaling import exponents
from ._spectrum import PROBES, STEPS

TOLERANCE = 0.02  # of a missing cell's standard deviation given all others
FITTING = 0.7  # of the progress
FEWEST_KNOWN = 2  # cells of a channel; with fewer it has no spread and is left at its mean
ORDINARY_BITS = 300  # numbers beyond 2^300 cannot be squared and added up: these are scaled first


@dataclass(frozen=True)
class FieldModel:
    """What was learnt of a matrix: the scale of its channels, and how they inform each other.

    Attributes
    ----------
    exponent, centre, scale : [channels] each
        2^exponent * channel = centre + scale * standardised.
    varying : which channels vary; all others have their missing cells at the mean
    coupling : of those that vary; None where none does
    """

    exponent: NDArray[np.intc]
    centre: Floats
    scale: Floats
    varying: Mask
    coupling: Coupling | None

    def system(self, X: Floats, graph: FieldGraph) -> FieldSystem:
        """The equations of the missing cells of a matrix."""
        system = FieldSystem(graph, np.isnan(X[:, self.varying]))
        if self.coupling is not None:
            system.use(self.coupling)
        return system

    def standardised(self, X: Floats) -> Floats:
        """The channels that vary."""
        Z, exponent = np.array(X[:, self.varying]), self.exponent[self.varying]
        if exponent.any():
            np.ldexp(Z, exponent, out=Z)
        Z -= self.centre[self.varying]
        Z /= self.scale[self.varying]
        return Z

    def fill(self, X: Floats, Z: Floats) -> Floats:
        """X with its missing cells filled from their standardised mean."""
        out, place = X.copy(), np.cumsum(self.varying) - 1
        most = np.ldexp(np.finfo(np.float64).max, np.minimum(self.exponent, 0))
        for channel in range(X.shape[1]):
            missing = np.flatnonzero(np.isnan(X[:, channel]))
            values = np.full(len(missing), self.centre[channel])
            if self.varying[channel]:
                values += Z[missing, place[channel]] * self.scale[channel]
            values = np.clip(values, -most[channel], most[channel])
            out[missing, channel] = np.ldexp(values, -self.exponent[channel])
        return out


@dataclass
class FilledField:
    """A filled matrix, known cells as they were, the equations it solves and their model."""

    X: Floats
    system: FieldSystem
    model: FieldModel


def learn_field(
    X: Floats, graph: FieldGraph, seed: int = 0, rounds: int = ROUNDS, by_channel: bool = True
) -> tuple[FieldModel, FieldSystem, Floats | None]:
    """Fit a field; the equations of X, and about what they solve to, come with it."""
    model = scaled(X)
    if not model.varying.any():
        return model, model.system(X, graph), None
    system, mean = fit_field(model.standardised(X), graph, seed, rounds, by_channel)
    return replace(model, coupling=system.coupling), system, mean


def scaled(X: Floats) -> FieldModel:
    """The scale of the channels, by their known cells; nothing of how they inform each other."""
    exponent = exponents(X, ORDINARY_BITS)
    known = ~np.isnan(X)
    count = known.sum(axis=0)
    cells = np.where(known, np.ldexp(X, exponent), 0.0)
    centre = cells.sum(axis=0) / np.maximum(count, 1)
    cells = np.where(known, cells - centre, 0.0)
    scale = np.sqrt((cells**2).sum(axis=0) / np.maximum(count, 1))
    varying = (count >= FEWEST_KNOWN) & (scale > 1e-12 * np.abs(centre))
    return FieldModel(exponent, centre, np.where(varying, scale, 1.0), varying, None)


def solve_field(
    X: Floats,
    graph: FieldGraph,
    *,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    rounds: int = ROUNDS,
    by_channel: bool = True,
    tick: Callable[[float], None] = lambda share: None,
) -> FilledField:
    """Fill the NaN of X, each channel informed by its neighbours and by the row's other channels.

    A missing cell of a channel that does not vary gets the channel's mean, 0 where nothing is
    known of it.
    """
    model, system, mean = learn_field(X, graph, seed, rounds, by_channel)
    tick(FITTING)
    return fill_learnt(X, model, system, mean, tolerance, lambda done: tick((1 - FITTING) * done))


def fill_learnt(
    X: Floats,
    model: FieldModel,
    system: FieldSystem,
    start: Floats | None,
    tolerance: float,
    tick: Callable[[float], None] = lambda share: None,
) -> FilledField:
    """Fill the NaN of X by a field learnt before (`start`: near their standardised mean)."""
    Z = model.standardised(X)
    if Z.size:
        Z = system.mean(Z, start, tolerance, tick)
    else:
        tick(1.0)
    return FilledField(model.fill(X, Z), system, model)


def field_bytes(missing: Mask, n_entries: int, tolerance: float = TOLERANCE) -> int:
    """About the most that filling a matrix by a field allocates, on a graph with these entries.

    The result and the standardised channels are among it, the matrix itself is not.
    """
    n, p = missing.shape
    part = min(n, MOST_NODES)
    entries, n_draws = n_entries * part // max(n, 1), draws_of(part)
    tables = 8 * part * p * (3 + 2 * n_draws)
    edges = 20 * min(max(MOST_CHANGES, NOISE_ENTRIES), entries * p) + 30 * entries
    lanczos = 8 * (STEPS + 8) * PROBES * part
    solved = _solve_bytes(missing[:part], 1 + n_draws, 1.0)
    fit = max(tables + edges, tables + solved, lanczos)
    solve = 8 * n * p + _solve_bytes(missing, 1, tolerance)
    return int(50 * n + 160 * p**2 + 8 * n * p + max(fit, solve))


def _solve_bytes(missing: Mask, n_vectors: int, tolerance: float) -> int:
    """Of one solve and its preconditioner."""
    n, p = missing.shape
    kind = 4 if missing.size > SINGLE_CELLS else 8
    exact = kind if tolerance >= COARSE else 8
    in_row = np.asarray(missing.sum(axis=1))
    alone = np.ones(n, dtype=bool)
    for rows in alike(missing, SHARED):
        alone[rows] = False
    blocks = min(kind * int((in_row[alone] ** 2).sum()), BLOCK_BYTES)
    vectors = n_vectors * 5 * exact * int(in_row.sum())
    return int(blocks + vectors + 16 * in_row.sum() + 2 * exact * n * p)
