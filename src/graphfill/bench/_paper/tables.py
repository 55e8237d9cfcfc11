"""The paper's tables and ours beside them, each as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._table import Estimate, Points, Published, Table
from . import experiments
from .experiments import WORST
from .measured import TABLE_1, TABLE_2, TITLES, Measured, bar_of, of_rate, printed

OURS = "ours: mean ± standard error (runs)"
WORST_MISSING = f"{of_rate(WORST)} missing"


# -- the paper's two tables --


def table_1(measured: Measured) -> Table:
    """Feature Propagation under a GCN, by the share of cells missing."""
    rows = []
    for name in measured.scope.among([*experiments.SETS, *experiments.LARGE]):
        for rate in (0.0, *experiments.TABLE_1_RATES):
            ours = measured.estimate(measured.cell(name, "fp", rate))
            paper = TABLE_1[name][rate]
            missing = of_rate(rate) if rate else "none"
            rows.append([TITLES[name], missing, ours, paper, *_judged(ours, paper, "fp", name)])
    columns = ["set", "missing", OURS, "paper", "difference", "by the bar"]
    title = "Accuracy of Feature Propagation with a GCN, in percent"
    return Table("table-1", title, columns, rows)


def table_2(measured: Measured) -> Table:
    """Every method with 99 % of the cells missing."""
    rows = []
    for name in measured.scope.among([*experiments.SETS, *experiments.LARGE]):
        for method in experiments.METHODS:
            ours = measured.estimate(measured.cell(name, method))
            paper = TABLE_2[name].get(method)
            if ours is not None or paper is not None:
                names = [TITLES[name], TITLES[method]]
                rows.append([*names, ours, paper, *_judged(ours, paper, method, name)])
    columns = ["set", "method", OURS, "paper", "difference", "by the bar"]
    return Table("table-2", f"Accuracy at {WORST_MISSING}, in percent", columns, rows)


def _judged(ours: Estimate | None, paper: Any, method: str, name: str) -> list[Points | str | None]:
    """The difference to the paper; "beyond" its bar, or "above" where that is no miss."""
    if ours is None or not isinstance(paper, Published):
        return [None, None]
    difference = Points(ours.mean - paper.mean)
    bar = bar_of(name, method)
    if bar.missed(difference):
        return [difference, f"beyond {bar.points:g}"]
    return [difference, "above" if difference > bar.points else None]


def drops(measured: Measured) -> Table:
    """What is lost of the accuracy on full features, as the paper's first table has it."""
    rates = experiments.TABLE_1_RATES
    rows: list[list[Any]] = []
    for name in measured.scope.among([*experiments.SETS, *experiments.LARGE]):
        ours = [measured.estimate(measured.cell(name, "fp", rate)) for rate in (0.0, *rates)]
        own = [e.mean for e in ours if e is not None]
        row: list[Any] = [TITLES[name]]
        for k, rate in enumerate(rates, start=1):
            row.append(_lost(own[0], own[k]) if len(own) == len(ours) else None)
            row.append(_lost(TABLE_1[name][0.0].mean, TABLE_1[name][rate].mean))
        rows.append(row)
    run = [row for row in rows if row[1] is not None]
    if run:
        means = [Points(sum(row[k] for row in run) / len(run)) for k in range(1, len(run[0]))]
        rows.append([f"average of {len(run)}", *means])
    heads = [f"{of_rate(rate)} missing, {whose}" for rate in rates for whose in ("ours", "paper")]
    title = "Relative change of the accuracy of Feature Propagation with a GCN, in percent"
    return Table("drops", title, ["set", *heads], rows)


def _lost(full: float, left: float) -> Points:
    return Points(100.0 * (left / full - 1.0))


# -- what the paper did not print --


def reconstruction(measured: Measured) -> Table:
    """Relative error of the filled cells beside accuracy, and the rank of each (1 = best).

    Over the runs that all methods of a set have.
    """
    rows = []
    for name in measured.sets:
        cells = {
            method: measured.cell(name, method) for method in (*experiments.FILLED, "fp-exact")
        }
        cells = {method: where for method, where in cells.items() if measured.runs(where)}
        compared = []
        for method, where in cells.items():
            shared = measured.shared(cells.values())
            error = measured.estimate(where, "reconstruction", shared)
            accuracy = measured.estimate(where, among=shared)
            if error is not None and accuracy is not None:
                compared.append((method, error, accuracy))
        errors = sorted(error.mean for _, error, _ in compared)
        accuracies = sorted((accuracy.mean for *_, accuracy in compared), reverse=True)
        rows += [
            [TITLES[name], TITLES[method], error, errors.index(error.mean) + 1,
             accuracy, accuracies.index(accuracy.mean) + 1]
            for method, error, accuracy in compared
        ]  # fmt: skip
    columns = ["set", "method", "error", "rank by error", "accuracy", "rank by accuracy"]
    title = f"Relative error of the fill and accuracy of a GCN on it, {WORST_MISSING}"
    return Table("reconstruction", title, columns, rows, {"error": 4})


