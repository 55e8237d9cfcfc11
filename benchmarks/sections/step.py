"""Time of one diffusion step against PyG, SciPy and torch CSR."""

from __future__ import annotations

import numpy as np

from harness import Job, Options, verdict
from peers import Graphfill, PyG, SciPy, TorchCSR
from problems import ARXIV, ARXIV_EDGES, ARXIV_NODES, CORA, FULL, PATH, REAL, TENTH, Case, Problem
from timing import per_step

COLUMNS = {
    "case": "graph", "who": "ours", "ours_ms": "ours, ms/step", "peer": "peer",
    "peer_ms": "peer, ms/step", "ratio": "ours/peer", "bar": "bar", "verdict": "",
    "difference": "max difference",
}  # fmt: skip


def jobs(options: Options) -> list[Job]:
    """One job per graph."""
    return [
        Job(case.name, lambda record, case=case: measure(case, options, record),
            case.skipped(options))
        for case in (PATH, CORA, *ARXIV, *REAL, *TENTH, *FULL)
    ]  # fmt: skip


def measure(case: Case, options: Options, record) -> None:
    """Record the ratio of each of ours to each peer.

    Reordering is forced on or off: "auto" may decide otherwise for few steps than
    for many, and the difference would then hold the ordering. The ``exact`` section
    measures "auto" as a user meets it.
    """
    problem = case.load(options)
    off = Graphfill(problem, reorder=False)
    ours = [off, Graphfill(problem, reorder=True, graph=off.graph)]
    wanted = [kind for kind in (PyG, SciPy, TorchCSR) if kind.name in options.peers]
    peers = [kind(problem) for kind in wanted or (PyG, SciPy, TorchCSR)]
    samples = {p.name: _sample(p, case.few) for p in ours + peers}

    def note(**fields):
        record(case=case.name, **fields)

    rounds = options.n_rounds(case.rounds)
    times = per_step(ours + peers, case.few, case.many, rounds, note)
    for mine in ours:
        for peer in peers:
            m, p = times[mine.name], times[peer.name]
            ratio, bar = m / p, _bar(case, peer.name, problem)
            record(
                case=case.name, who=mine.name, peer=peer.name, ratio=ratio, bar=bar,
                ours_ms=m * 1e3, peer_ms=p * 1e3,
                verdict=verdict(ratio, bar), rounds=rounds, few=case.few, many=case.many,
                difference=float(np.abs(samples[mine.name] - samples[peer.name]).max()),
            )  # fmt: skip


def _sample(peer, n_steps):
    """Some rows of the answer, to show that all do the same work; also the warm-up."""
    filled = peer.run(n_steps)
    return filled[:: max(1, len(filled) // 1000)].copy()


def _bar(case: Case, peer: str, problem: Problem) -> float:
    n_edges = problem.edge_index.shape[1] // 2
    large = problem.n_nodes >= ARXIV_NODES or n_edges >= ARXIV_EDGES
    return {"PyG": case.pyg_bar, "SciPy": 0.25 if large else 1.0}.get(peer, 1.0)
