"""Graph: every constructor, every refusal, and what never changes."""

import copy
import datetime
import pickle
import re
import resource
import subprocess
import sys
import warnings

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch_geometric.data import Data, HeteroData

import graphfill
from graphfill.errors import InputError, SymmetrizedWarning
from graphfill.graph import Graph

# A triangle 0-1-2 with a tail 2-3, and a node 4 by itself.
SOURCE, TARGET, WEIGHT = [0, 1, 0, 2], [1, 2, 2, 3], [1.0, 2.0, 3.0, 0.5]
PAIRS = list(zip(SOURCE, TARGET, strict=True))
INDEX = np.array([SOURCE, TARGET])
BOTH_WAYS = np.concatenate([INDEX, INDEX[::-1]], axis=1)  # as PyG lists undirected edges
INDPTR, INDICES = [0, 2, 4, 7, 8, 8], [1, 2, 0, 2, 0, 1, 3, 2]
WEIGHTS = [1.0, 3.0, 1.0, 2.0, 3.0, 2.0, 0.5, 0.5]


def dense(graph):
    """The adjacency matrix, read off the arrays."""
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    A[row, graph.indices] = 1.0 if graph.weights is None else graph.weights
    return A


def ids_of(graph):
    return list(range(graph.n_nodes)) if graph.ids is None else graph.ids.tolist()


def matrix(weighted=False):
    both = (SOURCE + TARGET, TARGET + SOURCE)
    return sparse.coo_array((WEIGHT * 2 if weighted else np.ones(8), both), shape=(5, 5))


def nx_graph(kind=nx.Graph):
    G = kind()
    G.add_nodes_from(range(5))
    G.add_weighted_edges_from(zip(SOURCE, TARGET, WEIGHT, strict=True), weight="w")
    return G


def ig_graph():
    return igraph.Graph(n=5, edges=PAIRS, edge_attrs={"w": WEIGHT})


def pyg_data():
    edge_attr = torch.tensor(WEIGHT * 2)[:, None]
    return Data(edge_index=torch.tensor(BOTH_WAYS), num_nodes=5, edge_attr=edge_attr)


def table(frame=pd.DataFrame):
    return frame({"a": SOURCE, "b": TARGET, "w": WEIGHT})


UNWEIGHTED = {
    "columns": lambda: Graph.from_edges(SOURCE, TARGET, n_nodes=5),
    "arrays": lambda: Graph.from_edges(*INDEX, n_nodes=5),
    "int32": lambda: Graph.from_edges(*INDEX.astype(np.int32), n_nodes=5),
    "uint8 and int64": lambda: Graph.from_edges(np.uint8(SOURCE), TARGET, n_nodes=5),
    "big-endian": lambda: Graph.from_edges(INDEX.astype(">i8"), n_nodes=5),
    "floats": lambda: Graph.from_edges(INDEX.astype(float), n_nodes=5),
    "edge index": lambda: Graph.from_edges(INDEX, n_nodes=5),
    "two columns": lambda: Graph.from_edges(INDEX.T, n_nodes=5),
    "pairs": lambda: Graph.from_edges(PAIRS, n_nodes=5),
    "generator": lambda: Graph.from_edges(iter(PAIRS), n_nodes=5),
    "nodes": lambda: Graph.from_edges(PAIRS, nodes=range(5)),
    "tensor": lambda: Graph.from_edges(torch.tensor(INDEX), n_nodes=5),
    "pandas series": lambda: Graph.from_edges(pd.Series(SOURCE), pd.Series(TARGET), n_nodes=5),
    "nullable": lambda: Graph.from_edges(pd.array(SOURCE, "Int64"), pd.Index(TARGET), n_nodes=5),
    "polars series": lambda: Graph.from_edges(pl.Series(SOURCE), pl.Series(TARGET), n_nodes=5),
    "pyarrow": lambda: Graph.from_edges(pa.array(SOURCE), pa.chunked_array([TARGET]), n_nodes=5),
    "masked": lambda: Graph.from_edges(np.ma.array(INDEX[0]), TARGET, n_nodes=5),
    "table": lambda: Graph.from_edges(table()[["a", "b"]], n_nodes=5),
    "csr": lambda: Graph.from_csr(INDPTR, INDICES),
    "csr, rows unsorted": lambda: Graph.from_csr(INDPTR, [2, 1, 2, 0, 3, 1, 0, 2]),
    "scipy": lambda: Graph.from_scipy(matrix()),
    "scipy, values ignored": lambda: Graph.from_scipy(matrix(weighted=True), weighted=False),
    "networkx": lambda: Graph.from_networkx(nx_graph()),
    "igraph": lambda: Graph.from_igraph(ig_graph()),
    "pyg": lambda: Graph.from_pyg(pyg_data()),
    "pyg tensor": lambda: Graph.from_pyg(torch.tensor(BOTH_WAYS), n_nodes=5),
    "of graph": lambda: Graph.of(Graph.from_edges(PAIRS, n_nodes=5), n_nodes=9),
    "of scipy": lambda: Graph.of(matrix()),
    "of networkx": lambda: Graph.of(nx_graph(), n_nodes=5),
    "of igraph": lambda: Graph.of(ig_graph()),
    "of pyg": lambda: Graph.of(pyg_data()),
    "of edge index": lambda: Graph.of(INDEX, n_nodes=5),
    "of tensor": lambda: Graph.of(torch.tensor(INDEX), n_nodes=5),
    "of pairs": lambda: Graph.of(PAIRS, n_nodes=5),
    "of table": lambda: Graph.of(table(pl.LazyFrame).select("a", "b"), n_nodes=5),
    "of dense": lambda: Graph.of(matrix().toarray()),
    "of bool": lambda: Graph.of(matrix().toarray() > 0),
}
WEIGHTED = {
    "columns": lambda: Graph.from_edges(SOURCE, TARGET, weight=WEIGHT, n_nodes=5),
    "tensor": lambda: Graph.from_edges(PAIRS, weight=torch.tensor(WEIGHT), n_nodes=5),
    "bfloat16": lambda: Graph.from_edges(PAIRS, weight=torch.tensor(WEIGHT).bfloat16(), n_nodes=5),
    "series": lambda: Graph.from_edges(PAIRS, weight=pl.Series(WEIGHT), n_nodes=5),
    "pandas": lambda: Graph.from_table(table(), "a", "b", "w", n_nodes=5),
    "polars": lambda: Graph.from_table(table(pl.DataFrame), "a", "b", "w", n_nodes=5),
    "lazy": lambda: Graph.from_table(table(pl.LazyFrame), "a", "b", "w", n_nodes=5),
    "pyarrow": lambda: Graph.from_table(table(pa.table), "a", "b", "w", n_nodes=5),
    "csr": lambda: Graph.from_csr(INDPTR, INDICES, WEIGHTS),
    "networkx": lambda: Graph.from_networkx(nx_graph(), "w"),
    "igraph": lambda: Graph.from_igraph(ig_graph(), "w"),
    "pyg": lambda: Graph.from_pyg(pyg_data(), edge_weight="edge_attr"),
    "of dense": lambda: Graph.of(matrix(weighted=True).toarray()),
} | {
    form: lambda form=form: Graph.from_scipy(matrix(weighted=True).asformat(form))
    for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
}


