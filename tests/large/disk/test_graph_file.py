"""Edges sorted on disk are the graph that is made of them in memory, to the bit."""

import tempfile
from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfill.errors import InputError
from graphfill.large._disk import EdgeFile, Numbering, store_graph
from graphfill.table._alignment import align
from graphfill.table._id_column import Ids
from graphfill.table._options import Source, TableOptions

NAMES = {
    "numbers": lambda i: i,
    "numbers far apart": lambda i: i * 1_000_003 - 7_000_000_000,
    "text": "node {}".format,
    "floats": float,
}


@st.composite
def problems(draw):
    """Ids of a table, edges that also name others, and weights with zeros among them."""
    name = draw(st.sampled_from(sorted(NAMES)))
    n_rows, n_others = draw(st.integers(1, 12)), draw(st.integers(0, 4))
    order = draw(st.permutations(range(n_rows)))
    ends = st.integers(0, n_rows + n_others - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=40))
    pairs.append((0, order[0]))  # one end at least is a row
    weights = st.lists(
        st.sampled_from([0.0, 0.1, 1.0, 1 / 3, 7e5]), min_size=len(pairs), max_size=len(pairs)
    )
    weight = draw(st.none() | st.just([1.0] * len(pairs)) | weights)
    ids = [NAMES[name](i) for i in order]
    columns = {"u": [NAMES[name](u) for u, _ in pairs], "v": [NAMES[name](v) for _, v in pairs]}
    return ids, pl.DataFrame(columns | ({} if weight is None else {"w": weight}))


@settings(deadline=None)
@given(problems(), st.integers(1, 3000))
def test_same_arrays_as_in_memory(problem, budget):
    ids, edges = problem
    weight = "w" if "w" in edges.columns else None
    names = {"source": "u", "target": "v", "weight": weight}
    frame = nw.from_native(pl.DataFrame({"id": ids}))
    aligned = align(frame, edges, TableOptions(id="id", **names), Source())
    expected, in_order = aligned.graph, Ids(pl.Series(ids))
    if aligned.order is not None:
        in_order = in_order.take(aligned.order)
    with tempfile.TemporaryDirectory() as folder:
        edges.write_parquet(Path(folder, "edges.parquet"))
        file = EdgeFile(Path(folder, "edges.parquet"), **names)
        graph = store_graph(file, Numbering(in_order), Path(folder), budget=budget)
        assert graph.n_nodes == expected.n_nodes
        assert np.array_equal(graph.indptr, expected.indptr)
        assert np.array_equal(graph.indices, expected.indices)
        assert (graph.weights is None) == (expected.weights is None)
        if graph.weights is not None:
            assert graph.weights.tobytes() == expected.weights.tobytes()
        left = {path.name for path in Path(folder).iterdir()}
        assert left == {"edges.parquet", "indices.bin", "weights.bin"}


def test_many_chunks_and_files(tmp_path):
    rng = np.random.default_rng(0)
    ends = rng.zipf(1.3, (2, 40_000)) % 3000  # hubs, whose rows are longer than a file should be
    pl.DataFrame({"source": ends[0], "target": ends[1]}).write_parquet(
        tmp_path / "edges.parquet", row_group_size=7000
    )
    frame = nw.from_native(pl.DataFrame({"id": np.arange(3000)}))
    expected = align(
        frame, pl.read_parquet(tmp_path / "edges.parquet"), TableOptions(id="id"), Source()
    ).graph
    told = []
    graph = store_graph(
        EdgeFile(tmp_path / "edges.parquet"),
        Numbering(Ids(np.arange(3000))),
        tmp_path,
        budget=100_000,
        progress=told.append,
    )
    assert isinstance(graph.indices.base, np.memmap) or isinstance(graph.indices, np.memmap)
    assert np.array_equal(graph.indptr, expected.indptr)
    assert np.array_equal(graph.indices, expected.indices)
    assert len(told) > 40
    assert sum(told) == pytest.approx(1)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"u": [0, None], "v": [1, 1]}, "row 2"),
        ({"u": [0, 1], "v": [1, 1], "w": [1.0, -1.0]}, "row 2.*'w'|'w'.*row 2"),
        ({"u": ["0", "1"], "v": ["1", "1"]}, "text"),
        ({"u": [0, 1]}, "u"),
    ],
)
def test_bad_edges(columns, says, tmp_path):
    pl.DataFrame(columns).write_parquet(tmp_path / "edges.parquet")
    with pytest.raises(InputError, match=f"edges.parquet.*{says}|{says}.*edges.parquet"):
        store_graph(
            EdgeFile(tmp_path / "edges.parquet", weight="w" if "w" in columns else None),
            Numbering(Ids(np.arange(3))),
            tmp_path,
        )


def test_a_disk_that_takes_a_part_only_is_said_to_be_full(tmp_path):
    resource = pytest.importorskip("resource")
    ends = np.arange(20_000)
    pl.DataFrame({"u": ends, "v": ends + 1}).write_parquet(tmp_path / "edges.parquet")
    edges, numbering = EdgeFile(tmp_path / "edges.parquet"), Numbering(Ids(np.arange(20_001)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(InputError, match="full"):
            store_graph(edges, numbering, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
