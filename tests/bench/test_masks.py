"""Masks: their rates, what they prefer, their seeds."""

from dataclasses import replace

import numpy as np
import pytest
from bench.groups import linked_groups
from scipy import sparse

from graphfill import InputError
from graphfill.bench._draws import checksum, draw_mask, draw_split, label_information
from graphfill.bench._problem import CATALOGUE


@pytest.fixture(scope="module")
def large():
    return linked_groups(3000, 20)


@pytest.mark.parametrize("kind", CATALOGUE["masks"])
@pytest.mark.parametrize("rate", [0.05, 0.5, 0.99])
def test_rate_and_seed(large, kind, rate):
    split = draw_split(large, "paper", 0)
    missing = draw_mask(large, kind, rate, 1, split)
    assert missing.shape == large.X.shape
    # of test nodes where the rate is theirs; five standard deviations of 20,000 cells or more
    share = missing[split.test].mean() if kind == "shifted" else missing.mean()
    assert abs(share - rate) < 5 * np.sqrt(rate * (1 - rate) / missing[split.test].size) + 1e-3
    assert np.array_equal(missing, draw_mask(large, kind, rate, 1, split))
    other = draw_mask(large, kind, rate, 2, split)
    assert checksum(missing) != checksum(other)


def test_structural_hides_whole_nodes_and_just_so_many(large):
    missing = draw_mask(large, "structural", 0.995, 0)
    assert set(missing.sum(axis=1)) == {0, 20}
    assert missing.all(axis=1).sum() == round(0.995 * 3000)


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_value_prefers_large_values(large, rate):
    missing = draw_mask(large, "value", rate, 0)
    for column in range(3):
        top = large.X[:, column] >= np.quantile(large.X[:, column], 0.9)
        wanted = min((1 + rate) / 2, rate / 0.1)
        assert abs(missing[top, column].mean() - wanted) < 0.15
        assert missing[top, column].mean() > missing[~top, column].mean()


def test_value_prefers_ones_among_zeros(large):
    X = (np.random.default_rng(0).random(large.X.shape) < 0.02).astype(np.float32)
    binary = replace(large, X=sparse.csr_array(X))
    missing = draw_mask(binary, "value", 0.5, 0)
    assert abs(missing[X == 1].mean() - 0.75) < 0.06
    assert abs(missing.mean() - 0.5) < 0.01


def test_label_prefers_columns_that_tell_the_class(large):
    split = draw_split(large, "paper", 0)
    told = label_information(large, split)
    assert set(np.argsort(-told)[:3]) == {0, 1, 2}  # the ones the classes were written to
    for rate in (0.3, 0.9):
        shares = draw_mask(large, "label", rate, 0, split).mean(axis=0)
        assert shares[:3].min() > shares[3:].mean() + 0.05
    sparse_twin = replace(large, X=sparse.csr_array(large.X))
    assert np.allclose(told, label_information(sparse_twin, split))


def test_shifted_hides_less_where_there_is_learning(large):
    split = draw_split(large, "paper", 0)
    missing = draw_mask(large, "shifted", 0.8, 0, split)
    assert abs(missing[split.test].mean() - 0.8) < 0.02
    assert abs(missing[split.train].mean() - 0.4) < 0.1
    assert abs(missing[split.val].mean() - 0.4) < 0.02
    with pytest.raises(InputError, match="'shifted' depends on who is trained on"):
        draw_mask(large, "shifted", 0.8, 0)


def test_gaps_of_the_set_stay_gaps(made_up):
    X = made_up.X.copy()
    X[3, 4] = np.nan
    gappy = replace(made_up, X=X)
    split = draw_split(gappy, "thirds", 0)
    assert draw_mask(made_up, "uniform", 0.0, 0) is None
    assert np.argwhere(draw_mask(gappy, "uniform", 0.0, 0)).tolist() == [[3, 4]]
    assert all(draw_mask(gappy, kind, 0.2, 0, split)[3, 4] for kind in CATALOGUE["masks"])


@pytest.mark.parametrize("kind", CATALOGUE["masks"])
def test_a_rate_of_one_hides_all(large, kind):
    split = draw_split(large, "paper", 0)
    missing = draw_mask(large, kind, 1.0, 0, split)
    assert missing[split.test].all()
    assert missing.all() == (kind != "shifted")


def test_a_rate_beyond_one_is_refused(made_up):
    with pytest.raises(InputError, match=r"The rate is 1\.01 but must be a share of cells, from 0"):
        draw_mask(made_up, "uniform", 1.01, 0)


@pytest.mark.parametrize("kind", CATALOGUE["masks"])
def test_the_indicators_of_a_category_are_one_cell(large, kind):
    cells = np.repeat(np.arange(8), [1, 1, 5, 1, 3, 1, 7, 1])  # of 20 features
    table = replace(large, cells=cells)
    split = draw_split(table, "paper", 0)
    missing = draw_mask(table, kind, 0.5, 1, split)
    assert missing.shape == table.X.shape
    for cell in range(8):
        of_cell = missing[:, cells == cell]
        assert np.array_equal(of_cell.any(axis=1), of_cell.all(axis=1))
        assert 0 < of_cell.mean() < 1
