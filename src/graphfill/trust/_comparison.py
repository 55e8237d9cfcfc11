"""The methods side by side on the held-out cells of one column, and the best blend of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ._blend import Blend, blend_weights, mix, quantiles
from ._column import FillableColumn, Floats, Rows, Target
from ._ranks import RankScale
from ._runs import Run
from ._scores import losses
from ._stack import Trees


@dataclass
class Column:
    """One column under comparison."""

    column: FillableColumn
    target: Target
    folds: list[Rows]

    @property
    def rows(self) -> Rows:
        return np.concatenate(self.folds)

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def parts(self) -> list[slice]:
        """Where each fold is among `rows`."""
        ends = np.cumsum([len(fold) for fold in self.folds]).tolist()
        starts = [0, *ends]
        return [slice(start, end) for start, end in zip(starts, ends, strict=False)]

    def scale(self, *hidden: int) -> RankScale:
        """Normal scores of the known cells, but for some folds of them."""
        known = self.target.known
        for number in hidden:
            known = np.setdiff1d(known, self.folds[number], assume_unique=True)
        return RankScale(self.target.levels[known])


class Comparison:
    """What each method predicts for the held-out and for the missing cells of one column."""

    def __init__(
        self, one: Column, methods: Sequence[str], singles: Sequence[Run], final: Run
    ) -> None:
        self.one = one
        n_classes = one.target.n_classes
        self.solved, self.singles, self.final = final.solved, singles, final
        self.grown: list[Trees] = []  # by fold, which they have not seen
        self.held_out: dict[str, Floats] = {}
        self.missing: dict[str, Floats] = {}
        self.blend: Blend | None = None
        for method in methods:
            parts = [
                run.at(method, one.name, fold, n_classes)
                for run, fold in zip(singles, one.folds, strict=True)
            ]
            self.held_out[method] = np.concatenate(parts)
            self.missing[method] = final.at(method, one.name, one.target.missing, n_classes)

    def add(self, method: str, held_out: Floats, missing: Floats) -> None:
        self.held_out[method], self.missing[method] = held_out, missing

    def costs(self) -> dict[str, Floats]:
        """The loss of each held-out cell, by method."""
        return {name: self._cost(held) for name, held in self.held_out.items()}

    def _cost(self, held_out: Floats) -> Floats:
        return losses(self.one.target, self.one.rows, held_out)

    def add_blend(self) -> None:
        """Add the best blend, unless it is one method alone."""
        truth = self.one.target.truth(self.one.rows)
        weights = blend_weights(self.held_out, truth)
        blends = [(Blend(weights), mix(self.held_out, weights), mix(self.missing, weights))]
        if not self.one.target.n_classes:
            blends = [*self._by_rank(), *blends]
        blends = [blend for blend in blends if len(blend[0].weights) > 1]
        if blends:
            costs = [self._cost(held) for _, held, _ in blends]
            self.blend, *cells = blends[clearly_best(costs)]
            self.add("blend", *cells)

    def _by_rank(self) -> list[tuple[Blend, Floats, Floats]]:
        """Blends of normal scores: what they are, their held-out and their missing cells.

        The scale of a held-out cell is that of the other folds.
        """
        one = self.one
        scales = [one.scale(number) for number in range(len(one.folds))]
        by_fold = list(zip(scales, one.parts, strict=True))

        def scores(cells: Floats) -> Floats:
            return np.concatenate([scale.scores(cells[part]) for scale, part in by_fold])

        truth = scores(one.target.truth(one.rows))
        held = {name: scores(cells) for name, cells in self.held_out.items()}
        weights = blend_weights(held, truth)
        error = truth - mix(held, weights)
        blends = []
        for steps in (lambda errors: (0.0,), quantiles):
            parts = [
                Blend(weights, steps(np.delete(error, part))).of(
                    {name: self.held_out[name][part] for name in weights}, scale
                )
                for scale, part in by_fold
            ]
            blend = Blend(weights, steps(error))
            blends.append((blend, np.concatenate(parts), blend.of(self.missing, one.scale())))
        return blends


def clearly_best(costs: Sequence[Floats]) -> int:
    """The first, unless the mean cost of a later one is lower by more than its standard error.

    Examples
    --------
    >>> clearly_best([np.array([1.0, 2.0]), np.array([2.0, 0.9]), np.array([0.5, 1.5])])
    2
    """
    best = 0
    for number in range(1, len(costs)):
        gain = costs[best] - costs[number]
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best = number
    return best
