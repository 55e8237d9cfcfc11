"""Columns and tables of any dtype of any library, and ways to draw them."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st


def make(library, values, dtype, name="x"):
    """A series of narwhals; None is missing."""
    if library == "arrow":
        half = len(values) // 2  # two chunks, as files have
        chunks = [arrow_array(part, dtype) for part in (values[:half], values[half:])]
        return nw.from_native(pa.table({name: pa.chunked_array(chunks, dtype)}))[name]
    if library == "polars":
        return nw.from_native(pl.Series(name, values, dtype, strict=False), series_only=True)
    if dtype == "object":
        values = np.fromiter(values, dtype=object)
    if str(dtype).startswith("datetime64["):
        moments = pd.Series(pd.to_datetime(pd.Series(values)), name=name)
        return nw.from_native(moments.astype(dtype), series_only=True)
    if str(dtype).startswith("timedelta64["):
        values = pd.to_timedelta(pd.Series(values)).astype(dtype)
    if str(dtype) in ("float16", "float32", "float64", "longdouble", "Sparse[float64]"):
        values = [np.nan if value is None else value for value in values]
    if str(dtype) == "period[D]":
        values = pd.PeriodIndex(values, freq="D")
    if isinstance(dtype, pd.ArrowDtype):
        values = arrow_array(values, dtype.pyarrow_dtype)
        array = pd.arrays.ArrowExtensionArray(values)
        return nw.from_native(pd.Series(array, name=name), series_only=True)
    return nw.from_native(pd.Series(values, dtype=dtype, name=name), series_only=True)


def arrow_array(values, dtype):
    """Also of dictionaries that older versions of pyarrow cannot make of a list."""
    if not pa.types.is_dictionary(dtype):
        return pa.array(values, dtype)
    plain = pa.array(values, dtype.value_type).dictionary_encode()
    codes = plain.indices.cast(dtype.index_type)
    return pa.DictionaryArray.from_arrays(codes, plain.dictionary, ordered=dtype.ordered)


def dtype_of(series):
    native = series.to_native()
    return native.type if isinstance(native, pa.ChunkedArray) else native.dtype


def listed(series):
    """The cells as Python objects, None where null or NaN."""
    native = series.to_native()
    cells = native.to_pylist() if isinstance(native, pa.ChunkedArray) else native.to_list()
    return [None if cell is None or cell is pd.NA or cell != cell else cell for cell in cells]


def same(one, two, rows=None):
    assert dtype_of(one) == dtype_of(two)
    assert one.name == two.name
    assert type(one.to_native()) is type(two.to_native())
    rows = range(len(one)) if rows is None else rows
    first, second = listed(one), listed(two)
    assert [first[i] for i in rows] == [second[i] for i in rows]
    assert [type(first[i]) for i in rows] == [type(second[i]) for i in rows]


ANY = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    # No number, and no word that means missing.
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=4).map("q".__add__),
    "day": st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1)),
    "moment": st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(1730, 1, 1)),
    "duration": st.timedeltas(dt.timedelta(-5000), dt.timedelta(5000)),
}
GENERATED = {
    "arrow": {
        "integer": [pa.int64()],
        "number": [pa.float64()],
        "boolean": [pa.bool_()],
        "text": [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
        "day": [pa.date32(), pa.date64()],
        "moment": [pa.timestamp("us")],
        "duration": [pa.duration("us")],
    },
    "polars": {
        "integer": [pl.Int64],
        "number": [pl.Float64],
        "boolean": [pl.Boolean],
        "text": [pl.String, pl.Categorical],
        "day": [pl.Date],
        "moment": [pl.Datetime("us"), pl.Datetime("us", "UTC")],
        "duration": [pl.Duration("us")],
    },
    "pandas": {
        "integer": ["Int64", "object", pd.ArrowDtype(pa.int64())],
        "number": ["float64", "Float64", "object"],
        "boolean": ["boolean", "object"],
        "text": ["str", "object", "category"],
        "day": ["period[D]", "object"],
        "moment": ["datetime64[us]", "object"],
        "duration": ["timedelta64[us]", "object"],
    },
}


@st.composite
def tables(draw, library):
    """A few columns of one length: (family, dtype, values) each, and rows that go missing."""
    n = draw(st.integers(1, 12))
    columns = []
    for family in draw(st.lists(st.sampled_from(sorted(ANY)), min_size=1, max_size=3)):
        dtype = draw(st.sampled_from(GENERATED[library][family]))
        columns.append((family, dtype, draw(st.lists(ANY[family], min_size=n, max_size=n))))
    hidden = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    return columns, [n + row for row in sorted(hidden)]


# What every format of files can hold.
FILE_CELLS = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "string": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
    .map(lambda text: "x" + text),
    "date": st.dates(dt.date(1000, 1, 1)),
    "moment": st.datetimes(dt.datetime(1000, 1, 1)),
}  # fmt: skip
