"""Columns of every dtype of every library: to channels and back."""

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from generated_tables import listed, make, same, tables
from hypothesis import given, settings

from graphfill.errors import InputError
from graphfill.table._columns import open_column

PARIS = "Europe/Paris"
UTC = dt.UTC

# Eight values of each family; rows 2 and 6 are neither the smallest nor the largest.
VALUES = {
    "integer": [3, 1, 4, 1, 5, 9, 2, 6],
    "number": [0.5, -2.25, 1.5, 8.0, 0.25, 3.0, -1.0, 2.0],
    "decimal": [Decimal(v) for v in ("0.50", "-2.25", "1.50", "8.01", "0.25", "3.00", "-1", "2")],
    "boolean": [True, False, False, True, True, False, True, True],
    "text": ["b", "a", "a", "c", "b", "a", "c", "a"],
    "day": [dt.date(2024, 1, 1) + dt.timedelta(days) for days in (5, 1, 70, 900, 8, 9, 40, 0)],
    "moment": [
        dt.datetime(2024, 1, 1, 8) + dt.timedelta(seconds=seconds)
        for seconds in (5, 1, 70, 90_061, 8, 9, 4_000, 0)
    ],
    "zoned": [
        dt.datetime(2024, 3, 31, tzinfo=UTC) + dt.timedelta(seconds=seconds)
        for seconds in (5, 1, 3_700, 90_061, 8, 9, 4_000, 0)
    ],
    "clock": [dt.time(8, minute, 59 - minute) for minute in (3, 0, 2, 7, 4, 5, 6, 1)],
    "duration": [dt.timedelta(seconds=seconds) for seconds in (5, 1, 70, 90_061, 8, 9, 400, -60)],
}
KIND = {
    "decimal": "number",
    "text": "category",
    "day": "date",
    "moment": "date",
    "zoned": "date",
    "clock": "time",
}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
UNITS = ("s", "ms", "us", "ns")
ARROW = [
    *(("integer", getattr(pa, name)()) for name in INTEGERS),
    *(("number", kind) for kind in (pa.float16(), pa.float32(), pa.float64())),
    *(("decimal", kind) for kind in (pa.decimal128(9, 2), pa.decimal128(38, 18))),
    *(("decimal", kind) for kind in (pa.decimal32(5, 2), pa.decimal64(9, 3))),
    ("decimal", pa.decimal256(50, 4)),
    ("boolean", pa.bool_()),
    *(("text", kind) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *(("text", pa.dictionary(size, pa.string())) for size in (pa.int8(), pa.uint32())),
    ("text", pa.dictionary(pa.int32(), pa.large_string(), ordered=True)),
    *(("day", kind) for kind in (pa.date32(), pa.date64())),
    *(("moment", pa.timestamp(unit)) for unit in UNITS),
    *(("zoned", pa.timestamp(unit, PARIS)) for unit in UNITS),
    *(("clock", kind) for kind in (pa.time32("s"), pa.time32("ms"))),
    *(("clock", kind) for kind in (pa.time64("us"), pa.time64("ns"))),
    *(("duration", pa.duration(unit)) for unit in UNITS),
]
POLARS = [
    *(("integer", getattr(pl, name.title().replace("Ui", "UI"))) for name in INTEGERS),
    ("integer", pl.Int128),
    *(("number", kind) for kind in (pl.Float32, pl.Float64)),
    *(("decimal", pl.Decimal(*size)) for size in ((9, 2), (38, 18))),
    ("boolean", pl.Boolean),
    *(("text", kind) for kind in (pl.String, pl.Categorical, pl.Enum(["z", "c", "b", "a"]))),
    ("day", pl.Date),
    *(("moment", pl.Datetime(unit)) for unit in UNITS[1:]),
    *(("zoned", pl.Datetime(unit, PARIS)) for unit in UNITS[1:]),
    ("clock", pl.Time),
    *(("duration", pl.Duration(unit)) for unit in UNITS[1:]),
]
PANDAS = [
    *(("integer", name.title().replace("Ui", "UI")) for name in INTEGERS),
    *(("number", name) for name in ("float16", "float32", "float64", "Float32", "Float64")),
    *(("number", name) for name in ("longdouble", "Sparse[float64]")),
    ("boolean", "boolean"),
    *(("text", name) for name in ("str", "string[python]", "string[pyarrow]", "category")),
    ("text", pd.CategoricalDtype(["z", "c", "b", "a"], ordered=True)),
    *(("moment", f"datetime64[{unit}]") for unit in UNITS),
    *(("zoned", f"datetime64[{unit}, {PARIS}]") for unit in UNITS),
    ("day", "period[D]"),
    *(("duration", f"timedelta64[{unit}]") for unit in UNITS),
    *((family, "object") for family in VALUES),
    *((family, pd.ArrowDtype(kind)) for family, kind in ARROW if "view" not in str(kind)),
]
# Without a null of their own, cells can be missing by a marker or because they are hidden.
PANDAS_FULL = [("integer", name) for name in INTEGERS] + [("boolean", "bool")]

SKIP_PANDAS = ("halffloat", "decimal32", "decimal64", "decimal256")  # no arrays of these in pandas
PANDAS = [(f, d) for f, d in PANDAS if not any(word in str(d) for word in SKIP_PANDAS)]


def params(*groups):
    return [
        pytest.param(library, family, dtype, id=f"{library}-{family}-{dtype}")
        for library, group in groups
        for family, dtype in group
    ]


EVERY = params(("arrow", ARROW), ("polars", POLARS), ("pandas", PANDAS))
FULL = params(("pandas", PANDAS_FULL))


def channels(column):
    out = np.empty((column.missing.size, column.n_channels))
    column.encode(range(column.n_channels), out)
    return out


def fill(column, filled, split=None):
    """Decode all channels, `split` at a time, and rebuild."""
    step = split or max(1, column.n_channels)
    for start in range(0, column.n_channels, step):
        span = range(start, min(start + step, column.n_channels))
        column.decode(span, filled[:, span.start : span.stop])
    return column.rebuild()


def fill_with(column, value):
    return fill(column, np.full((int(column.missing.sum()), column.n_channels), float(value)))


# -- every dtype --


@pytest.mark.parametrize(("library", "family", "dtype"), EVERY + FULL)
def test_nothing_missing_comes_back_itself(library, family, dtype):
    series = make(library, VALUES[family] * 2, dtype)
    column = open_column(series)
    assert column.kind == KIND.get(family, family)
    assert not column.missing.any()
    assert column.rebuild() is series
    out = channels(column)
    assert np.isfinite(out).all()
    assert abs(out.mean(axis=0)).max() < 1e-12
    if not column.is_class:
        assert out.std() == pytest.approx(1)


@pytest.mark.parametrize(("library", "family", "dtype"), EVERY)
def test_missing_cells_are_filled_in_the_same_dtype(library, family, dtype):
    values = VALUES[family]
    holes = [None if row in (2, 6) else value for row, value in enumerate(values)]
    series = make(library, holes, dtype)
    before = listed(series)
    column = open_column(series)
    assert column.kind == KIND.get(family, family)
    assert np.flatnonzero(column.missing).tolist() == [2, 6]
    out = channels(column)
    assert (np.isnan(out) == column.missing[:, None]).all()
    filled = fill_with(column, 0.3)
    known = [0, 1, 3, 4, 5, 7]
    same(series, filled, known)
    cells = listed(filled)
    assert column.filled_cells.tolist() == column.missing.tolist()
    for row in (2, 6):
        assert type(cells[row]) in {type(cells[i]) for i in known}
        if column.is_class:
            assert cells[row] in [cells[i] for i in known]
        else:
            assert min(cells[i] for i in known) <= cells[row] <= max(cells[i] for i in known)
    assert listed(series) == before


@pytest.mark.parametrize(("library", "family", "dtype"), EVERY + FULL)
def test_hidden_truth_comes_back(library, family, dtype):
    series = make(library, VALUES[family] * 2, dtype)
    check_truth(series, open_column(series), [9, 10, 12, 15], exact=family != "number")


@pytest.mark.parametrize(("library", "family", "dtype"), EVERY)
def test_classes_of_any_dtype(library, family, dtype):
    series = make(library, VALUES[family] * 2, dtype)
    column = open_column(series, kind="category")
    assert column.kind == "category"
    assert column.n_channels == len(set(listed(series)))
    check_truth(series, column, [9, 10, 12, 15])


def check_truth(series, column, hidden, *, exact=True):
    """Rows of the second half hidden, and decoded from the channels of the first."""
    n = column.missing.size
    mask = np.zeros(n, dtype=bool)
    mask[hidden] = True
    column = column.hide(mask)
    truth = channels(column)[np.flatnonzero(column.missing) - n // 2]
    for split in (None, 1, 2):
        filled = fill(column, truth, split)
        assert column.filled_cells.tolist() == column.missing.tolist()
        if exact:
            same(series, filled)
        else:
            same(series, filled, np.flatnonzero(~column.missing))
            want, got = (np.array(listed(s), dtype=float) for s in (series, filled))
            span = np.ptp(want) or 1
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12 * span)


@pytest.mark.parametrize(("library", "family", "dtype"), EVERY)
def test_nan_channels_stay_missing(library, family, dtype):
    holes = [None if row in (2, 6) else value for row, value in enumerate(VALUES[family])]
    column = open_column(make(library, holes, dtype))
    filled = np.zeros((2, column.n_channels))
    filled[1] = np.nan
    cells = listed(fill(column, filled))
    assert cells[2] is not None
    assert cells[6] is None
    assert np.flatnonzero(column.filled_cells).tolist() == [2]
    if column.is_class:
        assert np.isnan(column.probability).tolist() == [False, True]


# -- generated columns --


def check_table(library, table):
    """Each value twice, the second one missing in some rows: what is filled in is the first."""
    columns, rows = table
    for family, dtype, values in columns:
        full = make(library, values * 2, dtype)
        holes = [None if row in rows else value for row, value in enumerate(values * 2)]
        series = make(library, holes, dtype)
        column = open_column(series, kind="category" if family == "text" else None)
        assert np.flatnonzero(column.missing).tolist() == rows
        known = np.flatnonzero(~column.missing)
        out = channels(column)
        assert np.isfinite(out[known]).all()
        filled = fill(column, out[np.array(rows) - len(values)])
        same(series, filled, known)
        # Floats hold 53 bits of where a number lies between the smallest and the largest.
        wide = family == "integer" and max(values) - min(values) > 2**50
        if family != "number" and not wide:
            same(full, filled)
        else:
            got, want = listed(filled), listed(full)
            assert all(min(want) <= value <= max(want) for value in got)
            scale = max(map(abs, want)) or 1
            assert all(abs(a / scale - b / scale) < 1e-12 for a, b in zip(got, want, strict=True))


deterministic = settings(max_examples=80, derandomize=True, deadline=None, database=None)


@deterministic
@given(tables("pandas"))
def test_any_table_of_pandas(table):
    check_table("pandas", table)


@deterministic
@given(tables("polars"))
def test_any_table_of_polars(table):
    check_table("polars", table)


@deterministic
@given(tables("arrow"))
def test_any_table_of_arrow(table):
    check_table("arrow", table)


# -- numbers --


def pandas(values, dtype=None, name="x"):
    return nw.from_native(pd.Series(values, dtype=dtype, name=name), series_only=True)


def polars(values, dtype=None, name="x"):
    return nw.from_native(pl.Series(name, values, dtype, strict=False), series_only=True)


def test_standardised_by_the_known_cells():
    column = open_column(pandas([1.0, None, 3.0, 5.0]))
    out = channels(column)
    spread = np.std([1, 3, 5])
    np.testing.assert_allclose(out[:, 0], [-2 / spread, np.nan, 0, 2 / spread])


def test_a_constant_column_is_filled_with_its_constant():
    column = open_column(pandas([0.1] * 10 + [None]))
    assert channels(column)[0, 0] == 0
    assert listed(fill_with(column, 0.7))[-1] == 0.1


def test_filled_numbers_stay_between_the_known_ones():
    for value, want in ((1e6, 5.0), (-1e6, 1.0)):
        assert listed(fill_with(open_column(pandas([1.0, None, 5.0])), value))[1] == want


def test_no_overflow():
    top = np.finfo(float).max
    column = open_column(pandas([top, None, -top, top]))
    assert np.isfinite(channels(column)[[0, 2, 3]]).all()
    assert abs(listed(fill_with(column, 0))[1]) <= top
    tiny = open_column(pandas([5e-324, None, 0.0, 1e-323]))
    assert np.isfinite(channels(tiny)[[0, 2, 3]]).all()


@pytest.mark.parametrize(
    ("ends", "want"),
    [((0, 5), 2), ((1, 4), 2), ((-1, 2), 0), ((3, 4), 4), ((-4, -1), -2), ((-3, -2), -2)],
)
def test_halves_are_rounded_to_even(ends, want):
    """Between two integers the even one, wherever the column begins."""
    column = open_column(polars([ends[0], None, ends[1]]))
    assert listed(fill_with(column, 0))[1] == want


def test_big_integers_keep_their_bits():
    values = [2**63 - 1, None, 2**63 - 3, 2**53 + 1, None]
    for series in (polars(values, pl.Int64), pandas(values, "Int64")):
        cells = listed(fill_with(open_column(series), 100))
        assert cells == [2**63 - 1, 2**63 - 1, 2**63 - 3, 2**53 + 1, 2**63 - 1]
    near = open_column(polars([2**63 - 1, None, 2**63 - 3]))
    assert listed(fill_with(near, 0))[1] == 2**63 - 2
    unsigned = open_column(polars([2**64 - 1, None, 0], pl.UInt64))
    assert listed(fill_with(unsigned, 9)) == [2**64 - 1, 2**64 - 1, 0]
    assert listed(fill_with(unsigned, -9)) == [2**64 - 1, 0, 0]


def test_full_range_of_int64():
    column = open_column(polars([2**63 - 1, None, -(2**63)]))
    assert np.abs(channels(column)[[0, 2], 0]) == pytest.approx(1)
    assert listed(fill_with(column, -9))[1] == -(2**63)
    assert listed(fill_with(column, 9))[1] == 2**63 - 1


def test_whole_floats_stay_floats_unless_asked():
    series = pandas([1.0, None, 4.0, 2.0])
    assert listed(fill_with(open_column(series), 0))[1] == pytest.approx(7 / 3)
    column = open_column(series, kind="integer")
    assert column.kind == "integer"
    assert listed(fill_with(column, 0)) == [1.0, 2.0, 4.0, 2.0]
    assert open_column(polars([1, None, 3]), kind="number").kind == "integer"


def test_decimals_are_quantised_and_clipped():
    series = polars([Decimal("1.10"), None, Decimal("2.25")], pl.Decimal(10, 2))
    assert listed(fill_with(open_column(series), 0.1))[1] == Decimal("1.73")
    assert listed(fill_with(open_column(series), 9))[1] == Decimal("2.25")
    long = [Decimal("12345678901234567890.123"), None, Decimal("12345678901234567890.125")]
    for value in (9, 0, -9):  # floats cannot tell these apart, but must not leave their range
        cells = listed(fill_with(open_column(polars(long, pl.Decimal(38, 3))), value))
        assert cells[::2] == long[::2]
        assert long[0] <= cells[1] <= long[2]


def test_infinite_cells():
    assert open_column(pandas([1.0, np.inf])).reason == "infinite values"
    with pytest.raises(InputError) as refusal:
        open_column(pandas([1.0, 2.0, None, -np.inf], name="age"))
    assert str(refusal.value) == (
        "The cell at row 3, column 'age' is infinite (-inf): name it as missing, or give it a "
        "finite number."
    )
    assert open_column(pandas([1.0, np.inf, 2.0]), missing=["inf"]).missing.tolist() == [0, 1, 0]


# -- classes --


def test_the_most_probable_value_wins_then_the_more_frequent_then_the_first():
    column = open_column(polars(["b", "a", "c", "a", "b", None, None, None, None]))
    assert column.share.tolist() == [0.4, 0.4, 0.2]  # b, a, c
    channel = np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.3, 0.35, 0.35]])
    cells = listed(fill(column, channel - column.share))
    assert cells[5:] == ["c", "b", "a", "a"]
    np.testing.assert_allclose(column.probability, [0.7, 0.4, 0.4, 0.35])


