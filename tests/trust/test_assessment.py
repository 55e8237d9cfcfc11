"""Held-out scores see no cell's own value; choices, intervals and probabilities keep their word."""

import datetime
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphfill as gf
from graphfill.cli._town import make_town
from graphfill.solve import PropagationOptions
from graphfill.table._columns import open_column
from graphfill.trust import FillOptions, fill_columns
from graphfill.trust._agreement import agreement
from graphfill.trust._assessment import assess
from graphfill.trust._auto import TableAssessment
from graphfill.trust._channels import Recipe
from graphfill.trust._column import Target
from graphfill.trust._features import cell_features
from graphfill.trust._folds import PATTERNS, draw_folds, hide_cells
from graphfill.trust._intervals import highest_level
from graphfill.trust._options import VARIANTS
from graphfill.trust._scores import choose, score
from graphfill.trust._weights import quantiles

METHODS = ("mean", "neighbors", *VARIANTS, "field", "field-rank", "trees", "blend")


def compared(columns, wanted, graph, **options):
    options = FillOptions(method="auto", **options)
    table = TableAssessment(columns, graph, options, gf.solve.propagate_with, lambda share: None)
    return table.assess(wanted)


@pytest.fixture(scope="module")
def town():
    """400 people: columns, and the graph of their friendships."""
    made = make_town(250, seed=3)
    hidden = made.hide(0.3, seed=3)
    columns = {}
    for name, cells in made.people.items():
        if name != "person":
            series = pl.Series(name, pa.array(cells, mask=hidden[name]))
            columns[name] = open_column(nw.from_native(series, series_only=True))
    return columns, gf.Graph.from_edges(made.friends.T, n_nodes=250)


def changed(column, row):
    """The column with another value in one known cell."""
    values = column._cells.series.to_list()
    known = [value for value in values if value is not None]
    values[row] = next(value for value in known if value != values[row])
    series = pl.Series(column.name, values)
    return open_column(nw.from_native(series, series_only=True))


@pytest.mark.parametrize("name", ["income", "city", "newsletter"])
def test_a_cells_own_value_never_reaches_its_prediction(town, name):
    columns, graph = town
    informative = dict.fromkeys(columns, True)

    def held_out(columns, method):
        options = FillOptions(method=method)
        found = assess(columns, [name], graph, informative, options, gf.solve.propagate_with)[name]
        place = np.flatnonzero(found.rows == row)[0]
        predicted = found.held_out[place]
        if found.target.n_classes:  # classes are numbered by frequency, which changes too
            names = columns[name].named(np.arange(found.target.n_classes, dtype=float))
            return dict(zip(names, predicted, strict=True))
        return columns[name].named(predicted)[0]

    row = int(np.flatnonzero(~columns[name].missing)[7])
    others = columns | {name: changed(columns[name], row)}
    for method in ("propagation", "neighbors", "mean"):
        before, after = held_out(columns, method), held_out(others, method)
        assert before == pytest.approx(after, rel=1e-6, abs=1e-6)


def test_features_do_not_look_at_what_is_hidden():
    path = gf.Graph.from_edges(np.arange(9), np.arange(1, 10))
    levels = np.arange(10.0)
    hidden = np.array([4, 5])
    recipe = Recipe("propagation", PropagationOptions(normalization="rw", solver="exact"))
    (seen,) = cell_features(Target(levels, 0), path, recipe, [hidden], [hidden])
    np.testing.assert_allclose(seen.propagated, [4, 5])
    np.testing.assert_allclose(seen.neighbours, [3, 6])
    assert seen.surroundings[:, 0].tolist() == [1, 1]
    assert seen.surroundings[:, 2].tolist() == [1, 1]
    given = [np.array([7.0, 8.0])]
    arguments = Target(levels, 0), path, recipe, [hidden], [hidden]
    (again,) = cell_features(*arguments, propagated=given)
    assert again.propagated.tolist() == [7, 8]
    np.testing.assert_array_equal(again.surroundings, seen.surroundings)


def test_auto_is_as_good_as_the_best_and_says_why(town):
    columns, graph = town
    found = compared(columns, list(columns), graph, seed=1)
    for one in found.values():
        assert one.chosen in METHODS
        assert one.why
        names = [s["method"] for s in one.scores]
        assert names == [m for m in METHODS if m in names]
        assert {"mean", "propagation", "field", "field-rank"} <= set(names)
        scores = {s["method"]: s for s in one.scores}
        key = "r2" if not one.target.n_classes else "accuracy"
        best = max(s[key] for s in one.scores)
        assert scores[one.chosen][key] >= best - 0.1  # ranks and probabilities count as well
    scores = {s["method"]: s for s in found["age"].scores}
    assert scores["field"]["r2"] > scores["mean"]["r2"] + 0.4
    assert scores["mean"]["r2"] < 0.01


