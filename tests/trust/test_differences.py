"""Missing cells that lie in other rows than known ones are noticed, and others are not."""

import numpy as np
import polars as pl
import pytest

import graphfill as gf

N = 600


def note(hidden, edges=None, **columns):
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    x[hidden] = np.nan
    table = pl.DataFrame({"id": range(N), "x": x, **columns}).fill_nan(None)
    if edges is None:
        edges = [(i, (i + 1) % N) for i in range(N)]
    links = pl.DataFrame(edges, schema=["source", "target"], orient="row")
    with pytest.warns():
        result = gf.impute(table, links, id="id", method="propagation", return_result=True)
    return next((note for note in result.notes if "lie in other rows" in note), "")


def at_random(share=0.3):
    return np.random.default_rng(0).random(N) < share


def test_cells_missing_at_random_are_not_said_to_differ():
    other = np.random.default_rng(2).normal(size=N)
    assert note(at_random(), age=other) == ""


def test_another_column_tells_them_apart():
    age = np.random.default_rng(2).normal(size=N)
    said = note((age > 0.5) | (np.arange(N) % 10 == 0), age=age)
    assert said == (
        "The missing cells of column 'x' (higher 'age') lie in other rows than the known ones: "
        "scores and intervals come from known cells, and may be too optimistic there."
    )
    kind = np.where(np.arange(N) % 3 == 0, "shop", "home")
    said = note((kind == "shop") & (np.arange(N) % 6 < 5) & ~(np.arange(N) % 7 == 0), kind=kind)
    assert "'kind' more often 'shop'" in said or "'kind' less often 'home'" in said


def test_links_and_distance_tell_them_apart():
    hubs = [(i, j) for i in range(20) for j in range(20, N, 3)]
    ring = [(i, (i + 1) % N) for i in range(N)]
    few = np.arange(N) % 3 != 2
    assert "(fewer links)" in note(few & at_random(0.9), ring + hubs)
    block = (np.arange(N) // 60) % 2 == 0
    assert "(farther from known cells)" in note(block)


def test_few_cells_are_no_ground_for_it():
    age = np.arange(N) / N
    assert note(age > 1 - 15 / N, age=age) == ""
