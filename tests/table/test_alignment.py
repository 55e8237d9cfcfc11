"""Rows meet edges by id, whatever the ids are, and never by accident."""

import datetime

import igraph
import narwhals as nw
import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import graphfill as gf
from graphfill.table._alignment import align
from graphfill.table._id_search import INDEX
from graphfill.table._options import Naming, Source, TableOptions

IDS = {
    "text": ["ann", "bob", "cat"],
    "numbers": [7, 8, 9],
    "big": [2**60, 2**60 + 1, 2**60 + 2],
    "dates": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
}


def table(ids, **columns):
    return pl.DataFrame({"key": ids, "age": [1.0, None, 3.0]} | columns)


def aligned(frame, edges, **options):
    about = {
        name: options.pop(name) for name in list(options) if name in Source.__dataclass_fields__
    }
    frame = nw.from_native(frame, eager_only=True)
    return align(frame, edges, TableOptions(**options), Source(**about))


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
def test_ids_of_any_type(kind, make):
    ids = IDS[kind]
    edges = make({"source": ids[:2], "target": ids[1:]})
    found = aligned(make({"key": ids, "age": [1.0, 2.0, 3.0]}), edges)
    assert found.id == "key"
    assert found.graph.n_nodes == 3
    assert found.graph.indices.tolist() == [1, 0, 2, 1]
    assert (found.n_outside, found.n_unlinked) == (0, 0)
    assert "Rows go by column 'key'" in found.guesses[0]


def test_nodes_that_the_table_lacks_come_after_its_rows():
    edges = pl.DataFrame({"source": ["ann", "zoe"], "target": ["zoe", "cat"]})
    found = aligned(table(IDS["text"]), edges)
    assert (found.graph.n_nodes, found.n_rows) == (4, 3)
    assert (found.n_outside, found.n_unlinked) == (1, 1)
    assert found.graph.indices[found.graph.indptr[3] :].tolist() == [0, 2]


def test_nodes_are_in_the_order_of_the_ids_whatever_that_of_the_rows():
    edges = pl.DataFrame({"source": ["c", "c"], "target": ["a", "b"]})
    found = aligned(table(["b", "c", "a"]), edges)
    assert found.graph.indices.tolist() == [2, 2, 0, 1]
    assert found.order.tolist() == [2, 0, 1]
    assert found.in_rows(np.array(["a", "b", "c"])).tolist() == ["b", "c", "a"]
    assert aligned(table(["a", "b", "c"]), edges).order is None


def test_leftover_row_numbers_give_way_to_a_column_of_ids():
    frame = pd.DataFrame(
        {"id": [4, 2, 6, 0, 7, 1, 5, 3], "x": range(8)}, index=[3, 1, 5, 0, 4, 2, 7, 6]
    )
    edges = {"source": range(7), "target": range(1, 8)}
    aligned = align(nw.from_native(frame), pd.DataFrame(edges), TableOptions(), Source())
    assert aligned.id == "id"
    alone = align(
        nw.from_native(frame[["x"]].astype(float)), pd.DataFrame(edges), TableOptions(), Source()
    )
    assert alone.id == INDEX
    assert alone.guesses[0].startswith("Rows go by the index of the table, whose values are")


def test_a_pandas_index_that_says_something_is_the_id():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0]}, index=["x", "y", "z"])
    found = aligned(frame, pd.DataFrame({"a": ["x", "z"], "b": ["z", "y"]}))
    assert found.id == INDEX
    assert found.guesses == []
    named = frame.rename_axis("who")
    assert aligned(named, pd.DataFrame({"a": ["x"], "b": ["z"]}), id="who").id == INDEX


def test_rows_by_number_where_no_column_holds_ids():
    frame = pl.DataFrame({"age": [1.5, None, 3.5]})
    found = aligned(frame, pl.DataFrame({"a": [0, 1], "b": [1, 2]}))
    assert found.id is None
    assert "by number" in found.guesses[0]
    with pytest.raises(gf.InputError, match="No column of the table"):
        aligned(frame, pl.DataFrame({"a": [0, 1], "b": [1, 2]}), by_position=False)


@pytest.mark.parametrize(
    "edges",
    [
        networkx.path_graph(3),
        scipy.sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])),
        gf.Graph.from_edges([0, 1], [1, 2]),
        [(0, 1), (1, 2)],
        np.array([[0, 1], [1, 2], [2, 1]]),
        networkx.path_graph(3).edges,
        zip([0, 1], [1, 2], strict=True),
    ],
    ids=["networkx", "scipy", "Graph", "pairs", "array", "view", "zip"],
)
def test_graph_objects(edges):
    found = aligned(pl.DataFrame({"age": [1.5, None, 3.5]}), edges)
    assert found.graph.indices.tolist() == [1, 0, 2, 1]


