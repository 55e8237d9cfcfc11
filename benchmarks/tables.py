"""A table of a million rows and ten mixed columns with ten million edges, from file to file.

    python benchmarks/tables.py [--rows N] [--edges N] [--rounds N]

Runs the command line and a plain pandas + SciPy script on the same Parquet files, in turns, each
in a process of its own, and prints the best time and the peak memory of each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from graphs import community_graph
from harness import HERE, Bystanders, machine, table, verdict, versions

TIME_BAR, MEMORY_BAR = 0.5, 12.0
MISSING = 0.3
COLUMNS = {
    "who": "run", "seconds": "seconds", "ratio": "ours/plain", "bar": "bar", "verdict": "",
    "peak_gb": "peak, GB", "memory_bar": "bar, GB", "memory_verdict": " ",
    "cells": "cells filled", "same": "cells as the plain script",
}  # fmt: skip
OURS = {
    "graphfill, 40 steps": ["--solver", "diffusion", "--steps", "40", "--reliance", "1"],
    "graphfill, defaults": [],
}


def make(folder: Path, n_rows: int, n_edges: int) -> tuple[Path, Path]:
    """Write the two files, once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    nodes, edges = folder / f"table-{n_rows}.parquet", folder / f"links-{n_rows}-{n_edges}.parquet"
    if nodes.exists() and edges.exists():
        return nodes, edges
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    pairs = community_graph(n_rows, n_edges, shuffled=False)
    group = np.arange(n_rows) * 400 // n_rows  # neighbours have near numbers, so like groups
    order = rng.permutation(n_rows)
    ids = rng.permutation(np.arange(10 * n_rows, 13 * n_rows, 3))

    def like_group(k):
        return np.where(rng.random(n_rows) < 0.7, (group * 7919) % k, rng.integers(0, k, n_rows))

    words = {k: np.array([f"{k}-{j:02d}" for j in range(k)]) for k in (5, 12, 30)}
    columns = {
        "income": group * 50.0 + rng.lognormal(9, 0.5, n_rows),
        "score": np.sin(group / 20) + rng.normal(0, 0.3, n_rows),
        "height": rng.normal(170, 9, n_rows),
        "age": (20 + group % 60 + rng.integers(0, 9, n_rows)).astype(np.int64),
        "visits": rng.poisson(group % 30).astype(np.int64),
        "member": rng.random(n_rows) < (group % 10) / 10,
        "joined": np.datetime64("2020-01-01", "us")
        + (group * 86_400_000_000 + rng.integers(0, 10**11, n_rows)).astype("timedelta64[us]"),
        "plan": words[5][like_group(5)],
        "city": words[12][like_group(12)],
        "trade": words[30][like_group(30)],
    }
    made = {"id": pa.array(ids[order])}
    for name, cells in columns.items():
        made[name] = pa.array(cells[order], mask=rng.random(n_rows) < MISSING)
    pq.write_table(pa.table(made), nodes)
    pq.write_table(pa.table({"source": ids[pairs[0]], "target": ids[pairs[1]]}), edges)
    return nodes, edges


def run(command: list[str]) -> tuple[float, float]:
    """Seconds of a command, and its peak memory in GB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return seconds, usage.ru_maxrss * 1024 / 1e9


def main() -> None:
    """Run all, print a table, keep it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=HERE / ".cache")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "tables.json")
    options = parser.parse_args()
    nodes, edges = make(options.cache, options.rows, options.edges)
    filled = {name: options.cache / f"filled-{number}.parquet" for number, name in enumerate(OURS)}
    plain = options.cache / "filled-plain.parquet"
    commands = {"pandas + SciPy, 40 steps": [sys.executable, str(HERE / "plain_table.py"),
                                             str(nodes), str(edges), str(plain)]}  # fmt: skip
    for name, how in OURS.items():
        commands[name] = [sys.executable, "-m", "graphfill.cli", "impute", str(nodes), str(edges),
                          "-o", str(filled[name]), "--id", "id", "--overwrite", "--quiet",
                          *how]  # fmt: skip
    best: dict[str, tuple[float, float]] = {}
    others = Bystanders()
    for _ in range(options.rounds):
        for name, command in commands.items():
            took = run(command)
            print(f"{name}: {took[0]:.1f} s, {took[1]:.2f} GB", file=sys.stderr)
            best[name] = min(best.get(name, took), took)
    share = others.share()
    rows = []
    base = best["pandas + SciPy, 40 steps"][0]
    for name, (seconds, peak) in best.items():
        mine = name in OURS
        bar = TIME_BAR if name == "graphfill, 40 steps" else None
        ratio = seconds / base if mine else None
        rows.append({
            "who": name, "seconds": seconds, "ratio": ratio, "bar": bar,
            "verdict": verdict(ratio or 0.0, bar), "peak_gb": peak,
            "memory_bar": MEMORY_BAR if mine else None,
            "memory_verdict": verdict(peak, MEMORY_BAR if mine else None),
            **(compare(filled[name], plain, nodes) if mine else {}),
        })  # fmt: skip
    print(table(rows, COLUMNS))
    kept = {"machine": machine(), "versions": versions(), "rows": options.rows,
            "edges": options.edges, "others": share,
            "results": rows}  # fmt: skip
    options.output.write_text(json.dumps(kept, indent=1, default=float) + "\n")


def compare(ours: Path, plain: Path, nodes: Path) -> dict:
    """How many cells were filled, and the share of them on which both agree (numbers: to 1 %)."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    mine, theirs, seen = (pq.read_table(path) for path in (ours, plain, nodes))
    n_cells = n_same = 0
    for name in seen.column_names[1:]:
        lost = seen[name].is_null()
        a, b = mine[name].filter(lost), theirs[name].filter(lost)
        n_cells += len(a)
        if str(a.type) in ("double", "int64"):
            a, b = a.to_numpy(), b.to_numpy()
            n_same += int(np.sum(np.abs(a - b) <= 0.01 * np.std(b) + 1.0 * (a.dtype.kind == "i")))
        elif str(a.type).startswith("timestamp"):
            a, b = (c.cast("timestamp[us]").to_numpy().astype("int64") for c in (a, b))
            n_same += int(np.sum(np.abs(a - b) <= 0.01 * np.std(b)))
        else:
            n_same += pc.sum(pc.equal(a.cast("string"), b.cast("string"))).as_py()
    return {"cells": n_cells, "same": n_same / n_cells}


if __name__ == "__main__":
    main()
