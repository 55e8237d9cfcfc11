"""Rubin's rules, against numbers worked out by hand and published ones."""

import numpy as np
import pandas as pd
import pytest

import graphfill as gf


def test_a_worked_example():
    # Q = 10, 12, 14 with variances 4, 5, 6: mean 12, U = 5, B = ((-2)^2 + 0 + 2^2) / 2 = 4.
    # (1 + 1/3) B = 16/3, T = 5 + 16/3 = 31/3, l = (16/3) / (31/3) = 16/31, r = 16/15.
    # v = 2 / (16/31)^2 = 2 * 961 / 256 = 7.5078125; t at 97.5 % with so many is 2.3327.
    pooled = gf.pool([10.0, 12.0, 14.0], [4.0, 5.0, 6.0])
    assert (pooled.estimate, pooled.n_draws) == (12.0, 3)
    assert pooled.standard_error == pytest.approx(np.sqrt(31 / 3))
    assert pooled.df == pytest.approx(7.5078125)
    assert pooled.missing_information == pytest.approx((16 / 15 + 2 / 10.5078125) / (31 / 15))
    assert pooled.high - 12.0 == pytest.approx(2.3327 * np.sqrt(31 / 3), rel=1e-3)
    assert 12.0 - pooled.low == pytest.approx(pooled.high - 12.0)
    # Barnard and Rubin with n = 21: v0 = 20, w = 21/23 * 20 * (15/31) = 8.8359, 1 / (1/v + 1/w).
    few = gf.pool([10.0, 12.0, 14.0], [4.0, 5.0, 6.0], n=21)
    assert few.df == pytest.approx(1 / (1 / 7.5078125 + 1 / (21 / 23 * 20 * 15 / 31)))
    assert few.high > pooled.high


def test_draws_that_agree_leave_the_complete_data():
    pooled = gf.pool([2.0, 2.0], [9.0, 9.0], n=11)
    assert (pooled.standard_error, pooled.missing_information < 0.2) == (3.0, True)
    assert pooled.df == pytest.approx(11 / 13 * 10)


def test_names_and_vectors_are_kept():
    names = ["constant", "slope"]
    estimates = [pd.Series([1.0, 2.0 + k], index=names) for k in range(3)]
    variances = [pd.Series([1.0, 4.0], index=names) for _ in range(3)]
    pooled = gf.pool(estimates, variances, n=30)
    assert pooled.low.index.tolist() == names
    alone = gf.pool([2.0, 3.0, 4.0], [4.0, 4.0, 4.0], n=29)
    assert pooled.high["slope"] == alone.high
    vector = gf.pool([s.to_numpy() for s in estimates], [s.to_numpy() for s in variances], n=30)
    np.testing.assert_array_equal(vector.df, pooled.df)
    lines = repr(pooled).splitlines()
    assert lines[0] == "Pooled from 3 completions"
    assert lines[3].split()[:2] == ["slope", "3"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0], [1.0]), "There are 1 estimate"),
        (([1.0, 2.0], [1.0]), "pass one variance"),
        (([1.0, 2.0], [1.0, -1.0]), "variance is below 0"),
        (([1.0, 2.0], [1.0, 1.0], 1), "pass the number of rows"),
        (([1.0, 2.0], [1.0, 1.0], None, 95), "level is 95"),
        (([[1.0, 2.0], [1.0]], [1.0, 1.0]), "differ in length"),
        (([pd.Series([1.0], ["a"]), pd.Series([1.0], ["b"])], [[1.0], [1.0]]), "in their names"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(gf.InputError, match=sentence):
        gf.pool(*arguments)
