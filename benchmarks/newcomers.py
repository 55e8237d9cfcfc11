"""Nodes that arrive later: filled from the fitted table, against fitting again.

    GRAPHFILL_DATA=... python benchmarks/newcomers.py [--draws N] [--threads N] [--quick]

One node in a hundred of Photo (745 features; half, and nine tenths, of the cells missing) and of
the packages of Debian (527 tags, missing where nobody gave any) arrives after the fit: other nodes
in each draw. Both ways are timed in turns, best of the draws: `transform_new`, and `fit_transform`
of all nodes on a graph that is already built. The difference is relative, over the newcomers'
filled cells; the bar is for the worst draw.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from graphfill import FeaturePropagation, Graph, UnreachedWarning
from harness import HERE, Bystanders, machine, table, verdict, versions

TIME_BAR, DIFFERENCE_BAR = 0.05, 0.02
HOPS, DEFAULT_HOPS = (0, 1, 2), 1  # the bars are for the default
FIRST_DRAW = 5  # draws 0 to 4 chose the constants of imputers/neighborhood.py
COLUMNS = {
    "problem": "problem", "solver": "solver", "hops": "hops", "resolved": "old nodes solved",
    "refit": "refit, s", "seconds": "newcomers, s", "ratio": "ratio", "time_verdict": " ",
    "difference": "difference", "worst": "worst draw", "difference_verdict": "  ",
    "drift": "drift",
}  # fmt: skip


def read(name: str) -> tuple[np.ndarray, np.ndarray, dict]:
    """Edges and features of a graph."""
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        raise SystemExit("Set GRAPHFILL_DATA to the folder with the graphs.")
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as file:
        data = dict(file)
    X = np.zeros(data["x_shape"], dtype=np.float32)
    X[np.repeat(np.arange(len(X)), np.diff(data["x_indptr"])), data["x_indices"]] = 1
    return data["edge_index"], X, data


def photo(share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Photo with this share of its cells missing."""
    edges, X, _ = read("amazon_photo")
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return edges, X


def debian() -> tuple[np.ndarray, np.ndarray]:
    """Debian's packages, whose tags are missing where nobody gave any."""
    edges, X, data = read("debian_bookworm")
    X[~data["tags_observed"].astype(bool)] = np.nan
    return edges, X


def measure(name: str, edges: np.ndarray, X: np.ndarray, options: argparse.Namespace) -> list:
    """Rows of the table for one problem."""
    rows, seeds = [], range(FIRST_DRAW, FIRST_DRAW + options.draws)
    for solver in ("exact", "diffusion"):
        draws = [draw(edges, X, solver, options, seed) for seed in seeds]
        refit = min(seconds for seconds, _ in draws)
        for hops in HOPS:
            drawn = [by_hops[hops] for _, by_hops in draws]
            seconds = min(one["seconds"] for one in drawn)
            differences = [one["difference"] for one in drawn]
            ratio, worst, barred = seconds / refit, max(differences), hops == DEFAULT_HOPS
            rows.append({
                "problem": name, "solver": solver, "hops": hops,
                "resolved": int(np.mean([one["resolved"] for one in drawn])),
                "refit": refit, "seconds": seconds, "ratio": ratio,
                "time_verdict": verdict(ratio, TIME_BAR if barred else None),
                "difference": float(np.mean(differences)), "worst": worst,
                "difference_verdict": verdict(worst, DIFFERENCE_BAR if barred else None),
                "drift": float(np.mean([one["drift"] for one in drawn])), "draws": drawn,
            })  # fmt: skip
            print({key: rows[-1][key] for key in list(COLUMNS)[:10]}, file=sys.stderr)
    return rows


def draw(
    edges: np.ndarray, X: np.ndarray, solver: str, options: argparse.Namespace, seed: int
) -> tuple[float, dict]:
    """Seconds of a refit, and by hops what became of newcomers drawn at random."""
    n = len(X)
    order = np.random.default_rng(seed).permutation(n)
    rank = np.argsort(order)
    edges, X, n_old = rank[edges], X[order], n - n // 100
    late = (edges >= n_old).any(axis=0)
    whole = Graph.from_edges(*edges, n_nodes=n)
    old = Graph.from_edges(*edges[:, ~late], n_nodes=n_old)
    how = {"solver": solver, "threads": options.threads}
    fitted = FeaturePropagation(old, keep_fill=True, **how).fit(X[:n_old])
    lost = np.isnan(X[n_old:])
    start = time.perf_counter()
    expected = FeaturePropagation(whole, **how).fit_transform(X)
    refit = time.perf_counter() - start
    expected = expected[n_old:][lost].astype(np.float64)
    by_hops = {}
    for hops in HOPS:
        start = time.perf_counter()
        out = fitted.transform_new(X[n_old:], edges[:, late], hops=hops)
        seconds = time.perf_counter() - start
        apart = np.linalg.norm(out[lost] - expected) / np.linalg.norm(expected)
        by_hops[hops] = {
            "seed": seed, "seconds": seconds, "difference": float(apart),
            "resolved": fitted.newcomers_.n_resolved, "drift": fitted.newcomers_.drift,
        }  # fmt: skip
    return refit, by_hops


def main() -> None:
    """Run all, print a table, keep it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--quick", action="store_true", help="Photo alone")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "newcomers.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UnreachedWarning)
    others = Bystanders()
    rows = []
    for share in (0.5, 0.9):
        rows += measure(f"photo, {share:.0%} missing", *photo(share, seed=0), options)
    if not options.quick:
        rows += measure("debian, tags as observed", *debian(), options)
    print(table(rows, COLUMNS))
    kept = {"machine": machine(), "versions": versions(), "draws": options.draws,
            "threads": options.threads, "others": others.share(), "results": rows}  # fmt: skip
    options.output.write_text(json.dumps(kept, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
