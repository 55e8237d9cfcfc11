"""The inverses of rows' blocks: those of NumPy, with and without a compiler."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfill import kernels
from graphfill.kernels import _blocks
from graphfill.kernels import _scipy as scipy_kernels


def matrices(p, rng):
    for _ in range(2):
        B = rng.standard_normal((p, 2 * p))
        yield B @ B.T / p


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(0, 30), st.integers(0, 3), st.integers(0, 10**6))
def test_each_row_gets_the_inverse_of_its_part(p, n, n_beyond, seed):
    rng = np.random.default_rng(seed)
    omega, theta = matrices(p, rng)
    m = rng.integers(1, p + 1)
    cells = np.array([np.sort(rng.permutation(p)[:m]) for _ in range(n)], int).reshape(n, m)
    padded = np.column_stack([cells, np.tile(p + np.arange(n_beyond), (n, 1))])
    degree = 3.0 * rng.random(n)
    found = kernels.invert_blocks(padded, degree, omega, theta, np.float64)
    for row, own in enumerate(cells):
        block = (omega + degree[row] * theta)[np.ix_(own, own)]
        np.testing.assert_allclose(found[row, :m, :m], np.linalg.inv(block), rtol=1e-7, atol=1e-9)
        rest = np.eye(m + n_beyond)
        rest[:m, :m] = found[row, :m, :m]
        np.testing.assert_array_equal(found[row], rest)
    single = kernels.invert_blocks(padded, degree, omega, theta, np.float32, threads=2)
    np.testing.assert_array_equal(single, found.astype(np.float32))


def test_the_same_without_a_compiler(monkeypatch):
    rng = np.random.default_rng(0)
    omega, theta = matrices(7, rng)
    cells = np.array([[0, 3, 5, 7], [1, 2, 4, 6]])
    degree = np.array([0.0, 2.5])
    here = kernels.invert_blocks(cells, degree, omega, theta, np.float64)
    monkeypatch.setattr(_blocks, "loops", scipy_kernels)
    plain = kernels.invert_blocks(cells, degree, omega, theta, np.float64)
    np.testing.assert_allclose(plain, here, rtol=1e-9, atol=1e-12)


def test_channels_that_repeat_each_other_leave_the_rest_as_it_is():
    omega = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
    found = kernels.invert_blocks(np.array([[0, 1, 2]]), np.zeros(1), omega, 0 * omega, np.float64)
    assert np.isfinite(found).all()
    assert found[0].diagonal().min() > 0
    np.testing.assert_allclose(found[0, 2], [0.0, 0.0, 0.25])
