"""Every imputer as a transform."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sklearn.impute import SimpleImputer  # noqa: E402
from torch_geometric.data import Batch, Data, HeteroData  # noqa: E402
from torch_geometric.transforms import Compose  # noqa: E402

import graphfill as gf  # noqa: E402
import graphfill.pyg as gp  # noqa: E402

NAN = float("nan")

# Graphs are listed one way here, for brevity.
pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.SymmetrizedWarning")
NAMES = [
    "PCFI",
    "FISF",
    "ZeroImputer",
    "RandomImputer",
    "MeanImputer",
    "NeighborMeanImputer",
    "SpectralImputer",
]


def star(shift=0.0):
    x = torch.tensor([[NAN, 2.0], [1.0, NAN], [3.0, NAN], [2.0, 1.0]]) + shift
    return Data(x=x, edge_index=torch.tensor([[0, 0, 0], [1, 2, 3]]))


@pytest.mark.parametrize("name", NAMES)
def test_a_transform_is_its_imputer(name):
    options = {"random_state": 3} if name == "RandomImputer" else {}
    data, graph = star(), gf.Graph.from_edges([0, 0, 0], [1, 2, 3], n_nodes=4)
    expected = getattr(gf, name)(graph, **options).fit_transform(data.x.numpy())
    transform = getattr(gp, name)(**options)
    for made in (transform, gp.Impute(getattr(gf, name)(**options))):
        filled = made(data).x
        assert filled.dtype is torch.float32
        assert np.array_equal(filled.numpy(), expected)
    assert repr(transform) == repr(getattr(gf, name)(**options))
    assert data.x.isnan().sum() == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_filled_graph_by_graph(name):
    options = {"random_state": 3} if name == "RandomImputer" else {}
    transform = getattr(gp, name)(**options)
    listed = [star(), star(10.0), star(-4.0)]
    together = transform(Batch.from_data_list(listed)).to_data_list()
    for one, part in zip(listed, together, strict=True):
        assert torch.equal(transform(one).x, part.x)


def test_an_indicator_of_all_columns_is_as_wide_for_every_graph_of_a_batch():
    listed = [star(), Data(x=torch.ones(2, 2), edge_index=torch.tensor([[0], [1]]))]
    whole = gp.ZeroImputer(add_indicator="all")
    assert whole(listed[1].clone()).x.tolist() == [[1.0, 1.0, 0.0, 0.0]] * 2
    filled = whole(Batch.from_data_list(listed)).x
    nan = torch.cat([data.x for data in listed]).isnan()
    assert torch.equal(filled[:, 2:], nan.float())
    assert torch.equal(filled[:, :2], torch.cat([d.x for d in listed]).nan_to_num())
    with pytest.raises(gf.InputError, match="unlike the graphs before it"):
        gp.ZeroImputer(add_indicator=True)(Batch.from_data_list(listed))
    with pytest.raises(gf.InputError, match="add_indicator is 'some' but must be one of"):
        gp.ZeroImputer(add_indicator="some")(listed[0])


def test_masks_weights_one_dimension_and_scikit_learn():
    data = Data(
        x=torch.tensor([0.0, 1.0, 5.0]),
        edge_index=torch.tensor([[0, 0], [1, 2]]),
        length=torch.tensor([3.0, 1.0]),
    )
    mask = torch.tensor([True, False, False])
    assert gp.NeighborMeanImputer(missing_mask=mask)(data).x.tolist() == [3.0, 1.0, 5.0]
    weighted = gp.NeighborMeanImputer(missing_mask=mask, edge_weight="length")
    assert weighted(data).x.tolist() == [2.0, 1.0, 5.0]
    median = gp.Impute(SimpleImputer(strategy="median"), missing_mask=mask)
    assert Compose([median])(data).x.tolist() == [3.0, 1.0, 5.0]


def test_an_imputer_with_indicators_widens_the_features():
    filled = gp.MeanImputer(add_indicator=True)(star()).x
    assert filled.shape == (4, 4)
    assert filled[:, 3].tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("name", gp.__all__)
def test_the_public_home_is_the_module(name):
    transform = getattr(gp, name)
    assert transform.__module__ == "graphfill.pyg"
    made = transform(gf.MeanImputer()) if name == "Impute" else transform()
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)


def test_what_is_no_imputer_or_no_single_type_is_refused():
    with pytest.raises(gf.InputError, match="is no imputer"):
        gp.Impute(gf.MeanImputer)
    with pytest.raises(gf.InputError, match="MeanImputer fills Data and Batch, not HeteroData"):
        gp.MeanImputer()(HeteroData())


def test_unreached_cells_of_a_batch_are_said_once():
    lonely = Data(
        x=torch.tensor([[1.0, 0.0], [NAN, 0.0], [NAN, 0.0]]), edge_index=torch.tensor([[0], [1]])
    )
    with pytest.warns(gf.UnreachedWarning, match="2 of the 3 graphs of the batch") as caught:
        gp.NeighborMeanImputer()(Batch.from_data_list([lonely, star(), lonely]))
    with pytest.warns(gf.UnreachedWarning, match="1 of 2 missing cells") as of_one:
        gp.NeighborMeanImputer()(lonely)
    warned = [w for w in (*caught, *of_one) if w.category is gf.UnreachedWarning]
    assert [warning.filename for warning in warned] == [__file__] * 2


def path(*cells):
    nodes = torch.arange(len(cells))
    return Data(x=torch.tensor(cells), edge_index=torch.stack([nodes[:-1], nodes[1:]]))


def test_warnings_of_a_batch_keep_their_kind():
    long = path([0.0], *[[NAN]] * 30, [1.0])
    short = gp.Impute(gf.FeaturePropagation(n_iter=2, tol=1e-9))
    with pytest.warns(gf.ConvergenceWarning, match="2 of the 3 graphs of the batch gave"):
        short(Batch.from_data_list([long, path([1.0], [2.0]), long]))


def test_graphs_of_a_batch_that_come_back_with_other_columns_are_refused():
    whole, empty = path([1.0, 2.0], [NAN, 3.0]), path([1.0, NAN], [2.0, NAN])
    batch = Batch.from_data_list([whole, empty])
    with pytest.raises(gf.InputError, match=r"Graph 1 .* without 'x1'.*keep_empty_features=True"):
        gp.Impute(SimpleImputer())(batch)
    # As many columns, but of other cells: they would end up below each other.
    other = Batch.from_data_list([path([NAN, 1.0], [2.0, 1.0]), path([2.0, NAN], [2.0, 1.0])])
    with pytest.raises(gf.InputError, match=r"Graph 1 .* with a column 'missingindicator_x1'"):
        gp.Impute(SimpleImputer(add_indicator=True))(other)
    kept = gp.Impute(SimpleImputer(keep_empty_features=True))(batch)
    assert kept.x[2:].tolist() == [[1.0, 0.0], [2.0, 0.0]]


def test_gradients_are_refused_or_said_to_stop():
    data = star()
    data.edge_weight = torch.ones(3, requires_grad=True)
    with pytest.raises(gf.InputError, match=r"gradient is wanted for 'edge_weight', .* detach it"):
        gp.NeighborMeanImputer()(data)
    data.edge_weight, data.x = None, data.x.requires_grad_()
    with pytest.warns(gf.GraphfillWarning, match="'x' requires a gradient") as caught:
        filled = gp.NeighborMeanImputer()(data).x
    assert not filled.requires_grad
    assert __file__ in {warning.filename for warning in caught}


def test_edge_weight_is_a_weight_and_a_mask_may_be_named():
    data = Data(
        x=torch.tensor([0.0, 1.0, 5.0]),
        edge_index=torch.tensor([[0, 0], [1, 2]]),
        edge_weight=torch.tensor([3.0, 1.0]),
        hidden=torch.tensor([True, False, False]),
    )
    assert gp.NeighborMeanImputer(missing_mask="hidden")(data).x[0].item() == 2.0
    unweighted = gp.NeighborMeanImputer(missing_mask="hidden", edge_weight=None)
    assert unweighted(data).x[0].item() == 3.0


def test_integers_without_a_missing_cell_stay_as_they_are():
    data = path([1, 2], [3, 4])
    for transform in (gp.MeanImputer(), gp.FeaturePropagation()):
        assert torch.equal(transform(data).x, data.x)
        assert transform(data).x.dtype is torch.long
    masked = gp.FeaturePropagation(torch.tensor([[True, False], [False, False]]))(data)
    assert masked.x.dtype is torch.float32
