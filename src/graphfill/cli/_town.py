"""The made-up town of the demo: its people, its files, and how well its blanks were filled.

People have an age, an income, a city, a profession and a newsletter or none; friends live near
each other and are of similar age and profession.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..errors import InputError, option

HIDDEN = 1 / 3  # of the town's cells
FRIENDS_EACH = 5
CITIES = ("Ashford", "Brookhaven", "Carrow", "Dunmere", "Eastwick")
#            profession, yearly income at 40, share who read the newsletter
PROFESSIONS = (
    ("baker", 31_000, 0.25),
    ("carpenter", 38_000, 0.10),
    ("doctor", 92_000, 0.75),
    ("engineer", 71_000, 0.60),
    ("nurse", 44_000, 0.55),
    ("shopkeeper", 35_000, 0.30),
    ("teacher", 47_000, 0.90),
)
# What the demo writes, and how each begins: no other file is replaced.
FILES = {
    **dict.fromkeys(
        ("people.csv", "truth.csv", "filled.csv"), "person,age,income,city,profession,newsletter"
    ),
    "friends.csv": "person,friend",
    "report.html": "<!doctype html>",
}
Hidden = dict[str, NDArray[np.bool_]]  # by column, which cells are blanked


@dataclass(frozen=True)
class Town:
    """Columns by name, one entry per person, and pairs of friends as row numbers [edges, 2]."""

    people: dict[str, NDArray[Any]]
    friends: NDArray[np.int64]

    def hide(self, share: float, seed: int) -> Hidden:
        """Which cells to blank: each but the name with this probability."""
        rng = np.random.default_rng([seed, 1])
        names = [name for name in self.people if name != "person"]
        return {name: rng.random(len(self.people[name])) < share for name in names}

    def write(self, folder: Path, hidden: Hidden) -> None:
        """people.csv with its blanks, friends.csv, and truth.csv without."""
        import pyarrow as pa

        make_folder(folder, FILES)
        people = {name: pa.array(self.people[name], mask=hidden.get(name)) for name in self.people}
        ends = self.people["person"][self.friends]
        friends = {"person": ends[:, 0], "friend": ends[:, 1]}
        for name, columns in (("people", people), ("friends", friends), ("truth", self.people)):
            sheet = io.Sheet(folder / name, "arrow", pa.table(columns))
            path = folder / f"{name}.csv"
            io.write_table(path, sheet.table, like=sheet, changed={}, overwrite=True)

    def scores(self, hidden: Hidden, table: Any) -> list[dict[str, Any]]:
        """Per column: the error of the fill on the hidden cells, and that of the column's mean."""
        scores = []
        for name, cells in hidden.items():
            known, truth = self.people[name][~cells], self.people[name][cells]
            filled = np.array(table.column(name).to_pylist())[cells]
            if truth.dtype.kind in "if":
                measure, ours = "mean error", np.abs(filled - truth).mean()
                mean = np.abs(known.mean() - truth).mean()
            else:
                measure, ours = "share wrong", np.mean(filled != truth)
                values, counts = np.unique(known, return_counts=True)
                mean = np.mean(values[counts.argmax()] != truth)
            both = {"graphfill": float(ours), "mean": float(mean)}
            scores.append({"column": name, "measure": measure, **both})
        return scores


def make_town(n_people: int = 2000, seed: int = 0) -> Town:
    """Draw a town in which friends live near each other and are of similar age and profession.

    >>> list(make_town(100).people)
    ['person', 'age', 'income', 'city', 'profession', 'newsletter']
    """
    rng = np.random.default_rng([seed, 0])
    city = rng.choice(len(CITIES), n_people, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    # Every city has its own mix of professions and its own age.
    mix = rng.dirichlet(np.full(len(PROFESSIONS), 0.8), len(CITIES))
    profession = np.array([rng.choice(len(PROFESSIONS), p=mix[c]) for c in city])
    age = np.clip(rng.normal(rng.uniform(30, 60, len(CITIES))[city], 12), 18, 90).round()

    names, incomes, readers = zip(*PROFESSIONS, strict=True)
    by_age = 1.0 - ((age - 50) / 70) ** 2
    income = np.array(incomes)[profession] * by_age * np.exp(rng.normal(0, 0.12, n_people))
    reads = rng.random(n_people) < np.array(readers)[profession]

    people = {
        "person": np.array([f"p{number:05d}" for number in range(n_people)]),
        "age": age.astype(np.int64),
        "income": income.round(-2),
        "city": np.array(CITIES)[city],
        "profession": np.array(names)[profession],
        "newsletter": np.where(reads, "yes", "no"),
    }
    # Everyone picks a few of the most similar, luck included; friendship goes both ways.
    pairs = set()
    for person in range(n_people):
        similarity = (
            2.5 * (city == city[person])
            + 2.0 * (profession == profession[person])
            - np.abs(age - age[person]) / 6
            + rng.gumbel(size=n_people)
        )
        similarity[person] = -np.inf
        friends = np.argpartition(-similarity, FRIENDS_EACH)[:FRIENDS_EACH]
        pairs |= {(min(person, friend), max(person, friend)) for friend in friends.tolist()}
    return Town(people, np.array(sorted(pairs), dtype=np.int64))


def make_folder(folder: Path, headers: dict[str, str]) -> None:
    """Make it; refuse to replace files that no demo wrote, as the first line of each tells."""
    for name, line in headers.items():
        try:
            start = (folder / name).read_bytes()[: len(line) + 1]
        except OSError:
            continue
        if start.rstrip() != line.encode():
            raise InputError(
                f"{folder / name} was not written by a demo, which would replace it: name another "
                f"folder with {option('folder')}."
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be made ({error.strerror}): name another with "
            f"{option('folder')}."
        ) from None
