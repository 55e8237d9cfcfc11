"""What cells out of the graph's reach got is said as it was: in the text, the warning, the page."""

import re

import pytest

from graphfill.report import _text as text
from graphfill.report import render
from report import sample

REACH = "connected to nothing known of their column and"
CANNOT = (
    "{} of 1,000 missing cells cannot be inferred from the graph (nothing known of their column is "
    "connected to them)"
)


def fill(*kinds, unreached="mean", kind="number"):
    """A summary with one column for each (n, got); None: the column does not say."""
    columns = [
        sample.column(f"c{j}", kind, 500, n_unreached=n, verdict="inferable")
        | ({} if got is None else {"unreached_got": got})
        for j, (n, got) in enumerate(kinds)
    ]
    total = sum(n for n, _ in kinds)
    changed = {"columns": columns, "unreached": total, "missing": 1000, "filled": 1000}
    return sample.town() | changed | {"settings": {"unreached": unreached}}


def page(summary):
    """The text of the page."""
    return re.sub("[\u2068\u2069]|<[^>]*>", "", render(summary)).replace("&#39;", "'")


SINGLE = [
    ("mean", "mean", "got their column's mean or most frequent value",
     "given their column's mean or most frequent value", "they got the column's usual value",
     "got the column's mean"),
    ("nothing", "nan", "stay missing", "left missing", "they stay missing", "stayed missing"),
    ("columns", "mean", "were filled from their row's other columns",
     "filled from their row's other columns", "they were filled from their row's other columns",
     "were filled from the row's other columns"),
]  # fmt: skip


@pytest.mark.parametrize(("got", "asked", "short", "warning", "so", "column"), SINGLE)
def test_one_kind(got, asked, short, warning, so, column):
    summaries = [fill((94, got), (0, ""), unreached=asked)]
    if got != "columns":  # without the key, the settings say
        summaries.append(fill((94, None), (0, None), unreached=asked))
    for summary in summaries:
        assert f"\n94 of them are {REACH} {short}.\n" in text.of_fill(summary)
        assert text.unreached_sentence(summary) == f"{CANNOT.format(94)} and were {warning}"
        assert f"to a known cell of the same column, so {so} (see" in page(summary)
        assert f"94 cells could not be reached and {column}." in page(summary)


def test_several_kinds_are_counted_apart():
    summary = fill((12, "mean"), (1094, "columns"), (3, "nothing"))
    assert (
        f"\n1,094 of them are {REACH} were filled from their row's other columns; 12 got their "
        "column's mean or most frequent value; 3 stay missing.\n"
    ) in text.of_result(summary)
    assert text.unreached_sentence(summary) == (
        f"{CANNOT.format('1,109')}: 1,094 were filled from their row's other columns, 12 were "
        "given their column's mean or most frequent value, 3 were left missing"
    )
    shown = page(summary)
    assert (
        "so 1,094 were filled from their row's other columns, 12 got the column's usual value and "
        "3 stay missing (see"
    ) in shown
    assert "1,094 cells could not be reached and were filled from the row's other columns." in shown
    assert "12 cells could not be reached and got the column's mean." in shown
    assert "3 cells could not be reached and stayed missing." in shown


def test_columns_that_do_not_say_are_counted_by_the_settings():
    counted = text.unreached_kinds(fill((4, None), (5, "columns"), unreached="nan"))
    assert counted == {"columns": 5, "nothing": 4}


def test_one_cell_and_none():
    summary = fill((1, "columns"), kind="category")
    assert "1 cell could not be reached and was filled from the row's other columns." in page(
        summary
    )
    assert text.unreached_sentence(fill((0, ""))) == ""
    assert "reached" not in text.of_result(fill((0, ""))).replace("unreached", "")
