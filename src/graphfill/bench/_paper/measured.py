"""What the runs gave: means and standard errors by cell, and differences run by run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from statistics import median
from typing import Any

from .._runs import Run
from .._table import Difference, Estimate
from .experiments import PAPER, WORST, Scope, cell

Row = Mapping[str, Any]


class Measured:
    """The rows of a results file by cell and run, and the scope that they are read in.

    A later row of the same cell and run replaces an earlier one; rows of settings that this
    version does not know are left out.
    """

    def __init__(self, rows: Iterable[Row], scope: Scope = PAPER) -> None:
        self.scope = scope
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
