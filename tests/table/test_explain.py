"""What a filled cell is made of makes up the filled cell."""

import time
import warnings
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from real_tables import counties, hide

import graphfill as gf
from graphfill.errors import InputError
from graphfill.trust import Reasons


def people(n, seed):
    """A table with gaps in columns of every kind, its rows in no order, and links."""
    rng = np.random.default_rng(seed)
    near = np.sort(rng.random(n))
    ids = np.array([f"row {k:03d}" for k in range(n)])
    columns = {
        "size": near * 10 + rng.normal(0, 0.5, n),
        "count": np.floor(near * 40).astype(int),
        "colour": np.array(["red", "green", "blue"])[(near * 3).astype(int)],
        "member": rng.random(n) < near,
    }
    table = {"key": ids.tolist()}
    for name, cells in columns.items():
        lost = rng.random(n) < 0.4
        table[name] = [None if gone else v for v, gone in zip(cells.tolist(), lost, strict=True)]
    a = rng.integers(0, n - 3, 2 * n)  # the last rows are out of reach
    b = np.minimum(a + rng.integers(1, 4, 2 * n), n - 4)
    edges = pl.DataFrame({"a": ids[a], "b": ids[b], "w": rng.uniform(0.5, 2, 2 * n)})
    return pl.DataFrame(table)[rng.permutation(n).tolist()], edges