def test_rounding_breaks_no_tie():
    column = open_column(polars(["a", "b", "a", "b", None]))
    assert listed(fill(column, np.array([[0.0, 1e-15]])))[4] == "a"


@pytest.mark.parametrize("values", [[1, None, 3], [True, None, False], ["a", None, "b"]])
def test_channels_may_be_part_of_a_float32_matrix(values):
    column = open_column(polars(values))
    matrix = np.zeros((3, 5), dtype=np.float32)
    column.encode(range(column.n_channels), matrix[:, 1 : 1 + column.n_channels])
    np.testing.assert_allclose(matrix[:, 1 : 1 + column.n_channels], channels(column))
    assert not matrix[:, [0, 3, 4]].any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_split_of_channels_changes_nothing(dtype):
    words = [f"w{i % 13}" for i in range(100)] + [None] * 50
    filled = np.random.default_rng(0).normal(size=(50, 13)).round(1).astype(dtype)
    filled[7] = np.nan
    results = []
    for split in (1, 2, 5, 12, 13):
        column = open_column(polars(words))
        results.append((listed(fill(column, filled, split)), column.probability.tolist()))
    assert all(repr(result) == repr(results[0]) for result in results)
    parts = np.empty((150, 13))
    for start in (0, 5, 10):
        span = range(start, min(start + 5, 13))
        column.encode(span, parts[:, span.start : span.stop])
    np.testing.assert_array_equal(parts, channels(column))


