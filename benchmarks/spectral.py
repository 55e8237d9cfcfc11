"""Graphs whose neighbours differ: eigenvectors, Feature Propagation, and the most there is to gain.

    GRAPHFILL_DATA=... python benchmarks/spectral.py networks | bound | tables [--seeds N]

`networks` reads the runs that

    GRAPHFILL_DATA=... graphfill bench run --methods fp spectral --models sage --rates 0.99 \\
        --sets mixhop-0.0 mixhop-0.1 mixhop-0.2 mixhop-0.3 mixhop-0.7 mixhop-0.8 mixhop-0.9 \\
        --runs 10 --results benchmarks/results/spectral.parquet

has written: accuracy of GraphSAGE, and the error of the hidden cells, relative to their size. Runs
of one number share split and mask; differences are between these.

`bound` hides 99 % of the cells of the same graphs and gives the share of the hidden cells' variance
that is explained (R2). The oracle is the best precision of second degree in the normalised
adjacency, Q = (S - a I)^2 + b^2 I, its a and b chosen by the hidden cells themselves; class means
are given the class of every node.

`tables` does so for real tables and graphs, cells missing by several rates. R2 is the mean over
columns, one below -0.5 counted as -0.5.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.polynomial.chebyshev import chebinterpolate
from scipy import sparse
from scipy.optimize import minimize

import graphfill as gf
from graphfill.graph import adjacency_matrix
from harness import HERE, machine, table, versions

RUNS = HERE / "results" / "spectral.parquet"
FINE = 80  # degree of the polynomial that stands for 1 / Q
STARTS = (0.5, 0.75, 0.9, 1.05, -0.6)
RATES = (0.2, 0.5, 0.9, 0.99)
MOST_COLUMNS = 40  # of a real set: those that vary most
FILES = ("electric", "us_counties", "minesweeper", "chameleon_filtered", "actor")
Floats = np.ndarray
FILLS: dict[str, Callable[[Floats, gf.Graph], Floats]] = {
    "fp": lambda X, graph: gf.propagate(X, graph).X,
    "exact": lambda X, graph: (
        gf.propagate(X, graph, normalization="rw", solver="exact", tol=1e-5).X
    ),
    "field": lambda X, graph: gf.fill_field(X, graph).X,
    "vectors": lambda X, graph: gf.fill_spectral(X, graph, fallback=False).X,
}
HEADERS = {"fp": "FP, 40 steps", "exact": "FP, limit", "field": "field",
           "vectors": "eigenvectors", "chosen": "eigenvectors or FP"}  # fmt: skip


def explained(filled: Floats, truth: Floats, missing: Floats) -> float:
    """R2 of the missing cells, mean over the columns that vary there."""
    found = []
    for column in range(truth.shape[1]):
        cells = missing[:, column]
        size = (
            ((truth[cells, column] - truth[cells, column].mean()) ** 2).sum() if any(cells) else 0
        )
        if size > 0:
            error = ((filled[cells, column] - truth[cells, column]) ** 2).sum()
            found.append(max(-0.5, 1.0 - error / size))
    return float(np.mean(found))


def hidden(truth: Floats, rate: float, seed: int) -> tuple[Floats, Floats]:
    """The table with some of its known cells missing, and which."""
    missing = (np.random.default_rng(seed).random(truth.shape) < rate) & ~np.isnan(truth)
    return np.where(missing, np.nan, truth), missing


# -- networks --


def networks() -> list[dict]:
    """Accuracy and error of both methods on each graph, and the differences run by run."""
    rows = [row for row in pq.read_table(RUNS).to_pylist() if row["model"] == "sage"]
    lines = []
    for name in sorted({row["set"] for row in rows if row["method"] == "spectral"}):
        runs = {(r["method"], r["run"]): r for r in rows if r["set"] == name}
        both = [k for m, k in runs if m == "spectral" and ("fp", k) in runs]
        line = {"set": name, "runs": len(both)}
        for key, short in (("test_accuracy", "accuracy"), ("reconstruction", "error")):
            fp, own = (np.array([runs[m, k][key] for k in both]) for m in ("fp", "spectral"))
            line |= {
                f"fp_{short}": fp.mean(),
                short: own.mean(),
                f"{short}_gain": (own - fp).mean(),
            }
            line[f"{short}_se"] = (own - fp).std(ddof=1) / np.sqrt(len(both))
        lines.append(line)
    return lines


# -- what there is to gain --


def oracle(X: Floats, truth: Floats, missing: Floats, graph: gf.Graph) -> float:
    """R2 of the best Q of second degree."""
    A = sparse.csr_array(adjacency_matrix(graph), dtype=float)
    root = np.maximum(graph.degrees(), 1.0) ** -0.5
    S = sparse.csr_array(sparse.diags_array(root) @ A @ sparse.diags_array(root))
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    known, powers = [], []
    for column in range(X.shape[1]):
        at = np.flatnonzero(~np.isnan(X[:, column]))
        terms = [np.zeros((len(X), len(at)))]
        terms[0][at, np.arange(len(at))] = 1.0
        terms.append(S @ terms[0])
        while len(terms) <= FINE:
            terms.append(2 * (S @ terms[-1]) - terms[-2])
        known.append(at)
        powers.append(np.stack(terms))

    def loss(point: Floats) -> float:
        a, b = point[0], np.exp(np.clip(point[1], -4.5, 4))
        weights = chebinterpolate(lambda s: 1.0 / ((s - a) ** 2 + b**2), FINE)
        filled = np.empty_like(truth)
        for column, (at, terms) in enumerate(zip(known, powers, strict=True)):
            C = np.tensordot(weights, terms, 1)
            z = (X[at, column] - centre[column]) / scale[column]
            size = np.diag(C[at]).mean()
            inner = np.linalg.solve(C[at] / size + 1e-9 * np.eye(len(at)), z)
            filled[:, column] = centre[column] + scale[column] * (C / size) @ inner
        return -explained(filled, truth, missing)

    steps = {"maxiter": 40, "xatol": 0.02, "fatol": 1e-3}
    found = (minimize(loss, [a, -2.0], method="Nelder-Mead", options=steps) for a in STARTS)
    return -min(one.fun for one in found)


def bound(seeds: int) -> Iterator[dict]:
    """R2 on the graphs of graded homophily."""
    for tenths in (0, 1, 2, 3, 5, 7, 8, 9):
        with np.load(data_folder() / "mixhop" / f"h0.{tenths}.npz", allow_pickle=False) as held:
            graph = gf.Graph.from_edges(*held["edge_index"], n_nodes=len(held["y"]))
            truth, y = held["x"].astype(float), held["y"]
        kept: dict[str, list[float]] = {}
        for seed in range(seeds):
            X, missing = hidden(truth, 0.99, seed)
            means = np.tile(np.nanmean(X, axis=0), (len(X), 1))
            for label in np.unique(y):
                some = X[y == label]
                there = ~np.isnan(some).all(axis=0)
                means[np.ix_(y == label, there)] = np.nanmean(some[:, there], axis=0)
            scores = {name: explained(f(X, graph), truth, missing) for name, f in FILLS.items()}
            scores["chosen"] = explained(gf.fill_spectral(X, graph).X, truth, missing)
            scores["oracle"] = oracle(X, truth, missing, graph)
            scores["classes"] = explained(means, truth, missing)
            for name, score in scores.items():
                kept.setdefault(name, []).append(score)
        yield {"set": f"mixhop-0.{tenths}"} | {k: float(np.mean(v)) for k, v in kept.items()}


# -- real tables --


def data_folder() -> Path:
    """Where the graphs are."""
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        raise SystemExit("Set GRAPHFILL_DATA to the folder with the graphs.")
    return Path(folder)


def real(name: str) -> tuple[Floats, gf.Graph]:
    """The columns that vary most, and the graph."""
    if name == "county_social_capital":
        with (data_folder() / name / "nodes.csv").open() as file:
            lines = list(csv.DictReader(file))
        rank = {line["fips"]: row for row, line in enumerate(lines)}
        columns = [key for key in lines[0] if key not in ("fips", "county_name", "state", "cz")]
        x = np.array([[float(line[key] or "nan") for key in columns] for line in lines])
        with (data_folder() / name / "edges.csv").open() as file:
            ends = [[rank.get(one, -1) for one in line.values()] for line in csv.DictReader(file)]
        edges = np.array([both for both in ends if min(both) >= 0]).T
    else:
        with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as held:
            edges = held["edge_index"] if "edge_index" in held else held["edges"].T
            x = np.asarray(held["x"] if "x" in held else held["node_features"], float)
    keep = np.sort(np.argsort(-np.nanvar(x, axis=0), kind="stable")[:MOST_COLUMNS])
    return x[:, keep], gf.Graph.from_edges(*edges, n_nodes=len(x))


def tables(seeds: int) -> Iterator[dict]:
    """R2 on real tables, and the share of columns that are filled by eigenvectors."""
    for name in (*FILES, "county_social_capital"):
        truth, graph = real(name)
        for rate in RATES:
            kept: dict[str, list[float]] = {}
            for seed in range(seeds):
                X, missing = hidden(truth, rate, seed)
                scores = {key: explained(f(X, graph), truth, missing) for key, f in FILLS.items()}
                began = time.process_time()
                result = gf.fill_spectral(X, graph)
                scores["seconds"] = time.process_time() - began
                scores["chosen"] = explained(result.X, truth, missing)
                scores["share"] = float(result.spectral.mean())
                for key, score in scores.items():
                    kept.setdefault(key, []).append(score)
            yield {"set": name, "rate": rate} | {k: float(np.mean(v)) for k, v in kept.items()}


COLUMNS = {
    "networks": {"set": "set", "runs": "runs", "fp_accuracy": "accuracy, FP", "accuracy":
                 "eigenvectors or FP", "accuracy_gain": "gain", "accuracy_se": "standard error",
                 "fp_error": "error, FP", "error": "eigenvectors or FP ", "error_gain": "gain ",
                 "error_se": "standard error "},
    "bound": {"set": "set", **HEADERS, "oracle": "oracle of second degree",
              "classes": "class means"},
    "tables": {"set": "set", "rate": "missing", **HEADERS, "share": "columns by eigenvectors",
               "seconds": "CPU s"},
}  # fmt: skip


def main() -> None:
    """Measure, print a table, keep it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=COLUMNS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "spectral.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    made = {"networks": lambda seeds: networks(), "bound": bound, "tables": tables}
    kept = json.loads(options.output.read_text()) if options.output.exists() else {}
    rows: list[dict] = []
    for row in made[options.part](options.seeds):
        rows.append(row)
        kept[options.part] = {
            "machine": machine(), "versions": versions(), "seeds": options.seeds, "results": rows,
        }  # fmt: skip
        options.output.write_text(json.dumps(kept, indent=1, default=float) + "\n")
    print(table(rows, COLUMNS[options.part]))


if __name__ == "__main__":
    main()
