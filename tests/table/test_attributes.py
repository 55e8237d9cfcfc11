"""Node attributes of NetworkX and igraph graphs are filled as the columns of a table are."""

import datetime as dt

import igraph
import networkx as nx
import pytest

from graphfill import InputError
from graphfill.errors import GraphfillWarning
from graphfill.table._attributes import impute_graph
from graphfill.table._result import TableResult

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")

# Two rings of ten, joined by one edge; nodes of several types.
NODES = [(0, 1), "b", 2, frozenset({3}), *range(100, 106), *(f"n{i}" for i in range(10))]
EDGES = [
    *((NODES[i], NODES[(i + 1) % 10]) for i in range(10)),
    *((NODES[10 + i], NODES[10 + (i + 1) % 10]) for i in range(10)),
    (NODES[0], NODES[10]),
]
DAYS = [dt.date(2020, 1, 1), dt.date(2024, 6, 1)]
LOST = {3, 7, 14, 18}


def attributes_of(row):
    """What node number `row` knows: the first ring differs from the second in everything."""
    ring = row // 10
    return {
        "age": 20 + 40 * ring + row % 2,
        "height": 1.5 + 0.25 * ring,
        "city": ("Oslo", "Rome")[ring],
        "member": bool(ring),
        "since": DAYS[ring],
    }


def networkx_graph(kind=nx.Graph):
    G = kind()
    G.add_nodes_from(NODES)
    G.add_edges_from(EDGES)
    for row, node in enumerate(NODES):
        if row == 3:
            continue  # knows nothing at all
        G.nodes[node].update(attributes_of(row))
        if row in LOST:
            G.nodes[node].update(age=None, height=float("nan"), city=None)
            del G.nodes[node]["member"], G.nodes[node]["since"]
    return G


def igraph_graph(directed=False):
    row = {node: number for number, node in enumerate(NODES)}
    g = igraph.Graph(len(NODES), [(row[u], row[v]) for u, v in EDGES], directed=directed)
    for name in attributes_of(0):
        g.vs[name] = [None if i in LOST else attributes_of(i)[name] for i in range(len(NODES))]
    g.vs["name"] = [str(node) for node in NODES]
    return g


def check_filled(row, held):
    truth = attributes_of(row)
    assert {name: type(held[name]) for name in truth} == {n: type(v) for n, v in truth.items()}
    assert held["age"] in range(20 + 40 * (row // 10), 22 + 40 * (row // 10))
    assert held["height"] == pytest.approx(truth["height"])
    for name in ("city", "member", "since"):
        assert held[name] == truth[name]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_types_are_kept_and_known_values_are_the_same_objects(kind):
    G = networkx_graph(kind)
    before = repr(G.nodes(data=True))
    H = impute_graph(G, reliance=1)
    assert type(H) is kind
    assert list(H.nodes) == NODES
    assert list(H.edges) == list(G.edges)
    assert repr(G.nodes(data=True)) == before
    for row, node in enumerate(NODES):
        check_filled(row, H.nodes[node])
        if row not in LOST:
            assert all(H.nodes[node][name] is value for name, value in G.nodes[node].items())


@pytest.mark.parametrize("directed", [False, True])
def test_igraph(directed):
    g = igraph_graph(directed)
    h = impute_graph(g, reliance=1)
    assert h.vs["name"] == g.vs["name"]
    assert h.is_directed() == directed
    assert g.vs[7]["age"] is None
    for row in range(len(NODES)):
        check_filled(row, h.vs[row].attributes())


@pytest.mark.parametrize("make", [networkx_graph, igraph_graph])
def test_in_place_and_named_attributes(make):
    G = make()
    nodes = G.vs if hasattr(G, "vs") else [G.nodes[node] for node in NODES]
    assert impute_graph(G, attributes=["city"], inplace=True) is G
    assert nodes[7]["city"] == "Oslo"
    assert nodes[7]["age"] is None


def test_weights_count_only_by_name():
    G = nx.Graph()
    G.add_edge("a", "b", cost=3.0)
    G.add_edge("b", "c", cost=1.0)
    G.add_nodes_from([("a", {"x": 0.0}), ("c", {"x": 8.0})])
    assert impute_graph(G, reliance=1).nodes["b"]["x"] == pytest.approx(4.0)
    assert impute_graph(G, reliance=1, weight="cost").nodes["b"]["x"] == pytest.approx(2.0)
    with pytest.raises(InputError, match="price"):
        impute_graph(G, weight="price")


def test_the_result_tells_and_marks_become_attributes():
    G = networkx_graph()
    result = impute_graph(G, mark=True, return_result=True)
    assert isinstance(result, TableResult)
    assert result.table is not G
    assert result.table.nodes[NODES[7]]["city_filled"] is True
    assert result.table.nodes[NODES[8]]["city_filled"] is False
    assert result.filled["city"].sum() == len(LOST)
    assert "node" not in result.table.nodes["b"]


def test_what_is_not_scalar_is_left_alone_with_a_note():
    G = networkx_graph()
    G.nodes["b"]["tags"] = ["x"]
    G.nodes[2]["mess"] = 1
    G.nodes["b"]["mess"] = "one"
    with pytest.warns(GraphfillWarning, match=r"Attribute 'tags' is left alone: it holds .*list"):
        H = impute_graph(G)
    assert H.nodes["b"]["tags"] is G.nodes["b"]["tags"]
    assert "tags" not in H.nodes[2]
    assert "mess" not in H.nodes[100]
    with pytest.raises(InputError, match="'mess' mixes"):
        impute_graph(G, attributes=["mess"])


def test_refusals():
    G = networkx_graph()
    with pytest.raises(InputError, match="No node has the attribute 'agee'; did you mean 'age'"):
        impute_graph(G, attributes=["agee"])
    with pytest.raises(InputError, match="No node of the graph has an attribute"):
        impute_graph(nx.path_graph(3))
    with pytest.raises(InputError, match="NetworkX or igraph graph, not of a dict"):
        impute_graph({})
    with pytest.raises(InputError, match="attributes= names what is filled"):
        impute_graph(G, columns=["age"])
