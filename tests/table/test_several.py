"""Several tables whose rows name each other's."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphfill as gf


def shop(seed=0, n_customers=120, n_orders=900):
    """Orders whose amount is the product's price times what the customer tends to spend."""
    draw = np.random.default_rng(seed)
    spends, price = draw.normal(size=n_customers), draw.lognormal(3, 1, 30)
    buyer, product = draw.integers(0, n_customers, n_orders), draw.integers(0, 30, n_orders)
    customers = pd.DataFrame({
        "customer": [f"c{i:03}" for i in range(n_customers)],
        "segment": np.where(spends > 0, "gold", "plain"),
    })  # fmt: skip
    products = pd.DataFrame({"sku": np.arange(100, 130), "price": price.round(2)})
    orders = pd.DataFrame({
        "customer": customers["customer"].to_numpy()[buyer],
        "product": products["sku"].to_numpy()[product],
        "spent": np.log(price[product]) + spends[buyer] + 0.1 * draw.normal(size=n_orders),
    })  # fmt: skip
    return {"customers": customers, "products": products, "orders": orders}


KEYS = {("orders", "customer"): "customers", ("orders", "product"): "products"}
HOLES = {"customers": "segment", "products": "price", "orders": "spent"}


def holed(tables, seed=1):
    draw = np.random.default_rng(seed)
    hidden = {name: draw.random(len(table)) < 0.2 for name, table in tables.items()}
    return hidden, {
        name: table.assign(**{HOLES[name]: table[HOLES[name]].mask(hidden[name])})
        for name, table in tables.items()
    }


def fill(tables, keys=KEYS, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute_tables(tables, keys, **options)


def test_each_table_is_filled_from_the_others():
    whole = shop()
    hidden, tables = holed(whole)
    filled = fill(tables)
    assert {name: list(table) for name, table in filled.items()} == {
        name: list(table) for name, table in whole.items()
    }
    for name, table in filled.items():
        kept = ~hidden[name]
        pd.testing.assert_frame_equal(table[kept], tables[name][kept])
    spent, off = whole["orders"]["spent"], hidden["orders"]
    error = (filled["orders"]["spent"] - spent)[off].std() / spent[off].std()
    assert error < 0.6  # by itself a table of orders says nothing of it
    right = (filled["customers"]["segment"] == whole["customers"]["segment"])[hidden["customers"]]
    assert right.mean() > 0.65


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_the_same_in_any_library(make):
    _, tables = holed(shop(n_customers=40, n_orders=200))
    expected = fill(tables, effort="fast")
    for name, table in fill({n: make(t) for n, t in tables.items()}, effort="fast").items():
        assert type(table) is type(make(tables[name]))
        cells = table[HOLES[name]].to_numpy()
        np.testing.assert_array_equal(cells, expected[name][HOLES[name]].to_numpy())


def test_the_order_of_rows_does_not_matter():
    _, tables = holed(shop(n_customers=40, n_orders=200))
    tables["orders"]["order"] = [f"o{i:04}" for i in range(200)]
    turned = {name: table.sample(frac=1, random_state=3) for name, table in tables.items()}
    one, other = (fill(some, effort="fast") for some in (tables, turned))
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, other[name].sort_index())


def test_a_key_within_one_table():
    staff = pd.DataFrame({"name": list("abcdef"), "boss": [None, "a", "a", "b", "b", "c"],
                          "floor": [1.0, None, 1.0, 2.0, 2.0, None]})  # fmt: skip
    filled = fill({"staff": staff}, {("staff", "boss"): "staff"})["staff"]
    assert not filled["floor"].isna().any()
    assert filled["boss"].isna().tolist() == staff["boss"].isna().tolist()


def test_results_tell_how():
    _, tables = holed(shop(n_customers=40, n_orders=200))
    results = fill(tables, return_result=True, effort="fast")
    columns = [column.name for column in results["orders"].columns]
    assert columns == list(tables["orders"])
    assert any("by 'product' of orders" in note for note in results["orders"].notes)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "No key says how the tables are linked"),
        ({("orders", "custmer"): "customers"}, "did you mean 'customer'"),
        ({("orders", "customer"): "clients"}, "There is no table 'clients'"),
        ({("orders", "product"): "customers"}, "No column of customers holds the cells of column "),
    ],
)
def test_refusals(keys, words):
    with pytest.raises(gf.InputError, match=words):
        fill(shop(), keys)


def run(folder, *arguments):
    command = [sys.executable, "-m", "graphfill", "impute", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def files(tmp_path):
    _, tables = holed(shop(n_customers=40, n_orders=200))
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_files(files):
    links = ["--link", "orders.csv:customer", "--link", "orders.csv:product=products.csv"]
    done = run(files, "customers.csv", *links, "-o", "filled", "--effort", "fast")
    assert done.returncode == 0, done.stderr
    assert "orders.csv: Filled" in done.stdout
    for name in HOLES:
        before, after = (
            pd.read_csv(folder / f"{name}.csv") for folder in (files, files / "filled")
        )
        assert list(before) == list(after)
        assert not after[HOLES[name]].isna().any()
        known = before[HOLES[name]].notna()
        pd.testing.assert_frame_equal(before[known], after[known])
    again = run(files, "customers.csv", *links, "-o", "filled")
    assert again.returncode == 1
    assert "already" in again.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--link", "orders.csv:customer", "-o", "filled.csv"], "name a folder with --output"),
        (["--link", "orders.csv:product", "-o", "out"], "No column of customers.csv holds"),
        (["--link", "orders.csv:customer", "-o", "out", "--near", "a,b"], "is about one table"),
    ],
)
def test_refusals_of_files(files, more, words):
    done = run(files, "customers.csv", *more)
    assert done.returncode == 1
    assert words in done.stderr
    assert not (files / "out").exists()
