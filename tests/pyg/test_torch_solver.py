"""The torch solver against the CPU kernels."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

from graphfill import errors  # noqa: E402
from graphfill.pyg import FeaturePropagation  # noqa: E402
from graphfill.pyg import _torch_solver as torch_solver  # noqa: E402

NAN = float("nan")


def sparse_data(dtype, n=300, columns=9):
    """A weighted graph of several components, some of which know nothing of some columns."""
    torch.manual_seed(3)
    x = torch.randn(n, columns, dtype=dtype) + 2.0
    x[torch.rand(n, columns) < 0.8] = NAN
    edges = torch.randint(0, n, (2, 320))
    return Data(x=x, edge_index=edges, w=torch.rand(320) + 0.1)


@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("solver", ["diffusion", "chebyshev", "exact"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalization": "rw", "unreached": "mean"},
        {"normalization": "rw", "shrinkage": 0.3, "edge_weight": "w"},
        {"shrinkage": 0.1, "self_loops": True, "unreached": "nan"},
    ],
)
def test_torch_agrees_with_the_kernels(dtype, solver, options):
    data = sparse_data(dtype)
    on_cpu = FeaturePropagation(solver=solver, backend="cpu", **options)(data).x
    in_torch = FeaturePropagation(solver=solver, backend="torch", **options)(data).x
    assert in_torch.dtype is dtype
    assert torch.allclose(in_torch, on_cpu, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_blocks_of_columns_change_nothing(monkeypatch):
    data = sparse_data(torch.float64)
    transform = FeaturePropagation(solver="exact", normalization="rw", backend="torch")
    with pytest.warns(match="cannot be inferred"):
        whole = transform(data).x
    monkeypatch.setattr(torch_solver, "BLOCK_CELLS", 600)  # two columns at a time
    with pytest.warns(match="cannot be inferred"):
        assert torch.allclose(transform(data).x, whole, rtol=0, atol=1e-8)


def test_infinite_cells_and_wrong_counts_are_refused():
    x = torch.tensor([[1.0], [NAN], [float("inf")]])
    path = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match="row 2, column 0 is infinite"):
        FeaturePropagation(backend="torch")(Data(x=x, edge_index=path))
    hidden = torch.tensor([[False], [True], [True]])
    for backend in ("torch", "cpu"):  # a cell that is missing may hold anything
        within = FeaturePropagation(hidden, normalization="rw", backend=backend, solver="exact")
        assert torch.allclose(within(Data(x=x, edge_index=path)).x, torch.ones(3, 1))
    A = torch.eye(4).to_sparse_csr()
    with pytest.raises(ValueError, match=r"3 row.* but the graph has 4"):
        FeaturePropagation(backend="torch")(Data(x=x[:3].nan_to_num(0, 0, 0), adj_t=A))


def test_weights_of_any_size_and_far_apart():
    """1e-50 is no float32 at all; 1e-6 beside 1 needs float64 to be solved."""
    path = torch.stack([torch.arange(99), torch.arange(1, 100)])
    data = Data(x=torch.full((100, 1), NAN), edge_index=path)
    data.x[0], data.x[99] = 0.0, 1.0
    options = {"normalization": "rw", "solver": "exact", "edge_weight": "w", "backend": "torch"}
    for size in (1e-50, 1.0):
        data.w = torch.full((99,), size, dtype=torch.float64)
        data.w[0], data.w[98] = 1e-6 * size, 3e-6 * size
        filled = FeaturePropagation(**options)(data).x
        assert filled.dtype is torch.float32
        assert filled[50].item() == pytest.approx(0.75, abs=1e-4)


def test_a_tolerance_beyond_any_float():
    data = Data(x=torch.tensor([[0.0], [NAN], [1.0]], dtype=torch.float64))
    data.edge_index = torch.tensor([[0, 1], [1, 2]])
    options = {"normalization": "rw", "solver": "exact", "backend": "torch"}
    assert FeaturePropagation(tol=1e-200, **options)(data).x[1].item() == 0.5
    with pytest.raises(errors.InputError, match=r"Column 0 holds numbers of up to 1\.0e-165"):
        FeaturePropagation(**options)(Data(x=data.x * 1e-165, edge_index=data.edge_index))


@pytest.mark.parametrize("solver", ["diffusion", "chebyshev", "exact"])
def test_numbers_too_large_to_add_up_are_refused(solver):
    x = torch.tensor([[3e38], [3e38], [3e38], [NAN]])
    star = torch.tensor([[0, 1, 2], [3, 3, 3]])
    options = {"normalization": "rw", "solver": solver}
    with pytest.raises(errors.InputError, match=r"Column 0 holds numbers of up to 3\.0e\+38"):
        FeaturePropagation(backend="torch", **options)(Data(x=x, edge_index=star))
    hidden = torch.tensor([[False], [True], [True], [True]])  # a missing cell may hold anything
    x[0] = 1.0
    FeaturePropagation(hidden, backend="torch", **options)(Data(x=x, edge_index=star))
