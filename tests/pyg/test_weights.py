"""Edge weights: PyG's values, and gradients that pass to them."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric import transforms as T  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.utils import to_undirected  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill.pyg import FeaturePropagation  # noqa: E402

NAN = float("nan")


def weighted_data(n=40, columns=3, listed=80):
    """An undirected graph without isolated nodes, with weights, and a mask."""
    torch.manual_seed(0)
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    ends = torch.cat([ring, torch.randint(0, n, (2, listed))], dim=1)
    weights = torch.rand(ends.shape[1], dtype=torch.float64) * 3 + 0.01
    ends, weights = to_undirected(ends, weights)
    x = torch.randn(n, columns, dtype=torch.float64)
    mask = torch.rand(n, columns) < 0.7
    mask[0] = False
    return Data(x=x, edge_index=ends, edge_weight=weights), mask


def apart(one, other):
    return float((one - other).abs().max())


@pytest.mark.parametrize("steps", [1, 40])
def test_edge_weight_gives_pygs_values(steps):
    data, mask = weighted_data()
    theirs = T.FeaturePropagation(mask, steps)(data).x
    assert apart(FeaturePropagation(mask, steps)(data).x, theirs) < 1e-12
    assert apart(FeaturePropagation(mask, steps, edge_weight=None)(data).x, theirs) > 0.01
    # PyG adds up the weights of an edge that is listed twice.
    twice, order = data.clone(), torch.randperm(data.num_edges + 7)
    twice.edge_index = torch.cat([data.edge_index, data.edge_index[:, :7]], dim=1)[:, order]
    twice.edge_weight = torch.cat([data.edge_weight, data.edge_weight[:7]])[order]
    twice.edge_index, twice.edge_weight = (
        torch.cat([twice.edge_index, twice.edge_index.flip(0)], dim=1),
        torch.cat([twice.edge_weight, twice.edge_weight]),
    )
    theirs = T.FeaturePropagation(mask, steps)(twice).x
    assert apart(FeaturePropagation(mask, steps)(twice).x, theirs) < 1e-12


@pytest.mark.parametrize("layout", ["csr", "coo", "csc"])
def test_the_values_of_adj_t_give_pygs_values(layout):
    data, mask = weighted_data()
    A = torch.sparse_coo_tensor(data.edge_index, data.edge_weight, (40, 40)).coalesce()
    A = {"coo": A, "csr": A.to_sparse_csr(), "csc": A.to_sparse_csc()}[layout]
    by_matrix = Data(x=data.x, adj_t=A)
    theirs = T.FeaturePropagation(mask)(Data(x=data.x, adj_t=A.to_sparse_csr())).x
    assert apart(FeaturePropagation(mask)(by_matrix).x, theirs) < 1e-12
    assert apart(FeaturePropagation(mask, edge_weight=None)(by_matrix).x, theirs) > 0.01
    # Where the data have both, PyG reads edge_index.
    by_matrix.edge_index = data.edge_index
    theirs = T.FeaturePropagation(mask)(
        Data(x=data.x.float(), edge_index=data.edge_index, adj_t=A)
    ).x
    assert apart(FeaturePropagation(mask)(by_matrix).x, theirs) < 1e-5


def test_edge_weight_is_a_name():
    data, mask = weighted_data()
    with pytest.raises(gf.InputError, match="edge_weight is Tensor but must be the name"):
        FeaturePropagation(mask, edge_weight=data.edge_weight)
    data.edge_weight = data.edge_weight[:-1]
    with pytest.raises(gf.InputError, match=r"weights have shape \(\d+,\) but there are \d+ edge"):
        FeaturePropagation(mask)(data)


OPTIONS = [
    {"n_iter": 4},
    {"n_iter": 3, "normalization": "rw", "self_loops": True},
    {"solver": "exact"},
    {"solver": "exact", "normalization": "rw", "unreached": "mean"},
    {"solver": "exact", "self_loops": True},
    {"solver": "exact", "shrinkage": 0.3},
    {"solver": "exact", "shrinkage": 0.3, "normalization": "rw", "unreached": "mean"},
]


@pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")
@pytest.mark.parametrize("options", OPTIONS)
def test_gradients_are_those_of_finite_differences(options):
    """With isolated nodes, parts that know nothing, a loop, and edges listed one way or twice."""
    torch.manual_seed(1)
    ends = torch.cat([torch.randint(0, 10, (2, 22)), torch.tensor([[3, 11], [3, 12]])], dim=1)
    ends = torch.cat([ends, ends[:, :4], ends[:, 4:8].flip(0)], dim=1)
    weights = torch.rand(ends.shape[1], dtype=torch.float64) + 0.1
    x = torch.randn(14, 2, dtype=torch.float64)
    mask = torch.rand(14, 2) < 0.6
    mask[0], mask[10:] = False, True

    def fill(x, weights):
        return FeaturePropagation(mask, **options)(
            Data(x=x, edge_index=ends, edge_weight=weights)
        ).x

    given = x.requires_grad_(), weights.requires_grad_()
    assert torch.autograd.gradcheck(fill, given, atol=1e-6)
    by_kernels = fill(x.detach(), weights.detach())
    assert apart(fill(*given).detach(), by_kernels) < 1e-8


@pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")
@pytest.mark.parametrize("solver", ["diffusion", "exact"])
def test_gradients_through_a_batch(solver):
    data, mask = weighted_data(n=12, columns=2, listed=6)
    transform = FeaturePropagation(
        solver=solver, normalization="rw", shrinkage=0.2, unreached="mean", missing_mask="hidden"
    )
    alone = Data(x=data.x, edge_index=data.edge_index, edge_weight=data.edge_weight, hidden=mask)
    expected = []
    for graph in (alone, Batch.from_data_list([alone, alone])):
        graph = graph.clone()
        given = graph.x.requires_grad_(), graph.edge_weight.requires_grad_()
        transform(graph).x[:12].square().sum().backward()
        expected.append((given[0].grad[:12], given[1].grad[: data.num_edges]))
    for one, of_batch in zip(*expected, strict=True):
        assert one.abs().max() > 0.1
        assert torch.allclose(one, of_batch, atol=1e-7)


def test_gradients_of_float32_and_of_weights_of_any_size():
    data, mask = weighted_data()
    found = []
    for dtype, size in ((torch.float64, 1.0), (torch.float32, 1.0), (torch.float64, 2.0**60)):
        weights = (data.edge_weight * size).to(dtype).requires_grad_()
        one = Data(x=data.x.to(dtype), edge_index=data.edge_index, edge_weight=weights)
        filled = FeaturePropagation(mask, solver="exact", normalization="rw")(one).x
        filled[mask].square().sum().backward()
        found.append((weights.grad * size).double())
    for other in found[1:]:
        assert torch.allclose(other, found[0], rtol=1e-3, atol=1e-4)


def test_no_gradient_is_dropped_silently():
    data, mask = weighted_data()
    data.edge_weight.requires_grad_()
    with pytest.raises(
        gf.InputError, match=r"'edge_weight', through .* leave out backend='cpu', o"
    ):
        FeaturePropagation(mask, backend="cpu")(data)
    with torch.no_grad():
        assert not FeaturePropagation(mask, backend="cpu")(data).x.requires_grad
    ignored = FeaturePropagation(mask, backend="cpu", edge_weight=None)(data).x
    assert not ignored.requires_grad
    A = torch.sparse_coo_tensor(data.edge_index, data.edge_weight, (40, 40)).coalesce()
    with pytest.raises(
        gf.InputError, match=r"sparse adj_t, .*: pass edge_index and edge_weight, or"
    ):
        FeaturePropagation(mask)(Data(x=data.x, adj_t=A))