def exact(measured: Measured) -> Table:
    """The limit of diffusion against its 40 steps, the same runs for both."""
    cases = [
        (name, mask, rate)
        for name in measured.sets
        for mask in ("uniform", "structural")
        for rate in experiments.EXACT_RATES
    ]
    rows = []
    for name, mask, rate in cases:
        steps = measured.cell(name, "fp", rate, mask=mask)
        limit = measured.cell(name, "fp-exact", rate, mask=mask)
        difference = measured.difference(limit, steps)
        if difference is None:
            continue
        verdict = "within noise"
        if difference.clear:
            verdict = "exact better" if difference.mean > 0 else "40 steps better"
        shared = measured.shared([steps, limit])
        means = (measured.estimate(where, among=shared) for where in (steps, limit))
        rows.append([TITLES[name], mask, of_rate(rate), *means, difference, verdict])
    columns = ["set", "mask", "missing", "40 steps", "exact", "exact − 40 steps", "verdict"]
    return Table("exact", "Exact fill against the paper's 40 steps, accuracy", columns, rows)


def controls(measured: Measured) -> Table:
    """What the text and the official code differ in, or leave open, and whether it matters.

    The code's test nodes are the same in every run, it adds self-loops, and nobody says how
    long the eigenvectors are.
    """
    rows = []
    for name in measured.scope.among((*experiments.SETS, "arxiv")):
        for method, rate in experiments.CONTROLLED:
            text = measured.cell(name, method, rate)
            random = measured.estimate(text)
            official = measured.estimate(measured.cell(name, method, rate, split="development"))
            variant = experiments.VARIED.get((method, rate))
            varied = None if variant is None else measured.cell(name, variant, rate)
            gain = None if varied is None else measured.difference(varied, text)
            if official is None and gain is None:
                continue
            paper = printed(name, method, rate)
            what = TITLES[method]
            if method == "fp":
                what += f", {of_rate(rate) if rate else 'none'} missing"
            rows.append(
                [TITLES[name], what, paper, random, *_judged(random, paper, method, name),
                 official, *_judged(official, paper, method, name),
                 TITLES[variant] if variant and gain else None, gain]
            )  # fmt: skip
    columns = ["set", "method", "paper", "test nodes at random", "difference", "by the bar",
               "the paper's test nodes", "difference there", "by the bar there", "varied",
               "varied − this"]  # fmt: skip
    title = "The same on the official code's test nodes, and with what the text leaves open varied"
    return Table("controls", title, columns, rows)


def run_time(measured: Measured) -> Table:
    """Seconds to fill and to train, on one thread each: medians of the runs."""
    rows = []
    for name in measured.sets:
        for method in ("fp", *experiments.WHOLE):
            where = measured.cell(name, method)
            seconds, epochs = measured.seconds(where), measured.median(where, "n_epochs")
            if seconds is not None:
                rows.append(
                    [TITLES[name], TITLES[method], *seconds, sum(seconds),
                     None if epochs is None else round(epochs), len(measured.runs(where))]
                )  # fmt: skip
    columns = ["set", "method", "fill, s", "training, s", "in all, s", "epochs", "runs"]
    return Table("run-time", f"Run-time at {WORST_MISSING}", columns, rows)


def homophily(measured: Measured) -> Table:
    """Synthetic graphs from no homophily to much, under GraphSAGE."""
    rows = []
    for name in measured.scope.among(experiments.MIXHOP):
        estimates = [
            measured.estimate(measured.cell(name, method, rate, "sage"))
            for method, rate in (("full", 0.0), ("fp", WORST), ("zero", WORST))
        ]
        if any(estimate is not None for estimate in estimates):
            rows.append([name.removeprefix("mixhop-"), *estimates])
    columns = ["homophily", "full features", f"FP, {WORST_MISSING}", f"zero, {WORST_MISSING}"]
    return Table("homophily", "Accuracy on the MixHop graphs, GraphSAGE", columns, rows)


def runs(measured: Measured) -> Table:
    """How much of each experiment was run."""
    rows = []
    for experiment in experiments.EXPERIMENTS:
        asked = experiments.wanted([experiment], measured.scope)
        done = sum(min(n, len(measured.runs(where))) for where, n in asked.items())
        rows.append([experiment, done, sum(asked.values())])
    columns = ["experiment", "runs so far", "runs wanted"]
    return Table("runs", "Runs of each experiment", columns, rows)


TABLES: dict[str, Callable[[Measured], Table]] = {
    "table-1": table_1,
    "drops": drops,
    "table-2": table_2,
    "reconstruction": reconstruction,
    "exact": exact,
    "run-time": run_time,
    "homophily": homophily,
    "controls": controls,
    "runs": runs,
}
