"""What is passed by mistake is refused, or warned of, in a sentence of ours."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data, HeteroData  # noqa: E402

import graphfill as gf  # noqa: E402
import graphfill.pyg as gp  # noqa: E402

NAN = float("nan")
PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
ALL = [gp.FeaturePropagation, gp.HeteroPropagation, gp.MeanImputer]
OF_DATA = [gp.FeaturePropagation, gp.NeighborMeanImputer]


def path(*cells, **more):
    return Data(x=torch.tensor(cells), edge_index=PATH, **more)


@pytest.mark.parametrize("made", ALL)
def test_what_is_no_data_is_refused(made):
    data = path(1.0, NAN, 3.0)
    for given, advice in (
        (data.x, "not Tensor: "),
        ((data, data), r"not tuple: .*each of them, or to Batch\.from_data_list"),
        ([data], r"not list: .*each of them"),
        (None, "not NoneType: "),
        ({"x": data.x}, "not dict: "),
    ):
        with pytest.raises(gf.InputError, match=rf"^{made.__name__} fills .*, {advice}"):
            made()(given)


def test_data_of_one_type_are_not_for_the_transform_of_several():
    with pytest.raises(gf.InputError, match="fills HeteroData, not Data: use FeaturePropagation"):
        gp.HeteroPropagation()(path(1.0, NAN, 3.0))
    with pytest.raises(gf.InputError, match="fills Data and Batch, not HeteroDataBatch: use Het"):
        gp.MeanImputer()(Batch.from_data_list([HeteroData(), HeteroData()]))


@pytest.mark.parametrize("made", ALL)
@pytest.mark.parametrize("name", ["attr", "edge_weight"])
def test_names_are_names(made, name):
    with pytest.raises(gf.InputError, match=f"{name} is Tensor but must be the name"):
        made(**{name: torch.ones(3)})
    with pytest.raises(gf.InputError, match=f"{name} is 3 but must be the name"):
        made(**{name: 3})


@pytest.mark.parametrize("made", OF_DATA)
def test_a_mask_may_be_named_and_may_be_of_nodes(made):
    data = path([1.0, 2.0], [9.0, 9.0], [3.0, 4.0])
    data.test_mask = torch.tensor([False, True, False])
    both = data.test_mask[:, None].expand(3, 2)
    expected = made(missing_mask=both)(data).x
    assert not torch.equal(expected, data.x)
    for mask in ("test_mask", data.test_mask, data.test_mask.numpy(), [False, True, False]):
        assert torch.equal(made(missing_mask=mask)(data).x, expected)
    with pytest.raises(
        gf.InputError, match="Data has no 'tset_mask' to take missing_mask from; it"
    ):
        made(missing_mask="tset_mask")(data)
    with pytest.raises(
        gf.InputError, match=r"missing_mask is <object .* but must be a tensor of b"
    ):
        made(missing_mask=object())(data)
    with pytest.raises(gf.InputError, match=r"shape \(2,\) but X has shape \(3, 2\)"):
        made(missing_mask=data.test_mask[:2])(data)


@pytest.mark.parametrize("made", OF_DATA)
def test_an_inverted_mask_over_zeros_is_warned_of(made):
    data = path([5.0, 0.0], [0.0, 0.0], [3.0, 4.0])
    known = torch.tensor([True, False, True])
    with pytest.warns(gf.GraphfillWarning, match="is it inverted") as caught:
        made(missing_mask=known)(data)
    assert [warning.filename for warning in caught] == [__file__]
    made(missing_mask=~known)(data)  # zeros may be missing
    made(missing_mask=known)(path([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]))  # or all there is


@pytest.mark.parametrize("made", OF_DATA)
def test_complex_features_are_refused(made):
    data = path(complex(1, 2), complex(NAN, 0), complex(3, 4))
    with pytest.raises(gf.InputError, match=r"'x' has dtype torch\.complex64 but must be real"):
        made()(data)
    typed = HeteroData()
    typed["paper"].x = data.x
    typed["paper", "cites", "paper"].edge_index = PATH
    with pytest.raises(gf.InputError, match="but must be real"):
        gp.HeteroPropagation()(typed)


@pytest.mark.parametrize("made", OF_DATA)
def test_integers_come_back_in_the_default_dtype(made):
    mask = torch.tensor([False, True, False])
    for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool):
        data = Data(x=torch.tensor([1, 0, 1]).to(dtype), edge_index=PATH)
        filled = made(missing_mask=mask)(data).x
        assert filled.dtype is torch.float32
        assert filled[::2].tolist() == [1.0, 1.0]
    big = Data(x=torch.tensor([2**24 + 1, 0, 4]), edge_index=PATH)
    with pytest.raises(
        gf.InputError, match=r"row 0, column 0 holds 16777217, which torch\.float32"
    ):
        made(missing_mask=mask)(big)
    big.x = big.x.double()
    assert made(missing_mask=mask)(big).x[0].item() == 2**24 + 1


def test_integers_of_a_typed_graph_come_back_in_the_default_dtype():
    typed = HeteroData()
    typed["paper"].x = torch.tensor([[1], [0], [3]])
    typed["paper", "cites", "paper"].edge_index = PATH
    mask = {"paper": torch.tensor([False, True, False])}
    filled = gp.HeteroPropagation(missing_mask=mask)(typed)["paper"].x
    assert filled.dtype is torch.float32
    assert filled.flatten().tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "option", [{"weights": {"of": 1.0}}, {"shared": "same_width"}, {"like": {"a": "b"}}]
)
def test_options_for_several_types_are_refused_with_one(option):
    (name,) = option
    with pytest.raises(gf.InputError, match=f"^{name}= is for HeteroData, but this is Data"):
        gp.FeaturePropagation(**option)(path(1.0, NAN, 3.0))


def test_steps_are_refused_where_the_limit_is_solved_for():
    for steps in ({"num_iterations": 7}, {"n_iter": 7}):
        with pytest.raises(gf.InputError, match="num_iterations is 7 but solver='exact' solves"):
            gp.FeaturePropagation(solver="exact", **steps)


@pytest.mark.parametrize("made", OF_DATA)
def test_edges_in_two_columns_are_refused(made):
    data = path(1.0, NAN, 3.0)
    data.edge_index = PATH.t().contiguous()
    for weights in (None, torch.ones(4)):
        data.edge_weight = weights
        with pytest.raises(gf.InputError, match=r"edge_index has shape \(4, 2\) but must be two r"):
            made()(data)


@pytest.mark.parametrize("made", OF_DATA)
@pytest.mark.parametrize("name", ["x", "edge_index", "edge_weight"])
def test_tensors_without_values_are_refused(made, name):
    data = path(1.0, NAN, 3.0, edge_weight=torch.ones(4))
    data[name] = data[name].to("meta")
    with pytest.raises(gf.InputError, match=f"^'{name}' is a tensor on the device 'meta'"):
        made()(data)


def test_a_mask_without_values_is_refused():
    mask = np.zeros(3, dtype=bool)
    with pytest.raises(gf.InputError, match="'missing_mask' is a tensor on the device 'meta'"):
        gp.FeaturePropagation(torch.tensor(mask).to("meta"))(path(1.0, 2.0, 3.0))
