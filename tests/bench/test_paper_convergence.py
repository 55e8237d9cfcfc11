"""How far steps are from their limit, against dense algebra."""

import numpy as np
import pytest

from graphfill import Graph
from graphfill.bench._draws import draw_mask
from graphfill.bench._paper.convergence import MANY, distances
from graphfill.bench._problem import Dataset


@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_distances_are_those_of_dense_steps(rate):
    rng = np.random.default_rng(0)
    n = 80
    graph = Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    X = rng.standard_normal((n, 3)).astype(np.float32)
    dataset = Dataset("ring", graph, X, np.zeros(n, np.int64))
    hidden = draw_mask(dataset, "uniform", rate, 4)
    S = np.roll(np.eye(n), 1, axis=0) / 2 + np.roll(np.eye(n), -1, axis=0) / 2
    start = np.random.default_rng(4).standard_normal(X.shape)

    def steps(begin, number):
        x = np.where(hidden, begin, X.astype(float))
        for _ in range(number):
            x = np.where(hidden, S @ x, X)
        return x

    limit = steps(np.zeros(X.shape), 20_000)[hidden]
    few, many = (steps(np.zeros(X.shape), k)[hidden] for k in (40, MANY))
    others = [steps(start, k)[hidden] for k in (40, MANY)]

    def apart(one, two):
        return np.linalg.norm(one - two) / np.linalg.norm(two)

    def not_alike(values):
        whole = np.zeros(X.shape)
        whole[hidden] = values
        mean = whole.sum(axis=0) / hidden.sum(axis=0)
        return ((whole - mean)[hidden] ** 2).sum() / (values**2).sum()

    expected = [apart(few, limit), apart(many, limit), apart(others[0], few),
                apart(others[1], many), not_alike(few), not_alike(limit)]  # fmt: skip
    np.testing.assert_allclose(distances(dataset, rate, 4), expected, atol=1e-5)
    assert expected[0] > 1e-4
