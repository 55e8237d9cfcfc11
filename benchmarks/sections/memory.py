"""Peak memory of a fill in a process of its own, graphfill against PyG.

The peak is VmHWM, not ru_maxrss: on Linux a child started by a large process
inherits that process's ru_maxrss at exec, so it says more about this script than
about the fill. Both are recorded.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import graphs
from harness import HERE, Job, Options, verdict
from sections.first_fill import environment

COLUMNS = {
    "case": "graph", "who": "fill", "peak_gb": "peak, GB", "inputs_gb": "inputs, GB",
    "above_gb": "peak - inputs, GB", "imported_gb": "after imports, GB",
    "ratio": "peak ours/PyG", "above_ratio": "peak - inputs ours/PyG", "seconds": "seconds",
    "bar": "bar", "verdict": "",
}  # fmt: skip
BAR = 0.5
# PyG's peak is reached by its third step: 40 would take minutes more and no more memory.
FILLS = {
    "PyG, 3 steps": ("pyg", {"n_steps": 3}),
    "diffusion": ("graphfill", {"solver": "diffusion", "n_iter": 40}),
    "exact": ("graphfill", {"solver": "exact", "tol": 1e-3}),
}


def jobs(options: Options) -> list[Job]:
    """One job per size."""
    sizes = {"arxiv": "", "products/10": "not in --quick", "products": "needs --full"}
    if not options.quick:
        sizes = {"products/10": "", "products": "" if options.full else "needs --full"}
    return [
        Job(size, lambda record, size=size: measure(size, options, record), skip)
        for size, skip in sizes.items()
    ]


def measure(size: str, options: Options, record) -> None:
    """Record each fill's peak and its ratio to PyG's."""
    edges_path, x_path = inputs(size, options)
    limit = 3 * x_path.stat().st_size // 2
    fills = FILLS | {
        f"{name}, limit {limit / 1e9:.2g} GB": (who, how | {"memory_limit": limit})
        for name, (who, how) in FILLS.items()
        if who == "graphfill"
    }
    pyg = None
    for name, (who, how) in fills.items():
        said = _child(who, edges_path, x_path, how, options)
        above = said["peak"] - said["inputs"]
        pyg = pyg or (said["peak"], above)
        ratio = said["peak"] / pyg[0]
        mine = who == "graphfill"
        record(
            case=f"{size} shuffled", who=name, peak_gb=said["peak"] / 1e9, above_gb=above / 1e9,
            inputs_gb=said["inputs"] / 1e9, imported_gb=said["imported"] / 1e9,
            maxrss_gb=said["maxrss"] / 1e9, seconds=said["seconds"], options=how,
            ratio=ratio if mine else None, above_ratio=above / pyg[1] if mine else None,
            bar=BAR if mine else None, verdict=verdict(ratio, BAR if mine else None),
        )  # fmt: skip


def inputs(size: str, options: Options) -> tuple[Path, Path]:
    """Files of edge_index (int64, both directions) and X (float32), made once."""
    stem = size.replace("/", "_")
    edges_path = options.cache / f"edge_index-{stem}-shuffled.npy"
    x_path = options.cache / f"X-{stem}-{options.seed}.npy"
    if not edges_path.exists():
        edges = graphs.cached_community_graph(size, shuffled=True, folder=options.cache)
        _save(edges_path, graphs.both_directions(edges))
    if not x_path.exists():
        n_nodes, _, n_columns = graphs.SIZES[size]
        _save(x_path, graphs.features(n_nodes, n_columns, 0.99, seed=options.seed))
    return edges_path, x_path


def _save(path, array):
    part = path.with_suffix(".part.npy")
    np.save(part, array)
    part.replace(path)


def _child(who, edges_path, x_path, how, options):
    command = [sys.executable, HERE / "child.py", who, edges_path, x_path, json.dumps(how)]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=environment(options)
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise RuntimeError(lines[-1])
    return json.loads(done.stdout.splitlines()[-1])