def test_an_uninformative_graph_does_no_harm(town):
    columns, graph = town
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 250, (2, graph.n_edges))
    found = compared(columns, ["age", "city"], gf.Graph.from_edges(ends, n_nodes=250))
    for one in found.values():
        scores = {s["method"]: s for s in one.scores}
        key = "r2" if not one.target.n_classes else "accuracy"
        assert scores[one.chosen][key] >= scores["mean"][key]
        assert one.chosen not in VARIANTS


def test_a_shuffled_graph_is_seen_to_say_nothing():
    made = make_town(1000, seed=5)
    degree_kept = made.friends.ravel()
    told = 0
    for seed in range(100):
        ends = np.random.default_rng(seed).permutation(degree_kept).reshape(2, -1)
        graph = gf.Graph.from_edges(ends, n_nodes=1000)
        verdicts = []
        for name, cells in made.people.items():
            if name == "person":
                continue
            classes = cells.dtype.kind == "U"
            levels = np.unique(cells, return_inverse=True)[1] if classes else cells
            found = agreement(graph, levels.astype(float), classes=classes, seed=seed)
            verdicts.append(found.beyond_chance)
        told += not any(verdicts)
    assert told >= 95


def test_simpler_methods_win_ties():
    rng = np.random.default_rng(0)
    good = rng.random(500)
    assert choose({"mean": good + 1.0, "propagation": good, "hybrid": good - 1e-5})[0] == (
        "propagation"
    )
    name, why = choose({"mean": good + 1.0, "propagation": good, "hybrid": good / 2})
    assert name == "hybrid"
    assert "50% below that of propagation" in why


def test_scores_by_hand():
    classes = Target(np.array([0.0, 0.0, 1.0, 2.0]), 3)
    sure = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    found = score(classes, np.arange(4), sure)
    assert found["accuracy"] == 0.75
    assert found["f1"] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert found["log_loss"] == pytest.approx(-np.log([0.8, 0.2, 0.8, 0.8]).mean())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_cells_are_hidden_the_way_they_go_missing(pattern):
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_edges(np.arange(999), np.arange(1, 1000))
    levels = {"x": rng.random(1000), "y": np.where(rng.random(1000) < 0.2, np.nan, 1.0)}
    hidden = hide_cells(levels, graph, share=0.3, pattern=pattern, seed=1)
    again = hide_cells(levels, graph, share=0.3, pattern=pattern, seed=1)
    for name, cells in hidden.items():
        known = ~np.isnan(levels[name])
        assert cells.sum() == round(0.3 * known.sum())
        assert not (cells & ~known).any()
        assert np.array_equal(cells, again[name])
    x, y = hidden["x"], hidden["y"]
    if pattern == "rows":
        assert (x & y).sum() > 0.7 * y.sum()
    if pattern == "high":
        assert levels["x"][x].mean() > levels["x"][~x].mean() + 0.2
    if pattern == "region":
        assert np.abs(np.diff(x.astype(int))).sum() <= 4


def test_folds_are_a_partition():
    rows = np.array([3, 5, 8, 9, 11])
    parts = draw_folds(rows, 2, [0])
    assert np.sort(np.concatenate(parts)).tolist() == rows.tolist()


def smooth_table(seed, n=2000):
    """A long path whose values wander, noisier towards the end."""
    rng = np.random.default_rng(seed)
    noise = np.linspace(0.05, 0.6, n)
    x = np.cumsum(rng.normal(0, 0.2, n)) + rng.normal(0, 1, n) * noise
    kind = np.where(np.sin(np.arange(n) / 40) + rng.normal(0, 0.4, n) > 0, "up", "down")
    return x, kind, gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n_nodes=n)


def filled(column, graph, seed=0):
    options = FillOptions(intervals=0.9, seed=seed)
    columns, informative = {column.name: column}, {column.name: True}
    fills, _ = fill_columns(columns, list(columns), graph, lambda: informative, options)
    return fills[column.name]


