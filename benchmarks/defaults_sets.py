"""Real tables as a user would have them, and the cells that the benchmark of defaults hides.

Every set has an id column, columns of numbers and of categories that are scored, and perhaps free
text (names, codes of one airport), which graphfill gets and other imputers do not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

FEWEST_KNOWN = 30  # a column with fewer known cells is not scored


@dataclass(frozen=True)
class Set:
    """A table and its edges; all columns that are neither id, number nor category are texts."""

    table: pd.DataFrame
    edges: pd.DataFrame
    id: str
    categories: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    share: float = 0.2  # of the known cells is hidden

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns of numbers."""
        others = {self.id, *self.categories, *self.texts}
        return tuple(name for name in self.table if name not in others)


@dataclass(frozen=True)
class Task:
    """A set with hidden cells: what the methods see, and the truth.

    Categories are codes in the order of how often a value is seen, so that 0 is the most
    frequent; NaN is missing, and -1 a true value that is not seen at all.
    """

    seen: pd.DataFrame
    hidden: dict[str, np.ndarray]  # by scored column
    numbers: dict[str, np.ndarray]
    categories: dict[str, np.ndarray]
    values: dict[str, list[str]]  # by category, its values in the order of the codes

    def coded(self) -> dict[str, np.ndarray]:
        """What is seen, as two matrices of floats."""
        return coded(self.seen, self)


def hide(data: Set, seed: int) -> Task:
    """Hide a share of the known cells of every scored column at random."""
    # Seed 0 alone gives the stream that the town is drawn from, and a mask that depends on it.
    rng = np.random.default_rng([seed, 2])
    seen, hidden = data.table.copy(), {}
    for name in (*data.numbers, *data.categories):
        known = data.table[name].notna().to_numpy()
        drawn = rng.random(len(known)) < data.share
        if known.sum() >= FEWEST_KNOWN and data.table[name].nunique() > 1:
            hidden[name] = known & drawn
            seen[name] = seen[name].mask(hidden[name])
    values = {name: seen[name].astype("object").dropna().astype(str).value_counts().index.tolist()
              for name in data.categories}  # fmt: skip
    numbers = {name: as_floats(data.table[name]) for name in data.numbers}
    categories = {name: as_codes(data.table[name], values[name]) for name in data.categories}
    return Task(seen, hidden, numbers, categories, values)


def coded(table: pd.DataFrame, task: Task) -> dict[str, np.ndarray]:
    """The table's columns of numbers and of codes, [rows, columns] each."""
    numbers = [as_floats(table[name]) for name in task.numbers]
    codes = [as_codes(table[name], task.values[name]) for name in task.categories]
    empty = np.empty((len(table), 0))
    return {
        "numbers": np.column_stack([empty, *numbers]),
        "codes": np.column_stack([empty, *codes]),
        "n_values": np.array([len(task.values[name]) for name in task.categories], dtype=int),
    }


