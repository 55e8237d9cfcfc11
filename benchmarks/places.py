"""How well links from places, keys and times fill tables, on tables whose truth is known.

    GRAPHFILL_DATA=folder python benchmarks/places.py [PART ...]

Parts: beijing, countries, airports, neighbours, keys, tables, sizes; all without one. Seconds are
those of the process (CPU). Nothing is chosen on the cells that are scored.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from sklearn.neighbors import BallTree

import graphfill as gf

DATA = Path(os.environ.get("GRAPHFILL_DATA", "."))
TEST_MONTHS = (3, 6, 9, 12)
SHARE_HIDDEN = 0.2


def main() -> None:
    warnings.simplefilter("ignore", gf.GraphfillWarning)
    parts = {
        "beijing": beijing,
        "countries": countries,
        "airports": airports,
        "neighbours": neighbours,
        "keys": keys,
        "tables": tables,
        "sizes": sizes,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()


def beijing() -> None:
    """Hourly PM2.5 at 36 stations: the published benchmark's hidden cells of four months."""
    folder = DATA / "beijing_pm25"
    given = pd.read_csv(folder / "pm25_given.csv", parse_dates=["datetime"])
    truth = pd.read_csv(folder / "pm25_ground.csv", index_col=0).to_numpy(float)
    stations = pd.read_csv(folder / "stations.csv", dtype={"sensor_id": str})
    hidden = given.iloc[:, 1:].isna().to_numpy() & ~np.isnan(truth)
    hidden &= given["datetime"].dt.month.isin(TEST_MONTHS).to_numpy()[:, None]
    long = given.melt("datetime", var_name="sensor_id", value_name="pm25")
    long = long.merge(stations, on="sensor_id")
    for name, table, options in (
        ("a column per station, --time datetime", given, {}),
        ("a row per station and hour, --near latitude,longitude --time datetime", long,
         {"near": ("latitude", "longitude")}),
        ("a row per station and hour, --same sensor_id --time datetime", long,
         {"same": "sensor_id"}),
    ):  # fmt: skip
        began = time.process_time()
        filled = gf.impute(table, time="datetime", **options)
        seconds = time.process_time() - began
        if table is long:
            filled = filled.pivot(index="datetime", columns="sensor_id", values="pm25")
            filled = filled.reset_index()
        error = np.abs(filled.iloc[:, 1:].to_numpy() - truth)[hidden].mean()
        print(
            f"beijing_pm25, {name}: mean absolute error {error:.2f} ({seconds:.0f} s)", flush=True
        )


def countries() -> None:
    """Numbers of 250 countries, a fifth of the known cells hidden, by three kinds of links."""
    nodes = pd.read_csv(DATA / "countries" / "nodes.csv", keep_default_na=False, na_values=[""])
    borders = pd.read_csv(DATA / "countries" / "borders.csv", keep_default_na=False)
    places = ["latitude", "longitude"]
    numeric = [name for name in nodes.select_dtypes("number").columns if name not in places]
    near = {"near": tuple(places)}
    ways = {
        "no links": (None, {}),
        "--near": (None, near),
        "borders": (borders, {}),
        "borders and --near": (borders, near),
    }
    for method in ("propagation", "auto"):
        for name, (edges, options) in ways.items():
            if (method, name) == ("propagation", "no links"):
                continue
            r2 = []
            for seed in range(2):
                holed, hidden = with_holes(nodes, numeric, seed)
                fast = {"effort": "fast"} if method == "auto" else {}
                more = fast | ({"id": "code"} if edges is not None else {})
                filled = gf.impute(holed, edges, method=method, **options, **more)
                for column in numeric:
                    rows = hidden[column]
                    # By ranks: a few large countries do not decide.
                    both = np.argsort(np.argsort(nodes[column].to_numpy()[rows])), np.argsort(
                        np.argsort(filled[column].to_numpy()[rows]))  # fmt: skip
                    r2.append(np.corrcoef(*both)[0, 1])
            print(f"countries, {name}, {method}: mean rank correlation {np.nanmean(r2):.3f}",
                  flush=True)  # fmt: skip


