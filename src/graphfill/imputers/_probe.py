r"""A network whose hidden weights are random and whose last layer is solved for: cheap to judge by.

With S the normalised adjacency with self-loops, P = D^-1 A and random normal weights V,

.. math::

    G = \operatorname{ReLU}(S X V_1), \quad H = \operatorname{ReLU}(X V_2 + P X V_3), \quad
    \Phi = [S G, \; H, \; P H],

a graph convolution and a GraphSAGE side by side, the labels are fitted by ridge regression on
:math:`\Phi`. The products X V of several blocks of columns add up, so that each block is
multiplied once, whatever it is combined with. The score of a fit is the share of the labels'
variance (as one column of zeros and ones per class) that it explains on nodes it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..graph import Graph, adjacency_matrix
from ..solve._positions import normalized_adjacency
from ._label_folds import Ints

Floats = NDArray[Any]
Hidden = tuple[Floats, Floats]  # of a block: what is inside either ReLU

WIDTH = 512  # of each hidden layer
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # times the mean square of the columns of Phi


@dataclass(frozen=True)
class Fit:
    """How well the labels of some nodes were predicted, per penalty and node."""

    lost: Floats  # squared errors, summed over the classes
    right: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Fit]) -> Fit:
        """The nodes of several fits together."""
        return cls(
            np.concatenate([part.lost for part in parts], axis=1),
            np.concatenate([part.right for part in parts], axis=1),
        )

    def best(self) -> tuple[Floats, float]:
        """The squared errors and the accuracy under the penalty with the least error."""
        which = int(np.argmin(self.lost.sum(axis=1).round(9)))
        return self.lost[which], float(self.right[which].mean())


class Probe:
    """The random network over a graph, at some rows."""

    def __init__(self, graph: Graph, rows: Ints, seed: int) -> None:
        looped = normalized_adjacency(graph, self_loops=True)
        degrees = graph.degrees()
        inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        mean = sparse.diags_array(inverse) @ adjacency_matrix(graph)
        mean = sparse.csr_array(mean, dtype=np.float32)
        # What is hidden is computed where the rows see it, and nowhere else.
        self._near, self._seed = np.unique(np.append(looped[rows].indices, rows)), seed
        self._rows = np.searchsorted(self._near, rows)
        self._into = looped[self._near], mean[self._near]
        self._out = looped[rows][:, self._near], mean[rows][:, self._near]

    def hidden(self, X: Floats, number: int) -> Hidden:
        """What a block of columns adds inside the ReLUs; its number says which random weights."""
        rng = np.random.default_rng([self._seed, 22, number])
        V = rng.standard_normal((3, X.shape[1], WIDTH), np.float32)
        X = X.astype(np.float32, copy=False)
        convolved, averaged = (matrix @ X for matrix in self._into)
        return convolved @ V[0], X[self._near] @ V[1] + averaged @ V[2]

    def features(self, blocks: Sequence[Hidden]) -> Floats:
        """Phi at the rows, of these blocks side by side."""
        convolved = np.maximum(sum(block[0] for block in blocks), 0.0)
        sampled = np.maximum(sum(block[1] for block in blocks), 0.0)
        parts = self._out[0] @ convolved, sampled[self._rows], self._out[1] @ sampled
        return np.hstack(parts).astype(np.float64)


def fit(known: Floats, codes: Ints, judged: Floats, truth: Ints, n_classes: int) -> Fit:
    """Ridge regression of the classes on the features of known nodes, judged on others."""
    targets = np.eye(n_classes)
    share, centre = targets[codes].mean(axis=0), known.mean(axis=0)
    A, B, Y = known - centre, judged - centre, targets[codes] - share
    # Of A'A + penalty and AA' + penalty the smaller one; both have the same eigenvalues.
    wide = A.shape[1] > A.shape[0]
    sizes, modes = np.linalg.eigh(A @ A.T if wide else A.T @ A)
    along, across = (Y, B @ A.T) if wide else (A.T @ Y, B)
    along, across = modes.T @ along, across @ modes
    unit = max(float(np.maximum(sizes, 0.0).sum()) / len(A), np.finfo(float).tiny)
    lost, right = [], []
    for penalty in PENALTIES:
        scaled = along / (np.maximum(sizes, 0.0) + penalty * unit)[:, None]
        predicted = share + across @ scaled
        lost.append(((predicted - targets[truth]) ** 2).sum(axis=1))
        right.append(predicted.argmax(axis=1) == truth)
    return Fit(np.stack(lost), np.stack(right))
