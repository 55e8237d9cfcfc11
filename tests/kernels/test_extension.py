"""The compiled extension's own guards; left out where it is not installed."""

import tracemalloc

import numpy as np
import pytest

from graphfill import kernels
from graphfill.kernels import _compiled as _kernels


def test_arrays_that_do_not_fit_are_refused():
    indptr, indices = np.array([0, 1]), np.array([0], dtype=np.int32)
    ones, known = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.uint8)
    tile = np.ones((1, 4), dtype=np.float32)

    def call(**changes):
        arguments = {
            "which": 0,
            "indptr": indptr,
            "indices": indices,
            "weights": None,
            "row": ones,
            "known": known,
            "z": tile,
            "out": tile.copy(),
            "source": None,
            "x": None,
            "factor": 0.0,
            "coefficient": 0.0,
            "lanes": None,
            "sums": None,
            "block_rows": 256,
            "width": 4,
            "lo": 0,
            "hi": 1,
        }
        _kernels.tile_pass(*(arguments | changes).values())

    call()
    for changes in (
        {"which": 99},
        {"width": 5},
        {"hi": 2},
        {"lo": -1},
        {"indptr": np.array([0, 2])},
        {"indptr": indptr.astype(np.int32)},
        {"out": tile[:, :2].copy()},
        {"known": np.zeros(0, dtype=np.uint8)},
        {"row": None},
    ):
        with pytest.raises((ValueError, TypeError, BufferError)):
            call(**changes)


def test_tiles_that_do_not_fit_are_not_packed():
    X, factor = np.ones((2, 9)), np.ones(2)

    def pack(z, bits):
        z, bits = np.empty(z), np.empty(bits, dtype=np.uint8)
        _kernels.pack(X, None, 9, 0, 9, None, factor, z, bits, 9, 0, 2)

    pack(18, 4)
    for sizes in ((17, 4), (18, 3), (18, 0)):
        with pytest.raises(ValueError, match=r"known|z"):
            pack(*sizes)


def test_a_graph_is_the_same_on_64_cores_and_takes_no_more_than_its_edges_call_for(monkeypatch):
    def built_on(cores, *edges):
        monkeypatch.setattr("graphfill.kernels._compiled_graphs.default_threads", lambda: cores)
        return [array.tobytes() for array in kernels.build_csr(*edges, "mean", False)]

    rng = np.random.default_rng(2)
    n, n_edges = 20_000, 100_000
    source, target, weights = *rng.integers(0, n, (2, n_edges)), rng.random(n_edges)
    alone = built_on(1, source, target, weights, n)
    tracemalloc.start()
    try:
        assert built_on(64, source, target, weights, n) == alone
        assert tracemalloc.get_traced_memory()[1] < 150 * n_edges
    finally:
        tracemalloc.stop()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, n_edges = int(rng.integers(1, 40)), int(rng.integers(0, 120))
        edges = *rng.integers(0, n, (2, n_edges)), rng.random(n_edges), n
        assert built_on(64, *edges) == built_on(1, *edges)