@pytest.mark.parametrize(
    ("values", "share", "want"),
    [
        ([True, False, True], 0.5, True),
        ([True, False, False], 0.5, False),
        ([False, True], 0.5, False),
        ([True, False], 0.5, True),
        ([True, False, False], 0.51, True),
        ([True, True, False], 0.49, False),
        ([True, True], 0.2, True),
        ([False, False], 0.9, False),
    ],
)
def test_booleans(values, share, want):
    for series in (polars([*values, None]), pandas([*values, None], "boolean")):
        column = open_column(series)
        assert column.n_channels == 1
        known = sum(values) / len(values)
        np.testing.assert_allclose(channels(column)[:-1, 0], np.array(values) - known)
        assert listed(fill_with(column, share - known))[-1] is want
        assert 0 <= column.probability[0] <= 1


def test_categories_keep_order_and_unused_categories():
    dtype = pd.CategoricalDtype(["low", "mid", "high", "never"], ordered=True)
    filled = fill_with(open_column(pandas(["low", None, "high", "low"], dtype)), 0).to_native()
    assert filled.dtype == dtype
    assert filled.tolist() == ["low", "low", "high", "low"]
    enum = pl.Enum(["low", "mid", "high", "never"])
    filled = fill_with(open_column(polars(["low", None, "high", "low"], enum)), 0).to_native()
    assert filled.dtype == enum
    bins = pd.Series(pd.cut([1.0, 2.0, np.nan, 1.1], 2), name="x")
    filled = fill_with(open_column(nw.from_native(bins, series_only=True)), 0).to_native()
    assert filled.dtype == bins.dtype
    assert filled[2] == bins[0]


