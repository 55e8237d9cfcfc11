"""Figures as people read them: means over runs with their standard errors, and tables of them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, variance
from typing import Any, NamedTuple, Self

from scipy.special import stdtrit

ENOUGH = 3  # runs; of fewer, the standard error itself is mostly chance
CSV_SUFFIXES = (" mean", " standard error", " runs")
_VERSION = re.compile("@[0-9a-f]{8}$")  # of a user's own file or function


class Published(NamedTuple):
    """A mean over runs of others and its standard error, which not every table prints."""

    mean: float
    standard_error: float | None = None


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
        if not numbers:
            return None
        mean, n = fmean(numbers), len(numbers)
        return cls(mean, math.sqrt(variance(numbers, mean) / n) if n > 1 else None, n)

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


class Points(float):
    """A difference of two accuracies, which is written with its sign."""


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
            writer.writerow(round(v, 6) if isinstance(v, float) else v for v in line)
        return target.getvalue()

    def _numeric(self, j: int) -> bool:
        return any(isinstance(row[j], (int, float, tuple)) for row in self.rows)

    def _parts(self, j: int) -> Sequence[str]:
        widest = max((len(r[j]) for r in self.rows if isinstance(r[j], tuple)), default=0)
        return CSV_SUFFIXES[:widest] if widest else ("",)


def written(value: Any, digits: int = 2) -> str:
    """A cell as people read it; differences have a sign, a true minus, and zero has none.

    >>> written(Points(-1.25)), written(Points(-0.001)), written(Published(78.22, 0.32))
    ('−1.25', '0.00', '78.22 ± 0.32')
    """
    if value is None:
        return ""
    if isinstance(value, (Estimate, Published)):
        mean, error = value.mean, value.standard_error
        text = written(Points(mean) if isinstance(value, Difference) else float(mean), digits)
        text += "" if error is None else f" ± {error:.{digits}f}"
        return f"{text} ({value.n})" if isinstance(value, Estimate) else text
    if isinstance(value, Points):
        text = f"{value:+.{digits}f}"
        return text[1:] if float(text) == 0 else text.replace("-", "−")
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def overview(rows: Iterable[Mapping[str, Any]]) -> str:
    """One line per set, method, model, mask and rate, in the order of the rows.

    The version of a user's own file or function (after an @) is left out.

    >>> row = {"set": "cora", "method": "fp", "model": "gcn", "mask": "uniform", "rate": 0.99,
    ...        "split": "paper", "setting": "{}", "test_accuracy": 78.0, "reconstruction": 0.9}
    >>> print(overview([row, row | {"test_accuracy": 79.0}]))
    | set  | method | model | mask    | missing | runs |   accuracy % | reconstruction error |
    |------|--------|-------|---------|--------:|-----:|-------------:|---------------------:|
    | cora | fp     | gcn   | uniform |    99 % |    2 | 78.50 ± 0.50 |        0.900 ± 0.000 |
    """
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("set", "method", "model", "mask", "rate"))
        groups.setdefault(key, []).append(row)
    lines = [
        ["set", "method", "model", "mask", "missing", "runs", "accuracy %", "reconstruction error"]
    ]
    for (name, method, model, mask, rate), members in groups.items():
        names = [_VERSION.sub("", name), _VERSION.sub("", method), model or "", mask]
        estimates = [_mean(members, "test_accuracy", 2), _mean(members, "reconstruction", 3)]
        lines.append([*names, f"{100 * rate:g} %", str(len(members)), *estimates])
    # Columns of one width; from the fifth on they are figures, to the right.
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = "<<<<>>>>"
    drawn = []
    for line in lines:
        cells = zip(line, sides, widths, strict=True)
        drawn.append(f"| {' | '.join(f'{text:{side}{width}}' for text, side, width in cells)} |")
    rules = [
        "-" * (width + 1) + ("-" if side == "<" else ":")
        for side, width in zip(sides, widths, strict=True)
    ]
    return "\n".join([drawn[0], f"|{'|'.join(rules)}|", *drawn[1:]])


def _mean(rows: Sequence[Mapping[str, Any]], column: str, digits: int) -> str:
    estimate = Estimate.of(row[column] for row in rows if row[column] is not None)
    return "" if estimate is None else written(Published(*estimate[:2]), digits)
