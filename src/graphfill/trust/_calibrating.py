"""The known cells that intervals are made from, with weights, and what they say about coverage.

These are the cells held out at random and, where missing cells lie in other rows than known ones,
cells that were hidden as the missing ones lie (`_alike`), weighted to be like these (`_weights`);
otherwise weighted so that a field is as unsure of them as of the missing ones (`_spreads`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ._assessment import Assessment
from ._column import Floats, Mask, Rows
from ._features import CellFeatures
from ._ranks import RankScale
from ._weights import effective, importance, quantile, tempered

FEWEST_ALIKE = 30  # effective cells hidden as the missing ones lie
MOST_STRETCHED = 3.0


@dataclass(frozen=True)
class Calibrating:
    """Cells whose truth is known: those held out at random first, then those hidden alike.

    Attributes
    ----------
    parts : cells, and those that intervals for them are made of, which share no row with them
    pieces : of cells hidden alike, the piece of the graph; -1 of others
    weight : for quantiles, with enough effective cells
    honest : as like the missing ones as can be, for the estimate of coverage
    truth : of the cells held out at random
    spread : how unsure a field is of the cells, and of the missing ones
    """

    error: Floats
    parts: list[tuple[Mask, Mask]]
    pieces: Rows
    features: list[CellFeatures]
    known: Floats
    asked: Floats
    weight: Floats
    honest: Floats
    truth: Floats
    spread: tuple[Floats, Floats] | None = None

    @property
    def alike(self) -> Mask:
        return self.pieces >= 0

    def stretch(self, ratio: Floats, level: float, some: Mask) -> float:
        """By which to widen intervals, so that they hold for cells in pieces without any known.

        Within a piece errors are alike, so that quantiles of other pieces do not fit: `ratio` of
        the cells of each piece comes from the others, and its quantile is the factor, from 1 on.
        """
        if effective(self.weight[some]) < FEWEST_ALIKE:
            return 1.0
        found = quantile(ratio[some], level, self.weight[some])
        return float(np.clip(found, 1.0, MOST_STRETCHED))

    def inside(self, ratio: Floats, level: float) -> Mask:
        """Whether cells lie within, those of a piece with the factor that other pieces say."""
        within = ratio <= self.stretch(ratio, level, self.alike)
        for piece in np.unique(self.pieces[self.alike]):
            here = self.pieces == piece
            within[here] = ratio[here] <= self.stretch(ratio, level, self.alike & ~here)
        return np.asarray(within)

    def share(self, within: Mask) -> float:
        """Of the cells that are most like the missing ones."""
        some = self.alike if effective(self.honest[self.alike]) >= FEWEST_ALIKE else self.honest > 0
        return float(np.average(within[some], weights=self.honest[some]))


def calibrating(assessment: Assessment, filled: Floats, unreached: Mask | None) -> Calibrating:
    alike, levels = assessment.alike, assessment.target.levels
    more = [] if alike is None else alike.cells
    predicted = np.concatenate([assessment.held_out, *(part.predicted for part in more)])
    rows = np.concatenate([assessment.rows, *(part.rows for part in more)])
    fold = np.concatenate([assessment.fold_numbers, *(part.folds for part in more)])
    at_random = np.arange(len(rows)) < len(assessment.rows)
    pieces = np.full(len(rows), -1, dtype=np.intp)
    parts = [(at_random & (fold == k), fold != k) for k in range(len(assessment.folds))]
    features = [*assessment.known_features, *(part.features for part in more)]
    usual = assessment.held_out[:, 0]
    assert assessment.missing_features is not None
    known = _features(features, predicted, usual)
    asked = _features([assessment.missing_features], filled, usual)
    spread = assessment.spread
    if spread is not None:
        spread = np.concatenate([spread[0], *(part.spread for part in more)]), spread[1]
        known = np.column_stack([known, np.log(spread[0])])
        asked = np.column_stack([asked, np.log(spread[1])])
    w = honest = np.ones(len(rows))
    if spread is not None and alike is None:
        reached = np.ones(len(asked), bool) if unreached is None else ~unreached
        w = honest = importance(known[:, -1:], asked[reached, -1:])
        w = tempered(w)
    if alike is not None:
        pieces[~at_random] = np.concatenate([part.pieces for part in more])
        for piece in np.unique(pieces[~at_random]):
            here = pieces == piece
            parts.append((here, ~np.isin(rows, rows[here])))
        around = np.concatenate([alike.held_out.around, *(part.view.around for part in more)])
        known = np.column_stack([known, around[:, 2]])
        asked = np.column_stack([asked, alike.missing.around[:, 2]])
        honest = alike.weights(known, asked, unreached)
        w = tempered(honest)
    error, truth = levels[rows] - predicted[:, 0], levels[assessment.rows]
    return Calibrating(error, parts, pieces, features, known, asked, w, honest, truth, spread)


def _features(parts: Sequence[CellFeatures], predicted: Floats, usual: Floats) -> Floats:
    """What tells how far off a prediction is: itself, its surroundings, and what others say.

    `usual` are predictions of held-out cells: a prediction is placed among them, and other
    distances measured in how far these lie apart.
    """
    propagated = np.concatenate([part.propagated for part in parts])
    around = np.concatenate([part.surroundings for part in parts])
    neighbours = np.concatenate([part.neighbours for part in parts])
    value, unit = predicted[:, 0], 0.05 * float(usual.std()) or 1.0
    place = RankScale(usual).scores(value)
    off = [np.log1p(np.abs(other - value) / unit) for other in (propagated, neighbours)]
    known, differ = np.log1p(around[:, 0]), np.log1p(around[:, 1] / unit)
    return np.column_stack([place, np.abs(place), known, around[:, 0], differ, around[:, 2], *off])