def test_hiding_the_last_of_a_class_forgets_it():
    column = open_column(polars(["a", "a", "b", "a"]))
    assert column.hide(np.array([0, 0, 1, 0], dtype=bool)).n_channels == 1
    hidden = column.hide(np.ones(4, dtype=bool))
    assert (hidden.kind, hidden.reason, hidden.n_channels) == ("left alone", "no known cell", 0)


# -- text --


def test_free_text_is_left_alone():
    texts = [f"word {i}" for i in range(812)] + ["word 0"] * 188 + [None]
    column = open_column(polars(texts))
    assert column.kind == "left alone"
    assert column.reason == "free text (812 different values in 1,000 known cells)"
    assert column.n_channels == 0
    assert channels(column).shape == (1001, 0)
    assert fill_with(column, 0).to_list() == texts
    assert not column.filled_cells.any()
    assert open_column(polars(texts), kind="category").n_channels == 812
    assert open_column(polars(texts, pl.Categorical)).kind == "category"


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["a", "b"], "category"),
        (["a", "b", "c"], "left alone"),
        (["a", "b", "c", "a"], "category"),
        ([str(i) for i in range(20)] + ["0"], "category"),
        ([str(i) for i in range(21)] + ["0"], "left alone"),
        ([str(i % 21) for i in range(42)], "category"),
        ([str(i % 21) for i in range(41)], "left alone"),
    ],
)
def test_where_free_text_begins(texts, kind):
    assert open_column(polars([*texts, None])).kind == kind


