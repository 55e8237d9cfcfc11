"""Trees of the kernels: the same bits without a compiler, the predictions of scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from graphfill import kernels
from graphfill.kernels import _forest
from graphfill.kernels import _scipy as scipy_kernels


def cells(n, n_asked, seed, n_classes=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n_asked, 5))
    X[:, 1] = X[:, 1].round()  # ties
    X[:, 4] = 1.0  # says nothing
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(len(X))
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y).astype(float)
    return X[:n], y[:n], X[n:], y[n:]


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.integers(0, 20), st.sampled_from([0, 2, 4]), st.integers(1, 5))
def test_both_implementations_give_the_same_bits(n, n_asked, n_classes, least):
    X, y, asked, _ = cells(n, n_asked, n, n_classes)
    options = {"n_classes": n_classes, "n_trees": 3, "tried": 3, "least": least, "seed": 5}
    here = kernels.forest(X, y, asked, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_forest, "loops", scipy_kernels)
        plain = kernels.forest(X, y, asked, **options)
    assert here.tobytes() == plain.tobytes()


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_tree_that_may_split_to_the_end_repeats_what_it_learnt(n_classes):
    X, y, _, _ = cells(50, 0, 1, n_classes)
    options = {"n_classes": n_classes, "n_trees": 4, "tried": 5, "least": 1, "seed": 0}
    learnt = kernels.forest(X, y, X, **options)
    expected = np.eye(n_classes)[y.astype(int)] if n_classes else y[:, None]
    np.testing.assert_allclose(learnt, expected, rtol=0, atol=1e-12)


def test_leaves_hold_as_many_rows_as_asked_for():
    X, y, _, _ = cells(40, 0, 2)
    answers = kernels.forest(X, y, X, n_trees=1, tried=5, least=7, seed=3)[:, 0]
    assert np.unique(answers, return_counts=True)[1].min() >= 7
    alone = kernels.forest(X, y, X, n_trees=2, tried=5, least=21, seed=3)[:, 0]
    np.testing.assert_allclose(alone, y.mean())


def test_numbers_as_well_as_scikit_learn():
    X, y, asked, truth = cells(400, 400, 3)
    ours = kernels.forest(X, y, asked, n_trees=60, tried=3, least=2, seed=0)[:, 0]
    peer = ExtraTreesRegressor(60, max_features=0.6, min_samples_leaf=2, random_state=0)
    theirs = peer.fit(X, y).predict(asked)
    assert np.mean((ours - truth) ** 2) < 1.1 * np.mean((theirs - truth) ** 2)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98


def test_classes_as_well_as_scikit_learn():
    X, y, asked, truth = cells(400, 400, 4, n_classes=3)
    ours = kernels.forest(X, y, asked, n_classes=3, n_trees=60, tried=3, least=2, seed=0)
    peer = ExtraTreesClassifier(60, max_features=0.6, min_samples_leaf=2, random_state=0)
    theirs = peer.fit(X, y).predict_proba(asked)
    right = np.eye(3)[truth.astype(int)]
    np.testing.assert_allclose(ours.sum(axis=1), 1.0)
    assert ((ours - right) ** 2).sum() < 1.1 * ((theirs - right) ** 2).sum()
