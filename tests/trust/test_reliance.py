"""What users are told of how far the graph is relied on, and how sure bounds are, is held here."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import graphfill as gf
from graphfill.table._columns import open_column
from graphfill.trust import FillOptions, fill_columns
from graphfill.trust._calibrating import Calibrating
from graphfill.trust._channels import HeldOut
from graphfill.trust._features import FAR, CellFeatures
from graphfill.trust._intervals import FEWEST_IN_GROUP, _groups


def held_out(truth, filled):
    held = HeldOut(np.arange(len(truth)))
    for channel in range(truth.shape[1]):
        held.add(truth[:, [channel]], filled[:, [channel]])
    return held


def test_reliance_is_the_slope_less_its_standard_error():
    rng = np.random.default_rng(0)
    p = rng.normal(size=(400, 2))
    t = 0.6 * p + rng.normal(size=p.shape)
    held = held_out(t, p)
    x, y = (p**2).sum(axis=1), (t * p).sum(axis=1)
    slope = y.sum() / x.sum()
    error = np.sqrt(((y - slope * x) ** 2).sum()) / x.sum()
    assert held.reliance == pytest.approx(slope - error)
    # 1 - sum (t - c p)^2 / sum t^2, with the very c that cells are filled with
    left = ((t - held.reliance * p) ** 2).sum() / (t**2).sum()
    assert held.explained == pytest.approx(1 - left)


def test_noise_is_rarely_relied_on():
    rng = np.random.default_rng(1)
    found = [held_out(*rng.normal(size=(2, 100, 1))).reliance for _ in range(300)]
    # The slope of noise is above its standard error in 16 % of draws, and above 0 in half of them.
    assert 0.78 < np.mean(np.array(found) == 0) < 0.9


def test_reliance_lies_between_nothing_and_all():
    p = np.linspace(-1, 1, 50)[:, None]
    assert held_out(3 * p, p).reliance == 1.0
    assert held_out(-p, p).reliance == 0.0
    assert held_out(p, 0 * p).reliance == 0.0


def test_coverage_is_that_of_intervals_made_without_the_fold():
    """Ten cells of a fold alone would give intervals without end, which hold all of them."""
    n, told = 130, []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = np.cumsum(rng.normal(0, 0.2, n)) + rng.normal(0, 0.3, n)
        x[rng.permutation(n)[:30]] = np.nan
        series = nw.from_native(pl.Series("x", x), series_only=True)
        ring = gf.Graph.from_edges(np.arange(n), np.roll(np.arange(n), -1))
        options = FillOptions(intervals=0.8, seed=seed)
        fills, _ = fill_columns({"x": open_column(series)}, ["x"], ring, lambda: {"x": 1}, options)
        bounds = fills["x"].bounds
        assert all(0 < row["actual"] < 1 for row in bounds.calibration[:4])
        told.append(bounds.coverage)
    assert np.mean(told) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("shares", [(0.9, 0.08, 0.02, 0), (0.4, 0.3, 0.2, 0.1), (0, 0.04, 0, 0.96)])
def test_every_group_of_distances_has_enough_held_out_cells(level, shares):
    rng = np.random.default_rng(2)

    def around(m):
        steps = rng.choice([1, 2, 4, FAR], m, p=shares)
        known = np.where(steps == 1, rng.integers(1, 9, m), 0)
        around = np.column_stack([known, np.zeros(m), steps]).astype(float)
        return CellFeatures(np.arange(m), *np.zeros((2, m)), around)

    m = 1000
    one, pieces = np.ones(m), np.full(m, -1)
    cells = Calibrating(one, [], pieces, [around(m)], one, one, one, one, one)
    held, asked = _groups(cells, around(500), level)
    fewest = max(FEWEST_IN_GROUP, 2 / (1 - level))
    counts = np.bincount(held)
    assert all(count >= fewest for count in counts[1:] if count)
    assert set(asked[asked > 0]) <= set(held)  # one without held-out cells has joined another
