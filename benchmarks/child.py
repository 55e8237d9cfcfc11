"""One fill in a process of its own; prints its peak memory as JSON.

Called by the memory section: child.py WHO EDGES.npy X.npy OPTIONS-AS-JSON
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings

import numpy as np


def status(key: str) -> int:
    """Bytes of a line of /proc/self/status, such as VmHWM (peak) or VmRSS (now)."""
    with open("/proc/self/status") as lines:
        return next(int(s.split()[1]) * 1024 for s in lines if s.startswith(key))


def main(who: str, edges_path: str, x_path: str, how: str) -> None:
    """Load both arrays wholly into memory, fill, and print what it took."""
    warnings.simplefilter("ignore")
    work = {"pyg": _pyg, "graphfill": _graphfill}.get(who)
    run = work(**json.loads(how)) if work else _named(who, **json.loads(how))
    imported = status("VmRSS")
    edge_index, X = np.load(edges_path), np.load(x_path)
    loaded = status("VmRSS")
    start = time.perf_counter()
    filled = run(edge_index, X)
    seconds = time.perf_counter() - start
    assert filled.shape == X.shape
    print(
        json.dumps(
            {
                "peak": status("VmHWM"),
                "maxrss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "inputs": edge_index.nbytes + X.nbytes,
                "imported": imported,
                "loaded": loaded,
                "seconds": seconds,
            }
        )
    )


def _pyg(n_steps: int):
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import FeaturePropagation

    def run(edge_index, X):
        x = torch.from_numpy(X)
        data = Data(x=x, edge_index=torch.from_numpy(edge_index))
        return FeaturePropagation(torch.isnan(x), num_iterations=n_steps)(data).x

    return run


def _graphfill(**how):
    from graphfill import propagate

    def run(edge_index, X):
        return propagate(X, edge_index, normalization="sym", **how).X

    return run


def _named(name: str, **how):
    """Another function of graphfill that takes a matrix and edges."""
    import graphfill

    fill = getattr(graphfill, name)
    return lambda edge_index, X: fill(X, edge_index, **how).X


if __name__ == "__main__":
    main(*sys.argv[1:])
