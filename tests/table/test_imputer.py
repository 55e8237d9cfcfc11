"""An imputer is fitted once, saved, and holds later tables to what it learnt."""

import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphfill as gf

NAMES = [f"n{i:03}" for i in range(200)]
EDGES = pl.DataFrame({"s": NAMES[:-1], "t": NAMES[1:]})


@pytest.fixture(autouse=True)
def quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def month(seed=0, gaps=0.3):
    """Rows along a path, in which columns follow each other."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.normal(size=200))
    table = {
        "id": NAMES,
        "x": x,
        "skewed": np.exp(x / 3) + rng.random(200),
        "count": np.rint(x * 2).astype(int),
        "town": np.where(x > np.median(x), "up", np.where(x > np.quantile(x, 0.2), "mid", "low")),
        "member": rng.random(200) < 0.4,
        "full": x + rng.normal(size=200),
    }
    frame = pl.DataFrame(table)
    for name in ("x", "skewed", "count", "town", "member"):
        gap = pl.Series(rng.random(200) < gaps)
        frame = frame.with_columns(pl.when(gap).then(None).otherwise(pl.col(name)).alias(name))
    return frame.with_columns(
        born=pl.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(200), "D"))
    ).with_columns(
        pl.when(pl.col("x").is_null()).then(None).otherwise(pl.col("born")).alias("born")
    )


OPTIONS = [
    {},
    {"effort": "thorough"},
    {"method": "hybrid"},
    {"method": "field"},
    {"method": "propagation"},
    {"reliance": 0.5, "mark": True},
    {"method": "neighbors", "unreached": "nan"},
    {"method": "mean"},
    {"columns": ["x", "town"], "seed": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_fitted_table_gets_the_cells_of_impute(options, tmp_path):
    table = month()
    wanted = gf.impute(table, EDGES, id="id", **options)
    imputer = gf.TableImputer(id="id", **options)
    assert imputer.fit_transform(table, EDGES).equals(wanted)
    imputer.save(tmp_path / "a.gfill")
    loaded = gf.TableImputer.load(tmp_path / "a.gfill")
    assert loaded.transform(table, EDGES).equals(wanted)
    loaded.save(tmp_path / "b.gfill")
    assert (tmp_path / "a.gfill").read_bytes() == (tmp_path / "b.gfill").read_bytes()


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gf.TableImputer(id="id").fit(month(), EDGES)


def test_a_later_table_keeps_its_known_cells_and_has_no_gap(fitted):
    later = month(seed=1)
    filled = fitted.transform(later, EDGES)
    assert filled.schema == later.schema
    for name in later.columns:
        known = later[name].is_not_null()
        assert filled[name].filter(known).equals(later[name].filter(known))
        assert not filled[name].null_count()


def test_rows_and_columns_in_another_order_give_the_same_cells(fitted):
    later = month(seed=1)
    order = np.random.default_rng(0).permutation(200)
    shuffled = later[order.tolist()].select(later.columns[::-1])
    again = fitted.transform(shuffled, EDGES).sort("id").select(later.columns)
    assert again.equals(fitted.transform(later, EDGES))


def test_the_mean_is_that_of_the_fit():
    edges = pl.DataFrame({"a": ["p"], "b": ["q"]})
    fit = pl.DataFrame({"id": ["p", "q", "r"], "x": [1.0, 3.0, None]})
    later = pl.DataFrame({"id": ["p", "q", "r"], "x": [10.0, None, None]})
    imputer = gf.TableImputer(id="id", method="mean").fit(fit, edges)
    assert imputer.transform(later, edges)["x"].to_list() == [10.0, 2.0, 2.0]


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64, pl.Date, pl.Datetime("us")])
def test_whole_steps_reach_over_both_tables(kind):
    edges = pl.DataFrame({"a": ["p", "q"], "b": ["q", "r"]})
    fit = pl.DataFrame({"id": ["p", "q", "r"], "x": pl.Series([100, None, 104]).cast(kind)})
    later = pl.DataFrame({"id": ["p", "q", "r"], "x": pl.Series([90, None, 120]).cast(kind)})
    imputer = gf.TableImputer(id="id", method="propagation").fit(fit, edges)
    filled = imputer.transform(later, edges)["x"]
    assert filled.dtype == kind
    assert filled.cast(pl.Int64).to_list() == [90, 105, 120]


def test_integers_may_come_as_floats_as_pandas_makes_them():
    edges = pd.DataFrame({"a": ["p", "q"], "b": ["q", "r"]})
    fit = pd.DataFrame({"id": ["p", "q", "r"], "x": [100, 101, 104], "y": [1.0, None, 2.0]})
    later = pd.DataFrame({"id": ["p", "q", "r"], "x": [90.0, None, 120.0], "y": [1, 2, 3]})
    imputer = gf.TableImputer(id="id", method="propagation").fit(fit, edges)
    result = imputer.transform(later, edges, return_result=True)
    assert result.table["x"].to_list() == [90.0, 105.0, 120.0]
    assert any("'x' had no missing cell in the fit" in note for note in result.notes)


def test_a_category_never_seen_is_kept_and_never_filled_in(fitted):
    later = month(seed=1)
    towns = ["new" if i % 3 else town for i, town in enumerate(later["town"].to_list())]
    later = later.with_columns(town=pl.Series(towns))
    result = fitted.transform(later, EDGES, return_result=True)
    known = later["town"].is_not_null()
    assert result.table["town"].filter(known).equals(later["town"].filter(known))
    assert "new" not in result.table["town"].filter(~known).to_list()
    assert not result.table["town"].null_count()
    assert result.filled["town"].sum() == (~known).sum()
    assert any("categories that the fit never saw" in note for note in result.notes)


def test_columns_are_checked(fitted):
    later = month(seed=1)
    with pytest.raises(gf.InputError, match="no column 'town' in the table"):
        fitted.transform(later.drop("town"), EDGES)
    texts = later.with_columns(pl.col("x").cast(pl.String))
    with pytest.raises(gf.InputError, match=r"'x' of the table is of the type text, .* double"):
        fitted.transform(texts, EDGES)
    numbers = later.with_columns(town=pl.Series(range(200)))
    with pytest.raises(gf.InputError, match=r"'town' of the table is of the type int64, .* text"):
        fitted.transform(numbers, EDGES)
    more = later.with_columns(extra=pl.col("x"))
    result = fitted.transform(more, EDGES, return_result=True)
    assert result.table["extra"].equals(more["extra"])
    assert result.table.drop("extra").equals(fitted.transform(later, EDGES))
    assert "New since the fit and left alone: 'extra'." in result.notes


def test_a_column_without_a_known_cell_is_left_alone(fitted):
    later = month(seed=1).with_columns(x=pl.lit(None, pl.Float64))
    result = fitted.transform(later, EDGES, return_result=True)
    assert result.table["x"].null_count() == 200
    assert any("'x' is left alone" in note for note in result.notes)


def test_neither_imputer_nor_tables_change(fitted, tmp_path):
    later = month(seed=1)
    before = later.clone()
    fitted.save(tmp_path / "a.gfill")
    fitted.transform(later, EDGES)
    fitted.save(tmp_path / "b.gfill")
    assert later.equals(before)
    assert (tmp_path / "a.gfill").read_bytes() == (tmp_path / "b.gfill").read_bytes()


def test_refusals_of_use(fitted, tmp_path):
    with pytest.raises(gf.InputError, match="not fitted"):
        gf.TableImputer().transform(month(), EDGES)
    with pytest.raises(gf.InputError, match="no option 'draws'"):
        gf.TableImputer(draws=3)
    fitted.save(tmp_path / "a.gfill")
    with pytest.raises(gf.InputError, match="exists"):
        fitted.save(tmp_path / "a.gfill")
    fitted.save(tmp_path / "a.gfill", overwrite=True)


def changed(source, target, edit, compression=zipfile.ZIP_STORED):
    """A copy of a saved imputer with its parts edited."""
    with zipfile.ZipFile(source) as parts:
        held = {name: parts.read(name) for name in parts.namelist()}
    edit(held)
    with zipfile.ZipFile(target, "w", compression) as parts:
        for name, data in held.items():
            parts.writestr(name, data)


def other_version(held):
    held["record.json"] = json.dumps(json.loads(held["record.json"]) | {"version": 3}).encode()


def other_format(held):
    held["record.json"] = b"[1]"


def no_record(held):
    del held["record.json"]


def no_array(held):
    del held["field0.modes.npy"], held["field-rank0.values.npy"]


def no_columns(held):
    record = json.loads(held["record.json"])
    del record["columns"]
    held["record.json"] = json.dumps(record).encode()


def huge_array(held):
    name = "field-rank0.values.npy"
    digits = held[name].index(b"(") + 1
    shape = held[name][digits : held[name].index(b",", digits)]
    text = held[name].replace(b"(" + shape + b",), }", b"(999999999999,), }")
    held[name] = text


def objects(held):
    held["field-rank0.values.npy"] = held["field-rank0.values.npy"].replace(b"'<f8'", b"'|O' ")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (other_version, "is of version 3 but this graphfill reads version 2"),
        (other_format, "holds something else than a saved imputer"),
        (no_record, "its part 'record.json' is missing"),
        (no_array, "lacks the part 'field-rank0.values'"),
        (no_columns, "lacks the part 'columns'"),
        (huge_array, "field-rank0.values.npy|cut short or was changed"),
        (objects, "is not the array that it declares|cut short or was changed"),
    ],
)
def test_a_changed_file_is_refused(fitted, tmp_path, edit, words):
    fitted.save(tmp_path / "a.gfill")
    changed(tmp_path / "a.gfill", tmp_path / "b.gfill", edit)
    with pytest.raises(gf.InputError, match=words):
        gf.TableImputer.load(tmp_path / "b.gfill")


def test_compressed_truncated_and_foreign_files_are_refused(fitted, tmp_path):
    fitted.save(tmp_path / "a.gfill")
    changed(tmp_path / "a.gfill", tmp_path / "b.gfill", lambda held: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(gf.InputError, match="is compressed or larger than the file"):
        gf.TableImputer.load(tmp_path / "b.gfill")
    whole = (tmp_path / "a.gfill").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for data in (b"", b"id,age\n", whole[: len(whole) // 2], whole[:-30], bytes(flipped)):
        (tmp_path / "c.gfill").write_bytes(data)
        with pytest.raises(gf.InputError):
            gf.TableImputer.load(tmp_path / "c.gfill")
    with pytest.raises(gf.InputError):
        gf.TableImputer.load(tmp_path / "nothing.gfill")


def test_a_column_of_new_categories_alone_stays_as_it_is(fitted):
    towns = pl.Series(["new" if i % 3 else None for i in range(200)])
    later = month(seed=1).with_columns(town=towns)
    result = fitted.transform(later, EDGES, return_result=True)
    assert result.table["town"].equals(later["town"])
    assert not result.table["x"].null_count()
