"""By what a transform prints, PyG decides whether processed data are stale."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sklearn.impute import KNNImputer, SimpleImputer  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from torch_geometric.data import Data, InMemoryDataset  # noqa: E402

import graphfill as gf  # noqa: E402
import graphfill.pyg as gp  # noqa: E402

COMMON = {"attr": "z", "missing_mask": "hidden", "edge_weight": None}
PROPAGATION = {
    "normalization": {"sym": "rw", "rw": "sym"},
    "solver": "chebyshev",
    "n_iter": 7,
    "tol": 1e-3,
    "max_iter": 99,
    "self_loops": True,
    "shrinkage": 0.5,
    "unreached": "mean",
    "threads": 3,
    "add_indicator": True,
    "weights": {"of": 2.0},
    "shared": "same_width",
    "like": {"author": None},
}
CHANGED = {
    "FeaturePropagation": COMMON
    | PROPAGATION
    | {"normalization": "rw", "num_iterations": 7, "directed": "refuse", "backend": "torch"},
    "HeteroPropagation": COMMON
    | PROPAGATION
    | {"normalization": "sym", "standardize": True, "reorder": False, "memory_limit": "1GB"}
    | {"seed": 3, "progress": True},
    "NetworkInput": COMMON
    | {"label": "group", "train": None, "validation": None, "directed": "refuse", "seed": 3}
    | {"threads": 2},
    "MeanImputer": COMMON | {"directed": "refuse", "add_indicator": True},
    "NeighborMeanImputer": COMMON | {"directed": "refuse", "add_indicator": True},
    "SpectralImputer": COMMON | {"fallback": False, "seed": 3, "memory_limit": "1GB"},
}


def base(name, argument):
    """Steps are given to a transform that takes some."""
    steps = name == "HeteroPropagation" and argument == "n_iter"
    return {"solver": "diffusion"} if steps else {}


@pytest.mark.parametrize(
    ("name", "argument"), [(name, one) for name, given in CHANGED.items() for one in given]
)
def test_every_argument_that_is_not_the_default_is_printed(name, argument):
    made, options = getattr(gp, name), base(name, argument)
    changed = made(**options, **{argument: CHANGED[name][argument]})
    shown = "num_iterations" if (name, argument) == ("FeaturePropagation", "n_iter") else argument
    assert f"{shown}=" in repr(changed)
    assert repr(changed) != repr(made(**options))
    assert repr(changed) == repr(made(**options, **{argument: CHANGED[name][argument]}))


def test_defaults_are_not_printed():
    assert repr(gp.FeaturePropagation()) == "FeaturePropagation(num_iterations=40)"
    assert repr(gp.HeteroPropagation()) == "HeteroPropagation()"
    assert repr(gp.MeanImputer()) == "MeanImputer()"
    assert repr(gp.MeanImputer("z", add_indicator=True)) == (
        "MeanImputer(add_indicator=True, attr='z')"
    )
    made = gp.Impute(gf.MeanImputer(), edge_weight="w", directed="refuse")
    assert repr(made) == "Impute(MeanImputer(), edge_weight='w', directed='refuse')"


def test_masks_of_one_share_print_apart():
    one, other = torch.tensor([True, False]), torch.tensor([False, True])
    for made in (gp.FeaturePropagation, gp.MeanImputer):
        assert repr(made(missing_mask=one)) == repr(made(missing_mask=one.clone()))
        assert repr(made(missing_mask=one)) != repr(made(missing_mask=other))
        assert repr(made(missing_mask=one)) != repr(made(missing_mask=one.numpy()[:, None]))
    typed = [gp.HeteroPropagation(missing_mask={"paper": mask}) for mask in (one, other)]
    assert repr(typed[0]) != repr(typed[1])


def test_long_imputers_are_not_shortened():
    imputers = [KNNImputer(n_neighbors=k, add_indicator=True) for k in range(2, 25)]
    last = SimpleImputer(strategy="median")
    assert "strategy='median'" in repr(gp.Impute(make_pipeline(*imputers, last)))


class Pieces(InMemoryDataset):
    def process(self):
        nan = float("nan")
        ends = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        data = Data(x=torch.tensor([[1.0], [nan], [3.0]]), edge_index=ends)
        self.save([self.pre_transform(data)], self.processed_paths[0])

    @property
    def processed_file_names(self):
        return "data.pt"


def test_pyg_sees_that_a_transform_has_changed(tmp_path):
    Pieces(tmp_path, pre_transform=gp.FeaturePropagation())
    with pytest.warns(UserWarning, match="`pre_transform` argument differs"):
        Pieces(tmp_path, pre_transform=gp.FeaturePropagation(add_indicator=True))
