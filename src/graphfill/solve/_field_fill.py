"""A matrix filled by a field: standardised, fitted, solved for its missing cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._field import FieldGraph, FieldSystem, Floats, Mask
from ._field_fit import ROUNDS, fit_field

TOLERANCE = 0.02  # of a missing cell's standard deviation given all others
FITTING = 0.7  # of the progress
FEWEST_KNOWN = 2  # cells of a channel; with fewer it has no spread and is left at its mean


@dataclass
class FilledField:
    """A filled matrix, and what it was filled by.

    Attributes
    ----------
    X : [nodes, channels]
        Known cells as they were.
    system : the equations of the channels that vary
    centre, scale : [channels] each; channel = centre + scale * standardised
    varying : which channels vary; all others have their missing cells at the mean
    """

    X: Floats
    system: FieldSystem
    centre: Floats
    scale: Floats
    varying: Mask

    @property
    def standardised(self) -> Floats:
        return (self.X - self.centre) / self.scale


def fill_field(
    X: Floats,
    graph: FieldGraph,
    *,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    rounds: int = ROUNDS,
    tick: Callable[[float], None] = lambda share: None,
) -> FilledField:
    """Fill the NaN of X, each channel informed by its neighbours and by the row's other channels.

    A missing cell of a channel that does not vary gets the channel's mean, 0 where nothing is
    known of it.
    """
    known = ~np.isnan(X)
    count = known.sum(axis=0)
    cells = np.where(known, X, 0.0)
    centre = cells.sum(axis=0) / np.maximum(count, 1)
    scale = np.sqrt((np.where(known, X - centre, 0.0) ** 2).sum(axis=0) / np.maximum(count, 1))
    varying = (count >= FEWEST_KNOWN) & (scale > 1e-12 * np.abs(centre))
    scale = np.where(varying, scale, 1.0)
    filled = np.where(known, X, centre)
    Z = (X[:, varying] - centre[varying]) / scale[varying]
    if varying.any():
        system, mean = fit_field(Z, graph, seed, rounds)
        tick(FITTING)
        mean = system.mean(Z, mean, tolerance, lambda share: tick((1.0 - FITTING) * share))
        back = mean * scale[varying] + centre[varying]
        filled[:, varying] = np.where(known[:, varying], X[:, varying], back)
    else:
        system = FieldSystem(graph, np.isnan(Z))
        tick(1.0)
    return FilledField(filled, system, centre, scale, varying)
