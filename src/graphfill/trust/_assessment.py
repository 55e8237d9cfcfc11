"""How well a method fills each column, seen on known cells held out.

The known cells of a column are cut into folds. Each fold is filled with all of it hidden, through
the call that fills the table, so that a cell's own value has no part in its prediction. Methods
that look at all columns at once are compared in `_auto`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ._alike_cells import Alike
from ._blend import Blend
from ._channels import Recipe, Solve, Solved, fill_channels
from ._column import FillableColumn, Floats, Mask, Recorded, Rows, Target, mask_of
from ._features import CellFeatures, cell_features
from ._folds import draw_folds, number_of
from ._options import FillOptions
from ._scores import score

if TYPE_CHECKING:
    from ._sources import Sources

FEWEST_KNOWN = 50  # with fewer, nothing is held out and the graph is relied on
FEWEST_TOGETHER = 20  # the same where all columns are compared at once
FEW_KNOWN = 2000
MOST_CLASSES = 400  # beyond, a column is neither learnt nor learnt from


@dataclass
class Assessment:
    """What was found out about one column.

    Attributes
    ----------
    target : Target
    unit : float
        What one level is worth in the column's own units.
    chosen, why : the method, and a clause
    scores : per method, on held-out cells
    folds : the rows of each fold
    held_out : [known, width], fold after fold: predictions by the chosen method
    known_features, missing_features : of the held-out and of the missing cells, where wanted
    learnt : [missing, width] by learner: what it predicts
    row_errors : [known] or None
        Truth less what a straight line through the row's other columns says, for bounds of cells
        out of the graph's reach.
    row_speaks : [missing] or None; whether half of a row's other columns are known
    solved : how far the propagation behind the learners' features converged
    blend : how the predictions are blended, if they are
    sources : what learners made of the table, to explain its cells; None where that is too large
    alike : known cells hidden as the missing ones lie, where these lie in other rows; for bounds
    spread : how unsure a field is of the held-out and of the missing cells of numbers; for bounds
    completed : names of columns of numbers, and [rows, columns] of these as a field completes them,
        from the run that held out each fold and from the last one; for draws
    """

    target: Target
    unit: float
    chosen: str
    why: str
    scores: list[dict[str, Any]]
    folds: list[Rows]
    held_out: Floats
    known_features: list[CellFeatures] = field(default_factory=list, repr=False)
    missing_features: CellFeatures | None = field(default=None, repr=False)
    learnt: dict[str, Floats] = field(default_factory=dict, repr=False)
    solved: Solved = field(default_factory=Solved, repr=False)
    row_errors: Floats | None = field(default=None, repr=False)
    row_speaks: Mask | None = field(default=None, repr=False)
    blend: Blend | None = None
    alike: Alike | None = field(default=None, repr=False)
    spread: tuple[Floats, Floats] | None = field(default=None, repr=False)
    completed: tuple[list[str], list[Floats]] | None = field(default=None, repr=False)
    sources: Sources | None = field(default=None, repr=False)

    @property
    def parts(self) -> dict[str, float]:
        """Of a blend, the weight of each method."""
        return {} if self.blend is None else self.blend.weights

    @property
    def n_held_out(self) -> int:
        return len(self.held_out)

    @property
    def explained(self) -> float:
        """Share of the held-out variance explained, or of the most frequent value's mistakes."""
        scores = {score["method"]: score for score in self.scores}
        chosen, plain = scores[self.chosen], scores.get("mean", {"accuracy": 0.0})
        if "r2" in chosen:
            return float(chosen["r2"])
        wrong = 1.0 - plain["accuracy"]
        return float((chosen["accuracy"] - plain["accuracy"]) / wrong) if wrong else 0.0

    @property
    def rows(self) -> Rows:
        """The held-out cells, fold after fold."""
        return np.concatenate(self.folds)

    @property
    def fold_numbers(self) -> NDArray[np.intp]:
        """The fold of each of them."""
        return np.repeat(np.arange(len(self.folds)), [len(fold) for fold in self.folds])


def assess(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    informative: Mapping[str, bool],
    options: FillOptions,
    solve: Solve,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Assessment]:
    """Score a method beside the mean, and beside the neighbours where they agree in a column.

    Parameters
    ----------
    columns : all columns of the table that have channels, by name
    wanted : those to assess; one with fewer than `FEWEST_KNOWN` known cells is left out
    informative : by column, whether neighbours agree in it
    """
    recipes = options.recipes(solve)
    assessments = {}
    for name in wanted:
        column, target = columns[name], Target.of(columns[name])
        if len(target.known) >= FEWEST_KNOWN:
            scored = {
                method: recipe
                for method, recipe in recipes.items()
                if method in ("mean", options.method) or informative[name]
            }
            assessments[name] = _assess_column(column, target, graph, scored, options)
        progress(1.0 / len(wanted))
    return assessments


def _assess_column(
    column: FillableColumn,
    target: Target,
    graph: Graph,
    recipes: Mapping[str, Recipe],
    options: FillOptions,
) -> Assessment:
    key = [options.seed, 6, number_of(column.name)]
    folds = draw_folds(target.known, n_folds(len(target.known)), key, options.together)
    rows = np.concatenate(folds)
    held_out = {name: _filled(column, folds, graph, recipe) for name, recipe in recipes.items()}
    known: list[CellFeatures] = []
    missing = None
    solved = Solved()
    if options.intervals is not None:
        recipe = options.recipes()["propagation"]
        known, missing = surroundings(target, graph, recipe, folds, solved)
    chosen = str(options.method)
    return Assessment(
        target,
        column.unit,
        chosen,
        "as asked for",
        [{"method": m} | score(target, rows, p, column.unit) for m, p in held_out.items()],
        folds,
        held_out[chosen],
        known,
        missing,
        {},
        solved,
    )


def surroundings(
    target: Target, graph: Graph, recipe: Recipe, folds: Sequence[Rows], solved: Solved
) -> tuple[list[CellFeatures], CellFeatures]:
    """What the graph knows around the held-out cells of each fold, and around the missing ones."""
    nothing = np.empty(0, dtype=np.intp)
    *known, missing = cell_features(
        target, graph, recipe, [*folds, nothing], [*folds, target.missing], solved
    )
    return known, missing


def _filled(column: FillableColumn, folds: Sequence[Rows], graph: Graph, recipe: Recipe) -> Floats:
    """Each fold filled with all of it hidden, by the call that fills the table."""
    n_rows = len(column.missing)
    hidden = [Recorded(column.hide(mask_of(fold, n_rows))) for fold in folds]
    fill_channels(hidden, graph, recipe)
    predicted = [one.at(fold, column.n_classes) for one, fold in zip(hidden, folds, strict=True)]
    return np.concatenate(predicted)


def n_folds(n_known: int) -> int:
    """More folds where there are few cells, so that little is hidden at a time."""
    return 10 if n_known < FEW_KNOWN else 5
