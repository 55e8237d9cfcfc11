r"""Training labels, propagated along the edges so that no labelled node sees its own.

The labelled nodes are dealt into folds at random, whatever their class. With
:math:`S = D^{-1/2} A D^{-1/2}` the labels of one fold spread as

.. math:: Q_f = (1 - \alpha) \sum_{k=0}^{K} \alpha^k S^k Y_f.

A node's row is the sum over all folds but its own, a class's labels weighing 1 together, divided by
its total: the share of each class. So the row of a labelled node is a function of the labels of
other folds alone.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, shown
from ..graph import as_array

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

N_FOLDS = 10
ALPHA, N_STEPS = 0.9, 30
NONE = -1  # the code of a node without a label


def read_labels(name: str, labels: Any, n_nodes: int) -> Ints:
    """Whole numbers, -1 where there is no label (NaN, None or -1 in what is given)."""
    array = as_array(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(
            f"{name} has shape {array.shape} but must hold one class per node: of nodes with "
            "several labels pass one label at a time."
        )
    if len(array) != n_nodes:
        raise InputError(
            f"{name} has {len(array)} entries but X has {n_nodes} rows: pass one each."
        )
    if array.dtype == object:
        array = np.array([np.nan if one is None else one for one in array])
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{name} has dtype {array.dtype} but must hold classes as whole numbers: number them, "
            "-1 where there is none."
        )
    floats = array.astype(np.float64)
    floats[np.isnan(floats)] = NONE
    wrong = (floats != np.floor(floats)) | (floats < NONE) | (floats > 2**53)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name} holds {shown(array[row].item())} at row {row} but a class is a whole number "
            "from 0 on, and -1 or NaN where there is none."
        )
    return floats.astype(np.int64)


class LabelFolds:
    """The labels of some nodes, spread fold by fold.

    Parameters
    ----------
    codes : classes 0, 1, ..., or -1, one per node
    n_classes : int
    S : normalised adjacency
    seed : of the folds
    """

    def __init__(self, codes: Ints, n_classes: int, S: Any, seed: int) -> None:
        self.codes, self.n_classes = codes, n_classes
        labelled = np.flatnonzero(codes != NONE)
        self.n_folds = min(N_FOLDS, len(labelled))
        self.fold = np.full(len(codes), NONE)
        dealt = np.random.default_rng([seed, 21]).permutation(labelled)
        self.fold[dealt] = np.arange(len(dealt)) % self.n_folds
        self._counts = np.zeros((self.n_folds, n_classes))
        np.add.at(self._counts, (self.fold[labelled], codes[labelled]), 1.0)
        self._spread = [self._spread_of(S, fold) for fold in range(self.n_folds)]

    def _spread_of(self, S: Any, fold: int) -> NDArray[np.float32]:
        rows = np.flatnonzero(self.fold == fold)
        step = np.zeros((len(self.codes), self.n_classes), np.float32)
        step[rows, self.codes[rows]] = 1.0 - ALPHA
        total = step.copy()
        for _ in range(N_STEPS):
            step = np.float32(ALPHA) * (S @ step)
            total += step
        return total

    def block(self, held: Collection[int] = ()) -> Floats:
        """The shares of each class at every node, from the labels of the folds not `held`."""
        used = [fold for fold in range(self.n_folds) if fold not in held]
        shares = self._shares(slice(None), used)
        for fold in used:
            rows = np.flatnonzero(self.fold == fold)
            shares[rows] = self._shares(rows, [other for other in used if other != fold])
        return shares

    def _shares(self, rows: Any, folds: list[int]) -> Floats:
        """Of these rows, from the labels of these folds; equal shares where none arrives."""
        counts = np.maximum(self._counts[folds].sum(axis=0), 1.0)
        sums = np.zeros(self._spread[0][rows].shape)
        for fold in folds:
            sums += self._spread[fold][rows]
        sums /= counts
        total = sums.sum(axis=1, keepdims=True)
        there = total > np.finfo(np.float32).tiny
        return np.where(there, sums / np.where(there, total, 1.0), 1.0 / self.n_classes)
