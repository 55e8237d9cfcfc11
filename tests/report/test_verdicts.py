"""The verdict is about the fill, in the same words and figures wherever it is given."""

import re

import pytest
import report.sample as sample
from report.test_page import Outline

from graphfill.report import _text as text
from graphfill.report import render
from graphfill.trust import fill_verdict

SCALE = {0.95: "well inferred", 0.7: "fairly well inferred", 0.44: "roughly inferred",
         0.1: "weakly inferred", -0.02: "hardly better than the mean"}  # fmt: skip


def table_of(*columns):
    missing = sum(column["n_missing"] for column in columns)
    more = {"columns": list(columns), "missing": missing, "filled": missing, "unreached": 0}
    return sample.town() | more


def by_row(explained, name="price", **more):
    """A column that the row explains, not the graph."""
    scores = [{"method": "mean", "rmse": 1.0, "mae": 0.8, "r2": 0.0},
              {"method": "field", "rmse": 0.5, "mae": 0.4, "r2": explained}]  # fmt: skip
    return sample.column(
        name, n_missing=50, agreement=0.01, agreement_spread=0.02, links="not from this graph",
        verdict=fill_verdict(explained), explained=explained, chosen="field", scores=scores,
        n_held_out=200, why="its error on held-out cells is 50% below that of mean, the next",
        **more,
    )  # fmt: skip


@pytest.mark.parametrize("explained", SCALE)
def test_heading_table_and_sentence_of_a_report_say_the_same(explained):
    page = Outline(render(table_of(by_row(explained)))).text
    opening, rest = page.split("Columns with missing cells", 1)
    assert ("for facts" in opening) == (explained < 0.05)
    assert "price is " + SCALE[explained].replace("hardly", "inferred hardly")[:15] in opening
    share = f"{max(explained, 0):.0%}"
    assert re.search(rf"price \S {SCALE[explained]} {share} 50 50 0 number ", rest)
    said = f"explains {share} of what" if explained > 0.05 else "is no better than the column"
    assert f"the fill (graph and other columns together) {said}" in rest
    assert (
        "Why this method: its error on held-out cells is 50% below that of column's mean, the next."
        in (rest)
    )
    assert "the links alone say next to nothing" in rest
    assert "graph and other columns together chosen" in rest


def test_the_terminal_names_verdict_method_and_share():
    lines = text.of_result(table_of(by_row(0.7), by_row(0.0, "noise"))).splitlines()
    assert lines[1] == (
        "By known cells that were hidden, columns are: 1 fairly well inferred, "
        "1 hardly better than the mean."
    )
    row = next(line for line in lines if line.startswith("  price"))
    assert re.search(r" 70%  fairly well inferred +graph and other columns together$", row)


def test_columns_whose_links_cannot_be_compared_are_counted_apart():
    unclear = by_row(0.5, "size", kind="number") | {"links": "unknown", "verdict": "unknown"}
    both = text.of_survey(table_of(by_row(0.7) | {"links": "inferable"}, unclear))
    assert (
        "Neighbours agree beyond chance in 1 of 1 columns with missing cells: price. In 1 column "
        "too few linked rows are both known to tell."
    ) in both.splitlines()
    alone = text.of_survey(table_of(unclear, unclear | {"name": "age"}))
    assert "In 2 columns too few linked rows are both known to tell." in alone.splitlines()


def test_sixty_columns_are_sixty_short_lines():
    weights = {"field-rank": 0.375, "trees": 0.25, "propagation": 0.25, "mean": 0.125}
    parts = [{"method": method, "weight": weight} for method, weight in weights.items()]
    columns = [by_row(0.6, f"column {j} of a wide table") for j in range(60)]
    for column in columns[::2]:
        column |= {"chosen": "blend", "parts": parts}
    lines = text.of_result(table_of(*columns)).splitlines()
    rows = [line for line in lines if line.startswith("  column ") and "table" in line]
    assert len(rows) == 60
    assert max(map(len, rows)) <= 160
    assert rows[0].endswith("38% graph and other columns together, by rank, 25% trees, 38% others")


def test_cells_filled_from_other_columns_count_among_the_well_inferred_ones():
    for got, share in (("columns", "50 of 50"), ("mean", "30 of 50")):
        column = by_row(0.9, n_unreached=20, unreached_got=got)
        assert f"{share} filled cells" in Outline(render(table_of(column))).text