def as_floats(column: pd.Series) -> np.ndarray:
    """Numbers as float64, NaN where missing."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def as_codes(column: pd.Series, values: list[str]) -> np.ndarray:
    """The place of each cell in `values`; -1 for others, NaN where missing."""
    number = {value: float(code) for code, value in enumerate(values)}
    words = column.astype("object")
    return np.array([np.nan if lost else number.get(str(word), -1.0)
                     for word, lost in zip(words, column.isna(), strict=True)])  # fmt: skip


# -- the sets --


def folder() -> Path:
    """Where the published tables are."""
    if not os.environ.get("GRAPHFILL_DATA"):
        raise SystemExit("Set GRAPHFILL_DATA to the folder with the data sets (docs/data.md).")
    return Path(os.environ["GRAPHFILL_DATA"])


def read_csv(name: str, texts: tuple[str, ...] = ()) -> pd.DataFrame:
    """A CSV file in which only an empty cell is missing ("NA" is a word)."""
    words = dict.fromkeys(texts, str)
    return pd.read_csv(folder() / name, dtype=words, keep_default_na=False, na_values=[""])


def read_arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays}


def links(ids: np.ndarray, edge_index: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"source": ids[edge_index[0]], "target": ids[edge_index[1]]})


def countries(edges: str = "borders") -> Set:
    table = read_csv("countries/nodes.csv")
    yes_or_no = ("citizenship_by_birth", "dual_citizenship_recognized", "landlocked")
    categories = ("region", "government", "legal_system", "legislature", *yes_or_no)
    return Set(table, read_csv(f"countries/{edges}.csv"), "code", categories, ("name",))


def countries_nearest() -> Set:
    return countries("nearest5")


def county_social_capital() -> Set:
    table = read_csv("county_social_capital/nodes.csv", ("fips", "state", "cz"))
    edges = read_csv("county_social_capital/edges.csv", ("source", "target"))
    return Set(table, edges, "fips", ("state", "cz"), ("county_name",))


def openflights() -> Set:
    texts = ("name", "city", "iata", "icao")
    table, routes = read_csv("openflights/airports.csv"), read_csv("openflights/routes.csv")
    return Set(table, routes, "airport_id", ("country", "dst", "tz"), texts)


def us_counties() -> Set:
    arrays = read_arrays("us_counties")
    columns = {"fips": arrays["fips"]}
    for name, cells in zip(arrays["x_columns"], arrays["x"].T, strict=True):
        columns[str(name)] = cells.astype(np.float64)
    categories = [key for key in arrays if key.startswith("cat_")]
    for key in categories:
        columns[key] = [None if np.isnan(code) else f"code {code:.0f}" for code in arrays[key]]
    edges = links(arrays["fips"], arrays["edge_index"])
    return Set(pd.DataFrame(columns), edges, "fips", tuple(categories), share=0.3)


def electric() -> Set:
    arrays = read_arrays("electric")
    ids = np.arange(len(arrays["x"]))
    columns = {f"x{j}": cells.astype(np.float64) for j, cells in enumerate(arrays["x"].T)
               if np.ptp(cells) > 0}  # one is constant  # fmt: skip
    return Set(pd.DataFrame({"node": ids} | columns), links(ids, arrays["edge_index"]), "node")


def twitch_DE() -> Set:
    arrays = read_arrays("twitch_DE")
    names = ("days", "views", "mature", "partner")
    ids = np.array([f"user{number}" for number in range(len(arrays["days"]))])
    table = pd.DataFrame({"user": ids} | {name: arrays[name] for name in names})
    table = table.astype({"mature": "boolean", "partner": "boolean"})
    return Set(table, links(ids, arrays["edge_index"]), "user", ("mature", "partner"))


def debian_bookworm() -> Set:
    arrays = read_arrays("debian_bookworm")
    ids = arrays["package_names"]
    columns = {
        "package": ids,
        "installed_size_kib": arrays["installed_size_kib"].astype(np.float64),
        "deb_size_bytes": arrays["deb_size_bytes"].astype(np.float64),
        "has_homepage": arrays["has_homepage"],
        "priority": arrays["priority_names"][arrays["priority"]],
        "section": arrays["section_names"][arrays["y"]],
    }
    table = pd.DataFrame(columns).astype({"has_homepage": "boolean"})
    categories = ("has_homepage", "priority", "section")
    return Set(table, links(ids, arrays["edge_index"]), "package", categories)


def town() -> Set:
    """The town of `graphfill demo`, of which a third is hidden."""
    from graphfill.cli._town import HIDDEN, make_town

    made = make_town(600, seed=0)
    ends = made.people["person"][made.friends]
    edges = pd.DataFrame({"person": ends[:, 0], "friend": ends[:, 1]})
    categories = ("city", "profession", "newsletter")
    return Set(pd.DataFrame(made.people), edges, "person", categories, share=HIDDEN)


SETS: dict[str, Callable[[], Set]] = {
    "countries": countries,
    "countries-nearest": countries_nearest,
    "county_social_capital": county_social_capital,
    "openflights": openflights,
    "us_counties": us_counties,
    "electric": electric,
    "twitch_DE": twitch_DE,
    "town": town,
    "debian_bookworm": debian_bookworm,
}
LARGE = ("debian_bookworm",)  # run only when named
