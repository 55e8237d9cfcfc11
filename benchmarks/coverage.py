"""Whether bounds hold on hidden cells, and whether graphfill's own estimate of that is right.

    GRAPHFILL_DATA=folder python benchmarks/coverage.py [--sets town ...] [--seeds 2]
    python benchmarks/coverage.py --show [--write] [--by-column]

Cells are hidden at random, by whole rows, high values rather than low ones, or by regions of the
graph, and filled by the default with 90 % intervals. One line per set, pattern and seed in
results/coverage.jsonl; a run that is there is not made again (--results names another file).
--write puts the tables into docs/trust.md; HEAD below says what is in them.
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
from coverage_show import show
from defaults_sets import SETS, as_codes, as_floats
from graphfill.graph import adjacency_matrix
from graphfill.table._alignment import align
from graphfill.table._options import Source, TableOptions
from graphfill.trust._features import distance_to_known
from graphfill.trust._folds import PATTERNS, hide_cells
from harness import write_part

RESULTS = Path(__file__).resolve().parent / "results" / "coverage.jsonl"
LEVEL, DRAWS, BINS = 0.9, 50, 10
NAMES = ("us_counties", "twitch_DE", "electric", "town", "countries", "county_social_capital",
         "openflights")  # fmt: skip
MOST_NUMBERS = {"county_social_capital": 12}  # of the columns, evenly spaced
FEWEST_KNOWN = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=NAMES)
    parser.add_argument("--patterns", nargs="+", default=PATTERNS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--write", action="store_true", help="into docs/trust.md")
    parser.add_argument("--by-column", action="store_true", help="of numbers hidden at random")
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
    text = show(rows, options.by_column)
    print(text)
    if options.write:
        write_part("trust.md", text)


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
    row |= {"cpu": round(time.process_time() - began, 1), "notes": result.notes}
    row |= {"columns": {}, "categories": {}}
    details = {column.name: column.details for column in result.columns}
    A = adjacency_matrix(aligned.graph)
    for column, cells in hidden.items():
        if not cells.any() or "coverage" not in details[column]:
            continue
        expected = {"expected": round(details[column]["coverage"], 4)}
        if column in data.categories:
            found = compare_classes(column, cells, table, result)
            row["categories"][column] = found | expected
        else:
            found = compare(column, cells, table, result, (aligned.graph, A))
            same = details[column].get("constant_width")
            if same:
                found["narrower"] = round(found.pop("size") / same, 4)
            row["columns"][column] = found | expected
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


def compare(column, hidden, table, result, graph_of) -> dict:
    """How many hidden cells are covered, by distance."""
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
    size = float(np.median((high - low)[hidden]))
    out = {
        "cells": int(hidden.sum()),
        "covered": int(inside.sum()),
        "thirds": thirds(inside, order),
        "size": size,
        "width": round(size / float(np.nanstd(truth)), 4),
    }
    if result.draws:
        drawn = np.array([as_floats(one[column])[hidden] for one in result.draws])
        ends = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="weibull")
        within = (ends[0] - slack <= truth[hidden]) & (truth[hidden] <= ends[1] + slack)
        out |= {"drawn": int(within.sum()), "drawn_thirds": thirds(within, order)}
    return out


def thirds(inside: np.ndarray, order: np.ndarray) -> list[list[int]]:
    return [[int(inside[part].sum()), len(part)] for part in np.array_split(order, 3)]


def compare_classes(column, hidden, table, result) -> dict:
    """By how sure the fill was, in bins: cells, sum of probabilities, number right; and sets."""
    truth = table[column][hidden].astype(str).to_numpy()
    right = truth == result.table[column][hidden].astype(str).to_numpy()
    sure = as_floats(result.table[f"{column}_probability"])[hidden]
    sets = result.table[f"{column}_set"][hidden]
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return {
        "cells": len(truth),
        "covered": sum(a in str(some).split(" | ") for a, some in zip(truth, sets, strict=True)),
        "bins": [[int((place == b).sum()), round(float(sure[place == b].sum()), 3),
                  int(right[place == b].sum())] for b in range(BINS)],
    }  # fmt: skip


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