def test_a_chance_match_elects_no_column():
    counties = pl.DataFrame({
        "id": [f"{i:05}" for i in range(1000, 1060)],
        "pop": [1003, 1007, *range(20_000, 20_058)],
        "age": [1.0, None] * 30,
    })  # fmt: skip
    edges = pl.DataFrame({"a": range(1000, 1059), "b": range(1001, 1060)})
    with pytest.raises(gf.InputError, match="column 'pop' coming nearest with 2 of 60 rows: name"):
        aligned(counties, edges)
    assert aligned(counties, edges.cast(pl.String).select(pl.all().str.zfill(5))).id == "id"


def test_a_table_of_few_of_many_nodes_has_its_id_column():
    edges = pl.DataFrame({"a": np.arange(5000), "b": np.arange(1, 5001)})
    few = pl.DataFrame({"age": [5 * i % 99 for i in range(100)], "key": range(0, 5000, 50)})
    found = aligned(few, edges)
    assert (found.id, found.n_outside) == ("key", 4901)


def test_rows_by_number_although_a_column_holds_some_of_them():
    n = 40
    frame = pl.DataFrame({"kids": [i % 4 for i in range(n)], "income": [1.0, None] * 20})
    edges = pl.DataFrame({"a": np.arange(n - 1), "b": np.arange(1, n)})
    assert aligned(frame, edges).id is None


N = 6
RING = np.array([np.arange(N), (np.arange(N) + 1) % N])
BY_ROWS = {
    "matrix": scipy.sparse.csr_array((np.ones(2 * N), np.hstack([RING, RING[::-1]]))),
    "edge_index": RING,
    "PyG": type("Data", (), {"edge_index": np.hstack([RING, RING[::-1]]), "num_nodes": N})(),
}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
@pytest.mark.parametrize("form", BY_ROWS)
def test_nodes_without_ids_are_rows(form, make):
    """Whatever numbers a column holds, some of them twice or all in another order."""
    rank = [3, 0, 4, 1, 5, 2]
    for column in ([0, 1, 2, 2, 3, 0], rank):
        frame = make({"number": column, "income": [1.0, np.nan, 3.0, 4.0, 5.0, 6.0]})
        found = aligned(frame, BY_ROWS[form])
        assert found.id is None
        assert found.graph.indices.tolist() == gf.Graph.of(BY_ROWS[form]).indices.tolist()
        assert "in the order of the graph's nodes" in found.guesses[0]
    by_id = aligned(frame, BY_ROWS[form], id="number")
    assert by_id.graph.indices.tolist() == gf.Graph.of(BY_ROWS[form]).indices.tolist()
    assert by_id.order.tolist() == np.argsort(rank).tolist()


@pytest.mark.parametrize(
    "edges",
    [gf.Graph.from_edges(RING, n_nodes=N), networkx.cycle_graph(N), RING.T.tolist()],
    ids=["Graph", "networkx", "pairs"],
)
def test_numbers_that_may_be_rows_or_ids(edges):
    income = {"income": [1.0, None, 3.0, 4.0, 5.0, 6.0]}
    kids = pl.DataFrame({"kids": [0, 1, 2, 2, 3, 0]} | income)
    assert aligned(kids, edges).id is None
    assert aligned(pl.DataFrame({"id": range(N)} | income), edges).id == "id"
    ranked = pl.DataFrame({"rank": [3, 0, 4, 1, 5, 2]} | income)
    with pytest.raises(gf.InputError) as refusal:
        aligned(ranked, edges)
    assert str(refusal.value) == (
        "The nodes of the graph are the numbers 0 to 5, which column 'rank' of the table holds in "
        "another order: pass id='rank' if it holds their ids, or id='the row number' if they are "
        "the rows in order."
    )
    assert aligned(ranked, edges, id="rank").id == "rank"
    by_row = aligned(ranked, edges, id="the row number")
    assert by_row.id is None
    assert by_row.graph.indices.tolist() == gf.Graph.of(RING).indices.tolist()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
def test_row_numbers_can_be_asked_for(make):
    frame = make({"rank": [2, 0, 1], "age": [1.0, np.nan, 3.0]})
    edges = make({"a": [0, 1], "b": [1, 2]})
    assert aligned(frame, edges).id == "rank"
    assert aligned(frame, edges, id="the row number").graph.indices.tolist() == [1, 0, 2, 1]


def test_networkx_nodes_are_ids():
    G = networkx.Graph([("cat", "ann"), ("ann", "bob")])
    found = aligned(table(IDS["text"]), G)
    assert found.graph.indices.tolist() == [1, 2, 0, 0]


def test_weights_only_when_named():
    edges = pl.DataFrame({"source": ["ann"], "target": ["bob"], "w": [2.5]})
    assert aligned(table(IDS["text"]), edges).graph.weights is None
    assert aligned(table(IDS["text"]), edges, weight="w").graph.weights.tolist() == [2.5, 2.5]