@pytest.mark.parametrize("make", UNWEIGHTED.values(), ids=UNWEIGHTED)
def test_unweighted_constructors(make):
    graph = make()
    assert (graph.n_nodes, graph.n_edges, graph.n_self_loops) == (5, 4, 0)
    assert graph.indptr.tolist() == INDPTR
    assert graph.indices.tolist() == INDICES
    assert graph.weights is None
    assert graph.ids is None
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)
    assert graph.degrees().tolist() == [2, 2, 3, 1, 0]
    assert repr(graph) == "Graph(n_nodes=5, n_edges=4, weighted=False)"


@pytest.mark.parametrize("make", WEIGHTED.values(), ids=WEIGHTED)
def test_weighted_constructors(make):
    graph = make()
    assert graph.indptr.tolist() == INDPTR
    assert graph.indices.tolist() == INDICES
    assert graph.weights.tolist() == WEIGHTS
    assert graph.weights.dtype == np.float64
    assert graph.degrees().tolist() == [4, 3, 5.5, 0.5, 0]
    assert repr(graph) == "Graph(n_nodes=5, n_edges=4, weighted=True)"


def test_constructors_agree_on_a_random_graph():
    rng = np.random.default_rng(0)
    ends, weight = rng.integers(0, 60, (2, 400)), rng.random(400)
    expected = Graph.from_edges(ends, weight=weight, n_nodes=60)
    A = sparse.csr_array((expected.weights, expected.indices, expected.indptr), shape=(60, 60))
    G = nx.from_scipy_sparse_array(A)
    graphs = [
        Graph.from_csr(expected.indptr, expected.indices, expected.weights),
        *(Graph.from_scipy(A.asformat(form)) for form in ("bsr", "csc", "csr", "lil")),
        Graph.from_networkx(G, "weight"),
        Graph.from_igraph(igraph.Graph.from_networkx(G), "weight"),
        Graph.from_table(nx.to_pandas_edgelist(G), weight="weight", n_nodes=60),
        Graph.of(A.toarray()),
    ]
    for graph in graphs:
        np.testing.assert_array_equal(graph.indptr, expected.indptr)
        np.testing.assert_array_equal(graph.indices, expected.indices)
        np.testing.assert_array_equal(graph.weights, expected.weights)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(
                    st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0, 0.5, 1, 2, 7])
                ),
                max_size=30,
            ),
        )
    ),
    st.sampled_from(["mean", "sum", "max", "min"]),
    st.booleans(),
)
def test_from_edges_is_the_dense_construction(listed, merge, self_loops):
    n_nodes, edges = listed
    listings = {}
    for u, v, w in edges:
        if w > 0 and (self_loops or u != v):
            listings.setdefault((min(u, v), max(u, v)), []).append(w)
    expected = np.zeros((n_nodes, n_nodes))
    for (u, v), values in listings.items():
        expected[u, v] = expected[v, u] = getattr(np, merge)(values)
    graph = Graph.from_edges(
        [u for u, _, _ in edges],
        [v for _, v, _ in edges],
        weight=[w for _, _, w in edges],
        n_nodes=n_nodes,
        merge=merge,
        self_loops=self_loops,
    )
    np.testing.assert_allclose(dense(graph), expected, rtol=1e-15)
    np.testing.assert_allclose(graph.degrees(), expected.sum(axis=1), rtol=1e-15)
    assert graph.n_edges == len(listings)
    assert all(np.all(np.diff(row) > 0) for row in np.split(graph.indices, graph.indptr[1:-1]))


# -- ids --


def plain(column):
    return column if isinstance(column, list) else np.asarray(column).tolist()


