"""From a fresh process to a filled Cora: import, load, build, propagate."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import graphfill
from harness import Job, Options, verdict

COLUMNS = {
    "case": "process", "best": "best wall, s", "median": "median wall, s",
    "inside": "measured inside, s", "bar": "bar", "heavy": "heavy modules loaded", "verdict": "",
}  # fmt: skip
HEAVY = ("sklearn", "pandas", "torch", "matplotlib", "numba", "polars", "networkx")

TAIL = f"""
import json, sys
print(json.dumps({{"inside": inside, "heavy": [m for m in {HEAVY!r} if m in sys.modules]}}))
"""
NOTHING = "inside = 0.0" + TAIL
NUMPY = (
    "import time; t = time.perf_counter()\nimport numpy\ninside = time.perf_counter() - t" + TAIL
)
IMPORT = NUMPY.replace("import numpy", "import graphfill")
FILL = (
    """
import os, time
t = time.perf_counter()
import numpy as np
import graphfill as gf
with np.load(os.path.join(os.environ["GRAPHFILL_DATA"], "cora.npz"), allow_pickle=False) as data:
    edges, shape = data["edge_index"].astype(np.int64), tuple(data["x_shape"])
    rows, cols = np.repeat(np.arange(shape[0]), np.diff(data["x_indptr"])), data["x_indices"]
X = np.zeros(shape, dtype=np.float32)
X[rows, cols] = 1.0
X[np.random.default_rng(0).random(shape, dtype=np.float32) < 0.99] = np.nan
graph = gf.Graph.from_edges(edges, n_nodes=shape[0])
import warnings; warnings.simplefilter("ignore")
filled = gf.propagate(X, graph, normalization="sym", solver="diffusion", n_iter=40).X
assert np.isfinite(filled).all()
inside = time.perf_counter() - t
"""
    + TAIL
)


def jobs(options: Options) -> list[Job]:
    """Bare interpreter, numpy, graphfill, and the whole first fill."""
    scripts = {
        "python": (NOTHING, None), "import numpy": (NUMPY, None),
        "import graphfill": (IMPORT, None), "import to filled Cora": (FILL, 1.0),
    }  # fmt: skip
    return [
        Job(name, lambda record, n=name, s=script, b=bar: measure(n, s, b, options, record))
        for name, (script, bar) in scripts.items()
    ]


def measure(name: str, script: str, bar: float | None, options: Options, record) -> None:
    """Wall time of fresh processes; FAIL too when a heavy module was loaded."""
    _fresh(script, options)  # leaves the bytecode
    runs = [_fresh(script, options) for _ in range(options.rounds or 5)]
    walls = [wall for wall, _ in runs]
    heavy = runs[0][1]["heavy"]
    word = "FAIL" if heavy else (verdict(min(walls), bar) or "PASS")
    record(
        case=name, best=min(walls), median=statistics.median(walls), walls=walls, bar=bar,
        inside=min(said["inside"] for _, said in runs), verdict=word,
        heavy=", ".join(heavy) or "none",
    )  # fmt: skip


def environment(options: Options) -> dict:
    """The environment of a child that finds the same graphfill, with bytecode kept.

    Installed packages come with bytecode; here it is kept in the cache folder, so that
    a source tree starts like an installation and is not written to.
    """
    source = str(Path(graphfill.__file__).resolve().parents[1])
    mine = {
        "PYTHONPATH": source + os.pathsep + os.environ.get("PYTHONPATH", ""),
        "PYTHONPYCACHEPREFIX": str(options.cache / "bytecode"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    return {**os.environ, **mine}


def _fresh(script, options):
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment(options)
    )
    wall = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return wall, json.loads(done.stdout.splitlines()[-1])
