"""Known cells hidden the way real ones go missing, and how well they are filled then."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import graphfill as gf
from graphfill.cli._town import make_town
from graphfill.table._columns import open_column
from graphfill.trust import FillOptions
from graphfill.trust._folds import PATTERNS, hide_cells
from graphfill.trust._hiding import DRAWS, scores_in_pattern


@pytest.fixture(scope="module")
def town():
    made = make_town(400, seed=1)
    people = pl.DataFrame(made.people)
    names = people["person"].to_numpy()
    friends = pl.DataFrame({"a": names[made.friends[:, 0]], "b": names[made.friends[:, 1]]})
    graph = gf.Graph.from_edges(*made.friends.T, n_nodes=len(people))
    columns = {
        name: open_column(nw.from_native(people[name], series_only=True))
        for name in ("age", "income", "city")
    }
    return people, friends, graph, columns


@pytest.mark.parametrize("pattern", PATTERNS)
def test_scores_are_those_of_the_cells_that_were_hidden(town, pattern):
    *_, graph, columns = town
    informative = dict.fromkeys(columns, True)
    options = FillOptions(method="propagation", scores=pattern)
    said = scores_in_pattern(columns, list(columns), graph, informative, options)
    for name, column in columns.items():
        tried = said[name]
        scores = {score["method"]: score for score in tried["scores"]}
        assert tried["n"] == DRAWS * round(0.2 * np.count_nonzero(~np.isnan(column.levels())))
        assert scores["chosen"] == scores["propagation"] | {"method": "chosen"}
    # By hand: the mean of what stays visible, on what was hidden.
    levels = {name: column.levels() for name, column in columns.items()}
    off = []
    for draw in range(DRAWS):
        hidden = hide_cells(levels, graph, share=0.2, pattern=pattern, seed=[0, draw])["age"]
        off.append(np.abs(levels["age"][hidden] - levels["age"][~hidden].mean()))
    expected = np.concatenate(off).mean() * columns["age"].unit
    of_mean = next(s for s in said["age"]["scores"] if s["method"] == "mean")
    assert of_mean["mae"] == pytest.approx(expected)


def test_high_values_are_harder_than_any(town):
    people, friends, *_ = town
    gaps = people.with_columns(pl.when(pl.int_range(pl.len()) % 9 > 0).then("age").alias("age"))
    r2 = {}
    for pattern in ("random", "high"):
        result = gf.impute(gaps, friends, id="person", columns=["age"], scores=pattern,
                           intervals=0.9, return_result=True)  # fmt: skip
        tried = result.summary()["columns"][1]["rehearsal"]
        assert tried["pattern"] == pattern
        assert 0.5 < tried["coverage"] <= 1
        r2[pattern] = tried["scores"][-1]["r2"]
    assert r2["high"] < r2["random"]


def test_a_pattern_that_is_none_is_refused(town):
    people, friends, *_ = town
    with pytest.raises(gf.InputError, match="scores is 'low' but must be True, False or the way"):
        gf.impute(people, friends, id="person", scores="low")
