"""Columns of many known cells are learnt by boosted trees as well."""

import warnings

import numpy as np
import pandas as pd
import pytest
import threadpoolctl

import graphfill as gf
from graphfill.trust import _stack
from graphfill.trust._column import Target
from graphfill.trust._ranks import RankScale
from graphfill.trust._stack import Trees, are_boosted


def learnt(n, n_classes=0, share=1.0):
    """Trees on a step function of two of many inputs, what they are asked, and the truth."""
    rng = np.random.default_rng(0)
    X = rng.random((2 * n, 20))
    y = np.floor(8 * X[:, 0]) % 2 + np.floor(2 * X[:, 1])
    target = Target(y[:n], n_classes)
    trees = Trees(target, RankScale(y[:n]), 0, 25, share).fit(X[:n], np.arange(n))
    return trees, X[n:], y[n:]


@pytest.mark.parametrize("n_classes", [0, 3])
def test_steps_are_learnt_better(n_classes):
    trees, asked, y = learnt(1500, n_classes)
    by = {"randomised": trees.randomised(asked), "boosted": trees.boosted(asked)}
    if n_classes:
        assert np.allclose(by["boosted"].sum(axis=1), 1.0)
        wrong = {name: np.mean(p.argmax(axis=1) != y) for name, p in by.items()}
    else:
        wrong = {name: np.mean((p[:, 0] - y) ** 2) for name, p in by.items()}
    assert wrong["boosted"] < 0.5 * wrong["randomised"]


def test_a_share_mixes_both():
    trees, asked, _ = learnt(400, share=0.5)
    mean = (trees.randomised(asked) + trees.boosted(asked)) / 2
    assert np.array_equal(trees.predict(asked), mean)


def test_threads_and_size_change_nothing():
    trees, asked, _ = learnt(1000)
    with threadpoolctl.threadpool_limits(limits=2):
        two = trees.boosted(asked)
    assert np.array_equal(two, trees.boosted(asked))
    X, y = trees.inputs
    large = Trees(trees.target, trees.scale, 0, 25, 1.0).fit_inputs(X, y * 2.0**600)
    assert np.allclose(large.boosted(asked) / 2.0**600, two)


def test_equal_levels_are_predicted():
    trees, asked, _ = learnt(100)
    trees.fit_inputs(trees.inputs[0], np.full(100, 2.0))
    assert np.allclose(trees.boosted(asked), 2.0)


def test_few_cells_or_many_classes_are_not_boosted():
    many = np.arange(float(_stack.MANY_KNOWN)) % 9
    assert are_boosted(Target(many, 0))
    assert not are_boosted(Target(many[1:], 0))
    assert not are_boosted(Target(many, 9))


def test_a_table_is_filled_and_its_imputer_kept(monkeypatch, tmp_path):
    """A sawtooth of another column, which neither fields nor randomised trees follow as well."""
    rng = np.random.default_rng(1)
    n = 600
    table = pd.DataFrame({"id": [f"r{k}" for k in range(n)], "x": rng.random(n)})
    truth = np.floor(8 * table["x"]) % 2 + 0.05 * rng.standard_normal(n)
    hidden = rng.random(n) < 0.3
    table["y"] = truth.mask(hidden)
    table["x"] = table["x"].mask(rng.random(n) < 0.02)
    edges = pd.DataFrame({"source": table["id"], "target": np.roll(table["id"], 1)})
    error = {}
    for most in (200, 10**9):
        monkeypatch.setattr(_stack, "MANY_KNOWN", most)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.GraphfillWarning)
            imputer = gf.TableImputer(id="id").fit(table, edges)
            filled = imputer.transform(table, edges)
            imputer.save(tmp_path / "kept.gfill", overwrite=True)
            again = gf.TableImputer.load(tmp_path / "kept.gfill").transform(table, edges)
        assert again.equals(filled)
        error[most] = np.mean((filled["y"] - truth)[hidden] ** 2)
    assert error[200] < 0.9 * error[10**9]
