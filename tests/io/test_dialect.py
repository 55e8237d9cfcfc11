"""What the first lines of a text file tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfill.io._csv.dialect import (
    records,
    sample,
    sniff_decimal,
    sniff_quotes,
    sniff_separator,
    unquote,
)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_every_separator_is_told_by_consistency(separator):
    rows = [["id", "note", "x"], ["1", "a, b", "2"], ["2", "c; d | e", "3"], ["3", "", "4"]]
    text = "\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
    assert sniff_separator(text, whole=True) == separator


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b;c\n1,5;2,5;3,5\n", ";"),  # decimal commas cut as many cells, but not the header
        ("name\nann\nbob\n", ","),
        ("a,b\n1,2\n3\n4,5\n", ","),  # a bad row does not change what the file is
        ("a\tb\n1,2\t3\n", "\t"),
    ],
)
def test_separator_of(text, separator):
    assert sniff_separator(text, whole=True) == separator


@pytest.mark.parametrize(
    ("text", "separator"),
    [("1 2\n2  3\n", " "), ("ann lee,bob ray\ncid lee,dan ray\n", ","), ("1\t2\n2\t3\n", "\t")],
)
def test_edges_may_be_separated_by_blanks(text, separator):
    assert sniff_separator(text, whole=True, blanks=True) == separator


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3,14", "2"], (",", True)),
        (["1,234", "2,5"], (",", True)),
        (["1.234,5", "2"], (",", True)),
        (["1,234.5", "2"], (".", True)),
        (["0,500", "2"], (",", True)),
        (["1,234", "5,678"], (".", False)),  # thousands or decimals: not to be guessed
        (["1.234", "5.678"], (".", False)),
        (["3,14", "2.5"], (".", False)),  # both marks: each column for itself
        (["a,b"], (".", False)),
    ],
)
def test_decimal_mark(cells, expected):
    rows = sample("\n".join(["x;y", *(f"{cell};0" for cell in cells)]), ";", whole=True)
    assert sniff_decimal(rows, ";") == expected


def test_quotes_as_r_and_as_all_write_them():
    as_r = sample('"a","b"\n"x",1\nNA,2\n', ",", whole=True)
    assert sniff_quotes(as_r) == (frozenset({0}), True, False)
    everything = sample('"a","b"\n"x","1"\n"",""\n', ",", whole=True)
    assert sniff_quotes(everything)[2]


def test_records_count_lines_inside_quotes():
    found = list(records('a,"b\nc"\n\n"d', ","))
    assert [record.line for record in found] == [1, 3, 4]
    assert [record.unclosed for record in found] == [0, 0, 4]
    assert found[0].cells == ["a", '"b\nc"']


@given(
    st.lists(
        st.lists(st.text(alphabet='ab," \n\r;', max_size=5), min_size=2, max_size=2), min_size=1
    )
)
def test_records_read_what_was_quoted(rows):
    text = "\n".join(",".join('"' + c.replace('"', '""') + '"' for c in row) for row in rows)
    found = [[unquote(cell) for cell in record.cells] for record in records(text, ",")]
    assert found == rows
