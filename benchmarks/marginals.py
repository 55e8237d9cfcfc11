"""Whether drawn completions have the distribution of the truth: graphfill beside R's mice.

    make mice
    GRAPHFILL_DATA=folder python benchmarks/marginals.py [--seeds 3] [--show | --again]

Cells are hidden at random (`defaults_sets.hide`), and the table completed 5 times by graphfill and
by mice (predictive mean matching, its default; five iterations; categories of at most 10 values).
Per column of numbers, the energy distance between the hidden cells as drawn and as they were,

    D^2 = 2 E|x - t| - E|x - x'| - E|t - t'|,

in standard deviations of the column; beside it that of the single fill, and that of known cells
drawn at random (as good a marginal as can be without the row). One line per set and
seed in results/marginals.jsonl; a run that is there is not made again, with --again by graphfill
alone (what mice drew for the same cells stays, and takes no R).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import energy_distance

import graphfill as gf
from defaults_sets import SETS, Set, Task, as_floats, hide

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "marginals.jsonl"
NAMES, DRAWS, MOST_VALUES = ("us_counties", "countries"), 5, 10
METHODS = ("draws", "mice", "single", "known")
NOISE = 0.02  # a distance that much larger is still no worse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--again", action="store_true", help="graphfill's part of what is there")
    options = parser.parse_args()
    warnings.simplefilter("ignore", gf.GraphfillWarning)
    rows = read()
    if options.again:
        rows = [run(row["set"], row["seed"], row) for row in rows]
        RESULTS.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = {(row["set"], row["seed"]) for row in rows}
    for seed in range(0 if options.show or options.again else options.seeds):
        for name in NAMES:
            if (name, seed) not in done:
                rows.append(run(name, seed))
                with RESULTS.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    show(rows)


def run(name: str, seed: int, before: dict | None = None) -> dict:
    """One line; with one from `before`, what mice drew is taken from there."""
    data = SETS[name]()
    task = hide(data, seed)
    began = time.perf_counter()
    result = gf.impute(
        task.seen, data.edges, id=data.id, draws=DRAWS, seed=seed, return_result=True
    )
    ours = time.perf_counter() - began
    theirs = by_mice(data, task, seed) if before is None else []
    seconds = [round(ours, 1), round(time.perf_counter() - began - ours, 1)]
    if before is not None:
        seconds[1] = before["seconds"][1]
    row = {"set": name, "seed": seed, "seconds": seconds, "columns": {}}
    rng = np.random.default_rng([seed, 7])
    for column, truth in task.numbers.items():
        if column not in task.hidden:
            continue
        hidden, seen = task.hidden[column], as_floats(task.seen[column])
        known = seen[~np.isnan(seen)]
        drawn = {
            "draws": cells(result.draws, column, hidden),
            **({"mice": cells(theirs, column, hidden)} if before is None else {}),
            "single": cells([result.table], column, hidden),
            "known": rng.choice(known, DRAWS * hidden.sum()),
        }
        row["columns"][column] = {
            method: None if np.isnan(some).any() else
            round(float(energy_distance(some / known.std(), truth[hidden] / known.std())), 4)
            for method, some in drawn.items()
        }  # fmt: skip
        if before is not None:
            same = before["columns"][column]
            if row["columns"][column]["known"] != same["known"]:
                raise SystemExit(f"{name}, {column}: other cells were hidden before; run mice too")
            row["columns"][column]["mice"] = same["mice"]
    return row


def cells(tables: list[pd.DataFrame], column: str, hidden: np.ndarray) -> np.ndarray:
    """The hidden cells of all tables."""
    return np.concatenate([as_floats(table[column])[hidden] for table in tables])


def by_mice(data: Set, task: Task, seed: int) -> list[pd.DataFrame]:
    few = [name for name in data.categories if task.seen[name].nunique() <= MOST_VALUES]
    table = task.seen[[data.id, *data.numbers, *few]]
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(f"{folder}/seen.csv", index=False)
        subprocess.run(
            ["Rscript", HERE / "mice.R", f"{folder}/seen.csv", folder, str(DRAWS), str(seed + 1)],
            check=True,
        )
        return [pd.read_csv(f"{folder}/{k + 1}.csv") for k in range(DRAWS)]


def show(rows: list[dict]) -> None:
    print("set            columns  runs  mean energy distance, sd: " + " ".join(METHODS)
          + "   draws no worse than mice (columns)")  # fmt: skip
    for name in dict.fromkeys(row["set"] for row in rows):
        some = [row for row in rows if row["set"] == name]
        scored = set.intersection(*({c for c, d in row["columns"].items() if None not in d.values()}
                                    for row in some))  # fmt: skip
        D = np.array(
            [[[r["columns"][c][m] for m in METHODS] for c in sorted(scored)] for r in some]
        )
        D = D.mean(axis=0)
        means = " ".join(f"{x:.3f}" for x in D.mean(axis=0))
        print(f"{name:<15}{len(scored):>7}{len(some):>6}  {means}   "
              f"{np.mean(D[:, 0] <= D[:, 1] + NOISE):.0%}, "
              f"strictly better {np.mean(D[:, 0] < D[:, 1]):.0%}")  # fmt: skip


def read() -> list[dict]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


if __name__ == "__main__":
    main()
