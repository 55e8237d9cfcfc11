"""Agreement is 0 at chance, 1 at likeness, and tells the two apart."""

import numpy as np
import pytest

import graphfill as gf
from graphfill.trust._agreement import agreement


def ring(n):
    return gf.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "numbers"])
def test_smooth_values_agree_and_shuffled_ones_do_not(classes):
    n = 600
    smooth = np.repeat(np.arange(6.0), n // 6)
    found = agreement(ring(n), smooth, classes=classes)
    assert found.value > 0.95
    assert found.verdict == "inferable"
    shuffled = np.random.default_rng(0).permutation(smooth)
    found = agreement(ring(n), shuffled, classes=classes)
    assert abs(found.value) < 0.2
    assert found.verdict == "not from this graph"


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "numbers"])
def test_values_at_random_are_rarely_taken_for_agreement(classes):
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_edges(rng.integers(0, 300, (2, 900)), n_nodes=300)
    draws = [rng.integers(0, 4, 300).astype(float) for _ in range(100)]
    wrong = sum(agreement(graph, x, classes=classes, seed=s).beyond_chance
                for s, x in enumerate(draws))  # fmt: skip
    assert wrong <= 5


def test_by_hand():
    # Four edges, three within a class; ends are a a a b b b b a: half each.
    path = gf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    x = np.array([0.0, 0.0, 1.0, 1.0])
    # Two of four edges agree, as chance would have it.
    assert agreement(path, x, classes=True).value == pytest.approx(0.0)
    assert agreement(path, x, classes=False).value == pytest.approx(0.0)


def test_nothing_to_compare():
    found = agreement(gf.Graph.from_edges([0], [1], n_nodes=3), np.array([1.0, np.nan, 2.0]),
                      classes=False)  # fmt: skip
    assert found.n_pairs == 0
    assert found.verdict == "unknown"


def test_sampled_edges_are_seeded():
    rng = np.random.default_rng(0)
    n = 60_000
    graph = gf.Graph.from_edges(rng.integers(0, n, (2, 600_000)), n_nodes=n)
    x = rng.standard_normal(n)
    assert agreement(graph, x, classes=False, seed=3) == agreement(graph, x, classes=False, seed=3)
