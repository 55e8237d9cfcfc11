"""What goes wrong quietly elsewhere: beside PyG's answer where that is instructive."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric import transforms as T  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.utils import to_undirected  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill.pyg import FeaturePropagation  # noqa: E402

NAN = float("nan")
PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])  # 0 - 1 - 2


def column(*cells):
    return torch.tensor(cells, dtype=torch.float64)[:, None]


def theirs(x, edge_index, **more):
    """What PyG gives, in float32: it multiplies nothing else by edges without weights."""
    data = Data(x=x.nan_to_num(0.0).float(), edge_index=edge_index, **more)
    return T.FeaturePropagation(x.isnan())(data).x.flatten().tolist()


def ours(x, edge_index, more=None, **options):
    data = Data(x=x, edge_index=edge_index, **(more or {}))
    return FeaturePropagation(**options)(data).x.flatten().tolist()


def test_an_isolated_node_and_a_component_without_a_known_cell_follow_the_policy():
    x = column(4.0, NAN, 8.0, NAN, NAN, NAN)  # node 3 is alone, 4 - 5 know nothing
    edges = torch.cat([PATH, torch.tensor([[4, 5], [5, 4]])], dim=1)
    assert theirs(x, edges)[3:] == [0.0, 0.0, 0.0]
    for policy, value in (("zero", 0.0), ("mean", 6.0)):
        with pytest.warns(gf.UnreachedWarning, match="3 of 4 missing cells"):
            filled = ours(x, edges, unreached=policy)
        assert filled[3:] == [value] * 3
    with pytest.warns(gf.UnreachedWarning, match="left NaN"):
        filled = ours(x, edges, unreached="nan")
    assert all(cell != cell for cell in filled[3:])


def test_a_directed_edge_goes_both_ways_or_is_refused():
    x, one_way = column(1.0, NAN, NAN), torch.tensor([[0, 1], [1, 2]])
    assert theirs(x, one_way)[1:] == [0.0, 0.0]  # its message is lost with its degree
    exact = {"normalization": "rw", "solver": "exact"}
    with pytest.warns(gf.SymmetrizedWarning, match="from 0 to 1 is not listed alike") as caught:
        assert ours(x, one_way, **exact) == [1.0, 1.0, 1.0]
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(gf.InputError, match="from 0 to 1 is not listed alike the other way"):
        ours(x, one_way, directed="refuse")
    assert ours(x, PATH, directed="refuse", **exact) == [1.0, 1.0, 1.0]


def test_nan_outside_the_mask_is_refused_with_its_cell():
    x = column(1.0, NAN, NAN)
    mask = torch.tensor([[False], [True], [False]])
    spread = T.FeaturePropagation(mask)(Data(x=x.float(), edge_index=PATH)).x
    assert spread[1].isnan()
    for backend in ("cpu", "torch"):
        with pytest.raises(gf.InputError, match=r"row 2, column 0 is NaN but missing_mask"):
            FeaturePropagation(mask, backend=backend)(Data(x=x, edge_index=PATH))
    with pytest.raises(gf.InputError, match=r"shape \(2, 1\) but X has shape \(3, 1\)"):
        FeaturePropagation(mask[:2])(Data(x=x, edge_index=PATH))
    with pytest.raises(gf.InputError, match="must be boolean"):
        FeaturePropagation(mask.float())(Data(x=x, edge_index=PATH))


def test_edge_attr_is_no_weight_unless_named():
    x, attr = column(0.0, NAN, 1.0), torch.tensor([1.0, 1.0, 3.0, 3.0])
    plain = theirs(x, PATH)
    assert theirs(x, PATH, edge_attr=attr) != plain  # taken for a weight, without a word
    assert ours(x, PATH, {"edge_attr": attr}) == pytest.approx(plain)
    exact = {"normalization": "rw", "solver": "exact"}
    assert ours(x, PATH, {"edge_attr": attr}, edge_weight="edge_attr", **exact)[1] == 0.75
    with pytest.raises(gf.InputError, match=r"from 1 to 2, has weight -3\.0"):
        ours(x, PATH, {"w": attr * torch.tensor([1, 1, -1, -1])}, edge_weight="w")
    with pytest.raises(gf.InputError, match="no attribute 'w'"):
        ours(x, PATH, edge_weight="w")


def test_float64_is_filled_as_it_is():
    x = column(1.0, NAN, 3.0)
    with pytest.raises(RuntimeError, match="Float but found Double"):
        T.FeaturePropagation(x.isnan())(Data(x=x, edge_index=PATH))
    assert FeaturePropagation()(Data(x=x, edge_index=PATH)).x.dtype is torch.float64


def test_negative_values_are_ordinary():
    assert ours(column(-3.0, NAN, -1.0), PATH, normalization="rw", solver="exact")[1] == -2.0


def test_integers_and_one_dimension():
    x = torch.tensor([2, 0, 4])
    mask = torch.tensor([False, True, False])
    with pytest.raises(Exception):  # noqa: B017, PT011 (whatever it is, it is no answer)
        T.FeaturePropagation(mask)(Data(x=x, edge_index=PATH))
    data = Data(x=x, edge_index=PATH)
    filled = FeaturePropagation(mask, normalization="rw")(data).x
    assert filled.tolist() == [2.0, 3.0, 4.0]
    assert FeaturePropagation()(data).x.tolist() == [2, 0, 4]  # nothing is missing
    with pytest.raises(gf.InputError, match="3 dimension"):
        FeaturePropagation()(Data(x=torch.zeros(3, 2, 2), edge_index=PATH))


@pytest.mark.parametrize("backend", ["cpu", "torch"])
def test_complete_integers_come_back_whatever_their_size(backend):
    x = torch.tensor([2**53 + 1, 0, 4])
    filled = FeaturePropagation(backend=backend)(Data(x=x, edge_index=PATH)).x
    assert filled.dtype is torch.int64
    assert torch.equal(filled, x)


@pytest.mark.parametrize("backend", ["cpu", "torch"])
def test_known_integers_that_no_float_holds_are_refused(backend):
    x, mask = torch.tensor([2**53 + 1, 0, 4]), torch.tensor([False, True, False])
    plain = FeaturePropagation(mask, backend=backend)
    # A batch is centred before it is solved.
    batch = Batch.from_data_list([Data(x=x, edge_index=PATH)] * 2)
    twice = torch.cat([mask, mask])
    centred = FeaturePropagation(twice, backend=backend, normalization="rw", shrinkage=0.1)
    for transform, data in ((plain, Data(x=x, edge_index=PATH)), (centred, batch)):
        with pytest.raises(gf.InputError, match="row 0, column 0 holds 9007199254740993, which no"):
            transform(data)


def test_what_did_not_converge_says_so():
    n = 200
    line = to_undirected(torch.stack([torch.arange(n - 1), torch.arange(1, n)]))
    x = torch.full((n, 1), NAN, dtype=torch.float64)
    x[0], x[-1] = 0.0, 1.0
    for backend in ("cpu", "torch"):
        with pytest.warns(gf.ConvergenceWarning, match="above tol=1.0e-03"):
            FeaturePropagation(tol=1e-3, backend=backend)(Data(x=x, edge_index=line))
        exact = FeaturePropagation(solver="exact", normalization="rw", backend=backend)
        filled = exact(Data(x=x, edge_index=line)).x
        assert torch.allclose(filled[:, 0], torch.linspace(0, 1, n, dtype=torch.float64))


def test_a_column_without_a_known_cell_is_kept_and_named():
    x = torch.tensor([[1.0, NAN], [NAN, NAN], [3.0, NAN]])
    with pytest.warns(gf.UnreachedWarning, match="columns without any known cell: 1"):
        filled = FeaturePropagation()(Data(x=x, edge_index=PATH)).x
    assert filled.shape == (3, 2)
    assert filled[:, 1].tolist() == [0.0, 0.0, 0.0]


def test_no_edges_no_features_and_edges_out_of_range():
    x = column(1.0, NAN, 3.0)
    with pytest.warns(gf.UnreachedWarning):
        assert ours(x, torch.empty((2, 0), dtype=torch.long)) == [1.0, 0.0, 3.0]
    with pytest.raises(gf.InputError, match="neither edge_index nor adj_t"):
        FeaturePropagation()(Data(x=x))
    with pytest.raises(gf.InputError, match="Data has no 'x' to fill; it has: 'edge_index'"):
        FeaturePropagation()(Data(edge_index=PATH))
    with pytest.raises(gf.InputError, match="names node 7, but there are 3 nodes"):
        ours(x, torch.tensor([[0], [7]]))


def test_contradicting_or_unknown_options_are_refused_at_once():
    with pytest.raises(gf.InputError, match="num_iterations is 40 and n_iter is 3"):
        FeaturePropagation(num_iterations=40, n_iter=3)
    for wrong in ({"solver": "magic"}, {"backend": "gpu"}, {"n_iter": -1}, {"unreached": "no"}):
        with pytest.raises(gf.InputError):
            FeaturePropagation(**wrong)
