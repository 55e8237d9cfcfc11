"""The graphs, matrices and tables that the runs work on: small, made up, the same every time."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

import graphfill as gf

START = dt.datetime(2020, 1, 1)
CITIES = ("Ashford", "Brook", "Carrow", "Dunmere")


def edges_of(n: int, seed: int = 0) -> np.ndarray:
    """A ring whose nodes also know one or two a few steps on, and some far away: [2, edges]."""
    rng = np.random.default_rng([seed, n])
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    near = rng.integers(0, n, n)
    far = rng.integers(0, n, n // 8)
    ends = [ring, [near, (near + rng.integers(2, 6, n)) % n], [far, rng.integers(0, n, n // 8)]]
    return np.concatenate(ends, axis=1)


def graph_of(n: int, seed: int = 0, weighted: bool = False, decades: float = 1.0) -> gf.Graph:
    """The same as a Graph; weights span so many powers of ten."""
    edges = edges_of(n, seed)
    weight = None
    if weighted:
        weight = 10.0 ** (decades * np.random.default_rng(seed).random(edges.shape[1]))
    return gf.Graph.from_edges(edges, n_nodes=n, weight=weight)


def matrix_of(
    n: int, columns: int, seed: int = 0, dtype: str = "float64", share: float = 0.5
) -> np.ndarray:
    """Waves along the ring with some noise, and a share of cells missing."""
    rng = np.random.default_rng([seed, n, columns])
    turns = np.arange(n)[:, None] / n * 2 * np.pi * rng.integers(1, 4, columns)
    X = (np.sin(turns) * 3 + 2 + 0.3 * rng.standard_normal((n, columns))).astype(dtype)
    X[rng.random(X.shape) < share] = np.nan
    return X


def problem(
    n: int = 150, columns: int = 5, seed: int = 0, dtype: str = "float64", **weights: Any
) -> tuple[np.ndarray, gf.Graph]:
    """A matrix and its graph."""
    return matrix_of(n, columns, seed, dtype), graph_of(n, seed, **weights)


def islands(sizes: tuple[float, ...], n: int = 90, columns: int = 3) -> tuple[np.ndarray, gf.Graph]:
    """Components of n nodes each, whose values are of these sizes."""
    X = [matrix_of(n, columns, seed) * size for seed, size in enumerate(sizes)]
    edges = [edges_of(n, seed) + seed * n for seed in range(len(sizes))]
    graph = gf.Graph.from_edges(np.concatenate(edges, axis=1), n_nodes=n * len(sizes))
    return np.concatenate(X), graph


def lonely(n: int = 100, columns: int = 3, dtype: str = "float64") -> tuple[np.ndarray, gf.Graph]:
    """A graph with isolated nodes, and a component that knows nothing of the first column."""
    X = matrix_of(n + 30, columns, 7, dtype)
    X[-10:] = np.nan
    X[n:, 0] = np.nan
    edges = np.concatenate([edges_of(n, 7), edges_of(20, 7) + n], axis=1)
    return X, gf.Graph.from_edges(edges, n_nodes=n + 30)


def people(n: int = 200, seed: int = 0, texts: bool = False) -> dict[str, list[Any]]:
    """Columns of every kind, None where missing, rows in the order of their ids.

    By default there are enough of them to hold some cells out; heights are next to chance.
    """
    rng = np.random.default_rng([seed, n, 1])
    place = np.sin(np.arange(n) / n * 2 * np.pi)
    noise = rng.standard_normal((6, n))
    ids = [f"p{i:04d}" for i in range(n)] if texts else list(range(n))
    cells = {
        "age": (45 + 25 * place + 3 * noise[0]).round().astype(int).tolist(),
        "height": (1.7 + 0.2 * place + 0.3 * noise[1]).round(2).tolist(),
        "income": (30_000 * np.exp(place + 0.1 * noise[2])).tolist(),
        "member": (place + 0.3 * noise[3] > 0).tolist(),
        "city": [CITIES[int(k)] for k in np.clip(1.9 * place + 2 + 0.2 * noise[4], 0, 3)],
        "joined": [(START + dt.timedelta(int(d))).date() for d in 900 * place + 20 * noise[5]],
        "seen": [START + dt.timedelta(minutes=int(m)) for m in 5e5 * place + 1e4 * noise[0]],
        "worked": [dt.timedelta(seconds=int(s)) for s in 4e6 + 3e6 * place + 1e5 * noise[1]],
    }
    table: dict[str, list[Any]] = {"person": ids}
    for name, column in cells.items():
        lost = rng.random(n) < 0.3
        table[name] = [None if gone else cell for gone, cell in zip(lost, column, strict=True)]
    return table


def friends(n: int = 200, seed: int = 0, texts: bool = False) -> dict[str, list[Any]]:
    """Who knows whom among those people, and how well."""
    source, target = edges_of(n, seed)
    closeness = np.random.default_rng(seed).integers(1, 9, len(source))
    ids = [f"p{i:04d}" for i in range(n)] if texts else list(range(n))
    return {
        "person": [ids[i] for i in source],
        "friend": [ids[i] for i in target],
        "closeness": closeness.tolist(),
    }


def shuffled(table: dict[str, list[Any]], seed: int = 0) -> dict[str, list[Any]]:
    """The same rows in another order."""
    n = len(next(iter(table.values())))
    order = np.random.default_rng(seed).permutation(n).tolist()
    return {name: [column[i] for i in order] for name, column in table.items()}
