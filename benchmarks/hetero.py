"""Does filling along typed edges help a heterogeneous network? Papers, authors and subjects.

    python benchmarks/hetero.py run [--authors sums|frequencies] [--fills zero mean ...]
    python benchmarks/hetero.py report

`run` hides 90 % of the papers' cells of hetero_acm.npz (from the folder GRAPHFILL_DATA), fills
them, and trains the same network on each fill: two layers of HeteroConv over SAGEConv, of width
64, on the features' leading components, to save time, given the 60 labels of train_20. Three
networks are trained on every fill and their accuracies averaged. Papers come as frequencies of
words and authors as sums of these over their papers ("sums"); for "frequencies" an author's are
divided by their sum. One line per fill and draw goes to results/hetero.jsonl; a line that is there
is not run again, so that an interrupted run resumes.
`report` prints the accuracies as tables and writes them to docs/hetero.md; exit code 1 when
graphfill is not above every other fill on the features as they come.
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

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "hetero.jsonl"
PAGE = HERE.parent / "docs" / "hetero.md"

HIDDEN = 0.9
WIDTH, EPOCHS, LOOK = 64, 150, 5  # validated every LOOK epochs
COMPONENTS = 128
STARTS = 3
# How authors are given, and the draws: ways of filling the sums were compared on draws 0 to 4.
DRAWS = {"sums": range(10, 20), "frequencies": range(10)}
EDGES = {("paper", "of", "author"): "edge_pa", ("paper", "on", "subject"): "edge_ps"}
FILLS = {
    "zero": "zero",
    "mean": "column mean",
    "type-blind": "propagation, nodes and links all alike",
    "graphfill": "graphfill, links of each type by themselves",
    "standardized": "graphfill, and columns on each type's scale",
    "held-out": "graphfill, links of each type weighted by held-out cells",
}
OURS = ("graphfill", "standardized", "held-out")
BEST = "standardized"  # settled on before draw 10 was looked at


def load(authors: str) -> tuple[dict, dict, np.ndarray, dict]:
    """Features by type (subjects have none), edges by type, classes, split."""
    file = np.load(Path(os.environ["GRAPHFILL_DATA"]) / "hetero_acm.npz", allow_pickle=False)

    def dense(which: str) -> np.ndarray:
        parts = (file[f"x_{which}_{part}"] for part in ("data", "indices", "indptr"))
        shape = tuple(file[f"x_{which}_shape"])
        return scipy.sparse.csr_array(tuple(parts), shape=shape).toarray().astype(np.float32)

    edges = {key: tuple(file[name].astype(np.int64)) for key, name in EDGES.items()}
    n_subjects = int(edges["paper", "on", "subject"][1].max()) + 1
    author = dense("a")
    if authors == "frequencies":
        author /= np.maximum(author.sum(axis=1, keepdims=True), 1e-12)
    features = {"paper": dense("p"), "author": author, "subject": n_subjects}
    split = {part: file[f"{part}_20"].astype(np.int64) for part in ("train", "val", "test")}
    return features, edges, file["y"].astype(np.int64), split


def hide(features: dict, seed: int) -> dict:
    """The features with most cells of the papers hidden."""
    random = np.random.default_rng(seed).random(features["paper"].shape, dtype=np.float32)
    return features | {"paper": np.where(random < HIDDEN, np.nan, features["paper"])}


def fill(name: str, features: dict, edges: dict) -> dict:
    """Features of all three types by one of the FILLS."""
    import graphfill as gf

    n_subjects = features["subject"]
    if name in ("zero", "mean"):
        means = np.nanmean(features["paper"], axis=0)
        value = means if name == "mean" else np.zeros_like(means)
        paper = np.where(np.isnan(features["paper"]), value, features["paper"])
        return features | {"paper": paper, "subject": np.tile(value, (n_subjects, 1))}
    if name == "type-blind":
        sizes = {kind: len(x) if kind != "subject" else x for kind, x in features.items()}
        first = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
        ends = [[u + first[s], v + first[t]] for (s, _, t), (u, v) in edges.items()]
        graph = gf.Graph.from_edges(np.concatenate(ends, axis=1), n_nodes=sum(sizes.values()))
        empty = np.full((n_subjects, features["paper"].shape[1]), np.nan, dtype=np.float32)
        X = np.concatenate([features["paper"], features["author"], empty])
        filled = gf.propagate(X, graph, normalization="rw", solver="exact").X
        return {k: filled[first[k] : first[k] + sizes[k]] for k in sizes}
    options = {"standardized": {"standardize": True}, "held-out": {"weights": "held-out"}}
    return gf.propagate_hetero(
        features, edges, shared="same_width", **options.get(name, {})
    ).features


def basis(features: dict) -> np.ndarray:
    """The authors' leading components: they are known whole, so it is the same for every fill."""
    from scipy.sparse.linalg import svds

    author = scipy.sparse.csr_array(features["author"].astype(np.float64))
    return svds(author, k=COMPONENTS, random_state=0)[2].T.astype(np.float32)


def accuracy(features: dict, edges: dict, y: np.ndarray, split: dict, seed: int) -> float:
    """The test accuracy of the network at its best validation accuracy, in percent."""
    import torch
    from torch.nn import functional
    from torch_geometric.nn import HeteroConv, SAGEConv

    from graphfill.bench.models.dropout import Dropout

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
    dropout = Dropout(0.5)
    dropout.reseed(seed)

    def forward(training: bool) -> torch.Tensor:
        even.train(training)
        dropout.train(training)
        h = {kind: even[kind](project[kind](X)).relu() for kind, X in x.items()}
        for layer in layers:
            h = {kind: dropout(H) for kind, H in h.items()}
            h = {kind: H.relu() for kind, H in layer(h, both).items()}
        return classify(dropout(h["paper"]))

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


