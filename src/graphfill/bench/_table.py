"""Figures as people read them: means over runs with their standard errors, and tables of them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, variance
from typing import Any, NamedTuple, Self

from scipy.special import stdtrit

ENOUGH = 3  # runs; of fewer, the standard error itself is mostly chance
CSV_SUFFIXES = (" mean", " standard error", " runs")
AREA = "test_auc"  # in a run's details
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

    def latex(self) -> str:
        r"""As a tabular with the rules of the package booktabs.

        >>> print(Table("t", "T", ["set", "ours %"], [["a_b", Estimate(78.1, 0.3, 9)]]).latex())
        \begin{tabular}{lr}
        \toprule
        set & ours \% \\
        \midrule
        a\_b & $78.10 \pm 0.30$ (9) \\
        \bottomrule
        \end{tabular}
        """
        sides = "".join("r" if self._numeric(j) else "l" for j in range(len(self.columns)))
        digits = [self.digits.get(column, 2) for column in self.columns]
        rows = [list(map(written, row, digits)) for row in self.rows]
        lines = [" & ".join(map(_in_latex, row)) + r" \\" for row in (self.columns, *rows)]
        rules = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
        return "\n".join([rf"\begin{{tabular}}{{{sides}}}", *rules, r"\end{tabular}"])

    def text(self, latex: bool = False) -> str:
        """For a terminal, columns of one width; or as LaTeX.

        >>> print(Table("t", "T", ["set", "ours"], [["Cora", 78.1], ["Pubs", 9]]).text())
        | set  |  ours |
        |------|------:|
        | Cora | 78.10 |
        | Pubs |     9 |
        """
        if latex:
            return self.latex()
        digits = [self.digits.get(column, 2) for column in self.columns]
        lines = [list(self.columns), *(list(map(written, row, digits)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        sides = [">" if self._numeric(j) else "<" for j in range(len(self.columns))]
        drawn = []
        for line in lines:
            cells = zip(line, sides, widths, strict=True)
            row = " | ".join(f"{text:{side}{width}}" for text, side, width in cells)
            drawn.append(f"| {row} |")
        rules = [
            "-" * (width + 1) + ("-" if side == "<" else ":")
            for side, width in zip(sides, widths, strict=True)
        ]
        return "\n".join([drawn[0], f"|{'|'.join(rules)}|", *drawn[1:]])

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


GROUP = ("set", "method", "model", "mask", "rate")


def overview(rows: Iterable[Mapping[str, Any]]) -> Table:
    """One line per set, method, model, mask and rate, in the order of the rows.

    The version of a user's own file or function (after an @) is left out. Of two classes, the area
    under the ROC curve of the test nodes is shown as well.

    >>> row = {"set": "cora", "method": "fp", "model": "gcn", "mask": "uniform", "rate": 0.99,
    ...        "split": "paper", "setting": "{}", "test_accuracy": 78.0, "reconstruction": 0.9}
    >>> print(overview([row, row | {"test_accuracy": 79.0}]).text())
    | set  | method | model | mask    | missing | runs |   accuracy % | reconstruction error |
    |------|--------|-------|---------|---------|-----:|-------------:|---------------------:|
    | cora | fp     | gcn   | uniform | 99 %    |    2 | 78.50 ± 0.50 |        0.900 ± 0.000 |
    """
    groups = _grouped(rows, GROUP)
    areas = any(_area(row) is not None for members in groups.values() for row in members)
    columns = ["set", "method", "model", "mask", "missing", "runs", "accuracy %"]
    columns += ["AUC %"] * areas + ["reconstruction error"]
    lines: list[list[Any]] = []
    for group, members in groups.items():
        line = [*_names(group), len(members), _mean(row["test_accuracy"] for row in members)]
        line += [_mean(map(_area, members))] * areas
        lines.append([*line, _mean(row["reconstruction"] for row in members)])
    return Table("runs", "Runs", columns, lines, {"reconstruction error": 3})


def comparison(rows: Iterable[Mapping[str, Any]], other: str) -> Table:
    """Differences of accuracy from another method, run by run: same split, mask and seed.

    "clear" says whether the 95 % interval by Student's t leaves out 0.

    >>> row = {"set": "cora", "method": "fp", "model": "gcn", "mask": "uniform", "rate": 0.99,
    ...        "run": 0, "test_accuracy": 78.0}
    >>> print(comparison([row, row | {"method": "zero", "test_accuracy": 70.0}], "fp").text())
    | set  | method | model | mask    | missing | runs | accuracy less | 95 % interval | clear |
    |------|--------|-------|---------|---------|-----:|--------------:|---------------|-------|
    | cora | zero   | gcn   | uniform | 99 %    |    1 |         −8.00 |               | no    |
    """
    everything = list(rows)
    place = ("set", "model", "mask", "rate", "run")
    theirs = {
        tuple(row[name] for name in place): row["test_accuracy"]
        for row in everything
        if row["method"] == other
    }
    lines: list[list[Any]] = []
    for group, members in _grouped(everything, GROUP).items():
        keys = [tuple(row[name] for name in place) for row in members]
        pairs = zip(members, keys, strict=True)
        found = Difference.of(
            row["test_accuracy"] - theirs[key] for row, key in pairs if key in theirs
        )
        if group[1] == other or found is None:
            continue
        ends = ""
        if found.margin is not None:
            low, high = found.mean - found.margin, found.mean + found.margin
            ends = f"{written(Points(low))} to {written(Points(high))}"
        clear = "yes" if found.clear else "no"
        lines.append([*_names(group), found.n, Points(found.mean), ends, clear])
    columns = ["set", "method", "model", "mask", "missing", "runs", "accuracy less"]
    title = f"Accuracy in percent less that of {_VERSION.sub('', other)} in the same runs"
    return Table("comparison", title, [*columns, "95 % interval", "clear"], lines)


def _grouped(
    rows: Iterable[Mapping[str, Any]], names: Sequence[str]
) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _names(group: tuple[Any, ...]) -> list[str]:
    name, method, model, mask, rate = group
    plain = _VERSION.sub("", name), _VERSION.sub("", method)
    return [*plain, model or "", mask, f"{100 * rate:g} %"]


def _area(row: Mapping[str, Any]) -> float | None:
    """The area under the ROC curve in percent, where the run has one."""
    area = json.loads(row.get("details") or "{}").get(AREA)
    return None if area is None else float(area)


def _mean(values: Iterable[float | None]) -> Published | None:
    estimate = Estimate.of(value for value in values if value is not None)
    return None if estimate is None else Published(*estimate[:2])


def _in_latex(text: str) -> str:
    """A cell in LaTeX: special letters escaped, a mean and its error as mathematics.

    >>> _in_latex("78.10 ± 0.30"), _in_latex("a_b 5 %")
    ('$78.10 \\\\pm 0.30$', 'a\\\\_b 5 \\\\%')
    """
    escaped = re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", " "))
    escaped = re.sub(r"([0-9.−+]+) ± ([0-9.]+)", r"$\1 \\pm \2$", escaped)
    return re.sub("−", "-" if "$" in escaped else "$-$", escaped)
