"""A small made-up town: people with an age, an income, a city, a profession and a newsletter or
none, and who is friends with whom. The truth is known, so what a fill makes of it can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
FRIENDS_EACH = 5


@dataclass(frozen=True)
class Town:
    """Columns by name, one entry per person, and pairs of friends as row numbers [edges, 2]."""

    people: dict[str, NDArray[Any]]
    friends: NDArray[np.int64]

    def hide(self, share: float, seed: int) -> dict[str, NDArray[np.bool_]]:
        """Which cells to blank: each but the name with this probability."""
        rng = np.random.default_rng([seed, 1])
        names = [name for name in self.people if name != "person"]
        return {name: rng.random(len(self.people[name])) < share for name in names}


def make_town(n_people: int = 2000, seed: int = 0) -> Town:
    """Draw a town in which friends live near each other and are of like age and trade.

    Examples
    --------
    >>> town = make_town(100)
    >>> list(town.people)
    ['person', 'age', 'income', 'city', 'profession', 'newsletter']
    """
    rng = np.random.default_rng([seed, 0])
    city = rng.choice(len(CITIES), n_people, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    # Every city has its own mix of trades and its own age.
    mix = rng.dirichlet(np.full(len(PROFESSIONS), 0.8), len(CITIES))
    trade = np.array([rng.choice(len(PROFESSIONS), p=mix[c]) for c in city])
    age = np.clip(rng.normal(rng.uniform(30, 60, len(CITIES))[city], 12), 18, 90).round()

    names, incomes, readers = zip(*PROFESSIONS, strict=True)
    by_age = 1.0 - ((age - 50) / 70) ** 2
    income = np.array(incomes)[trade] * by_age * np.exp(rng.normal(0, 0.12, n_people))
    reads = rng.random(n_people) < np.array(readers)[trade]

    people = {
        "person": np.array([f"p{number:05d}" for number in range(n_people)]),
        "age": age.astype(np.int64),
        "income": income.round(-2),
        "city": np.array(CITIES)[city],
        "profession": np.array(names)[trade],
        "newsletter": np.where(reads, "yes", "no"),
    }
    return Town(people, _befriend(city, trade, age, rng))


def _befriend(
    city: NDArray[np.int64],
    trade: NDArray[np.int64],
    age: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Each person picks a few of the likest, luck included; friendship goes both ways."""
    n_people = len(city)
    pairs = []
    for person in range(n_people):
        likeness = (
            2.5 * (city == city[person])
            + 2.0 * (trade == trade[person])
            - np.abs(age - age[person]) / 6
            + rng.gumbel(size=n_people)
        )
        likeness[person] = -np.inf
        friends = np.argpartition(-likeness, FRIENDS_EACH)[:FRIENDS_EACH]
        pairs += [(min(person, friend), max(person, friend)) for friend in friends.tolist()]
    return np.array(sorted(set(pairs)), dtype=np.int64)
