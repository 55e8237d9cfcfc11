"""Who is trained on, who is chosen by and who is judged on."""

from __future__ import annotations

import numpy as np

from ..errors import InputError, option
from ._problem import Dataset, Ints, Split, check_name

SPLITS = {
    "paper": "20 nodes of each class to train on, 1,500 others to validate, the rest to test",
    "development": "the official code's: training and validation nodes out of 1,500 fixed ones",
    "thirds": "a third of the nodes each, as for the graphs of graded homophily",
    "official": "the one that comes with the set",
}
PER_CLASS = 20
VALIDATION = 1500
DEVELOPMENT = 1500
DEVELOPMENT_SEED = 1684992425  # the official code's: it gives the paper's own test nodes
STREAM = 1  # so that a split and a mask of one seed are not made of the same numbers


def usual_split(name: str) -> str:
    """The kind of split of a set in the paper.

    >>> usual_split("cora"), usual_split("arxiv"), usual_split("mixhop-0.3")
    ('paper', 'official', 'thirds')
    """
    if name.startswith("mixhop"):
        return "thirds"
    return "official" if name in ("arxiv", "products") else "paper"


def draw_split(dataset: Dataset, kind: str, seed: int) -> Split:
    """Split the labelled nodes of a set by a kind of `SPLITS`; a seed always gives the same split.

    >>> from graphfill.graph._graph import Graph
    >>> ring = Graph.from_edges(range(9), [*range(1, 9), 0])
    >>> split = draw_split(Dataset("ring", ring, None, np.arange(9) % 2), "thirds", seed=0)
    >>> len(split.train), len(split.val), len(split.test)
    (3, 3, 3)
    """
    check_name("split", kind, SPLITS)
    labelled = np.flatnonzero(dataset.y >= 0)
    rng = np.random.default_rng([seed, STREAM])
    if kind == "official":
        if dataset.official is None:
            raise InputError(
                f"The set {dataset.name!r} comes without an official split: use "
                f"{option('split')} paper or thirds."
            )
        return dataset.official
    if kind == "thirds":
        _check_rest(dataset.name, labelled.size, 2, "training and validation")
        train, val, test = np.array_split(rng.permutation(labelled), 3)
    elif kind == "development":
        _check_rest(dataset.name, labelled.size, DEVELOPMENT, "development")
        fixed = np.random.RandomState(DEVELOPMENT_SEED)  # the generator of the official code
        pool = labelled[fixed.choice(labelled.size, DEVELOPMENT, replace=False)]
        train = _per_class(dataset, pool, rng, f" among the {DEVELOPMENT} of its development set")
        val, test = np.setdiff1d(pool, train), np.setdiff1d(labelled, pool)
    else:
        train = _per_class(dataset, labelled, rng)
        rest = np.setdiff1d(labelled, train)
        _check_rest(dataset.name, rest.size, VALIDATION, "validation")
        rest = rng.permutation(rest)
        val, test = rest[:VALIDATION], rest[VALIDATION:]
    return Split(np.sort(train), np.sort(val), np.sort(test))


def _per_class(dataset: Dataset, rows: Ints, rng: np.random.Generator, where: str = "") -> Ints:
    """PER_CLASS of the rows of each class."""
    chosen = []
    for label in range(dataset.n_classes):
        members = rows[dataset.y[rows] == label]
        if members.size < PER_CLASS:
            raise InputError(
                f"Class {label} of {dataset.name!r} has {members.size} node(s){where} but the "
                f"split takes {PER_CLASS} of each class to train on: use {option('split')} thirds."
            )
        chosen.append(rng.choice(members, PER_CLASS, replace=False))
    return np.concatenate(chosen)


def _check_rest(name: str, size: int, taken: int, part: str) -> None:
    """Refuse a part of a split that takes all nodes there are, and leaves none to test on."""
    if size <= taken:
        raise InputError(
            f"The split takes {taken} nodes of {name!r} for {part}, and some more to test on, but "
            f"there are {size} for both: use {option('split')} thirds."
        )
