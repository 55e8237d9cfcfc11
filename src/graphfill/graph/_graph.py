"""The graph: immutable compressed sparse rows, and the ids of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_choice
from . import _readers as reader
from ._edges import Edges, build_rows, by_id, by_number, check_edge_weights, check_ends
from ._ids import as_array, as_ids, check_node_count, is_table, row_ids

T = TypeVar("T")


class Graph:
    """An undirected graph whose nodes are the rows of a table.

    Row i of the symmetric adjacency matrix A has its columns in
    ``indices[indptr[i]:indptr[i + 1]]``, ascending and without duplicates. Graphs are made by
    the ``from_`` constructors or by `Graph.of`, never change, and compare by identity.

    Attributes
    ----------
    n_nodes, n_edges, n_self_loops : int
        An edge counts once, whichever way it was listed; so does a self-loop.
    indptr : int64 array of n_nodes + 1, read-only
    indices : int32 array, read-only
    weights : float64 array as long as `indices`, read-only; or None, all edges being equal
    ids : array of n_nodes ids in row order, read-only; or None, the ids being 0, 1, 2, ...

    Examples
    --------
    >>> from graphfill import Graph
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cat"])
    >>> graph
    Graph(n_nodes=3, n_edges=2, weighted=False)
    >>> graph.degrees()
    array([1., 2., 1.])
    """

    __module__ = "graphfill"
    __slots__ = ("__weakref__", "_derived", "ids", "indices", "indptr", "n_self_loops", "weights")

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: NDArray[Any] | None
    n_self_loops: int
    _derived: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("Graph() takes no edges: call Graph.from_edges(...) or Graph.of(...).")

    @property
    def n_nodes(self) -> int:
        return self.indptr.size - 1

    @property
    def n_edges(self) -> int:
        return (self.indices.size + self.n_self_loops) // 2

    def degrees(self) -> NDArray[np.float64]:
        """Row sums of A: the weight of each node's edges, or their number; a loop counts once."""

        def compute() -> NDArray[np.float64]:
            count = np.diff(self.indptr)
            if self.weights is None:
                return count.astype(np.float64)
            degrees = np.zeros(self.n_nodes)
            # reduceat has no notion of an empty row.
            filled = np.flatnonzero(count)
            degrees[filled] = np.add.reduceat(self.weights, self.indptr[filled])
            return degrees

        return self.derived("degrees", compute)

    def derived(self, key: str, compute: Callable[[], T]) -> T:
        """The value of ``compute()``, computed at the first call with this key and then kept."""
        if key not in self._derived:
            value = compute()
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            self._derived[key] = value
        kept: T = self._derived[key]
        return kept

    # -- constructors --

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any = None,
        *,
        weight: Any = None,
        nodes: Any = None,
        n_nodes: int | None = None,
        unknown: str = "refuse",
        merge: str = "mean",
        self_loops: bool = False,
        directed: str = "symmetrize",
    ) -> Graph:
        """Make a graph from two columns of ids, or from one list of pairs.

        A list has no direction: each pair is one undirected edge, listed once or both ways. (A
        matrix, a DiGraph and PyG's ``edge_index`` have one; what they list one way only is taken
        both ways with a `SymmetrizedWarning`.) Ids may be anything that can be hashed, but not
        missing; two ids are the same node if ``==`` says so. Whole floats count as integers.

        Parameters
        ----------
        source, target : array-like
            The ends of each edge: arrays, series, tensors or lists. `source` alone may hold
            both: a list of pairs, a table (see `from_table`) or an array of shape (2, n_edges)
            or (n_edges, 2); a 2 x 2 array is read as the former, as PyG does.
        weight : array-like, optional
            One finite, non-negative number per edge; an edge of weight 0 is no edge.
        nodes : array-like, optional
            The ids in row order. By default the ids that occur, sorted; in order of appearance
            (sources before targets) if they have no order.
        n_nodes : int, optional
            Instead of `nodes`: the ids are the row numbers 0 to n_nodes - 1.
        unknown : {"refuse", "add"}
            What to do with ids that are not among `nodes`; "add" appends them as new rows.
        merge : {"mean", "sum", "max", "min"}
            The weight of a pair that is listed several times, in whichever direction.
        self_loops : bool
            Keep edges from a node to itself.
        directed : {"symmetrize", "refuse"}
            Refuse edges that are not listed alike in both directions, or take each both ways.
        """
        check_choice("unknown", unknown, ("refuse", "add"))
        if nodes is not None and n_nodes is not None:
            raise InputError(
                "Pass nodes (edges name ids) or n_nodes (edges name row numbers), not both."
            )
        if target is None:
            source, target = reader.split_pairs(source)
        source, target = as_ids(source, "source"), as_ids(target, "target")
        check_ends(source, target)
        if n_nodes is not None:
            edges = by_number(source, target, check_node_count(n_nodes))
        else:
            ids = None if nodes is None else as_ids(nodes, "node")
            edges = by_id(source, target, ids, unknown)
        if weight is not None:
            edges = edges._replace(weights=check_edge_weights(as_array(weight), source.size))
        return cls._from(edges, merge=merge, self_loops=self_loops, directed=directed)

    @classmethod
    def from_table(
        cls, table: Any, source: Any = None, target: Any = None, weight: Any = None, **options: Any
    ) -> Graph:
        """Make a graph from two columns of a pandas, Polars or PyArrow table.

        Parameters
        ----------
        table : a table that Narwhals can read
        source, target : column names, optional
            By default "source" and "target", or else the two columns of a table that has two.
        weight : column name, optional
        **options
            As in `from_edges`.
        """
        u, v, weights = reader.from_table(table, source, target, weight)
        return cls.from_edges(u, v, weight=weights, **options)

    @classmethod
    def from_csr(cls, indptr: Any, indices: Any, weights: Any = None, **options: Any) -> Graph:
        """Make a graph from compressed sparse rows, sorted or not.

        The options are `ids`, `self_loops` and `directed` of `from_scipy`.
        """
        from scipy import sparse

        starts, columns = np.asarray(indptr), np.asarray(indices)
        n_nodes = max(starts.size - 1, 0)
        reader.check_compressed(starts, columns, n_nodes, n_nodes)
        values = np.ones(columns.size, dtype=bool)
        if weights is not None:
            values = check_edge_weights(as_array(weights), columns.size)
        columns = columns.astype(np.int64, copy=False)
        A = sparse.csr_array((values, columns, starts), shape=(n_nodes, n_nodes))
        return cls.from_scipy(A, **options)

    @classmethod
    def from_scipy(
        cls,
        A: Any,
        *,
        weighted: bool = True,
        ids: Any = None,
        self_loops: bool = False,
        directed: str = "symmetrize",
    ) -> Graph:
        """Make a graph from a sparse adjacency matrix of any format.

        Entries are weights, zeros no edges, and repeated entries add up, as SciPy has it. Of
        A[i, j] and A[j, i] the mean is taken, with a `SymmetrizedWarning` if they differ by more
        than rounding; if one of them is zero, the other is taken.

        Parameters
        ----------
        A : sparse matrix or array, square
        weighted : bool
            False ignores the values of A other than zero.
        ids : array-like, optional
            One id per row.
        self_loops, directed
            As in `from_edges`.
        """
        edges = reader.from_matrix(A, weighted=weighted, self_loops=self_loops)
        edges = edges._replace(ids=row_ids(ids, edges.n_nodes))
        return cls._from(edges, self_loops=self_loops, directed=directed)

    @classmethod
    def from_networkx(cls, G: Any, weight: str | None = None, **options: Any) -> Graph:
        """Make a graph from a NetworkX graph, rows in the order of its nodes.

        Edges count equally unless `weight` names the attribute that holds their weights. A
        DiGraph is taken as undirected, with a `SymmetrizedWarning` if some edge goes one way only.
        The options are `merge`, `self_loops` and `directed` of `from_edges`.
        """
        return cls._from(reader.from_networkx(G, weight), **options)

    @classmethod
    def from_igraph(cls, g: Any, weight: str | None = None, **options: Any) -> Graph:
        """Make a graph from an igraph graph, the ids being its vertex names if it has any.

        Weights, directed graphs and options are those of `from_networkx`.
        """
        return cls._from(reader.from_igraph(g, weight), **options)

    @classmethod
    def from_pyg(
        cls, data: Any, n_nodes: int | None = None, edge_weight: str | None = None, **options: Any
    ) -> Graph:
        """Make a graph from a PyG ``Data``, or from an ``edge_index`` and `n_nodes`.

        Parameters
        ----------
        data : tensor of shape (2, n_edges), or object with ``edge_index`` and ``num_nodes``
            Edges are taken both ways, with a `SymmetrizedWarning` if some are listed one way
            only. An ``adj_t`` in place of ``edge_index`` is read as a matrix, see `from_scipy`.
        n_nodes : int, optional
            By default ``data.num_nodes``.
        edge_weight : str, optional
            The attribute that holds one weight per edge, which is not used unless named.
        **options
            `merge`, `self_loops` and `directed`, as in `from_edges`.
        """
        edge_index = data if hasattr(data, "__array__") else getattr(data, "edge_index", None)
        if edge_index is None and getattr(data, "adj_t", None) is not None:
            indptr, indices, values = reader.from_sparse_tensor(data.adj_t)
            weights = values if edge_weight == "adj_t" else None
            return cls.from_csr(indptr, indices, weights, **options)
        n_nodes = getattr(data, "num_nodes", None) if n_nodes is None else n_nodes
        if edge_index is None:
            raise InputError("The data have neither edge_index nor adj_t, hence no edges.")
        if n_nodes is None:
            raise InputError(
                "An edge_index does not tell how many nodes there are: pass n_nodes as well."
            )
        source, target = (as_ids(ends, "edge") for ends in reader.two_rows(edge_index))
        edges = by_number(source, target, check_node_count(n_nodes))._replace(directed=True)
        if edge_weight is not None:
            weights = as_array(reader.weight_attribute(data, edge_weight))
            edges = edges._replace(weights=check_edge_weights(weights, source.size))
        return cls._from(edges, **options)

    @classmethod
    def of(cls, graph: Any, n_nodes: int | None = None) -> Graph:
        """Recognise a graph in whatever form it comes, with the defaults of its constructor.

        Parameters
        ----------
        graph : Graph, or what one of the constructors reads
            Also a dense symmetric matrix of at least 3 rows (one of 2 rows could be edges), and a
            dict from every node to a list of its neighbours.
        n_nodes : int, optional
            For edges in an array, list or table, which are then read as row numbers. Whatever
            has nodes of its own keeps them, be they more or fewer.
        """
        if isinstance(graph, Graph):
            return graph
        if is_table(graph):
            return cls.from_table(graph, n_nodes=n_nodes)
        if hasattr(graph, "tocsr"):
            return cls.from_scipy(graph)
        if reader.is_spatial(graph):
            A, ids = reader.from_spatial(graph)
            return cls.from_scipy(A, weighted=bool((A.data != 1.0).any()), ids=ids)
        if hasattr(graph, "edge_index") or hasattr(graph, "adj_t"):
            return cls.from_pyg(graph)
        if hasattr(graph, "vcount"):
            return cls.from_igraph(graph)
        if hasattr(graph, "adjacency"):
            return cls.from_networkx(graph)
        if hasattr(graph, "__array__"):
            array = as_array(graph)
            if reader.holds_edges(array.shape):
                return cls.from_edges(array, n_nodes=n_nodes)
            return cls._from(reader.from_dense(array), directed="refuse")
        # NetworkX's view of edges is a mapping too, but from pairs.
        if isinstance(graph, Mapping) and not isinstance(graph, Set):
            ends = reader.from_neighbours(graph)
            others = [node for node in dict.fromkeys(ends[1]) if node not in graph]
            nodes = None if n_nodes is not None else [*graph, *others]
            return cls.from_edges(*ends, nodes=nodes, n_nodes=n_nodes)
        if isinstance(graph, (list, tuple, Set, Iterator)):
            return cls.from_edges(graph, n_nodes=n_nodes)
        raise reader.not_a_graph(graph)

    @classmethod
    def _from(cls, edges: Edges, **options: Any) -> Graph:
        return cls.of_sorted_rows(*build_rows(edges, **options))

    @classmethod
    def of_sorted_rows(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
        ids: NDArray[Any] | None = None,
        n_self_loops: int = 0,
    ) -> Graph:
        """Make a graph of its own arrays, which are trusted: symmetric, ascending, no duplicates.

        They may be memory-mapped. Use `from_csr` for arrays from elsewhere.
        """
        graph = object.__new__(cls)
        graph.__setstate__((indptr, indices, weights, ids, n_self_loops))
        return graph

    # -- immutable, shared by copies --

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Graph never changes: {name!r} cannot be set; make another graph")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Graph never changes: {name!r} cannot be deleted")

    def __getstate__(self) -> tuple[Any, ...]:
        return self.indptr, self.indices, self.weights, self.ids, self.n_self_loops

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        names = ("indptr", "indices", "weights", "ids", "n_self_loops")
        for name, value in zip(names, state, strict=True):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_derived", {})

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __repr__(self) -> str:
        weighted = self.weights is not None
        return f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, weighted={weighted})"


__test__ = {"Graph": Graph}  # doctest skips classes whose module has another name
