"""What the paper claims, and whether the runs bear it out, a line each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from . import findings, published
from .experiments import FEATURELESS, MIXHOP, SETS, WHOLE, WORST, cell
from .measured import ENOUGH, Measured
from .names import listed, of_method, of_rate, signed
from .published import Published
from .spectral import Spectrum
from .table import Table

YES, PARTLY, NO = "yes", "in part", "no"
ALIKE = 1.0  # points by which two average losses may differ and be called the same

Row = list[Any]


def claims(measured: Measured, spectrum: Spectrum | None) -> Table:
    """The claims that something was measured of."""
    made = [
        _loss(measured),
        _beats(measured, "beats every other imputation method", findings.RIVALS),
        _beats(measured, "beats what sees no features", FEATURELESS),
        _neighbours(measured),
        _run_time(measured),
        _homophily(measured),
        _low_pass(spectrum),
    ]
    columns = ["Feature Propagation ...", "paper", "ours", "fewest runs", "borne out"]
    return Table("claims", "The paper's claims", columns, [row for row in made if row is not None])


def _fewest(measured: Measured, cells: Iterable[Any]) -> int:
    return min(len(measured.runs(where)) for where in cells)


def _loss(measured: Measured) -> Row | None:
    """Of accuracy, relative to full features, the mean over the sets."""
    names = measured.scope.among(SETS)
    shares = findings.shares_kept(measured, "gcn").get("fp", [])
    if not names or len(shares) < len(names):
        return None
    ours = 100 * (1 - sum(shares) / len(shares))
    tables = [published.TABLE_1[name] for name in names]
    paper = 100 * (1 - sum(t[WORST].mean / t[0.0].mean for t in tables) / len(tables))
    cells = [cell(s, "fp", r, scope=measured.scope) for s in names for r in (0.0, WORST)]
    return [
        f"loses little of the accuracy with {of_rate(WORST)} missing",
        f"{paper:.1f} %",
        f"{ours:.1f} %",
        _fewest(measured, cells),
        YES if abs(ours - paper) <= ALIKE else NO,
    ]


def _beats(measured: Measured, what: str, rivals: tuple[str, ...]) -> Row | None:
    """On how many sets it has the best mean of these; the paper's own from its second table."""
    won, of, runs, paper_won = 0, 0, [], 0
    for name in measured.scope.among(SETS):
        beaten = findings.beaten_by(measured, name, rivals)
        if beaten is None:
            continue
        of += 1
        won += not beaten
        wheres = [cell(name, method, scope=measured.scope) for method in ("fp", *rivals)]
        runs.append(_fewest(measured, [where for where in wheres if measured.runs(where)]))
        listed_there = published.TABLE_2[name]
        means = {m: p.mean for m, p in listed_there.items() if isinstance(p, Published)}
        paper_won += all(means["fp"] >= means[m] for m in rivals if m in means)
    if not of:
        return None
    verdict = YES if won >= paper_won else (PARTLY if won else NO)
    return [what, f"on {paper_won} of {of} sets", f"on {won} of {of}", min(runs), verdict]


def _neighbours(measured: Measured) -> Row | None:
    """The paper's remark that a mean over neighbours beats both networks made for gaps."""
    won, of, runs = 0, 0, []
    for name in measured.scope.among(SETS):
        wheres = [cell(name, m, scope=measured.scope) for m in ("neighbors", *WHOLE)]
        found = [measured.estimate(where) for where in wheres]
        means = [estimate.mean for estimate in found if estimate is not None]
        if len(means) < len(wheres):
            continue
        of += 1
        won += means[0] > max(means[1:])
        runs.append(_fewest(measured, wheres))
    if not of:
        return None
    verdict = YES if won == of else (PARTLY if won else NO)
    what = f"aside, neighbour mean beats {listed([of_method(m) for m in WHOLE])}"
    return [what, "consistently", f"on {won} of {of}", min(runs), verdict]


def _run_time(measured: Measured) -> Row | None:
    ratios = findings.time_ratios(measured)
    if not ratios:
        return None
    told = [f"{of_method(m)} {min(r):.1f} to {max(r):.1f}" for m, r in ratios.items()]
    slower = [min(r) > 1 for r in ratios.values()]
    cells = [
        cell(s, m, scope=measured.scope)
        for s in measured.scope.among(SETS)
        for m in ("fp", *ratios)
    ]
    return [
        "is faster: their time over its",
        f"{published.RUN_TIME_RATIO:g}, both",
        listed(told),
        _fewest(measured, [where for where in cells if measured.runs(where)]),
        YES if all(slower) else (PARTLY if any(slower) else NO),
    ]


def _homophily(measured: Measured) -> Row | None:
    """The distance to full features, from no homophily to much."""
    ends = findings.homophily_gaps(measured)
    if len(ends) < 2:
        return None
    (low, lost_low, gain_low), (high, lost_high, _) = ends[0], ends[-1]
    cells = [
        cell(s, m, r, "sage", measured.scope)
        for s in measured.scope.among(MIXHOP)
        for m, r in (("fp", WORST), ("zero", WORST), ("full", 0.0))
    ]
    runs = _fewest(measured, [where for where in cells if measured.runs(where)])
    return [
        "needs homophily: points below full features",
        "few at high, very many at none, little better than zero there",
        f"{lost_high:.1f} at {high}, {lost_low:.1f} at {low}, {signed(gain_low, 1)} from zero",
        runs,
        YES if lost_high < lost_low and runs >= ENOUGH else NO,
    ]


def _low_pass(spectrum: Spectrum | None) -> Row | None:
    if spectrum is None:
        return None
    rates = sorted(spectrum.energy)
    shares = [spectrum.low_share(rate) for rate in rates]
    grows = all(later > sooner for sooner, later in pairwise(shares))
    return [
        "is a low-pass filter: energy in the lower half of Cora's spectrum",
        "more, the more is missing",
        f"{100 * shares[0]:.0f} % to {100 * shares[-1]:.0f} %",
        1,
        YES if grows else NO,
    ]