def test_numbers_written_as_text():
    column = open_column(pandas(["1.50", " 2", None, "4"]), kind="number")
    assert (column.kind, column.n_channels) == ("number", 1)
    assert listed(fill_with(column, 0)) == ["1.50", " 2", "2.5", "4"]
    column = open_column(polars(["1", "2", None, "6"]), kind="integer")
    assert listed(fill_with(column, 0)) == ["1", "2", "3", "6"]
    with pytest.raises(InputError) as refusal:
        open_column(polars(["1", "n/a", None, "w"], name="age"), kind="number")
    assert str(refusal.value) == (
        "Column 'age' cannot be taken as numbers, for row 3 holds 'w': name it as missing if it "
        "stands for a missing cell, or take the column as a category."
    )
    marked = open_column(polars(["1", "n/a", "3"]), kind="number", missing=["n/a"])
    assert listed(fill_with(marked, 0)) == ["1", "2", "3"]


@pytest.mark.parametrize("make", [pandas, polars])
def test_words_among_numbers_are_left_alone(make):
    cells = ["1,5", "oh", "2,5", None, "3", "oh"]
    column = open_column(make(cells))
    assert (column.kind, column.reason) == ("left alone", 'numbers but for "oh"')
    assert column.notes == (
        "Column 'x' is left alone, for its cells are numbers but for \"oh\" (2 cells, the first in "
        "row 1): pass missing=['oh'] if that means missing, or types={'x': 'category'} if it is a "
        "value.",
    )
    assert open_column(make(cells), kind="category").kind == "category"
    assert open_column(make(cells), missing=["oh"]).kind == "number"
    assert open_column(make(["1", "2b", "2", "2b", None, "1"])).kind == "category"


# -- moments --


