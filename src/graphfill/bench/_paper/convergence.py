"""Where Feature Propagation goes: how far its steps are from the limit, and from each other.

All distances are relative, in the norm of the hidden cells that something known is connected to.
Where all nodes have become alike ("oversmoothing"), columns are multiples of D^1/2 1, to which the
steps would lead if no cell were held.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np

from ...errors import ConvergenceWarning, UnreachedWarning
from ...solve._propagate import propagate
from .._data import load
from .._draws import draw_mask
from .._fills import STEPS
from .._problem import Dataset
from .._table import Table
from .experiments import TABLE_1_RATES
from .measured import TITLES, of_rate

MANY = 1_000  # steps
COLUMNS = ["set", "missing", f"{STEPS} steps", f"{MANY:,} steps", "another start, 40 steps",
           f"another start, {MANY:,} steps", "not alike, 40 steps", "not alike, limit"]  # fmt: skip


def convergence(sets: Collection[str], seed: int = 0) -> Table:
    """Distances to the limit, and between a start at 0 and one at random, of one mask each."""
    rows = []
    for name in sets:
        dataset = load(name)
        for rate in TABLE_1_RATES:
            rows.append([TITLES.get(name, name), of_rate(rate), *distances(dataset, rate, seed)])
    title = "Feature Propagation by steps: distance to its limit, and of two starts"
    return Table("convergence", title, COLUMNS, rows, dict.fromkeys(COLUMNS, 3))


def distances(dataset: Dataset, rate: float, seed: int) -> list[float]:
    """What a line of the table says, after the set and the rate."""
    X, graph = dataset.dense().astype(np.float64), dataset.graph
    hidden = draw_mask(dataset, "uniform", rate, seed)
    assert hidden is not None
    X[hidden] = np.nan
    start = np.random.default_rng(seed).standard_normal(X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a column, at the tenth digit
        limit = propagate(X, graph, solver="exact", tol=1e-8)
        cells = hidden & ~limit.unreached
        zero, other = (
            [
                propagate(X, graph, solver="chebyshev", n_iter=n, start=begin).X[cells]
                for n in (STEPS, MANY)
            ]
            for begin in (None, start)
        )

    def apart(one: np.ndarray, two: np.ndarray) -> float:
        return float(np.linalg.norm(one - two) / np.linalg.norm(two))

    def not_alike(values: np.ndarray) -> float:
        """The share of the energy that multiples of D^1/2 1 do not explain, column by column."""
        whole = np.zeros(X.shape)
        whole[cells] = values
        root = np.where(cells, np.sqrt(graph.degrees())[:, None], 0.0)
        along = (whole * root).sum(axis=0) ** 2 / np.maximum((root**2).sum(axis=0), 1e-300)
        return float(1.0 - along.sum() / (whole**2).sum())

    exact = limit.X[cells]
    return [
        *(apart(steps, exact) for steps in zero),
        *(apart(random, plain) for random, plain in zip(other, zero, strict=True)),
        not_alike(zero[0]),
        not_alike(exact),
    ]