@pytest.mark.parametrize(
    ("source", "target", "ids"),
    [
        ([5, 9], [9, 7], [5, 7, 9]),
        ([-3, 10**15], [10**15, 0], [-3, 0, 10**15]),
        ([2**70, 1], [1, 5], [1, 5, 2**70]),
        (np.uint64([2**63, 1]), [1, 5], [1, 5, 2**63]),
        (np.int32([-(2**31)]), np.int32([2**31 - 1]), [-(2**31), 2**31 - 1]),
        ([1, 0], [0, 1], [0, 1]),
        ([3.0, 1.0], [1.0, 2.0], [1, 2, 3]),
        ([0.5, 2.5], [2.5, 1.5], [0.5, 1.5, 2.5]),
        ([True], [False], [False, True]),
        (["b", "c"], ["c", "a"], ["a", "b", "c"]),
        (["a\0"], ["a"], ["a", "a\0"]),
        (np.array(["b", "c"]), np.array(["c", "long"]), ["b", "c", "long"]),
        (np.array(["b", "c"]), ["c", "a"], ["a", "b", "c"]),
        (pd.Series(["b", "c"]), pl.Series(["c", "a"]), ["a", "b", "c"]),
        (pd.Categorical(["b", "c"]), pa.array(["c", "a"]), ["a", "b", "c"]),
        ([(1, "x")], [(0, "y")], [(0, "y"), (1, "x")]),
        ([7, "a"], ["7", 8], [7, "a", "7", 8]),
        ([datetime.date(2020, 1, 2)], [datetime.date(2020, 1, 1)], None),
        (np.array(["2020-01-02"], "M8[D]"), pl.Series([datetime.date(2020, 1, 1)]), None),
    ],
)
def test_ids_are_sorted_if_they_can_be(source, target, ids):
    graph = Graph.from_edges(source, target)
    assert ids_of(graph) == (ids or [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)])
    row = {node: number for number, node in enumerate(ids_of(graph))}
    for u, v in zip(plain(source), plain(target), strict=True):
        assert dense(graph)[row[u], row[v]] == 1


def test_integer_ids_from_zero_need_no_ids():
    assert Graph.from_edges([0, 1], [1, 2]).ids is None
    assert Graph.from_edges([0, 1], [1, 2], nodes=[0, 1, 2]).ids is None
    assert ids_of(Graph.from_edges([0, 1], [1, 2], nodes=[2, 1, 0])) == [2, 1, 0]
    assert ids_of(Graph.from_networkx(nx.Graph([(1, 0)]))) == [1, 0]
    assert ids_of(Graph.from_edges([0], [1], nodes=np.array([0.0, 1.0, 2.0]))) == [0, 1, 2]


def test_rows_follow_nodes():
    graph = Graph.from_edges(["a", "b"], ["b", "c"], nodes=["d", "c", "b", "a"])
    assert ids_of(graph) == ["d", "c", "b", "a"]
    assert dense(graph).tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_unknown_ids_are_added_after_the_nodes():
    graph = Graph.from_edges([9, 4], [4, 3], nodes=[7, 4], unknown="add")
    assert ids_of(graph) == [7, 4, 3, 9]
    assert graph.degrees().tolist() == [0, 2, 1, 1]
    assert ids_of(Graph.from_edges(["x"], [1], nodes=[1], unknown="add")) == [1, "x"]
    assert ids_of(Graph.from_edges([1], [0], nodes=[], unknown="add")) == [0, 1]


def test_ids_of_other_libraries():
    G = nx.Graph([("b", (1, 2)), ((1, 2), 3)])
    assert ids_of(Graph.from_networkx(G)) == ["b", (1, 2), 3]
    g = igraph.Graph(edges=[(0, 1)], vertex_attrs={"name": ["b", "a"]})
    assert ids_of(Graph.from_igraph(g)) == ["b", "a"]
    assert ids_of(Graph.from_csr(INDPTR, INDICES, ids=list("edcba"))) == list("edcba")
    assert ids_of(Graph.from_scipy(matrix(), ids=np.arange(5))) == [0, 1, 2, 3, 4]


def test_columns_of_a_table():
    frame = pd.DataFrame({"since": [1990], "target": ["b"], "source": ["a"]})
    assert ids_of(Graph.from_table(frame)) == ["a", "b"]
    assert ids_of(Graph.from_table(frame, "since", "target")) == [1990, "b"]
    assert Graph.from_table(pd.DataFrame([[0, 1], [1, 2]])).n_edges == 2


# -- merging, loops, direction --


@pytest.mark.parametrize(("merge", "weight"), [("mean", 3), ("sum", 9), ("max", 6), ("min", 1)])
def test_merge(merge, weight):
    graph = Graph.from_edges([0, 1, 0, 1], [1, 0, 1, 2], weight=[1, 2, 6, 5], merge=merge)
    assert dense(graph).tolist() == [[0, weight, 0], [weight, 0, 5], [0, 5, 0]]


def test_weights_of_one_are_no_weights():
    assert Graph.from_edges([0, 1, 1], [1, 0, 2], weight=[1, 1, 1]).weights is None
    summed = Graph.from_edges([0, 1, 1], [1, 0, 2], weight=[1, 1, 1], merge="sum")
    assert summed.weights.tolist() == [2, 2, 1, 1]


def test_edges_of_weight_zero_are_no_edges_but_have_nodes():
    graph = Graph.from_edges(["a", "a"], ["b", "c"], weight=[0, 2])
    assert ids_of(graph) == ["a", "b", "c"]
    assert graph.degrees().tolist() == [2, 0, 2]


def test_self_loops_are_dropped_unless_wanted():
    edges = {"source": [0, 0, 1], "target": [0, 1, 1]}
    assert Graph.from_edges(**edges).n_edges == 1
    graph = Graph.from_edges(**edges, self_loops=True)
    assert (graph.n_edges, graph.n_self_loops) == (3, 2)
    assert dense(graph).tolist() == [[1, 1], [1, 1]]
    A = sparse.csr_array(np.ones((2, 2)))
    assert [Graph.from_scipy(A, self_loops=kept).n_edges for kept in (False, True)] == [1, 3]
    loops = nx.Graph([(0, 0), (0, 1)])
    assert [Graph.from_networkx(loops, self_loops=kept).n_edges for kept in (False, True)] == [1, 2]


