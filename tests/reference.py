"""Dense formulas and small graphs that the tests compare with."""

import os
from pathlib import Path

import numpy as np
import pytest


def adjacency(graph):
    """The dense adjacency matrix of a Graph."""
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    A[rows, graph.indices] = 1.0 if graph.weights is None else graph.weights
    return A


def normalized(A, normalization):
    """S = D^-1/2 A D^-1/2 or P = D^-1 A, zero rows where the degree is zero."""
    d = A.sum(axis=1)
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
    if normalization == "rw":
        return inverse[:, None] * A
    return np.sqrt(inverse)[:, None] * A * np.sqrt(inverse)[None, :]


def unreached(A, X):
    """Missing cells whose component knows nothing of their column."""
    linked = ((A > 0) | np.eye(len(A), dtype=bool)).astype(float)
    for _ in range(int(np.ceil(np.log2(len(A) + 1)))):
        linked = (linked @ linked > 0).astype(float)
    return linked @ ~np.isnan(X) == 0


def closed_form(A, X, normalization, shrinkage=0.0, target=0.0):
    """x_u = ((1 + e) I - S_uu)^-1 (S_uk x_k + e m), column by column; 0 where unreached."""
    S = normalized(A, normalization)
    lost = unreached(A, X)
    filled = np.where(np.isnan(X), 0.0, X).astype(float)
    for c in range(X.shape[1]):
        k = ~np.isnan(X[:, c])
        u = ~k & ~lost[:, c]
        M = (1.0 + shrinkage) * np.eye(u.sum()) - S[np.ix_(u, u)]
        m = np.broadcast_to(target, X.shape[1])[c]
        filled[u, c] = np.linalg.solve(M, S[np.ix_(u, k)] @ filled[k, c] + shrinkage * m)
    return filled


def diffused(A, X, normalization, steps, start=None):
    """The paper's algorithm, as printed."""
    S = normalized(A, normalization)
    known = ~np.isnan(X)
    filled = np.where(known, X, 0.0 if start is None else start).astype(float)
    for _ in range(steps):
        filled = np.where(known, X, S @ filled)
    return filled


def data_folder():
    """The folder GRAPHFILL_DATA; without it the test is skipped."""
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        pytest.skip("set GRAPHFILL_DATA to the folder with the data sets to run this test")
    return Path(folder)


def data_set(name):
    """Arrays of a data set under GRAPHFILL_DATA."""
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as data:
        return {key: data[key] for key in data}


def dense_features(data):
    """The feature matrix of a data set as float32."""
    if "x" in data:
        return data["x"].astype(np.float32)
    X = np.zeros(data["x_shape"], dtype=np.float32)
    rows = np.repeat(np.arange(len(X)), np.diff(data["x_indptr"]))
    X[rows, data["x_indices"]] = data.get("x_data", 1.0)
    return X
