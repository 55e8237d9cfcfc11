"""Many graphs in one call give what they give one by one."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill.pyg import FeaturePropagation  # noqa: E402

NAN = float("nan")

# Graphs are listed one way here, for brevity.
pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.SymmetrizedWarning")


def graphs(count=25, dtype=torch.float32, gaps=False):
    torch.manual_seed(0)
    made = []
    for number in range(count):
        n = 3 + number % 9
        ring = torch.stack([torch.arange(n), torch.arange(1, n + 1) % n])
        x = torch.randn(n, 4, dtype=dtype) + number
        x[torch.rand(n, 4) < 0.5] = NAN
        x[0] = float(number)
        if gaps and number % 5 == 0:
            x[:, 1] = NAN
        made.append(Data(x=x, edge_index=ring))
    return made


@pytest.mark.parametrize("backend", ["cpu", "torch"])
def test_diffusion_gives_the_same_bits(backend):
    listed = graphs()
    transform = FeaturePropagation(backend=backend)
    together = transform(Batch.from_data_list(listed)).to_data_list()
    for one, part in zip(listed, together, strict=True):
        assert torch.equal(transform(one).x, part.x)


@pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
@pytest.mark.parametrize("unreached", ["zero", "mean", "nan"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["diffusion", "exact"])
def test_means_are_those_of_each_graph(unreached, shrinkage, solver):
    listed = graphs(dtype=torch.float64, gaps=True)
    transform = FeaturePropagation(
        normalization="rw", solver=solver, shrinkage=shrinkage, unreached=unreached
    )
    together = transform(Batch.from_data_list(listed)).to_data_list()
    for one, part in zip(listed, together, strict=True):
        assert torch.allclose(transform(one).x, part.x, atol=1e-8, equal_nan=True)
        known = ~one.x.isnan()
        assert torch.equal(part.x[known], one.x[known])


def test_unreached_cells_of_a_batch_are_said_once():
    listed = graphs(gaps=True)
    with pytest.warns(gf.UnreachedWarning, match="filled with the column mean") as said:
        FeaturePropagation(unreached="mean")(Batch.from_data_list(listed))
    assert len([w for w in said if w.category is gf.UnreachedWarning]) == 1


def test_graphs_of_quite_another_size_of_values():
    """The limit of a small-valued graph does not drown in the rounding of a large-valued one."""
    torch.manual_seed(0)
    n = 80
    path = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
    listed = []
    for size in (1e6, 1.0, 1e-3):
        x = size * (1.0 + torch.rand(n, 3))
        x[torch.rand(n, 3) < 0.7] = NAN
        listed.append(Data(x=x, edge_index=path))
    transform = FeaturePropagation(normalization="rw", solver="exact")
    together = transform(Batch.from_data_list(listed)).to_data_list()
    for one, part in zip(listed, together, strict=True):
        assert torch.allclose(transform(one).x, part.x, rtol=1e-4)