def test_moments_are_rounded_as_the_known_ones_are():
    days = [dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 4)]
    column = open_column(polars(days))
    assert listed(fill_with(column, 0.1))[1] == dt.datetime(2024, 1, 3)
    assert column.notes == ("Column 'x' is filled to the day, like its known cells.",)
    minutes = [dt.datetime(2024, 1, 1, 8, 30), None, dt.datetime(2024, 1, 4, 9, 7)]
    assert listed(fill_with(open_column(polars(minutes)), 0.1))[1].second == 0
    precise = [dt.datetime(2024, 1, 1, 8, 30, 0, 1), None, dt.datetime(2024, 1, 4, 9, 7)]
    column = open_column(polars(precise))
    assert column.notes == ()
    assert listed(fill_with(column, 0.1234567))[1].microsecond != 0


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("zone", [PARIS, "America/Sao_Paulo", "Asia/Kolkata"])
def test_local_midnights_across_a_change_of_clocks(library, zone):
    tz = ZoneInfo(zone)
    # Clocks change in Paris on 2018-03-25; in Sao Paulo 2018-11-04 has no midnight at all.
    for first in (dt.date(2018, 3, 23), dt.date(2018, 11, 2)):
        ends = [dt.datetime(*(first + dt.timedelta(d)).timetuple()[:3], tzinfo=tz) for d in (0, 4)]
        dtype = {
            "pandas": f"datetime64[us, {zone}]",
            "polars": pl.Datetime("us", zone),
            "arrow": pa.timestamp("us", zone),
        }[library]
        series = make(library, [ends[0], None, ends[1]], dtype)
        filled = fill_with(open_column(series), 0)
        same(series, filled, [0, 2])
        middle = listed(filled)[1]
        assert middle.date() == first + dt.timedelta(2)
        assert middle.hour == (zone == "America/Sao_Paulo" and first.month == 11)


def test_zoned_moments_work_in_utc():
    """Half way over the night when clocks go forward, in time that passed."""
    ends = [dt.datetime(2024, 3, 31, hour, tzinfo=ZoneInfo(PARIS)) for hour in (1, 5)]
    filled = fill_with(open_column(polars([ends[0], None, ends[1]], pl.Datetime("us", PARIS))), 0)
    # Three hours passed; to the hour like the known ones, half of them is rounded to even.
    assert listed(filled)[1].astimezone(UTC) == dt.datetime(2024, 3, 31, 2, tzinfo=UTC)


def test_several_zones_are_said():
    moments = [dt.datetime(2024, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 2, tzinfo=ZoneInfo(PARIS))]
    column = open_column(pandas([moments[0], None, moments[1]], object))
    assert column.notes[0] == (
        "Column 'x' holds moments of several time zones; those filled in are in that of the first, "
        "UTC."
    )
    assert listed(fill_with(column, 0))[1].utcoffset() == dt.timedelta(0)


def test_zones_without_a_name():
    offset = dt.timezone(dt.timedelta(hours=5, minutes=30))
    moments = [dt.datetime(2024, 1, day, tzinfo=offset) for day in (1, 5)]
    native = pd.Series([moments[0], pd.NaT, moments[1]], name="x")
    filled = fill_with(open_column(nw.from_native(native, series_only=True)), 0).to_native()
    assert filled.dtype == native.dtype
    assert filled[1] == dt.datetime(2024, 1, 3, tzinfo=offset)


def test_the_far_future_loses_no_nanosecond():
    moments = pd.to_datetime([9 * 10**18 + 1, 9 * 10**18 + 3], unit="ns")
    native = pd.Series([moments[0], pd.NaT, moments[1]], dtype="datetime64[ns]", name="x")
    filled = fill_with(open_column(nw.from_native(native, series_only=True)), 0).to_native()
    assert filled[1].value == 9 * 10**18 + 2


# -- Python objects --


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 5], "integer"),
        ([1, 2.5, Decimal("3")], "number"),
        ([np.int64(1), 2, np.float32(4)], "number"),
        ([Decimal("1.5"), Decimal("2"), Decimal("3.25")], "number"),
        ([True, np.bool_(False), True], "boolean"),
        (["a", "b", "a"], "category"),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 3), dt.date(2024, 1, 9)], "date"),
        ([pd.Timestamp(2024, 1, 1), dt.datetime(2024, 1, 3), pd.Timestamp(2024, 1, 9)], "date"),
        ([dt.time(8), dt.time(9), dt.time(10)], "time"),
        ([dt.timedelta(1), dt.timedelta(3), dt.timedelta(5)], "duration"),
    ],
)
@pytest.mark.parametrize("null", [None, float("nan"), pd.NA, pd.NaT], ids=str)
def test_objects_by_their_types(values, kind, null):
    series = pandas([values[0], null, *values[1:]], object)
    column = open_column(series)
    assert column.kind == kind
    assert column.missing.tolist() == [False, True, False, False]
    filled = fill_with(column, 0).to_native()
    assert filled.dtype == object
    assert all(filled[row] is series.to_native()[row] for row in (0, 2, 3))
    if column.is_class:
        assert filled[1] in values
    else:
        assert min(values) <= filled[1] <= max(values)


