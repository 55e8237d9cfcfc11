"""Exact fill or the paper's 40 steps? What the runs advise, for each kind of mask."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from . import published, tables
from .experiments import EXACT_RATES, SETS, cell
from .measured import ENOUGH, Difference, Measured
from .names import listed, of_set, sentence, signed

WHERE = {"uniform": "where single cells are missing", "structural": "where whole nodes are missing"}
WORTH = 0.2  # points; below, nobody would notice, however clear it is


class Advice(NamedTuple):
    """On the exact fill, for one kind of mask.

    Attributes
    ----------
    better, worse, cases : int
        Of how many sets and rates it is clearly better, and clearly worse.
    noticed : list of (set, points)
        Of those, the ones where somebody would notice.
    gain : Difference
        Exact less 40 steps in points, the mean over the sets; its n is the fewest runs of any.
    by_set : dict of str to Difference
        The same of each set, over its rates.
    seconds : (of a fill by 40 steps, of an exact one), or None
    """

    mask: str
    better: int
    worse: int
    cases: int
    noticed: list[tuple[str, float]]
    gain: Difference
    by_set: dict[str, Difference]
    seconds: tuple[float, float] | None

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The sets on which the exact fill is clearly better, and those on which 40 steps are.

        At some rate or over all of them, and at no rate the other way round.
        """
        up, down = self._up_and_down
        return [n for n in self.by_set if n in up - down], [
            n for n in self.by_set if n in down - up
        ]

    @property
    def torn(self) -> list[str]:
        """The sets on which that changes with the rate."""
        up, down = self._up_and_down
        return [name for name in self.by_set if name in up & down]

    @property
    def _up_and_down(self) -> tuple[set[str], set[str]]:
        over_rates = [(name, gain.mean) for name, gain in self.by_set.items() if matters(gain)]
        clear = [*self.noticed, *over_rates]
        return {name for name, mean in clear if mean > 0}, {
            name for name, mean in clear if mean < 0
        }

    @property
    def words(self) -> str:
        """What to take; the quicker unless the other is clearly and noticeably better."""
        if self.gain.n < ENOUGH:
            return "there are too few runs to say"
        exact, by_steps = self.sides
        if matters(self.gain) and not (exact and by_steps):
            return "take the exact fill" if self.gain.mean > 0 else "take the 40 steps"
        if exact or by_steps or self.torn:
            return _by_density(exact, by_steps) or _by_name(exact, by_steps, self.torn)
        if self.seconds is None:
            return "take either"
        steps, limit = self.seconds
        quicker = "40 steps" if steps <= limit else "exact fill"
        return (
            f"neither is noticeably better, so take the quicker, the {quicker} "
            f"({min(steps, limit):.2g} s against {max(steps, limit):.2g} s a fill)"
        )


def _by_density(exact: Sequence[str], by_steps: Sequence[str]) -> str | None:
    """A rule for graphs that are not among these; None where their links do not tell them apart."""
    if not exact or not by_steps:
        return None
    links = {of_set(name): published.links_of_a_node(name) for name in published.SIZES}
    most, fewest = max(links[name] for name in exact), min(links[name] for name in by_steps)
    if most >= fewest:
        return None
    return (
        f"take the exact fill on sparse graphs ({listed(exact)}: up to {most:.1f} links a node) "
        f"and the 40 steps on dense ones ({listed(by_steps)}: from {fewest:.1f})"
    )


def _by_name(exact: Sequence[str], by_steps: Sequence[str], torn: Sequence[str]) -> str:
    sides = (("the exact fill is", exact), ("the 40 steps are", by_steps))
    told = [f"{who} clearly better on {listed(names)}" for who, names in sides if names]
    if torn:
        told.append(f"it changes with the rate on {listed(torn)}")
    if len(told) > 1 or torn:
        return f"it depends: {', '.join(told)}"
    taken = "exact fill" if exact else "40 steps"
    return f"take the {taken}, clearly better on {listed(exact or by_steps)} and worse on none"


