"""Does filling along typed edges help a heterogeneous network? Papers, authors and subjects.

    python benchmarks/hetero.py run [--fills zero mean ...] [--draws N]
    python benchmarks/hetero.py report

`run` hides 90 % of the papers' cells of hetero_acm.npz (from the folder GRAPHFILL_DATA), fills
them, and trains the same network on each fill: two layers of HeteroConv over SAGEConv, of width
64, on the features in 256 random directions, to save time, given the 60 labels of train_20. Three
networks are trained on every fill and their accuracies averaged.
An author's features in the file are the sums of the papers' words, hidden or not (`run` checks
it), so authors come without, as subjects do, and get features by the fill.
One line per fill and draw goes to results/hetero.jsonl; a line that is there is not run again, so
that an interrupted run resumes.
`report` prints the accuracies as tables and writes them into docs/typed-graphs.md; exit code 1 when
graphfill is not above every other fill.
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
import scipy.sparse

from harness import write_part

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "hetero.jsonl"

HIDDEN = 0.9
WIDTH, EPOCHS, LOOK = 64, 150, 5  # validated every LOOK epochs
DIRECTIONS = 256
WORDS = 60.0  # of a paper, about: its frequencies are multiples of one in so many
STARTS = 3
FIRST = 10  # draw; what to compare was settled on others
EDGES = {("paper", "of", "author"): "edge_pa", ("paper", "on", "subject"): "edge_ps"}
FILLS = {
    "zero": "zero",
    "mean": "column mean",
    "type-blind": "propagation, nodes and links all alike",
    "graphfill": "graphfill",
    "true": "nothing hidden",
}
OURS, CEILING = "graphfill", "true"


def load() -> tuple[dict, dict, np.ndarray, dict]:
    """Features of papers, the number of authors and subjects, edges, classes, split."""
    file = np.load(Path(os.environ["GRAPHFILL_DATA"]) / "hetero_acm.npz", allow_pickle=False)

    def words(which: str) -> scipy.sparse.csr_array:
        parts = (file[f"x_{which}_{part}"] for part in ("data", "indices", "indptr"))
        return scipy.sparse.csr_array(tuple(parts), shape=tuple(file[f"x_{which}_shape"]))

    edges = {key: tuple(file[name].astype(np.int64)) for key, name in EDGES.items()}
    papers, authors = words("p"), words("a")
    paper, author = edges["paper", "of", "author"]
    shape = (authors.shape[0], papers.shape[0])
    wrote = scipy.sparse.csr_array((np.ones(len(paper)), (author, paper)), shape=shape)
    assert abs(wrote @ papers - authors).max() < 1e-6  # authors would give the papers away
    features = {
        "paper": papers.toarray().astype(np.float32),
        "author": authors.shape[0],
        "subject": int(edges["paper", "on", "subject"][1].max()) + 1,
    }
    split = {part: file[f"{part}_20"].astype(np.int64) for part in ("train", "val", "test")}
    return features, edges, file["y"].astype(np.int64), split


def hide(features: dict, draw: int) -> dict:
    """The features with most cells of the papers hidden."""
    random = np.random.default_rng(draw).random(features["paper"].shape, dtype=np.float32)
    return features | {"paper": np.where(random < HIDDEN, np.nan, features["paper"])}


def fill(name: str, features: dict, edges: dict) -> dict:
    """Features of all three types by one of the FILLS."""
    import graphfill as gf

    width = features["paper"].shape[1]
    bare = {kind: size for kind, size in features.items() if isinstance(size, int)}
    if name in ("zero", "mean"):
        means = np.nanmean(features["paper"], axis=0)
        value = means if name == "mean" else np.zeros_like(means)
        paper = np.where(np.isnan(features["paper"]), value, features["paper"])
        return (
            features | {kind: np.tile(value, (n, 1)) for kind, n in bare.items()} | {"paper": paper}
        )
    if name == "type-blind":
        whole = features | {
            kind: np.full((n, width), np.nan, dtype=np.float32) for kind, n in bare.items()
        }
        first = dict(zip(whole, np.cumsum([0, *map(len, whole.values())]), strict=False))
        ends = [[u + first[s], v + first[t]] for (s, _, t), (u, v) in edges.items()]
        X = np.concatenate(list(whole.values()))
        graph = gf.Graph.from_edges(np.concatenate(ends, axis=1), n_nodes=len(X))
        filled = gf.propagate(X, graph, normalization="rw", solver="exact").X
        return {kind: filled[first[kind] : first[kind] + len(whole[kind])] for kind in whole}
    return gf.propagate_hetero(features, edges).features


def projected(features: dict) -> dict:
    """Each type's columns in the same random directions, cells of about 1."""
    width = features["paper"].shape[1]
    V = np.random.default_rng(0).standard_normal((width, DIRECTIONS)).astype(np.float32)
    scale = WORDS / np.sqrt(DIRECTIONS)
    return {kind: (X @ V * scale).astype(np.float32) for kind, X in features.items()}


