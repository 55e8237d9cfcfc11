"""Whether bounds hold on hidden cells, and whether graphfill's own estimate of that is right.

    GRAPHFILL_DATA=folder python benchmarks/coverage.py [--sets town ...] [--seeds 2] [--show]

Cells are hidden at random, by whole rows, high values rather than low ones, or by regions of the
graph, and filled by the default with 90 % intervals. One line per set, pattern and seed in
results/coverage.jsonl; a run that is there is not made again (--results names another file).
Shown are, over all columns of numbers of a set: the share of the hidden cells within their
intervals; the same by thirds of the cells, from the nearest known cell to the farthest (of those as
far, the ones with fewest known neighbours last); of cells hidden at random, the share
within the 5 % and 95 % quantiles of 50 draws; and graphfill's own estimate of the share for the
missing cells, with the points by which it is too high. By column: how many of those estimates are
within 5 points of the truth, and how many but for noise: a column's share of few cells is uncertain
itself, by 2 standard errors.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import narwhals as nw
import numpy as np
import pandas as pd

import graphfill as gf
from defaults_sets import SETS, as_codes, as_floats
from graphfill.graph import adjacency_matrix
from graphfill.table._alignment import align
from graphfill.table._options import Source, TableOptions
from graphfill.trust._features import distance_to_known
from graphfill.trust._folds import PATTERNS, hide_cells

RESULTS = Path(__file__).resolve().parent / "results" / "coverage.jsonl"
LEVEL, DRAWS = 0.9, 50
NAMES = ("us_counties", "countries", "electric", "town", "county_social_capital", "openflights")
MOST_NUMBERS = {"county_social_capital": 12}  # of the columns, evenly spaced
FEWEST_KNOWN = 30
CLOSE = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=NAMES)
    parser.add_argument("--patterns", nargs="+", default=PATTERNS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = read(options.results)
    done = {(row["set"], row["pattern"], row["seed"]) for row in rows}
    todo = [(name, pattern, seed) for seed in range(options.seeds) for name in options.sets
            for pattern in options.patterns if (name, pattern, seed) not in done]  # fmt: skip
    for one in [] if options.show else todo:
        row = run(*one)
        print(*one, f"{row['cpu']:.0f} s", flush=True)
        rows.append(row)
        with options.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
    show(rows)


def run(name: str, pattern: str, seed: int) -> dict:
    """Hide cells, fill them, and compare."""
    data = SETS[name]()
    numbers = data.numbers
    if name in MOST_NUMBERS:
        some = np.linspace(0, len(numbers) - 1, MOST_NUMBERS[name]).round().astype(int)
        numbers = tuple(numbers[k] for k in some)
    table = data.table[[data.id, *numbers, *data.categories, *data.texts]]
    frame = nw.from_native(table, eager_only=True)
    aligned = align(frame, data.edges, TableOptions(id=data.id), Source())
    if aligned.order is not None:  # rows in the order of the graph's nodes
        table = table.iloc[aligned.order].reset_index(drop=True)
    levels = levels_of(table, numbers, data.categories)
    hidden = hide_cells(levels, aligned.graph, share=data.share, pattern=pattern, seed=seed)
    seen = table.copy()
    for column, cells in hidden.items():
        seen[column] = seen[column].mask(cells)
    draws = DRAWS if pattern == "random" else 0
    began = time.process_time()
    result = gf.impute(seen, data.edges, id=data.id, intervals=LEVEL, draws=draws, seed=seed,
                       return_result=True)  # fmt: skip
    row = {"set": name, "pattern": pattern, "seed": seed}
    row |= {"cpu": round(time.process_time() - began, 1), "notes": result.notes, "columns": {}}
    details = {column.name: column.details for column in result.columns}
    A = adjacency_matrix(aligned.graph)
    for column in numbers:
        if column in hidden and hidden[column].any() and "coverage" in details[column]:
            row["columns"][column] = compare(
                column, hidden[column], table, result, details[column], (aligned.graph, A)
            )
    return row


def levels_of(table: pd.DataFrame, numbers: tuple, categories: tuple) -> dict[str, np.ndarray]:
    """Numbers, and categories as codes (the rarest last), of columns worth hiding."""
    levels = {name: as_floats(table[name]) for name in numbers}
    for name in categories:
        words = table[name].astype("object").dropna().astype(str)
        levels[name] = as_codes(table[name], words.value_counts().index.tolist())
    enough = {name: np.count_nonzero(~np.isnan(cells)) >= FEWEST_KNOWN and np.nanstd(cells) > 0
              for name, cells in levels.items()}  # fmt: skip
    return {name: cells for name, cells in levels.items() if enough[name]}


def compare(column, hidden, table, result, details, graph_of) -> dict:
    """How many hidden cells are covered, by distance; and what graphfill expected."""
    graph, A = graph_of
    truth = as_floats(table[column])
    low, high = (as_floats(result.table[f"{column}_{end}"]) for end in ("low", "high"))
    # A bound that is not known is none.
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    slack = 1e-9 * np.nanmax(np.abs(truth))
    inside = ((truth >= low - slack) & (truth <= high + slack))[hidden]
    known = ~np.isnan(truth) & ~hidden
    visible = np.zeros(graph.n_nodes)
    visible[: len(known)] = known
    steps, beside = distance_to_known(graph, known)[: len(known)], (A != 0) @ visible
    order = np.lexsort([-beside[: len(known)][hidden], steps[hidden]])
    out = {
        "cells": int(hidden.sum()),
        "covered": int(inside.sum()),
        "thirds": thirds(inside, order),
        "width": round(float(np.median((high - low)[hidden]) / np.nanstd(truth)), 4),
        "expected": round(details["coverage"], 4),
    }
    if result.draws:
        drawn = np.array([as_floats(one[column])[hidden] for one in result.draws])
        ends = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="weibull")
        within = (ends[0] - slack <= truth[hidden]) & (truth[hidden] <= ends[1] + slack)
        out |= {"drawn": int(within.sum()), "drawn_thirds": thirds(within, order)}
    return out


def thirds(inside: np.ndarray, order: np.ndarray) -> list[list[int]]:
    return [[int(inside[part].sum()), len(part)] for part in np.array_split(order, 3)]


# -- tables --


def show(rows: list[dict]) -> None:
    print(f"{'set':<22}{'pattern':<8}runs columns  covered  by thirds       width  expected"
          "  points  columns within 5 points")  # fmt: skip
    for name in dict.fromkeys(row["set"] for row in rows):
        for pattern in PATTERNS:
            some = [r for r in rows if (r["set"], r["pattern"]) == (name, pattern) and r["columns"]]
            if some:
                print(line(name, pattern, some))
    print("\nDraws, of cells hidden at random: share within their quantiles, by thirds")
    for name in dict.fromkeys(row["set"] for row in rows):
        columns = [c for r in rows if r["set"] == name for c in r["columns"].values()
                   if "drawn" in c]  # fmt: skip
        if columns:
            share = sum(c["drawn"] for c in columns) / sum(c["cells"] for c in columns)
            print(f"{name:<22}{share:.3f}  {by_thirds(columns, 'drawn_thirds')}")


def line(name: str, pattern: str, rows: list[dict]) -> str:
    columns = [column for row in rows for column in row["columns"].values()]
    cells = np.array([c["cells"] for c in columns])
    covered = np.array([c["covered"] for c in columns])
    width = np.median([c["width"] for c in columns])
    text = (f"{name:<22}{pattern:<8}{len(rows):>4} {len(columns) // len(rows):>7}  "
            f"{covered.sum() / cells.sum():.3f}    {by_thirds(columns, 'thirds')}  "
            f"{width:>5.2f}  ")  # fmt: skip
    said = np.array([c["expected"] for c in columns])
    truth, total = covered / cells, (said * cells).sum() / cells.sum()
    close = np.abs(said - truth) <= CLOSE
    likely = np.abs(said - truth) <= CLOSE + 2 * np.sqrt(said * (1 - said) / cells)
    return text + (f"{total:.3f}     {100 * (total - covered.sum() / cells.sum()):+5.1f}   "
                   f"{close.mean():.0%} ({likely.mean():.0%} but for noise)")  # fmt: skip


def by_thirds(columns: list[dict], key: str) -> str:
    inside, cells = np.array([c[key] for c in columns]).sum(axis=0).T
    return " ".join(f"{share:.3f}" for share in inside / cells)


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
