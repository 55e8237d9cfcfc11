"""One method on one table, in a process of its own; prints the CPU seconds as JSON.

Called by defaults.py: defaults_fill.py METHOD FOLDER SEED CPU-LIMIT. The folder holds
table.parquet and edges.parquet, for graphfill, and coded.npz, for its peers; the fill is added.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from defaults_peers import FOREIGN, PEERS

CALLS = {"default": {}, "fp": {"method": "propagation", "reliance": 1.0}}


def is_method(name: str) -> bool:
    """Whether this is the default, a method of graphfill, or a peer."""
    return name in CALLS or name in PEERS or name.startswith("gf:")


def is_peer(name: str) -> bool:
    """Whether this is something to compare graphfill with; Feature Propagation alone is."""
    return name in PEERS or name == "fp"


def main(method: str, folder: Path, seed: int, cpu_limit: int) -> None:
    """Fill, and write the fill beside its input."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit + 5))
    if method not in FOREIGN:  # imports are not counted, as far as they are known here
        import sklearn.ensemble
        import sklearn.impute
        import sklearn.linear_model  # noqa: F401
    if method in PEERS:
        with np.load(folder / "coded.npz") as coded:
            arguments = coded["numbers"], coded["codes"], coded["n_values"]
        start = time.process_time()
        numbers, codes = PEERS[method](*arguments, seed)
        seconds = time.process_time() - start
        np.savez(folder / f"{method}.npz", numbers=numbers, codes=codes)
    else:
        seconds = graphfill(method, folder)
    print(json.dumps({"cpu": round(seconds, 2)}))


def graphfill(method: str, folder: Path) -> float:
    """Fill with graphfill; CPU seconds."""
    import pandas as pd

    import graphfill as gf

    table, edges = (pd.read_parquet(folder / f"{name}.parquet") for name in ("table", "edges"))
    asked = CALLS.get(method) or ({"method": method[3:]} if method.startswith("gf:") else {})
    start = time.process_time()
    filled = gf.impute(table, edges, id=table.columns[0], **asked)
    seconds = time.process_time() - start
    filled.to_parquet(folder / f"{method}.parquet")
    return seconds


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
