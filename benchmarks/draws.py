"""Whether drawn completions differ as much as they should: pooled regressions.

    GRAPHFILL_DATA=folder python benchmarks/draws.py [--regressions 100] [--show]

One line per run in results/draws.jsonl; a run that is there is not made again. What single draws
are worth as intervals is measured by coverage.py.

A regression: dem_share_2016 on four columns of us_counties, rows that are complete in all five, no
other column; three tenths of the cells of each of the five hidden. A coefficient is covered if the
pooled 95 % interval from 20 draws holds the one of the full data. Beside it the interval from what
the draws differ alone (the full data are no sample here: what was hidden is all that is not known),
the interval from one fill, and that from 20 draws of scikit-learn's
IterativeImputer(sample_posterior=True).

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
from defaults_sets import SETS

RESULTS = Path(__file__).resolve().parent / "results" / "draws.jsonl"
OUTCOME = "dem_share_2016"
COLUMNS = ["bachelor_rate_2016", "median_income_2016", "unemployment_rate_2016", "r_death_2016"]
SHARE_HIDDEN = 0.3
T_19 = 2.093  # the 97.5 % quantile of Student's t with 19 degrees of freedom


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regressions", type=int, default=100, help="how many repetitions")
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", gf.GraphfillWarning)
    rows = read(options.results)
    done = {row["seed"] for row in rows}
    for seed in range(0 if options.show else options.regressions):
        if seed not in done:
            rows.append(regression(seed))
            with options.results.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    show(rows)


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
    row = {"set": "us_counties", "seed": seed, "cpu": round(seconds, 2)}
    row["covered"] = covered(pooled(result.draws), full)
    drawn = np.array([least_squares(one)[0] for one in result.draws])
    between = np.sqrt(drawn.var(axis=0, ddof=1) * (1 + 1 / len(drawn)))
    low, high = (drawn.mean(axis=0) + sign * T_19 * between for sign in (-1, 1))
    row["covered_between"] = ((low <= full) & (full <= high)).tolist()
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


def show(rows: list[dict]) -> None:
    print(f"{len(rows)} regressions, share of the coefficients covered (nominal 95 %):")
    for key in ("covered", "covered_between", "covered_single", "covered_iterative"):
        share = np.mean([row[key] for row in rows], axis=0)
        print(f"  {key:<18} {share.mean():.1%}  by coefficient {share.round(2).tolist()}")


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
