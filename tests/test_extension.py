"""The compiled extension's own guards; left out where it is not installed."""

import numpy as np
import pytest

from graphfill import _kernels


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
