"""Exact fill or the paper's 40 steps? What the runs advise, for each kind of mask."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from . import tables
from .experiments import EXACT_RATES, SETS, cell
from .measured import ENOUGH, Difference, Measured
from .names import sentence, signed

WHERE = {"uniform": "where single cells are missing", "structural": "where whole nodes are missing"}
WORTH = 0.2  # points; below, nobody would notice, however clear it is


class Advice(NamedTuple):
    """On the exact fill, for one kind of mask.

    Attributes
    ----------
    better, worse, cases : int
        Of how many sets and rates it is clearly better, and clearly worse.
    gain : Difference
        Exact less 40 steps in points, the mean over the cases; its n is the fewest runs of any.
    seconds : (of a fill by 40 steps, of an exact one), or None
    """

    mask: str
    better: int
    worse: int
    cases: int
    gain: Difference
    seconds: tuple[float, float] | None

    @property
    def words(self) -> str:
        """What to take; the quicker unless the other is clearly and noticeably better."""
        if self.gain.n < ENOUGH:
            return "there are too few runs to say"
        if self.gain.clear and abs(self.gain.mean) >= WORTH:
            return "take the exact fill" if self.gain.mean > 0 else "take the 40 steps"
        if self.seconds is None:
            return "take either"
        steps, limit = self.seconds
        quicker = "40 steps" if steps <= limit else "exact fill"
        return (
            f"neither is noticeably better, so take the quicker, the {quicker} "
            f"({min(steps, limit):.2g} s against {max(steps, limit):.2g} s a fill)"
        )


def advices(measured: Measured) -> list[Advice]:
    """One for each kind of mask that was run."""
    rows = tables.exact(measured).rows
    found = []
    for mask in WHERE:
        mine = [row for row in rows if row[1] == mask]
        if not mine:
            continue
        gains = [row[5] for row in mine]
        n = len(gains)
        variance = math.fsum((gain.standard_error or 0.0) ** 2 for gain in gains)
        gain = Difference(
            math.fsum(gain.mean for gain in gains) / n,
            math.sqrt(variance) / n,
            min(gain.n for gain in gains),
        )
        count = Counter(row[6] for row in mine)
        better, worse = count["exact better"], count["40 steps better"]
        found.append(Advice(mask, better, worse, n, gain, _seconds(measured, mask)))
    return found


def advice(measured: Measured) -> str | None:
    """In one line."""
    told = [f"{WHERE[a.mask]}, {a.words} ({_gain(a)})" for a in advices(measured)]
    return sentence("; ".join(told)) if told else None


def recommendation(measured: Measured) -> str | None:
    """The same with what it rests on."""
    told = [
        f"{WHERE[a.mask]}, {a.words}: exact is clearly better in {a.better} of {a.cases} cases, "
        f"clearly worse in {a.worse}, {_gain(a)}"
        for a in advices(measured)
    ]
    if not told:
        return None
    most = max(tables.exact(measured).rows, key=lambda row: abs(row[5].mean))
    largest = f"{signed(most[5].mean)} points on {most[0]}, {most[1]} mask, {most[2]} missing"
    return f"{sentence('; '.join(told))} The largest difference is {largest}."


def _gain(a: Advice) -> str:
    return f"{signed(a.gain.mean)} ± {a.gain.standard_error:.2f} points on average"


def _seconds(measured: Measured, mask: str) -> tuple[float, float] | None:
    """Mean seconds of a fill by 40 steps and of an exact one, over cases that have both."""
    steps, limit = [], []
    for name in measured.scope.among(SETS):
        for rate in EXACT_RATES:
            first, second = (
                measured.estimate(
                    cell(name, method, rate, scope=measured.scope, mask=mask), "fill_seconds"
                )
                for method in ("fp", "fp-exact")
            )
            if first is not None and second is not None:
                steps.append(first.mean)
                limit.append(second.mean)
    return (sum(steps) / len(steps), sum(limit) / len(limit)) if steps else None