def test_scipy_duplicates_add_up_without_overflow():
    A = sparse.coo_array((np.int8([100, 100, 100, 100]), ([0, 0, 1, 1], [1, 1, 0, 0])))
    assert dense(Graph.from_scipy(A)).tolist() == [[0, 200], [200, 0]]
    unsorted = Graph.from_csr([0, 3, 5], [1, 0, 1, 0, 0], [1, 5, 1, 1, 1])
    assert dense(unsorted).tolist() == [[0, 2], [2, 0]]
    assert dense(Graph.from_csr([0, 2, 3], [1, 1, 0])).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("make", "edge"),
    [
        (lambda: Graph.from_scipy(sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 0, 0]])), "1 to 2"),
        (lambda: Graph.from_scipy(sparse.csc_array([[0, 2, 3], [2, 0, 0], [4, 0, 0]])), "0 to 2"),
        (lambda: Graph.from_csr([0, 1, 1], [1], ids=["a", "b"]), "'a' to 'b'"),
        (lambda: Graph.from_networkx(nx.DiGraph([(0, 1), (1, 0), (2, 1)])), "2 to 1"),
        (lambda: Graph.from_igraph(igraph.Graph(edges=[(0, 1)], directed=True)), "0 to 1"),
        (lambda: Graph.of(nx.MultiDiGraph([("a", "b")])), "'a' to 'b'"),
        (lambda: Graph.from_pyg(torch.tensor(BOTH_WAYS[:, :-1]), n_nodes=5), "2 to 3"),
        (lambda: Graph.of(Data(edge_index=torch.tensor(INDEX), num_nodes=5)), "0 to 1"),
    ],
)
def test_directed_graphs_are_symmetrized_with_a_notice(make, edge):
    with pytest.warns(SymmetrizedWarning) as caught:
        graph = make()
    assert [str(w.message) for w in caught] == [
        f"The edge from {edge} is not listed alike the other way: every edge was taken both ways, "
        "the weights of a pair merged into one."
    ]
    assert caught[0].filename == __file__
    assert np.array_equal(dense(graph), dense(graph).T)


def test_symmetrized_weights():
    with pytest.warns(SymmetrizedWarning):
        graph = Graph.from_scipy(sparse.csr_array([[0, 2.0, 5], [4, 0, 0], [0, 0, 0]]))
    assert dense(graph).tolist() == [[0, 3, 5], [3, 0, 0], [5, 0, 0]]


