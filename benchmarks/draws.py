"""Whether drawn completions differ as much as they should: pooled regressions, and intervals.

    GRAPHFILL_DATA=folder python benchmarks/draws.py [--regressions 100] [--intervals 1]

One line per run in results/draws.jsonl; a run that is there is not made again.

Regressions: dem_share_2016 on four columns of us_counties, rows that are complete in all five, no
other column; three tenths of the cells of each of the five hidden. A coefficient is covered if the
pooled 95 % interval from 20 draws holds the one of the full data. Beside it the interval from one
fill, and from 20 draws of scikit-learn's IterativeImputer(sample_posterior=True).

Intervals: the 5 % and 95 % quantiles of 50 draws (the k-th of n at k / (n + 1)), on hidden cells of
all columns of numbers of us_counties and countries; widths in standard deviations of the column.

graphfill runs with effort="fast".
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import graphfill as gf
from defaults_sets import SETS, hide

RESULTS = Path(__file__).resolve().parent / "results" / "draws.jsonl"
OUTCOME = "dem_share_2016"
COLUMNS = ["bachelor_rate_2016", "median_income_2016", "unemployment_rate_2016", "r_death_2016"]
SHARE_HIDDEN = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regressions", type=int, default=100, help="how many repetitions")
    parser.add_argument("--intervals", type=int, default=1, help="how many repetitions of each set")
    options = parser.parse_args()
    warnings.simplefilter("ignore", gf.GraphfillWarning)
    done = {(row["what"], row["set"], row["seed"]) for row in read()}
    for seed in range(options.regressions):
        if ("regression", "us_counties", seed) not in done:
            record(regression(seed))
    for seed in range(options.intervals):
        for name in ("us_counties", "countries"):
            if ("intervals", name, seed) not in done:
                record(intervals(name, seed))
    show()


def least_squares(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and their variances."""
    X = np.column_stack([np.ones(len(table)), table[COLUMNS].to_numpy(float)])
    y = table[OUTCOME].to_numpy(float)
    inverse = np.linalg.inv(X.T @ X)
    coefficients = inverse @ X.T @ y
    rest = y - X @ coefficients
    return coefficients, np.diag(inverse) * (rest @ rest) / (len(y) - X.shape[1])


def regression(seed: int) -> dict:
    data = SETS["us_counties"]()
    table = data.table[[data.id, OUTCOME, *COLUMNS]].dropna().reset_index(drop=True)
    full, _ = least_squares(table)
    seen, rng = table.copy(), np.random.default_rng([seed, 5])
    for name in (OUTCOME, *COLUMNS):
        seen[name] = seen[name].mask(rng.random(len(table)) < SHARE_HIDDEN)
    began = time.process_time()
    result = gf.impute(
        seen, data.edges, id=data.id, effort="fast", draws=20, seed=seed, return_result=True
    )
    seconds = time.process_time() - began
    single, variance = least_squares(result.table)
    row = {"what": "regression", "set": "us_counties", "seed": seed, "cpu": round(seconds, 2)}
    row["covered"] = covered(pooled(result.draws), full)
    row["covered_single"] = (np.abs(single - full) <= 1.96 * np.sqrt(variance)).tolist()
    row["covered_iterative"] = covered(pooled(iterative(seen, seed)), full)
    return row


def pooled(tables: list[pd.DataFrame]) -> gf.Pooled:
    estimates, variances = zip(*map(least_squares, tables), strict=True)
    return gf.pool(estimates, variances, n=len(tables[0]))


def covered(pooled: gf.Pooled, full: np.ndarray) -> list[bool]:
    return ((pooled.low <= full) & (full <= pooled.high)).tolist()


def iterative(seen: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
    """Draws without the graph."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    names = [OUTCOME, *COLUMNS]
    return [
        pd.DataFrame(
            IterativeImputer(sample_posterior=True, random_state=100 * seed + k)
            .fit_transform(seen[names]), columns=names,
        )
        for k in range(20)
    ]  # fmt: skip


def intervals(name: str, seed: int) -> dict:
    data = SETS[name]()
    task = hide(data, seed)
    began = time.process_time()
    draws = gf.impute(task.seen, data.edges, id=data.id, effort="fast", draws=50, seed=seed)
    columns = {}
    for column in task.numbers:
        if column not in task.hidden:
            continue
        hidden = task.hidden[column]
        drawn = np.array([table[column].to_numpy(float)[hidden] for table in draws])
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0, method="weibull")
        truth, sd = task.numbers[column][hidden], task.seen[column].astype(float).std()
        inside = (low <= truth) & (truth <= high)
        columns[column] = {
            "cells": len(truth), "covered": int(inside.sum()),
            "width": round(float(np.mean(high - low) / sd), 4),
        }  # fmt: skip
    seconds = round(time.process_time() - began, 1)
    return {"what": "intervals", "set": name, "seed": seed, "cpu": seconds, "columns": columns}


def show() -> None:
    rows = [row for row in read() if row["what"] == "regression"]
    if rows:
        print(f"{len(rows)} regressions, share of the coefficients covered (nominal 95 %):")
        for key in ("covered", "covered_single", "covered_iterative"):
            share = np.mean([row[key] for row in rows], axis=0)
            print(f"  {key:<18} {share.mean():.1%}  by coefficient {share.round(2).tolist()}")
    for name in ("us_counties", "countries"):
        columns = [column for row in read() if row["what"] == "intervals" and row["set"] == name
                   for column in row["columns"].values()]  # fmt: skip
        if columns:
            share = sum(c["covered"] for c in columns) / sum(c["cells"] for c in columns)
            width = np.median([c["width"] for c in columns])
            print(f"{name}: 90 % intervals hold {share:.1%}, median width {width:.2f} sd")


def read() -> list[dict]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def record(row: dict) -> None:
    with RESULTS.open("a") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
