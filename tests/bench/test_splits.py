"""Splits: their sizes, what never changes, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from graphfill import InputError
from graphfill.bench import _data as data
from graphfill.bench._draws import draw_split


def parts_of(split):
    return split.train, split.val, split.test


@pytest.mark.parametrize("kind", ["paper", "development", "thirds"])
def test_parts_are_apart_and_seeded(real_graphs, kind):
    cora = data.load("cora")
    split = draw_split(cora, kind, seed=3)
    assert np.array_equal(np.sort(np.concatenate(parts_of(split))), np.arange(cora.n_nodes))
    assert all((np.diff(part) > 0).all() for part in parts_of(split))
    again, other = draw_split(cora, kind, seed=3), draw_split(cora, kind, seed=4)
    assert all(map(np.array_equal, parts_of(split), parts_of(again)))
    assert not np.array_equal(split.train, other.train)
    sizes = [len(part) for part in parts_of(split)]
    if kind == "paper":
        assert sizes == [140, 1500, 845]
    elif kind == "development":
        assert sizes == [140, 1360, 985]
        assert np.array_equal(split.test, other.test)
    else:
        assert max(sizes) - min(sizes) <= 1
    if kind != "thirds":
        assert np.bincount(cora.y[split.train]).tolist() == [20] * 7


def test_official(real_graphs):
    pubmed = data.load("pubmed")
    assert [len(part) for part in parts_of(draw_split(pubmed, "official", 0))] == [60, 500, 1000]
    with pytest.raises(InputError, match="'photo' comes without an official split"):
        draw_split(data.load("photo"), "official", 0)


def test_sizes_that_do_not_fit_are_refused_with_the_numbers(made_up):
    with pytest.raises(InputError, match=r"takes 1500 nodes .* but there are 60 for both"):
        draw_split(made_up, "paper", 0)
    with pytest.raises(InputError, match=r"takes 1500 nodes .* but there are 120"):
        draw_split(made_up, "development", 0)
    rare = replace(made_up, y=np.where(np.arange(120) < 7, 3, made_up.y))
    with pytest.raises(InputError, match=r"Class 3 of 'made-up' has 7 node\(s\) but .* takes 20"):
        draw_split(rare, "paper", 0)
    with pytest.raises(InputError, match="no split 'papers': did you mean 'paper'"):
        draw_split(made_up, "papers", 0)


def test_nodes_without_a_label_are_in_no_part(made_up):
    half = replace(made_up, y=np.where(np.arange(120) % 2, made_up.y, -1))
    found = np.concatenate(parts_of(draw_split(half, "thirds", 0)))
    assert np.array_equal(np.sort(found), np.arange(1, 120, 2))
