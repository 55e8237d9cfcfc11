"""Write docs/speed.md from the measurements in benchmarks/results.

    python benchmarks/report.py

Each row is the newest measurement of its kind; nothing is computed here.
"""

from __future__ import annotations

import importlib
import json
import shlex

from harness import HERE, table

KEYS = ("case", "who", "peer", "missing", "target")
TEXTS = {
    "step": (
        "Time per diffusion step",
        "Float32, 99 % of the cells missing at random; (time of many steps - time of few) / their "
        "difference, all sides interleaved in one process, best of several rounds. Reordering "
        "is forced on or off here; by default graphfill decides.",
    ),
    "exact": (
        "From raw arrays to the exact answer",
        "From an int64 `edge_index` with both directions and a float32 X in memory, set-up "
        "included on both sides: graphfill solves to a relative residual of 1e-3, PyG takes its "
        "40 steps. The residual is computed by the benchmark, not taken from the solver.",
    ),
    "memory": (
        "Peak memory",
        "Separate processes, the inputs (an int64 `edge_index` and a float32 X) included.",
    ),
    "first-fill": (
        "The first fill in a fresh process",
        "Imports included; Cora has 1,433 columns.",
    ),
    "accuracy": (
        "The paper's 40 steps, against PyG's",
        "In float64 both agree. In float32 neither can be nearer to the float64 answer than "
        "rounding allows, and both are about as far.",
    ),
    "chebyshev": (
        "The 40-step answer from 30 products",
        '`solver="chebyshev"` against `solver="diffusion"`, 40 steps.',
    ),
    "threads": ("One thread and two", "The answers have the same bits."),
}


def newest(book: dict, section: str) -> tuple[list[dict], set[str]]:
    """The last row of each kind, in order of first appearance, and the commands behind them."""
    rows, commands = {}, {}
    for run in book["runs"]:
        for row in run["measurements"]:
            if row["section"] == section and "kind" not in row:
                key = tuple(row.get(k) for k in KEYS)
                rows[key] = row
                commands[key] = "python benchmarks/engine.py " + shlex.join(run["arguments"])
    return list(rows.values()), set(commands.values())


def half_width() -> str:
    rows = json.loads((HERE / "results" / "half_width.json").read_text())
    columns = {
        "graph": "graph", "ids": "ids", "time_ratio": "time per step, of float32's",
        "relative_error": "relative error", "largest_error": "largest error",
        "largest_value": "largest value",
    }  # fmt: skip
    return (
        "## Storing rows as bfloat16\n\n"
        "Rows in bfloat16, sums in float32, 40 steps, against the float32 kernel. Not offered: "
        "saving a third of the time does not justify errors of 2e-3, where float32's are 1e-6."
        "\n\n"
        f"{table(rows, columns)}\n\n`python benchmarks/half_width.py`\n"
    )


def tables() -> str:
    kept = json.loads((HERE / "results" / "tables.json").read_text())
    columns = {
        "who": "run", "seconds": "seconds", "ratio": "ours/plain", "bar": "bar", "verdict": "",
        "peak_gb": "peak, GB", "memory_bar": "bar, GB", "memory_verdict": " ",
        "same": "cells as the plain script",
    }  # fmt: skip
    return (
        "## A table from file to file\n\n"
        f"{kept['rows']:,} rows, ten mixed columns with 30 % of the cells missing, "
        f"{kept['edges']:,} edges, Parquet in and out, against the same 40 steps written with "
        "pandas and SciPy (`benchmarks/plain_table.py`).\n\n"
        f"{table(kept['results'], columns)}\n\n`python benchmarks/tables.py --rounds 1`\n"
    )


def defaults() -> str:
    kept = json.loads((HERE / "results" / "tables-default.json").read_text())
    fields = json.loads((HERE / "results" / "tables-fields.json").read_text())
    columns = {
        "who": "run", "seconds": "processor seconds", "ratio": "of propagation's", "bar": "bar",
        "verdict": "", "peak_gb": "peak, GB", "memory_bar": "bar, GB", "memory_verdict": " ",
    }  # fmt: skip
    single = {name: columns[name] for name in ("who", "seconds", "ratio", "bar", "verdict")}
    return (
        "## The default, and the field\n\n"
        f"From file to file, {kept['rows']:,} rows, ten mixed columns that are related with 20 % "
        f"of the cells missing, {kept['edges']:,} edges. In a table of this size the default "
        "compares few methods.\n\n"
        f"{table(kept['results'], columns)}\n\n"
        "`python benchmarks/tables.py --default --rounds 1`\n\n"
        "`fill_field` against propagation to the limit, on the same channels, one thread:\n\n"
        f"{table(fields['results'], single)}\n\n`python benchmarks/tables.py --fields --rounds 3 "
        "--rows 100000 --edges 1000000`\n"
    )


def main() -> None:
    book = json.loads((HERE / "results" / "engine.json").read_text())
    last = book["runs"][-1]
    parts = [
        "# How fast is it\n\n"
        "Every table is printed by the command below it; `make benchmark` runs all but the "
        "largest size. The graphs are community graphs with power-law degrees "
        "(`benchmarks/graphs.py`) of the sizes of ogbn-arxiv (169,343 nodes, 1.17 M edges, 128 "
        "columns) and ogbn-products (2,449,029 nodes, 61.9 M edges, 100 columns; and a tenth of "
        "it), and real ones. PASS and FAIL compare with the bar we set ourselves.\n\n"
        f"Machine: {json.dumps(last['machine'])}. Versions: {json.dumps(last['versions'])}.\n"
    ]
    for section, (title, text) in TEXTS.items():
        rows, commands = newest(book, section)
        if not rows:
            continue
        columns = importlib.import_module("sections." + section.replace("-", "_")).COLUMNS
        columns = {key: name for key, name in columns.items() if any(key in row for row in rows)}
        listed = "\n".join(sorted(commands))
        parts.append(f"## {title}\n\n{text}\n\n{table(rows, columns)}\n\n```\n{listed}\n```\n")
    if (HERE / "results" / "tables.json").exists():
        parts += [tables(), defaults()]
    if (HERE / "results" / "half_width.json").exists():
        parts.append(half_width())
    target = HERE.parent / "docs" / "speed.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(parts))
    print(f"written {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
