"""What the runs gave and what the paper printed, and how near to it ours should come.

Rossi et al., "On the Unreasonable Effectiveness of Feature Propagation in Learning on Graphs
with Missing Node Features". Accuracies are percent at the best validation epoch.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from importlib import resources
from statistics import median
from typing import Any, Literal, NamedTuple

from .._problem import CATALOGUE
from .._runs import Run
from .._table import Difference, Estimate, Published
from .experiments import FORMS, PAPER, SETS, TABLE_1_RATES, WORST, Scope, cell

Row = Mapping[str, Any]
TITLES = CATALOGUE["titles"]  # of sets and methods
_PRINTED = json.loads(resources.files(__package__).joinpath("published.json").read_text("utf-8"))
# Of Feature Propagation under a GCN, by the share of cells missing.
TABLE_1: dict[str, dict[float, Published]] = {
    name: dict(zip((0.0, *TABLE_1_RATES), map(Published, means), strict=True))
    for name, means in _PRINTED["table 1"].items()
}
# With 99 % of the cells missing; "OOM" is the paper's word for out of memory.
TABLE_2: dict[str, dict[str, Published | Literal["OOM"]]] = {
    name: {
        method: "OOM" if figure == "OOM" else Published(*figure) for method, figure in row.items()
    }
    for name, row in _PRINTED["table 2"].items()
}


def of_rate(rate: float) -> str:
    """A share as percent.

    >>> of_rate(0.995), of_rate(0.5)
    ('99.5 %', '50 %')
    """
    return f"{round(100 * rate, 3):g} %"


class Measured:
    """The rows of a results file by cell and run, and the scope that they are read in.

    A later row of the same cell and run replaces an earlier one; rows of settings that this
    version does not know are left out.
    """

    def __init__(self, rows: Iterable[Row], scope: Scope = PAPER) -> None:
        self.scope, self.sets = scope, scope.among(SETS)
        self._rows: dict[Run, dict[int, Row]] = {}
        for row in rows:
            run = Run.of_row(row)
            if run is not None:
                self._rows.setdefault(run.cell, {})[run.run] = row

    def cell(
        self, name: str, method: str, rate: float = WORST, model: str = "gcn", **other: Any
    ) -> Run:
        """The cell of a method on a set, in this scope."""
        return cell(name, method, rate, model, self.scope, **other)

    def runs(self, where: Run) -> dict[int, Row]:
        """The rows of a cell by run number."""
        return self._rows.get(where, {})

    def estimate(
        self, where: Run, column: str = "test_accuracy", among: Collection[int] | None = None
    ) -> Estimate | None:
        """Of a column of a cell's rows; None where nothing was run or noted.

        `among`: of these runs alone, such as those that another cell has too.
        """
        runs = self.runs(where).items()
        values = (row.get(column) for run, row in runs if among is None or run in among)
        return Estimate.of(value for value in values if value is not None)

    def median(self, where: Run, column: str) -> float | None:
        """Of a column of a cell's rows."""
        values = [row[column] for row in self.runs(where).values() if row.get(column) is not None]
        return median(values) if values else None

    def seconds(self, where: Run) -> tuple[float, float] | None:
        """To fill and to train: medians, since a busy machine makes some runs far longer."""
        fill, train = (self.median(where, f"{part}_seconds") for part in ("fill", "train"))
        return None if fill is None or train is None else (fill, train)

    def shared(self, cells: Iterable[Run]) -> set[int]:
        """The runs that all of these have: the same run is the same split and mask."""
        return set.intersection(*(set(self.runs(where)) for where in cells))

    def difference(self, where: Run, other: Run) -> Difference | None:
        """In accuracy, from the runs that both have."""
        ours, theirs = self.runs(where), self.runs(other)
        return Difference.of(
            ours[run]["test_accuracy"] - theirs[run]["test_accuracy"]
            for run in sorted(self.shared([where, other]))
        )


class Bar(NamedTuple):
    """How far ours may be from the paper's, in points; above it is no miss if `or_above`."""

    points: float
    or_above: bool = False

    def missed(self, difference: float) -> bool:
        """Whether a difference, ours less the paper's, is beyond the bar.

        >>> Bar(1.5).missed(1.6), Bar(5, or_above=True).missed(20.0)
        (True, False)
        """
        return -difference > self.points or (difference > self.points and not self.or_above)


_BARS = {
    "fp": Bar(1.5),
    **dict.fromkeys(("labels", "positional", *FORMS), Bar(2.0)),
    "pagnn": Bar(5.0, or_above=True),
    "gcnmf": Bar(5.0, or_above=True),  # the paper's is near chance, so better is no miss
}
# One official split, so nothing but the method can differ.
_ARXIV_BARS = {"labels": Bar(0.05), **dict.fromkeys(("positional", *FORMS), Bar(1.5))}


def bar_of(name: str, method: str) -> Bar:
    """The bar of one row of the second table."""
    return _ARXIV_BARS.get(method, _BARS[method]) if name == "arxiv" else _BARS[method]


def printed(name: str, method: str, rate: float) -> Published | None:
    """The paper's accuracy of a method on a set; of all but its own, at 99 % missing alone."""
    if method == "fp":
        return TABLE_1[name][rate]
    figure = TABLE_2[name].get("positional" if method in FORMS else method)  # one for all forms
    return figure if isinstance(figure, Published) else None
