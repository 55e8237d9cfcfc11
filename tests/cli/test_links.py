"""Links on the command line and through impute: what is said, kept, refused; tables without any."""

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphfill as gf

TOWNS = """town,lat,lon,day,kind,rain
a,48.0,11.0,2024-01-01,wet,3
b,48.1,11.1,2024-01-02,wet,
c,48.2,11.0,2024-01-03,,5
d,52.0,9.0,2024-01-04,dry,1
e,52.1,9.1,2024-01-05,dry,
f,,,2024-01-06,dry,2
"""


@pytest.fixture
def command(in_process, tmp_path, capsys):
    (tmp_path / "towns.csv").write_text(TOWNS)

    def run(*words):
        code = in_process(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def rain(path):
    with open(path) as file:
        return {row["town"]: row["rain"] for row in csv.DictReader(file)}


def test_near_fills_and_keeps_its_links(command, tmp_path):
    plain = ("--method", "propagation", "--columns", "rain", "--quiet")
    near = ("--near", "lat,lon", "--keep-links", "links.csv")
    assert command("impute", "towns.csv", "-o", "one.csv", *near, *plain)[0] == 0
    links = ("links.csv", "--weight", "weight", "--id", "town")
    assert command("impute", "towns.csv", *links, "-o", "two.csv", *plain)[0] == 0
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()
    assert rain("one.csv")["b"] == "4"
    assert rain("one.csv")["e"] == "1"
    assert (tmp_path / "one.csv").read_text().splitlines()[-1] == "f,,,2024-01-06,dry,2"


def test_what_was_made_is_said(command):
    code, out, _ = command("check", "towns.csv", "--near", "lat,lon", "--same", "kind", "--json")
    notes = " ".join(json.loads(out)["notes"])
    assert code == 0
    assert "10 by nearness in 'lat', 'lon' with strength 1" in notes
    assert "5 by equal 'kind' (through 2 nodes that are no rows) with strength 1" in notes
    assert "1 row(s) of towns.csv lack the cells to be linked by nearness in 'lat', 'lon'." in notes
    assert "--keep-links FILE" in notes


def test_a_table_alone_is_filled_from_its_columns(command):
    code, out, _ = command("impute", "towns.csv", "-o", "filled.csv")
    assert code == 0
    assert "Nothing links the rows of towns.csv" in out
    assert "--near lat,lon links near rows" in out


def test_a_table_alone_is_not_said_to_be_out_of_reach(command):
    code, out, _ = command("check", "towns.csv")
    assert code == 0
    assert "takes each of these cells from its row's other columns" in out
    assert "Neighbours" not in out
    assert "not from this graph" not in out
    assert "the graph reaches" not in out


REFUSED = [
    (("check", "towns.csv", "--near", "lat"), "--near names 1 column(s) but takes two"),
    (("check", "towns.csv", "--near", "lat,lan"), "did you mean 'lon'?"),
    (("check", "towns.csv", "--near", "lat,lat"), "--near names column 'lat' twice"),
    (("check", "towns.csv", "--near", "lat,kind"), "which is no coordinate such as 48.2"),
    (("check", "towns.csv", "--time", "kind"), ", not moments: say how"),
    (("check", "towns.csv", "--plane"), "name their columns with --near"),
    (("check", "towns.csv", "--nearest", "4"), "--near or --like looks for"),
    (("check", "towns.csv", "--same", "kind,town", "--time", "day"), "names 2 columns: name one"),
    (("check", "towns.csv", "--same", "kind", "--columns", "kind"), "links that are made from it"),
    (("check", "towns.csv", "--keep-links", "l.csv"), "ask for some with --near"),
    (
        ("check", "towns.csv", "--same", "kind", "--keep-links", "towns.csv"),
        "same file as the input",
    ),
    (("check", "towns.csv", "--weight", "w"), "--weight names a column of the edges"),
    (("check", "towns.csv", "towns.csv", "--weight", "km"), "pass --weight-means distance"),
    (("impute", "towns.csv", "-o", "o.csv", "--same", "kind", "--save", "f.gfill"), "--keep-links"),
    (
        ("impute", "towns.csv", "-o", "o.csv", "--same", "kind", "--keep-links", "l.txt.zip"),
        "archive",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_refusals(command, words, sentence):
    code, _, error = command(*words)
    assert code == 1
    assert sentence in error
    assert error.count("\n") == 1


def test_a_plan_counts_the_links_that_would_be_made(command, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(0, 50, (500, 3)), columns=["lat", "lon", "x"])
    table["x"] = table["x"].mask(table["x"] < 10)
    table.assign(id=[f"r{i}" for i in range(500)]).to_parquet(tmp_path / "places.parquet")
    code, out, _ = command("plan", "places.parquet", "--near", "lat,lon", "--json")
    plan = json.loads(out)
    assert code == 0
    assert plan["edges"] == gf.links.near(table, "lat", "lon").graph.n_edges
    assert plan["command"] == "graphfill impute places.parquet --near lat,lon -o filled.parquet"
    assert "name EDGES" in command("plan", "places.parquet")[2]


def quiet(*args, **options):
    with pytest.warns(gf.GraphfillWarning):
        return gf.impute(*args, **options)


def places(n, seed):
    rng = np.random.default_rng(seed)
    at = rng.uniform(40, 50, (n, 2))
    height = np.sin(at[:, 0]) + np.cos(at[:, 1])
    table = pd.DataFrame(at, columns=["lat", "lon"]).assign(height=height)
    table["class"] = np.where(height > 0, "up", "down")
    return table.mask(rng.random(table.shape) < np.array([0.0, 0.0, 0.3, 0.3]))


@pytest.mark.parametrize("options", [{"near": ("lat", "lon")}, {"like": ["lat", "lon"]}, {}])
def test_cells_are_the_same_in_any_order_of_rows(options):
    table = places(150, seed=0)
    order = np.random.default_rng(1).permutation(150)
    one = quiet(table, effort="fast", **options)
    other = quiet(table.iloc[order].reset_index(drop=True), effort="fast", **options)
    pd.testing.assert_frame_equal(one.iloc[order].reset_index(drop=True), other)


def test_near_beside_edges_and_what_links_is_not_filled():
    table = places(120, seed=2).assign(name=[f"p{i}" for i in range(120)])
    table.loc[5, "lat"] = np.nan
    edges = pl.DataFrame({"a": table["name"][:-1].to_list(), "b": table["name"][1:].to_list()})
    result = quiet(table, edges, near=("lat", "lon"), return_result=True, method="propagation")
    kinds = [one.name for one in result.links.relations]
    assert any(kind.startswith("by nearness") for kind in kinds)
    assert np.isnan(result.table.loc[5, "lat"])
    assert not result.table["height"].isna().any()


def test_links_of_another_table_are_refused():
    links = gf.links.near(places(20, seed=0), "lat", "lon")
    with pytest.raises(gf.InputError, match="those of 20 rows, but the table has 21"):
        gf.impute(places(21, seed=0), links)


def test_a_dict_of_neighbours_is_a_graph():
    table = pd.DataFrame({"name": ["a", "b", "c"], "x": [1.0, None, 3.0]})
    graph = gf.Graph.of({"a": ["b"], "b": ["c"], "d": []})
    assert (graph.n_nodes, graph.n_edges) == (4, 2)
    assert quiet(table, {"a": ["b"], "b": ["c"]}, id="name")["x"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(gf.InputError, match="must be a list of nodes"):
        gf.Graph.of({"a": "bc"})


def test_distances_count_less_the_larger_they_are():
    table = pd.DataFrame({"name": ["a", "b", "c"], "x": [0.0, None, 3.0]})
    roads = pd.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "km": [1.0, 2.0]})
    plain = {"id": "name", "weight": "km", "method": "propagation", "reliance": 1.0}
    with pytest.raises(gf.InputError, match="weight_means='distance'"):
        gf.impute(table, roads, **plain)
    near = quiet(table, roads, weight_means="distance", **plain)
    assert near["x"].tolist() == pytest.approx([0.0, 1.0, 3.0])
    far = quiet(table, roads, weight_means="weight", **plain)
    assert far["x"].tolist() == pytest.approx([0.0, 2.0, 3.0])


MATRIX = ",a,b,c,d\na,0,1,0,0\nb,1,0,1,0\nc,0,1,0,2.5\nd,0,0,2.5,\n"
NEIGHBOURS = "# a comment\na: b\nb: a, c\nc: b, d\nd: c\ne:\n"
CELLS = "id,v\na,1\nb,\nc,3\nd,4\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("m.csv", MATRIX, "An adjacency matrix of 4 nodes with 3 edges is read from m.csv"),
        ("m.csv", MATRIX.replace(",a", "node,a", 1), "An adjacency matrix of 4 nodes"),
        ("n.txt", NEIGHBOURS, "n.txt is read as a list of neighbours"),
        ("n.csv", NEIGHBOURS.replace(",", ""), "n.csv is read as a list of neighbours"),
    ],
)
def test_matrices_and_lists_of_neighbours(command, tmp_path, name, text, words):
    (tmp_path / "t.csv").write_text(CELLS)
    (tmp_path / name).write_text(text)
    code, out, _ = command("impute", "t.csv", name, "-o", "o.csv")
    assert code == 0
    assert words in out
    assert "(4 rows, 3 edges)" in out
    assert (tmp_path / "o.csv").read_text() == CELLS.replace("b,", "b,2")


def test_a_broken_list_of_neighbours_is_refused(command, tmp_path):
    (tmp_path / "t.csv").write_text(CELLS)
    (tmp_path / "n.txt").write_text("a: b, c\n" * 20000 + "b, a\n")
    code, _, error = command("impute", "t.csv", "n.txt", "-o", "o.csv")
    assert code == 1
    assert "n.txt, line 20001 does not name a node and its neighbours" in error
