"""The paper's 40 steps by a Chebyshev fit: how near, how much sooner."""

from __future__ import annotations

import numpy as np

from harness import Job, Options, verdict
from peers import Graphfill, fill
from problems import ARXIV, CORA, FULL, TENTH, Case
from timing import interleaved

COLUMNS = {
    "case": "graph", "error": "error / largest value", "norm_error": "relative error, 2-norm",
    "seconds": "seconds", "diffusion": "40 steps, s", "ratio": "time ratio", "bar": "bar",
    "verdict": "",
}  # fmt: skip


def jobs(options: Options) -> list[Job]:
    """One job per graph."""
    return [
        Job(case.name, lambda record, case=case: measure(case, options, record),
            case.skipped(options))
        for case in (CORA, ARXIV[0], TENTH[0], FULL[0])
    ]  # fmt: skip


def measure(case: Case, options: Options, record) -> None:
    """Record error and time ratio; the bar is never slower."""
    problem = case.load(options)
    graph = Graphfill(problem).graph
    works = {
        solver: lambda solver=solver: fill(problem, graph, solver=solver, n_iter=40)
        for solver in ("diffusion", "chebyshev")
    }
    errors = _errors(works["chebyshev"]().X, works["diffusion"]().X)
    times = interleaved(
        works,
        options.n_rounds(min(case.rounds, 3)),
        lambda **fields: record(case=case.name, **fields),
    )
    seconds, base = min(times["chebyshev"]), min(times["diffusion"])
    ratio = seconds / base
    record(case=case.name, seconds=seconds, diffusion=base, ratio=ratio, bar=1.0,
           verdict=verdict(ratio, 1.0), **errors)  # fmt: skip


def _errors(filled, steps):
    gap = np.abs(filled - steps)
    return {
        "error": float(gap.max() / np.abs(steps).max()),
        "norm_error": float(np.linalg.norm(gap) / np.linalg.norm(steps)),
    }
