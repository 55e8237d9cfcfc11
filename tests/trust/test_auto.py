"""The default method: no cell sees itself, and what suits a table is what it is filled by."""

import warnings

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfill as gf
from graphfill.cli._town import make_town
from graphfill.solve import propagate_with
from graphfill.table._columns import open_column
from graphfill.trust import FillOptions, _auto, _limits
from graphfill.trust._auto import TableAssessment
from graphfill.trust._blend import blend_weights, mix, not_negative
from graphfill.trust._comparison import Comparison
from graphfill.trust._ranks import RankScale

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")
PEOPLE = 100


@pytest.fixture(scope="module")
def town():
    """The columns of 100 people, and the graph of their friendships."""
    made = make_town(PEOPLE, seed=3)
    hidden = made.hide(0.3, seed=3)
    columns = {
        name: opened(pl.Series(name, pa.array(cells, mask=hidden[name])))
        for name, cells in made.people.items()
        if name not in ("person", "profession")
    }
    return columns, gf.Graph.from_edges(made.friends.T, n_nodes=PEOPLE)


def opened(series):
    return open_column(nw.from_native(series, series_only=True))


def class_names(column):
    return list(column.named(np.arange(float(column.n_classes)))) if column.n_classes else None


def with_one_change(column):
    """A row and the column with another value in it, its classes ordered as before."""
    values = column._cells.series.to_list()
    known = [row for row, value in enumerate(values) if value is not None]
    for row in known:
        for value in dict.fromkeys(values[other] for other in known):
            if value != values[row]:
                changed = opened(pl.Series(column.name, [*values[:row], value, *values[row + 1 :]]))
                if class_names(changed) == class_names(column):
                    return row, changed
    raise AssertionError("every change reorders the classes")


def compared(columns, graph, names, **options):
    """What each method predicts for the held-out cells of columns, trees included if thorough."""
    options = FillOptions(method="auto", **options)
    table = TableAssessment(columns, graph, options, propagate_with, lambda share: None)
    singles = [table.run(number) for number in range(table.n_folds)]
    final = table.run()
    methods = [*table.recipes, *table.fields]
    views = {name: Comparison(table.columns[name], methods, singles, final) for name in names}
    table.add_trees(views, singles, final)
    return views


@pytest.mark.parametrize("name", ["income", "city", "newsletter"])
def test_a_cells_own_value_never_reaches_its_prediction(town, name):
    columns, graph = town
    row, changed = with_one_change(columns[name])
    predictions = []
    for some in (columns, columns | {name: changed}):
        view = compared(some, graph, [name], effort="thorough")[name]
        place = np.flatnonzero(view.one.rows == row)[0]
        at = {method: cells[place] for method, cells in view.held_out.items()}
        if not columns[name].n_classes:
            at = {method: np.array(some[name].named(cells)) for method, cells in at.items()}
        predictions.append(at)
    before, after = predictions
    assert {"field", "field-rank", "trees", "propagation"} <= set(before)
    for method, cells in before.items():
        np.testing.assert_allclose(after[method], cells, rtol=1e-6, atol=1e-6, err_msg=method)


def test_weights_are_eighths_that_sum_to_one(town):
    columns, graph = town
    for view in compared(columns, graph, columns, effort="fast").values():
        truth = view.one.target.truth(view.one.rows)
        weights = blend_weights(view.held_out, truth)
        assert sum(weights.values()) == 1.0
        assert all(weight > 0 and weight * 8 == round(weight * 8) for weight in weights.values())
        blended = mix(view.held_out, weights)
        assert blended.shape == view.held_out["mean"].shape
        if view.one.target.n_classes:
            np.testing.assert_allclose(blended.sum(axis=1), 1.0, atol=1e-3)


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_ranks_lead_back_to_the_values(values):
    known = np.array(values)
    scale = RankScale(known)
    scores = scale.scores(known)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scale.values(scores), known, rtol=1e-12)
    assert (np.diff(scores[np.argsort(known, kind="stable")]) >= 0).all()
    assert scale.values(np.array([-99.0, 99.0])).tolist() == [known.min(), known.max()]


def test_a_scale_of_many_values_is_as_good_with_a_part_of_them():
    known = np.random.default_rng(0).lognormal(size=200_000)
    scale, ascending = RankScale(known), np.sort(known)
    exact = scipy.special.ndtri((np.arange(len(known)) + 0.5) / len(known))
    assert len(scale.known) < 30_000
    np.testing.assert_allclose(scale.scores(ascending), exact, atol=2e-3)
    np.testing.assert_allclose(scale.values(exact), ascending, rtol=5e-3)
    assert scale.values(np.array([-99.0, 99.0])).tolist() == [ascending[0], ascending[-1]]


