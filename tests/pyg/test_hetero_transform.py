"""HeteroData: every type filled, and features for types that had none."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import HeteroData  # noqa: E402
from torch_geometric.transforms import ToUndirected  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill.hetero import propagate_hetero  # noqa: E402
from graphfill.pyg import FeaturePropagation, HeteroPropagation  # noqa: E402

NAN = float("nan")
OF, ON = ("paper", "of", "author"), ("paper", "on", "subject")


def library(seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    data = HeteroData()
    data["paper"].x = torch.randn(40, 3, dtype=dtype)
    data["paper"].x[torch.rand(40, 3) < 0.7] = NAN
    data["paper"].x[0] = 1.0
    data["author"].x = torch.randn(25, 3, dtype=dtype)
    data["subject"].num_nodes = 3
    papers = torch.arange(40)
    data[OF].edge_index = torch.cat(
        [torch.stack([papers, torch.randint(0, 25, (40,))]) for _ in range(2)], dim=1
    )
    data[ON].edge_index = torch.stack([papers, papers % 3])
    return data


@pytest.mark.parametrize("shared", [None, "same_width", ["paper", "author"]])
def test_the_transform_is_propagate_hetero(shared):
    data = library()
    features = {"paper": data["paper"].x.numpy(), "author": data["author"].x.numpy(), "subject": 3}
    edges = {key: tuple(data[key].edge_index.numpy()) for key in (OF, ON)}
    expected = propagate_hetero(features, edges, shared=shared).features
    filled = HeteroPropagation(shared=shared)(data)
    for kind in ("paper", "author", "subject"):
        assert torch.equal(filled[kind].x, torch.from_numpy(expected[kind]))
    assert filled["subject"].x.shape == (3, 3)
    assert "x" not in data["subject"]
    assert data["paper"].x.isnan().any()


def test_reverse_edges_change_nothing():
    data = library()
    plain = HeteroPropagation(shared="same_width")(data)
    both = HeteroPropagation(shared="same_width")(ToUndirected()(data.clone()))
    for kind in data.node_types:
        assert torch.equal(plain[kind].x, both[kind].x)


def test_feature_propagation_fills_every_type_with_its_own_settings():
    data = library(dtype=torch.float32)
    exact = FeaturePropagation(solver="exact", normalization="rw", shared="same_width")(data)
    expected = HeteroPropagation(shared="same_width")(data)
    for kind in data.node_types:
        assert exact[kind].x.dtype is torch.float32
        assert torch.equal(exact[kind].x, expected[kind].x)
    steps = FeaturePropagation(num_iterations=2, shared="same_width")(data)
    assert not torch.equal(steps["paper"].x, expected["paper"].x)


def test_sparse_edges_weights_masks_and_indicators():
    data = library()
    expected = HeteroPropagation(weights={"on": 0.5})(data)["paper"].x
    sparse = data.clone()
    size = (3, 40)
    flipped = data[ON].edge_index.flip(0)
    sparse[ON].adj_t = torch.sparse_coo_tensor(flipped, torch.ones(40), size).to_sparse_csr()
    del sparse[ON].edge_index
    assert torch.equal(HeteroPropagation(weights={"on": 0.5})(sparse)["paper"].x, expected)

    listed, lengths = data.clone(), torch.rand(40) + 0.1
    listed[ON].length = lengths
    sparse[ON].adj_t = torch.sparse_coo_tensor(flipped, torch.ones(40), size)
    sparse[ON].length = lengths
    by_length = HeteroPropagation(edge_weight="length")
    assert torch.equal(by_length(sparse)["paper"].x, by_length(listed)["paper"].x)

    weighted = data.clone()
    weighted[OF].edge_weight = torch.rand(80) + 0.1
    ignored = HeteroPropagation(weights={"on": 0.5}, edge_weight=None)
    assert torch.equal(ignored(weighted)["paper"].x, expected)
    by_weight = HeteroPropagation(weights={"on": 0.5})(weighted)["paper"].x
    assert not torch.equal(by_weight, expected)
    weighted[OF].length = weighted[OF].edge_weight
    del weighted[OF].edge_weight
    named = HeteroPropagation(weights={"on": 0.5}, edge_weight="length")
    assert torch.equal(named(weighted)["paper"].x, by_weight)

    mask = data["paper"].x.isnan()
    masked = data.clone()
    masked["paper"].x = masked["paper"].x.nan_to_num(7.0)
    by_mask = HeteroPropagation(
        weights={"on": 0.5}, missing_mask={"paper": mask}, add_indicator=True
    )(masked)
    assert torch.equal(by_mask["paper"].x, torch.cat([expected, mask.double()], dim=1))
    assert by_mask["subject"].x[:, 3:].eq(1).all()


def test_refusals():
    data = library()
    data["author"].x = data["author"].x[:, :2]
    with pytest.raises(gf.InputError, match="'paper' with 3 column"):
        HeteroPropagation(shared=["paper", "author"])(data)
    with pytest.raises(gf.InputError, match="takes a dict of masks"):
        FeaturePropagation(torch.zeros(40, 3, dtype=torch.bool))(data)
    wrong = {"paper": torch.zeros(40, 3, dtype=torch.bool)}
    with pytest.raises(gf.InputError, match="is NaN but missing_mask"):
        HeteroPropagation(missing_mask=wrong)(data)
    bare = HeteroData()
    bare["paper"].x = torch.ones(2, 1)
    bare["venue"].name = "here"
    bare["paper", "in", "venue"].edge_index = torch.tensor([[0], [0]])
    with pytest.raises(gf.InputError, match=r"set data\['venue'\].num_nodes"):
        HeteroPropagation()(bare)


def test_weights_that_no_edge_type_has_are_refused():
    data = library()
    data[OF].edge_attr = torch.rand(80) + 0.1
    for transform in (HeteroPropagation, FeaturePropagation):
        with pytest.raises(gf.InputError, match=r"'edge_atr' .* they have: 'edge_attr', 'edge_i"):
            transform(edge_weight="edge_atr")(data)
        transform(edge_weight="edge_attr")(data)  # one type has it, the other counts 1 each


def test_a_mask_by_name_is_looked_up_in_every_type():
    data = library()
    expected = HeteroPropagation()(data)["paper"].x
    data["paper"].hidden = data["paper"].x.isnan()
    data["paper"].x = data["paper"].x.nan_to_num(7.0)
    for mask in ("hidden", {"paper": "hidden"}):
        assert torch.equal(HeteroPropagation(missing_mask=mask)(data)["paper"].x, expected)
    with pytest.raises(gf.InputError, match="has no 'gone' to take missing_mask from"):
        HeteroPropagation(missing_mask="gone")(data)


def test_a_type_that_only_passes_information_on_gets_no_features():
    data = library()
    expected = HeteroPropagation()(data)
    for transform in (HeteroPropagation, FeaturePropagation):
        filled = transform(like={"subject": None}, solver="exact", normalization="rw")(data)
        assert "x" not in filled["subject"]
        assert filled["subject"].num_nodes == 3
        for kind in ("paper", "author"):
            assert torch.equal(filled[kind].x, expected[kind].x)


def test_weights_that_want_a_gradient_and_edges_of_another_shape_are_refused():
    data = library()
    data[ON].edge_weight = torch.rand(40).requires_grad_()
    with pytest.raises(gf.InputError, match=r"wanted for the edge weights of \('paper', 'on', 's"):
        HeteroPropagation()(data)
    with torch.no_grad():
        HeteroPropagation()(data)
    data[OF].edge_index = data[OF].edge_index.t()
    with torch.no_grad(), pytest.raises(gf.InputError, match=r"'of', 'author'\) has shape \(80, 2"):
        HeteroPropagation()(data)


def test_steps_are_refused_where_the_limit_is_solved_for():
    with pytest.raises(gf.InputError, match="num_iterations is 5 but solver='exact' solves for"):
        HeteroPropagation(n_iter=5)
    HeteroPropagation(n_iter=5, solver="diffusion")


@pytest.mark.parametrize("kind", ["aa", "subject"])
def test_masks_of_types_without_features_are_refused(kind):
    mask = torch.zeros(3, 3, dtype=torch.bool)
    for transform in (HeteroPropagation, FeaturePropagation):
        with pytest.raises(gf.InputError, match=rf"{kind!r}, .* no 'x' .*\('paper', 'author'\)"):
            transform(missing_mask={kind: mask})(library())


@pytest.mark.parametrize("option", [{"directed": "refuse"}, {"backend": "torch"}])
def test_options_for_data_alone_are_refused(option):
    ((name, value),), data = option.items(), library()
    with pytest.raises(gf.InputError, match=f"{name}='{value}' is for Data, .* leave it out"):
        FeaturePropagation(**option)(data)
    FeaturePropagation(directed="symmetrize", backend="cpu")(data)


def test_gradients_are_said_to_stop():
    data = library()
    data["paper"].x.requires_grad_()
    for transform in (HeteroPropagation(), FeaturePropagation()):
        with pytest.warns(gf.GraphfillWarning, match="'x' of 'paper' requires a grad") as caught:
            filled = transform(data)["paper"].x
        assert caught[0].filename == __file__
        assert not filled.requires_grad
        with torch.no_grad():
            transform(data)


def test_unreached_cells_are_said_at_the_line_of_the_caller():
    data = library()
    data["author"].x[:, 0] = NAN
    with pytest.warns(gf.UnreachedWarning, match="25 of 'author'") as caught:
        HeteroPropagation(like={"subject": "paper"})(data)
    assert [warning.filename for warning in caught] == [__file__]


def test_options_are_refused_when_the_transform_is_made():
    for option in ({"n_iter": -1}, {"tol": "x"}, {"threads": 0}):
        with pytest.raises(gf.InputError, match=f"{next(iter(option))} is"):
            HeteroPropagation(**option)
