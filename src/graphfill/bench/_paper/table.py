"""A table with figures in it: as people read it, and in full for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .measured import Difference, Estimate
from .names import signed
from .published import Published

CSV_SUFFIXES = (" mean", " standard error", " runs")


@dataclass(frozen=True)
class Table:
    """Named columns of text, numbers, estimates or None, which is an empty cell.

    Numbers are written with two digits, in columns that `digits` names with as many as it says.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: list[list[Any]]
    digits: Mapping[str, int] = field(default_factory=dict)

    def markdown(self) -> str:
        """As GitHub shows it; numbers are right-aligned.

        Examples
        --------
        >>> print(Table("t", "T", ["set", "ours"], [["Cora", Estimate(78.1, 0.3, 9)]]).markdown())
        | set | ours |
        |---|--:|
        | Cora | 78.10 ± 0.30 (9) |
        """
        rules = ["--:" if self._numeric(j) else "---" for j in range(len(self.columns))]
        lines = ["| " + " | ".join(self.columns) + " |", "|" + "|".join(rules) + "|"]
        digits = [self.digits.get(column, 2) for column in self.columns]
        lines += ["| " + " | ".join(map(written, row, digits)) + " |" for row in self.rows]
        return "\n".join(lines)

    def csv(self) -> str:
        """The numbers in full; an estimate is three columns."""
        parts = [self._parts(j) for j in range(len(self.columns))]
        target = io.StringIO()
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(
            self.columns[j].partition(":")[0] + suffix
            for j, suffixes in enumerate(parts)
            for suffix in suffixes
        )
        for row in self.rows:
            line: list[Any] = []
            for value, suffixes in zip(row, parts, strict=True):
                spread = list(value) if isinstance(value, tuple) else [value]
                line += spread + [None] * (len(suffixes) - len(spread))
            writer.writerow(_plain(value) for value in line)
        return target.getvalue()

    def _numeric(self, j: int) -> bool:
        values = [row[j] for row in self.rows if row[j] is not None]
        return any(isinstance(value, (int, float, tuple)) for value in values)

    def _parts(self, j: int) -> Sequence[str]:
        widest = max((len(r[j]) for r in self.rows if isinstance(r[j], tuple)), default=0)
        return CSV_SUFFIXES[:widest] if widest else ("",)


class Points(float):
    """A difference of two accuracies, which is written with its sign."""


def written(value: Any, digits: int = 2) -> str:
    """A cell as people read it.

    >>> written(Points(-1.25)), written(Published(78.22, 0.32))
    ('−1.25', '78.22 ± 0.32')
    """
    if value is None:
        return ""
    if isinstance(value, Points):
        return signed(value, digits)
    if isinstance(value, (Estimate, Published)):
        mean, error = value.mean, value.standard_error
        text = signed(mean, digits) if isinstance(value, Difference) else f"{mean:.{digits}f}"
        text += "" if error is None else f" ± {error:.{digits}f}"
        return f"{text} ({value.n})" if isinstance(value, Estimate) else text
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value
