"""Where is this junction? Coordinates of highway junctions from a hundredth of them.

    GRAPHFILL_DATA=folder python examples/roads.py

The world's highways have long paths between known places: 40 steps stay near where they began, the
limit goes all the way.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import graphfill as gf

KM_PER_DEGREE = 111.2

path = Path(os.environ.get("GRAPHFILL_DATA", ".")) / "world_highways.npz"
if not path.is_file():
    sys.exit("Set GRAPHFILL_DATA to the folder with world_highways.npz to run this example.")
with np.load(path, allow_pickle=False) as data:
    truth = data["x"].astype(np.float64)
    graph = gf.Graph.from_edges(data["edge_index"], n_nodes=len(truth))

hidden = np.random.default_rng(0).random(len(truth)) < 0.99
seen = np.where(hidden[:, None], np.nan, truth)
print(f"{graph.n_nodes:,} junctions, {graph.n_edges:,} roads, {(~hidden).sum():,} places known")
for name, how in {"40 steps": {}, "the limit": {"solver": "exact", "tol": 1e-4}}.items():
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.UnreachedWarning)  # islands without a known place
        result = gf.propagate(seen, graph, normalization="rw", unreached="nan", **how)
    seconds = time.perf_counter() - began
    away = (result.X - truth)[hidden]
    away[:, 1] *= np.cos(np.radians(truth[hidden, 0]))
    distance = KM_PER_DEGREE * np.hypot(*away[~np.isnan(away).any(axis=1)].T)
    print(f"{name}: half of the junctions within {np.median(distance):,.0f} km of where they are "
          f"({result.n_iter} products, {seconds:.1f} s)")  # fmt: skip
