"""Edges of the graphs of other libraries: matrices, tensors, NetworkX, igraph and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, named
from ._edges import Edges, check_edge_weights, first_outside
from ._ids import (
    as_array,
    as_ids,
    check_node_count,
    check_sequence,
    is_table,
    row_ids,
    unless_numbers,
)

Array = NDArray[Any]


def split_pairs(pairs: Any) -> tuple[Any, Any]:
    """Sources and targets out of one array or sequence of pairs."""
    if is_table(pairs):
        return from_table(pairs, None, None, None)[:2]
    if hasattr(pairs, "__array__"):
        pairs = as_array(pairs)
        if pairs.ndim != 1:
            if pairs.ndim != 2 or 2 not in pairs.shape:
                raise InputError(
                    f"The edges have shape {pairs.shape} but must be two rows [2, n_edges] or two "
                    "columns [n_edges, 2] of ids; pass weights as weight=."
                )
            source, target = pairs if len(pairs) == 2 else pairs.T
            return source, target
    check_sequence(pairs)
    pairs = list(pairs)
    for number, edge in enumerate(pairs):
        if isinstance(edge, (str, bytes)) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise InputError(
                f"Edge {number} is {named(edge)} but must be a pair of ids: pass two lists as "
                "from_edges(source, target), and weights as weight=."
            )
    return [u for u, _ in pairs], [v for _, v in pairs]


def from_neighbours(neighbours: Mapping[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Sources and targets of a dict from every node to those linked to it."""
    source: list[Any] = []
    target: list[Any] = []
    for node, others in neighbours.items():
        if isinstance(others, (str, bytes)) or not isinstance(others, Iterable):
            raise InputError(
                f"The neighbours of {named(node)} are {named(others)} but must be a list of nodes."
            )
        others = list(others)
        source += [node] * len(others)
        target += others
    return source, target


