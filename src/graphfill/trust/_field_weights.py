r"""How much known cells of all columns count in a cell that a field filled.

A field fills a standardised cell with a sum of standardised known ones, :math:`z = \sum_k w_k z_k`
(`field_weights`), of all columns and rows. A category is several channels: the weight of a
cell is then the standard deviation of what its channels w contribute, sqrt(w' R w) with R the
correlations of the channels, which is the size of w where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from ..solve import FieldGraph, FieldModel, FieldSystem, field_weights
from ._column import FillableColumn, Floats, Rows
from ._runs import FieldBlock, field_channels

TOLERANCE = 1e-6  # of weights, relative: they are right to about that
PROBE_TOLERANCE = 1e-3  # of a missing cell's standard deviation given all others


class FieldWeights:
    """The equations by which a field filled a block of columns, made when first asked for."""

    def __init__(self, block: FieldBlock, model: FieldModel, graph: FieldGraph) -> None:
        self.block, self.model, self.graph = block, model, graph
        place = np.cumsum(model.varying) - 1
        self._channels: dict[str, Rows] = {}  # of each column, those that vary
        for name, at in block.places.items():
            own = np.arange(at.start, at.stop)
            self._channels[name] = place[own[model.varying[own]]].astype(np.intp)

    @cached_property
    def _equations(self) -> tuple[FieldSystem, Floats]:
        X = self.block.encode(self.graph.n_nodes)
        return self.model.system(X, self.graph), np.nan_to_num(self.model.standardised(X))

    def factors(self, name: str, chosen: int | None) -> Floats:
        """A column, or the chosen one of its classes, as a sum of its channels with variance 1."""
        column, at = self.block.columns[name], self._channels[name]
        if chosen is None or not len(at):
            return np.ones(len(at))
        own = np.flatnonzero(column.parent_classes == chosen)
        slopes = class_slopes(column)[:, own].sum(axis=1)
        vary = self.model.varying[self.block.places[name]]
        factors = slopes[vary] * self.model.scale[self.block.places[name]][vary]
        variance = factors @ self._correlations(name) @ factors
        return np.asarray(factors / np.sqrt(variance)) if variance > 0 else factors

    def relay(self, name: str, cells: Floats) -> Floats:
        """The sum of a column's channels, with variance 1, that speaks for some filled channels."""
        at, vary = self.block.places[name], self.model.varying[self.block.places[name]]
        if not self.block.columns[name].n_classes:
            return np.ones(int(vary.sum()))
        z = ((cells - self.model.centre[at]) / self.model.scale[at])[vary]
        variance = z @ self._correlations(name) @ z
        return np.asarray(z / np.sqrt(variance)) if variance > 0 else z

    def _correlations(self, name: str) -> Floats:
        Z = self._known(name)
        return np.asarray(Z.T @ Z / max(1, len(Z)))

    def _known(self, name: str) -> Floats:
        """[known, channels] of a column."""
        Z = self._equations[1][: self.block.n_rows]
        return np.asarray(Z[np.ix_(~self.block.columns[name].missing, self._channels[name])])

    def of(
        self, row: int, sums: Mapping[str, Floats], own: str, target: Floats
    ) -> dict[str, tuple[Rows, Floats]]:
        """By column, rows of known cells and how much they count in a sum of one row's channels.

        Weights are negative where a cell speaks against: a number that is higher where the target
        is lower, a class that makes it lower. Of its own column (`own`, whose channels make up the
        `target`) that is one which would not pass its value on.
        """
        system = self._equations[0]
        factors = np.zeros(system.missing.shape[1])
        for name, some in sums.items():
            factors[self._channels[name]] += some
        nodes, W = field_weights(system, row, factors, TOLERANCE)
        W, nodes = W[nodes < self.block.n_rows], nodes[nodes < self.block.n_rows]
        found = {}
        for name, at in self._channels.items():
            known = ~self.block.columns[name].missing[nodes]
            rows, part = nodes[known], W[np.ix_(known, at)]
            if not self.block.columns[name].n_classes and len(at):
                found[name] = rows, part[:, 0]
            elif len(at):
                R = self._correlations(name)
                size = np.sqrt(np.maximum(0.0, np.einsum("ij,ij->i", part @ R, part)))
                cells = self._equations[1][np.ix_(rows, at)]
                speaks = part @ (R @ target) if name == own else (part * cells).sum(axis=1)
                found[name] = rows, np.where(speaks < 0, -size, size)
        return found

    def probes(self, name: str, target: Floats, signs: Floats) -> Floats:
        """[missing, probes]: the cells of a column, its known ones +1 or -1 and all others 0."""
        system, column, at = self._equations[0], self.block.columns[name], self._channels[name]
        R, out = self._correlations(name), []
        for probe in signs.T:
            Z = np.zeros(system.missing.shape)
            Z[np.ix_(np.flatnonzero(~column.missing), at)] = probe[:, None] * (R @ target)
            filled = system.mean(Z, None, PROBE_TOLERANCE)
            out.append(filled[np.ix_(np.flatnonzero(column.missing), at)] @ target)
        return np.column_stack(out)


def class_slopes(column: FillableColumn) -> Floats:
    """[channels of a field, classes]: by how much each raises the probability of a class."""
    n_channels, seen = column.n_channels, field_channels(column)
    cells = np.zeros((len(seen), n_channels))
    cells[np.arange(len(seen)), list(seen)] = 1.0
    if n_channels > 1:
        cells[:, 0] = -1.0  # the first class has what the others leave
    channels = range(n_channels)
    return column.predicted(channels, cells) - column.predicted(channels, 0 * cells)
