"""Links to the nearest places: the same neighbours as other tools find, and what is no place."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import BallTree, NearestNeighbors

import graphfill as gf
from graphfill.graph import graph_components

RNG = np.random.default_rng(0)


def pairs(graph):
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return {(u, v) for u, v in zip(row.tolist(), graph.indices.tolist(), strict=True) if u < v}


def on_globe(n, seed=0):
    rng = np.random.default_rng(seed)
    latitude = np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
    return pl.DataFrame({"lat": latitude, "lon": rng.uniform(-180, 180, n)})


@pytest.mark.parametrize("k", [1, 5, 12])
def test_as_the_ball_tree_with_great_circles(k):
    towns = on_globe(800)
    at = np.radians(towns.to_numpy())
    found = BallTree(at, metric="haversine").query(at, k + 1)[1]
    expected = {tuple(sorted((i, int(j)))) for i in range(800) for j in found[i, 1:]}
    assert pairs(gf.links.near(towns, "lat", "lon", k=k).graph) == expected


def test_as_nearest_neighbours_in_a_plane():
    at = RNG.normal(0, 1e5, (500, 2))
    found = NearestNeighbors(n_neighbors=5).fit(at).kneighbors(return_distance=False)
    expected = {tuple(sorted((i, int(j)))) for i in range(500) for j in found[i]}
    table = pd.DataFrame(at, columns=["easting", "northing"])
    links = gf.links.near(table, "easting", "northing", k=5)
    assert pairs(links.graph) == expected
    assert "taken as those of a plane" in links.notes[0]
    assert pairs(gf.links.near(table, "easting", "northing", k=5, plane=True).graph) == expected


def test_weights_fall_with_the_distance_as_the_docs_say():
    line = pa.table({"x": [0.0, 1.0, 3.0, 700.0], "y": [0.0, 0.0, 0.0, 0.0]})
    links = gf.links.near(line, "x", "y", k=2, scale=0.5, plane=True).table().to_pydict()
    ends = zip(links["source"], links["target"], strict=True)
    weights = dict(zip(ends, links["weight"], strict=True))
    # The second nearest of the places is 3, 2, 3 and 699 away.
    assert weights[0, 1] == pytest.approx(np.exp(-1 / 3 / 0.5))
    assert weights[1, 2] == pytest.approx(np.exp(-2 / 3 / 0.5))
    assert weights[2, 3] == pytest.approx(np.exp(-697 / 699 / 0.5))


def test_across_the_date_line_and_the_pole():
    towns = pl.DataFrame(
        {"lat": [0.0, 0.0, 0.0, 90.0, 89.9], "lon": [179.9, -179.9, 90.0, 7.0, 0.0]}
    )
    assert {(0, 1), (3, 4)} <= pairs(gf.links.near(towns, "lat", "lon", k=1).graph)
    turned = towns.with_columns(lon=pl.Series([179.9, 180.1, 90.0, -100.0, 0.0]))
    assert pairs(gf.links.near(turned, "lat", "lon", k=1).graph) == pairs(
        gf.links.near(towns, "lat", "lon", k=1).graph
    )


def test_a_grid_has_all_four_neighbours_though_fewer_are_asked_for():
    x, y = (part.ravel().astype(float) for part in np.meshgrid(np.arange(9), np.arange(7)))
    links = gf.links.near(pl.DataFrame({"x": x, "y": y}), "x", "y", k=2, plane=True)
    steps = [abs(x[u] - x[v]) + abs(y[u] - y[v]) for u, v in pairs(links.graph)]
    inner = np.flatnonzero((x > 0) & (x < 8) & (y > 0) & (y < 6))
    assert set(steps) == {1.0}
    assert set(np.diff(links.graph.indptr)[inner].tolist()) == {4}


def test_many_rows_at_one_place_take_a_link_each():
    table = pl.DataFrame({"x": [1.0] * 5000 + [2.0, 3.0], "y": [0.0] * 5002})
    graph = gf.links.near(table, "x", "y", k=1, plane=True).graph
    assert graph.n_nodes == 5003
    assert graph.n_edges == 5000 + 2


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_order_of_rows_has_no_part(seed):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(rng.integers(0, 6, (40, 2)).astype(float), schema=["x", "y"])
    order = rng.permutation(40)
    one = gf.links.near(table, "x", "y", k=3, plane=True)
    other = gf.links.near(table[order], "x", "y", k=3, plane=True)
    names = [one.relations[0].own, other.relations[0].own]
    assert list(names[0]) == list(names[1])
    place = np.concatenate([order, np.arange(40, one.graph.n_nodes)])
    expected = {tuple(sorted((int(place[u]), int(place[v])))) for u, v in pairs(other.graph)}
    assert pairs(one.graph) == expected


def test_rows_without_coordinates_have_no_link():
    towns = pd.DataFrame({"lat": [1.0, None, 2.0], "lon": [1.0, 1.0, np.nan]})
    towns.loc[3] = [1.5, 1.5]
    links = gf.links.near(towns, "lat", "lon", k=2)
    assert pairs(links.graph) == {(0, 3)}
    assert links.relations[0].n_unlinked == 2


@pytest.mark.parametrize("seed", range(5))
def test_islands_are_joined_by_their_shortest_links(seed):
    rng = np.random.default_rng(seed)
    islands = np.concatenate(
        [rng.normal(centre, 0.1, (30, 2)) for centre in rng.uniform(0, 60, (7, 2))]
    )
    table = pl.DataFrame(islands, schema=["lat", "lon"])
    apart = gf.links.near(table, "lat", "lon", k=3).graph
    joined = gf.links.near(table, "lat", "lon", k=3, join=True).graph
    n_groups = int(graph_components(apart)[1].max()) + 1
    assert n_groups > 1
    assert int(graph_components(joined)[1].max()) == 0
    new = pairs(joined) - pairs(apart)
    assert len(new) == n_groups - 1


REFUSED = [
    ({"lat": [1.0, 99.0], "lon": [1.0, 2.0]}, "'lat' of the table holds 99 in row 1"),
    ({"lat": [1.0, 2.0], "lon": [1.0, 500.0]}, "'lon' of the table holds 500 in row 1"),
    ({"lat": [120.0, 130.0], "lon": [45.0, 50.0]}, "name the latitude first"),
    ({"lat": ["north", "south"], "lon": [1.0, 2.0]}, "'north' in row 0, which is no coordinate"),
    ({"lat": [1.0, np.inf], "lon": [1.0, 2.0]}, "is infinite in row 1"),
    ({"lat": [None, 1.0], "lon": [1.0, None]}, "No row of the table has both coordinates"),
    ({"latitude": [1.0], "lon": [1.0]}, "did you mean 'latitude'"),
]


@pytest.mark.parametrize(("cells", "words"), REFUSED)
def test_refusals(cells, words):
    if words.startswith(("'lat' of", "'lon' of")):  # a few mistakes among many good ones
        cells = {name: [values[0]] * 200 + values for name, values in cells.items()}
        words = words.replace("row 1", "row 201")
    with pytest.raises(gf.InputError, match=words.replace("(", r"\(")):
        gf.links.near(pd.DataFrame(cells), "lat", "lon")