def airports() -> None:
    """Time zones of airports from their coordinates: the zone's name, and the hours it keeps."""
    whole = pd.read_csv(DATA / "openflights" / "airports.csv")
    near = {"id": "airport_id", "near": ("latitude", "longitude")}
    for seed in range(2):
        table = whole[["airport_id", "latitude", "longitude", "country", "tz"]]
        holed, hidden = with_holes(table, ["tz"], seed)
        alone = holed.drop(columns="country")
        began = time.process_time()
        ways = {
            "--near": gf.impute(alone, **near)["tz"],
            "--near and --same country": gf.impute(holed, same="country", **near)["tz"],
            "the nearest airport": pd.Series(nearest_known(holed)),
        }
        seconds = time.process_time() - began
        for name, filled in ways.items():
            pairs = list(zip(filled[hidden["tz"]], table["tz"][hidden["tz"]], strict=True))
            right = np.mean([one == other for one, other in pairs])
            same = np.mean([hours(one) == hours(other) for one, other in pairs])
            print(f"openflights, time zones by {name}: {right:.1%} of {len(pairs):,} hidden cells "
                  f"right, {same:.1%} keep the same hours ({seconds:.0f} s)",
                  flush=True)  # fmt: skip


@cache
def hours(zone: str) -> tuple[datetime.timedelta | None, ...]:
    """The offsets from UTC in winter and in summer."""
    months = (1, 7)
    return tuple(datetime.datetime(2024, m, 15, tzinfo=ZoneInfo(zone)).utcoffset() for m in months)


def nearest_known(table: pd.DataFrame) -> np.ndarray:
    """The time zone of the nearest airport that has one."""
    at, known = np.radians(table[["latitude", "longitude"]]), table["tz"].notna().to_numpy()
    found = BallTree(at[known], metric="haversine").query(at, 1)[1][:, 0]
    return table["tz"].to_numpy()[known][found]


def neighbours() -> None:
    """The same neighbours as scikit-learn's BallTree finds with great circles."""
    table = pd.read_csv(DATA / "openflights" / "airports.csv")
    table = table.drop_duplicates(["latitude", "longitude"]).reset_index(drop=True)
    at = np.radians(table[["latitude", "longitude"]])
    for k in (1, 8, 16):
        found = BallTree(at, metric="haversine").query(at, k + 1)[1]
        expected = {
            tuple(sorted((i, int(j)))) for i, row in enumerate(found) for j in row if j != i
        }
        links = gf.links.near(table, "latitude", "longitude", k=k).table().to_pydict()
        made = set(zip(links["source"], links["target"], strict=True))
        both = f"{len(made & expected):,} of {len(expected):,} in both, {len(made - expected)} more"
        print(f"{k} nearest of {len(table):,} airports, BallTree's and ours: {both}", flush=True)


