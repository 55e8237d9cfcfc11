"""Links by keys, along time and by alike columns, against graphs made by hand."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphfill as gf


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(*args, **options)


def households(n, size, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    home = rng.integers(0, n // size, n)
    level = rng.normal(size=n // size)
    income = level[home] + noise * rng.normal(size=n)
    table = pd.DataFrame({"person": [f"p{i}" for i in range(n)], "home": [f"h{h}" for h in home]})
    return table.assign(income=np.where(rng.random(n) < 0.3, np.nan, income)), income


@pytest.mark.parametrize(
    "options", [{"method": "propagation"}, {"method": "auto", "effort": "fast"}]
)
def test_a_key_fills_as_a_table_of_members_does(options):
    table, _ = households(200, 4, seed=1)
    one = quiet(table, same="home", **options)["income"]
    members = table.rename(columns={"person": "source", "home": "target"})[["source", "target"]]
    members = members.sort_values("target")  # the order in which homes are numbered
    other = quiet(table, members, id="person", exclude=["home"], **options)["income"]
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(3))
def test_a_key_is_as_good_as_the_mean_of_its_group(seed):
    table, truth = households(300, 5, seed)
    blank = table["income"].isna().to_numpy()
    filled = quiet(table, same="home", effort="fast")["income"].to_numpy()
    mean = table.groupby("home")["income"].transform("mean").fillna(table["income"].mean())
    error = np.sqrt(np.mean((filled - truth)[blank] ** 2))
    assert error <= 1.01 * np.sqrt(np.mean((mean.to_numpy() - truth)[blank] ** 2))


def test_large_groups_take_a_link_a_row():
    n = 300_000
    key = np.minimum(np.arange(n) // 100_000, 1)
    links = gf.links.same(pl.DataFrame({"firm": key, "town": np.arange(n) % 7}), "firm", "town")
    assert links.graph.n_edges == 2 * n
    assert links.graph.n_nodes == n + 2 + 7


def test_rows_without_a_key_are_not_linked():
    table = pd.DataFrame({"firm": ["a", None, "a", "b"], "x": [1.0, 2.0, np.nan, np.nan]})
    links = gf.links.same(table, "firm")
    assert np.diff(links.graph.indptr).tolist() == [1, 0, 1, 1, 2, 1]
    assert quiet(table, links, method="propagation", reliance=1.0)["x"].tolist()[2] == 1.0


def test_of_two_keys_the_one_that_tells_counts_more():
    rng = np.random.default_rng(0)
    table, _ = households(600, 5, seed=3)
    table["lottery"] = [f"t{t}" for t in rng.integers(0, 120, 600)]
    result = quiet(table, same=["home", "lottery"], method="propagation", return_result=True)
    names = [one.name for one in result.links.relations]
    strengths = dict(zip(names, result.links.strengths, strict=True))
    assert strengths.get("by equal 'lottery'", 0.0) < 0.5 * strengths["by equal 'home'"]


# -- time --


def test_a_line_of_moments_weighs_gaps():
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3, 7)]
    table = pl.DataFrame({"day": days, "rain": [0.0, None, None, 6.0]})
    links = gf.links.time(table, "day")
    assert links.table().to_pydict()["weight"] == pytest.approx([1.0, 1.0, 0.25])
    filled = quiet(table, links, method="propagation", reliance=1.0)["rain"]
    assert filled.to_list() == pytest.approx([0.0, 1.0, 2.0, 6.0])  # a straight line in time


def test_series_of_places_are_a_product_of_two_graphs():
    places, moments = 5, 6
    place, moment = (part.ravel() for part in np.meshgrid(np.arange(places), np.arange(moments)))
    table = pd.DataFrame({"lat": place * 1.0, "lon": 0.0, "hour": moment})
    order = np.random.default_rng(0).permutation(len(table))
    links = gf.links.time(table.iloc[order], "hour", near=("lat", "lon"), k=1)
    row = np.repeat(np.arange(len(table)), np.diff(links.graph.indptr))
    u, v = order[row], order[links.graph.indices]
    beside = (moment[u] == moment[v]) & (abs(place[u] - place[v]) == 1)
    later = (place[u] == place[v]) & (abs(moment[u] - moment[v]) == 1)
    assert (beside | later).all()
    assert links.graph.n_edges == (places - 1) * moments + places * (moments - 1)


def test_moments_that_nearly_agree_are_one_across_places():
    minute = pd.to_timedelta([0, 60, 120, 0.2, 60.1, 119.8, 500], unit="min")
    table = pd.DataFrame(
        {"when": pd.Timestamp("2024-05-01") + minute, "at": [0.0] * 3 + [1.0] * 4, "y": 0.0}
    )
    links = gf.links.time(table, "when", near=("at", "y"), k=1)
    starts, others = links.graph.indptr, links.graph.indices
    across = [(u, v) for u in range(3) for v in others[starts[u] : starts[u + 1]] if v > 2]
    assert across == [(0, 3), (1, 4), (2, 5)]


def test_places_by_key_share_a_node_for_each_moment():
    table = pl.DataFrame({"site": ["a", "a", "b", "b"], "year": [1, 2, 1, 2]})
    links = gf.links.time(table, "year", place="site")
    assert links.graph.n_nodes == 4 + 2
    assert links.graph.n_edges == 2 + 4


def test_gaps_are_hidden_as_gaps():
    from graphfill.links._time import series_of, stretches

    moments = np.arange(2000.0)
    missing = ((np.arange(2000) // 10) % 4 == 0)[:, None]
    series = series_of(np.zeros(2000, np.int64), moments, "t", "the table")
    assert set(np.bincount(stretches(series, missing))[:-1]) == {10}


def test_two_rows_of_one_place_and_moment_are_refused():
    table = pl.DataFrame({"site": ["a", "b", "a"], "year": [1, 1, 1]})
    with pytest.raises(gf.InputError, match="row 0 and row 2 are of one place at one moment"):
        gf.links.time(table, "year", place="site")
    with pytest.raises(gf.InputError, match="holds text such as '1', not moments"):
        gf.links.time(pl.DataFrame({"year": ["1", "2"]}), "year")


# -- alike rows --


def test_alike_rows_are_the_nearest_by_standardised_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 20, 300), "income": rng.lognormal(8, 1, 300)})
    from sklearn.neighbors import NearestNeighbors

    Z = (table - table.mean()) / table.std(ddof=0)
    found = NearestNeighbors(n_neighbors=4).fit(Z).kneighbors(return_distance=False)
    expected = {tuple(sorted((i, int(j)))) for i in range(300) for j in found[i]}
    graph = gf.links.like(table, "age", "income", k=4).graph
    row = np.repeat(np.arange(300), np.diff(graph.indptr))
    assert {(u, v) for u, v in zip(row, graph.indices, strict=True) if u < v} == expected


def test_alike_rows_fill_what_follows_the_columns():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.uniform(0, 80, 500), "kind": rng.choice(["a", "b"], 500)})
    truth = np.sin(table["age"] / 15) + (table["kind"] == "a")
    table["y"] = truth.where(rng.random(500) < 0.6)
    filled = quiet(table, like=["age", "kind"], method="propagation")["y"]
    assert np.sqrt(np.mean((filled - truth) ** 2)) < 0.15 * truth.std()


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"a": [1.0, 1.0]}, "no two different numbers"),
        ({"a": ["x", "x"]}, "has 1 different values"),
        ({"a": [f"n{i}" for i in range(300)]}, "has 300 different values"),
    ],
)
def test_columns_by_which_no_row_is_alike(cells, words):
    with pytest.raises(gf.InputError, match=words):
        gf.links.like(pd.DataFrame(cells), "a")