def impute(table, edges, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(table, edges, **{"id": "key", "return_result": True} | options)


WAYS = [
    {"method": "propagation"},
    {"weight": "w", "reliance": 0.7},
    {"method": "neighbors", "weight": "w"},
    {"method": "mean"},
    {"solver": "diffusion", "n_iter": 5},
    {"normalization": "sym", "reliance": 0.5},
    {"shrinkage": 0.3, "reliance": 1},
    {"method": "propagation", "intervals": 0.9, "scores": True},
]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_weights_and_shares_make_the_filled_cell(options):
    table, edges = people(110, 1)
    result = impute(table, edges, **options)
    mean = table["size"].mean()
    low, high = table["size"].min(), table["size"].max()
    for name in ("size", "count", "colour", "member"):
        for key in table.filter(pl.col(name).is_null())["key"]:
            why = gf.explain(result, key, name)
            value = result.table.row(by_predicate=pl.col("key") == key, named=True)[name]
            assert why.value == value
            weights = why.weights
            assert weights.columns == ["id", "value", "weight"]
            assert weights["weight"].round(9).is_sorted(descending=True)
            truth = dict(zip(table["key"], table[name], strict=True))
            assert [truth[id] for id in weights["id"]] == weights["value"].to_list()
            assert why.share_columns == 0
            assert why.share_graph == pytest.approx(weights["weight"].sum())
            assert why.share_graph + why.share_mean == pytest.approx(1)
            if name == "size":
                made = (weights["weight"] * weights["value"]).sum() + why.share_mean * mean
                assert value == pytest.approx(np.clip(made, low, high), abs=1e-7)
                assert why.probabilities is None
            elif name != "count":
                assert sum(why.probabilities.values()) == pytest.approx(1)
                largest = max(why.probabilities.values())
                assert why.probabilities[value] == pytest.approx(largest)


def test_out_of_reach_is_the_mean():
    table, edges = people(80, 2)
    table = table.with_columns(size=pl.when(pl.col("key") != "row 079").then("size"))
    why = gf.explain(impute(table, edges, method="propagation"), "row 079", "size")
    assert (why.share_graph, why.share_mean, len(why.weights)) == (0, 1, 0)
    assert why.value == pytest.approx(table["size"].mean())
    assert "The graph has no part in it: it is the mean of the column's" in str(why)


@pytest.mark.parametrize("options", [*WAYS[:3], WAYS[5]], ids=str)
def test_near_copies_are_the_cells_that_say_so(options):
    table, edges = people(110, 3)
    # Rows on a single link to a known row, and nowhere else.
    extra = [f"leaf {k}" for k in range(6)]
    ends = table.filter(pl.col("size").is_not_null())["key"][:6]
    table = pl.concat([table, pl.DataFrame({"key": extra})], how="diagonal")
    edges = pl.concat([edges, pl.DataFrame({"a": extra, "b": ends, "w": [1.0] * 6})])
    result = impute(table, edges, **options | {"reliance": 0.95})
    copies = gf.near_copies(result)
    assert copies.columns == ["id", "column", "copy_of", "weight"]
    listed = {(id, column): (of, w) for id, column, of, w in copies.rows()}
    assert {(leaf, "size") for leaf in extra} <= set(listed) or "normalization" in options
    for name in ("size", "colour"):
        for key in table.filter(pl.col(name).is_null())["key"]:
            why = gf.explain(result, key, name)
            assert (why.nearly_copy_of is not None) == ((key, name) in listed)
            if why.nearly_copy_of is not None:
                of, weight = listed[key, name]
                assert of == why.nearly_copy_of
                largest = why.weights["weight"].max() / max(1, why.share_graph)
                assert weight == pytest.approx(largest, abs=1e-5)
                assert f"nearly a copy of row {of}" in str(why)
    assert gf.near_copies(result, threshold=1.01).is_empty()
    everything = gf.near_copies(result, threshold=0.0)  # each cell's largest weight
    truth = dict(zip(table["key"], table["size"], strict=True))
    assert all(truth[of] is not None for of in everything.filter(column="size")["copy_of"])


def test_tables_of_any_library_and_any_ids():
    ages, edges = [30.0, None, 40.0], [(0, 1), (1, 2)]
    names = ["ann", "bob", "cat"]
    links = {"a": ["ann", "bob"], "b": ["bob", "cat"]}
    arrow = impute(pa.table({"key": names, "age": ages}), pa.table(links))
    assert gf.explain(arrow, "bob", "age").weights.column_names == ["id", "value", "weight"]
    labelled = pd.DataFrame({"age": ages}, index=names)
    pandas = impute(labelled, pd.DataFrame(links), id="the index")
    why = gf.explain(pandas, "bob", "age")
    assert why.weights["id"].tolist() == ["ann", "cat"]
    assert why.weights["weight"].tolist() == pytest.approx([0.5, 0.5])
    numbered = impute(pl.DataFrame({"age": ages}), edges, id="the row number")
    assert gf.explain(numbered, 1, "age").weights["id"].to_list() == [0, 2]
    days = pd.to_datetime(["2024-01-01", None, "2024-01-03"])
    dated = impute(pd.DataFrame({"key": [7, 8, 9], "day": days}), [(7, 8), (8, 9)])
    why = gf.explain(dated, 8, "day")
    assert str(why).startswith("Row 8, column day: 2024-01-02")
    assert str(gf.explain(dated, np.int64(8), "day")) == str(why)


LEARNT = [{"method": "field"}, {"method": "hybrid"}, {"method": "auto"}]


@pytest.mark.parametrize("options", LEARNT, ids=str)
def test_sizes_of_weights_and_shares_of_a_learner_add_up_to_1(options):
    table, edges = people(150, 4)
    result = impute(table, edges, **options)
    assert {s.details.get("chosen") for s in result.columns} & {
        "field",
        "field-rank",
        "trees",
        "blend",
    }
    for name in ("size", "count", "colour", "member"):
        for key in table.filter(pl.col(name).is_null())["key"][::7]:
            why = gf.explain(result, key, name)
            assert why.share_graph + why.share_columns + why.share_mean == pytest.approx(1)
            assert min(why.share_graph, why.share_columns, why.share_mean) > -1e-9
            assert why.weights["weight"].abs().sum() <= why.share_graph + 1e-9
            row = table.row(by_predicate=pl.col("key") == key, named=True)
            assert all(row[other] is not None for other in why.columns)
            assert sum(map(abs, why.columns.values())) == pytest.approx(why.share_columns)
            truth = dict(zip(table["key"], table[name], strict=True))
            assert [truth[id] for id in why.weights["id"]] == why.weights["value"].to_list()
            if name in ("colour", "member"):
                assert max(why.probabilities, key=why.probabilities.get) == why.value
            for other in list(why.columns)[:2]:
                assert other in str(why)
            ElementTree.fromstring(why.plot())
    assert gf.near_copies(result, threshold=1.01).is_empty()


def test_a_field_moves_as_its_weights_say():
    """A known cell that is one standard deviation higher moves a filled one by its weight."""
    table, edges = people(150, 4)
    table = table.select("key", "size", "count")
    result = impute(table, edges, method="field", columns=["size", "count"])
    influence = result._influences["size"]
    ((method, (field,)),) = (
        (m, f) for m, f in influence.sources.fields.items() if m in influence.parts
    )
    system, Z = field._equations
    rows = np.flatnonzero(field.block.columns["size"].missing)[::9]
    filled = system.mean(Z, None, 1e-10)
    for row in rows:
        found = field.of(int(row), {"size": np.ones(1)}, "size", np.ones(1))
        at = {name: field._channels[name][0] for name in found}
        total = sum(weights @ Z[k, at[name]] for name, (k, weights) in found.items())
        assert total == pytest.approx(filled[row, at["size"]], abs=1e-5)
        sizes = {name: np.abs(weights).sum() for name, (_, weights) in found.items()}
        scale = influence.parts[method] / max(1, influence.parts[method] * sum(sizes.values()))
        reasons = influence.of(int(row)).cells
        for name, (known, weights) in found.items():
            kept = np.zeros(len(Z))
            kept[reasons[name][0]] = reasons[name][1]
            np.testing.assert_allclose(kept[known], scale * weights, atol=1e-12)


def test_copies_of_a_field_are_the_cells_that_say_so():
    table, edges = people(150, 6)
    result = impute(table, edges, method="field")
    for threshold in (0.2, 0.4):
        listed = {(i, c): w for i, c, _, w in gf.near_copies(result, threshold).rows()}
        for name in ("size", "member"):
            for key in table.filter(pl.col(name).is_null())["key"]:
                largest = gf.explain(result, key, name).weights["weight"].max() or 0.0
                assert ((key, name) in listed) == (largest >= threshold)
    assert listed


def test_a_cell_beside_its_twin_is_nearly_a_copy():
    """Rows on one strong link each, in columns that know nothing of each other."""
    rng = np.random.default_rng(3)
    level = rng.normal(size=100)
    cells = {"x": np.repeat(level, 2) + rng.normal(0, 1e-3, 200), "y": rng.normal(size=200)}
    table = pl.DataFrame({"key": range(200), **cells})
    lost = (pl.col("key") % 2 == 1) & (pl.col("key") > 150)
    table = table.with_columns(x=pl.when(~lost).then("x"))
    pairs = [(k, k + 1) for k in range(0, 200, 2)]
    result = impute(table, pairs, method="auto")
    copies = gf.near_copies(result)
    assert copies["id"].to_list() == list(range(151, 200, 2))
    assert copies["copy_of"].to_list() == list(range(150, 200, 2))
    assert gf.explain(result, 199, "x").nearly_copy_of == 198


def test_a_report_says_what_the_least_and_most_certain_cells_are_made_of(tmp_path):
    table, edges = people(150, 4)
    result = impute(table, edges, method="auto", intervals=0.9)
    assert "reasons" not in result.columns[1].details
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "What some cells are made of" in page
    reasons = {s.name: s.details["reasons"] for s in result.columns if "reasons" in s.details}
    assert set(reasons) == {"size", "count", "colour", "member"}
    assert [one["certain"] for one in reasons["size"]] == ["least", "least", "most", "most"]
    width = result.table["size_high"] - result.table["size_low"]
    widths = dict(zip(result.table["key"], width, strict=True))
    gaps = sorted(widths[key] for key in table.filter(pl.col("size").is_null())["key"])
    assert widths[reasons["size"][0]["row"]] >= gaps[-5]
    assert widths[reasons["size"][2]["row"]] <= gaps[5]  # bounds are cut to the known values
    for one in reasons["size"]:
        why = gf.explain(result, one["row"], "size")
        assert one["share_graph"] == pytest.approx(why.share_graph)


class HalfFromColumns:
    """Half of every cell is the first row's, a third comes from the row's other columns."""

    def of(self, row):
        return Reasons(
            {"age": (np.array([0]), np.array([0.5])), "town": (np.array([1]), np.array([1 / 3]))}
        )

    def copies(self, threshold):
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)