def test_intervals_cover_and_are_narrower_where_the_graph_knows_more():
    covered, narrower = [], []
    for seed in range(3):
        x, _, graph = smooth_table(seed)
        lost = np.random.default_rng(seed).random(len(x)) < 0.3
        series = nw.from_native(pl.Series("x", np.where(lost, np.nan, x)), series_only=True)
        column = open_column(series)
        sure = filled(column, graph, seed).bounds
        low, high = (np.array(column.named(bound)) for bound in (sure.low, sure.high))
        covered.append(np.mean((x[lost] >= low) & (x[lost] <= high)))
        narrower.append(sure.width / sure.constant_width)
        assert sure.coverage == pytest.approx(0.9, abs=0.025)
        assert [row["nominal"] for row in sure.calibration] == [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    assert np.mean(covered) == pytest.approx(0.9, abs=0.025)
    assert np.mean(narrower) < 1


@pytest.mark.parametrize("share_at_least", [0.0, 0.3, 0.7])
def test_bounds_cover_their_share_where_many_scores_are_the_same(share_at_least):
    rng = np.random.default_rng(0)

    def draw(n, sign):
        return sign * np.where(rng.random(n) < share_at_least, 0.0, -rng.exponential(size=n))

    for sign in (1, -1):
        covered = []
        for _ in range(200):
            low, high = quantiles(draw(120, sign), 0.9)
            fresh = draw(500, sign)
            covered.append(np.mean((fresh >= low) & (fresh <= high)))
        assert np.mean(covered) == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(("n", "level"), [(50, 0.9), (50, 0.96), (199, 0.99)])
def test_quantiles_of_few_scores_cover_their_level_or_are_infinite(n, level):
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        low, high = quantiles(rng.standard_normal(n), level)
        fresh = rng.standard_normal(200)
        covered.append(np.mean((fresh >= low) & (fresh <= high)))
    assert np.mean(covered) == pytest.approx(level, abs=0.01)
    assert quantiles(rng.standard_normal(n - 1), highest_level(n)) == (-np.inf, np.inf)


def test_a_level_that_the_known_cells_cannot_bound(tmp_path):
    n = 120
    ring = pl.DataFrame({"s": np.arange(n), "t": (np.arange(n) + 1) % n})
    age = pl.Series([None if i % 3 == 0 else float(i % 40) for i in range(n)])
    table = pl.DataFrame({"key": np.arange(n), "age": age})
    options = {"id": "key", "columns": ["age"], "method": "mean", "return_result": True}
    with pytest.warns(gf.GraphfillWarning, match=r"80 known cells .* 97.5 % .* not 99 %"):
        result = gf.impute(table, ring, intervals=0.99, **options)
    missing = age.is_null()
    for bound in ("age_low", "age_high"):
        assert result.table[bound].filter(missing).is_null().all()
        assert result.table[bound].filter(~missing).equals(age.drop_nulls(), check_names=False)
    assert result.table["age"].null_count() == 0
    result.report(tmp_path / "report.html")
    assert "Too few cells are known to give bounds" in (tmp_path / "report.html").read_text()
    with pytest.warns(gf.GraphfillWarning, match="hardly better"):
        result = gf.impute(table, ring, intervals=0.95, **options)
    assert result.table["age_low"].null_count() == 0


def test_probabilities_are_as_sure_as_they_are_right():
    _, kind, graph = smooth_table(1)
    lost = np.random.default_rng(1).random(len(kind)) < 0.3
    series = nw.from_native(pl.Series("k", np.where(lost, None, kind).tolist()), series_only=True)
    column = open_column(series)
    fill = filled(column, graph)
    sure = fill.bounds
    names = np.array(column.named(np.arange(2.0)))
    right = names[fill.predictions.argmax(axis=1)] == kind[lost]
    assert sure.probability.mean() == pytest.approx(right.mean(), abs=0.03)
    truth = (kind[lost][:, None] == names).argmax(axis=1)
    held = sure.sets[np.arange(len(truth)), truth]
    assert held.mean() == pytest.approx(0.9, abs=0.04) or held.mean() > 0.9
    assert sure.error < 0.05


def test_no_chosen_class_is_rarer_than_chance_or_certain():
    n, rng = 90, np.random.default_rng(0)
    kind = [None if i % 3 == 0 else "abc"[rng.integers(3)] for i in range(n)]
    table = pl.DataFrame({"key": np.arange(n), "kind": kind, "x": rng.standard_normal(n)})
    ring = pl.DataFrame({"s": np.arange(n), "t": (np.arange(n) + 1) % n})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        filled = gf.impute(table, ring, id="key", intervals=0.9)
    chance = filled["kind_probability"].filter(table["kind"].is_null()).to_numpy()
    assert chance.min() >= 1 / 3 - 1e-12
    assert chance.max() < 1


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
def test_tables_get_bounds_and_probabilities(make, tmp_path):
    made = make_town(300, seed=1)
    hidden = made.hide(0.3, seed=1)
    people = {
        name: [None if hidden.get(name, [False] * 300)[i] else v for i, v in enumerate(c.tolist())]
        for name, c in made.people.items()
    }
    ends = made.people["person"][made.friends]
    edges = make({"source": ends[:, 0], "target": ends[:, 1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        result = gf.impute(make(people), edges, id="person", method="auto", intervals=0.9,
                           return_result=True)  # fmt: skip
    table = nw.from_native(result.table, eager_only=True)
    added = [name for name in table.columns if name not in people]
    assert added == [
        "age_low", "age_high", "income_low", "income_high", "city_probability", "city_set",
        "profession_probability", "profession_set", "newsletter_probability", "newsletter_set",
    ]  # fmt: skip
    age, low, high = (table[name].to_numpy().astype(float) for name in ("age", *added[:2]))
    assert ((low <= age) & (age <= high)).all()
    known = ~hidden["age"]
    assert (low[known] == age[known]).all()
    chance = table["city_probability"].to_numpy()
    assert ((chance >= 0) & (chance <= 1)).all()
    for city, some in zip(table["city"].to_list(), table["city_set"].to_list(), strict=True):
        assert city in some.split(" | ")
    details = {column.name: column.details for column in result.columns}
    assert details["age"]["chosen"] in METHODS
    assert details["age"]["interval_level"] == 0.9
    assert result.summary()["columns"][1]["scores"]
    assert set(result.scores) == {"age", "income", "city", "profession", "newsletter"}
    result.report(tmp_path / "report.html")
    assert "age" in (tmp_path / "report.html").read_text()


def test_hybrid_and_scores_without_intervals():
    made = make_town(300, seed=2)
    hidden = made.hide(0.3, seed=2)
    people = pl.DataFrame({
        name: pl.Series(pa.array(cells, mask=hidden.get(name, np.zeros(300, dtype=bool))))
        for name, cells in made.people.items()
    })  # fmt: skip
    ends = made.people["person"][made.friends]
    edges = pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        hybrid = gf.impute(people, edges, id="person", method="hybrid", columns=["age"],
                           return_result=True)  # fmt: skip
        plain = gf.impute(people, edges, id="person", method="propagation", scores=True,
                          return_result=True)  # fmt: skip
    assert hybrid.columns[1].details["chosen"] == "trees"
    assert hybrid.table["age"].null_count() == 0
    scored = plain.columns[1].details
    assert scored["chosen"] == "propagation"
    assert [s["method"] for s in scored["scores"]] == ["mean", "neighbors", "propagation"]
    assert plain.table.columns == people.columns


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
def test_few_known_cells_are_not_held_out(make):
    table = make({
        "key": list("abc"),
        "x": [1.0, -1.0, 3.0],
        "n": [1, -1, 3],
        "city": ["Rome", None, "Rome"],
        "day": [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)],
        "member": [True, None, True],
    })  # fmt: skip
    if make is pd.DataFrame:
        table.index = [7, 8, 9]
    edges = make({"s": ["a", "b"], "t": ["b", "c"]})
    told = (
        "Column 'x' has 2 known cell(s), fewer than the 20 that scores and intervals take: it gets "
        "neither, and is left to propagation."
    )
    with pytest.warns(gf.GraphfillWarning) as caught:
        filled = gf.impute(table, edges, id="key", method="auto", intervals=0.9, missing=[-1])
    assert told in str(caught[0].message)
    filled = nw.from_native(filled, eager_only=True)
    assert filled.columns == [
        "key", "x", "n", "city", "day", "member", "x_low", "x_high", "n_low", "n_high",
        "city_probability", "city_set", "day_low", "day_high", "member_probability", "member_set",
    ]  # fmt: skip
    assert filled["x"].to_list() == [1.0, 2.0, 3.0]
    for name in ("x_low", "x_high", "n_low", "n_high"):
        assert filled[name].is_null().to_list() == [False, True, False]
        assert filled[name].to_list()[2] == 3
    for name in filled.columns[10:]:
        assert filled[name].is_null().to_list() == [False, True, False]
    assert filled["city_set"].to_list()[0] == "Rome"


@pytest.mark.parametrize("level", [0, 1, 90, "high", True])
def test_levels_that_are_none(level):
    table = pl.DataFrame({"key": list("ab"), "x": [1.0, None]})
    with pytest.raises(gf.InputError, match="must be a share between 0 and 1"):
        gf.impute(table, pl.DataFrame({"s": ["a"], "t": ["b"]}), intervals=level)
