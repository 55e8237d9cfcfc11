"""The transform against PyG's own, and every form in which data may come."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric import transforms as T  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.utils import to_undirected  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill.pyg import FeaturePropagation  # noqa: E402

NAN = float("nan")


def random_data(seed=0, n=60, columns=5, missing=0.5, dtype=torch.float64, edges=150):
    """An undirected graph without gaps between its nodes, most cells of which are missing."""
    torch.manual_seed(seed)
    ring = torch.stack([torch.arange(n), torch.arange(1, n + 1) % n])
    edge_index = to_undirected(torch.cat([ring, torch.randint(0, n, (2, edges))], dim=1))
    x = torch.randn(n, columns).to(dtype)
    mask = torch.rand(n, columns) < missing
    mask[0] = False
    return Data(x=x, edge_index=edge_index), mask


def pygs(data, mask, steps=40):
    """PyG's answer; beyond float32 it only multiplies by weights of the same type."""
    weighted = data.clone()
    weighted.edge_weight = torch.ones(data.num_edges, dtype=data.x.dtype)
    return T.FeaturePropagation(mask, steps)(weighted).x


def holed(data, mask):
    data = data.clone()
    data.x = data.x.masked_fill(mask, NAN)
    return data


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("steps", [1, 7, 40])
def test_pygs_own_arguments_give_its_values(seed, steps):
    data, mask = random_data(seed, missing=0.3 + 0.15 * seed)
    theirs = pygs(data, mask, steps)
    ours = FeaturePropagation(mask, steps)(data).x
    assert (ours - theirs).abs().max() < 1e-6
    assert torch.equal(ours[~mask], data.x[~mask])


def test_pygs_values_on_the_largest_component_of_cora():
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        pytest.skip("needs GRAPHFILL_DATA")
    file = np.load(Path(folder) / "cora.npz", allow_pickle=False)
    edge_index = to_undirected(torch.from_numpy(file["edge_index"].astype(np.int64)))
    data = Data(x=torch.rand(2708, 12, dtype=torch.float64), edge_index=edge_index)
    data = T.LargestConnectedComponents()(data)
    assert data.num_nodes == 2485
    torch.manual_seed(1)
    mask = torch.rand(data.x.shape) < 0.9
    theirs = pygs(data, mask)
    assert (FeaturePropagation(mask)(data).x - theirs).abs().max() < 1e-6
    assert (FeaturePropagation()(holed(data, mask)).x - theirs).abs().max() < 1e-6


def test_nan_needs_no_mask_and_one_transform_fits_any_graph():
    transform = FeaturePropagation()
    for seed, n in ((0, 60), (1, 23)):
        data, mask = random_data(seed, n=n)
        expected = pygs(data, mask)
        assert (transform(holed(data, mask)).x - expected).abs().max() < 1e-6


def test_the_input_is_not_changed():
    data, mask = random_data()
    before = holed(data, mask)
    kept = before.clone()
    after = FeaturePropagation()(before)
    assert after is not before
    assert before.x.isnan().any()
    assert not after.x.isnan().any()
    assert torch.equal(before.x.nan_to_num(9.0), kept.x.nan_to_num(9.0))
    assert torch.equal(before.edge_index, kept.edge_index)


def test_the_functional_name_makes_ours_and_pygs_class_stays():
    from torch_geometric.data.datapipes import DatasetAdapter

    data, mask = random_data()
    (by_mask,) = DatasetAdapter([data]).feature_propagation(missing_mask=mask, num_iterations=9)
    (no_mask,) = DatasetAdapter([holed(data, mask)]).feature_propagation(num_iterations=9)
    assert T.FeaturePropagation.__module__.startswith("torch_geometric")
    for ours in (by_mask.x, no_mask.x):
        assert (ours - pygs(data, mask, 9)).abs().max() < 1e-6


def test_repr():
    mask = torch.tensor([[True, False], [False, False]])
    theirs = repr(T.FeaturePropagation(mask))
    assert theirs == "FeaturePropagation(missing_features=25.0%, num_iterations=40)"
    # As PyG prints its own, and then which cells these are.
    assert repr(FeaturePropagation(mask)).startswith(f"{theirs[:-1]}, missing_mask=bool[2, 2]:")
    exact = FeaturePropagation(solver="exact", normalization="rw", attr="z")
    assert repr(exact) == "FeaturePropagation(solver='exact', normalization='rw', attr='z')"


@pytest.mark.parametrize("form", ["adj_t csr", "adj_t coo", "adj_t csc", "edge_index coo"])
def test_sparse_tensors_are_read_like_edges(form):
    data, mask = random_data()
    data = holed(data, mask)
    expected = FeaturePropagation()(data).x
    name, layout = form.split()
    values = torch.full((data.num_edges,), 3.0)
    A = torch.sparse_coo_tensor(data.edge_index, values, (60, 60)).coalesce()
    A = {"coo": A, "csr": A.to_sparse_csr(), "csc": A.to_sparse_csc()}[layout]
    sparse = Data(x=data.x, num_nodes=60)
    sparse[name] = A
    assert torch.equal(FeaturePropagation(edge_weight=None)(sparse).x, expected)
    assert torch.allclose(FeaturePropagation()(sparse).x, expected)  # weights that are all alike


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_weights_beside_a_sparse_tensor_are_in_its_order(layout):
    """0 - ? - 1 with weights 1 and 9, listed the other way round where a layout allows."""
    ends = torch.tensor([[1, 2, 0, 1], [2, 1, 1, 0]])
    A = torch.sparse_coo_tensor(ends, torch.ones(4), (3, 3))
    A = {"coo": A, "csr": A.to_sparse_csr(), "csc": A.to_sparse_csc()}[layout]
    length = torch.tensor([9.0, 9.0, 1.0, 1.0] if layout == "coo" else [1.0, 1.0, 9.0, 9.0])
    data = Data(x=torch.tensor([0.0, NAN, 1.0]), adj_t=A, length=length)
    transform = FeaturePropagation(normalization="rw", solver="exact", edge_weight="length")
    assert transform(data).x[1].item() == pytest.approx(0.9)
    data.length = torch.ones(3)
    with pytest.raises(gf.InputError, match=r"shape \(3,\) but there are 4 edge"):
        transform(data)


