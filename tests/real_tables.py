"""The published graphs as an analyst would have them: a table of people or places, and links."""

import numpy as np
import pyarrow as pa
from reference import data_set

from graphfill.cli._town import make_town


def counties():
    data = data_set("us_counties")
    columns = {"fips": data["fips"]}
    for j, name in enumerate(data["x_columns"]):
        columns[str(name)] = data["x"][:, j].astype(np.float64)
    for key in data:
        if key.startswith("cat_"):
            codes = data[key]
            words = [None if np.isnan(code) else f"code {code:.0f}" for code in codes]
            columns[key.removeprefix("cat_").replace(" ", "_")] = words
    return table(columns), links(data["fips"], data["edge_index"])


def streamers():
    data = data_set("twitch_DE")
    ids = np.array([f"user{number}" for number in range(len(data["days"]))])
    columns = {
        "user": ids,
        "days": data["days"],
        "views": data["views"],
        "mature": data["mature"],
        "partner": np.where(data["partner"], "yes", "no"),
    }
    return table(columns), links(ids, data["edge_index"])


def packages():
    data = data_set("debian_bookworm")
    ids = data["package_names"]
    columns = {
        "package": ids,
        "installed_size_kib": data["installed_size_kib"].astype(np.float64),
        "deb_size_bytes": data["deb_size_bytes"].astype(np.int64),
        "has_homepage": data["has_homepage"],
        "priority": data["priority_names"][data["priority"]],
        "section": data["section_names"][data["y"]],
    }
    return table(columns), links(ids, data["edge_index"])


def table(columns):
    return pa.table({name: pa.array(cells, from_pandas=True) for name, cells in columns.items()})


def links(ids, edge_index):
    return pa.table({"source": ids[edge_index[0]], "target": ids[edge_index[1]]})


def hide(truth, share, seed):
    """The table with further cells missing, and which those are, by column; ids stay."""
    rng = np.random.default_rng(seed)
    seen, hidden = {}, {}
    for number, name in enumerate(truth.column_names):
        column = truth[name].combine_chunks()
        known = ~column.is_null().to_numpy(zero_copy_only=False)
        lost = known & (rng.random(len(column)) < share) & (number > 0)
        hidden[name] = lost
        nulls = pa.nulls(len(column), column.type)
        seen[name] = pa.compute.if_else(pa.array(lost), nulls, column)
    return pa.table(seen), hidden


TABLES = {"us_counties": counties, "twitch_DE": streamers, "debian_bookworm": packages}


def electric():
    data = data_set("electric")
    columns = {"node": np.arange(len(data["y"]))}
    for j in range(data["x"].shape[1]):
        if np.ptp(data["x"][:, j]) > 0:  # one column is constant
            columns[f"x{j}"] = data["x"][:, j].astype(np.float64)
    columns["kind"] = np.array([f"kind {code}" for code in data["y"]])
    return table(columns), links(columns["node"], data["edge_index"])


def town():
    made = make_town(2000, seed=0)
    return pa.table(made.people), links(made.people["person"], made.friends.T)