def advices(measured: Measured) -> list[Advice]:
    """One for each kind of mask that was run."""
    rows = tables.exact(measured).rows
    found = []
    for mask in WHERE:
        mine = [row for row in rows if row[1] == mask]
        gains = {of_set(s): _over_rates(measured, s, mask) for s in measured.scope.among(SETS)}
        by_set = {name: gain for name, gain in gains.items() if gain is not None}
        if not by_set:
            continue
        count = Counter(row[6] for row in mine)
        found.append(
            Advice(
                mask,
                count["exact better"],
                count["40 steps better"],
                len(mine),
                [(row[0], row[5].mean) for row in mine if matters(row[5])],
                _mean(list(by_set.values())),
                by_set,
                _seconds(measured, mask),
            )
        )
    return found


def _over_rates(measured: Measured, name: str, mask: str) -> Difference | None:
    """What a set gains, the rates of a run averaged first: they share its split and its start."""
    by_rate = [
        measured.gains(
            cell(name, "fp-exact", rate, scope=measured.scope, mask=mask),
            cell(name, "fp", rate, scope=measured.scope, mask=mask),
        )
        for rate in EXACT_RATES
    ]
    by_rate = [gains for gains in by_rate if gains]
    if not by_rate:
        return None
    runs = set.intersection(*(set(gains) for gains in by_rate))
    return Difference.of(sum(gains[run] for gains in by_rate) / len(by_rate) for run in runs)


def _mean(gains: Sequence[Difference]) -> Difference:
    """Of sets, which are independent of each other; its n is the fewest runs of any."""
    n = len(gains)
    variance = math.fsum((gain.standard_error or 0.0) ** 2 for gain in gains)
    mean = math.fsum(gain.mean for gain in gains) / n
    return Difference(mean, math.sqrt(variance) / n, min(gain.n for gain in gains))


def matters(gain: Difference) -> bool:
    """Whether a difference is clear, and large enough for somebody to notice."""
    return gain.clear and abs(gain.mean) >= WORTH


def advice(measured: Measured) -> str | None:
    """In one line; the masks together where one rule holds for all."""
    found = advices(measured)
    if found and all(a.gain.n >= ENOUGH and _by_density(*a.sides) for a in found):
        sides = zip(*(a.sides for a in found), strict=True)
        exact, by_steps = ({name for names in side for name in names} for side in sides)
        names = [of_set(name) for name in SETS]
        rule = _by_density([n for n in names if n in exact], [n for n in names if n in by_steps])
        if rule:
            return sentence(rule)
    told = [f"{WHERE[a.mask]}, {a.words} ({_gain(a)})" for a in found]
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
    clear = [row for row in tables.exact(measured).rows if row[5].clear]
    if not clear:
        return sentence("; ".join(told))
    most = max(clear, key=lambda row: abs(row[5].mean))
    largest = f"{signed(most[5].mean)} points on {most[0]}, {most[1]} mask, {most[2]} missing"
    return f"{sentence('; '.join(told))} The largest clear difference is {largest}."


def _gain(a: Advice) -> str:
    return f"{signed(a.gain.mean)} ± {a.gain.standard_error:.2f} points on average"


def _seconds(measured: Measured, mask: str) -> tuple[float, float] | None:
    """Usual seconds of a fill by 40 steps and of an exact one, over cases that have both."""
    steps, limit = [], []
    for name in measured.scope.among(SETS):
        for rate in EXACT_RATES:
            first, second = (
                measured.median(
                    cell(name, method, rate, scope=measured.scope, mask=mask), "fill_seconds"
                )
                for method in ("fp", "fp-exact")
            )
            if first is not None and second is not None:
                steps.append(first)
                limit.append(second)
    return (sum(steps) / len(steps), sum(limit) / len(limit)) if steps else None
