"""The field of a paper, from who wrote it and what it is filed under.

    GRAPHFILL_DATA=folder python examples/heterogeneous.py

Of the ACM graph's papers nine tenths have their field hidden. Authors and subjects have no columns
of their own: they pass on what the papers tell them.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np

import graphfill as gf
from graphfill import propagate_hetero

path = Path(os.environ.get("GRAPHFILL_DATA", ".")) / "hetero_acm.npz"
if not path.is_file():
    sys.exit("Set GRAPHFILL_DATA to the folder with hetero_acm.npz to run this example.")
with np.load(path, allow_pickle=False) as data:
    field = data["y"]
    edges = {
        ("paper", "by", "author"): tuple(data["edge_pa"]),
        ("paper", "on", "subject"): tuple(data["edge_ps"]),
    }
counts = {kind: int(ends[1].max()) + 1 for (_, _, kind), ends in edges.items()}

hidden = np.random.default_rng(0).random(len(field)) < 0.9
seen = np.where(hidden[:, None], np.nan, np.eye(field.max() + 1)[field])

print(f"{len(field):,} papers, {hidden.sum():,} without a field; the largest field holds "
      f"{np.bincount(field[hidden]).max() / hidden.sum():.1%} of these")  # fmt: skip
for name, weights in {
    "authors": {"on": 0.0},
    "subjects": {"by": 0.0},
    "authors and subjects": {},
}.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.UnreachedWarning)  # papers that share no author
        filled = propagate_hetero({"paper": seen, **counts}, edges, weights=weights,
                                  unreached="mean")  # fmt: skip
    guess = filled.features["paper"].argmax(axis=1)
    print(f"from {name}: {np.mean(guess[hidden] == field[hidden]):.1%} right")
