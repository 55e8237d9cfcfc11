"""Verdicts: on the fill where cells were held out, else on what the links say."""

import warnings

import numpy as np
import polars as pl
import pytest

import graphfill as gf
from graphfill.table._fill import fill_table
from graphfill.table._options import TableOptions
from graphfill.trust import FillOptions

GOOD = ("well inferred", "fairly well inferred")


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gf.impute(*args, return_result=True, **options)


def check(table, edges, **options):
    fill = FillOptions(method="propagation")
    return fill_table(table, edges, TableOptions(**options, fill=fill), fill=False)


def by_name(result):
    return {column.name: column for column in result.columns}


@pytest.fixture(scope="module")
def rows():
    """Columns that explain each other, on links at random."""
    rng = np.random.default_rng(0)
    n = 400
    a = rng.normal(size=n)
    b = 2 * a + 0.3 * rng.normal(size=n)
    noise = rng.normal(size=n)
    for x in (b, noise):
        x[rng.random(n) < 0.25] = np.nan
    table = pl.DataFrame({"id": range(n), "a": a, "b": b, "noise": noise}).fill_nan(None)
    source = np.concatenate([np.arange(n), rng.integers(0, n, 2 * n)])
    target = np.concatenate([np.roll(np.arange(n), 1), rng.integers(0, n, 2 * n)])
    return table, pl.DataFrame({"source": source, "target": target})


def test_a_column_that_the_row_explains_is_called_so_whatever_the_links_say(rows):
    result = quiet(*rows, id="id")
    b, noise = by_name(result)["b"], by_name(result)["noise"]
    assert b.links == "not from this graph"
    assert b.explained > 0.6
    assert b.verdict in GOOD
    assert noise.verdict == "hardly better than the mean"
    facts = [note for note in result.notes if "for facts" in note]
    assert len(facts) == 1
    assert "'noise'" in facts[0]
    assert "'b'" not in facts[0]
    assert not any("Neighbours hardly agree" in note for note in result.notes)


def test_one_method_is_judged_by_its_own_fill(rows):
    b = by_name(quiet(*rows, id="id", method="propagation"))["b"]
    assert b.verdict == "hardly better than the mean"
    assert by_name(quiet(*rows, id="id", method="field"))["b"].verdict in GOOD
    assert by_name(check(*rows, id="id"))["b"].verdict == "not from this graph"


@pytest.fixture(scope="module")
def authors():
    """Rows that are linked through papers alone."""
    rng = np.random.default_rng(0)
    n, n_papers = 600, 120
    papers = rng.integers(0, n_papers, (n, 2))
    x = rng.normal(size=n_papers)[papers].mean(axis=1) + 0.1 * rng.normal(size=n)
    field = np.where(x > 0, "maths", "music")
    noise = rng.normal(size=n)
    table = pl.DataFrame({"author": [f"a{i}" for i in range(n)], "x": x, "noise": noise})
    hidden = pl.Series(rng.random(n) < 0.25)
    table = table.with_columns(field=pl.Series(field)).with_columns(
        pl.when(~hidden).then(pl.col(name)).alias(name) for name in ("x", "noise", "field")
    )
    ends = [(f"a{i}", f"p{paper}") for i in range(n) for paper in papers[i]]
    return table, pl.DataFrame(ends, schema=["author", "paper"], orient="row")


def test_rows_linked_through_others_are_judged_by_hidden_cells(authors):
    result = check(*authors, id="author")
    columns = by_name(result)
    assert columns["x"].verdict == columns["x"].links == "inferable"
    assert columns["x"].agreement == columns["x"].explained > 0.4
    assert columns["field"].verdict in ("inferable", "weakly")
    assert columns["noise"].verdict == "not from this graph"
    assert any("a fifth of the known cells was hidden" in note for note in result.notes)
    assert result.table is authors[0]


def test_a_check_counts_what_the_graph_does_not_reach(rows):
    table, links = rows
    apart = pl.DataFrame({"id": [1000, 1001], "a": [0.0, 1.0], "b": [None, None],
                          "noise": [0.0, 0.0]}, schema=table.schema)  # fmt: skip
    assert by_name(check(pl.concat([table, apart]), links, id="id"))["b"].n_unreached == 2


def test_what_a_blend_or_a_field_without_other_columns_does_is_said_rightly(rows):
    table, links = rows
    apart = pl.DataFrame({"id": range(1000, 1030), "a": np.zeros(30), "b": [None] * 30,
                          "noise": np.zeros(30)}, schema=table.schema)  # fmt: skip
    table = pl.concat([table, apart])
    both = by_name(quiet(table, links, id="id"))["b"]
    assert (both.n_unreached, both.unreached_got) == (30, "columns")
    alone = by_name(quiet(table.select("id", "b"), links, id="id"))["b"]
    assert (alone.n_unreached, alone.unreached_got) == (30, "mean")
