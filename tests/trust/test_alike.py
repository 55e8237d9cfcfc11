"""Bounds where missing cells lie in other rows than known ones: cells hidden alike, weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfill as gf
from graphfill.trust._alike import hidden_alike
from graphfill.trust._calibrating import Calibrating
from graphfill.trust._weights import effective, importance, quantile, tempered

RING = gf.Graph.from_edges(range(60), [(i + 1) % 60 for i in range(60)])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.9))
def test_what_is_hidden_was_known_and_leaves_something_of_every_column(seed, share):
    rng = np.random.default_rng(seed)
    missing = rng.random((60, 3)) < share
    missing[:2] = [[True], [False]]
    hidden, pieces = hidden_alike(missing, RING, np.random.default_rng(seed))
    assert not (hidden & missing).any()
    assert not (hidden | missing).all(axis=0).any()
    assert (pieces[hidden.any(axis=1)] > 0).all()
    again, _ = hidden_alike(missing, RING, np.random.default_rng(seed))
    assert np.array_equal(hidden, again)


def test_whole_rows_are_hidden_as_whole_rows():
    missing = np.repeat(np.random.default_rng(0).random((60, 1)) < 0.3, 3, axis=1)
    hidden, _ = hidden_alike(missing, RING, np.random.default_rng(1))
    assert hidden.any()
    assert np.array_equal(hidden.any(axis=1), hidden.all(axis=1))


@settings(max_examples=30, deadline=None)
@given(st.integers(100, 300), st.integers(100, 300), st.integers(100, 300), st.integers(100, 300))
def test_weights_are_the_ratio_of_densities(known0, known1, missing0, missing1):
    known, missing = (
        np.repeat([[0.0], [1.0]], counts, axis=0)
        for counts in ((known0, known1), (missing0, missing1))
    )
    w = importance(known, missing)
    ratio = (missing1 / known1) / (missing0 / known0)
    if (w == 1.0).all():  # no clear difference
        assert abs(missing1 / (missing0 + missing1) - known1 / (known0 + known1)) < 0.5
    else:
        # The made-up observations of the regression pull towards 1.
        assert w[-1] / w[0] == pytest.approx(ratio, rel=0.15)


@given(st.lists(st.floats(-100, 100), min_size=9, max_size=40), st.floats(0.1, 0.9))
def test_equal_weights_are_the_usual_ranks(values, share):
    scores = np.array(values)
    usual = np.interp(share, np.arange(1, len(scores) + 1) / (len(scores) + 1.0), np.sort(scores))
    found = quantile(scores, share, np.full(len(scores), 0.3))
    assert found == pytest.approx(usual, abs=1e-6)


def test_weights_move_a_quantile_and_are_tempered():
    scores = np.arange(1000.0)
    w = np.where(scores < 500, 1.0, 9.0)
    assert quantile(scores, 0.1, w) == pytest.approx(500, abs=5)
    assert effective(tempered(np.exp(scores / 50))) >= 150
    assert np.array_equal(tempered(np.ones(1000)), np.ones(1000))


def test_a_piece_says_nothing_about_its_own_coverage():
    # Pieces 0 and 1 fit their intervals, piece 2 lies beyond all of them.
    pieces = np.repeat([0, 1, 2], 100)
    ratio = np.concatenate([np.linspace(0, 1, 200), np.full(100, 2.5)])
    one = np.ones(300)
    cells = Calibrating(one, [], pieces, [], one, one, one, one, one)
    assert cells.stretch(ratio, 0.9, cells.alike) == pytest.approx(2.5)
    within = cells.inside(ratio, 0.9)
    assert within[:200].all()
    assert not within[200:].any()
    assert cells.share(within) == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def without_rows():
    """A grid with three related columns, whole rows of which are missing."""
    side, rng = 30, np.random.default_rng(0)
    at = np.arange(side * side).reshape(side, side)
    edges = pd.DataFrame(
        {
            "source": np.concatenate([at[:, 1:].ravel(), at[1:].ravel()]),
            "target": np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()]),
        }
    )
    place = np.add.outer(np.sin(np.arange(side) / 4), np.cos(np.arange(side) / 3)).ravel()
    x = place + rng.standard_normal(side * side)
    noise = 0.1 * rng.standard_normal((2, side * side))
    truth = pd.DataFrame({"key": at.ravel(), "x": x, "y": x + noise[0], "z": x + noise[1]})
    seen = truth.copy()
    seen.loc[rng.random(len(seen)) < 0.3, ["x", "y", "z"]] = np.nan
    return truth, seen, edges


def test_bounds_hold_where_whole_rows_are_missing(without_rows):
    truth, seen, edges = without_rows
    options = {"id": "key", "effort": "fast", "return_result": True}
    with pytest.warns(gf.GraphfillWarning, match="were hidden in the same way, and hold"):
        result = gf.impute(seen, edges, intervals=0.9, **options)
    with pytest.warns(gf.GraphfillWarning, match="too optimistic"):
        plain = gf.impute(seen, edges, **options).table
    for column in result.columns[1:] if result.columns[0].name == "key" else result.columns:
        name = column.name
        assert np.array_equal(result.table[name], plain[name])
        lost = seen[name].isna()
        low, high, true = result.table[f"{name}_low"], result.table[f"{name}_high"], truth[name]
        inside = ((low <= true) & (true <= high))[lost].mean()
        # From cells held out alone, whose rows know the other columns, it is about a tenth.
        assert inside > 0.8
        assert abs(column.details["coverage"] - inside) < 0.1