def from_matrix(A: Any, *, weighted: bool, self_loops: bool) -> Edges:
    """Entries of a SciPy sparse matrix in reading order, without zeros."""
    from scipy import sparse

    if not sparse.issparse(A):
        raise InputError(
            f"from_scipy reads SciPy sparse matrices, not {type(A).__name__}: pass "
            "scipy.sparse.csr_array(A)."
        )
    n_nodes = _check_square(A.shape)
    if A.format not in ("csr", "csc", "bsr", "coo"):
        A = A.tocsr() if A.format == "lil" else A.tocoo()
    # SciPy trusts these arrays and would read outside them: check before it does anything.
    if A.format == "coo":
        _check_coordinates(A.row, A.col, A.data, n_nodes)
    else:
        rows, columns = A.blocksize if A.format == "bsr" else (1, 1)
        check_compressed(A.indptr, A.indices, n_nodes // rows, n_nodes // columns)
        if len(A.data) != A.indices.size:
            raise InputError(
                f"There are {len(A.data)} values but {A.indices.size} indices: both must be equal."
            )
    _check_values(A.dtype)
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
    n_nodes = _check_square(A.shape)
    _check_values(A.dtype)
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
        for u, v, value in listed:
            if value is None:
                raise InputError(
                    f"The edge from {named(u)} to {named(v)} has no attribute {weight!r}: give "
                    "every edge one, or pass weight=None."
                )
        weights = check_edge_weights(as_array([edge[2] for edge in listed]), len(listed))
    return Edges(source, target, weights, ids.size, unless_numbers(ids), G.is_directed())


def is_spatial(graph: Any) -> bool:
    """Whether a graph is one of libpysal's, a W or a Graph."""
    own = type(graph).__module__.partition(".")[0] == "libpysal"
    return own and hasattr(graph, "sparse") and hasattr(graph, "neighbors")


def from_spatial(graph: Any) -> tuple[Any, list[Any]]:
    """The matrix of weights of a libpysal W or Graph, and the ids of its rows."""
    ids = graph.unique_ids if hasattr(graph, "unique_ids") else graph.id_order
    return graph.sparse, list(ids)


def from_igraph(g: Any, weight: str | None) -> Edges:
    """Edges of an igraph graph, rows in the order of its vertices."""
    ids = row_ids(g.vs["name"], g.vcount()) if "name" in g.vs.attributes() else None
    ends = np.array(g.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    weights = None
    if weight is not None:
        check_attribute(weight, g.es.attributes(), "edges")
        weights = check_edge_weights(as_array(g.es[weight]), ends.shape[1])
    source, target = np.ascontiguousarray(ends)
    return Edges(source, target, weights, g.vcount(), ids, g.is_directed())


def from_sparse_tensor(A: Any) -> tuple[Array, Array, Any]:
    """indptr, indices and values of a torch CSR tensor or a torch_sparse.SparseTensor."""
    A = A.cpu()
    if hasattr(A, "csr"):
        indptr, indices, values = A.csr()
    else:
        if str(A.layout) != "torch.sparse_csr":
            raise InputError(
                f"adj_t has layout {A.layout}: pass adj_t.to_sparse_csr(), or edge_index."
            )
        indptr, indices, values = A.crow_indices(), A.col_indices(), A.values()
    return indptr.numpy(), indices.numpy(), values


def two_rows(edge_index: Any, what: str = "edge_index") -> Array:
    """PyG's edges as an array; refuse another shape."""
    ends = as_array(edge_index)
    if ends.ndim != 2 or len(ends) != 2:
        raise InputError(
            f"{what} has shape {ends.shape} but must be two rows [2, n_edges], sources and "
            "targets: pass edge_index.t() if it is two columns."
        )
    return ends


def weight_attribute(data: Any, name: str) -> Any:
    """The attribute of that name; refuse data without it."""
    values = getattr(data, name, None)
    if values is None:
        raise InputError(f"{type(data).__name__} has no attribute {name!r} to take weights from.")
    return values


def from_table(table: Any, source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Columns of a table: both ends of the edges, and their weights if named."""
    import narwhals as nw

    try:
        frame = nw.from_native(table)
    except TypeError:
        raise not_a_graph(table) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if source is None and target is None:
        source, target = _guess_ends(frame.columns)
    elif source is None or target is None:
        raise InputError("Name both the source and the target column, or neither.")
    names = [source, target] if weight is None else [source, target, weight]
    for name in names:
        check_attribute(name, frame.columns, "edges")
    columns = [frame.get_column(name).to_native() for name in names]
    return columns[0], columns[1], None if weight is None else columns[2]


def _guess_ends(names: Sequence[Any]) -> tuple[Any, Any]:
    """The two columns that hold the ends of the edges; refused where that is not plain."""
    if "source" in names and "target" in names:
        return "source", "target"
    if len(names) != 2:
        raise InputError(
            f"The edge table has {len(names)} column(s) ({', '.join(map(repr, names))}): say which "
            "hold the ends of an edge, as in from_table(table, 'source', 'target')."
        )
    return names[0], names[1]


def check_attribute(name: Any, names: Sequence[Any], holder: str) -> None:
    """Refuse the name of a column or attribute that is not there."""
    if name not in names:
        known = ", ".join(map(repr, names)) or "none"
        raise InputError(f"The {holder} have no {name!r}; they have: {known}.")


def not_a_graph(graph: Any) -> InputError:
    """What to raise for something that `Graph.of` cannot read."""
    return InputError(
        f"{type(graph).__name__} cannot be read as a graph: pass a graphfill, NetworkX or igraph "
        "graph, a PyG Data, a SciPy sparse matrix, a table of edges, an array [2, n_edges], a list "
        "of pairs, or a square NumPy matrix of more than 2 rows."
    )


# -- adjacency matrices --


def holds_edges(shape: tuple[int, ...]) -> bool:
    """Whether an array holds edges, and not a matrix; refuse what may be either, or is neither."""
    if shape == (2, 2):
        raise InputError(
            "A 2 x 2 array may be two edges or the matrix of two nodes: pass it to "
            "Graph.from_edges, or as a sparse matrix to Graph.from_scipy."
        )
    if len(shape) != 2 or (2 not in shape and shape[0] != shape[1]):
        raise InputError(
            f"An array of shape {shape} is no graph: pass edges as [2, n_edges] or [n_edges, 2], "
            "or a square matrix."
        )
    return 2 in shape


def _check_square(shape: tuple[int, ...]) -> int:
    """Return the number of nodes of an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"The matrix has shape {shape} but must be square, one row and one column per node."
        )
    return check_node_count(shape[0])


def _check_values(dtype: np.dtype[Any]) -> None:
    """Refuse a matrix whose values cannot be weights."""
    if dtype.kind not in "biuf":
        raise InputError(f"The matrix has dtype {dtype}, which holds no real numbers.")


def check_compressed(
    indptr: NDArray[Any], indices: NDArray[Any], n_rows: int, n_columns: int
) -> None:
    """Refuse arrays that are no compressed sparse rows; sorted and unique they need not be."""
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or indptr.size == 0 or indptr[0] != 0:
        raise InputError("indptr must be a column of whole numbers that starts at 0.")
    if indptr.size != n_rows + 1:
        raise InputError(f"indptr has {indptr.size} entries but {n_rows} rows need {n_rows + 1}.")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        row = int(falls[0])
        raise InputError(
            f"indptr falls from {indptr[row]} to {indptr[row + 1]} at row {row}: it must not "
            "decrease."
        )
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise InputError("indices must be a column of whole numbers.")
    if indptr[-1] != indices.size:
        raise InputError(
            f"indptr ends at {indptr[-1]} but there are {indices.size} indices: both must be equal."
        )
    entry = first_outside(n_columns, indices)
    if entry is not None:
        raise InputError(
            f"indices[{entry}] is {indices[entry]} but must lie between 0 and {n_columns - 1}."
        )


def _check_coordinates(
    row: NDArray[Any], column: NDArray[Any], values: NDArray[Any], n_nodes: int
) -> None:
    """Refuse entries outside a square matrix."""
    if not row.shape == column.shape == values.shape:
        raise InputError(
            f"The matrix has {row.size} row numbers, {column.size} column numbers and "
            f"{values.size} values: all must be equal."
        )
    entry = first_outside(n_nodes, row, column)
    if entry is not None:
        raise InputError(
            f"Entry {entry} is in row {row[entry]}, column {column[entry]} of a matrix of "
            f"{n_nodes} rows and columns, numbered from 0."
        )