@pytest.mark.slow  # needs a package that has no wheel for every torch
def test_a_sparse_tensor_of_torch_sparse():
    torch_sparse = pytest.importorskip("torch_sparse")
    data, mask = random_data()
    data = holed(data, mask)
    A = torch_sparse.SparseTensor.from_edge_index(data.edge_index, sparse_sizes=(60, 60))
    ours = FeaturePropagation()(Data(x=data.x, adj_t=A.t())).x
    assert torch.equal(ours, FeaturePropagation()(data).x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("backend", ["cpu", "torch"])
def test_dtypes_are_kept_and_known_cells_have_their_bits(dtype, backend):
    data, mask = random_data(dtype=dtype)
    filled = FeaturePropagation(backend=backend)(holed(data, mask)).x
    assert filled.dtype is dtype
    assert filled.device == data.x.device
    assert torch.equal(filled[~mask], data.x[~mask])
    wide = Data(x=data.x.double(), edge_index=data.edge_index)
    wide = FeaturePropagation(mask)(wide).x
    assert (filled.double() - wide).abs().max() < 4 * torch.finfo(dtype).eps * wide.abs().max()


def test_one_dimension_and_another_attribute():
    data, _ = random_data(columns=1)
    hidden = data.x[:, 0].clone()
    hidden[::3] = NAN
    expected = FeaturePropagation()(Data(x=hidden[:, None], edge_index=data.edge_index)).x
    data.age = hidden
    after = FeaturePropagation(attr="age")(data)
    assert after.age.shape == (60,)
    assert torch.equal(after.age, expected[:, 0])
    assert torch.equal(after.x, data.x)


def test_indicators_follow_the_columns():
    data, mask = random_data()
    plain = FeaturePropagation()(holed(data, mask)).x
    both = FeaturePropagation(add_indicator=True)(holed(data, mask)).x
    assert torch.equal(both, torch.cat([plain, mask.to(plain.dtype)], dim=1))


def test_options_are_those_of_propagate():
    data, mask = random_data()
    data = holed(data, mask)
    options = {"normalization": "rw", "self_loops": True, "shrinkage": 0.2, "unreached": "mean"}
    for solver in ("diffusion", "chebyshev", "exact"):
        expected = gf.propagate(
            data.x.numpy(), gf.Graph.from_pyg(data, self_loops=True), solver=solver, **options
        ).X
        ours = FeaturePropagation(solver=solver, **options)(data).x
        assert np.array_equal(ours.numpy(), expected)


def test_gradients_pass_through_diffusion_and_are_said_to_stop_at_the_kernels():
    data, mask = random_data(n=12, edges=20, columns=2)
    data.x = data.x.masked_fill(mask, NAN).requires_grad_()
    filled = FeaturePropagation(n_iter=5)(data).x
    filled[mask].sum().backward()
    gradient = data.x.grad
    assert not gradient.isnan().any()
    assert bool((gradient[mask] == 0).all())
    # The fill is linear in the known cells: moving one along moves the answer by its gradient.
    row, column = map(int, (~mask).nonzero()[0])
    moved = data.x.detach().clone()
    moved[row, column] += 1.0
    change = FeaturePropagation(n_iter=5)(Data(x=moved, edge_index=data.edge_index)).x - filled
    assert abs(float(change[mask].detach().sum() - gradient[row, column])) < 1e-9
    with pytest.warns(gf.GraphfillWarning, match="'x' requires a gradient") as caught:
        by_kernels = FeaturePropagation(backend="cpu")(data).x
    assert caught[0].filename == __file__
    assert not by_kernels.requires_grad


def test_options_are_attributes_by_their_own_names():
    transform = FeaturePropagation(solver="exact", tol=1e-3, threads=2, weights={"cites": 2.0})
    assert (transform.solver, transform.tol, transform.threads) == ("exact", 1e-3, 2)
    assert (transform.normalization, transform.unreached, transform.max_iter) == (
        "sym",
        "zero",
        10_000,
    )
    assert (transform.self_loops, transform.shrinkage) == (False, 0.0)
    assert (transform.weights, transform.shared, transform.like) == ({"cites": 2.0}, None, None)
    transform.solver, transform.num_iterations = "diffusion", 3
    again = pickle.loads(pickle.dumps(copy.deepcopy(transform)))
    assert repr(again) == repr(transform)
    assert repr(again).startswith("FeaturePropagation(num_iterations=3, ")
    assert again.options == transform.options
    with pytest.raises(AttributeError, match="no attribute 'sovler'"):
        _ = transform.sovler
