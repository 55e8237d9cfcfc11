"""The paper's 40 steps against PyG's, and the time to come near the limit."""

from __future__ import annotations

import time

import numpy as np

from harness import Job, Options, verdict
from peers import Graphfill, PyG, fill
from problems import ARXIV, CORA, Case, Problem, real_table, relative_residual

COLUMNS = {
    "case": "graph", "missing": "missing", "who": "ours", "steps": "steps",
    "difference": "max abs difference to PyG", "relative": "relative to max(1, abs)",
    "ours_error": "ours to float64", "pyg_error": "PyG to float64", "target": "target residual",
    "residual": "residual measured", "stated": "residual stated", "seconds": "seconds",
    "bar": "bar", "verdict": "",
}  # fmt: skip
NAMES = {"cora": "quick", "amazon_photo": "default", "pubmed": "default"}
MOST_STEPS = 10_240


def jobs(options: Options) -> list[Job]:
    """One job per set and mask, then one per graph and target residual."""
    work = []
    for name, level in NAMES.items():
        for by_node in (False, True):
            for missing in (0.5, 0.9, 0.99):
                label = f"{name} {missing:.0%} of {'nodes' if by_node else 'cells'}"
                case = Case(label, real_table(name, missing, by_node=by_node), level)
                work.append(_job(against_pyg, case, options))
    pubmed = Case("pubmed", real_table("pubmed"))
    arxiv = Case(ARXIV[1].name, ARXIV[1].load)
    for case in (CORA, pubmed, arxiv):
        for target in (1e-3,) if options.quick else (1e-3, 1e-6):
            work.append(_job(to_residual, case, options, target))
    return work


def _job(measure, case, options, *more):
    label = " ".join([case.name, *(f"to {m:g}" for m in more)])
    return Job(label, lambda record: measure(case, options, record, *more), case.skipped(options))


def against_pyg(case: Case, options: Options, record) -> None:
    """Largest difference to PyG after 40 steps, and of both to float64."""
    problem = case.load(options)
    ours, pyg, truth = Graphfill(problem).run(40), PyG(problem).run(40), _float64(problem, 40)
    gap = np.abs(ours - pyg)
    name, missing = case.name.split(" ", 1)
    record(
        case=name, missing=missing, who="diffusion", steps=40, difference=float(gap.max()),
        relative=float((gap / np.maximum(1, np.abs(truth))).max()),
        ours_error=float(np.abs(ours - truth).max()), pyg_error=float(np.abs(pyg - truth).max()),
        bar=1e-6, verdict=verdict(gap.max(), 1e-6),
    )  # fmt: skip


def _float64(problem: Problem, n_steps):
    S, X = problem.S.astype(np.float64), problem.zeroed.astype(np.float64)
    degree = np.diff(problem.S.indptr).astype(np.float64)
    scale = np.maximum(degree, 1) ** -0.5
    S.data = scale[S.indices] * np.repeat(scale, np.diff(S.indptr))
    values = X.ravel()[problem.known_cells]
    for _ in range(n_steps):
        X = S @ X
        X.ravel()[problem.known_cells] = values
    return X


def to_residual(case: Case, options: Options, record, target: float) -> None:
    """Seconds of the exact solver and of plain diffusion to a relative residual."""
    problem = case.load(options)
    graph = Graphfill(problem).graph
    rounds = options.n_rounds(1 if options.quick else 3)
    steps = _steps_to(problem, graph, target)
    for who, how in {
        "exact": {"solver": "exact", "tol": target},
        "diffusion": {"solver": "diffusion", "n_iter": steps},
    }.items():
        best, r = _best(problem, graph, rounds, how)
        record(
            case=case.name, missing="99% of cells", who=who, target=target, steps=int(r.n_iter),
            seconds=best, residual=relative_residual(problem, r.X), stated=float(r.residual),
        )  # fmt: skip


def _steps_to(problem, graph, target):
    """Diffusion steps to the residual, within a sixteenth; MOST_STEPS if it takes more."""
    filled, steps = None, 0
    while steps < MOST_STEPS:
        more = max(40, steps // 16)
        filled = fill(problem, graph, solver="diffusion", n_iter=more, start=filled).X
        steps += more
        if relative_residual(problem, filled) <= target:
            return steps
    return MOST_STEPS


def _best(problem, graph, rounds, how):
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        r = fill(problem, graph, **how)
        best = min(best, time.perf_counter() - start)
    return best, r
