"""The limit from raw arrays, against PyG's 40 steps from the same arrays."""

from __future__ import annotations

import time
from contextlib import contextmanager

import graphfill as gf
from graphfill.graph import _components as ordering
from harness import Job, Options, verdict
from peers import fill, pyg_transform
from problems import ARXIV, FULL, TENTH, Case, Problem, relative_residual

COLUMNS = {
    "case": "graph", "who": "fill", "seconds": "total, s", "build": "build, s",
    "order": "order, s", "solve": "solve, s", "steps": "products",
    "residual": "residual measured", "ratio": "ours/PyG", "bar": "bar", "verdict": "",
}  # fmt: skip
BAR = 0.15
SAMPLE = slice(0, 4)  # columns on which the residual is measured
EXACT = {"solver": "exact", "tol": 1e-3}
OURS = {
    "exact, reorder off": EXACT | {"reorder": False},
    "exact, reorder on": EXACT | {"reorder": True},
    "exact, reorder auto": EXACT | {"reorder": "auto"},
    "diffusion 40, reorder auto": {"solver": "diffusion", "n_iter": 40, "reorder": "auto"},
}


def jobs(options: Options) -> list[Job]:
    """One job per size, shuffled ids."""
    cases = [ARXIV[0]] if options.quick else [TENTH[0], FULL[0]]
    return [
        Job(case.name, lambda record, case=case: measure(case, options, record),
            case.skipped(options))
        for case in cases
    ]  # fmt: skip


def measure(case: Case, options: Options, record) -> None:
    """Record each fill's best round; PyG's 40 steps run in the same rounds."""
    problem = case.load(options)
    best: dict[str, dict] = {}
    for turn in range(options.n_rounds(1 if options.quick else 2)):
        for name in ("PyG, 40 steps", *OURS):
            run = ours(problem, OURS[name]) if name in OURS else pyg(problem)
            record(case=case.name, kind="timing", who=name, round=turn, **run)
            if name not in best or run["seconds"] < best[name]["seconds"]:
                best[name] = run
    base = best["PyG, 40 steps"]["seconds"]
    for name, run in best.items():
        ratio = run["seconds"] / base if name in OURS else None
        bar = BAR if name == "exact, reorder auto" else None  # the default; the others show why
        record(case=case.name, who=name, ratio=ratio, bar=bar,
               verdict=verdict(ratio or 0.0, bar), **run)  # fmt: skip


def pyg(problem: Problem) -> dict:
    """PyG's whole transform, 40 steps."""
    start = time.perf_counter()
    filled = pyg_transform(problem.edge_index, problem.X, 40)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "steps": 40, "residual": _residual(problem, filled)}


def ours(problem: Problem, how: dict) -> dict:
    """Build the graph, then fill; the ordering is part of the fill that asks for it."""
    start = time.perf_counter()
    graph = gf.Graph.from_edges(problem.edge_index, n_nodes=problem.n_nodes)
    built = time.perf_counter()
    with ordering_clock() as order:
        r = fill(problem, graph, **how)
    done = time.perf_counter()
    return {
        "seconds": done - start, "build": built - start, "order": sum(order),
        "solve": done - built - sum(order),
        "steps": int(r.n_iter), "residual": _residual(problem, r.X),
    }  # fmt: skip


@contextmanager
def ordering_clock():
    """A list that receives the seconds of each call of the library's ``cluster_order``."""
    spent: list[float] = []
    inner = ordering.cluster_order

    def timed(*args, **kwargs):
        start = time.perf_counter()
        try:
            return inner(*args, **kwargs)
        finally:
            spent.append(time.perf_counter() - start)

    ordering.cluster_order = timed
    try:
        yield spent
    finally:
        ordering.cluster_order = inner


def _residual(problem, filled):
    return relative_residual(problem, filled, SAMPLE)
