"""From file to file: a table and edges of the size of ogbn-products, in memory and under limits.

    python benchmarks/files.py [--scale 1.0] [--limits 4GB 2GB] [--sorters]
    python benchmarks/files.py --billion

The graph is generated (see graphs.py; ids shuffled), 100 float32 columns, 99 % of the cells
missing, all in Parquet. `graphfill impute` is run on it in memory and then under each limit, which
the operating system enforces; outputs must agree to the bit, and take at most twice the time.
`--sorters` times the sorting of the edges alone, against DuckDB and Polars doing the same
relational work under the same limit. `--billion` makes a file of 10^9 directed edges between 20
million nodes and fills 4 columns within 20 GB. Appends to results/files.jsonl; exit code 1 when a
bar was missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from cgroup import Outcome, run
from graphfill.solve._memory import parse_bytes
from graphs import SIZES, community_graph, features
from harness import HERE, Bystanders, machine, table, verdict, versions

RESULTS = HERE / "results" / "files.jsonl"
BAR = 2.0
FILL = ["--id", "node", "--solver", "diffusion", "--steps", "40", "--reliance", "1", "--quiet"]
COLUMNS = {
    "case": "case", "limit": "limit, GB", "seconds": "seconds", "ratio": "ratio",
    "peak": "peak, GB", "group_peak": "with files, GB", "enforced_by": "enforced by",
    "same": "same bits", "busy": "others", "verdict": "",
}  # fmt: skip
GROUP = 1 << 20
BILLION = {"n_nodes": 20_000_000, "n_edges": 500_000_000, "columns": 4, "limit": 20_000_000_000}


def main() -> int:
    given = _arguments()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="files-", dir=given.folder) as made:
        folder = Path(made)
        if given.billion:
            rows = billion(folder, given.share)
        elif given.sorters:
            rows = sorters(folder, given)
        else:
            rows = products(folder, given)
    print(table(rows, COLUMNS))
    return 1 if any(row.get("verdict") == "FAIL" for row in rows) else 0


def products(folder: Path, given: argparse.Namespace) -> list[dict]:
    """In memory, then under each limit."""
    n_nodes, n_edges, columns = SIZES["products"]
    n_nodes, n_edges = int(n_nodes * given.scale), int(n_edges * given.scale)
    inputs = given.folder / f"products-{given.scale:g}"  # kept from run to run
    if not (inputs / "nodes.parquet").exists():
        inputs.mkdir(exist_ok=True)
        write_edges(inputs / "edges.parquet", n_nodes, n_edges)
        write_nodes(inputs / "nodes.parquet", features(n_nodes, columns, 0.99))
    rows = []
    whole = None
    for limit in (None, *map(parse_bytes, given.limits)):
        output = folder / ("whole.parquet" if limit is None else f"{limit}.parquet")
        others = Bystanders()
        outcome = _impute(inputs, output, limit)
        whole = whole or outcome.seconds
        same = same_tables(folder / "whole.parquet", output)
        ratio = outcome.seconds / whole
        passed = verdict(ratio, None if limit is None else BAR)
        row = _row(f"products x {given.scale:g}", outcome, limit, others.share())
        rows.append(row | {"ratio": ratio, "same": same, "verdict": passed if same else "FAIL"})
        _keep(rows[-1])
        if limit is not None:
            output.unlink()
    return rows


def _impute(folder: Path, output: Path, limit: int | None) -> Outcome:
    limits = [] if limit is None else ["--memory-limit", str(limit)]
    inputs = [str(folder / "nodes.parquet"), str(folder / "edges.parquet")]
    arguments = ["impute", *inputs, "-o", str(output), *FILL, *limits]
    outcome = run(sys.executable, arguments, limit)
    if outcome.code:
        raise SystemExit(f"graphfill failed with {outcome.code}: {outcome.output[-2000:]}")
    return outcome


def billion(folder: Path, share: float) -> list[dict]:
    """10^9 directed edges, both ways of half as many, in an order of their own."""
    n_nodes, n_edges = int(BILLION["n_nodes"] * share), int(BILLION["n_edges"] * share)
    start = time.perf_counter()
    write_streamed(folder / "edges.parquet", n_nodes, n_edges)
    X = np.random.default_rng(1).random((n_nodes, BILLION["columns"]), dtype=np.float32)
    X[np.random.default_rng(2).random(X.shape, dtype=np.float32) < 0.9] = np.nan
    write_nodes(folder / "nodes.parquet", X)
    del X
    size = (folder / "edges.parquet").stat().st_size
    print(f"{2 * n_edges:,} edges written, {size / 1e9:.1f} GB, "
          f"{time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip
    limit, others = BILLION["limit"], Bystanders()
    outcome = _impute(folder, folder / "filled.parquet", limit)
    known = parquet.read_table(folder / "nodes.parquet")
    filled = parquet.read_table(folder / "filled.parquet")
    same = all(_known_kept(known[name], filled[name]) for name in known.column_names)
    row = _row(f"{2 * n_edges:,} directed edges", outcome, limit, others.share())
    kept = outcome.group_peak is None or outcome.group_peak <= limit
    rows = [row | {"same": same, "verdict": "PASS" if same and kept else "FAIL"}]
    _keep(rows[0])
    return rows


def _known_kept(before: pa.ChunkedArray, after: pa.ChunkedArray) -> bool:
    known = before.is_valid().to_numpy(zero_copy_only=False)
    values = [column.to_numpy(zero_copy_only=False) for column in (before, after)]
    return after.null_count == 0 and bool((values[0][known] == values[1][known]).all())


def sorters(folder: Path, given: argparse.Namespace) -> list[dict]:
    """Both directions of every edge, distinct and sorted, by three ways under one limit each."""
    n_nodes, n_edges, _ = SIZES["products"]
    n_nodes, n_edges = int(n_nodes * given.scale), int(n_edges * given.scale)
    write_edges(folder / "edges.parquet", n_nodes, n_edges)
    rows = []
    for limit in map(parse_bytes, given.limits):
        for name, script in SORTERS.items():
            place = folder / name
            place.mkdir(exist_ok=True)
            others = Bystanders()
            said = [str(folder / "edges.parquet"), str(place), str(limit), str(n_nodes)]
            outcome = run(sys.executable, said, limit, script=SORTER_START + script)
            row = _row(name, outcome, limit, others.share())
            rows.append(row | {"verdict": "" if outcome.code == 0 else f"exit {outcome.code}"})
            _keep(rows[-1])
    return rows


SORTER_START = "import sys; edges, folder, limit, n = sys.argv[1:]; limit, n = int(limit), int(n)\n"
SORTERS = {
    "graphfill": """