def test_ranks_of_nothing():
    scale = RankScale(np.empty(0))
    assert np.isnan(scale.scores(np.ones(2))).all()
    assert scale.values(np.ones(2)).tolist() == [0, 0]


@given(seed=st.integers(0, 10**6), size=st.integers(1, 6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_weights_that_are_not_negative(seed, size):
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((40, size))
    truth = parts @ rng.uniform(-1, 1, size) + rng.standard_normal(40)
    G, b = parts.T @ parts, parts.T @ truth
    w = not_negative(G, b)
    slope = G @ w - b
    assert (w >= 0).all()
    assert (slope >= -1e-6 * np.abs(b).max()).all()  # nothing is gained by more of any
    assert np.abs(slope[w > 0]).max(initial=0) < 1e-6 * np.abs(b).max()


# -- whole tables --


def ring(n):
    return pl.DataFrame({"s": np.arange(n), "t": (np.arange(n) + 1) % n})


def hide(values, share, seed):
    lost = np.random.default_rng(seed).random(len(values)) < share
    return pl.Series(
        [None if gone else value for value, gone in zip(values, lost, strict=True)]
    ), lost


def chosen(result, name):
    return next(column for column in result.columns if column.name == name).details["chosen"]


def explained(result, name, truth, lost):
    filled = result.table[name].to_numpy()
    return 1 - np.mean((filled - truth)[lost] ** 2) / np.var(truth[lost])


def small_table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    wave = np.sin(np.arange(n) / 8)
    a, b = wave + 0.3 * rng.standard_normal(n), rng.standard_normal(n)
    c = np.where(a + b > 0, "yes", "no")
    table = {"key": np.arange(n)}
    for name, values in (("a", a), ("b", 2 * a - b), ("c", c.tolist())):
        table[name] = hide(values, 0.25, seed + len(table))[0]
    return pl.DataFrame(table)


@pytest.mark.parametrize("method", ["auto", "field"])
def test_order_and_scores_change_no_cell(method):
    table, edges = small_table(), ring(120)
    plain = gf.impute(table, edges, id="key", method=method)
    scored = gf.impute(table, edges, id="key", method=method, scores=True, return_result=True)
    assert scored.table.equals(plain)
    assert set(scored.scores) == {"a", "b", "c"}
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=1).select("c", "key", "b", "a")
    again = gf.impute(shuffled, edges.sample(fraction=1.0, shuffle=True, seed=2), id="key",
                      method=method)  # fmt: skip
    assert again.sort("key").select(plain.columns).equals(plain)
    if method == "auto":
        assert gf.impute(table, edges, id="key").equals(plain)


def test_efforts():
    table, edges = small_table(), ring(120)
    methods = {}
    for effort in ("fast", "balanced", "thorough"):
        result = gf.impute(table, edges, id="key", effort=effort, scores=True, return_result=True)
        assert result.table.null_count().sum_horizontal().item() == 0
        methods[effort] = {score["method"] for score in result.scores["a"]}
    assert "trees" not in methods["fast"]
    assert "trees" in methods["thorough"]
    assert methods["fast"] <= methods["balanced"] | {"blend"}
    with pytest.raises(gf.InputError, match="effort is 'most' but must be one of"):
        gf.impute(table, edges, id="key", effort="most")


def test_a_limit_on_memory_drops_the_fields(town):
    columns, graph = town
    options = FillOptions(
        method="auto", propagation=gf.solve.PropagationOptions(
            normalization="rw", solver="exact", memory_limit=1000)
    )  # fmt: skip
    table = TableAssessment(columns, graph, options, propagate_with, lambda share: None)
    assert table.fields == ()
    few = small_table()
    result = gf.impute(few, ring(120), id="key", memory_limit="30 kB", scores=True,
                       return_result=True)  # fmt: skip
    assert not {score["method"] for score in result.scores["a"]} & {"field", "field-rank", "trees"}
    assert result.table.null_count().sum_horizontal().item() == 0


def test_trees_win_where_columns_are_multiplied():
    n, rng = 1500, np.random.default_rng(0)
    x1, x2 = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    y = x1 * x2
    cells, lost = hide(y, 0.2, 1)
    table = pl.DataFrame({"key": np.arange(n), "x1": x1, "x2": x2, "y": cells})
    result = gf.impute(table, ring(n), id="key", effort="thorough", scores=True,
                       return_result=True)  # fmt: skip
    r2 = {score["method"]: score["r2"] for score in result.scores["y"]}
    assert r2["trees"] > 0.25  # of rows of which x1 or x2 is often hidden too
    assert max(r2["field"], r2["field-rank"], r2["propagation"]) < 0.05
    assert chosen(result, "y") in ("trees", "blend")
    assert explained(result, "y", y, lost) > 0.3


def test_the_field_wins_where_columns_add_up():
    n, rng = 500, np.random.default_rng(1)
    x1, x2 = rng.standard_normal(n), rng.standard_normal(n)
    y = 3 * x1 - x2 + 0.05 * rng.standard_normal(n)
    cells, lost = hide(y, 0.3, 2)
    table = pl.DataFrame({"key": np.arange(n), "x1": x1, "x2": x2, "y": cells})
    result = gf.impute(table, ring(n), id="key", scores=True, return_result=True)
    r2 = {score["method"]: score["r2"] for score in result.scores["y"]}
    assert r2["field"] > 0.6  # of rows of which x1 or x2 is often hidden too
    assert r2["propagation"] < 0.2
    assert chosen(result, "y") in ("field", "field-rank", "blend")
    assert explained(result, "y", y, lost) > 0.9


def test_a_single_smooth_column_is_filled_from_the_graph():
    n, rng = 400, np.random.default_rng(2)
    x = np.sin(np.arange(n) / 12) + 0.05 * rng.standard_normal(n)
    cells, lost = hide(x, 0.3, 3)
    table = pl.DataFrame({"key": np.arange(n), "x": cells})
    result = gf.impute(table, ring(n), id="key", scores=True, return_result=True)
    assert chosen(result, "x") != "mean"
    assert explained(result, "x", x, lost) > 0.95


def test_rows_linked_through_nodes_that_the_table_lacks():
    rng = np.random.default_rng(4)
    n, papers = 300, 450  # authors know each other through papers alone
    topic = rng.standard_normal(papers)
    author = rng.standard_normal(n)
    links = [(f"a{a}", f"p{p}") for p in range(papers)
             for a in np.argsort(np.abs(author - topic[p]) + 0.2 * rng.random(n))[:4]]  # fmt: skip
    cells, lost = hide(author, 0.3, 5)
    table = pl.DataFrame({"key": [f"a{a}" for a in range(n)], "age": cells})
    edges = pl.DataFrame(links, schema=["who", "paper"], orient="row")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = gf.impute(table, edges, id="key", return_result=True)
    linked = np.isin(np.arange(n), [int(a[1:]) for a, _ in links])
    assert explained(result, "age", author, lost & linked) > 0.7
    assert chosen(result, "age") != "mean"


def test_a_large_table_hides_its_folds_at_once_and_says_what_was_left_out(monkeypatch):
    for limit, runs, words in ((10**9, 7, ""), (100, 2, "on two tenths of them")):
        hidden = []
        run = TableAssessment.run

        def counted(self, *folds, hidden=hidden, run=run, **how):
            hidden.append(folds)
            return run(self, *folds, **how)

        with monkeypatch.context() as patch:
            patch.setattr(TableAssessment, "run", counted)
            for module in (_auto, _limits):
                patch.setattr(module, "LARGE_CELLS", limit)
                patch.setattr(module, "MANY_CELLS", limit)
            result = gf.impute(small_table(), ring(120), id="key", effort="fast",
                               return_result=True)  # fmt: skip
        assert len(hidden) == runs
        assert words in " ".join(result.notes)
        assert ("so that fewer methods were compared" in " ".join(result.notes)) == bool(words)


def test_a_column_of_too_many_values_is_said_to_be_left_to_propagation(monkeypatch):
    monkeypatch.setattr(_limits, "MOST_CLASSES", 2)
    n = 60
    words = [["a", "b", "c", None][k % 4] for k in range(n)]
    table = pl.DataFrame({"id": np.arange(n), "word": words})
    edges = pl.DataFrame({"source": np.arange(n - 4), "target": np.arange(4, n)})
    result = gf.impute(table, edges, id="id", return_result=True)
    assert "Column 'word' has 3 different values in 60 rows, too many" in " ".join(result.notes)