def test_mixtures():
    with pytest.raises(InputError) as refusal:
        open_column(pandas([31, 25, None, "oh"], object, name="age"), asked=True)
    assert str(refusal.value) == (
        "Column 'age' mixes numbers (row 0: 31) and text (row 3: 'oh'): name 'oh' as "
        "missing if it stands for a missing cell, make all cells one kind, or leave the column out."
    )
    unasked = open_column(pandas([31, 25, None, "oh"], object, name="age"))
    assert (unasked.kind, unasked.reason) == ("left alone", "mixed")
    assert unasked.notes == (
        "Column 'age' is left alone, for it mixes numbers (row 0: 31) and text (row 3: 'oh'): "
        "name 'oh' as missing if it stands for a missing cell, or make all cells one kind.",
    )
    complete = open_column(pandas([31, "oh"], object))
    assert (complete.kind, complete.reason) == ("left alone", "mixed")
    marked = open_column(pandas([31, 25, None, "oh"], object), missing=["oh"])
    assert marked.kind == "integer"
    assert listed(fill_with(marked, 0)) == [31, 25, 28, 28]
    known = open_column(pandas([31, 25, None, "unknown"], object))
    assert (known.kind, known.taken) == ("integer", {"unknown": 1})
    assert listed(fill_with(known, 0)) == [31, 25, 28, 28]
    classes = open_column(pandas([1, True, "1", 1, None], object), kind="category")
    assert classes.n_channels == 3
    assert listed(fill_with(classes, 0))[-1] == 1
    zones = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=UTC), None]
    with pytest.raises(InputError, match=r"mixes dates with a time .* and a zone"):
        open_column(pandas(zones, object), asked=True)
    with pytest.raises(InputError, match=r"mixes truth values \(row 0: True\) and numbers"):
        open_column(pandas([True, 3, None], object), asked=True)


@pytest.mark.parametrize(
    ("series", "reason"),
    [
        (pandas([[1], [2], None], object), "Python objects (list)"),
        (pandas([b"a", None], object), "binary"),
        (pandas([2**70, None, 1], object), "integers beyond 64 bits"),
        (pandas(["\ud83d", None, "a"], object), "text that cannot be read"),
        (pandas([1j, 2j]), "of the type complex128"),
        (pandas(pd.interval_range(0, 2)), "of the type interval[int64, right]"),
        (polars([[1], None]), "nested (List(Int64))"),
        (polars([{"a": 1}, None]), "nested (Struct({'a': Int64}))"),
        (polars([b"a", None]), "binary"),
        (polars([2**70, None], pl.Int128), "integers beyond 64 bits"),
        (polars([object()], pl.Object), "Python objects"),
        (polars([None, None]), "no known cell"),
        (polars([None, None], pl.Float64), "no known cell"),
        (pandas([np.nan, np.nan]), "no known cell"),
        (pandas([None, None], object), "no known cell"),
        (make("arrow", [None, None], pa.null()), "no known cell"),
        (make("arrow", [[1], None], pa.list_(pa.int8())), "nested (List(Int8))"),
        (polars([], pl.Int64), "no known cell"),
    ],
)
def test_left_alone(series, reason):
    column = open_column(series)
    assert (column.kind, column.reason, column.n_channels) == ("left alone", reason, 0)
    assert column.rebuild() is series
    assert column.hide(np.ones(len(series), dtype=bool)).reason == "no known cell"


# -- markers and kinds --