def accuracy(features: dict, edges: dict, y: np.ndarray, split: dict, seed: int) -> float:
    """The test accuracy of the network at its best validation accuracy, in percent."""
    import torch
    from torch.nn import functional
    from torch_geometric.nn import HeteroConv, SAGEConv

    torch.manual_seed(seed)
    torch.set_flush_denormal(True)
    x = {kind: torch.from_numpy(np.ascontiguousarray(X)) for kind, X in features.items()}
    both = {}
    for (source, relation, target), ends in edges.items():
        index = torch.from_numpy(np.stack(ends))
        both[source, relation, target] = index
        both[target, f"rev_{relation}", source] = index.flip(0)
    project = torch.nn.ModuleDict(
        {kind: torch.nn.Linear(X.shape[1], WIDTH) for kind, X in x.items()}
    )
    to_papers = [key for key in both if key[2] == "paper"]  # all that the last layer is asked for
    layers = torch.nn.ModuleList(
        HeteroConv({key: SAGEConv(WIDTH, WIDTH) for key in keys}, aggr="mean")
        for keys in (both, to_papers)
    )
    even = torch.nn.ModuleDict({kind: torch.nn.BatchNorm1d(WIDTH) for kind in x})
    classify = torch.nn.Linear(WIDTH, int(y.max()) + 1)
    dropout = torch.nn.Dropout(0.5)

    def forward(training: bool) -> torch.Tensor:
        even.train(training)
        dropout.train(training)
        h = {kind: even[kind](project[kind](X)) for kind, X in x.items()}
        for layer in layers:
            h = {kind: dropout(H.relu()) for kind, H in h.items()}
            h = layer(h, both)
        return classify(dropout(h["paper"].relu()))

    parameters = [
        *project.parameters(),
        *even.parameters(),
        *layers.parameters(),
        *classify.parameters(),
    ]
    adam = torch.optim.Adam(parameters, lr=0.01, weight_decay=5e-4)
    labels = torch.from_numpy(y)
    best, kept = -1.0, 0.0
    for epoch in range(1, EPOCHS + 1):
        adam.zero_grad()
        loss = functional.cross_entropy(forward(True)[split["train"]], labels[split["train"]])
        loss.backward()
        adam.step()
        if epoch % LOOK:
            continue
        with torch.no_grad():
            right = (forward(False).argmax(1) == labels).float()
        on_val = 100.0 * float(right[split["val"]].mean())
        if on_val > best:
            best, kept = on_val, 100.0 * float(right[split["test"]].mean())
    return kept


