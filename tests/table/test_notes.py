"""What a newcomer reads about a table: true of it, and nothing that the column cannot show."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphfill as gf
from graphfill.table import _text_column


def ring(n):
    ids = [f"n{i:02}" for i in range(n)]
    return pd.DataFrame({"id": ids}), pd.DataFrame({"a": ids, "b": ids[1:] + ids[:1]})


def filled(table, edges, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gf.impute(table, edges, return_result=True, **options)


def holed(values, every=5):
    return pd.Series(values).mask(np.arange(len(values)) % every == 2)


def test_columns_with_one_known_value_are_not_judged():
    table, edges = ring(40)
    table["same"] = holed([7.0] * 40)
    table["word"] = holed(["yes"] * 40)
    table["x"] = holed(np.sin(np.arange(40) / 6))
    result = filled(table, edges)
    told = " ".join(result.notes)
    assert "Columns 'same' and 'word' have one known value alone, which every filled cell" in told
    assert "hardly better" not in told
    assert "lie in other rows" not in told
    by_name = {column.name: column for column in result.columns}
    for name in ("same", "word"):
        assert by_name[name].verdict == "unknown"
        assert by_name[name].explained is None
        assert by_name[name].agreement is None
    assert by_name["x"].explained > 0.8
    assert (result.table["same"] == 7.0).all()
    assert (result.table["word"] == "yes").all()


def test_nothing_but_one_value_is_known():
    table, edges = ring(3)
    table["v"] = [1.0, None, None]
    assert filled(table, edges).table["v"].tolist() == [1.0, 1.0, 1.0]


def test_few_known_cells_are_said_without_asking():
    table, edges = ring(30)
    table["v"] = holed(np.arange(30) / 7).where(np.arange(30) % 6 == 0)
    table["w"] = holed(np.arange(30) / 3).where(np.arange(30) % 6 == 3)
    notes = filled(table, edges).notes
    assert (
        "Columns 'v' and 'w' have fewer than 20 known cells: they are filled from the links alone, "
        "and how well cannot be said."
    ) in notes


def test_whole_numbers_of_a_type_with_decimals():
    table, edges = ring(40)
    draw = np.random.default_rng(0)
    table["beds"] = holed(draw.integers(1, 9, 40).astype(float))
    table["size"] = holed(draw.random(40))
    table["pay"] = holed(draw.integers(0, 9000, 40).astype(float))
    result = filled(table, edges, method="propagation")
    (told,) = [note for note in result.notes if "whole numbers" in note]
    assert told == (
        "Columns 'beds' and 'pay' hold whole numbers, and so do filled cells: pass "
        "types={'beds': 'number'} to fill in decimals."
    )
    assert result.table.dtypes.equals(table.dtypes)
    assert not (result.table[["beds", "pay"]] % 1).any(axis=None)
    between = filled(table, edges, method="propagation", types={"beds": "number"}).table
    assert (between["beds"] % 1).any()


def test_flags_and_marks_that_pandas_stores_as_floats_are_filled_with_decimals():
    table, edges = ring(60)
    draw = np.random.default_rng(0)
    table["late"] = holed((draw.random(60) < 0.2).astype(float))
    table["mark"] = holed(draw.integers(1, 6, 60).astype(float))
    result = filled(table, edges, method="propagation")
    (told,) = [note for note in result.notes if "whole numbers" in note]
    assert told == (
        "Columns 'late' and 'mark' hold whole numbers, but filled cells may lie between: pass "
        "types={'late': 'integer'} to round them."
    )
    assert (result.table[["late", "mark"]] % 1).any().all()


def test_whole_numbers_where_integers_could_be_missing():
    table, edges = ring(40)
    table["beds"] = holed(np.random.default_rng(0).integers(1, 9, 40).astype(float))
    table["few"] = holed([1.0, 2.0] * 20, every=3).where(np.arange(40) > 20)
    frame = pl.from_pandas(table)
    for one, name in ((frame, "beds"), (table[["id", "few"]], "few")):
        result = filled(one, edges, method="propagation")
        (told,) = [note for note in result.notes if "whole numbers" in note]
        assert "filled cells may lie between: pass types=" in told
        assert any(value % 1 for value in result.table[name].to_list())
    table["beds"] = table["beds"].astype("Int64")
    assert str(filled(table, edges).table["beds"].dtype) == "Int64"


@pytest.mark.parametrize("marker", ["?", "-", "N/A", "#DIV/0!"])
def test_words_that_mean_missing(marker):
    table, edges = ring(40)
    table["city"] = holed(["Rome", "Bath", marker, "Rome"] * 10)
    result = filled(table, edges)
    told = [note for note in result.notes if marker in note]
    assert told == [
        f"\"{marker}\" counts as missing in column 'city' (8 cells): pass values=[{marker!r}] if "
        "it is a value."
    ]
    assert set(result.table["city"]) == {"Rome", "Bath"}
    named = filled(table, edges, missing=[marker])
    assert named.table.equals(result.table)
    assert not [note for note in named.notes if marker in note]
    kept = filled(table, edges, values=[marker]).table["city"]
    assert (kept[table["city"] == marker] == marker).all()


@pytest.mark.parametrize("marker", ["unknown", "none", "", "NA"])
@pytest.mark.parametrize("dtype", [object, "category"])
def test_words_that_may_mean_missing(marker, dtype):
    table, edges = ring(40)
    table["city"] = holed(["Rome", "Bath", marker, marker] * 10).astype(dtype)
    result = filled(table, edges)
    told = [note for note in result.notes if "may mean missing" in note]
    assert told == [
        f"\"{marker}\" in column 'city' (16 cells) may mean missing: it is kept where it stands "
        f"and filled in nowhere; pass missing=[{marker!r}] to fill these cells, or "
        f"values=[{marker!r}] if it is a value."
    ]
    was = (table["city"] == marker).to_numpy()
    assert ((result.table["city"] == marker).to_numpy() == was).all()
    assert result.columns[1].n_filled == table["city"].isna().sum()
    assert set(filled(table, edges, missing=marker).table["city"]) == {"Rome", "Bath"}
    valued = filled(table, edges, values=marker).table["city"]
    assert (valued == marker).sum() > was.sum()


def test_a_table_whose_only_gaps_are_words():
    table, edges = ring(40)
    table["city"] = ["Rome", "?"] * 20
    assert "pass values=['?'] if it is a value" in " ".join(filled(table, edges).notes)
    table["city"] = ["Rome", "unknown"] * 20
    result = filled(table, edges)
    assert "pass missing=['unknown'] to fill these cells" in " ".join(result.notes)
    assert result.table.equals(table)


@pytest.mark.parametrize(
    ("values", "marker"),
    [
        ([-999.0, *range(7)], "-999"),
        ([-999, *range(0, 4000, 600)], "-999"),  # the others are not negative
        ([9999, *range(1900, 1907)], "9999"),
        ([99, *range(50, 57)], "99"),
        ([99, *range(0, 98, 14)], ""),  # ages may be that
        ([100, *range(7)], ""),
        ([-9.9, *range(7)], ""),
    ],
)
def test_numbers_that_may_mean_missing(values, marker):
    table, edges = ring(40)
    table["x"] = (values * 5)[:40]
    table["x"] = table["x"].where(np.arange(40) % 8 != 3)
    result = filled(table, edges)
    found = [note for note in result.notes if "may mean missing" in note]
    assert bool(found) == bool(marker)
    if marker:
        (told,) = found
        assert f"\"{marker}\" in column 'x' (5 cells) may mean missing" in told
        assert f"missing=['{marker}']" in told
        assert f"values=['{marker}']" in told
        assert (result.table["x"] == float(marker)).sum() == 5
        assert np.abs(result.table["x"][3::8]).max() <= max(values[1:])
        assert int(filled(table, edges, missing=[marker]).columns[1].n_filled) == 10
        assert not [n for n in filled(table, edges, values=marker).notes if "may mean" in n]


def test_what_is_kept_is_kept_in_draws_and_has_no_bounds():
    table, edges = ring(120)
    draw = np.random.default_rng(0)
    table["x"] = holed(np.sin(np.arange(120) / 9) + draw.normal(size=120) / 9)
    table.loc[[7, 60, 90], "x"] = -999.0
    table["city"] = holed(["Rome", "Bath", "York", "unknown"] * 30, every=7)
    result = filled(table, edges, intervals=0.9, draws=2)
    for made in (result.table, *result.draws):
        assert (made["x"] == -999.0).sum() == 3
        assert ((made["city"] == "unknown") == (table["city"] == "unknown")).all()
    assert result.table["x_low"][[7, 60, 90]].isna().all()
    assert result.table["x_low"].min() > -10
    assert result.table["city_set"][table["city"] == "unknown"].isna().all()


def test_a_frequent_value_makes_text_a_category():
    table, edges = ring(60)
    species = ["Human"] * 25 + [f"one of {i}" for i in range(30)] + [None] * 5
    table["species"], table["name"] = species, [f"name {i // 1.5}" for i in range(55)] + [None] * 5
    kinds = {column.name: column.kind for column in filled(table, edges).columns}
    assert kinds["species"] == "category"
    assert kinds["name"] == "left alone"


def test_an_adjacency_matrix_is_read_as_one():
    table, edges = ring(12)
    table["v"] = holed(np.arange(12) / 7)
    A = np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0)
    matrix = pd.DataFrame(A, index=table["id"], columns=table["id"])
    result = filled(table, matrix)
    read = "An adjacency matrix of 12 nodes with 12 edges is read from the edges."
    assert read in result.notes
    pd.testing.assert_frame_equal(result.table, filled(table, edges).table)
    named = matrix.rename_axis(None, axis=1).reset_index()  # the names of rows as a column
    pd.testing.assert_frame_equal(filled(table, named).table, result.table)


def test_no_edges_are_no_numbers_of_rows():
    table, edges = ring(40)
    table["v"] = holed(np.arange(40) / 7)
    notes = " ".join(filled(table, edges.head(0)).notes)
    assert "by number" not in notes
    assert "40 row(s) of the table have no edge." in notes
    assert "(40 rows, 1 edge)" in str(filled(table, edges.head(1)))


def test_the_package_is_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "graphfill", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.strip()


def test_words_of_a_file_are_values_if_the_user_says_so(tmp_path):
    table, edges = ring(40)
    table["region"] = holed(["NA", "EU", "AS", "?"] * 10)
    table.to_csv(tmp_path / "t.csv", index=False)
    edges.to_csv(tmp_path / "e.csv", index=False)
    files = [str(tmp_path / name) for name in ("t.csv", "e.csv")]
    command = [sys.executable, "-m", "graphfill", "impute", *files, "--missing", ""]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "out.csv")], capture_output=True, text=True
    )
    assert '"NA" in column' not in done.stdout
    assert "\"?\" counts as missing in column 'region' (8 cells): pass --value '?'" in done.stdout


def test_what_is_printed_has_nothing_that_a_terminal_obeys():
    name = "age\x1b[31m\x9b2J<script>"
    people = pd.DataFrame({"id": range(6), name: [1.0, 2, None, 4, None, 6], "c": [*"aabbc", None]})
    people.loc[3, "c"] = "\x1b]0;title\x07"
    edges = pd.DataFrame({"a": range(5), "b": range(1, 6)})
    result = filled(people, edges)
    said = [repr(result), str(gf.explain(result, 2, name)), *result.notes]
    assert not any(c in text for text in said for c in "\x1b\x9b\x07")
    assert "<script>" not in result._repr_html_()


def test_words_of_very_many_values_are_left_alone_unless_asked_for(monkeypatch):
    monkeypatch.setattr(_text_column, "MOST_CHANNELS", 300)
    table, edges = ring(60)
    table["town"] = holed([f"t{k % 12}" for k in range(60)])
    result = filled(table, edges)
    assert (
        "Column 'town' is left alone with 12 missing cell(s): 12 different values in 48 known "
        "cells would take very long; pass types={'town': 'category'} to fill it."
    ) in result.notes
    asked = filled(table, edges, types={"town": "category"}, method="propagation")
    assert asked.table["town"].notna().all()
