"""The chosen input as a transform."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data, HeteroData  # noqa: E402
from torch_geometric.utils import to_undirected  # noqa: E402

import graphfill as gf  # noqa: E402
import graphfill.pyg as gp  # noqa: E402


def made(n=240):
    """Two classes with links inside them, a quarter of the nodes to train on."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    ends = 2 * rng.integers(0, n // 2, (2, 3 * n)) + np.arange(3 * n) % 2
    x = rng.normal(y[:, None], 2.0, (n, 4))
    x[rng.random(n) < 0.9] = np.nan
    part = rng.integers(0, 4, n)
    return Data(
        x=torch.tensor(x, dtype=torch.float32),
        edge_index=to_undirected(torch.tensor(ends), num_nodes=n),
        y=torch.tensor(y),
        train_mask=torch.tensor(part == 0),
        val_mask=torch.tensor(part == 1),
    )


def test_it_is_the_function():
    data = made()
    y = data.y.numpy()
    train, validation = (np.where(m, y, -1) for m in (data.train_mask, data.val_mask))
    expected = gf.network_input(
        data.x.numpy(), gf.Graph.from_pyg(data, self_loops=True), train, validation=validation
    )
    transform = gp.NetworkInput()
    filled = transform(data)
    assert torch.equal(filled.x, torch.from_numpy(expected.X))
    assert filled.x.dtype is torch.float32
    assert transform.chosen.judged_by == "validation labels"
    assert data.x.isnan().any()  # the data given are not changed


def test_labels_of_others_never_reach_the_input():
    data, rng = made(), torch.Generator().manual_seed(0)
    by_train = gp.NetworkInput(validation=None)
    first = by_train(data.clone()).x
    for _ in range(3):
        other = data.clone()
        rest = torch.where(~data.train_mask)[0]
        other.y[rest] = data.y[rest[torch.randperm(len(rest), generator=rng)]]
        assert torch.equal(by_train(other.clone()).x, first)
        test = torch.where(~data.train_mask & ~data.val_mask)[0]
        unseen = data.clone()
        unseen.y[test] = 1 - unseen.y[test]
        assert torch.equal(gp.NetworkInput()(unseen).x, gp.NetworkInput()(data.clone()).x)


def test_data_without_labels_or_masks():
    data = made()
    for name in ("y", "train_mask"):
        bare = data.clone()
        del bare[name]
        transform = gp.NetworkInput()
        transform(bare)
        assert transform.chosen.judged_by == "held-out cells"
    column = data.clone()
    column.y = data.y.reshape(-1, 1)
    assert torch.equal(gp.NetworkInput()(column).x, gp.NetworkInput()(data).x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_the_type_of_the_features_stays(dtype):
    data = made()
    data.x = data.x.to(dtype)
    filled = gp.NetworkInput()(data).x
    assert filled.dtype is dtype
    assert filled.isfinite().all()


def test_other_names_and_a_mask():
    data = made()
    data.z, data.cls, data.gone = data.x.nan_to_num(), data.y, data.x.isnan()
    named = gp.NetworkInput("z", label="cls", missing_mask="gone")(data.clone())
    assert torch.equal(named.z, gp.NetworkInput()(data.clone()).x)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"train_mask": torch.ones(240, 10, dtype=torch.bool)}, r"train_mask = data.train_mask\[:"),
        ({"train_mask": torch.arange(240)}, "'train_mask' has dtype torch.int64"),
        ({"y": torch.zeros(240, 3)}, "'y' has shape .* of nodes with several labels"),
        ({"x": torch.eye(240).to_sparse()}, "Sparse X cannot tell"),
    ],
)
def test_refusals(change, sentence):
    data = made()
    for name, value in change.items():
        setattr(data, name, value)
    with pytest.raises(gf.InputError, match=sentence):
        gp.NetworkInput()(data)


def test_what_is_no_single_graph_is_refused():
    with pytest.raises(gf.InputError, match="one graph but this Batch holds 2"):
        gp.NetworkInput()(Batch.from_data_list([made(), made()]))
    with pytest.raises(gf.InputError, match="NetworkInput fills Data, not HeteroData"):
        gp.NetworkInput()(HeteroData())
    data = made()
    data.x.requires_grad_()
    with pytest.warns(gf.GraphfillWarning, match="does not pass through the choice"):
        assert not gp.NetworkInput()(data).x.requires_grad


def test_it_prints_what_is_not_the_default():
    assert repr(gp.NetworkInput()) == "NetworkInput()"
    assert repr(gp.NetworkInput("z", train=None, seed=3)) == (
        "NetworkInput(attr='z', train=None, seed=3)"
    )
