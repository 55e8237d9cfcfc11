"""Drawn completions: known cells kept, types kept, and as different as the truth may be."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphfill as gf
from graphfill.trust._draw_scales import ValueScale, _loss
from graphfill.trust._draws import FitError, as_chances, best_power
from graphfill.trust._ranks import RankScale


@pytest.fixture(scope="module")
def town():
    """A grid with columns that depend on place and on each other, and its truth."""
    side, rng = 22, np.random.default_rng(0)
    at = np.arange(side * side).reshape(side, side)
    source = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    target = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    n = side * side
    A = np.zeros((n, n))
    A[source, target] = A[target, source] = 1.0
    Q = np.diag(A.sum(axis=1) + 0.3) - A
    place = np.linalg.solve(np.linalg.cholesky(Q).T, rng.standard_normal((n, 2)))
    income = 20 + 3 * place[:, 0]
    truth = pd.DataFrame(
        {
            "key": [f"p{i:03}" for i in range(n)],
            "income": income,
            "wealth": np.exp(0.2 * income + 0.5 * place[:, 1]),
            "rooms": np.round(0.4 * income + rng.standard_normal(n)).astype(int),
            "owns": income + 2 * rng.standard_normal(n) > 20,
            "city": np.array(["Rome", "Oslo", "Bern"])[np.digitize(place[:, 1], [-0.5, 0.5])],
        }
    ).astype({"rooms": "Int64", "owns": "boolean"})
    seen = truth.copy()
    for name in truth.columns[1:]:
        seen[name] = seen[name].mask(rng.random(n) < 0.3)
    names = truth["key"].to_numpy()
    edges = pd.DataFrame({"source": names[source], "target": names[target]})
    return truth, seen, edges


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(*arguments, id="key", effort="fast", **options)


@pytest.fixture(scope="module")
def drawn(town):
    _, seen, edges = town
    return quiet(seen, edges, draws=40, return_result=True)


def test_known_cells_and_types_stay(town, drawn):
    _, seen, edges = town
    assert len(drawn.draws) == 40
    for table in drawn.draws:
        assert (table.dtypes == seen.dtypes).all()
        assert not table.isna().any(axis=None)
        for name in seen:
            known = seen[name].notna()
            pd.testing.assert_series_equal(table[name][known], seen[name][known])
    pd.testing.assert_frame_equal(drawn.table, quiet(seen, edges))  # the fill is the same


def test_drawn_cells_are_like_known_ones(town, drawn):
    _, seen, _ = town
    for table in drawn.draws[:5]:
        assert set(table["city"]) == set(seen["city"].dropna())
        for name in ("income", "wealth", "rooms"):
            assert table[name].between(seen[name].min(), seen[name].max()).all()
    assert not drawn.draws[0]["income"].equals(drawn.draws[1]["income"])


def test_the_spread_is_that_of_the_truth(town, drawn):
    truth, seen, _ = town
    for name in ("income", "wealth"):
        hidden = seen[name].isna()
        cells = np.array([table[name][hidden] for table in drawn.draws])
        low, high = np.quantile(cells, [0.1, 0.9], axis=0, method="weibull")
        covered = np.mean((low <= truth[name][hidden]) & (truth[name][hidden] <= high))
        assert 0.7 < covered < 0.9, name  # 0.8, and 145 cells: standard error 0.033
        assert np.std(cells, axis=0).mean() < seen[name].std()
    hidden = seen["owns"].isna()
    share = np.mean([table["owns"][hidden].to_numpy(bool) for table in drawn.draws])
    assert share == pytest.approx(truth["owns"][hidden].mean(), abs=0.12)


def test_columns_of_a_row_err_together(town, drawn):
    """Income and wealth both missing: what is drawn for one goes with the other, as in truth."""
    truth, seen, _ = town
    both = seen["income"].isna() & seen["wealth"].isna()
    related = [
        np.corrcoef(table["income"][both], np.log(table["wealth"][both]))[0, 1]
        for table in drawn.draws
    ]
    true = np.corrcoef(truth["income"][both], np.log(truth["wealth"][both]))[0, 1]
    assert np.mean(related) == pytest.approx(true, abs=0.15)


def test_a_pooled_mean_is_wider_than_that_of_one_fill(drawn):
    n = len(drawn.table)
    pooled = gf.pool(
        [table["income"].mean() for table in drawn.draws],
        [table["income"].var() / n for table in drawn.draws],
        n=n,
    )
    assert pooled.standard_error > np.sqrt(drawn.table["income"].var() / n)
    assert 0.0 < pooled.missing_information < 0.5


def test_the_same_seed_draws_the_same_in_any_order(town):
    _, seen, edges = town
    one = quiet(seen, edges, draws=2, seed=3)
    mixed = seen.sample(frac=1.0, random_state=0)
    other = quiet(mixed, edges, draws=2, seed=3)
    for a, b in zip(one, other, strict=True):
        pd.testing.assert_frame_equal(a, b.loc[a.index])
    # More draws begin with the same ones; another seed gives others.
    pd.testing.assert_frame_equal(quiet(seen, edges, draws=1, seed=3)[0], one[0])
    assert not quiet(seen, edges, draws=1, seed=4)[0].equals(one[0])


@pytest.mark.parametrize("method", ["propagation", "mean", "field"])
def test_every_method_has_draws(town, method):
    _, seen, edges = town
    table = pl.from_pandas(seen)
    result = quiet(table, pl.from_pandas(edges), draws=3, method=method, return_result=True)
    hidden = seen["income"].isna().to_numpy()
    assert all(isinstance(one, pl.DataFrame) for one in result.draws)
    spread = np.std([one["income"].to_numpy()[hidden] for one in result.draws], axis=0)
    assert (spread > 0).mean() > 0.95


def test_few_known_cells_are_resampled():
    table = pl.DataFrame({"key": list("abcde"), "age": [20, None, 30, None, 50],
                          "city": ["Rome", None, "Oslo", None, "Rome"]})  # fmt: skip
    edges = pl.DataFrame({"source": list("abcd"), "target": list("bcde")})
    draws = quiet(table, edges, draws=30)
    ages = {one["age"][1] for one in draws}
    assert len(ages) > 1
    assert all(20 <= age <= 50 for age in ages)
    assert {one["city"][1] for one in draws} == {"Rome", "Oslo"}


def test_unreached_cells_can_stay_missing():
    table = pl.DataFrame({"key": list("abcd"), "age": [20, None, 30, None]})
    edges = pl.DataFrame({"source": list("ab"), "target": list("bc")})
    for one in quiet(table, edges, draws=2, unreached="nan"):
        assert one["age"].is_null().to_list() == [False, False, False, True]
    last = {one["age"][3] for one in quiet(table, edges, draws=20, method="propagation")}
    assert last == {20, 30}  # nothing speaks for it: a known cell


def test_nothing_missing_and_wrong_numbers():
    table = pl.DataFrame({"key": list("ab"), "age": [20, 30]})
    edges = pl.DataFrame({"source": ["a"], "target": ["b"]})
    assert all(one.equals(table) for one in gf.impute(table, edges, id="key", draws=2))
    with pytest.raises(gf.InputError, match="draws"):
        gf.impute(table, edges, id="key", draws=-1)


def test_probabilities_that_are_too_sure_are_flattened():
    rng = np.random.default_rng(0)
    fair = rng.uniform(0.1, 0.9, 2000)
    truth = (rng.random(2000) < fair)[:, None] == np.array([True, False])
    sure = as_chances(np.column_stack([fair, 1 - fair]), 3.0)
    assert best_power(sure, truth.astype(float)) == pytest.approx(1 / 3, rel=0.25)


def test_quantiles_that_are_the_truth_have_no_loss():
    x = np.random.default_rng(0).standard_normal(200)
    ranks = RankScale(x)
    assert _loss(x, x, ValueScale(), ranks) == pytest.approx(0, abs=1e-12)
    assert _loss(x, x + 1, ranks, ranks) > 0.01


def test_what_is_drawn_of_the_fit_is_left_out_of_a_cell_at_most_in_part():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    error = FitError(X, rng.standard_normal(50), np.array([[0.0, 0.0], [1.0, 1.0], [1e6, 0.0]]))
    assert error.rest[0] == 1
    assert 0.5 < error.rest[1] < 1
    assert error.rest[2] == 0.5
