"""The guards of the extension that networks are trained with; it needs no torch."""

import numpy as np
import pytest

layers = pytest.importorskip("graphfill.bench._layers")


def test_blocks_that_do_not_fit_are_refused():
    f32 = np.float32
    indptr, indices, weights = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, f32)
    H, out = np.ones((2, 3), f32), np.empty((2, 3), f32)
    layers.product(indptr, indices, weights, H, out, 3, 0, 2)
    drawn = np.zeros(6, np.uint16)
    layers.rectify(H, drawn, 1, 2.0, None, out, None, 0, 0, 6)
    layers.rectify_gradient(H, None, None, out, 2.0, out.copy(), None, 0, 0, 6)
    for refused in (
        lambda: layers.product(indptr, indices, None, H, out, 3, 0, 2),
        lambda: layers.product(indptr, indices, weights[:1], H, out, 3, 0, 2),
        lambda: layers.product(indptr, indices, weights, H, out, 4, 0, 2),
        lambda: layers.product(indptr, indices, weights, H, out, 3, 0, 3),
        lambda: layers.product(indptr, indices, weights, H.astype(float), out, 3, 0, 2),
        lambda: layers.rectify(H, drawn[:5], 1, 2.0, None, out, None, 0, 0, 6),
        lambda: layers.rectify(H, drawn, 1, 2.0, H, out, None, 6, 0, 6),
        lambda: layers.rectify(H, drawn, 1, 2.0, H, out, out.copy(), 7, 0, 6),
        lambda: layers.rectify_gradient(H, H, None, out, 2.0, out[:1].copy(), None, 6, 0, 6),
        lambda: layers.rectify_gradient(H, H, H, out, 2.0, out.copy(), None, 6, 4, 2),
    ):
        with pytest.raises((ValueError, TypeError, BufferError)):
            refused()
