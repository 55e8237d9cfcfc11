"""Series of several places: filled as a matrix of moments and places."""

import warnings

import numpy as np
import pandas as pd

import graphfill as gf
from graphfill.trust import Layout


def stations(n_hours=400, seed=0, kinds=2):
    """Two kinds of stations that lie among each other; each goes with its kind, not its place."""
    draw = np.random.default_rng(seed)
    weather = draw.normal(size=(n_hours, 2)).cumsum(axis=0) / 3
    at = draw.random((8, 2)) + 48
    rows = [
        {"hour": hour, "station": f"s{s}", "lat": at[s, 0], "lon": at[s, 1],
         "pm": 20 + (1 + s / 10) * weather[hour, s % kinds] + 0.1 * draw.normal()}
        for hour in range(n_hours) for s in range(8)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    hidden = draw.random(len(table)) < 0.25
    return table, hidden


def fill(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(table, return_result=True, effort="fast", **options)


def test_places_that_go_together_inform_each_other_however_far_apart():
    table, hidden = stations()
    holed = table.assign(pm=table["pm"].mask(hidden))
    error = {}
    for name, options in {"near": {"near": ("lat", "lon")}, "same": {"same": "station"}}.items():
        result = fill(holed, time="hour", **options)
        error[name] = np.abs(result.table["pm"] - table["pm"])[hidden].mean()
        (column,) = [one for one in result.summary()["columns"] if one["name"] == "pm"]
        parts = [part["method"] for part in column.get("parts", [])] or [column["chosen"]]
        assert {"series", "series-rank"} & set(parts)
        assert (result.table["pm"] == holed["pm"])[~hidden].all()
    plain = fill(holed, time="hour", near=("lat", "lon"), method="propagation").table["pm"]
    assert max(error.values()) < 0.7 * np.abs(plain - table["pm"])[hidden].mean()


def test_the_order_of_rows_does_not_matter():
    table, hidden = stations(120)
    table["row"] = [f"r{i:04}" for i in range(len(table))]
    holed = table.assign(pm=table["pm"].mask(hidden))
    one = fill(holed, time="hour", same="station", id="row").table
    other = fill(holed.sample(frac=1, random_state=1), time="hour", same="station", id="row").table
    np.testing.assert_array_equal(one["pm"], other.sort_values("row")["pm"])


def test_a_place_without_readings_is_filled_from_its_neighbours():
    table, hidden = stations(120, kinds=1)
    hidden |= (table["station"] == "s3").to_numpy()
    holed = table.assign(pm=table["pm"].mask(hidden))
    filled = fill(holed, time="hour", near=("lat", "lon")).table
    assert filled.loc[table["station"] == "s3", "pm"].std() > 0.3  # not one mean for all hours


def test_rows_that_are_no_matrix():
    hours = np.arange(40.0)
    one = np.zeros(40, dtype=int)
    assert Layout.of(np.arange(40), one, hours) is None  # one place
    apart = np.arange(40)
    assert Layout.of(np.arange(40), apart, hours) is None  # no moment that two share
    twice = np.repeat([0, 1], 20), np.tile(np.repeat(np.arange(10.0), 2), 2)
    assert Layout.of(np.arange(40), *twice) is None  # two rows of a place within a step
