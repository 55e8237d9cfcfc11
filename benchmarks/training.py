"""Training time against plain PyG: ``python benchmarks/training.py [--quick]``.

One run of the paper's table, Feature Propagation and a GCN at 99 % missing, trained for the same
number of epochs by `graphfill.bench._train` and by the loop one would write first in PyG: two
`GCNConv` over all nodes and a second forward in each epoch to evaluate. Both see the same filled
features; runs are interleaved and the best of each counts. "cached" is the same PyG loop with
`GCNConv(cached=True)`, which normalises the graph once. Appends to
benchmarks/results/training.json; exit code 1 when the bar was missed. Needs GRAPHFILL_DATA.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torch_geometric.nn import GCNConv

from graphfill.bench._data import load
from graphfill.bench._draws import draw_mask, draw_split
from graphfill.bench._fills import resolve
from graphfill.bench._models import gcn
from graphfill.bench._problem import Problem, Setting
from graphfill.bench._train import fit, seeded
from harness import HERE, Bystanders, Ledger, Options, table, verdict
from timing import interleaved

BAR = 0.7
RATE = 0.99
SETS = ("cora", "citeseer", "pubmed", "photo", "computers")
COLUMNS = {
    "set": "set", "threads": "threads", "ours": "ours, ms/epoch", "pyg": "PyG", "cached": "cached",
    "ratio": "ours / PyG", "ratio_cached": "ours / cached", "ours_accuracy": "ours, %",
    "pyg_accuracy": "PyG, %", "busy": "others", "verdict": "",
}  # fmt: skip


def ours(problem: Problem, X: np.ndarray, setting: Setting) -> float:
    """Test accuracy after `setting.max_epochs` epochs."""
    dataset = problem.dataset
    with seeded(problem.seed):
        network = gcn.network(X, dataset.graph, dataset.n_classes, setting)
    return fit(network, dataset.y, problem.split, setting, problem.seed).test_accuracy


def plain(problem: Problem, X: np.ndarray, setting: Setting, cached: bool) -> float:
    """The same in PyG."""
    dataset, split = problem.dataset, problem.split
    row = np.repeat(np.arange(dataset.n_nodes), np.diff(dataset.graph.indptr))
    edge_index = torch.from_numpy(np.stack([row, dataset.graph.indices.astype(np.int64)]))
    x, y = torch.from_numpy(X), torch.from_numpy(dataset.y)
    train, val, test = (torch.from_numpy(rows) for rows in (split.train, split.val, split.test))
    with seeded(problem.seed):
        layers = torch.nn.ModuleList(
            [
                GCNConv(dataset.n_features, setting.hidden, cached=cached),
                GCNConv(setting.hidden, dataset.n_classes, cached=cached),
            ]
        )

        def forward(training: bool) -> torch.Tensor:
            H = layers[0](x, edge_index).relu()
            return layers[1](functional.dropout(H, setting.dropout, training), edge_index)

        adam = torch.optim.Adam(layers.parameters(), lr=setting.lr)
        best, kept = -1.0, 0.0
        for _ in range(setting.max_epochs):
            adam.zero_grad()
            functional.cross_entropy(forward(True)[train], y[train]).backward()
            adam.step()
            with torch.no_grad():
                right = forward(False).argmax(1) == y
            if float(right[val].float().mean()) > best:
                best, kept = float(right[val].float().mean()), float(right[test].float().mean())
    return 100.0 * kept


def measure(name: str, threads: int, n_epochs: int, rounds: int, ledger: Ledger) -> dict:
    """Milliseconds per epoch of all three on one set."""
    dataset = load(name)
    split = draw_split(dataset, "paper", seed=0)
    problem = Problem(dataset, split, draw_mask(dataset, "uniform", RATE, seed=0), seed=0)
    X = resolve("fp")(problem.incomplete(), dataset.graph, 0)
    setting = Setting(max_epochs=n_epochs, patience=n_epochs)
    torch.set_num_threads(threads)
    accuracy: dict[str, float] = {}
    works = {
        "ours": partial(ours, problem, X, setting),
        "pyg": partial(plain, problem, X, setting, cached=False),
        "cached": partial(plain, problem, X, setting, cached=True),
    }

    def noted(who: str) -> None:
        accuracy[who] = works[who]()

    others = Bystanders()
    times = interleaved({who: partial(noted, who) for who in works}, rounds, lambda **_: None)
    best = {who: 1000 * min(seconds) / n_epochs for who, seconds in times.items()}
    ratio = best["ours"] / best["pyg"]
    return ledger.record(
        set=name, threads=threads, n_epochs=n_epochs, rounds=rounds, **best, ratio=ratio,
        ratio_cached=best["ours"] / best["cached"], ours_accuracy=accuracy["ours"],
        pyg_accuracy=accuracy["pyg"], busy=others.share(), times=times,
        verdict=verdict(ratio, BAR if name == "cora" else None),
    )  # fmt: skip


def main(argv: list[str]) -> int:
    """Cora on one and on two threads, then the other sets on one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer epochs and rounds")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "training.json")
    arguments = parser.parse_args(argv)
    ledger = Ledger(arguments.output, Options(quick=arguments.quick), argv)
    rows = []
    for name in arguments.sets:
        for threads in (1, 2) if name == "cora" else (1,):
            n_epochs, rounds = (40, 2) if arguments.quick else (200 if name == "cora" else 60, 5)
            rows.append(measure(name, threads, n_epochs, rounds, ledger))
            print(table(rows[-1:], COLUMNS).splitlines()[-1], flush=True)
    print(f"\n{table(rows, COLUMNS)}\n\nbar: ours / PyG on Cora at most {BAR}")
    return 1 if any(row["verdict"] == "FAIL" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
