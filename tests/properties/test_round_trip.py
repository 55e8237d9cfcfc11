"""Whatever table goes in, what was known comes out, in memory and through files."""

import warnings
from itertools import pairwise

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from generated_tables import FILE_CELLS, dtype_of, listed, make, same, tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphfill as gf
from graphfill.io import read_table, write_table

deterministic = settings(
    max_examples=75,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CLASSES = ("text", "boolean")


def frame(library, columns):
    """A native table of narwhals series by name."""
    series = {name: column.to_native() for name, column in columns.items()}
    if library == "pandas":
        n = len(next(iter(series.values())))
        made = pd.DataFrame(series)
        return made.set_axis([f"row {n - i}" for i in range(n)])  # an index of its own
    return pl.DataFrame(series) if library == "polars" else pa.table(series)


def impute(table, edges, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(table, edges, return_result=True, **options)


def twins(n):
    """Row i and its twin i + n are linked, and rows in a line."""
    rows = np.arange(2 * n)
    ends = [*zip(rows[:n], rows[n:], strict=True), *pairwise(rows)]
    words = [(f"key {u}", f"key {v}") for u, v in ends]
    return pl.DataFrame(words, schema=["source", "target"], orient="row")


def columns_of(table):
    native = nw.from_native(table, eager_only=True)
    return {name: native.get_column(name) for name in native.columns}


def check(library, drawn):
    """A full table comes back itself; with some cells missing, equal but for them."""
    drawn_columns, missing = drawn
    n = len(drawn_columns[0][2])
    edges = twins(n)
    keys = [f"key {row}" for row in range(2 * n)]
    text = {"polars": pl.String, "arrow": pa.string(), "pandas": "str"}[library]
    full, holed, families = {}, {}, {}
    for number, (family, dtype, values) in enumerate(drawn_columns):
        name = f"column {number}"
        families[name] = family
        full[name] = make(library, values * 2, dtype, name)
        holes = [None if row in missing else value for row, value in enumerate(values * 2)]
        holed[name] = make(library, holes, dtype, name)
        if number == 0:  # the ids stand between the others
            full["key"] = holed["key"] = make(library, keys, text, "key")
    options = {
        "id": "key",
        "types": {name: "category" for name, family in families.items() if family == "text"},
    }
    table = frame(library, full)
    back = impute(table, edges, **options).table
    assert type(back) is type(table)
    assert list(columns_of(back)) == list(full)
    for name, column in columns_of(back).items():
        same(columns_of(table)[name], column)
    if library == "pandas":
        assert back.index.equals(table.index)

    table = frame(library, holed)
    before = {name: listed(column) for name, column in columns_of(table).items()}
    result = impute(table, edges, **options)
    assert {name: listed(c) for name, c in columns_of(table).items()} == before  # not written to
    assert list(columns_of(result.table)) == list(holed)
    if library == "pandas":
        assert result.table.index.equals(table.index)
    known = [row for row in range(2 * n) if row not in missing]
    for name, column in columns_of(result.table).items():
        same(columns_of(table)[name], column, known)
        if name == "key":
            continue
        assert dtype_of(column) == dtype_of(holed[name])
        cells = listed(column)
        seen = [cells[row] for row in known]
        for row in missing:
            assert cells[row] is not None
            if families[name] in CLASSES:
                assert cells[row] in seen
            else:
                assert min(seen) <= cells[row] <= max(seen)
        assert np.flatnonzero(result.filled[name]).tolist() == missing


@deterministic
@given(tables("pandas"))
def test_any_table_of_pandas(drawn):
    check("pandas", drawn)


@deterministic
@given(tables("polars"))
def test_any_table_of_polars(drawn):
    check("polars", drawn)


@deterministic
@given(tables("arrow"))
def test_any_table_of_arrow(drawn):
    check("arrow", drawn)


# -- files --

ENDINGS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl")


@st.composite
def file_tables(draw):
    """Rows of what every file can hold, twice; and the rows, of the second half, with gaps."""
    rows = draw(st.lists(st.tuples(*FILE_CELLS.values()), min_size=1, max_size=8))
    n = len(rows)
    missing = {name: draw(st.sets(st.integers(n, 2 * n - 1), max_size=n)) for name in FILE_CELLS}
    return rows * 2, missing


@pytest.mark.parametrize("ending", ENDINGS)
@settings(deterministic, max_examples=20)
@given(file_tables())
def test_any_table_through_files(tmp_path, ending, drawn):
    rows, missing = drawn
    columns = {
        name: [None if row in missing[name] else cell for row, cell in enumerate(cells)]
        for name, cells in zip(FILE_CELLS, zip(*rows, strict=True), strict=True)
    }
    types = dict(zip(FILE_CELLS, (pa.int64(), pa.float64(), pa.string(), pa.date32(),
                                  pa.timestamp("us")), strict=True))  # fmt: skip
    made = {name: pa.array(cells, types[name]) for name, cells in columns.items()}
    table = pa.table({"key": [f"key {row}" for row in range(len(rows))], **made})
    first, given_file, output = (
        tmp_path / "a.parquet", tmp_path / f"b.{ending}", tmp_path / f"c.{ending}",
    )  # fmt: skip
    pa.parquet.write_table(table, first)
    sheet = read_table(first)
    write_table(given_file, sheet.table, like=sheet, changed={}, overwrite=True)

    sheet = read_table(given_file)
    assert sheet.table.to_pydict() == table.to_pydict()
    edges = twins(len(rows) // 2)
    result = impute(sheet.table, edges, id="key", types={"string": "category"})
    write_table(output, result.table, like=sheet, changed=result.filled, overwrite=True)
    again = read_table(output).table
    assert again.schema.types == sheet.table.schema.types
    for name, cells in columns.items():
        found, filled = again[name].to_pylist(), result.table[name].to_pylist()
        known = [cell for cell in cells if cell is not None]
        for row, cell in enumerate(cells):
            if cell is not None:
                assert found[row] == cell
            elif name == "string":
                assert found[row] in known
            else:
                assert min(known) <= found[row] <= max(known)
            if cell is None and name != "double":
                assert found[row] == filled[row]
            elif cell is None:  # text has two decimals more than the column's other cells
                scale = max(map(abs, known)) or 1
                assert found[row] / scale == pytest.approx(filled[row] / scale, abs=1e-7)
