"""Tables of other libraries come back as they are, and results show themselves in a notebook."""

import warnings

import duckdb
import geopandas
import pandas as pd
import pytest
from shapely.geometry import Point

import graphfill as gf

EDGES = pd.DataFrame({"a": ["n0", "n1"], "b": ["n1", "n2"]})
CELLS = {"id": ["n0", "n1", "n2"], "age": [30.0, None, 40.0], "city": ["<b>", None, "<b>"]}


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gf.impute(*arguments, **options)


def test_a_geopandas_frame_stays_one():
    points = [Point(0, 0), Point(1, 1), Point(2, 2)]
    table = geopandas.GeoDataFrame(CELLS, geometry=points, crs="EPSG:4326")
    kept = table.copy()
    result = quietly(table, EDGES, return_result=True, draws=1)
    for filled in (result.table, *result.draws):
        assert isinstance(filled, geopandas.GeoDataFrame)
        assert filled.crs == table.crs
        assert filled.geometry.equals(table.geometry)
    assert result.table["age"].tolist() == [30, 35, 40]
    assert table.equals(kept)


def test_relations_of_duckdb():
    frame = pd.DataFrame(CELLS)
    table, edges = duckdb.from_df(frame), duckdb.from_df(EDGES)
    filled = quietly(table, edges)
    assert isinstance(filled, duckdb.DuckDBPyRelation)
    assert filled.filter("id = 'n1'").project("age").fetchall() == [(35.0,)]
    result = quietly(table, edges, return_result=True, draws=1)
    assert isinstance(result.draws[0], duckdb.DuckDBPyRelation)


@pytest.mark.parametrize("name", ["columns", "exclude"])
def test_one_name_is_one_column(name):
    filled = quietly(pd.DataFrame(CELLS), EDGES, **{name: "age"})
    assert filled["age"].isna().any() == (name == "exclude")
    assert filled["city"].isna().any() == (name == "columns")


def test_results_in_a_notebook():
    table = pd.DataFrame(CELLS).rename(columns={"age": "<age>"})
    shown = quietly(table, EDGES, return_result=True)._repr_html_()
    assert shown.startswith("<p>Filled 2 of 2 missing cells (3 rows, 2 edges).</p>")
    assert "<td>&lt;age&gt;</td>" in shown
    assert "<age>" not in shown
    assert "notes</summary>" in shown
    nothing = quietly(table.dropna(), EDGES.head(1), return_result=True)._repr_html_()
    assert "<p>Nothing is missing (2 rows, 1 edge).</p>" in nothing
    pooled = gf.pool([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])._repr_html_()
    assert "<td>1.528</td>" in pooled


def test_one_notice_of_a_kind():
    table = pd.DataFrame(CELLS | {name: ["-", None, "7"] for name in "pqrs"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gf.impute(table, EDGES)
    assert len({warning.category for warning in caught}) == len(caught)


def test_ids_that_are_spelled_otherwise():
    table = pd.DataFrame({"id": ["Ann", "Bob", "Cat Lee"], "age": [30.0, None, 40.0]})
    edges = pd.DataFrame({"a": ["ann", "bob"], "b": ["bob", "cat  lee"]})
    for options in ({}, {"id": "id"}):
        with pytest.raises(gf.InputError, match=r"\('Ann' and 'ann'\): write them alike"):
            gf.impute(table, edges, **options)
    edges = pd.DataFrame({"a": ["Ann", "Ann"], "b": ["Bob", "cat lee "]})
    with pytest.warns(gf.GraphfillWarning, match=r"1 node\(s\) .* but for case or blanks"):
        filled = gf.impute(table, edges, id="id")
    assert filled["age"].tolist() == [30, 30, 40]


def test_pictures_and_a_report_of_everyday_cells(tmp_path):
    n = 40
    names = [f"n{i}" for i in range(n)]
    table = pd.DataFrame({
        "id": names,
        "rent": [f"1,{200 + i}" if i % 5 else None for i in range(n)],  # the next settles the comma
        "rate": [f"{i}.5 %" if i % 4 else "-" for i in range(n)],
        "city": ["Rome" if i % 3 else "unknown" for i in range(n)],
    })  # fmt: skip
    edges = pd.DataFrame({"a": names[:-1], "b": names[1:]})
    for one in (table, duckdb.from_df(table)):
        result = quietly(one, edges, return_result=True, scores=True)
        result.report(tmp_path / "r.html", overwrite=True)
        assert result.plot.known_and_filled("rent").get_xlabel() == "rent"
