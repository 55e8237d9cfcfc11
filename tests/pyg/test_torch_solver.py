"""The torch solver against the CPU kernels."""

import numpy as np
import pytest
from reference import adjacency, closed_form

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill import errors  # noqa: E402
from graphfill.pyg import FeaturePropagation  # noqa: E402
from graphfill.pyg import _torch_solver as torch_solver  # noqa: E402

NAN = float("nan")

# Graphs are listed one way here, for brevity.
pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.SymmetrizedWarning")


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


@pytest.mark.parametrize("size", [1e-25, 1e-12, 1.0, 1e12, 1e25])
def test_a_residual_that_claims_convergence_is_the_true_one(size):
    """Squares of 1e-25 are zero in float32, and those of 1e25 infinite."""
    n, rng = 300, np.random.default_rng(0)
    graph = gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), weight=rng.random(n - 1) + 0.1)
    X = np.full((n, 2), np.nan, dtype=np.float32)
    X[[0, 100, -1]] = size * np.array([[1, 3], [5, 2], [2, 0]])
    x = torch.tensor(X)
    result = torch_solver.propagate_torch(
        x, graph, missing=x.isnan(), normalization="rw", solver="exact"
    )
    assert result.converged
    assert result.n_iter > 1
    A, filled = adjacency(graph), result.X.double().numpy() / size
    d = A.sum(axis=1)
    missing = np.isnan(X[:, 0])
    start = np.where(missing[:, None], np.nanmean(X / size, axis=0), filled)

    def norm(Z):
        r = (A @ Z - d[:, None] * Z)[missing]
        return np.sqrt((r**2 / d[missing, None]).sum(axis=0))

    # What rounding the answer to float32 leaves, beside the tolerance.
    assert (norm(filled) <= 1e-6 * norm(start) + 1e-6 * np.sqrt(d.sum())).all()
    expected = closed_form(A, X.astype(float) / size, "rw")
    np.testing.assert_allclose(filled, expected, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("normalization", ["sym", "rw"])
def test_components_of_quite_another_size_are_as_exact(dtype, normalization):
    n, rng = 80, np.random.default_rng(1)
    links = np.concatenate([np.arange(n - 1), n + np.arange(n - 1)])
    graph = gf.Graph.from_edges(links, links + 1)
    X = 1.0 + rng.random((2 * n, 3))
    X[n:] *= 1e6
    X[rng.random(X.shape) < 0.7] = np.nan
    x = torch.tensor(X, dtype=dtype)
    options = {"normalization": normalization, "solver": "exact"}
    filled = torch_solver.propagate_torch(x, graph, missing=x.isnan(), **options).X.numpy()
    expected = closed_form(adjacency(graph), x.double().numpy(), normalization)
    tol = 1e-4 if dtype is torch.float32 else 1e-8
    for part in (slice(0, n), slice(n, None)):
        size = np.abs(expected[part]).max()
        assert np.abs(filled[part] - expected[part]).max() <= tol * size


def test_weakly_tied_parts_stay_within_the_range_of_known_values():
    """Weights 18 decades apart are more than float64 resolves."""
    n = 100
    weight = np.full(n - 1, 1.0)
    weight[[0, -1]] = 1e-18
    graph = gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), weight=weight)
    x = torch.full((n, 1), NAN, dtype=torch.float64)
    x[0], x[-1] = 1.0, 2.0
    with pytest.warns(errors.ConvergenceWarning, match="span 18 decades") as caught:
        result = torch_solver.propagate_torch(
            x, graph, missing=x.isnan(), normalization="rw", solver="exact"
        )
    assert caught[0].filename == __file__
    assert 1.0 <= result.X.min() <= result.X.max() <= 2.0