@pytest.mark.parametrize("kind", [networkx.to_pandas_edgelist, lambda G: G, "igraph"])
def test_weights_that_are_not_used_are_named(kind):
    G = networkx.Graph()
    G.add_edge("ann", "bob", weight=2.5)
    edges = igraph.Graph.from_networkx(G) if kind == "igraph" else kind(G)
    if kind == "igraph":
        edges.vs["name"] = edges.vs["_nx_name"]
    (note,) = [guess for guess in aligned(table(IDS["text"]), edges).guesses if "weight" in guess]
    assert note.startswith("'weight' of the edges is not used")
    assert not any("weight" in guess for guess in aligned(table(IDS["text"]), G.edges).guesses)
    named = aligned(table(IDS["text"]), edges, weight="weight")
    assert named.graph.weights.tolist() == [2.5, 2.5]
    assert not any("not used" in guess for guess in named.guesses)


def test_columns_of_edges_are_guessed_by_name_or_said():
    edges = pl.DataFrame({"since": [2000], "from": ["ann"], "to": ["bob"]})
    found = aligned(table(IDS["text"]), edges)
    assert (found.source, found.target) == ("from", "to")
    edges = pl.DataFrame({"p": ["ann"], "q": ["bob"], "since": [2000]})
    found = aligned(table(IDS["text"]), edges)
    assert (found.source, found.target) == ("p", "q")
    assert "the first two of the 3 columns" in found.guesses[0]


def test_text_of_an_untyped_file_meets_numbers():
    numbers = pl.DataFrame({"source": [7], "target": [8]})
    frame = pl.DataFrame({"key": ["7", "8", "x9"], "age": [1.0, None, 3.0]})
    text = pa.array(["7", "8", "x9"])
    found = aligned(frame, numbers, texts={"key": text})
    assert found.graph.n_edges == 1
    assert found.n_outside == 0


REFUSED = {
    "types": (
        table(["7", "8", "9"]),
        {"source": [7], "target": [8]},
        {"id": "key"},
        "The ids in column 'key' of the table are text (such as '7') but the ends in the edges are "
        "whole numbers (such as 7), so that none match: make both the same type.",
    ),
    "unmatched": (
        table(IDS["text"]),
        {"source": ["eva"], "target": ["fay"]},
        {"id": "key"},
        "No id in column 'key' of the table (such as 'ann') is named in the edges (such as 'eva'): "
        "name the right columns with id=, source= and target=.",
    ),
    "no id column": (
        table(IDS["text"]),
        {"source": ["eva"], "target": ["fay"]},
        {},
        "No column of the table (such as 'ann' in column 'key') holds the ids in the edges "
        "(such as 'eva'): name it with id=, or check that both sides spell ids alike.",
    ),
    "twice": (
        table(["ann", "bob", "ann"]),
        {"source": ["ann"], "target": ["bob"]},
        {},
        "The id 'ann' occurs twice in column 'key' of the table (guessed to hold the ids), in row "
        "0 and in row 2: keep one row per id, or name another column with id=.",
    ),
    "no id": (
        table(["ann", None, "cat"]),
        {"source": ["ann"], "target": ["cat"]},
        {},
        "There is no id in column 'key' of the table (guessed to hold the ids), row 1: every row "
        "needs one, or name another column with id=.",
    ),
    "no end": (
        table(IDS["text"]),
        {"source": ["ann", "bob"], "target": ["cat", None]},
        {},
        "There is no target in the edges, row 1: name the node or drop the edge.",
    ),
    "one column": (
        table(IDS["text"]),
        {"source": ["ann"]},
        {},
        "There is one column in the edges ('source') but an edge has two ends: add the column with "
        "the other end.",
    ),
    "name": (
        table(IDS["text"]),
        {"source": ["ann"], "target": ["bob"]},
        {"source": "sorce"},
        "There is no column 'sorce' in the edges; did you mean 'source'?",
    ),
    "far name": (
        table(IDS["text"]),
        {"source": ["ann"], "target": ["bob"]},
        {"id": "zzz"},
        "There is no column 'zzz' in the table, which has 'key', 'age'.",
    ),
    "empty": (
        table(IDS["text"])[:0],
        {"source": ["ann"], "target": ["bob"]},
        {},
        "There is no row in the table: there is nothing to fill.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    frame, edges, options, sentence = REFUSED[case]
    with pytest.raises(gf.InputError) as refusal:
        aligned(frame, pl.DataFrame(edges), **options)
    assert str(refusal.value) == sentence


def test_places_are_named_as_asked():
    naming = Naming("people.csv", "friends.csv", row=lambda row: f"line {row + 2}")
    with pytest.raises(gf.InputError, match=r"the ids\), in line 2 and in line 4"):
        aligned(
            table(["ann", "bob", "ann"]),
            pl.DataFrame({"source": ["ann"], "target": ["bob"]}),
            naming=naming,
        )


@pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")
def test_ids_beyond_the_numbers_with_a_sign():
    ids = np.array([2**63, 2**63 + 1, 5], dtype=np.uint64)
    table = pl.DataFrame({"id": ids, "x": [1.0, None, 3.0]})
    edges = pl.DataFrame({"a": ids[:1], "b": ids[1:2]})
    assert gf.impute(table, edges, id="id", reliance=1)["x"].to_list() == [1, 1, 3]
