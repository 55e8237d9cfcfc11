"""Borders of regions against libpysal's, and maps that are none."""

import json
import warnings

import numpy as np
import pytest

import graphfill as gf

geopandas = pytest.importorskip("geopandas")
libpysal = pytest.importorskip("libpysal")
from libpysal.examples import get_path  # noqa: E402
from libpysal.graph import Graph as SpatialGraph  # noqa: E402
from libpysal.weights import Queen, Rook  # noqa: E402

MAPS = {"columbus": "columbus.shp", "us states": "us48.shp", "10740": "10740.shp"}


def pairs(links):
    graph = links.graph
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return {(u, v) for u, v in zip(row.tolist(), graph.indices.tolist(), strict=True) if u < v}


def pairs_of(W):
    return {(u, v) for u, others in W.neighbors.items() for v in others if u < v}


@pytest.fixture(scope="module", params=MAPS)
def regions(request):
    return geopandas.read_file(get_path(MAPS[request.param]))


@pytest.mark.parametrize("queen", [True, False])
def test_as_libpysal_finds_them(regions, queen, tmp_path):
    kind = Queen if queen else Rook
    expected = pairs_of(kind.from_dataframe(regions, use_index=False, silence_warnings=True))
    assert pairs(gf.links.borders(regions, queen=queen)) == expected
    regions.set_crs(4326, allow_override=True).to_file(tmp_path / "map.geojson", driver="GeoJSON",
                                                       COORDINATE_PRECISION=17)  # fmt: skip
    assert pairs(gf.links.borders(tmp_path / "map.geojson", queen=queen)) == expected


def test_libpysal_graphs_are_graphs(regions):
    W = Queen.from_dataframe(regions, use_index=False, silence_warnings=True)
    other = SpatialGraph.from_W(W)
    ours = gf.links.borders(regions).graph
    for graph in (gf.Graph.of(W), gf.Graph.of(other)):
        np.testing.assert_array_equal(graph.indices, ours.indices)
        np.testing.assert_array_equal(graph.indptr, ours.indptr)


def test_a_frame_of_regions_is_filled_by_its_borders():
    regions = geopandas.read_file(get_path("columbus.shp"))[["POLYID", "HOVAL", "geometry"]]
    table = regions.drop(columns="geometry")
    table.loc[[3, 17, 30], "HOVAL"] = None
    links = gf.links.borders(regions, id="POLYID")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        filled = gf.impute(table, links, method="propagation")
        again = gf.impute(table, links.table(), id="POLYID", method="propagation")
    assert not filled["HOVAL"].isna().any()
    np.testing.assert_allclose(filled["HOVAL"], again["HOVAL"])


RING = [[0, 0], [1, 0], [1, 1], [0, 0]]


def feature(kind="Polygon", coordinates=(RING,), **properties):
    shape = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": shape, "properties": properties}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no GeoJSON"),
        ("[1]", "has no list of features"),
        (json.dumps({"features": []}), "has no region"),
        (json.dumps({"features": [feature("Point", [0, 0])]}), "Region 0 is a Point"),
        (json.dumps({"features": [feature(coordinates=[[["x"]]])]}), "no list of points"),
        (json.dumps({"features": [feature(code=1), feature(code=1)]}), "have the same 'code', 1"),
        (json.dumps({"features": [feature(code=1), feature(code=None)]}), "Region 1 of the map"),
        (json.dumps({"features": [feature(kode=1)]}), "did you mean 'kode'"),
    ],
)
def test_refusals(tmp_path, text, words):
    (tmp_path / "map.geojson").write_text(text)
    with pytest.raises(gf.InputError, match=words):
        gf.links.borders(tmp_path / "map.geojson", id="code" if "ode" in text else None)
    with pytest.raises(gf.InputError, match="There is no file"):
        gf.links.borders(tmp_path / "none.geojson")