def test_symmetric_graphs_pass_without_a_notice():
    A = matrix(weighted=True).tocsr()
    A.data *= 1 + 1e-9 * np.arange(8)  # rounding
    both = nx.DiGraph([(0, 1), (1, 0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Graph.from_scipy(A, directed="refuse")
        Graph.from_scipy(A + sparse.eye_array(5), directed="refuse", self_loops=True)
        Graph.from_scipy(A + sparse.eye_array(5), directed="refuse")
        Graph.from_networkx(both, directed="refuse")
        Graph.from_networkx(nx.path_graph(3), directed="refuse")
        Graph.from_edges([0, 1, 0, 1, 2], [1, 0, 1, 0, 2], directed="refuse")
        Graph.from_edges([0, 1, 2, 0], [1, 0, 2, 2], weight=[2, 2, 1, 0], directed="refuse")
        Graph.from_edges([0, 1], [1, 2])


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_in_any_order_are_known_to_be_mirrored(weighted):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 300, (2, 2000))
    attributes = {"w": torch.tensor(np.tile(rng.random(2000), 2))} if weighted else {}
    order = rng.permutation(4000)

    def graph(kept, **options):
        index = torch.tensor(np.concatenate([ends, ends[::-1]], axis=1)[:, kept])
        data = Data(edge_index=index, num_nodes=300, **{k: w[kept] for k, w in attributes.items()})
        return Graph.from_pyg(data, edge_weight="w" if weighted else None, **options)

    graph(order, directed="refuse")
    u, v = (int(end) for end in ends[:, 17])
    pair = [k for k in order if {*ends[:, k % 2000]} == {u, v}]
    assert len(pair) == 2
    with pytest.warns(SymmetrizedWarning, match=rf"({u} to {v}|{v} to {u}) is not listed alike"):
        graph([k for k in order if k != pair[0]])


def test_blocks_of_any_shape():
    A = np.add.outer(np.arange(6), np.arange(6)) % 4
    graph = Graph.from_scipy(sparse.bsr_array(A, blocksize=(2, 3)), self_loops=True)
    assert dense(graph).tolist() == A.tolist()


def test_explicit_zeros_do_not_count():
    A = sparse.csr_array((np.array([1.0, 0.0, 1.0]), ([0, 1, 1], [1, 2, 0])), shape=(3, 3))
    for weighted in (True, False):
        assert Graph.from_scipy(A, weighted=weighted, directed="refuse").n_edges == 1


def test_multigraphs_are_merged():
    G = nx.MultiGraph()
    G.add_weighted_edges_from([(0, 1, 2.0), (0, 1, 4.0), (1, 2, 1.0)], weight="w")
    assert Graph.from_networkx(G).n_edges == 2
    assert dense(Graph.from_networkx(G, "w"))[0, 1] == 3
    assert dense(Graph.from_networkx(G, "w", merge="sum"))[0, 1] == 6


class SparseTensor:
    """The part of torch_sparse's class that is asked for."""

    def cpu(self):
        return self

    def csr(self):
        return torch.tensor(INDPTR), torch.tensor(INDICES), torch.tensor(WEIGHTS)


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")
def test_adj_t():
    tensor = torch.sparse_csr_tensor(INDPTR, INDICES, WEIGHTS, size=(5, 5))
    for adj_t in (tensor, SparseTensor()):
        data = Data(adj_t=adj_t, num_nodes=5)
        assert Graph.of(data).weights is None
        graph = Graph.from_pyg(data, edge_weight="adj_t")
        assert graph.indices.tolist() == INDICES
        assert graph.weights.tolist() == WEIGHTS
    with pytest.raises(InputError, match=r"^adj_t has layout torch\.sparse_coo: pass adj_t\.to_s"):
        Graph.of(Data(adj_t=tensor.to_sparse_coo(), num_nodes=5))


def test_empty_graphs():
    for graph in (
        Graph.from_edges([], []),
        Graph.from_edges(np.empty((2, 0), dtype=int)),
        Graph.from_networkx(nx.Graph()),
        Graph.from_igraph(igraph.Graph()),
        Graph.from_csr([0], []),
        Graph.from_scipy(sparse.csr_array((0, 0))),
        Graph.of([]),
        Graph.of(np.zeros((0, 0))),
    ):
        assert (graph.n_nodes, graph.n_edges, graph.degrees().tolist()) == (0, 0, [])
    lonely = Graph.from_edges([], [], nodes=["a", "b"], weight=[])
    assert (lonely.n_nodes, lonely.n_edges, ids_of(lonely)) == (2, 0, ["a", "b"])
    assert Graph.from_edges([], [], n_nodes=3, directed="refuse").degrees().tolist() == [0, 0, 0]


# -- refusals --


def out_of_range(form):
    """A matrix that SciPy takes without complaint, and dies of."""
    A = matrix().asformat(form).copy()
    if form == "coo":
        A.coords[0][3] = 10**6
    elif form == "lil":
        A.rows[1] = [0, 10**6]
    else:
        A.indices[3] = 10**6
    return A


def broken_coo():
    A = matrix()
    A.data = A.data[:1]
    return A


def broken(name, value):
    A = matrix().tocsr()
    setattr(A, name, np.asarray(value))
    return A


WEIGHT_ADVICE = "weights must be finite and not negative."
PAIR_ADVICE = (
    "must be a pair of ids: pass two lists as from_edges(source, target), and weights as weight=."
)
ACCEPTED = (
    "cannot be read as a graph: pass a graphfill, NetworkX or igraph graph, a PyG Data, a SciPy "
    "sparse matrix, a table of edges, an array [2, n_edges], a list of pairs, or a square NumPy "
    "matrix of more than 2 rows."
)
ONE_WAY = (
    "is not listed alike the other way, and only undirected graphs are accepted here: list both "
    "directions, or pass directed='symmetrize' to the constructor."
)


# fmt: off
REFUSED = [
    # lists of edges
    (lambda: Graph.from_edges(5),
     "5 is not a list of edges, ids or weights."),
    (lambda: Graph.from_edges("ab"),
     "'ab' is not a list of edges, ids or weights."),
    (lambda: Graph.from_edges({"a": "b"}, {"b": "c"}),
     "{'a': 'b'} is not a list of edges, ids or weights."),
    (lambda: Graph.from_edges(torch.ones(2, 2).to_sparse()),
     "A tensor of layout torch.sparse_coo is not a list of edges, ids or weights: pass its "
     "indices, or data.adj_t through Graph.from_pyg."),
    (lambda: Graph.from_edges(np.zeros((3, 3))),
     "The edges have shape (3, 3) but must be two rows [2, n_edges] or two columns [n_edges, 2] "
     "of ids; pass weights as weight=."),
    (lambda: Graph.from_edges([(0, 1), (1, 2, 0.5)]), f"Edge 1 is (1, 2, 0.5) but {PAIR_ADVICE}"),
    (lambda: Graph.from_edges(["ab", "bc"]), f"Edge 0 is 'ab' but {PAIR_ADVICE}"),
    (lambda: Graph.from_edges([0, 1, 2]), f"Edge 0 is 0 but {PAIR_ADVICE}"),
    (lambda: Graph.from_edges([0, 1], [1]),
     "There are 2 source(s) but 1 target(s): an edge has one each."),
    (lambda: Graph.from_edges(INDEX, INDEX),
     "The source ids have shape (2, 4) but must be one column."),
    # missing and impossible ids
    (lambda: Graph.from_edges([0, None], [1, 2]),
     "Edge 1 has no source (None or NaN): name the node or leave out the edge."),
    (lambda: Graph.from_edges([0, 1], [1, np.nan]),
     "Edge 1 has no target (None or NaN): name the node or leave out the edge."),
    (lambda: Graph.from_edges(["a", "b"], pd.Series([pd.NA, "c"], dtype="string")),
     "Edge 0 has no target (None or NaN): name the node or leave out the edge."),
    (lambda: Graph.from_edges(pl.Series([1, None]), [1, 2]),
     "Edge 1 has no source (None or NaN): name the node or leave out the edge."),
    (lambda: Graph.from_edges(np.array(["2020", "NaT"], "M8[D]"), [1, 2]),
     "Edge 1 has no source (None or NaN): name the node or leave out the edge."),
    (lambda: Graph.from_edges(np.ma.array([0, 1], mask=[False, True]), [1, 2]),
     "Edge 1 has no source (None or NaN): name the node or leave out the edge."),
    (lambda: Graph.from_edges([0], [1], nodes=[0, 1, None]),
     "Node 2 has no id (None or NaN): every node needs one."),
    (lambda: Graph.from_edges([(0, [1])], [(0, [2])]),
     "(0, [1]) cannot be a node id, because it can change: use numbers, text, dates or tuples of "
     "these."),
    # nodes
    (lambda: Graph.from_edges([0], [1], nodes=[0, 1], n_nodes=2),
     "Pass nodes (edges name ids) or n_nodes (edges name row numbers), not both."),
    (lambda: Graph.from_edges([], [], nodes=["a", "c", "b", "c", "a"]),
     "The node id 'c' occurs twice, at positions 1 and 3: ids must be unique."),
    (lambda: Graph.from_edges([1, 2, 9], [2, 1, 8], nodes=[1, 2]),
     "Edge 2 names node 9, which is not among the 2 nodes: correct or drop the edge, or pass "
     "unknown='add' to add such nodes."),
    (lambda: Graph.from_edges([7], [8], nodes=["7", "8"]),
     "Edge 0 names node 7 (int), but nodes holds '7' (str): make both the same type."),
    (lambda: Graph.from_edges(np.array(["7"]), ["7"], nodes=np.array([6, 7])),
     "Edge 0 names node '7' (str), but nodes holds 7 (int): make both the same type."),
    (lambda: Graph.from_edges(["x" * 999], ["a"], nodes=["a"]),
     f"Edge 0 names node '{'x' * 27}...{'x' * 28}', which is not among the 1 nodes: correct or "
     "drop the edge, or pass unknown='add' to add such nodes."),
    (lambda: Graph.from_edges([0], [1], unknown="drop"),
     "unknown is 'drop' but must be one of 'refuse', 'add'."),
    # row numbers
    (lambda: Graph.from_edges([0, 1, 2], [1, 5, 9], n_nodes=5),
     "Edge 1, from 1 to 5, names node 5, but there are 5 nodes, numbered from 0."),
    (lambda: Graph.from_edges([0, -1], [1, 2], n_nodes=5),
     "Edge 1, from -1 to 2, names node -1, but there are 5 nodes, numbered from 0."),
    (lambda: Graph.from_edges([0, 1], [1, 2.5], n_nodes=5),
     "n_nodes=5 says that nodes go by row number, but the target of edge 1 is 2.5: pass nodes= "
     "with the ids in row order instead."),
    (lambda: Graph.from_edges(["a"], ["b"], n_nodes=5),
     "n_nodes=5 says that nodes go by row number, but the source of edge 0 is 'a': pass nodes= "
     "with the ids in row order instead."),
    (lambda: Graph.from_edges([0], [1], n_nodes=2.0), "n_nodes is 2.0 but must be a whole number."),
    (lambda: Graph.from_edges([0], [1], n_nodes=2**31),
     "n_nodes is 2147483648 but must lie between 0 and 2147483647."),
    (lambda: Graph.from_edges([], [], n_nodes=-1),
     "n_nodes is -1 but must lie between 0 and 2147483647."),
    # weights
    (lambda: Graph.from_edges(["a", "b"], ["b", "c"], weight=[1, -2]),
     f"Edge 1, from 'b' to 'c', has weight -2.0: {WEIGHT_ADVICE}"),
    (lambda: Graph.from_edges([5, 6], [6, 7], weight=[np.inf, 1]),
     f"Edge 0, from 5 to 6, has weight inf: {WEIGHT_ADVICE}"),
    (lambda: Graph.from_edges([0, 1], [1, 2], weight=[1, np.nan]),
     f"Edge 1, from 1 to 2, has weight nan: {WEIGHT_ADVICE}"),
    (lambda: Graph.from_scipy(-matrix()), f"Edge 0, from 0 to 1, has weight -1.0: {WEIGHT_ADVICE}"),
    (lambda: Graph.from_edges(np.array(["2020-01-01"], "M8[D]"), ["b"], weight=[-1]),
     f"Edge 0, from 2020-01-01 to 'b', has weight -1.0: {WEIGHT_ADVICE}"),
    (lambda: Graph.from_edges([0, 1], [1, 2], weight=[1]),
     "The weights have shape (1,) but there are 2 edge(s): pass one number per edge."),
    (lambda: Graph.from_edges([0, 1], [1, 2], weight=[1, None]),
     "The weight of edge 1 is None, which is no number."),
    (lambda: Graph.from_edges([0, 1], [1, 2], weight=["1", "2"]),
     "The weight of edge 0 is '1', which is no number."),
    (lambda: Graph.from_edges([0], [1], weight=np.array([1j])),
     "The weights have dtype complex128, which holds no numbers."),
    (lambda: Graph.from_edges([0, 1], [1, 2], weight=[1e308, 1e308]),
     "The weights add up to more than a float can hold: divide all of them by the largest."),
    (lambda: Graph.from_edges([0], [1], weight=[1], merge="last"),
     "merge is 'last' but must be one of 'mean', 'sum', 'max', 'min'."),
    # direction and loops
    (lambda: Graph.from_edges([0, 1, 1], [1, 0, 2], directed="refuse"),
     f"The edge from 1 to 2 {ONE_WAY}"),
    (lambda: Graph.from_edges(["a", "b"], ["b", "a"], weight=[1, 2], directed="refuse"),
     f"The edge from 'a' to 'b' {ONE_WAY}"),
    (lambda: Graph.from_scipy(sparse.csr_array([[0, 1], [0, 0]]), directed="refuse"),
     f"The edge from 0 to 1 {ONE_WAY}"),
    (lambda: Graph.from_networkx(nx.DiGraph([("a", "b")]), directed="refuse"),
     f"The edge from 'a' to 'b' {ONE_WAY}"),
    (lambda: Graph.of(np.triu(np.ones((3, 3)))), f"The edge from 0 to 1 {ONE_WAY}"),
    (lambda: Graph.from_edges([0], [1], directed=True),
     "directed is True but must be one of 'symmetrize', 'refuse'."),
    (lambda: Graph.from_edges([0], [1], self_loops="no"),
     "self_loops is 'no' but must be True or False."),
    # tables
    (lambda: Graph.from_table(table()),
     "The edge table has 3 column(s) ('a', 'b', 'w'): say which hold the ends of an edge, as in "
     "from_table(table, 'source', 'target')."),
    (lambda: Graph.from_table(table(), "a"),
     "Name both the source and the target column, or neither."),
    (lambda: Graph.from_table(table(), "a", "b", "weight"),
     "The edges have no 'weight'; they have: 'a', 'b', 'w'."),
    (lambda: Graph.from_table(PAIRS), f"list {ACCEPTED}"),
    # matrices
    (lambda: Graph.from_csr([[0, 1]], [0]),
     "indptr must be a column of whole numbers that starts at 0."),
    (lambda: Graph.from_csr([0.0, 1.0], [0]),
     "indptr must be a column of whole numbers that starts at 0."),
    (lambda: Graph.from_csr([1, 1], [0]),
     "indptr must be a column of whole numbers that starts at 0."),
    (lambda: Graph.from_csr([], []), "indptr must be a column of whole numbers that starts at 0."),
    (lambda: Graph.from_csr([0, 2, 1, 2], [0, 1]),
     "indptr falls from 2 to 1 at row 1: it must not decrease."),
    (lambda: Graph.from_csr([0, 2, -(2**63) + 1, 2], [0, 1]),  # a difference would wrap
     f"indptr falls from 2 to {-(2**63) + 1} at row 1: it must not decrease."),
    (lambda: Graph.from_csr(np.array([0, 2**63, 2], dtype=np.uint64), [0, 1]),
     f"indptr falls from {2**63} to 2 at row 1: it must not decrease."),
    (lambda: Graph.from_csr(np.array([0, 1, 2], dtype=object), [0, 1]),
     "indptr must be a column of whole numbers that starts at 0."),
    (lambda: Graph.from_edges(np.array([[0, 7]], "m8"), n_nodes=2),
     "n_nodes=2 says that nodes go by row number, but the source of edge 0 is 0: pass nodes= with "
     "the ids in row order instead."),
    (lambda: Graph.from_edges(np.array([[0, 7], [1, 3], [0, 0]]).view("M8"), n_nodes=2),
     "n_nodes=2 says that nodes go by row number, but the source of edge 0 is 0: pass nodes= with "
     "the ids in row order instead."),
    (lambda: Graph.from_csr([0, 1, 3], [1, 0]),
     "indptr ends at 3 but there are 2 indices: both must be equal."),
    (lambda: Graph.from_csr([0, 1, 2], [1, 2]), "indices[1] is 2 but must lie between 0 and 1."),
    (lambda: Graph.from_csr([0, 1, 2], [-1, 0]), "indices[0] is -1 but must lie between 0 and 1."),
    (lambda: Graph.from_csr([0, 1, 2], [1.0, 0.0]), "indices must be a column of whole numbers."),
    (lambda: Graph.from_csr([0, 1, 2], [1, 0], [1]),
     "The weights have shape (1,) but there are 2 edge(s): pass one number per edge."),
    (lambda: Graph.from_csr([0, 1, 2], [1, 0], ids=["a"]),
     "There are 1 id(s) but 2 node(s): pass one per node."),
    (lambda: Graph.from_csr([0, 1, 2], [1, 0], ids=["a", "a"]),
     "The node id 'a' occurs twice, at positions 0 and 1: ids must be unique."),
    (lambda: Graph.from_scipy(np.ones((3, 3))),
     "from_scipy reads SciPy sparse matrices, not ndarray: pass scipy.sparse.csr_array(A)."),
    (lambda: Graph.from_scipy(sparse.csr_array((2, 3))),
     "The matrix has shape (2, 3) but must be square, one row and one column per node."),
    (lambda: Graph.from_scipy(sparse.coo_array((2**31, 2**31))),
     "n_nodes is 2147483648 but must lie between 0 and 2147483647."),
    (lambda: Graph.from_scipy(matrix().astype(complex)),
     "The matrix has dtype complex128, which holds no real numbers."),
    (lambda: Graph.from_scipy(out_of_range("csr")),
     "indices[3] is 1000000 but must lie between 0 and 4."),
    (lambda: Graph.from_scipy(out_of_range("csc")),
     "indices[3] is 1000000 but must lie between 0 and 4."),
    (lambda: Graph.from_scipy(out_of_range("bsr")),
     "indices[3] is 1000000 but must lie between 0 and 4."),
    (lambda: Graph.from_scipy(out_of_range("lil")),
     "indices[3] is 1000000 but must lie between 0 and 4."),
    (lambda: Graph.from_scipy(out_of_range("coo")),
     "Entry 3 is in row 1000000, column 3 of a matrix of 5 rows and columns, numbered from 0."),
    (lambda: Graph.from_scipy(broken("indptr", [0, 10**6, 4, 7, 8, 8])),
     "indptr falls from 1000000 to 4 at row 1: it must not decrease."),
    (lambda: Graph.from_scipy(broken("indptr", [0, 8])), "indptr has 2 entries but 5 rows need 6."),
    (lambda: Graph.from_scipy(broken("data", [1.0])),
     "There are 1 values but 8 indices: both must be equal."),
    (lambda: Graph.from_scipy(broken_coo()),
     "The matrix has 8 row numbers, 8 column numbers and 1 values: all must be equal."),
    # other libraries
    (lambda: Graph.from_networkx(nx.Graph([("a", "b")]), "w"),
     "The edge from 'a' to 'b' has no attribute 'w': give every edge one, or pass weight=None."),
    (lambda: Graph.from_igraph(ig_graph(), "weight"),
     "The edges have no 'weight'; they have: 'w'."),
    (lambda: Graph.from_igraph(igraph.Graph(n=2, vertex_attrs={"name": ["a", "a"]})),
     "The node id 'a' occurs twice, at positions 0 and 1: ids must be unique."),
    (lambda: Graph.from_pyg(torch.tensor(INDEX)),
     "An edge_index does not tell how many nodes there are: pass n_nodes as well."),
    (lambda: Graph.from_pyg(pyg_data(), edge_weight="edge_weight"),
     "Data has no attribute 'edge_weight' to take weights from."),
    (lambda: Graph.from_pyg(torch.tensor(INDEX.T), n_nodes=5),
     "edge_index has shape (4, 2) but must be two rows [2, n_edges], sources and targets: pass "
     "edge_index.t() if it is two columns."),
    (lambda: Graph.from_pyg(HeteroData()),
     "The data have neither edge_index nor adj_t, hence no edges."),
    (lambda: Graph.of(Data(x=torch.ones(3, 1))),
     "The data have neither edge_index nor adj_t, hence no edges."),
    # anything else
    (lambda: Graph.of(None), f"NoneType {ACCEPTED}"),
    (lambda: Graph.of("edges.csv"), f"str {ACCEPTED}"),
    (lambda: Graph.of(HeteroData()), f"HeteroData {ACCEPTED}"),
    (lambda: Graph.of(np.eye(2)),
     "A 2 x 2 array may be two edges or the matrix of two nodes: pass it to Graph.from_edges, or "
     "as a sparse matrix to Graph.from_scipy."),
    (lambda: Graph.of(np.zeros((3, 4))),
     "An array of shape (3, 4) is no graph: pass edges as [2, n_edges] or [n_edges, 2], or a "
     "square matrix."),
    (lambda: Graph.of(np.full((3, 3), "a")),
     "The matrix has dtype <U1, which holds no real numbers."),
]
# fmt: on


@pytest.mark.parametrize(("make", "sentence"), REFUSED)
def test_refusals(make, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        make()


# -- what never changes --


def test_graphs_are_made_by_their_constructors():
    with pytest.raises(TypeError, match=r"call Graph\.from_edges"):
        Graph(PAIRS)


def test_a_graph_is_taken_as_it_is():
    graph = Graph.from_edges(PAIRS)
    assert Graph.of(graph) is graph


def test_immutable():
    graph = Graph.from_edges(["a"], ["b"], weight=[2])
    for array in (graph.indptr, graph.indices, graph.weights, graph.ids, graph.degrees()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError, match="a Graph never changes: 'weights' cannot be set"):
        graph.weights = None
    with pytest.raises(AttributeError, match="a Graph never changes: 'ids' cannot be deleted"):
        del graph.ids
    with pytest.raises(AttributeError):
        graph.colour = "red"


def test_the_input_is_neither_changed_nor_kept():
    nodes = np.array([3, 2, 1])
    inputs = [np.array([1, 2]), np.array([2, 3]), np.array([1.0, 2.0]), nodes]
    before = [array.copy() for array in inputs]
    graph = Graph.from_edges(*inputs[:2], weight=inputs[2], nodes=nodes)
    A = sparse.csr_array((np.array([1.0, 1, 2, 0]), [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))
    parts = [array.copy() for array in (A.data, A.indices, A.indptr)]
    assert Graph.from_scipy(A).weights.tolist() == [2, 2]
    for array, old in zip([*inputs, A.data, A.indices, A.indptr], before + parts, strict=True):
        assert array.flags.writeable
        np.testing.assert_array_equal(array, old)
    nodes[:] = 0
    assert ids_of(graph) == [3, 2, 1]


def test_equality_is_identity_and_copies_are_the_graph_itself():
    graph, same = Graph.from_edges(PAIRS), Graph.from_edges(PAIRS)
    assert graph == graph
    assert graph != same
    assert len({graph, same}) == 2
    assert copy.copy(graph) is graph
    assert copy.deepcopy({"graph": graph})["graph"] is graph


def test_pickle():
    graph = Graph.from_edges(["a", "b"], [("c", 1), "b"], weight=[2, 1], self_loops=True)
    graph.derived("answer", lambda: 42)
    again = pickle.loads(pickle.dumps(graph))
    assert repr(again) == repr(graph)
    assert ids_of(again) == ids_of(graph)
    np.testing.assert_array_equal(dense(again), dense(graph))
    assert not again.indices.flags.writeable
    assert again.derived("answer", lambda: "new") == "new"


def test_derived_facts_are_computed_once():
    graph, calls = Graph.from_edges(PAIRS), []
    assert [graph.derived("fact", lambda: calls.append(1) or 7) for _ in range(3)] == [7, 7, 7]
    assert calls == [1]


def test_read_only_and_strided_edges():
    edges = np.repeat(INDEX, 2, axis=1)[:, ::2]
    edges.flags.writeable = False
    assert Graph.from_edges(edges, n_nodes=5).indices.tolist() == INDICES
    assert Graph.from_edges(edges[:, ::-1], n_nodes=5).indices.tolist() == INDICES


def test_import_is_light():
    code = "import sys, graphfill.graph; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    heavy = ["igraph", "narwhals", "networkx", "pandas", "polars", "pyarrow", "scipy", "torch"]
    assert not [module for module in heavy if module in loaded]


@pytest.mark.parametrize("solve", [graphfill.propagate, graphfill.fill_field])
def test_a_matrix_that_claims_many_nodes_takes_no_room_for_them(solve):
    last = 2**31 - 2
    A = sparse.coo_array(([1.0], ([0], [last])), shape=(last + 1, last + 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=r"X has 3 row.* but the graph has 2147483647 node"):
        solve([[1.0], [None], [2.0]], A)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
