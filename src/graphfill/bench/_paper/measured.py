"""What the runs gave: means and standard errors by cell, and differences run by run."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from statistics import median
from typing import Any, NamedTuple, Self

from scipy.special import stdtrit

from .._problem import Setting
from .experiments import PAPER, Cell, Scope

Row = Mapping[str, Any]

ENOUGH = 3  # runs; of fewer, the standard error itself is mostly chance


class Estimate(NamedTuple):
    """A mean over runs, its standard error (None for a single run) and how many they were."""

    mean: float
    standard_error: float | None
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        """None without a value.

        >>> Estimate.of([78.0, 80.0])
        Estimate(mean=79.0, standard_error=1.0, n=2)
        """
        numbers = [float(value) for value in values]
        n = len(numbers)
        if n == 0:
            return None
        mean = math.fsum(numbers) / n
        if n == 1:
            return cls(mean, None, 1)
        variance = math.fsum((number - mean) ** 2 for number in numbers) / (n - 1)
        return cls(mean, math.sqrt(variance / n), n)

    @property
    def margin(self) -> float | None:
        """Half the width of its 95 % interval by Student's t; None for a single run.

        >>> round(Estimate.of([77.0, 78.0, 79.0]).margin, 2)
        2.48
        """
        if self.standard_error is None:
            return None
        return float(stdtrit(self.n - 1, 0.975)) * self.standard_error

    @property
    def clear(self) -> bool:
        """Whether 0 is outside its 95 % interval, from enough runs."""
        margin = self.margin
        return margin is not None and self.n >= ENOUGH and abs(self.mean) > margin


class Difference(Estimate):
    """An estimate of a difference, which is written with its sign."""


class Measured:
    """The rows of a results file by cell and run, and the scope that they are read in.

    A later row of the same cell and run replaces an earlier one; rows of settings that this
    version does not know are left out.
    """

    def __init__(self, rows: Iterable[Row], scope: Scope = PAPER) -> None:
        self.scope = scope
        self._rows: dict[Cell, dict[int, Row]] = {}
        for row in rows:
            cell = _cell(row)
            if cell is not None:
                self._rows.setdefault(cell, {})[int(row["run"])] = row

    def runs(self, cell: Cell) -> dict[int, Row]:
        """The rows of a cell by run number."""
        return self._rows.get(cell, {})

    def with_other_limits(self, cell: Cell) -> list[Cell]:
        """The same cell with other limits on epochs, as far as there are rows, by limit."""
        limit = cell.setting.max_epochs
        others = [
            c
            for c in self._rows
            if cell == c._replace(setting=replace(c.setting, max_epochs=limit))
        ]
        return sorted((c for c in others if c != cell), key=lambda c: c.setting.max_epochs)

    def estimate(
        self, cell: Cell, column: str = "test_accuracy", among: Collection[int] | None = None
    ) -> Estimate | None:
        """Of a column of a cell's rows; None where nothing was run or noted.

        `among`: of these runs alone, such as those that another cell has too.
        """
        runs = self.runs(cell).items()
        values = (row.get(column) for run, row in runs if among is None or run in among)
        return Estimate.of(value for value in values if value is not None)

    def median(self, cell: Cell, column: str) -> float | None:
        """Of a column of a cell's rows; of seconds, which a busy machine makes far more of."""
        values = [row[column] for row in self.runs(cell).values() if row.get(column) is not None]
        return median(values) if values else None

    def shared(self, cells: Iterable[Cell]) -> set[int]:
        """The runs that all of these have: the same run is the same split and mask."""
        return set.intersection(*(set(self.runs(cell)) for cell in cells))

    def gains(self, cell: Cell, other: Cell) -> dict[int, float]:
        """In accuracy, of each run that both have."""
        ours, theirs = self.runs(cell), self.runs(other)
        return {
            run: ours[run]["test_accuracy"] - theirs[run]["test_accuracy"]
            for run in sorted(self.shared([cell, other]))
        }

    def difference(self, cell: Cell, other: Cell) -> Difference | None:
        """In accuracy, from the runs that both have."""
        return Difference.of(self.gains(cell, other).values())


def _cell(row: Row) -> Cell | None:
    changes = json.loads(row["setting"] or "{}")
    if "fanout" in changes:
        changes["fanout"] = tuple(changes["fanout"])
    if not changes.keys() <= asdict(Setting()).keys():
        return None
    return Cell(
        row["set"],
        row["method"],
        row["model"] or None,
        row["mask"] or "uniform",
        round(float(row["rate"]), 6),
        row["split"],
        Setting(**changes),
    )
