"""A small town whose blanks are filled from its friendships.

    python examples/town.py [folder]

Makes 2,000 people with an age, an income and hours of sport a week, who befriend people
like themselves; hides a third of the cells; fills them in; compares with the truth; and
writes what it saw (people.csv), the links (friends.csv) and the result (filled.csv).
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import graphfill as gf

COLUMNS = ["age", "income", "sport_hours"]


def make_town(n_people: int = 2000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """People [n, 3] and friendships [2, edges]; friends live near and are of like age."""
    rng = np.random.default_rng(seed)
    place = rng.random((n_people, 2))
    # Three quarters grow up: neighbourhoods differ in age, ages differ in income and sport.
    centre = rng.random((12, 2))
    quarter = np.argmin(((place[:, None] - centre[None]) ** 2).sum(axis=2), axis=1)
    age = np.clip(rng.normal(rng.uniform(25, 65, 12)[quarter], 9), 16, 95)
    income = np.exp(rng.normal(10.2, 0.15, n_people)) * (1.5 - ((age - 50) / 60) ** 2)
    income *= rng.uniform(0.6, 1.6, 12)[quarter]
    sport = np.clip(rng.normal(8 - age / 14, 1.0), 0, None)
    people = np.column_stack([age.round(), income.round(-2), sport.round(1)])

    nearness = np.column_stack([place * 10, age / 8])
    friends = set()
    for person in range(n_people):
        distance = ((nearness - nearness[person]) ** 2).sum(axis=1)
        for friend in np.argsort(distance + rng.exponential(0.7, n_people))[1:6]:
            friends.add((min(person, int(friend)), max(person, int(friend))))
    return people, np.array(sorted(friends)).T


def write_csv(path: Path, header: list[str], rows: list[list]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def table(people: np.ndarray) -> list[list]:
    return [
        [person, *("" if np.isnan(cell) else f"{cell:.10g}" for cell in row)]
        for person, row in enumerate(people)
    ]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    truth, friends = make_town()
    hidden = np.random.default_rng(1).random(truth.shape) < 1 / 3
    seen = np.where(hidden, np.nan, truth)

    began = time.perf_counter()
    graph = gf.Graph.from_edges(friends, n_nodes=len(truth))
    result = gf.propagate(seen, graph, normalization="rw", solver="exact", unreached="mean")
    took = time.perf_counter() - began

    write_csv(folder / "people.csv", ["person", *COLUMNS], table(seen))
    write_csv(folder / "friends.csv", ["person", "friend"], friends.T.tolist())
    write_csv(folder / "filled.csv", ["person", *COLUMNS], table(result.X))

    print(f"{graph.n_nodes:,} people, {graph.n_edges:,} friendships, {hidden.sum():,} blanks")
    print(f"filled in {took:.2f} s; relative residual {result.residual:.0e}")
    print(f"\n{'mean error':>14} {'column means':>14} {'graphfill':>14}")
    for column, name in enumerate(COLUMNS):
        lost = hidden[:, column]
        mean = np.abs(np.nanmean(seen[:, column]) - truth[lost, column]).mean()
        ours = np.abs(result.X[lost, column] - truth[lost, column]).mean()
        print(f"{name:>14} {mean:14.4g} {ours:14.4g}   {1 - ours / mean:.0%} less")
    print(f"\nThe filled table is {folder / 'filled.csv'} (from people.csv and friends.csv there).")


if __name__ == "__main__":
    main()
