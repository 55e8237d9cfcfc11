"""Feature Propagation as a low-pass filter: the graph Fourier coefficients of what it fills.

With L = I - D^-1/2 A D^-1/2 = U diag(lambda) U^T the coefficients of the columns of X are U^T X:
small lambda are smooth signals, lambda near 2 change sign along every edge.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...graph._graph import Graph
from .._models.gcn import normalized_adjacency

Array = NDArray[np.float64]

RATES = (0.0, 0.5, 0.7, 0.9, 0.99)  # 0: the features themselves
WIDTH = 0.05  # of a bin; a drawn magnitude is the mean of those in one
TRIVIAL = 1e-9  # eigenvalues below are those of the constant signals D^1/2 1


@dataclass(frozen=True)
class Spectrum:
    """Coefficients by bin of eigenvalue, without the trivial ones, for each share missing."""

    lower: Array  # where each bin begins; empty bins are left out
    count: Array  # eigenvalues in the bin
    magnitude: dict[float, Array]  # by rate: mean over the bin and the columns of |U^T X|
    energy: dict[float, Array]  # by rate: sum over the bin and the columns of (U^T X)^2

    def low_share(self, rate: float) -> float:
        """The share of the energy below eigenvalue 1, the lower half of the spectrum."""
        energy = self.energy[rate]
        return float(energy[self.lower < 1 - WIDTH / 2].sum() / energy.sum())

    def csv(self) -> str:
        """One line per bin."""
        heads = [f"{what} {rate:g}" for what in ("magnitude", "energy") for rate in self.magnitude]
        columns = [self.lower, self.count, *self.magnitude.values(), *self.energy.values()]
        header = ",".join(["eigenvalue", "count", *heads])
        formats = ["%.2f", "%.0f", *["%.6g"] * len(heads)]
        target = io.StringIO()
        np.savetxt(target, np.column_stack(columns), formats, ",", header=header, comments="")
        return target.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> Spectrum:
        """What :meth:`csv` wrote."""
        head = text.partition("\n")[0].split(",")
        columns = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2).T
        parts: dict[str, dict[float, Array]] = {"magnitude": {}, "energy": {}}
        for name, column in zip(head[2:], columns[2:], strict=True):
            what, rate = name.split()
            parts[what][float(rate)] = column
        return cls(columns[0], columns[1], parts["magnitude"], parts["energy"])


def spectrum(graph: Graph, features: Mapping[float, NDArray[np.float32]]) -> Spectrum:
    """The spectrum of several matrices on one graph, small enough for a dense decomposition.

    A signal that changes sign along the only edge is all in the highest frequency, 2:

    >>> import numpy as np
    >>> of = spectrum(Graph.from_edges([0], [1]), {0.0: np.array([[1.0], [-1.0]], np.float32)})
    >>> of.lower.tolist(), of.energy[0.0].round(6).tolist()
    ([1.95], [2.0])
    """
    L = np.eye(graph.n_nodes) - normalized_adjacency(graph, dtype=np.float64).toarray()
    eigenvalues, U = linalg.eigh(L, overwrite_a=True, check_finite=False)
    kept = eigenvalues > TRIVIAL
    # Slightly to the right: eigenvalue 1 is exact on many graphs and belongs to the upper half.
    bins = np.minimum((eigenvalues[kept] + 1e-9) / WIDTH, 2 / WIDTH - 1).astype(int)
    filled, inverse = np.unique(bins, return_inverse=True)
    count = np.bincount(inverse).astype(np.float64)
    magnitude: dict[float, Array] = {}
    energy: dict[float, Array] = {}
    for rate, X in features.items():
        coefficients = (U.T @ X.astype(np.float64))[kept]
        magnitude[rate] = np.bincount(inverse, np.abs(coefficients).mean(axis=1)) / count
        energy[rate] = np.bincount(inverse, np.square(coefficients).sum(axis=1)).astype(np.float64)
    return Spectrum((filled * WIDTH).round(10), count, magnitude, energy)


def of_cora(rates: tuple[float, ...] = RATES, seed: int = 0) -> Spectrum:
    """Cora's largest component and what 40 steps of Feature Propagation make of it."""
    from .._data import load
    from .._draws import draw_mask
    from .._fills import FILLS

    dataset = load("cora")
    features = {}
    for rate in rates:
        X = dataset.dense()
        if rate:
            X[draw_mask(dataset, "uniform", rate, seed)] = np.nan
            X = FILLS["fp"](X, dataset.graph, seed)
        features[rate] = X
    return spectrum(dataset.graph, features)
