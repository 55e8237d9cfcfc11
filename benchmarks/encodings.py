"""How far positional encodings reach, and why each node's is scaled to unit length.

    GRAPHFILL_DATA=... python benchmarks/encodings.py [--sets NAME ...] [--epochs N]

An eigenvector u of unit length is spread over 1 / sum(u^4) nodes: n if all entries are alike, 1 if
one node has all of it. With `--epochs`, the paper's network is also trained for so many epochs, on
one thread, on the eigenvectors as they are, on rows of unit length, and on such rows without the
first eigenvector: the CPU seconds of an epoch, and the best validation accuracy of each so far.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from graphfill.bench import _data as data
from graphfill.bench._models import featureless, gcn
from graphfill.bench._paper.experiments import cell
from graphfill.bench._problem import Dataset
from graphfill.bench._runs import Run, pose
from graphfill.bench._train import fit, seeded
from harness import HERE, machine, table, versions

SETS = ("cora", "citeseer", "pubmed", "photo", "computers", "arxiv")
COLUMNS = {"set": "set", "nodes": "nodes", "least": "least spread, nodes", "median": "median",
           "most": "most", "seconds": "epoch, CPU s", "raw": "validation, as they are, %",
           "rows": "rows of unit length, %", "rest": "without the first, %"}  # fmt: skip


def spread(encoding: np.ndarray) -> np.ndarray:
    """Over how many nodes each column is spread."""
    return 1.0 / (encoding.astype(np.float64) ** 4).sum(axis=0)


def trained(dataset: Dataset, X: np.ndarray, epochs: int) -> tuple[float, float]:
    """CPU seconds of an epoch, and the best validation accuracy so far in percent."""
    where = cell(dataset.name, "positional")
    setting = replace(where.setting, max_epochs=epochs)
    problem = pose(Run(where.set, where.method, split=where.split, setting=setting), dataset)
    with seeded(0):
        network = gcn.network(X, dataset.graph, dataset.n_classes, setting)
    seen: list[tuple[float, float]] = []
    fit(network, dataset.y, problem.split, setting, 0,
        lambda _, accuracy: seen.append((time.process_time(), accuracy)))  # fmt: skip
    times, accuracies = zip(*seen, strict=True)
    return (times[-1] - times[0]) / max(len(times) - 1, 1), max(accuracies)


def main() -> None:
    """Encode each set, print a table, keep it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--epochs", type=int, default=0)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "encodings.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in options.sets:
        dataset = data.load(name)
        X = featureless.encode(dataset.graph, k=21)
        reach = spread(X[:, :20])
        row = {"set": name, "nodes": dataset.n_nodes, "least": reach.min(),
               "median": np.median(reach), "most": reach.max()}  # fmt: skip
        if options.epochs:
            _, row["raw"] = trained(dataset, X[:, :20], options.epochs)
            _, row["rest"] = trained(dataset, featureless.unit_rows(X[:, 1:]), options.epochs)
            unit = featureless.unit_rows(X[:, :20])
            row["seconds"], row["rows"] = trained(dataset, unit, options.epochs)
        rows.append(row)
    print(table(rows, COLUMNS))
    kept = {"machine": machine(), "versions": versions(), "epochs": options.epochs, "results": rows}
    options.output.write_text(json.dumps(kept, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