def keys() -> None:
    """A shared key against the mean of its group, and against a table of members."""
    counties = pd.read_csv(DATA / "county_social_capital" / "nodes.csv", dtype={"fips": str})
    real = counties[["fips", "state", "hhinc_mean2000"]]
    real = real.rename(columns={"fips": "row", "state": "key", "hhinc_mean2000": "x"}).dropna()
    tables = {"incomes of counties by state": real}
    rng = np.random.default_rng(0)
    for size in (3, 10, 100):
        n = 2000
        key = rng.integers(0, n // size, n)
        x = rng.normal(size=n // size)[key] + rng.normal(size=n)
        rows = [f"r{i}" for i in range(n)]
        tables[f"generated groups of {size}"] = pd.DataFrame(
            {"row": rows, "key": [f"k{k}" for k in key], "x": x}
        )
    for name, table in tables.items():
        holed, hidden = with_holes(table, ["x"], 0)
        rows, truth = hidden["x"], table["x"].to_numpy()
        mean = holed.groupby("key")["x"].transform("mean").fillna(holed["x"].mean())
        ours = gf.impute(holed, id="row", same="key")["x"]
        plain = {"method": "propagation", "id": "row"}
        members = holed.rename(columns={"row": "source", "key": "target"})[["source", "target"]]
        one = gf.impute(holed, same="key", **plain)["x"]
        other = gf.impute(holed, members, exclude=["key"], **plain)["x"]
        off = {
            what: np.sqrt(np.mean((filled.to_numpy() - truth)[rows] ** 2))
            for what, filled in (("ours", ours), ("group mean", mean))
        }
        print(f"{name}: error {off['ours']:.4g} by --same, {off['group mean']:.4g} by the group's "
              f"mean; largest difference from a table of members {np.abs(one - other).max():.1e}",
              flush=True)  # fmt: skip


def tables() -> None:
    """Airports and the routes between them, each table by itself and both by their keys."""
    airports = pd.read_csv(DATA / "openflights" / "airports.csv")
    airports = airports[["airport_id", "country", "altitude_ft", "utc_offset", "dst"]]
    routes = pd.read_csv(DATA / "openflights" / "routes.csv")
    named = airports["airport_id"].isin([*routes["source"], *routes["target"]])
    airports = airports[named].reset_index(drop=True)
    numbers = ["altitude_ft", "utc_offset"]
    holed, hidden = with_holes(airports.astype(dict.fromkeys(numbers, float)),
                               [*numbers, "country", "dst"], 0)  # fmt: skip
    flights, gone = with_holes(routes.astype({"flights": float}), ["flights"], 0)
    keys = {("routes", "source"): "airports", ("routes", "target"): "airports"}
    fast = {"effort": "fast"}
    began = time.process_time()
    both = gf.impute_tables({"airports": holed, "routes": flights}, keys, **fast)
    seconds = time.process_time() - began
    alone = {"airports": gf.impute(holed, id="airport_id", **fast),
             "routes": gf.impute(flights, exclude=["source", "target"], **fast)}  # fmt: skip
    for table, truth, cells in (("airports", airports, hidden), ("routes", routes, gone)):
        for column, rows in cells.items():
            scores = [right(filled[table][column], truth[column], rows) for filled in (alone, both)]
            print(f"openflights, {table}, {column}: {scores[0]:.3f} alone, {scores[1]:.3f} with "
                  f"the other table ({seconds:.0f} s)", flush=True)  # fmt: skip


def right(filled: pd.Series, truth: pd.Series, rows: np.ndarray) -> float:
    """The share of words that are right; of numbers, the correlation of ranks."""
    one, other = filled.to_numpy()[rows], truth.to_numpy()[rows]
    if truth.dtype.kind in "if":
        one, other = pd.Series(one).rank(), pd.Series(other).rank()
        return float(np.corrcoef(one, other)[0, 1])
    return float(np.mean(one == other))


def sizes() -> None:
    """A million points; and keys of groups of 100,000, whose time should grow with the rows."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    at = {"lat": np.degrees(np.arcsin(rng.uniform(-1, 1, n))), "lon": rng.uniform(-180, 180, n)}
    for k in (8, 16):
        began, wall = time.process_time(), time.perf_counter()
        links = gf.links.near(pd.DataFrame(at), "lat", "lon", k=k)
        print(f"{n:,} points, {k} nearest, {links.graph.n_edges:,} links: "
              f"{time.process_time() - began:.1f} s of CPU, {time.perf_counter() - wall:.1f} s",
              flush=True)  # fmt: skip
    for n in (250_000, 500_000, 1_000_000):
        key = np.arange(n) // 100_000
        table = pd.DataFrame({"key": key, "x": key + rng.normal(size=n)})
        table.loc[rng.random(n) < 0.3, "x"] = np.nan
        began = time.process_time()
        gf.impute(table, same="key", method="propagation")
        print(f"{n:,} rows in groups of 100,000, filled by propagation: "
              f"{time.process_time() - began:.1f} s of CPU", flush=True)  # fmt: skip


def with_holes(
    table: pd.DataFrame, columns: list[str], seed: int
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """The table with a fifth of the known cells of some columns hidden, and which those are."""
    rng = np.random.default_rng(seed)
    holed, hidden = table.copy(), {}
    for name in columns:
        hidden[name] = table[name].notna().to_numpy() & (rng.random(len(table)) < SHARE_HIDDEN)
        holed.loc[hidden[name], name] = None
    return holed, hidden


if __name__ == "__main__":
    main()
