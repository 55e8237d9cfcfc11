"""Known cells that were hidden as the missing ones of a column lie, and what tells them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._column import Floats, Mask, Rows
from ._features import CellFeatures
from ._weights import importance


@dataclass(frozen=True)
class RowView:
    """What tells cells of a column apart, other than what the graph knows of the column itself.

    Attributes
    ----------
    around : [cells, 3]
        Links and size of the component, as logarithms; share of the row's other columns known.
    others : [cells, channels]
        The row's other columns, as the run completed them.
    """

    around: Floats
    others: Floats


@dataclass(frozen=True)
class AlikeCells:
    """Known cells of a column that one run hid as the missing ones lie.

    Attributes
    ----------
    folds : the fold of each cell, among those held out at random
    pieces : the piece of the graph that each was hidden in; errors in one piece are alike
    predicted : [cells, width]
    spread : how unsure a field is of each
    """

    rows: Rows
    folds: Rows
    pieces: Rows
    predicted: Floats
    features: CellFeatures
    view: RowView
    spread: Floats


@dataclass(frozen=True)
class Alike:
    """What is known of a column whose missing cells lie in other rows than its known ones.

    Attributes
    ----------
    held_out, missing : of the cells held out at random, and of the missing ones
    cells : by run
    """

    held_out: RowView
    missing: RowView
    cells: list[AlikeCells]

    def weights(self, known: Floats, missing: Floats, unreached: Mask | None) -> Floats:
        """Of the held-out and the alike cells, which have features `known`; see `_weights`."""
        views = [self.held_out, *(part.view for part in self.cells)]
        parts = [np.column_stack([view.around[:, :2], view.others]) for view in views]
        X = np.column_stack([known, np.concatenate(parts)])
        Y = np.column_stack([missing, self.missing.around[:, :2], self.missing.others])
        return importance(X, Y if unreached is None or unreached.all() else Y[~unreached])