def run(authors: str, fills: list[str]) -> None:
    """Every fill of every draw that is not on record yet."""
    done = {(row["fill"], row["draw"]) for row in read(authors)}
    features, edges, y, split = load(authors)
    V = basis(features)
    for draw in DRAWS[authors]:
        seen = hide(features, draw)
        hidden = np.isnan(seen["paper"])
        for name in fills:
            if (name, draw) in done:
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # subjects without a known cell near them
                filled = fill(name, seen, edges)
            wrong = filled["paper"][hidden] - features["paper"][hidden]
            parts = {kind: X @ V for kind, X in filled.items()}
            right = [accuracy(parts, edges, y, split, STARTS * draw + k) for k in range(STARTS)]
            row = {"authors": authors, "fill": name, "draw": draw, "accuracies": right,
                   "rmse": float(np.sqrt(np.mean(wrong**2))),
                   "seconds": round(time.perf_counter() - start, 1)}  # fmt: skip
            print(json.dumps(row), flush=True)
            with RESULTS.open("a") as file:
                file.write(json.dumps(row) + "\n")


def read(authors: str) -> list[dict]:
    """The lines on record."""
    if not RESULTS.exists():
        return []
    rows = map(json.loads, RESULTS.read_text().splitlines())
    return [row for row in rows if row["authors"] == authors]


def table(authors: str) -> tuple[str, dict[str, np.ndarray]]:
    """The rows as Markdown, and by how much graphfill is above each fill, draw by draw."""
    rows = [row for row in read(authors) if row["draw"] in DRAWS[authors]]
    by = {name: {r["draw"]: r for r in rows if r["fill"] == name} for name in FILLS}
    by = {name: found for name, found in by.items() if len(found) == len(DRAWS[authors])}
    right = {
        name: np.array([np.mean(found[draw]["accuracies"]) for draw in DRAWS[authors]])
        for name, found in by.items()
    }
    error = {name: np.mean([r["rmse"] for r in found.values()]) for name, found in by.items()}
    gains = {name: right[BEST] - found for name, found in right.items() if name != BEST}
    lines = [
        "| fill | accuracy, % | the best of ours above it by | error on hidden cells |",
        "|---|---|---|---|",
    ]
    for name, found in right.items():
        above = spread(gains[name]) if name in gains else ""
        relative = error[name] / error["zero"]
        lines.append(f"| {FILLS[name]} | {spread(found)} | {above} | {relative:.2f} |")
    return "\n".join(lines), gains


def sentence(gains: dict[str, np.ndarray]) -> str:
    """Which fills of others graphfill is above, and how surely."""
    others = [name for name in gains if name not in OURS]
    above = [name for name in others if gains[name].mean() > 0]
    sure = [
        name
        for name in above
        if gains[name].mean() > 2 * gains[name].std(ddof=1) / np.sqrt(len(gains[name]))
    ]
    said = f'"{FILLS[BEST]}" is above {len(above)} of {len(others)} other fills'
    unsure = [FILLS[name] for name in above if name not in sure]
    below = [FILLS[name] for name in others if name not in above]
    if unsure:
        said += f"; by less than two standard errors, so perhaps not: {', '.join(unsure)}"
    if below:
        said += f"; not above: {', '.join(below)}"
    return said + "."


def report() -> int:
    """Print the tables and write the page; 1 unless graphfill is above every other fill."""
    text = PREFACE.format(hidden=HIDDEN, starts=STARTS)
    met = False
    for authors, about in ABOUT.items():
        shown, gains = table(authors)
        about = about.format(draws=len(DRAWS[authors]))
        text += f"{about}\n\n{shown}\n\n{sentence(gains)}\n\n"
        if authors == "sums":
            met = all(gain.mean() > 0 for name, gain in gains.items() if name not in OURS)
    print(text)
    PAGE.write_text(text.rstrip() + "\n")
    return 0 if met else 1


PREFACE = """# Nodes of several types

Papers, authors and subjects (ACM): {hidden:.0%} of the papers' cells are hidden and filled, and the
same heterogeneous network is trained on each fill to tell the class of a paper from 60 labels, from
{starts} starts whose accuracies are averaged. Means over draws of the hidden cells, with their
standard errors; differences are paired. The error on hidden cells is the root mean square, relative
to filling zero. Written by `python benchmarks/hetero.py report`.

"""

ABOUT = {
    "sums": """## Features as they come

A paper has the frequencies of its words, an author the sums of these over all papers. {draws}
draws; how best to bring the two to one scale was found on others.""",
    "frequencies": """## Authors made frequencies too

Each author's words divided by their sum, as a user who knows would prepare them: then all types
have one scale as it is. {draws} draws.""",
}


def spread(values: np.ndarray) -> str:
    """Mean and standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():.1f} ± {error:.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--authors", choices=list(DRAWS), default="sums")
    parser.add_argument("--fills", nargs="+", choices=list(FILLS), default=list(FILLS)[:-1])
    given = parser.parse_args()
    if given.command == "run":
        run(given.authors, given.fills)
    else:
        sys.exit(report())
