"""Columns of text typed, and values written in the form of their column."""

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfill import InputError
from graphfill.io import Sheet
from graphfill.io._columns import parse_column
from graphfill.io._csv.dialect import Dialect
from graphfill.io._number_style import NumberStyle
from graphfill.io._text import TextFormat


def parse(*cells, name="column", decimal=".", first_line=1, **options):
    sheet = Sheet(
        Path("people.csv"),
        "csv",
        pa.table({}),
        dialect=Dialect(decimal=decimal),
        line_of=lambda row: row + first_line,
    )
    return parse_column(pa.chunked_array([list(cells)], pa.string()), name, sheet, **options)


@pytest.mark.parametrize(
    ("cells", "type"),
    [
        (["1", "-20", None], "int64"),
        (["9223372036854775807"], "int64"),
        (["9223372036854775808"], "string"),  # an id: a float would lose its last digits
        (["1.5", "2"], "double"),
        ([".5", "5.", "1e5", "-1E-3"], "double"),
        (["1", "inf"], "double"),
        (["inf"], "string"),
        (["007", "8"], "string"),
        (["-01"], "string"),
        (["+49"], "string"),
        (["00.5"], "string"),
        (["1,5"], "string"),
        (["0x10"], "string"),
        (["true", "false"], "string"),
        (["yes", "no"], "string"),
        ([None, None], "string"),
        ([" 1 ", "2"], "int64"),
        (["2021-03-04"], "date32[day]"),
        (["2021-02-30"], "string"),
        (["2021-03-04T05:06"], "timestamp[us]"),
        (["2021-03-04 05:06:07.5"], "timestamp[us]"),
        (["2021-03-04 05:06:07.1234567"], "timestamp[ns]"),
        (["2021-03-04T05:06:07Z"], "timestamp[us, tz=UTC]"),
        (["2021-03-04T05:06:07+02:00"], "timestamp[us, tz=UTC]"),
        (["2021-03-04T05:06:07Z", "2021-03-04T05:06:07"], "string"),
        (["2021/3/4"], "date32[day]"),
        (["3.4.2021"], "date32[day]"),
        (["31.02.2021"], "string"),
        (["13/04/2021"], "date32[day]"),
        (["04/13/2021"], "date32[day]"),
        (["13/13/2021"], "string"),
        (["13/04/2021", "13.04.2021"], "string"),
        (["12:30", "23:59"], "time64[us]"),
        (["12:30:10.25"], "time64[us]"),
        (["25:00"], "string"),
    ],
)
def test_type_of(cells, type):
    column, _, _ = parse(*cells)
    assert str(column.type) == type
    assert [cell is None for cell in column.to_pylist()] == [cell is None for cell in cells]


def test_days_and_months():
    assert parse("13/04/2021")[0].to_pylist() == [datetime.date(2021, 4, 13)]
    assert parse("04/13/2021")[0].to_pylist() == [datetime.date(2021, 4, 13)]
    column, _, note = parse("03/04/2021", name="birthday")
    assert column.to_pylist() == ["03/04/2021"]
    assert note == (
        'Column "birthday" is read as text because day and month cannot be told apart in dates '
        "such as \"03/04/2021\"; name its form, such as types={'birthday': 'date:%d/%m/%Y'}."
    )


@pytest.mark.parametrize(
    "cell",
    [
        "2021-03-04",
        "2021-03-04T05:06",
        "2021-03-04 05:06:07",
        "2021-03-04T05:06:07.5",
        "2021-03-04T05:06:07.25Z",
        "2021-03-04T05:06:07.123456789Z",
        "2021-03-04T05:06:07+02:00",
        "2021-03-04T05:06:07-0330",
        "2021/03/04",
        "24.12.2021",
        "3.4.2021",
        "24/12/2021",
        "12/24/2021",
        "12:30",
        "09:30:15",
        "09:30:15.25",
    ],
)
def test_dates_are_written_in_the_form_they_were_read_in(cell):
    column, form, _ = parse(cell, None)
    assert not pa.types.is_string(column.type)
    assert form.format(column).to_pylist() == [cell, None]


@pytest.mark.parametrize(
    ("known", "values", "texts"),
    [
        (["5.3", "4.25"], [4.87123, 4.5, 4.0, -0.00001], ["4.8712", "4.5", "4.0", "0.0"]),
        (["1.50", "2.00"], [3.0, 3.12345], ["3.00", "3.1235"]),
        (["1", "2.5"], [3.0, 3.1], ["3", "3.1"]),
        (["1e5", "2"], [123456.789012, 1e-7], ["123456.789", "1e-07"]),
        (["0.1234567"], [0.5], ["0.5000000"]),
        (["0.5"], [1e40, None], ["10000000000000000303786028427003666890752.0", None]),
    ],
)
def test_numbers_look_like_their_column(known, values, texts):
    _, form, _ = parse(*known)
    assert form.format(pa.array(values, pa.float64())).to_pylist() == texts


