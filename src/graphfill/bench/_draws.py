"""Who is trained on, who is chosen by and who is judged on; and which cells are hidden."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, option
from ._problem import Dataset, Floats, Ints, Split, check_name

Mask = NDArray[np.bool_]

WITH_SPLITS = ("arxiv", "products", "actor", "chameleon", "minesweeper")
PER_CLASS = 20
VALIDATION = 1500
DEVELOPMENT = 1500
DEVELOPMENT_SEED = 1684992425  # the official code's: it gives the paper's own test nodes
LARGEST = 0.1  # of the values of a column, which "value" hides rather than the rest
SPLIT_STREAM, MASK_STREAM = 1, 2  # so that those of one seed are not made of the same numbers
BLOCK = 1 << 22  # cells for which numbers are drawn at a time


def usual_split(name: str) -> str:
    """The kind of split of a set in the paper, or in what published it.

    >>> usual_split("cora"), usual_split("arxiv"), usual_split("mixhop-0.3")
    ('paper', 'official', 'thirds')
    """
    if name.startswith("mixhop") or name in ("electric", "twitch-de", "debian"):
        return "thirds"
    return "official" if name in WITH_SPLITS else "paper"


def draw_split(dataset: Dataset, kind: str, seed: int) -> Split:
    """Split the labelled nodes of a set by its kind; a seed always gives the same split.

    >>> from graphfill.graph._graph import Graph
    >>> ring = Graph.from_edges(range(9), [*range(1, 9), 0])
    >>> split = draw_split(Dataset("ring", ring, None, np.arange(9) % 2), "thirds", seed=0)
    >>> len(split.train), len(split.val), len(split.test)
    (3, 3, 3)
    """
    check_name("split", kind)
    labelled = np.flatnonzero(dataset.y >= 0)
    rng = np.random.default_rng([seed, SPLIT_STREAM])
    if kind == "official":
        if not dataset.official:
            raise InputError(
                f"The set {dataset.name!r} comes without an official split: use "
                f"{option('split')} paper or thirds."
            )
        return dataset.official[seed % len(dataset.official)]
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


# -- masks --


def draw_mask(
    dataset: Dataset, kind: str, rate: float, seed: int, split: Split | None = None
) -> Mask | None:
    """Cells to hide, True = missing; the same seed gives the same cells.

    All features of one cell of a table (`Dataset.cells`) are hidden together.

    The rate is a share of cells, from 0 to 1. ``structural`` hides round(rate n) nodes.
    ``value`` hides the largest tenth of each column's values with a probability half-way from
    `rate` to 1 (no more than leaves the column's rate at `rate`). ``label`` hides a column with a
    probability that falls linearly with its rank by mutual information with the label on training
    nodes, as steeply as `rate` allows. ``shifted`` hides at `rate` on test nodes and all others, at
    half of it on training and validation nodes; these two depend on the split.

    Returns a mask [n_nodes, n_features] in which gaps of the set's own are missing as well, or None
    where nothing is missing.
    """
    check_name("mask", kind)
    number = isinstance(rate, (int, float, np.floating)) and not isinstance(rate, bool)
    if not (number and 0 <= rate <= 1):
        raise InputError(f"The rate is {rate!r} but must be a share of cells, from 0 to 1.")
    if dataset.X is None:
        return None
    cells = np.arange(dataset.n_features) if dataset.cells is None else dataset.cells
    shape = dataset.n_nodes, int(cells.max(initial=-1)) + 1
    rng = np.random.default_rng([seed, MASK_STREAM])
    gaps = _gaps(dataset)
    if rate == 0:
        return gaps
    if kind in ("label", "shifted") and split is None:
        raise InputError(f"The mask {kind!r} depends on who is trained on: pass split=.")
    if kind == "structural":
        missing = np.zeros(shape, dtype=bool)
        missing[rng.permutation(shape[0])[: round(rate * shape[0])]] = True
    elif kind == "value":
        first = np.unique(cells, return_index=True)[1]  # a category is judged by its first value
        missing = _by_value(dataset.dense()[:, first], rate, rng)
    else:
        odds = np.full((1, 1), rate, dtype=np.float32)
        if kind == "label":
            assert split is not None
            odds = _by_label(dataset, split, rate, cells)[None, :]
        elif kind == "shifted":
            assert split is not None
            odds = np.full((shape[0], 1), rate, dtype=np.float32)
            odds[np.concatenate([split.train, split.val])] = rate / 2
        missing = np.empty(shape, dtype=bool)
        odds = np.broadcast_to(odds, shape)
        for rows in _blocks(shape):
            missing[rows] = rng.random(missing[rows].shape, dtype=np.float32) < odds[rows]
    if dataset.cells is not None:
        missing = missing[:, cells]
    return missing if gaps is None else missing | gaps


def checksum(missing: Mask | None) -> str:
    """Sixteen letters that differ between masks, for the record.

    >>> checksum(None)
    'none'
    >>> checksum(np.array([[True, False]])) == checksum(np.array([[True], [False]]))
    False
    """
    if missing is None:
        return "none"
    digest = hashlib.sha256(str(missing.shape).encode())
    for rows in _blocks(missing.shape):
        digest.update(np.packbits(missing[rows]).tobytes())
    return digest.hexdigest()[:16]


def _gaps(dataset: Dataset) -> Mask | None:
    if not isinstance(dataset.X, np.ndarray):  # a sparse matrix of counts has none
        return None
    gaps = np.isnan(dataset.X)
    return gaps if gaps.any() else None


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Slices of rows of about BLOCK cells."""
    step = max(1, BLOCK // max(1, shape[1]))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _by_value(X: Floats, rate: float, rng: np.random.Generator) -> Mask:
    missing = np.zeros(X.shape, dtype=bool)
    for column in range(X.shape[1]):
        known = np.flatnonzero(~np.isnan(X[:, column]))
        # Equal values go in random order, so that a column of zeros and ones has a top tenth too.
        order = known[np.lexsort((rng.random(known.size), -X[known, column]))]
        n_large = round(LARGEST * known.size)
        share = n_large / max(known.size, 1)
        high = min((1 + rate) / 2, rate / share) if share else rate
        low = (rate - share * high) / (1 - share)
        odds = np.where(np.arange(known.size) < n_large, high, low)
        missing[order, column] = rng.random(known.size) < odds
    return missing


def _by_label(
    dataset: Dataset, split: Split, rate: float, cells: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Per column, how probable it is that a cell is hidden; `rate` on average."""
    known = np.zeros(int(cells.max(initial=-1)) + 1)
    np.maximum.at(known, cells, label_information(dataset, split))  # what tells most of a column
    place = np.empty(known.size)
    place[np.argsort(-known, kind="stable")] = (np.arange(known.size) + 0.5) / known.size
    odds = 2 * rate * (1 - place) if rate <= 0.5 else 1 - 2 * (1 - rate) * place
    return odds.astype(np.float32)


def label_information(dataset: Dataset, split: Split) -> NDArray[np.float64]:
    r"""Per column, what it tells of the label on training nodes, in nats.

    .. math:: I(b; y) = \sum_{b, y} p(b, y) \log \frac{p(b, y)}{p(b)\, p(y)}

    with b whether a value lies above the column's mean; missing values count as below.

    >>> from graphfill.graph._graph import Graph
    >>> X = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], np.float32)
    >>> four = Dataset("four", Graph.from_edges([0, 1, 2], [1, 2, 3]), X, np.array([0, 0, 1, 1]))
    >>> label_information(four, Split(np.arange(4), None, None)).round(3)
    array([0.693, 0.   ])
    """
    X = dataset.X
    assert X is not None
    rows = X[split.train]
    values = rows if isinstance(rows, np.ndarray) else rows.toarray()
    known = ~np.isnan(values)
    mean = np.where(known, values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    above = np.where(known, values, -np.inf) > mean
    one_hot = np.eye(dataset.n_classes)[dataset.y[split.train]]
    joint = np.stack([one_hot.T @ above, one_hot.T @ ~above]) / len(split.train)
    independent = joint.sum(axis=0, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, independent, out=np.ones_like(joint), where=joint > 0)
    information: NDArray[np.float64] = (joint * np.log(ratio)).sum(axis=(0, 1))
    return information
