"""ReLU, dropout and the maximum over layers: by the extension as by torch, bit for bit."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from graphfill.bench._models import products  # noqa: E402
from graphfill.bench._models.blocks import Block  # noqa: E402
from graphfill.bench._models.network import RectifiedDropout  # noqa: E402
from graphfill.bench._models.products import FixedMatrix  # noqa: E402

compiled_only = pytest.mark.skipif(
    not products.compiled(torch.ones(1)),
    reason="compares the extension with torch",
)


def block(n_rows, n_given):
    from scipy import sparse

    return Block(FixedMatrix(sparse.csr_array((n_rows, n_given), dtype=np.float32)))


def layers(p, seed=0):
    """Two activations with a product between them, and all that a later layer would read."""
    torch.manual_seed(seed)
    H = torch.randn(50, 7, requires_grad=True)
    W = torch.randn(7, 7, requires_grad=True)
    dropout = RectifiedDropout(p)
    dropout.reseed(seed)
    first, highest = dropout.jumping(H, None, block(40, 50))
    second, higher = dropout.jumping(first[:40] @ W, highest, block(30, 40))
    _, most = dropout.jumping(second[:30] @ W, higher)
    weights = [torch.randn_like(tensor) for tensor in (first, second, most)]
    sum((a * b).sum() for a, b in zip((first, second, most), weights, strict=True)).backward()
    assert (len(highest), len(higher), len(most)) == (40, 30, 30)
    return [t.detach() for t in (first, highest, second, higher, most, H.grad, W.grad)]


@compiled_only
@pytest.mark.parametrize("p", [0.5, 0.3, 0.999])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_extension_and_torch_agree_to_the_bit(p, threads, monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        compiled = layers(p)
        monkeypatch.setattr(products, "_layers", None)
        plain = layers(p)
    finally:
        torch.set_num_threads(before)
    for ours, torchs in zip(compiled[:5], plain[:5], strict=True):
        assert torch.equal(ours, torchs)
    for ours, torchs in zip(compiled[5:], plain[5:], strict=True):
        torch.testing.assert_close(ours, torchs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_highest_is_that_of_what_was_kept(dtype):
    dropout = RectifiedDropout(0.5)
    dropout.reseed(3)
    previous = torch.rand(60, 9, dtype=dtype)
    H = torch.randn(60, 9, dtype=dtype)
    out, highest = dropout.jumping(H, previous, block(25, 60))
    assert set((out / H.relu())[H > 0].unique().tolist()) == {0.0, 2.0}
    assert torch.equal(highest, torch.maximum(out, previous)[:25])
    quiet, highest = dropout.eval().jumping(H, previous)
    assert torch.equal(quiet, H.relu())
    assert torch.equal(highest, torch.maximum(H.relu(), previous))


def test_only_the_highest_entry_learns():
    dropout = RectifiedDropout(0.5)
    dropout.reseed(0)
    previous = torch.full((8, 8), 3.0, requires_grad=True)
    H = torch.linspace(-1, 2, 64).view(8, 8).requires_grad_()
    out, highest = dropout.jumping(H, previous)
    highest.sum().backward()
    above = out.detach() > 3
    assert 0 < int(above.sum()) < 64
    assert torch.equal(H.grad, 2.0 * above)
    assert torch.equal(previous.grad, (~above).float())


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_nothing_dropped_and_all_dropped(p):
    H = torch.randn(20, 5, requires_grad=True)
    out, highest = RectifiedDropout(p).jumping(H, None)
    assert torch.equal(out, H.relu() * (1 - p))
    highest.sum().backward()
    assert torch.equal(H.grad, (H > 0) * (1 - p))


def test_a_number_that_is_none_is_not_hidden():
    H = torch.full((50, 4), float("nan"))
    dropout = RectifiedDropout(0.5)
    dropout.reseed(0)
    assert dropout(H).isnan().any()


def test_blocks_that_do_not_lie_in_order_are_left_to_torch():
    dropout = RectifiedDropout(0.5)
    dropout.reseed(0)
    previous = torch.rand(7, 5).T.requires_grad_()
    H = torch.rand(5, 7, requires_grad=True)
    out, highest = dropout.jumping(H, previous)
    highest.sum().backward()
    assert torch.equal(previous.grad, (previous >= out).float())


def test_torch_may_have_another_default_type():
    torch.set_default_dtype(torch.float64)
    try:
        first, _ = layers(0.5)[:2]
        H = torch.rand(5, 7, dtype=torch.float32)
        _, highest = RectifiedDropout(0.5).jumping(H, H)
    finally:
        torch.set_default_dtype(torch.float32)
    assert (first.dtype, highest.dtype) == (torch.float64, torch.float32)