def test_a_method_may_bring_an_influence_of_its_own():
    table = pl.DataFrame({"key": [1, 2, 3], "age": [30.0, None, 45.0], "town": ["a", "b", "a"]})
    result = impute(table, [(1, 2), (2, 3)])
    result._influences["age"] = HalfFromColumns()
    why = gf.explain(result, 2, "age")
    assert (why.share_graph, why.share_columns) == (0.5, 1 / 3)
    assert why.share_mean == pytest.approx(1 / 6)
    assert "33% from the row's other columns (town) and 17% from the mean" in str(why)
    assert "town (b): 33%" in why.plot()


def test_the_picture_is_valid_whatever_names_are():
    name, key = "<a & 'b'>", '"]]></svg><script>'
    table = pl.DataFrame({"key": [key, "x"], name: ["<b>&</b>", None]})
    why = gf.explain(impute(table, pl.DataFrame({"a": [key], "b": ["x"]})), "x", name)
    drawn = why._repr_svg_()
    assert drawn == why.plot()
    root = ElementTree.fromstring(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [part for part in root.iter() if part.tag.endswith("script")]


def test_refusals():
    table, edges = people(80, 5)
    result = impute(table, edges, unreached="nan")
    known = table.filter(pl.col("size").is_not_null())["key"][0]
    with pytest.raises(InputError, match=r"There is no row 'nobody' in column 'key' of the"):
        gf.explain(result, "nobody", "size")
    with pytest.raises(InputError, match=r"There is no column 'sise' in the table; did you mean"):
        gf.explain(result, known, "sise")
    with pytest.raises(InputError, match=r"was known and is as it came"):
        gf.explain(result, known, "size")
    with pytest.raises(InputError, match=r"pass what impute returns for a table"):
        gf.explain(result.table, known, "size")
    lone = table.filter(pl.col("size").is_null() & (pl.col("key") > "row 076"))["key"]
    assert len(lone)
    with pytest.raises(InputError, match=r"is missing still, since no known cell is connected"):
        gf.explain(result, lone[0], "size")
    some = impute(table, edges, columns=["count"])
    gap = table.filter(pl.col("size").is_null())["key"][0]
    with pytest.raises(InputError, match=r"was left alone: name a column that was filled"):
        gf.explain(some, gap, "size")


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_cell_takes_less_than_50_ms(share):
    truth, edges = counties()
    table, _ = hide(truth.select(["fips", "dem_share_2016", "dem_share_2012"]), share, 0)
    for method in ("propagation", "field"):
        result = impute(table, edges, id="fips", method=method)
        missing = np.flatnonzero(result.filled["dem_share_2016"])[::200]
        took = []
        for row in missing.tolist():
            began = time.process_time()
            gf.explain(result, table["fips"][row].as_py(), "dem_share_2016")
            took.append(time.process_time() - began)
        assert np.median(took) < 0.05


def test_a_picture_of_many_cells_sums_up_those_with_small_weights():
    n = 30
    table = pl.DataFrame({"key": range(n), "x": [None, *map(float, range(1, n))]})
    edges = pl.DataFrame({"a": [0] * (n - 1), "b": range(1, n)})
    result = impute(table, edges, method="propagation", reliance=1)
    assert "21 other cells" in gf.explain(result, 0, "x").plot()
