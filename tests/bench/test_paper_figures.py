"""The drawings: every line is there, letters are letters, the same rows give the same bytes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

import numpy as np
from bench.paper_rows import every
from matplotlib.colors import to_rgb
from PIL import Image

from graphfill import Graph
from graphfill.bench._fills import FILLS
from graphfill.bench._paper.experiments import EXPERIMENTS, METHODS, SETS
from graphfill.bench._paper.figures import CAPTIONS, FIGURES, write_figures
from graphfill.bench._paper.measured import TITLES, Measured
from graphfill.bench._paper.spectral import Spectrum, spectrum
from graphfill.bench._paper.style import BLUE, ORANGE, RED, SKY


@pytest.fixture(scope="module")
def grid() -> Graph:
    """15 x 15 points, each linked to those beside it."""
    at = np.arange(225).reshape(15, 15)
    source = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    target = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return Graph.from_edges(source, target)


@pytest.fixture(scope="module")
def filtered(grid) -> Spectrum:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((225, 20)).astype(np.float32)
    features = {0.0: X}
    for rate in (0.5, 0.99):
        gaps = np.where(rng.random(X.shape) < rate, np.float32(np.nan), X)
        features[rate] = FILLS["fp"](gaps, grid, 0)
    return spectrum(grid, features)


def measured() -> Measured:
    """All rows, but those under GraphSAGE of one set: a panel less is time less."""
    wanted = every(EXPERIMENTS)
    return Measured(r for r in wanted if r["model"] != "sage" or r["set"][:4] in ("cora", "mixh"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory, filtered):
    folder = tmp_path_factory.mktemp("paper")
    write_figures(measured(), folder, filtered)
    return folder / "figures"


def parts(path) -> tuple[set[str], list[str]]:
    """Ids and texts of a drawing."""
    tree = ElementTree.parse(path)
    ids = {e.get("id") for e in tree.iter() if e.get("id")}
    texts = [e.text.strip() for e in tree.iter("{http://www.w3.org/2000/svg}text") if e.text]
    return ids, texts


@pytest.mark.parametrize(("name", "sets"), [("gcn", SETS), ("sage", ("cora",))])
def test_every_method_has_a_line_in_every_panel(drawn, name, sets):
    ids, texts = parts(drawn / f"{name}.svg")
    lines = {f"line-{method}-{s}" for method in METHODS for s in sets}
    assert lines == {i for i in ids if i.startswith("line-")}
    assert CAPTIONS[name] in texts
    names = {"Feature Propagation", "neighbour mean", "GCNMF", "label propagation (no features)"}
    assert names | {TITLES[s] for s in sets} <= set(texts)


def test_what_was_not_run_has_no_line(tmp_path):
    some = [r for r in every(["gcn"]) if r["set"] == "cora" and r["method"] != "mgcnn"]
    write_figures(Measured(some), tmp_path, names=["gcn", "homophily"])
    ids, texts = parts(tmp_path / "figures" / "gcn.svg")
    assert "line-fp-cora" in ids
    assert "line-mgcnn-cora" not in ids
    assert "MGCNN" not in texts
    assert not (tmp_path / "figures" / "homophily.svg").exists()


def test_the_other_figures_have_all_their_parts(drawn):
    ids, _ = parts(drawn / "run-time.svg")
    assert {
        f"{part}-{m}-cora" for part in ("fill", "train") for m in ("fp", "pagnn", "gcnmf")
    } <= ids
    ids, texts = parts(drawn / "homophily.svg")
    assert {"line-full-homophily", "line-fp-homophily", "line-zero-homophily"} <= ids
    assert "FP, 99 % missing" in texts
    ids, _ = parts(drawn / "spectral.svg")
    assert {"spectrum-0", "spectrum-0.5", "spectrum-0.99"} <= ids
    _, texts = parts(drawn / "exact.svg")
    assert {"single cells missing", "whole nodes missing", "99.5 % missing"} <= set(texts)


def test_files_are_small_and_the_same_again(drawn, filtered, tmp_path):
    again = write_figures(measured(), tmp_path, filtered, ["spectral", "exact"])
    assert len(again) == 4
    for path in again:
        assert path.read_bytes() == (drawn / path.name).read_bytes()
    for name in FIGURES:
        assert (drawn / f"{name}.png").stat().st_size <= 150_000
    with Image.open(drawn / "gcn.png") as picture:
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    assert (pixels[0] == 255).all()
    for color in (BLUE, ORANGE, RED, SKY):
        assert (pixels == np.round(255 * np.array(to_rgb(color)))).all(axis=1).any()


def test_the_spectrum_has_all_the_energy(grid):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((225, 3)).astype(np.float32)
    trivial = np.sqrt(grid.degrees()) / np.sqrt(grid.degrees().sum())
    rest = X - np.outer(trivial, trivial @ X)
    found = spectrum(grid, {0.0: X})
    assert found.energy[0.0].sum() == pytest.approx(np.square(rest).sum(), rel=1e-6)
    assert found.count.sum() == 224


def test_feature_propagation_is_a_low_pass_filter(filtered):
    assert filtered.low_share(0.0) < filtered.low_share(0.5) < filtered.low_share(0.99)


def test_a_spectrum_is_read_back(filtered):
    again = Spectrum.from_csv(filtered.csv())
    assert again.low_share(0.5) == pytest.approx(filtered.low_share(0.5), rel=1e-5)
    np.testing.assert_allclose(again.magnitude[0.5], filtered.magnitude[0.5], rtol=1e-5)
