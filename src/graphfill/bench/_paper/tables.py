"""The paper's tables and ours beside them, each as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import published
from .experiments import (
    CONTROLLED,
    EXACT_RATES,
    FILLED,
    LARGE,
    METHODS,
    MIXHOP,
    SETS,
    TABLE_1_RATES,
    VARIED,
    WHOLE,
    WORST,
    cell,
)
from .measured import Estimate, Measured
from .names import of_method, of_rate, of_set
from .published import Published
from .table import Points, Table

OURS = "ours: mean ± standard error (runs)"
BEYOND, ABOVE = "beyond", "above"  # by more than the bar; the second where that is no miss


# -- the paper's two tables --


def table_1(measured: Measured) -> Table:
    """Feature Propagation under a GCN, by the share of cells missing."""
    scope = measured.scope
    rows = []
    for name in scope.among([*SETS, *LARGE]):
        for rate in (0.0, *TABLE_1_RATES):
            ours = measured.estimate(cell(name, "fp", rate, scope=scope))
            paper = published.TABLE_1[name][rate]
            missing = of_rate(rate) if rate else "none"
            rows.append([of_set(name), missing, ours, paper, *_judged(ours, paper, "fp", name)])
    columns = ["set", "missing", OURS, "paper", "difference", "by the bar"]
    title = "Accuracy of Feature Propagation with a GCN, in percent"
    return Table("table-1", title, columns, rows)


def table_2(measured: Measured) -> Table:
    """Every method with 99 % of the cells missing."""
    scope = measured.scope
    rows = []
    for name in scope.among([*SETS, *LARGE]):
        for method in METHODS:
            ours = measured.estimate(cell(name, method, scope=scope))
            paper = published.TABLE_2[name].get(method)
            if ours is None and paper is None:
                continue
            rows.append(
                [of_set(name), of_method(method), ours, paper, *_judged(ours, paper, method, name)]
            )
    columns = ["set", "method", OURS, "paper", "difference", "by the bar"]
    return Table("table-2", f"Accuracy at {of_rate(WORST)} missing, in percent", columns, rows)


def _judged(ours: Estimate | None, paper: Any, method: str, name: str) -> list[Points | str | None]:
    """The difference to the paper, and what is to be said of it by the bar of the row."""
    if ours is None or not isinstance(paper, Published):
        return [None, None]
    difference = Points(ours.mean - paper.mean)
    bar = published.bar(name, method)
    if bar.missed(difference):
        return [difference, f"{BEYOND} {bar.points:g}"]
    return [difference, ABOVE if difference > bar.points else None]


def is_beyond(verdict: str | None) -> bool:
    """Whether a difference misses its bar; to be far above is no miss where the bar allows it."""
    return verdict is not None and verdict.startswith(BEYOND)


# -- what the paper did not print --


def reconstruction(measured: Measured) -> Table:
    """Relative error of the filled cells beside accuracy, and the rank of each (1 = best).

    Over the runs that all methods of a set have.
    """
    scope = measured.scope
    rows = []
    for name in scope.among(SETS):
        found = []
        wheres = {method: cell(name, method, scope=scope) for method in (*FILLED, "fp-exact")}
        wheres = {method: where for method, where in wheres.items() if measured.runs(where)}
        for method, where in wheres.items():
            both = measured.shared(wheres.values())
            error = measured.estimate(where, "reconstruction", both)
            accuracy = measured.estimate(where, among=both)
            if error is not None and accuracy is not None:
                found.append((method, error, accuracy))
        errors = sorted(error.mean for _, error, _ in found)
        accuracies = sorted((accuracy.mean for *_, accuracy in found), reverse=True)
        rows += [
            [
                of_set(name),
                of_method(method),
                error,
                errors.index(error.mean) + 1,
                accuracy,
                accuracies.index(accuracy.mean) + 1,
            ]
            for method, error, accuracy in found
        ]
    columns = ["set", "method", "error", "rank by error", "accuracy", "rank by accuracy"]
    title = f"Relative error of the fill and accuracy of a GCN on it, {of_rate(WORST)} missing"
    return Table("reconstruction", title, columns, rows, {"error": 4})


def exact(measured: Measured) -> Table:
    """The limit of diffusion against its 40 steps, the same runs for both."""
    scope = measured.scope
    rows = []
    for name in scope.among(SETS):
        for mask in ("uniform", "structural"):
            for rate in EXACT_RATES:
                steps = cell(name, "fp", rate, scope=scope, mask=mask)
                limit = cell(name, "fp-exact", rate, scope=scope, mask=mask)
                difference = measured.difference(limit, steps)
                if difference is None:
                    continue
                verdict = "within noise"
                if difference.clear:
                    verdict = "exact better" if difference.mean > 0 else "40 steps better"
                both = measured.shared([steps, limit])
                means = (measured.estimate(where, among=both) for where in (steps, limit))
                rows.append([of_set(name), mask, of_rate(rate), *means, difference, verdict])
    columns = ["set", "mask", "missing", "40 steps", "exact", "exact − 40 steps", "verdict"]
    return Table("exact", "Exact fill against the paper's 40 steps, accuracy", columns, rows)


def controls(measured: Measured) -> Table:
    """What the text and the official code differ in, or leave open, and whether it matters.

    The code's test nodes are the same in every run, it adds self-loops, and nobody says how
    long the eigenvectors are.
    """
    scope = measured.scope
    rows = []
    for name in scope.among((*SETS, "arxiv")):
        for method, rate in CONTROLLED:
            text = cell(name, method, rate, scope=scope)
            random = measured.estimate(text)
            own = measured.estimate(cell(name, method, rate, scope=scope, split="development"))
            variant = VARIED.get((method, rate))
            other = cell(name, variant, rate, scope=scope) if variant else None
            gain = measured.difference(other, text) if other else None
            paper = published.of(name, method, rate)
            what = of_method(method)
            if method == "fp":
                what += f", {of_rate(rate) if rate else 'none'} missing"
            if own is not None or gain is not None:
                rows.append(
                    [of_set(name), what, paper, random, *_judged(random, paper, method, name),
                     own, *_judged(own, paper, method, name),
                     of_method(variant) if variant and gain is not None else None, gain]
                )  # fmt: skip
    columns = [
        "set",
        "method",
        "paper",
        "test nodes at random",
        "difference",
        "by the bar",
        "the paper's test nodes",
        "difference there",
        "by the bar there",
        "varied",
        "varied − this",
    ]
    title = "The same on the official code's test nodes, and with what the text leaves open varied"
    return Table("controls", title, columns, rows)


def run_time(measured: Measured) -> Table:
    """Seconds to fill and to train, on one thread each: medians of the runs."""
    scope = measured.scope
    rows = []
    for name in scope.among(SETS):
        for method in ("fp", *WHOLE):
            where = cell(name, method, scope=scope)
            fill = measured.median(where, "fill_seconds")
            train = measured.median(where, "train_seconds")
            if fill is not None and train is not None:
                epochs = measured.median(where, "n_epochs")
                rows.append(
                    [of_set(name), of_method(method), fill, train, fill + train,
                     None if epochs is None else round(epochs), len(measured.runs(where))]
                )  # fmt: skip
    columns = ["set", "method", "fill, s", "training, s", "in all, s", "epochs", "runs"]
    return Table("run-time", f"Run-time at {of_rate(WORST)} missing", columns, rows)


def homophily(measured: Measured) -> Table:
    """Synthetic graphs from no homophily to much, under GraphSAGE."""
    scope = measured.scope
    rows = []
    for name in scope.among(MIXHOP):
        estimates = [
            measured.estimate(cell(name, method, rate, "sage", scope))
            for method, rate in (("full", 0.0), ("fp", WORST), ("zero", WORST))
        ]
        if any(estimate is not None for estimate in estimates):
            rows.append([name.removeprefix("mixhop-"), *estimates])
    worst = of_rate(WORST)
    columns = ["homophily", "full features", f"FP, {worst} missing", f"zero, {worst} missing"]
    return Table("homophily", "Accuracy on the MixHop graphs, GraphSAGE", columns, rows)


TABLES: dict[str, Callable[..., Table]] = {
    "table-1": table_1,
    "table-2": table_2,
    "reconstruction": reconstruction,
    "exact": exact,
    "run-time": run_time,
    "homophily": homophily,
    "controls": controls,
}
