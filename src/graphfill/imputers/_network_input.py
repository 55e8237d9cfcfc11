"""The input of a graph network, chosen: a fill of the features, and what the graph itself says."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..errors import InputError, check_number
from ..solve import graph_of_rows, open_matrix
from ._input_search import NetworkInput as NetworkInput
from ._input_search import Search
from ._label_folds import NONE, Ints, read_labels


def network_input(
    X: Any,
    graph: Any,
    labels: Any = None,
    *,
    validation: Any = None,
    missing_mask: Any = None,
    seed: int = 0,
    threads: int | None = None,
) -> NetworkInput:
    r"""The best input for a graph network, whatever is missing: chosen among blocks of columns.

    A candidate is one fill of the features (zeros and an indicator, Feature Propagation with 40
    steps or its limit, PCFI; for 64 columns or fewer also eigenvectors and the coupled field),
    with or without the graph's 20 leading eigenvectors, and with or without the training labels,
    propagated from folds that leave out a node's own. Each is scored by a small network
    with random hidden weights,

    .. math:: \Phi = [S G, H, P H], \quad G = \mathrm{ReLU}(S X V_1), \quad
        H = \mathrm{ReLU}(X V_2 + P X V_3),

    whose last layer is solved for, on the validation labels or, without them, on parts of the
    training labels held out in turn. Candidates within one standard error of the best, or 0.02 of
    the labels' variance, count as equal. Where propagated training labels predict each other,
    right in a fifth or more of the cases that the most frequent class leaves, the one of these
    with the most blocks is taken, else the one with the fewest of eigenvectors and labels.

    No label of a validation node is ever in `X`: only the choice depends on it. The same input
    gives the same bits for any number of threads.

    Parameters
    ----------
    X : array or tensor [nodes, features]
        NaN where missing. Known cells do not stay as they are: columns are scaled for a network.
    graph : Graph, or anything ``Graph.of`` recognises
    labels : array of whole numbers, optional
        The class of each training node; -1 or NaN for all others, of validation and test too.
        Without them, or with fewer than 20, held-out cells choose.
    validation : array of whole numbers, optional
        The class of each validation node, -1 or NaN for all others.
    missing_mask : array of bool, optional
        True where a cell is missing; must cover every NaN.
    seed : int
        Of the folds, the hidden weights and the held-out cells.
    threads : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> import graphfill as gf
    >>> rng = np.random.default_rng(0)
    >>> side = np.repeat([0, 1], 100)  # two groups with links inside them
    >>> ends = rng.integers(0, 100, (2, 900)) + 100 * rng.integers(0, 2, 900)
    >>> X = np.where(rng.random((200, 3)) < 0.5, np.nan, rng.normal(side[:, None], 2.0, (200, 3)))
    >>> labels = np.where(rng.random(200) < 0.3, side, -1)
    >>> chosen = gf.network_input(X, gf.Graph.from_edges(*ends, n_nodes=200), labels)
    >>> "labels" in chosen.blocks, chosen.judged_by
    (True, 'training labels')
    """
    check_number("seed", seed, low=0, integer=True)
    if threads is not None:
        check_number("threads", threads, low=1, integer=True)
    opened = open_matrix(X, missing_mask=missing_mask)
    linked = graph_of_rows(graph, len(opened.values))
    train, judge, n_classes = _labels(labels, validation, len(opened.values))
    # Products of matrices by several threads are rounded in another way than by one.
    with threadpool_limits(limits=1, user_api="blas"):
        search = Search(opened.values, linked, train, n_classes, seed, threads)
        found = search.run(judge)
    if opened.kind == "torch":
        tensor = sys.modules["torch"].from_numpy(found.X)
        dtype = X.dtype if X.is_floating_point() else tensor.dtype
        return replace(found, X=tensor.to(device=X.device, dtype=dtype))
    return found


def _labels(labels: Any, validation: Any, n_nodes: int) -> tuple[Ints, Ints, int]:
    """Classes of training and validation nodes as 0, 1, ... (-1 for others), and their number."""
    none = np.full(n_nodes, NONE)
    train = none if labels is None else read_labels("labels", labels, n_nodes)
    judge = none if validation is None else read_labels("validation", validation, n_nodes)
    if n_nodes > 1 and (train != NONE).all():
        raise InputError(
            "labels names a class for every node, so that labels of test nodes would be part of "
            "the input: set those of nodes that are not trained on to -1."
        )
    both = (train != NONE) & (judge != NONE)
    if both.any():
        raise InputError(
            f"Row {int(np.argmax(both))} has a label in labels and in validation "
            f"({int(both.sum())} such rows): a node is in one of them."
        )
    # Classes that no training node has cannot be learned, and have no column.
    classes, codes = np.unique(train[train != NONE], return_inverse=True)
    train = train.copy()
    train[train != NONE] = codes
    place = np.searchsorted(classes, judge)
    seen = np.isin(judge, classes) & (judge != NONE)
    return train, np.where(seen, place, NONE), len(classes)


# Doctests are looked for in the module that a function names, which is not this one.
__test__ = {"network_input": network_input}
