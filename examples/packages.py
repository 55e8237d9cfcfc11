"""Tags of Debian packages, from the packages they depend on.

    GRAPHFILL_DATA=folder python examples/packages.py

About half of the packages carry tags. A fifth of these are hidden and filled from the rest: of the
packages most sure to carry a tag, how many do?
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np

import graphfill as gf

N_TAGS = 20

path = Path(os.environ.get("GRAPHFILL_DATA", ".")) / "debian_bookworm.npz"
if not path.is_file():
    sys.exit("Set GRAPHFILL_DATA to the folder with debian_bookworm.npz to run this example.")
with np.load(path, allow_pickle=False) as data:
    tagged, names = data["tags_observed"], data["tag_names"]
    graph = gf.Graph.from_edges(data["edge_index"], n_nodes=len(tagged))
    package = np.repeat(np.arange(len(tagged)), np.diff(data["x_indptr"]))
    tag = data["x_indices"].astype(np.int64)

common = np.argsort(-np.bincount(tag))[:N_TAGS]
truth = np.zeros((len(tagged), len(names)), dtype=np.float32)
truth[package, tag] = 1.0
truth = truth[:, common]

hidden = tagged & (np.random.default_rng(0).random(len(tagged)) < 0.2)
seen = np.where((tagged & ~hidden)[:, None], truth, np.nan)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", gf.UnreachedWarning)  # packages that depend on nothing
    result = gf.propagate(seen, graph, normalization="rw", solver="exact", shrinkage=0.05)

print(f"{len(tagged):,} packages, {graph.n_edges:,} dependencies, {hidden.sum():,} packages hidden")
print(f"{'tag':<32} carry it   of as many, surest first")
precisions = []
for column in range(N_TAGS):
    carries, guess = truth[hidden, column], result.X[hidden, column]
    surest = np.argsort(-guess, kind="stable")[: int(carries.sum())]
    precisions.append(carries[surest].mean())
    if column < 5:
        print(f"{names[common[column]]:<32} {carries.mean():8.0%}   {precisions[-1]:.0%}")
print(f"all {N_TAGS} tags: {np.mean(precisions):.0%} right, where chance would have "
      f"{truth[hidden].mean():.0%}")  # fmt: skip