import numpy as np
from pathlib import Path
from graphfill.large._disk import EdgeFile, Numbering, store_graph
from graphfill.table._id_column import Ids
store_graph(EdgeFile(Path(edges)), Numbering(Ids(np.arange(n))), Path(folder), budget=limit // 2)
""",
    "duckdb": """
import duckdb
db = duckdb.connect(config={"memory_limit": f"{limit * 6 // 10 // 10**6}MB", "threads": 2,
                            "temp_directory": folder, "preserve_insertion_order": False})
db.execute(f"copy (select distinct u, v from (select source u, target v from '{edges}' union all "
           f"select target, source from '{edges}') where u <> v order by u, v) "
           f"to '{folder}/sorted.parquet'")
""",
    "polars": """
import polars as pl
one = pl.scan_parquet(edges).select(u="source", v="target")
both = pl.concat([one, one.select(u="v", v="u")]).filter(pl.col("u") != pl.col("v"))
both.unique().sort("u", "v").sink_parquet(f"{folder}/sorted.parquet", engine="streaming")
""",
}


def write_edges(path: Path, n_nodes: int, n_edges: int) -> None:
    """The generator's edges, in an order that says nothing."""
    edges = community_graph(n_nodes, n_edges, shuffled=True)
    columns = {"source": edges[0], "target": edges[1]}
    parquet.write_table(pa.table(columns), path, row_group_size=GROUP)


def write_streamed(path: Path, n_nodes: int, n_edges: int) -> None:
    """Each edge both ways, chunk by chunk: most between near nodes, the rest anywhere."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_edges, GROUP):
            n = min(GROUP, n_edges - start)
            u = rng.integers(0, n_nodes, n)
            near = (u + rng.integers(1, 2000, n)) % n_nodes
            v = np.where(rng.random(n) < 0.2, rng.integers(0, n_nodes, n), near)
            ends = np.stack([np.concatenate([u, v]), np.concatenate([v, u])]).astype(np.int32)
            writer.write_table(pa.table([ends[0], ends[1]], schema=schema))


def write_nodes(path: Path, X: np.ndarray) -> None:
    """Rows numbered from 0, missing cells null."""
    names = [f"x{k}" for k in range(X.shape[1])]
    fields = [("node", pa.int64()), *((name, pa.float32()) for name in names)]
    with parquet.ParquetWriter(path, pa.schema(fields)) as writer:
        for lo in range(0, len(X), GROUP // 4):
            part = X[lo : lo + GROUP // 4]
            columns = [pa.array(np.ascontiguousarray(c), from_pandas=True) for c in part.T]
            rows = pa.array(np.arange(lo, lo + len(part)))
            writer.write_table(pa.table([rows, *columns], schema=writer.schema))


def same_tables(one: Path, other: Path) -> bool:
    """Whether two files hold the same bits, column by column."""
    names = parquet.read_schema(one).names
    return names == parquet.read_schema(other).names and all(
        parquet.read_table(one, columns=[name])[name].equals(
            parquet.read_table(other, columns=[name])[name]
        )
        for name in names
    )


def _row(case: str, outcome: Outcome, limit: int | None, busy: float) -> dict:
    giga = {"peak": outcome.peak, "group_peak": outcome.group_peak, "limit": limit}
    said = {name: None if size is None else size / 1e9 for name, size in giga.items()}
    enforced = {"enforced_by": outcome.enforced_by, "busy": busy}
    return {"case": case, "seconds": outcome.seconds, **said, **enforced}


def _keep(row: dict) -> None:
    print(row, file=sys.stderr, flush=True)
    said = row | {"machine": machine(), "versions": versions()}
    with open(RESULTS, "a") as file:
        file.write(json.dumps(said, default=float) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of nodes and edges")
    parser.add_argument("--limits", nargs="+", default=["4GB", "2GB"], metavar="SIZE")
    parser.add_argument("--sorters", action="store_true")
    parser.add_argument("--billion", action="store_true")
    parser.add_argument("--share", type=float, default=1.0, help="of the billion")
    parser.add_argument("--folder", type=Path, default=HERE / ".cache", help="for the files")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
