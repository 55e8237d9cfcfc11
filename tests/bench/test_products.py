"""What is done otherwise for large graphs: compiled products, and rows in a near order."""

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

from classified_graph import classified_graph  # noqa: E402

from graphfill.bench._models import gcn, products  # noqa: E402
from graphfill.bench._models.blocks import receptive_field  # noqa: E402
from graphfill.bench._models.products import FixedMatrix  # noqa: E402
from graphfill.bench._problem import Setting  # noqa: E402
from graphfill.bench._train import fit, seeded  # noqa: E402

COMPILED = products.compiled(torch.ones(1))


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(products, "LARGE", 0)
    monkeypatch.setattr(products, "MANY", 0)


@pytest.mark.parametrize("shape", [(40, 300), (300, 40)])
@pytest.mark.parametrize("width", [1, 33, 64, 192])
def test_a_compiled_product_and_its_gradient_are_those_of_dense_matrices(
    shape, width, everything_is_large
):
    rng = np.random.default_rng(0)
    A = sparse.random_array(shape, density=0.1, format="csr", rng=rng, dtype=np.float32)
    H = torch.randn(shape[1], width, requires_grad=True)
    fixed = FixedMatrix(A)
    out = fixed @ H
    weight = torch.randn_like(out)
    (out * weight).sum().backward()
    assert (fixed._compiled is not None) == COMPILED
    dense = torch.from_numpy(A.toarray())
    torch.testing.assert_close(out, dense @ H.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(H.grad, dense.T @ weight, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not COMPILED, reason="it is what the extension multiplies")
def test_a_block_of_too_few_rows_is_refused(everything_is_large):
    A = FixedMatrix(sparse.csr_array(np.eye(2, dtype=np.float32)))
    with pytest.raises(ValueError, match="a matrix of 2 columns and a block of 1 rows"):
        A.product(torch.ones(1, 32))


def test_without_the_extension_torch_multiplies(everything_is_large, monkeypatch):
    monkeypatch.setattr(products, "_layers", None)
    fixed = FixedMatrix(sparse.csr_array(np.eye(3, k=1, dtype=np.float32)))
    H = torch.arange(96, dtype=torch.float32).view(3, 32)
    torch.testing.assert_close(fixed @ H, torch.cat([H[1:], torch.zeros(1, 32)]))
    assert fixed._compiled is None


def test_other_blocks_are_left_to_torch(everything_is_large):
    H = torch.ones(3, 32, dtype=torch.float64)
    fixed = FixedMatrix(sparse.csr_array(np.eye(3)))
    torch.testing.assert_close(fixed @ H, H)
    assert fixed._compiled is None


def test_a_field_in_another_order_has_the_same_rows():
    S = gcn.operator(classified_graph().dataset.graph)
    rank = np.random.default_rng(0).permutation(S.shape[0])
    rows = np.array([5, 2])
    plain, ranked = receptive_field(S, rows, 2), receptive_field(S, rows, 2, rank=rank)
    assert set(plain.rows) == set(ranked.rows)
    np.testing.assert_array_equal(ranked.rows[:2], rows)
    H = torch.randn(S.shape[0], 3)
    for field in (plain, ranked):
        given = H[field.rows]
        for block in field.blocks:
            given = block.matrix @ given
        torch.testing.assert_close(given, torch.from_numpy((S @ (S @ H.numpy()))[rows]))


def test_training_comes_to_the_same(everything_is_large, monkeypatch):
    problem = classified_graph(seed=5, dtype=np.float32)
    setting = Setting(hidden=32, n_layers=3, jumping="max", dropout=0.0, max_epochs=20)

    def trained():
        with seeded(0):
            network = gcn.network(problem.dataset.X, problem.dataset.graph, 3, setting)
        return fit(network, problem.dataset.y, problem.split, setting, seed=0)

    large = trained()
    monkeypatch.undo()
    small = trained()
    assert large.val_accuracy == pytest.approx(small.val_accuracy)
    assert (large.predictions == small.predictions).mean() > 0.99
