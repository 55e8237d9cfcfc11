r"""How far to rely on the graph: fitted per column on known cells that were held out.

A propagated value p (measured from the column's mean) is not shrunk: where neighbours agree
little, it is farther from the truth t than the mean is. The reliance c that minimises
sum (t - c p)^2 over held-out cells is

.. math:: c = \sum t p / \sum p^2

Its standard error is taken off, so that noise is not relied upon, and it is kept within [0, 1]:
1 is what the graph says, 0 the column's mean (or most frequent value).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..table._columns import Column
from ._folds import number_of

SHARE = 0.2  # of the known cells that is held out
FEWEST = 20  # with fewer cells held out there is nothing to fit: the graph is relied on fully


@dataclass
class HeldOut:
    """Known cells of one column that were hidden, and how well they were filled.

    Channels of a category come in turn: sums over them are kept per cell.
    """

    rows: NDArray[np.intp]
    agreed: NDArray[np.float64] = field(init=False)  # sum over channels of t p
    said: NDArray[np.float64] = field(init=False)  # of p^2
    true: NDArray[np.float64] = field(init=False)  # of t^2

    def __post_init__(self) -> None:
        self.agreed, self.said, self.true = (np.zeros(len(self.rows)) for _ in range(3))

    def take(self, truth: NDArray[np.floating], filled: NDArray[np.floating]) -> None:
        """Some channels of the held-out cells: [cells, channels], truth and what was filled in."""
        self.agreed += (truth * filled).sum(axis=1)
        self.said += (filled**2).sum(axis=1)
        self.true += (truth**2).sum(axis=1)

    @property
    def reliance(self) -> float:
        """Between 0, the column's mean, and 1, what the graph says."""
        total = float(self.said.sum())
        if total == 0.0:
            return 0.0
        slope = float(self.agreed.sum()) / total
        error = float(np.sqrt(np.sum((self.agreed - slope * self.said) ** 2))) / total
        return float(np.clip(slope - error, 0.0, 1.0))

    @property
    def explained(self) -> float:
        """Share of the held-out cells' variance that the fill explains, 0 for the mean."""
        total = float(self.true.sum())
        if total == 0.0:
            return 0.0
        c = self.reliance
        return float((2 * c * self.agreed.sum() - c**2 * self.said.sum()) / total)


def hold_out(columns: Sequence[Column], seed: int) -> dict[str, HeldOut]:
    """Draw the cells to hold out of each column that has enough of them."""
    held = {}
    for column in columns:
        known = np.flatnonzero(~column.missing)
        size = int(SHARE * len(known))
        if size >= FEWEST:
            rng = np.random.default_rng([seed, 3, number_of(column.name)])
            held[column.name] = HeldOut(np.sort(rng.choice(known, size, replace=False)))
    return held
