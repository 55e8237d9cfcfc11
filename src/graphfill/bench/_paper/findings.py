"""What the figures say, in words: each sentence is computed, and says when it cannot be."""

from __future__ import annotations

from collections.abc import Iterable

from . import published, tables
from .experiments import FEATURELESS, FILLED, MIXHOP, SETS, WHOLE, WORST, Cell, cell, cells
from .measured import ENOUGH, Measured
from .names import listed, of_method, of_rate, of_set, sentence, signed, times
from .table import Table

RIVALS = (*(method for method in FILLED if method != "fp"), *WHOLE)  # fill, or live with, gaps


def headline(measured: Measured) -> str:
    """On how many sets Feature Propagation beats every other imputation method, and what does not.

    Compared by mean accuracy over the runs that both have, which are on the same splits and masks.
    """
    scope = measured.scope
    compared = won = 0
    lost, close, absent = [], [], set()
    for name in scope.among(SETS):
        beaten = beaten_by(measured, name, RIVALS)
        if beaten is None:
            continue
        compared += 1
        won += not beaten
        lost += [f"on {of_set(name)} {words}" for words in beaten]
        close += [f"{of_method(m)} on {of_set(name)}" for m in _level(measured, name, RIVALS)]
        absent |= {m for m in RIVALS if measured.estimate(cell(name, m, scope=scope)) is None}
    if not compared:
        return f"Nothing has been measured at {of_rate(WORST)} missing yet."
    asked = len(scope.among(SETS))
    told = (
        f"With {of_rate(WORST)} of the cells missing, Feature Propagation under a GCN beats every "
        f"other imputation method of the paper on {won} of {asked} sets"
    )
    if compared < asked:
        told += f" ({asked - compared} not measured yet)"
    if lost:
        told += f"; {listed(lost)}"
    if close:
        told += f", {listed(close)} by no more than noise"
    if absent:
        missing = listed([of_method(method) for method in RIVALS if method in absent])
        told += f". Not yet compared on every set: {missing}"
    return told + "."


def without_features(measured: Measured) -> str | None:
    """The same against the two methods that see no features."""
    scope = measured.scope
    compared = won = 0
    lost = []
    for name in scope.among(SETS):
        beaten = beaten_by(measured, name, FEATURELESS)
        if beaten is not None:
            compared += 1
            won += not beaten
            lost += [f"on {of_set(name)} {words}" for words in beaten]
    if not compared:
        return None
    told = (
        "It beats label propagation and positional encodings, which see no features, on "
        f"{won} of {compared} sets"
    )
    return f"{told}; {listed(lost)}." if lost else f"{told}."


def beaten_by(measured: Measured, name: str, rivals: Iterable[str]) -> list[str] | None:
    """Which rivals are ahead on the runs both have, and by how much; None if none can be told."""
    scope = measured.scope
    beaten, any_rival = [], False
    for method in rivals:
        margin = measured.difference(cell(name, method, scope=scope), cell(name, "fp", scope=scope))
        any_rival |= margin is not None
        if margin is not None and margin.mean >= 0:
            noise = "" if margin.clear else ", within noise"
            beaten.append(f"{of_method(method)} did better ({signed(margin.mean)} points{noise})")
    return beaten if any_rival else None


def _level(measured: Measured, name: str, rivals: Iterable[str]) -> list[str]:
    """The rivals that are behind, but not clearly so."""
    scope = measured.scope
    fp = cell(name, "fp", scope=scope)
    margins = {m: measured.difference(cell(name, m, scope=scope), fp) for m in rivals}
    return [m for m, margin in margins.items() if margin and margin.mean < 0 and not margin.clear]


def agreement(table: Table, named: bool = True) -> str | None:
    """How many figures of a table of ours are within the bar of the paper's, and which are not."""
    judged = [row for row in table.rows if row[4] is not None]
    if not judged:
        return None
    beyond = [row for row in judged if tables.is_beyond(row[5])]
    above = sum(row[5] == tables.ABOVE for row in judged)
    within = len(judged) - len(beyond) - above
    told = f"{within} of {len(judged)} figures are within the bar of the paper's"
    if above:
        told += f", {above} above by more, which is no miss"
    if beyond and named:
        told += "; not " + listed([f"{row[0]}, {row[1]} ({signed(row[4])})" for row in beyond])
    return f"{told}."


def ranks(measured: Measured) -> str | None:
    """Whether the smaller error of the fill means the better accuracy."""
    table = tables.reconstruction(measured)
    best: dict[str, dict[str, str]] = {}
    for name, method, _, by_error, _, by_accuracy in table.rows:
        if by_error == 1:
            best.setdefault(name, {})["error"] = method
        if by_accuracy == 1:
            best.setdefault(name, {})["accuracy"] = method
    if not best:
        return None
    differ = [
        f"{name} ({found['error']} by error, {found['accuracy']} by accuracy)"
        for name, found in best.items()
        if found["error"] != found["accuracy"]
    ]
    if not differ:
        return f"The fill with the smallest error is the best for a GCN on all {len(best)} sets."
    return (
        f"The fill with the smallest error is not the best for a GCN on {len(differ)} of "
        f"{len(best)} sets: {listed(differ)}."
    )


