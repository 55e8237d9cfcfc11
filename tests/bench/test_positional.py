"""Positional encodings against dense eigenvectors."""

import numpy as np
import pytest
from reference import data_set

from graphfill import Graph
from graphfill.bench import _data as data
from graphfill.bench._models.featureless import encode, unit_rows
from graphfill.bench._models.gcn import normalized_adjacency


def test_encodings_are_the_lowest_eigenvectors_of_cora():
    data_set("cora")
    graph = data.load("cora").graph
    U = encode(graph, k=20).astype(np.float64)
    L = np.eye(graph.n_nodes) - normalized_adjacency(graph, dtype=np.float64).toarray()
    lowest = np.linalg.eigvalsh(L)[:20]
    np.testing.assert_allclose(U.T @ U, np.eye(20), atol=1e-5)
    np.testing.assert_allclose(np.diag(U.T @ L @ U), lowest, atol=1e-6)
    np.testing.assert_allclose(L @ U, U * lowest, atol=1e-6)
    # The first one is that of eigenvalue zero: the roots of the degrees.
    roots = np.sqrt(graph.degrees())
    np.testing.assert_allclose(U[:, 0], roots / np.linalg.norm(roots), atol=1e-6)
    assert (np.take_along_axis(U, np.abs(U).argmax(axis=0)[None], axis=0) > 0).all()


def test_the_start_vector_decides_nothing_but_rounding():
    data_set("cora")
    graph = data.load("cora").graph
    first = encode(graph, seed=3)
    np.testing.assert_array_equal(first, encode(graph, seed=3))
    np.testing.assert_allclose(first, encode(graph, seed=4), atol=1e-5)


def test_rows_of_unit_length_keep_their_direction_however_small_they_are():
    rows = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    sizes = np.logspace(-30, 3, 50, dtype=np.float32)[:, None]
    scaled = unit_rows(rows * sizes)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(scaled, unit_rows(rows), rtol=1e-5)


@pytest.mark.parametrize("n_nodes", [3, 30, 90])
def test_small_graphs(n_nodes):
    nodes = np.arange(n_nodes - 1)
    path = Graph.from_edges(nodes, nodes + 1)
    U = encode(path, k=20)
    assert U.shape == (n_nodes, 20)
    assert np.isfinite(U).all()
    filled = min(n_nodes, 20)
    np.testing.assert_allclose((U**2).sum(axis=0), np.arange(20) < filled, atol=1e-5)


def test_nodes_without_an_edge():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], n_nodes=5)
    S = normalized_adjacency(graph).toarray()
    assert not S[3:].any()
    np.testing.assert_allclose(S[:3, :3].sum(axis=1), 1.0)
    looped = normalized_adjacency(graph, self_loops=True).toarray()
    np.testing.assert_allclose(np.diag(looped), [1 / 3, 1 / 3, 1 / 3, 1.0, 1.0], rtol=1e-6)
    assert np.isfinite(encode(graph, k=3)).all()
