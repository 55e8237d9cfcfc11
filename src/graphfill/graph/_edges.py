"""Edges, read from whatever holds them and numbered by row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from . import _refuse_adjacency, _refuse_graphs
from ._ids import as_array, as_ids, factorize, row_ids, unless_numbers

Array = NDArray[Any]


class Edges(NamedTuple):
    """Edges between rows 0 to n_nodes - 1, and the ids of those rows (None: their numbers).

    `directed` is False if each stands for both directions, True if that has to be seen, and
    None if nobody knows: a list of pairs may mean either.
    """

    source: Array
    target: Array
    weights: Array | None
    n_nodes: int
    ids: Array | None = None
    directed: bool | None = None


def split_pairs(pairs: Any) -> tuple[Any, Any]:
    """Sources and targets out of one array or sequence of pairs."""
    if is_table(pairs):
        return from_table(pairs, None, None, None)[:2]
    if hasattr(pairs, "__array__"):
        pairs = as_array(pairs)
        if pairs.ndim != 1:
            _refuse_graphs.check_pairs_shape(pairs.shape)
            source, target = pairs if len(pairs) == 2 else pairs.T
            return source, target
    _refuse_graphs.check_sequence(pairs)
    pairs = list(pairs)
    _refuse_graphs.check_pairs(pairs)
    return [u for u, _ in pairs], [v for _, v in pairs]


# -- from ids to rows --


def by_number(source: Array, target: Array, n_nodes: int) -> Edges:
    """Edges whose ids are row numbers already; nothing is copied but to unify the types."""
    _refuse_graphs.check_numbered(source, target, n_nodes)
    if source.dtype != target.dtype:
        source, target = source.astype(np.int64), target.astype(np.int64)
    source, target = np.ascontiguousarray(source), np.ascontiguousarray(target)
    _refuse_graphs.check_edge_range(kernels.edge_range(source, target), source, target, n_nodes)
    return Edges(source, target, None, n_nodes)


def by_id(source: Array, target: Array, nodes: Array | None, unknown: str) -> Edges:
    """Edges between ids: those of `nodes` in that order, or all that occur, sorted."""
    if nodes is None:
        ids, (source, target) = factorize(source, target)
    else:
        distinct, (own, source, target) = factorize(nodes, source, target)
        _refuse_graphs.check_distinct_ids(nodes, own)
        row = np.full(distinct.size, -1, dtype=np.int64)
        row[own] = np.arange(own.size)
        if own.size < distinct.size:
            if unknown == "refuse":
                _refuse_graphs.check_known_ids(row, source, target, distinct, nodes)
            others = np.flatnonzero(row < 0)
            row[others] = own.size + np.arange(others.size)
            own = np.concatenate([own, others])
        ids = distinct[own]
        source, target = row[source], row[target]
    numbered = by_number(source, target, _refuse_graphs.check_node_count(ids.size))
    return numbered._replace(ids=unless_numbers(ids))


def first_one_way(edges: Edges, indptr: Array, indices: Array, weights: Array | None) -> int | None:
    """Number of the first edge that is not listed alike in both directions.

    The other arrays are the symmetric CSR built from these edges. Edges that list it entry by
    entry, as a symmetric matrix does, are symmetric without further search.
    """
    source, target, listed, n_nodes = edges[:4]
    if (
        np.array_equal(target, indices)
        and np.array_equal(source, np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(indptr)))
        and (listed is None or weights is None or np.allclose(listed, weights, rtol=1e-6, atol=0))
    ):
        return None
    pair = np.minimum(source, target).astype(np.int64) * n_nodes + np.maximum(source, target)
    _, pair = np.unique(pair, return_inverse=True)
    up, down = source <= target, source >= target
    n_up, n_down = np.bincount(pair, up), np.bincount(pair, down)
    alike = (n_up > 0) & (n_down > 0)
    if listed is not None:
        mean_up = np.bincount(pair, listed * up) / np.maximum(n_up, 1)
        mean_down = np.bincount(pair, listed * down) / np.maximum(n_down, 1)
        alike &= np.isclose(mean_up, mean_down, rtol=1e-6, atol=0)
    one_way = np.flatnonzero(~alike[pair])
    return int(one_way[0]) if one_way.size else None


def without_zeros(edges: Edges) -> Edges:
    """The edges whose weight is not zero, all weights having been checked."""
    source, target, weights, _, ids, _ = edges
    if weights is None:
        return edges
    _refuse_graphs.check_weight_range(weights, source, target, ids)
    kept = weights != 0
    if kept.all():
        return edges
    return edges._replace(source=source[kept], target=target[kept], weights=weights[kept])


# -- from the objects of other libraries --


def from_matrix(A: Any, *, weighted: bool, self_loops: bool) -> Edges:
    """Entries of a SciPy sparse matrix in reading order, without zeros."""
    from scipy import sparse

    _refuse_adjacency.check_sparse(A, sparse.issparse(A))
    n_nodes = _refuse_adjacency.check_square(A.shape)
    if A.format not in ("csr", "csc", "bsr", "coo"):
        A = A.tocsr() if A.format == "lil" else A.tocoo()
    # SciPy trusts these arrays and would read outside them: check before it does anything.
    if A.format == "coo":
        _refuse_adjacency.check_coordinates(A.row, A.col, A.data, n_nodes)
    else:
        rows, columns = A.blocksize if A.format == "bsr" else (1, 1)
        _refuse_adjacency.check_compressed(A.indptr, A.indices, n_nodes // rows, n_nodes // columns)
        _refuse_adjacency.check_value_count(len(A.data), A.indices.size)
    _refuse_adjacency.check_matrix_dtype(A.dtype)
    # Before duplicates are added up: in int8 they would overflow.
    A = A.astype(np.float64 if weighted and A.dtype != bool else bool, copy=False).tocsr()
    A = sparse.csr_array((A.data, A.indices, A.indptr), shape=A.shape)
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()

    source = np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(A.indptr))
    target = A.indices.astype(np.int32, copy=False)
    values = A.data
    kept = values != 0
    if not self_loops:
        kept &= source != target
    if not kept.all():
        source, target, values = source[kept], target[kept], values[kept]
    weights = None if values.dtype == bool else values
    return Edges(source, target, weights, n_nodes, directed=True)


def from_dense(A: Array) -> Edges:
    """Entries of a matrix other than zero, in reading order."""
    n_nodes = _refuse_adjacency.check_square(A.shape)
    _refuse_adjacency.check_matrix_dtype(A.dtype)
    source, target = np.nonzero(A)
    weights = A[source, target].astype(np.float64)
    return Edges(source, target, weights, n_nodes, directed=True)


def from_networkx(G: Any, weight: str | None) -> Edges:
    """Edges of a NetworkX graph, rows in the order of its nodes."""
    ids = as_ids(list(G.nodes), "node")
    row = {node: number for number, node in enumerate(G.nodes)}
    listed = list(G.edges()) if weight is None else list(G.edges(data=weight))
    source = np.fromiter((row[edge[0]] for edge in listed), np.int64, count=len(listed))
    target = np.fromiter((row[edge[1]] for edge in listed), np.int64, count=len(listed))
    weights = None
    if weight is not None:
        _refuse_graphs.check_edge_attribute(listed, weight)
        values = as_array([edge[2] for edge in listed])
        weights = _refuse_graphs.check_edge_weights(values, len(listed))
    return Edges(source, target, weights, ids.size, unless_numbers(ids), G.is_directed())


def from_igraph(g: Any, weight: str | None) -> Edges:
    """Edges of an igraph graph, rows in the order of its vertices."""
    ids = row_ids(g.vs["name"], g.vcount()) if "name" in g.vs.attributes() else None
    ends = np.array(g.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    weights = None
    if weight is not None:
        _refuse_graphs.check_attribute(weight, g.es.attributes(), "edges")
        weights = _refuse_graphs.check_edge_weights(as_array(g.es[weight]), ends.shape[1])
    source, target = np.ascontiguousarray(ends)
    return Edges(source, target, weights, g.vcount(), ids, g.is_directed())


def from_sparse_tensor(A: Any) -> tuple[Array, Array, Any]:
    """indptr, indices and values of a torch CSR tensor or a torch_sparse.SparseTensor."""
    A = A.cpu()
    if hasattr(A, "csr"):
        indptr, indices, values = A.csr()
    else:
        _refuse_graphs.check_csr_layout(A)
        indptr, indices, values = A.crow_indices(), A.col_indices(), A.values()
    return indptr.numpy(), indices.numpy(), values


def is_table(value: Any) -> bool:
    # Asking the class: asking a lazy frame would resolve its schema.
    return hasattr(type(value), "columns")


def from_table(table: Any, source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Columns of a table: both ends of the edges, and their weights if named."""
    import narwhals as nw

    try:
        frame = nw.from_native(table)
    except TypeError:
        raise _refuse_graphs.not_a_graph(table) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    source, target = _refuse_graphs.check_edge_columns(frame.columns, source, target)
    names = [source, target] if weight is None else [source, target, weight]
    for name in names:
        _refuse_graphs.check_attribute(name, frame.columns, "edges")
    columns = [frame.get_column(name).to_native() for name in names]
    return columns[0], columns[1], None if weight is None else columns[2]