def run(fills: list[str], draws: int) -> None:
    """Every fill of every draw that is not on record yet."""
    done = {(row["fill"], row["draw"]) for row in read()}
    features, edges, y, split = load()
    for draw in range(FIRST, FIRST + draws):
        seen = hide(features, draw)
        hidden = np.isnan(seen["paper"])
        for name in fills:
            if (name, draw) in done:
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # subjects without a known cell near them
                filled = fill(name, features if name == CEILING else seen, edges)
                parts = projected(filled)
                right = [accuracy(parts, edges, y, split, STARTS * draw + k) for k in range(STARTS)]
            wrong = filled["paper"][hidden] - features["paper"][hidden]
            row = {"fill": name, "draw": draw, "accuracies": right,
                   "rmse": float(np.sqrt(np.mean(wrong**2))),
                   "seconds": round(time.perf_counter() - start, 1)}  # fmt: skip
            print(json.dumps(row), flush=True)
            with RESULTS.open("a") as file:
                file.write(json.dumps(row) + "\n")


def read() -> list[dict]:
    """The lines on record."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def table() -> tuple[str, dict[str, np.ndarray], int]:
    """The rows as Markdown; by how much graphfill is above each fill, by draw; and the draws."""
    rows = read()
    by = {name: {r["draw"]: r for r in rows if r["fill"] == name} for name in FILLS}
    draws = sorted(set.intersection(*(set(found) for found in by.values())))
    right = {
        name: np.array([np.mean(found[draw]["accuracies"]) for draw in draws])
        for name, found in by.items()
    }
    gains = {name: right[OURS] - found for name, found in right.items() if name != OURS}
    lines = [
        "| fill | accuracy, % | graphfill above it by | error on hidden cells |",
        "|---|---|---|---|",
    ]
    size = np.mean([by["zero"][draw]["rmse"] for draw in draws])
    for name, found in right.items():
        above = spread(gains[name]) if name in gains else ""
        error = np.mean([by[name][draw]["rmse"] for draw in draws]) / size
        lines.append(f"| {FILLS[name]} | {spread(found)} | {above} | {error:.2f} |")
    return "\n".join(lines), gains, len(draws)


def sentence(gains: dict[str, np.ndarray]) -> str:
    """Which fills of others graphfill is above, and how surely."""
    others = [name for name in gains if name != CEILING]
    above = [name for name in others if gains[name].mean() > 0]
    error = {name: gains[name].std(ddof=1) / np.sqrt(len(gains[name])) for name in others}
    unsure = [FILLS[name] for name in above if gains[name].mean() <= 2 * error[name]]
    below = [FILLS[name] for name in others if name not in above]
    said = f"graphfill is above {len(above)} of {len(others)} other fills"
    if unsure:
        said += f"; by less than two standard errors, so perhaps not, above: {', '.join(unsure)}"
    if below:
        said += f"; not above: {', '.join(below)}"
    return said + "."


def report() -> int:
    """Print the table and write the page; 1 unless graphfill is above every other fill."""
    shown, gains, draws = table()
    text = PREFACE.format(hidden=HIDDEN, starts=STARTS, draws=draws)
    text += f"{shown}\n\n{sentence(gains)}\n"
    print(text)
    write_part("typed-graphs.md", text)
    return 0 if all(gain.mean() > 0 for name, gain in gains.items() if name != CEILING) else 1


PREFACE = """\
Papers, authors and subjects (ACM): {hidden:.0%} of the papers' cells are hidden and filled, and the
same heterogeneous network is trained on each fill to tell the class of a paper from 60 labels, from
{starts} starts whose accuracies are averaged. Authors and subjects have no features and get theirs
from the papers, by each fill. (In this data an author comes with the sums of the words of all their
papers, off which hidden cells could be read; these are left out.) Means over {draws} draws of the
hidden cells, with their standard errors; differences are paired. The error on hidden cells is the
root mean square, relative to filling zero. graphfill's is `propagate_hetero` with its defaults.
Written by `python benchmarks/hetero.py report`.

"""


def spread(values: np.ndarray) -> str:
    """Mean and standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.1f} ± {error:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--fills", nargs="+", choices=list(FILLS), default=list(FILLS))
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args()
    if given.command == "run":
        run(given.fills, given.draws)
    else:
        sys.exit(report())
