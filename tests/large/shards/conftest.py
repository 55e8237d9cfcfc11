"""One engine of each kind for all tests, and the problem they solve."""

from contextlib import closing

import numpy as np
import pytest

import graphfill as gf
from graphfill.large._engines import DaskEngine, LocalEngine


class Here:
    """The least an engine can be: this process."""

    def map(self, function, jobs, tick=None):
        results = []
        for job in jobs:
            results.append(function(job))
            if tick is not None:
                tick()
        return results

    def close(self):
        raise AssertionError("an engine that was handed in is its owner's to close")


@pytest.fixture
def here():
    return Here()


@pytest.fixture(scope="session")
def local():
    with closing(LocalEngine(2)) as engine:
        yield engine


@pytest.fixture(scope="session")
def dask():
    pytest.importorskip("distributed")
    with closing(DaskEngine(workers=2)) as engine:
        yield engine


@pytest.fixture
def engine(request):
    return request.getfixturevalue(request.param)


def make_problem(dtype="float64", weighted=False, whole_rows=False, n=700, columns=7, seed=0):
    """A graph of one large component and some small ones, a few loops, most cells missing."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate(
        [rng.integers(0, n - 20, (2, 4 * n)), [np.arange(n - 10, n - 1), np.arange(n - 9, n)]],
        axis=1,
    )
    weight = rng.random(ends.shape[1]) + 0.1 if weighted else None
    graph = gf.Graph.from_edges(ends, n_nodes=n, weight=weight, self_loops=True)
    X = rng.standard_normal((n, columns)).astype(dtype)
    X[rng.random((n, 1) if whole_rows else X.shape) * np.ones(columns) < 0.6] = np.nan
    X[n - 12 : n - 8] = np.nan  # two isolated nodes, and the end of a path
    X[n - 10 : n, 0] = np.nan  # a component that knows nothing of the first column
    return graph, X


@pytest.fixture
def problem():
    return make_problem