def _seconds(measured: Measured, where: Cell) -> float | None:
    """To fill and to train, each the median of the runs."""
    fill = measured.median(where, "fill_seconds")
    train = measured.median(where, "train_seconds")
    return None if fill is None or train is None else fill + train


def time_ratios(measured: Measured) -> dict[str, list[float]]:
    """By method that takes the gaps as they are: its time over Feature Propagation's, by set."""
    scope = measured.scope
    ratios: dict[str, list[float]] = {}
    for method in WHOLE:
        for name in scope.among(SETS):
            own = _seconds(measured, cell(name, "fp", scope=scope))
            other = _seconds(measured, cell(name, method, scope=scope))
            if own and other:
                ratios.setdefault(method, []).append(other / own)
    return ratios


def run_times(measured: Measured) -> str | None:
    """How the whole of Feature Propagation compares, and how much of it is the fill."""
    scope = measured.scope
    told = [
        f"{of_method(method)} takes {min(ratios):.1f} to {max(ratios):.1f} times as long"
        for method, ratios in time_ratios(measured).items()
    ]
    if told:
        told[-1] += f" (paper: {published.RUN_TIME_RATIO:g} times, both)"
    shares = []
    for name in scope.among(SETS):
        where = cell(name, "fp", scope=scope)
        own, fill = _seconds(measured, where), measured.median(where, "fill_seconds")
        if own and fill is not None:
            shares.append(fill / own)
    if not shares:
        return None
    part = f"the fill is {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the time of FP"
    return sentence(f"beside FP with a GCN, {listed(told)}; {part}" if told else part)


def homophily_gaps(measured: Measured) -> list[tuple[str, float, float]]:
    """By homophily: how far FP is below full features, and above zero fill."""
    scope = measured.scope
    gaps = []
    for name in scope.among(MIXHOP):
        full = measured.estimate(cell(name, "full", 0.0, "sage", scope))
        fp = measured.estimate(cell(name, "fp", WORST, "sage", scope))
        zero = measured.estimate(cell(name, "zero", WORST, "sage", scope))
        if full and fp and zero:
            gaps.append((name.removeprefix("mixhop-"), full.mean - fp.mean, fp.mean - zero.mean))
    return gaps


def homophily(measured: Measured) -> str | None:
    """What is lost to missing features at the ends of the homophily axis."""
    ends = homophily_gaps(measured)
    if len(ends) < 2:
        return None
    (low, lost_low, gain_low), (high, lost_high, gain_high) = ends[0], ends[-1]
    course = "shrinks" if lost_high < lost_low else "does not shrink"
    return (
        f"The loss to {of_rate(WORST)} missing {course} with homophily: FP is {lost_low:.1f} "
        f"points below full features at homophily {low} and {lost_high:.1f} at {high}, and "
        f"{signed(gain_low, 1)} and {signed(gain_high, 1)} points from zero fill."
    )


def points(measured: Measured, model: str) -> str | None:
    """On how many runs the points of a figure of accuracies rest; None where there are none."""
    asked = cells(model, measured.scope)
    counts = [n for c in asked if (n := len(measured.runs(c)))]
    if not counts:
        return None
    low, high = min(counts), max(counts)
    return times(low, "run") if low == high else f"{low} to {high} runs"


def kept(measured: Measured, model: str) -> str | None:
    """How much of the accuracy on full features is left at 99 % missing, and the runner-up's.

    None where any of it rests on too few runs to say.
    """
    shares = shares_kept(measured, model)
    own = shares.pop("fp", None)
    if own is None:
        return None
    means = {m: sum(s) / len(s) for m, s in shares.items() if len(s) == len(own)}
    told = (
        f"With {of_rate(WORST)} missing, Feature Propagation keeps "
        f"{100 * sum(own) / len(own):.1f} % of the accuracy on full features"
    )
    if not means:
        return told
    best = max(means, key=lambda method: means[method])
    return f"{told}; {of_method(best)}, the best of the others, {100 * means[best]:.1f} %"


def shares_kept(measured: Measured, model: str) -> dict[str, list[float]]:
    """By method, the accuracy at 99 % missing over that on full features, of each set."""
    shares: dict[str, list[float]] = {}
    for name in measured.scope.among(SETS):
        full = measured.estimate(cell(name, "full", 0.0, model, measured.scope))
        for method in ("fp", *RIVALS):
            left = measured.estimate(cell(name, method, WORST, model, measured.scope))
            if full and left and min(full.n, left.n) >= ENOUGH:
                shares.setdefault(method, []).append(left.mean / full.mean)
    return shares
