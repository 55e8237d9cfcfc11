"""One thread against two: time, and the same bits."""

from __future__ import annotations

import numpy as np

from harness import Job, Options
from peers import Graphfill, fill
from problems import ARXIV, CORA, TENTH, Case
from timing import interleaved

COLUMNS = {
    "case": "graph", "who": "solver", "one": "1 thread, s", "two": "2 threads, s",
    "ratio": "2 threads / 1", "bits": "bits", "verdict": "",
}  # fmt: skip
SOLVERS = {
    "diffusion": {"solver": "diffusion", "n_iter": 40},
    "chebyshev": {"solver": "chebyshev", "n_iter": 40},
    "exact": {"solver": "exact", "tol": 1e-3},
}


def jobs(options: Options) -> list[Job]:
    """One job per graph and solver."""
    return [
        Job(f"{case.name} {solver}",
            lambda record, c=case, s=solver: measure(c, s, options, record),
            case.skipped(options))
        for case in (CORA, ARXIV[0], TENTH[0])
        for solver in SOLVERS
    ]  # fmt: skip


def measure(case: Case, solver: str, options: Options, record) -> None:
    """Record both times and whether the answers are the same bits."""
    problem = case.load(options)
    graph = Graphfill(problem).graph
    how = SOLVERS[solver]
    one, two = (fill(problem, graph, threads=n, **how).X for n in (1, 2))
    same = np.array_equal(one.view(np.uint32), two.view(np.uint32))
    del one, two
    times = interleaved(
        {f"{solver}, {n}": lambda n=n: fill(problem, graph, threads=n, **how) for n in (1, 2)},
        options.n_rounds(1 if options.quick else 3),
        lambda **fields: record(case=case.name, **fields),
    )
    alone, both = (min(times[f"{solver}, {n}"]) for n in (1, 2))
    record(
        case=case.name, who=solver, one=alone, two=both, ratio=both / alone,
        bits="equal" if same else "DIFFER", verdict="PASS" if same else "FAIL",
    )  # fmt: skip