@pytest.mark.parametrize(
    ("series", "markers", "rows"),
    [
        (polars(["a", "-", "a", "?"]), ["-", "?"], [1, 3]),
        (polars(["a", "-9", "a"]), [-9], [1]),
        (polars([1, -9, 3]), [-9], [1]),
        (polars([1, -9, 3]), ["-9", "unknown"], [1]),
        (polars([1, -9, 3]), [-9.0], [1]),
        (polars([1, 2, 3]), [True, None, "x", 2.5, 1e30], []),
        (pandas([1.0, -99.9, 3.0], "float32"), [-99.9], [1]),
        (pandas([1, 255, 3], "uint8"), [255, -1], [1]),
        (pandas(["a", "x", "b"], "category"), ["x"], [1]),
        (pandas([1, 9, 2], "category"), ["9"], [1]),
        (polars(["a", "x", "b"], pl.Categorical), ["x"], [1]),
        (pandas([1, -9, 2.5], object), [-9], [1]),
        (pandas(["a", "x", "a"], object), ["x"], [1]),
        (polars([Decimal("1.5"), Decimal("-9"), Decimal("2")]), [-9], [1]),
        (polars([dt.date(2024, 1, 1), dt.date(9999, 12, 31)]), ["9999-12-31", "x"], [1]),
        (polars([dt.date(2024, 1, 1), dt.date(9999, 12, 31)]), [dt.date(9999, 12, 31)], [1]),
        (polars([True, False]), ["True", 1], []),
    ],
)
def test_markers(series, markers, rows):
    column = open_column(series, missing=markers)
    assert np.flatnonzero(column.missing).tolist() == rows
    before = listed(series)
    filled = fill_with(column, 0)
    same(series, filled, np.flatnonzero(~column.missing))
    assert all(listed(filled)[row] != before[row] for row in rows)
    assert listed(series) == before


def test_kinds_that_apply():
    flags = open_column(polars([0, 1, None, 1]), kind="boolean")
    assert (flags.kind, flags.n_channels) == ("boolean", 1)
    assert listed(fill_with(flags, 0)) == [0, 1, 1, 1]
    flags = open_column(pandas([0.0, 1.0, None, 0.0]), kind="boolean")
    assert listed(fill_with(flags, 0)) == [0.0, 1.0, 0.0, 0.0]
    years = open_column(pandas([1999.0, 2001.0, np.nan, 2001.0]), kind="category")
    assert listed(fill_with(years, 0)) == [1999.0, 2001.0, 2001.0, 2001.0]
    left = open_column(polars([1, None]), kind="leave")
    assert (left.kind, left.reason) == ("left alone", "as you asked")
    assert open_column(polars([dt.date(2024, 1, 1), None]), kind="date").kind == "date"


LEAVE_IT = "leave its kind to graphfill, or convert the column first."


@pytest.mark.parametrize(
    ("series", "kind", "sentence"),
    [
        (
            polars([1, None], name="n"),
            "date",
            "Column 'n' cannot be taken as 'date', for it is a column of kind 'integer': "
            f"{LEAVE_IT}",
        ),
        (
            polars(["a", None], name="n"),
            "time",
            f"Column 'n' cannot be taken as 'time', for it is text: {LEAVE_IT}",
        ),
        (
            polars([[1], None], name="n"),
            "category",
            f"Column 'n' cannot be taken as 'category', for it is nested (List(Int64)): {LEAVE_IT}",
        ),
        (
            polars([1.5, None], name="n"),
            "duration",
            "Column 'n' cannot be taken as 'duration', for it is a column of kind 'number': "
            f"{LEAVE_IT}",
        ),
        (
            polars([1.5, None], name="n"),
            "integer",
            "Column 'n' cannot be taken as integers, for row 0 holds 1.5: take it as a number.",
        ),
        (
            polars([0, 2, None], name="n"),
            "boolean",
            "Column 'n' cannot be taken as boolean, for row 1 holds 2, which is neither 0 nor 1: "
            "take it as a category or a number.",
        ),
        (
            polars([1, None], name="n"),
            "numeric",
            "The kind of column 'n' is 'numeric' but must be one of 'number', 'integer', "
            "'boolean', 'category', 'date', 'time', 'duration', 'leave'.",
        ),
    ],
)
def test_kinds_that_do_not_apply(series, kind, sentence):
    with pytest.raises(InputError) as refusal:
        open_column(series, kind=kind)
    assert str(refusal.value) == sentence


# -- pandas' index --


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([5, 5, 5, 7], name="twice"),
        pd.Index(list("dcba")),
        pd.MultiIndex.from_product([["u", "v"], [1, 2]], names=["one", "two"]),
        pd.date_range("2024", periods=4),
    ],
    ids=["duplicated", "text", "multi", "dates"],
)
@pytest.mark.parametrize("values", [[1.0, None, 3.0, 4.0], ["a", None, "b", "a"]])
def test_the_index_is_kept(index, values):
    native = pd.Series(values, index=index, name=("a", 1))
    native.attrs["unit"] = "m"
    filled = fill_with(open_column(nw.from_native(native, series_only=True)), 0).to_native()
    pd.testing.assert_index_equal(filled.index, index)
    assert filled.name == ("a", 1)
    assert filled.attrs == {"unit": "m"}
    assert not filled.isna().any()
    assert native.isna().sum() == 1
