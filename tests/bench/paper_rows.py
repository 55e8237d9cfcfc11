"""Rows in the schema of the results file, for what is computed and drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from graphfill.bench._paper.experiments import PAPER, Scope, wanted
from graphfill.bench._results import COLUMNS
from graphfill.bench._runs import WITHOUT_FEATURES, Run

# Points lost with everything missing; what a method loses at a rate is this times rate^6.
LOST = {"fp": 3.0, "neighbors": 15.0, "mgcnn": 30.0, "mean": 40.0, "zero": 45.0, "random": 60.0,
        "pagnn": 20.0, "gcnmf": 48.0, "fp-exact": 2.0, "fp-loops": 3.0, "full": 0.0,
        "full-binary": 0.0}  # fmt: skip


def row(cell: Run, run: int, accuracy: float, **values: Any) -> dict[str, Any]:
    """One run of a cell, its key columns written as the grid writes them."""
    key = replace(cell, run=run).named()
    made = dict.fromkeys(COLUMNS) | key | {"test_accuracy": accuracy} | values
    assert made.keys() == COLUMNS.keys()
    return made


def rows(cell: Run, accuracies: Sequence[float], **values: Any) -> list[dict[str, Any]]:
    """Runs 0, 1, 2, ... of a cell."""
    return [row(cell, run, accuracy, **values) for run, accuracy in enumerate(accuracies)]


def plausible(cell: Run, run: int) -> float:
    """An accuracy that falls with the rate, each method's in its own way."""
    if cell.method in WITHOUT_FEATURES:
        return 76.0 + 0.3 * run
    return 80.0 - LOST[cell.method] * cell.rate**6 + 0.3 * run


def every(
    experiments: Sequence[str],
    scope: Scope = PAPER,
    accuracy: Callable[[Run, int], float] = plausible,
) -> list[dict[str, Any]]:
    """All rows that some experiments want."""
    fills = ("fp", "zero", "random", "mean", "neighbors", "mgcnn", "fp-exact")
    return [
        row(
            cell, run, accuracy(cell, run),
            fill_seconds=0.5, train_seconds=30.0 if cell.method == "gcnmf" else 10.0, n_epochs=300,
            reconstruction=LOST[cell.method] / 100 if cell.method in fills else None,
        )
        for cell, n in wanted(experiments, scope).items()
        for run in range(n)
    ]  # fmt: skip