def test_decimal_commas():
    column, form, _ = parse("3,14", "2", decimal=",")
    assert column.to_pylist() == [3.14, 2.0]
    assert form.format(pa.array([2.71828])).to_pylist() == ["2,7183"]
    assert str(parse("1.234,5", decimal=",")[0].type) == "string"


def test_integers_that_were_filled_by_floats():
    _, form, _ = parse("1", "2")
    assert form.format(pa.array([1.0, 1.256])).to_pylist() == ["1", "1.26"]
    assert form.format(pa.array([3])).to_pylist() == ["3"]


def test_integers_beyond_64_bits_are_text_with_a_note():
    column, _, note = parse("1", "12345678901234567890", name="age")
    assert str(column.type) == "string"
    assert note == 'Column "age" is read as text because some of its integers exceed 64 bits.'
    assert parse("1", "a", "b")[2] is None


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        ("number", ["007", "+1.5"], [7.0, 1.5]),
        ("integer", ["007", "+2", "4.0"], [7, 2, 4]),
        ("category", ["1", "2"], ["1", "2"]),
        ("leave", ["1"], ["1"]),
        ("date", ["2021-03-04"], [datetime.date(2021, 3, 4)]),
        ("date:%d/%m/%Y", ["03/04/2021", None], [datetime.date(2021, 4, 3), None]),
        ("date:%d.%m.%Y %H:%M", ["3.4.2021 5:06"], [datetime.datetime(2021, 4, 3, 5, 6)]),
        ("time", ["12:30"], [datetime.time(12, 30)]),
    ],
)
def test_types_that_were_named(kind, cells, expected):
    assert parse(*cells, kind=kind)[0].to_pylist() == expected


def test_a_date_format_is_also_the_one_written():
    column, form, _ = parse("3/4/2021", kind="date:%d/%m/%Y")
    assert form.format(column).to_pylist() == ["3/4/2021"]


@pytest.mark.parametrize(
    ("kind", "cell", "sentence"),
    [
        (
            "number",
            "w",
            "people.csv, line 1 has 'w' in column 'age', which is no number: correct it, or pass "
            "missing=['w'] if it means missing.",
        ),
        (
            "integer",
            "1.5",
            "people.csv, line 1 has '1.5' in column 'age', which is no integer: correct it, or "
            "pass missing=['1.5'] if it means missing.",
        ),
        (
            "date:%d/%m/%Y",
            "31/02/2021",
            "people.csv, line 1 has '31/02/2021' in column 'age', which is no date %d/%m/%Y: "
            "correct it, or pass missing=['31/02/2021'] if it means missing.",
        ),
        (
            "date",
            "03/04/2021",
            "Column 'age' of people.csv cannot be read as dates, since day and month cannot be "
            "told apart (line 1 has '03/04/2021'): name its form, such as types={'age': "
            "'date:%d/%m/%Y'}.",
        ),
        (
            "time",
            "x",
            "Column 'age' of people.csv cannot be read as times, since not every cell is a time "
            "of one form (line 1 has 'x'): write all of them like 17:30, or pass types={'age': "
            "'leave'}.",
        ),
        (
            "colour",
            "x",
            "The type of column 'age' is 'colour' but must be one of number, integer, boolean, "
            "category, date, time, duration, leave, date:FORMAT.",
        ),
    ],
)
def test_refusals(kind, cell, sentence):
    with pytest.raises(InputError) as refusal:
        parse(cell, kind=kind, name="age")
    assert str(refusal.value) == sentence


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1))
def test_integers_come_back(values):
    column, form, _ = parse(*(None if v is None else str(v) for v in values))
    assert column.to_pylist() == values
    if column.null_count < len(values):
        assert form.format(column).to_pylist() == [None if v is None else str(v) for v in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_come_back(values):
    column, _, _ = parse(*map(repr, values))
    assert column.to_pylist() == values


@given(st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1))
def test_dates_come_back(values):
    column, form, _ = parse(*map(str, values))
    assert column.to_pylist() == values
    assert form.format(column).to_pylist() == list(map(str, values))


@given(st.lists(st.text()))
def test_any_text_is_read_as_something(values):
    column, form, _ = parse(*values)
    assert len(form.format(column)) == len(values)


def test_text_stays():
    assert TextFormat().format(pa.array(["a", None])).to_pylist() == ["a", None]


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1.0, "-1"), (-1.5, "-1 1/2"), (-0.5, "-1/2"), (0.5, "1/2"), (0.0, "0"), (-0.1, "0")],
)
def test_fractions_keep_their_sign(value, text):
    style = NumberStyle(denominators=(1, 2), around_negative=("-", ""))
    assert style.write(pa.array([value])).to_pylist() == [text]
