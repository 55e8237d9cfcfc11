"""A matrix of float64 filled by a field: standardised, fitted, solved for its missing cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._field import BLOCK_BYTES, Coupling, FieldGraph, FieldSystem, Floats, Mask
from ._field_fit import MOST_NODES, ROUNDS, fit_field
from ._scaling import exponents

TOLERANCE = 0.02  # of a missing cell's standard deviation given all others
FITTING = 0.7  # of the progress
FEWEST_KNOWN = 2  # cells of a channel; with fewer it has no spread and is left at its mean
ORDINARY_BITS = 300  # numbers beyond 2^300 cannot be squared and added up: these are scaled first
# What a field has at once: arrays of the size of the channels; of the channels at each entry of a
# graph that is fitted whole, and otherwise of as many entries as noise is drawn for together.
ARRAYS, ENTRY_ARRAYS, NOISE_BYTES = 16, 4, 256 << 20


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
        at = self.varying
        return np.asarray(
            (np.ldexp(X[:, at], self.exponent[at]) - self.centre[at]) / self.scale[at]
        )

    def values(self, Z: Floats, missing: Mask) -> Floats:
        """The missing cells of all channels, 0 elsewhere, from their standardised mean."""
        out = np.broadcast_to(self.centre, missing.shape).copy()
        out[:, self.varying] += Z * self.scale[self.varying]
        most = np.ldexp(np.finfo(np.float64).max, np.minimum(self.exponent, 0))
        return np.where(missing, np.ldexp(np.clip(out, -most, most), -self.exponent), 0.0)


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
    exponent = exponents(X, ORDINARY_BITS)
    known = ~np.isnan(X)
    count = known.sum(axis=0)
    cells = np.where(known, np.ldexp(X, exponent), 0.0)
    centre = cells.sum(axis=0) / np.maximum(count, 1)
    cells = np.where(known, cells - centre, 0.0)
    scale = np.sqrt((cells**2).sum(axis=0) / np.maximum(count, 1))
    varying = (count >= FEWEST_KNOWN) & (scale > 1e-12 * np.abs(centre))
    scale = np.where(varying, scale, 1.0)
    model = FieldModel(exponent, centre, scale, varying, None)
    if not varying.any():
        return model, model.system(X, graph), None
    del cells, known
    system, mean = fit_field(model.standardised(X), graph, seed, rounds, by_channel)
    return FieldModel(exponent, centre, scale, varying, system.coupling), system, mean


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
    missing = np.isnan(X)
    Z = model.standardised(X)
    if Z.size:
        Z = system.mean(Z, start, tolerance, tick)
    else:
        tick(1.0)
    return FilledField(np.where(missing, model.values(Z, missing), X), system, model)


def field_bytes(missing: Mask, n_entries: int) -> int:
    """About the most that filling a matrix by a field allocates, on a graph with these entries."""
    n_nodes, n_channels = len(missing), len(missing.T)
    in_row = np.asarray(missing.sum(axis=1))
    blocks = 8 * int((in_row[in_row < n_channels] ** 2).sum())
    drawn = min(8 * ENTRY_ARRAYS * n_entries * n_channels, NOISE_BYTES)
    fitted = 8 * ENTRY_ARRAYS * (n_entries // 2) * n_channels if n_nodes <= MOST_NODES else drawn
    cells = 8 * ARRAYS * n_nodes * n_channels + 20 * n_entries
    return cells + max(drawn, fitted) + 2 * min(blocks, BLOCK_BYTES)
