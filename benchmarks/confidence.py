"""PCFI and FISF: time against FP and against PCFI column by column in torch, and peak memory.

    python benchmarks/confidence.py [--rounds 3] [--cache FOLDER]

The first part fills Cora (from the folder GRAPHFILL_DATA) with 99.5 % of its cells, or of its
nodes, missing, by 100 steps, in CPU seconds of this process: sides are interleaved and the best
round of each counts; torch, which takes long, runs once. There is no bar where half of the cells
are known, and nearly all columns vary: the correlations of PCFI are the most work there.

The second part fills a table of 169,343 nodes and 128 columns in a process of its own and says how
far its peak lies above its inputs. Appends to results/confidence.jsonl; exit code 1 when a bar is
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

import graphfill as gf
from graphfill.bench._data import load
from harness import HERE, Options, machine, verdict
from sections.first_fill import environment
from sections.memory import inputs

RESULTS = HERE / "results" / "confidence.jsonl"
STEPS, ALPHA, BETA = 100, 0.9, 1.0
CASES = [("cells", 0.995, True), ("nodes", 0.995, True), ("cells", 0.5, False)]  # held to bars?
FP_BAR, TORCH_BAR, PEAK_BAR = 3.0, 1 / 50, 2.0  # times FP, of torch's time, GB


def pcfi_by_column(x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
    """PCFI as its paper writes it: a search, and a matrix of messages, for every column."""
    n = len(x)
    loops = torch.arange(n)
    source, target = torch.cat([edge_index, torch.stack([loops, loops])], dim=1)
    known = ~x.isnan()
    filled, hops = torch.zeros_like(x), torch.full_like(x, torch.inf)
    for c in range(x.shape[1]):
        reached = known[:, c].clone()
        s = torch.where(reached, 0.0, torch.inf)
        for hop in range(1, n):
            new = torch.zeros(n, dtype=torch.bool)
            new[target[reached[source]]] = True
            new &= ~reached
            if not new.any():
                break
            s[new] = hop
            reached |= new
        hops[:, c] = s
        if not known[:, c].any():
            continue
        inside = reached[source]
        i, j = target[inside], source[inside]
        weight = ALPHA ** (s[j] - s[i] + 1)
        weight /= torch.zeros(n).index_add(0, i, weight)[i]
        A = torch.sparse_coo_tensor(torch.stack([i, j]), weight, (n, n)).to_sparse_csr()
        at_start = torch.where(known[:, c], x[:, c], 0.0)
        column = at_start[:, None]
        for _ in range(STEPS):
            column = torch.where(known[:, c, None], at_start[:, None], A @ column)
        filled[:, c] = column[:, 0]
    xi, mean = ALPHA**hops, filled.mean(dim=0)
    R = torch.corrcoef(filled.T).nan_to_num(0.0)
    R.fill_diagonal_(0.0)
    filled = filled + BETA * (1 - xi) * ((xi * (filled - mean)) @ R)
    return torch.where(known, x, filled)


def compare(mask: str, missing: float, rounds: int) -> dict:
    """CPU seconds of every side on Cora, and how far torch's answer is from ours."""
    dataset = load("cora")
    X, graph = dataset.dense(), dataset.graph
    shape = X.shape if mask == "cells" else (len(X), 1)
    X[np.broadcast_to(np.random.default_rng(0).random(shape) < missing, X.shape)] = np.nan
    rows = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
    edge_index = torch.from_numpy(np.stack([rows, graph.indices]).astype(np.int64))
    works = {
        "FP": lambda: gf.propagate(X, graph, n_iter=STEPS, threads=1),
        "PCFI": lambda: gf.fill_pcfi(X, graph, threads=1),
        "FISF": lambda: gf.fill_fisf(X, graph, threads=1),
    }
    best = dict.fromkeys(works, np.inf)
    for _ in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], cpu_seconds(work)[0])
    best["torch"], theirs = cpu_seconds(lambda: pcfi_by_column(torch.from_numpy(X), edge_index))
    ours = works["PCFI"]().X
    apart = float(np.abs(ours - theirs.numpy()).max())
    row = {"part": "time", "mask": mask, "missing": missing, "seconds": best}
    return row | {"largest_difference": apart}


def cpu_seconds(work) -> tuple[float, object]:
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def peaks(options: Options) -> list[dict]:
    """The peak above the inputs of a process that fills an arxiv-sized table."""
    edges_path, x_path = inputs("arxiv", options)
    rows = []
    for who in ("fill_pcfi", "fill_fisf"):
        command = [sys.executable, HERE / "child.py", who, edges_path, x_path, "{}"]
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True, text=True, check=True, env=environment(options),
        )  # fmt: skip
        said = json.loads(done.stdout.splitlines()[-1])
        above = (said["peak"] - said["loaded"]) / 1e9
        rows.append({"part": "memory", "who": who, "above_gb": above, **said})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", type=Path, default=Options.cache)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rows, held = [], True
    print("| Cora, 100 steps | FP, s | PCFI, s | of FP | FISF, s | torch, s | PCFI of torch |")
    print("|---|---|---|---|---|---|---|")
    for mask, missing, barred in CASES:
        row = compare(mask, missing, given.rounds)
        rows.append(row)
        s = row["seconds"]
        of_fp, of_torch = s["PCFI"] / s["FP"], s["PCFI"] / s["torch"]
        cells = (
            f"{s['FP']:.2f} | {s['PCFI']:.2f} | {of_fp:.2f} | {s['FISF']:.2f} | {s['torch']:.1f}"
        )
        print(f"| {missing:.1%} of {mask} | {cells} | 1/{1 / of_torch:.0f} |", flush=True)
        held &= row["largest_difference"] < 1e-3
        held &= not barred or (of_fp <= FP_BAR and of_torch <= TORCH_BAR)
    print("\n| 169,343 x 128 | peak above the inputs, GB | seconds | |\n|---|---|---|---|")
    for row in peaks(Options(cache=given.cache)):
        rows.append(row)
        print(f"| {row['who']} | {row['above_gb']:.2f} | {row['seconds']:.0f} | "
              f"{verdict(row['above_gb'], PEAK_BAR)} |")  # fmt: skip
        held &= row["above_gb"] <= PEAK_BAR
    with RESULTS.open("a") as file:
        for row in rows:
            file.write(json.dumps(row | {"machine": machine()["cpu"]}) + "\n")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
