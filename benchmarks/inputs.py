"""The chosen input of a network beside the inputs it is chosen from.

    GRAPHFILL_DATA=... python benchmarks/inputs.py run [--sets ...] [--seeds N]
    python benchmarks/inputs.py show | page

`run` trains a network (two layers, 64 hidden units, the setting of `graphfill.bench`) on each input
and appends a row per run to benchmarks/results/inputs.jsonl; rows that are there are kept, so that
it goes on where it was stopped. Runs of one number share split and mask. The five graphs of the
paper have 20 training nodes per class and lack 99 % of the cells or 99.5 % of the nodes; the three
of low homophily have their own splits and lack 99 % of the cells.

"chosen" sees the training and the validation labels, "chosen, train" the training labels alone, and
"graph" is the 20 leading eigenvectors beside the propagated training labels, no features. `show`
prints the means, and the differences to the chosen input with their standard errors; `page` puts
them into docs/network-input.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import torch

import graphfill as gf
from graphfill.bench._data import load
from graphfill.bench._draws import draw_mask, draw_split, usual_split
from graphfill.bench._fills import resolve
from graphfill.bench._models import gcn, sage
from graphfill.bench._models.blocks import whole
from graphfill.bench._problem import Problem, Setting
from graphfill.bench._train import fit, seeded
from graphfill.imputers._input_blocks import eigenvector_block, scaled
from graphfill.imputers._label_folds import LabelFolds
from graphfill.solve._positions import normalized_adjacency
from harness import HERE, table, write_part

ROWS = HERE / "results" / "inputs.jsonl"
PAPER = ("cora", "citeseer", "pubmed", "photo", "computers")
LOW = ("chameleon", "minesweeper", "actor")
HIDDEN = {"cells": ("uniform", 0.99), "nodes": ("structural", 0.995)}
CHOSEN, BY_TRAIN = "chosen", "chosen, train"
OF_PAPER = (CHOSEN, BY_TRAIN, "pcfi", "fp", "fp-exact", "graph", "full")
OF_LOW = (CHOSEN, BY_TRAIN, "zero", "fp", "pcfi", "full")
NO_MASK = ("graph", "full")  # the same whatever is hidden


def problems(name: str, seed: int) -> Iterator[tuple[str, Problem]]:
    """What is hidden, by name, and the problem."""
    dataset = load(name)
    split = draw_split(dataset, usual_split(name), seed)
    hidden = {"cells": HIDDEN["cells"]} if name in LOW else HIDDEN
    for what, (mask, rate) in hidden.items():
        yield what, Problem(dataset, split, draw_mask(dataset, mask, rate, seed, split), seed)


def made(problem: Problem, method: str) -> tuple[np.ndarray, str]:
    """The input, and what was chosen."""
    dataset, split, y = problem.dataset, problem.split, problem.dataset.y
    if method == "full":
        return dataset.dense(), ""
    train, validation = np.full((2, len(y)), -1)
    train[split.train], validation[split.val] = y[split.train], y[split.val]
    if method == "graph":
        S = normalized_adjacency(dataset.graph)
        labels = LabelFolds(train, dataset.n_classes, S, seed=problem.seed).block()
        blocks = eigenvector_block(dataset.graph), scaled(labels - labels.mean(axis=0), 1.0)
        return np.hstack(blocks).astype(np.float32), ""
    if method in (CHOSEN, BY_TRAIN):
        judge = validation if method == CHOSEN else None
        found = gf.network_input(
            problem.incomplete(), dataset.graph, train, validation=judge, seed=problem.seed
        )
        return found.X, " + ".join(found.blocks)
    return resolve(method)(problem.incomplete(), dataset.graph, problem.seed), ""


def trained(problem: Problem, X: np.ndarray, model: str) -> dict[str, float]:
    """Test accuracy, and the area under the ROC curve where there are two classes."""
    dataset, setting = problem.dataset, Setting()
    with seeded(problem.seed):
        build = {"gcn": gcn, "sage": sage}[model].network
        network = build(np.ascontiguousarray(X), dataset.graph, dataset.n_classes, setting)
    outcome = fit(network, dataset.y, problem.split, setting, problem.seed)
    row = {"accuracy": outcome.test_accuracy, "epochs": outcome.n_epochs}
    if dataset.n_classes == 2:
        from sklearn.metrics import roc_auc_score

        network.eval()
        with torch.no_grad():
            H = network.first(network.first.prepare(np.arange(dataset.n_nodes)))
            logits = network.rest(H, whole(network.operator, network.n_blocks)).numpy()
        margin = (logits[:, 1] - logits[:, 0])[problem.split.test]
        row["auc"] = 100.0 * float(roc_auc_score(dataset.y[problem.split.test], margin))
    return row


def cpu() -> float:
    """Processor seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rows() -> list[dict]:
    return [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []


def key(row: dict) -> tuple:
    return row["set"], row["hidden"], row["model"], row["method"], row["seed"]


def run(sets: list[str], seeds: range, until: float) -> None:
    """All runs that have no row yet, one after the other."""
    torch.set_num_threads(1)
    done = {key(row) for row in rows()}
    for seed in seeds:
        for name in sets:
            for what, problem in problems(name, seed):
                for method in OF_LOW if name in LOW else OF_PAPER:
                    hidden = "none" if method in NO_MASK else what
                    for model in ("gcn", "sage") if name in LOW else ("gcn",):
                        row = {"set": name, "hidden": hidden, "model": model, "method": method,
                               "seed": seed}  # fmt: skip
                        if key(row) in done or time.time() > until:
                            continue
                        start = cpu()
                        X, blocks = made(problem, method)
                        filled = cpu()
                        row |= {"blocks": blocks, **trained(problem, X, model)}
                        row |= {"input_s": filled - start, "train_s": cpu() - filled}
                        done.add(key(row))
                        with ROWS.open("a") as file:
                            file.write(json.dumps(row) + "\n")


def tables() -> str:
    """A line per case: means over the runs that all methods have, what the choice is ahead by."""
    found: dict[tuple, dict[tuple, float]] = defaultdict(dict)
    kept = rows()
    for row in kept:
        found[row["set"], row["hidden"], row["model"]][row["method"], row["seed"]] = row.get(
            "auc", row["accuracy"]
        )
    methods = list(dict.fromkeys((*OF_PAPER, *OF_LOW)))
    lines, ahead = [], []
    for case, held in found.items():
        if case[1] == "none" or CHOSEN not in {name for name, _ in held}:
            continue
        held = {**found[case[0], "none", case[2]], **held}
        first = {"set": case[0], "hidden": case[1], "model": case[2]}
        line, difference = dict(first), dict(first)
        tried = [method for method in methods if method in {name for name, _ in held}]
        seeds = {seed for _, seed in held}
        seeds = [s for s in sorted(seeds) if all((method, s) in held for method in tried)]
        line["runs"] = len(seeds)
        for method in tried if seeds else ():
            line[method] = f"{np.mean([held[method, seed] for seed in seeds]):.1f}"
            pairs = [held[CHOSEN, seed] - held[method, seed] for seed in seeds]
            error = np.std(pairs, ddof=len(pairs) > 1) / np.sqrt(len(pairs))
            spread = f" ± {error:.1f}" if len(pairs) > 1 else ""
            difference[method] = f"{np.mean(pairs):+.1f}{spread}"
        lines.append(line)
        ahead.append(difference)
    headers = {name: name for name in ("set", "hidden", "model", "runs", *methods)}
    ratios = defaultdict(list)
    for row in kept:
        if row["method"] in (CHOSEN, BY_TRAIN):
            ratios[row["set"]].append((row["input_s"], row["train_s"]))
    costs = [
        {"set": name, "input": np.mean(pairs, axis=0)[0], "training": np.mean(pairs, axis=0)[1]}
        for name, pairs in ratios.items()
    ]
    return "\n\n".join(
        [
            table(lines, headers),
            "The chosen input is ahead by (± the standard error, where there are several runs):",
            table(ahead, {name: name for name in headers if name not in (CHOSEN, "runs")}),
            "Processor seconds of choosing and of the one training that follows:",
            table(costs, {"set": "set", "input": "input, s", "training": "training, s"}),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("run", "show", "page"))
    parser.add_argument("--sets", nargs="+", default=[*PAPER, *LOW], choices=(*PAPER, *LOW))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--hours", type=float, default=1000.0, help="to start no run after")
    options = parser.parse_args()
    if options.task == "run":
        run(options.sets, range(options.seeds), time.time() + 3600 * options.hours)
    elif options.task == "show":
        print(tables())
    else:
        write_part("network-input.md", tables())


if __name__ == "__main__":
    main()
