r"""Several completions of a table, as different from each other as the truth may be from the fill.

A drawn number is what was filled plus an error, by value or by rank (`_draw_scales`). The coupled
field (`_deviates`) says which errors go together: it draws deviations of all missing cells at
once, so that cells of one row and of neighbours err together; with z such a deviation over its
standard deviation, the error is

.. math:: s \, F^{-1}(\Phi(z))

How large it is, held-out cells say: s is an estimate of how far off predictions like the cell's
are (`error_scale`), and F the distribution of the held-out errors over theirs, as for intervals.
Part of the error is common to all cells, as the fill was fitted to finitely many: see `FitError`.

A class is drawn by its predicted probability; of two classes with the field's deviation in the
place of a random number, of more than two independently.

Without held-out cells (too few known ones), a number deviates as a known cell does from the mean
of all known ones. A cell that nothing spoke for gets the value of a known cell, drawn at random.
A column of so many classes that their probabilities are not kept is in every draw as it was filled.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..graph import Graph
from ._assessment import Assessment
from ._column import FillableColumn, Floats, Mask, Rows, Target
from ._deviates import Deviates
from ._draw_scales import ValueScale, error_scale, scale_of
from ._folds import number_of
from ._options import FillOptions
from ._ranks import RankScale
from ._selection import ColumnFill
from ._weights import ranked

POWERS = np.geomspace(0.25, 4.0, 17)  # of predicted probabilities


class Draws:
    """Completions of the missing cells of columns that have been filled."""

    def __init__(
        self,
        columns: Mapping[str, FillableColumn],
        fills: Mapping[str, ColumnFill],
        graph: Graph,
        options: FillOptions,
    ) -> None:
        self.seed = options.seed
        scales = {name: scale_of(column, fills.get(name)) for name, column in columns.items()
                  if not column.n_classes}  # fmt: skip
        self.deviates = Deviates(columns, scales, graph, options)
        self.columns: dict[str, DrawnNumber | DrawnClass] = {}
        in_field = self.deviates.names()
        for name in sorted(fills, key=str):
            fill, column = fills[name], columns[name]
            if fill.predictions is None:  # classes beyond counting
                continue
            if column.n_classes:
                self.columns[name] = DrawnClass(column, fill, name in in_field)
            else:
                self.columns[name] = DrawnNumber(column, fill, scales)

    def draw(self, number: int) -> dict[str, Floats]:
        """By column, [missing, width]: levels, or 1 at the class that was drawn."""
        deviations = self.deviates.draw([3, number])
        drawn = {}
        for name, column in self.columns.items():
            rng = np.random.default_rng([self.seed, 12, number_of(name), number])
            uniform = rng.random(len(column.rows))
            independent = isinstance(column, DrawnClass) and not column.two
            if name in deviations and not independent:
                uniform = self.deviates.uniform(name, deviations[name], column.rows)
            drawn[name] = column.draw(uniform, rng)
        return drawn


class DrawnNumber:
    """A column of numbers to draw."""

    def __init__(
        self,
        column: FillableColumn,
        fill: ColumnFill,
        scales: Mapping[str, ValueScale | RankScale],
    ) -> None:
        target, scale = Target.of(column), scales[column.name]
        self.known, self.rows, self.scale = target.levels[target.known], target.missing, scale
        assert fill.predictions is not None
        self.centre = scale.scores(fill.predictions[:, 0])
        self.unreached = _unreached(fill, self.rows)
        errors = scale.scores(self.known) - scale.scores(self.known).mean()
        weight, self.size = np.ones(len(errors)), np.ones(len(self.rows))
        self.fit: FitError | None = None
        one = fill.assessment
        if one is not None:
            predicted = scale.scores(one.held_out[:, 0])
            errors = scale.scores(target.levels[one.rows]) - predicted
            held_out, missing = (_rows_seen(column.name, one, scales, at) for at in (False, True))
            on_held_out, on_missing = straight_error(held_out, errors, missing)
            predicted, self.centre = predicted + on_held_out, self.centre + on_missing
            errors = errors - on_held_out
            size, self.size, weight = error_scale(one, errors, predicted, self.centre)
            errors = errors / size
            self.fit = FitError(held_out, errors, missing)
        self.errors, self.shares = ranked(errors, weight)

    def draw(self, uniform: Floats, rng: np.random.Generator) -> Floats:
        """[missing, 1], in levels, from a number between 0 and 1 for each cell."""
        off = np.interp(uniform, self.shares, self.errors)
        if self.fit is not None:
            off = self.fit.spread(off, rng)
        levels = self.scale.values(self.centre + self.size * off)
        levels = np.clip(levels, self.known.min(), self.known.max())
        levels[self.unreached] = rng.choice(self.known, np.count_nonzero(self.unreached))
        return levels[:, None]


def _rows_seen(
    own: str, one: Assessment, scales: Mapping[str, ValueScale | RankScale], missing: bool
) -> Floats:
    """1 and the row's other columns of numbers, standardised, as they were when it was predicted.

    [cells, 1 + columns], of held-out or of missing cells.
    """
    n = len(one.target.missing if missing else one.rows)
    if one.completed is None:
        return np.ones((n, 1))
    names, (*runs, final) = one.completed
    parts = [(final, one.target.missing)] if missing else [*zip(runs, one.folds, strict=True)]
    X = np.concatenate([run[rows] for run, rows in parts])
    Z = [np.ones(n)]
    for place, name in enumerate(names):
        usual = scales[name].scores(final[:, place])
        if name != own and np.ptp(usual) > 0:
            Z.append((scales[name].scores(X[:, place]) - usual.mean()) / usual.std())
    return np.column_stack(Z)


def straight_error(held_out: Floats, errors: Floats, missing: Floats) -> tuple[Floats, Floats]:
    """The part of errors that is a straight line in the row's other columns; of missing cells too.

    What fills best on the scale of ranks, or is drawn towards the mean, leaves such a part, and a
    regression on completed tables would not find the line again. It is shrunk by how much of it
    chance alone would make.

    Examples
    --------
    >>> x = np.column_stack([np.ones(100), np.tile([-1.0, 1.0], 50)])
    >>> straight_error(x, 0.5 * x[:, 1], x[:2])[1].round(1)
    array([-0.5,  0.5])
    """
    n, p = held_out.shape
    b = np.linalg.solve(held_out.T @ held_out + np.eye(p), held_out.T @ errors)
    line = held_out @ b
    noise = float(np.mean((errors - line) ** 2)) * n / max(1, n - p)
    kept = max(0.0, 1.0 - p * noise / max(float(line @ line), 1e-300))
    return kept * line, kept * (missing @ b)


class FitError:
    """How wrong the fill may be for all cells together, since it was fitted to finitely many.

    An error that is a straight line X b in the row's other channels, as least squares would make
    it on the held-out rows: with C = (X'X + p I)^-1 (the p made-up observations that the field's
    fit has too) and their residuals r, in units of their size, each times a normal number of its
    own (a wild bootstrap), b = C X'(r z). Residuals hold this error already, so that the rest of a
    cell's deviation is made smaller by sqrt(1 - h), with h its share of their variance.
    """

    def __init__(self, held_out: Floats, residuals: Floats, missing: Floats) -> None:
        X, self.X = held_out, missing
        C = np.linalg.inv(X.T @ X + X.shape[1] * np.eye(X.shape[1]))
        self.errors = (X * residuals[:, None]) @ C
        share = (self.X @ (self.errors.T @ self.errors) * self.X).sum(axis=1)
        share /= max(float(np.var(residuals)), 1e-300)
        self.rest = np.sqrt(np.clip(1.0 - share, 0.25, 1.0))

    def spread(self, off: Floats, rng: np.random.Generator) -> Floats:
        """The deviations with a draw of the common error."""
        b = rng.standard_normal(len(self.errors)) @ self.errors
        return np.asarray(self.rest * off + self.X @ b)


class DrawnClass:
    """A column of classes to draw.

    Predicted probabilities are raised to the power that makes held-out classes most probable.
    """

    def __init__(self, column: FillableColumn, fill: ColumnFill, in_field: bool) -> None:
        target = Target.of(column)
        self.rows, self.two = target.missing, target.n_classes == 2 and in_field
        assert fill.predictions is not None
        self.chances = as_chances(fill.predictions, 1.0)
        if fill.assessment is not None:
            power = best_power(fill.assessment.held_out, target.truth(fill.assessment.rows))
            self.chances = as_chances(fill.predictions, power)
        share = target.truth(target.known).mean(axis=0)
        self.chances[_unreached(fill, self.rows)] = share
        if self.two:  # the class that a positive deviation speaks for comes last
            channel = np.empty((len(target.levels), 1))
            first = 0 if column.n_channels == 1 else 1
            column.encode(range(first, first + 1), channel)
            last = int(target.levels[np.nanargmax(channel[:, 0])])
            self.order = np.array([1 - last, last])
        else:
            self.order = np.arange(target.n_classes)

    def draw(self, uniform: Floats, rng: np.random.Generator) -> Floats:
        """[missing, classes], from a number between 0 and 1 for each cell."""
        below = np.cumsum(self.chances[:, self.order], axis=1)[:, :-1]
        drawn = self.order[(uniform[:, None] > below).sum(axis=1)]
        return np.asarray(drawn[:, None] == np.arange(len(self.order)), np.float64)


def _unreached(fill: ColumnFill, rows: Rows) -> Mask:
    """Missing cells that nothing spoke for; a learner has the row's other columns."""
    return np.asarray(fill.unreached[rows] & (not fill.by_learner))


def as_chances(predicted: Floats, power: float) -> Floats:
    """Predicted probabilities to a power, summing to 1."""
    raised = np.clip(predicted, 1e-4, 1.0) ** power
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def best_power(predicted: Floats, truth: Floats) -> float:
    """The power of predicted probabilities under which what is true is most probable."""
    loss = [-np.log((as_chances(predicted, power) * truth).sum(axis=1)).sum() for power in POWERS]
    return float(POWERS[int(np.argmin(loss))])
