"""A table of a million rows and ten mixed columns with ten million edges, from file to file.

    python benchmarks/tables.py [--rows N] [--edges N] [--rounds N]
    python benchmarks/tables.py --default [--rows N] [--edges N] [--rounds N]
    python benchmarks/tables.py --fields [--rows N] [--edges N] [--rounds N]

Runs the command line and a plain pandas + SciPy script on the same Parquet files, in turns, each
in a process of its own, and prints the best time and the peak memory of each. With `--default`
the default against `--method propagation` instead, on a table whose columns are related, in CPU
seconds. With `--fields` `fill_field` against Feature Propagation to the limit, the same channels
of real tables and of that table for both, in one process on one thread.
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
DEFAULT_BAR, FIELD_BAR = 3.0, 10.0  # times the CPU seconds of propagation
MISSING = 0.3
COLUMNS = {
    "who": "run", "seconds": "seconds", "ratio": "ours/plain", "bar": "bar", "verdict": "",
    "peak_gb": "peak, GB", "memory_bar": "bar, GB", "memory_verdict": " ",
    "cells": "cells filled", "same": "cells as the plain script",
}  # fmt: skip
OURS = {
    "graphfill, 40 steps": ["--method", "propagation", "--solver", "diffusion",
                            "--steps", "40", "--reliance", "1"],
}  # fmt: skip

DEFAULTS = {
    "propagation": ["--method", "propagation"],
    "default": [],
    "default, intervals and report": ["--intervals", "0.9", "--report"],
}
FIELD_SETS = ("us_counties", "county_social_capital", "countries")
CPU_COLUMNS = {"who": "run", "seconds": "CPU s", "ratio": "of propagation", "bar": "bar",
               "verdict": "", "peak_gb": "peak, GB", "memory_bar": "bar, GB",
               "memory_verdict": " "}  # fmt: skip


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


def make_related(folder: Path, n_rows: int, n_edges: int) -> tuple[Path, Path]:
    """The same with columns that depend on three traits of a row, a fifth of the cells missing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    nodes = folder / f"related-{n_rows}.parquet"
    edges = folder / f"related-links-{n_rows}-{n_edges}.parquet"
    if nodes.exists() and edges.exists():
        return nodes, edges
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    pairs = community_graph(n_rows, n_edges, shuffled=False)
    n_groups = max(20, n_rows // 2500)
    of_group = rng.standard_normal((n_groups, 3))[np.arange(n_rows) * n_groups // n_rows]
    traits = 0.7 * (of_group + rng.standard_normal((n_rows, 3)))

    def mixed(*weights, noise=0.5):
        return traits @ np.array(weights) + noise * rng.standard_normal(n_rows)

    def words(k, x):
        shares = np.cumsum(np.arange(1, k + 1) ** -0.7)
        rank = np.argsort(np.argsort(x)) / n_rows
        names = np.array([f"{k}-{j:02d}" for j in range(k)])
        return names[np.minimum(np.searchsorted(shares / shares[-1], rank), k - 1)]

    columns = {
        "score": mixed(1, 0.3, 0),
        "height": 170 + 9 * mixed(0, 1, -0.5, noise=1.0),
        "rate": mixed(-0.5, 0, 1) ** 2,
        "income": np.exp(9 + 0.7 * mixed(1, 0.5, 0)),
        "age": np.rint(np.clip(45 + 12 * mixed(0.6, 0, 0.6), 18, 99)).astype(np.int64),
        "visits": rng.poisson(np.exp(1 + 0.4 * mixed(0, 0.8, 0.3))).astype(np.int64),
        "member": mixed(0.5, 0.5, 0.5, noise=1.0) > 0.3,
        "owner": mixed(1, 0, 0, noise=1.0) > 0,
        "plan": words(5, mixed(0.8, -0.4, 0)),
        "trade": words(50, mixed(0, 0.3, 1, noise=0.3)),
    }
    made = {"id": pa.array(np.arange(n_rows) + 1000)}
    for name, cells in columns.items():
        made[name] = pa.array(cells, mask=rng.random(n_rows) < 0.2)
    pq.write_table(pa.table(made), nodes)
    pq.write_table(pa.table({"source": pairs[0] + 1000, "target": pairs[1] + 1000}), edges)
    return nodes, edges


def measure_default(options) -> list[dict]:
    """The default against propagation, from file to file."""
    nodes, edges = make_related(options.cache, options.rows, options.edges)
    best: dict[str, tuple[float, float]] = {}
    for _ in range(options.rounds):
        for number, (name, how) in enumerate(DEFAULTS.items()):
            filled = options.cache / f"related-filled-{number}.parquet"
            command = [sys.executable, "-m", "graphfill.cli", "impute", str(nodes), str(edges),
                       "-o", str(filled), "--id", "id", "--overwrite", "--quiet", *how]  # fmt: skip
            if how[-1:] == ["--report"]:
                command.append(str(options.cache / "related.html"))
            took = run(command, cpu=True)
            print(f"{name}: {took[0]:.1f} CPU s, {took[1]:.2f} GB", file=sys.stderr)
            best[name] = min(best.get(name, took), took)
    rows = []
    for name, (seconds, peak) in best.items():
        bar = DEFAULT_BAR if name == "default" else None
        ratio = seconds / best["propagation"][0]
        rows.append({
            "who": name, "seconds": seconds, "ratio": ratio, "bar": bar,
            "verdict": verdict(ratio, bar), "peak_gb": peak, "memory_bar": MEMORY_BAR,
            "memory_verdict": verdict(peak, MEMORY_BAR),
        })  # fmt: skip
    return rows


def measure_fields(options) -> list[dict]:
    """`fill_field` against propagation to the limit, on the same channels."""
    import pandas as pd

    import graphfill as gf
    from defaults_sets import SETS, Set, hide
    from graphfill.trust._stack import one_thread

    nodes, edges = make_related(options.cache, options.rows, options.edges)
    made = Set(pd.read_parquet(nodes), pd.read_parquet(edges), "id",
               ("member", "owner", "plan", "trade"), share=0.0)  # fmt: skip
    rows = []
    for name in (*FIELD_SETS, f"made, {options.rows:,} rows"):
        data = SETS[name]() if name in SETS else made
        X, graph = channels(hide(data, 0)), graph_of(data)
        calls = {
            "propagation": lambda X=X, graph=graph: gf.propagate(
                X, graph, normalization="rw", solver="exact", threads=1
            ),
            "field": lambda X=X, graph=graph: gf.fill_field(X, graph, threads=1),
        }
        best: dict[str, float] = {}
        with one_thread():
            for _ in range(options.rounds):
                for who, call in calls.items():
                    start = time.process_time()
                    call()
                    best[who] = min(best.get(who, np.inf), time.process_time() - start)
        ratio = best["field"] / best["propagation"]
        rows.append({"who": f"{name}, {X.shape[1]} channels", "seconds": best["field"],
                     "ratio": ratio, "bar": FIELD_BAR,
                     "verdict": verdict(ratio, FIELD_BAR)})  # fmt: skip
    return rows


def channels(task) -> np.ndarray:
    """Numbers, and an indicator of each of the 20 most frequent values of categories."""
    coded = task.coded()
    parts = [coded["numbers"]]
    for codes, n_values in zip(coded["codes"].T, coded["n_values"], strict=True):
        indicators = (codes[:, None] == np.arange(min(n_values, 20))).astype(np.float64)
        indicators[np.isnan(codes)] = np.nan
        parts.append(indicators)
    return np.column_stack(parts)


def graph_of(data):
    """The edges of a set between its rows."""
    import pandas as pd

    import graphfill as gf

    ids = pd.Index(data.table[data.id])
    ends = [ids.get_indexer(data.edges.iloc[:, k]) for k in (0, 1)]
    there = (ends[0] >= 0) & (ends[1] >= 0)
    return gf.Graph.from_edges(ends[0][there], ends[1][there], n_nodes=len(ids))


def run(command: list[str], cpu: bool = False) -> tuple[float, float]:
    """Seconds of a command (of the CPU, if asked), and its peak memory in GB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    if cpu:
        seconds = usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss * 1024 / 1e9


def main() -> None:
    """Run all, print a table, keep it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=HERE / ".cache")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "tables.json")
    others_of = parser.add_mutually_exclusive_group()
    others_of.add_argument("--default", action="store_true", help="the default against propagation")
    others_of.add_argument("--fields", action="store_true", help="fields against propagation")
    options = parser.parse_args()
    if options.default or options.fields:
        name = "default" if options.default else "fields"
        others = Bystanders()
        rows = measure_default(options) if options.default else measure_fields(options)
        print(table(rows, CPU_COLUMNS))
        keep(options, options.output.with_name(f"tables-{name}.json"), others.share(), rows)
        return
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
    keep(options, options.output, share, rows)


def keep(options, path: Path, share: float, rows: list[dict]) -> None:
    """Write what was measured; `share` of the machine went to others."""
    kept = {"machine": machine(), "versions": versions(), "rows": options.rows,
            "edges": options.edges, "others": share,
            "results": rows}  # fmt: skip
    path.write_text(json.dumps(kept, indent=1, default=float) + "\n")


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
