"""The paper's 40 steps against PyG's, and the time to come near the limit."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import FeaturePropagation

from harness import Job, Options, verdict
from peers import Graphfill, PyG, fill
from problems import ARXIV, CORA, Case, Problem, real_table, relative_residual

COLUMNS = {
    "case": "graph", "missing": "missing", "who": "ours", "steps": "steps",
    "difference": "float64: ours to PyG", "ours_error": "float32: ours to that",
    "pyg_error": "float32: PyG to that", "target": "target residual",
    "residual": "residual measured", "stated": "residual stated", "seconds": "seconds",
    "bar": "bar (float64: ours to PyG)", "verdict": "",
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
    """Largest difference to PyG after 40 steps in float64; in float32, of both to that."""
    problem = case.load(options)
    truth = _pyg_float64(problem)
    graph = Graphfill(problem).graph
    double = fill(dataclasses.replace(problem, X=problem.X.astype(np.float64)), graph).X
    difference = float(np.abs(double - truth).max())
    ours, pyg = Graphfill(problem).run(40), PyG(problem).run(40)
    name, missing = case.name.split(" ", 1)
    record(
        case=name, missing=missing, who="diffusion", steps=40, difference=difference,
        ours_error=float(np.abs(ours - truth).max()), pyg_error=float(np.abs(pyg - truth).max()),
        bar=1e-6, verdict=verdict(difference, 1e-6),
    )  # fmt: skip


def _pyg_float64(problem: Problem):
    """PyG's transform in double precision, which it takes from the edge weights."""
    x = torch.from_numpy(problem.X.astype(np.float64))
    edges = torch.from_numpy(problem.edge_index)
    ones = torch.ones(edges.shape[1], dtype=torch.float64)
    data = Data(x=x, edge_index=edges, edge_weight=ones)
    return FeaturePropagation(torch.isnan(x), num_iterations=40)(data).x.numpy()


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
