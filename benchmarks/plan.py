"""Does `graphfill plan` tell the truth? Its estimates against real runs of `graphfill impute`.

    python benchmarks/plan.py [--graphs NAME ...] [--scale 1.0] [--folder DIR] [--memory-only]
    python benchmarks/plan.py --model

Five graphs, small to large: three real ones (under GRAPHFILL_DATA), a tenth of ogbn-products in
size with 100 columns, and one with text ids and categories. Each is planned and filled in memory,
and from disk under a limit halfway between the least that can be kept and what memory would take.
Prints estimated and measured peak memory and time with their ratios, appends to
results/plan.jsonl, and exits with 1 when a peak is off by more than 25 % or a time by more than a
factor of 2. Times mean something on a quiet machine only: `--memory-only` judges the peaks.

`--model` prints what the cost model says of 1 and 100 billion edges, on the hardware it names.
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

from graphs import SIZES, community_graph, features
from harness import HERE, Bystanders, table

RESULTS = HERE / "results" / "plan.jsonl"
MEMORY_BAR, TIME_BAR = 0.25, 2.0
COLUMNS = {
    "graph": "graph", "way": "filled", "limit": "limit, MB", "planned_mb": "planned, MB",
    "peak_mb": "peak, MB", "memory_ratio": "ratio", "memory": "", "planned_s": "planned, s",
    "seconds": "s", "cpu": "CPU s", "time_ratio": "ratio ", "time": " ",
}  # fmt: skip


def main() -> int:
    given = _arguments()
    if given.model:
        from plan_model import print_model

        print_model()
        return 0
    rows, missed = [], 0
    for name in given.graphs:
        folder = Path(given.folder) / name
        own = GRAPHS[name](folder, given.scale)
        free = _planned(folder, own, None)
        limits: list[int | None] = [None]
        least, whole = free["from_disk"]["least_bytes"], free["in_memory"]["bytes"]
        if least < 0.95 * whole:  # else memory is enough wherever the disk would be
            limits.append((least + whole) // 2)
        for limit in limits:
            row = _row(name, folder, own, limit, given)
            rows.append(row)
            missed += row["memory"] == "FAIL" or (row["time"] == "FAIL" and not given.memory_only)
            print(table([row], COLUMNS).splitlines()[-1], flush=True)
    print("\n" + table(rows, COLUMNS))
    return 1 if missed else 0


def _row(name: str, folder: Path, own: str, limit: int | None, given) -> dict:
    """One plan, one run."""
    said = _planned(folder, own, limit)
    way = "in memory" if limit is None else "from disk"
    assert limit is None or said["advice"] == "from disk", said["advice"]
    others = Bystanders()
    planned = said[way.replace(" ", "_")]
    peak, seconds, cpu = _filled(folder, own, limit)
    ratio, slower = planned["bytes"] / peak, planned["seconds"] / seconds
    row = {
        "graph": name, "way": way, "limit": None if limit is None else limit / 1e6,
        "planned_mb": planned["bytes"] / 1e6, "peak_mb": peak / 1e6, "memory_ratio": ratio,
        "memory": "PASS" if abs(ratio - 1) <= MEMORY_BAR else "FAIL",
        "planned_s": planned["seconds"], "seconds": seconds, "cpu": cpu, "time_ratio": slower,
        "time": "PASS" if 1 / TIME_BAR <= slower <= TIME_BAR else "FAIL",
    }  # fmt: skip
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        also = {"scale": given.scale, "others": others.share(), "speeds": said["speeds"]}
        file.write(json.dumps(row | also) + "\n")
    return row


def _command(task: str, folder: Path, own: str, limit: int | None) -> list[str]:
    words = [sys.executable, "-m", "graphfill.cli", task]
    words += [str(folder / "nodes.parquet"), str(folder / "edges.parquet"), "--id", own]
    return words + ([] if limit is None else ["--memory-limit", str(limit)])


def _planned(folder: Path, own: str, limit: int | None) -> dict:
    command = [*_command("plan", folder, own, limit), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def _filled(folder: Path, own: str, limit: int | None) -> tuple[int, float, float]:
    """Peak bytes, seconds and CPU seconds of the real thing."""
    command = _command("impute", folder, own, limit)
    command += ["-o", str(folder / "filled.parquet"), "--overwrite", "--quiet"]
    # VmHWM, not ru_maxrss: a child inherits the latter from whoever started it.
    code = (
        "import sys; from graphfill.cli import main; code = main(sys.argv[1:]);"
        "print(open('/proc/self/status').read()); sys.exit(code)"
    )
    began, before = time.perf_counter(), os.times()
    done = subprocess.run([command[0], "-c", code, *command[3:]], capture_output=True, text=True)
    seconds, after = time.perf_counter() - began, os.times()
    if done.returncode:
        raise SystemExit(done.stderr)
    status = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    cpu = sum(after[2:4]) - sum(before[2:4])
    return int(status["VmHWM"].split()[0]) * 1024, seconds, cpu


# -- graphs --


def _write(folder: Path, columns: dict, links: dict, own: str) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    made = {own: pa.array(columns[own])}
    for name, cells in columns.items():
        if name != own:
            made[name] = pa.array(cells, mask=rng.random(len(cells)) < 0.3, from_pandas=True)
    pq.write_table(pa.table(made), folder / "nodes.parquet")
    pq.write_table(pa.table(links), folder / "edges.parquet")
    return own


def _data(name: str):
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        raise SystemExit(f"set GRAPHFILL_DATA to the folder that holds {name}.npz")
    return np.load(Path(folder) / f"{name}.npz", allow_pickle=False)


def counties(folder: Path, scale: float) -> str:
    with _data("us_counties") as data:
        columns = {"fips": data["fips"]}
        for j, name in enumerate(data["x_columns"]):
            columns[str(name)] = data["x"][:, j].astype(np.float64)
        links = dict(zip(("a", "b"), data["fips"][data["edge_index"]], strict=True))
    return _write(folder, columns, links, "fips")


def streamers(folder: Path, scale: float) -> str:
    with _data("twitch_DE") as data:
        ids = np.array([f"user{number}" for number in range(len(data["days"]))])
        columns = {"user": ids, "days": data["days"], "views": data["views"]}
        columns["partner"] = np.where(data["partner"], "yes", "no")
        links = dict(zip(("a", "b"), ids[data["edge_index"]], strict=True))
    return _write(folder, columns, links, "user")


def packages(folder: Path, scale: float) -> str:
    with _data("debian_bookworm") as data:
        ids = data["package_names"]
        columns = {
            "package": ids,
            "installed_size_kib": data["installed_size_kib"].astype(np.float64),
            "deb_size_bytes": data["deb_size_bytes"].astype(np.int64),
            "has_homepage": data["has_homepage"],
            "priority": data["priority_names"][data["priority"]],
            "section": data["section_names"][data["y"]],
        }
        links = dict(zip(("a", "b"), ids[data["edge_index"]], strict=True))
    return _write(folder, columns, links, "package")


def products(folder: Path, scale: float) -> str:
    n_nodes, n_edges, n_columns = SIZES["products/10"]
    n_nodes, n_edges = int(n_nodes * scale), int(n_edges * scale)
    edges = community_graph(n_nodes, n_edges, shuffled=True)
    X = features(n_nodes, n_columns, 0.9)
    columns = {"node": np.arange(n_nodes)} | {f"x{j}": X[:, j] for j in range(n_columns)}
    return _write(folder, columns, {"a": edges[0], "b": edges[1]}, "node")


def people(folder: Path, scale: float) -> str:
    n_nodes, n_edges = int(300_000 * scale), int(2_000_000 * scale)
    edges = community_graph(n_nodes, n_edges, shuffled=True)
    rng = np.random.default_rng(1)
    ids = np.array([f"person-{number:09d}" for number in rng.permutation(3 * n_nodes)[:n_nodes]])
    words = {k: np.array([f"{k}-{j:02d}" for j in range(k)]) for k in (5, 12, 30)}
    columns = {
        "id": ids,
        "income": rng.lognormal(9, 0.5, n_nodes),
        "age": rng.integers(18, 90, n_nodes),
        "member": rng.random(n_nodes) < 0.4,
        **{f"of {k}": words[k][rng.integers(0, k, n_nodes)] for k in words},
    }
    return _write(folder, columns, {"a": ids[edges[0]], "b": ids[edges[1]]}, "id")


GRAPHS = {made.__name__: made for made in (counties, streamers, packages, people, products)}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--scale", type=float, default=1.0, help="of the generated graphs")
    parser.add_argument("--folder", default=HERE / ".cache" / "plan", help="for the files")
    parser.add_argument("--memory-only", action="store_true", help="do not judge the times")
    parser.add_argument("--model", action="store_true", help="1 and 100 billion edges")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
