"""Every refusal graphfill makes, and the sentence it makes it with.

Each function checks one thing and either returns the cleaned value or raises
:class:`InputError` with one sentence that names what is wrong, where, and what to do.
"""

from __future__ import annotations

import numbers
import operator
import reprlib
import sys
import warnings
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS = (numbers.Real, Decimal, np.bool_)  # what a cell of an object array may hold


class InputError(ValueError):
    """The input cannot be used; the message says why and what to do."""


class GraphfillWarning(UserWarning):
    """Something the user should know about a result that was still produced."""


class ConvergenceWarning(GraphfillWarning):
    """The solver stopped before it reached the tolerance asked for."""


class UnreachedWarning(GraphfillWarning):
    """Some missing cells cannot be inferred from the graph."""


class SymmetrizedWarning(GraphfillWarning):
    """Directed or asymmetric edges were made undirected."""


# -- tables and matrices --


class CellTypeError(InputError, TypeError):
    """A cell holds something that is no number; also a TypeError, as NumPy has it."""


def _cell(row: int, column: int, names: Sequence[Any] | None = None) -> str:
    """Name one cell the way its owner would look it up."""
    return f"row {row}, column {column if names is None else repr(names[column])}"


def _first(cells: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the first True cell in reading order."""
    row, column = np.unravel_index(int(np.argmax(cells)), cells.shape)
    return int(row), int(column)


def check_dense(X: Any) -> None:
    """Refuse SciPy and torch sparse matrices."""
    sparse = sys.modules.get("scipy.sparse")  # no sparse matrix without it
    if (sparse is not None and sparse.issparse(X)) or "sparse" in str(getattr(X, "layout", "")):
        raise InputError(
            "Sparse X cannot tell a missing cell from a zero: pass a dense array with NaN in the "
            "missing cells (X.toarray() if its zeros are known values)."
        )


def check_shape(shape: tuple[int, ...], kind: str = "array") -> None:
    """Refuse tables that are not one- or two-dimensional, or have no cells."""
    if len(shape) not in (1, 2):
        raise InputError(
            f"X is a {kind} of {len(shape)} dimension(s) (shape={shape}) but must be a table, one "
            "row per node and one column per feature."
        )
    if shape[0] == 0:
        raise InputError(f"X has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    if len(shape) == 2 and shape[1] == 0:
        raise InputError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def check_two_dimensional(ndim: int) -> None:
    """Refuse a single column or row where estimators need a table."""
    if ndim != 2:
        raise InputError(
            f"X has {ndim} dimension(s) but an imputer needs two. Reshape your data: "
            "X.reshape(-1, 1) (or .to_frame()) makes it one column, X.reshape(1, -1) one row."
        )


def check_rectangular(rows: Any) -> NDArray[Any]:
    """Turn nested sequences into an array, or refuse rows of different lengths."""
    try:
        return np.asarray(rows)
    except ValueError:
        raise InputError(
            "The rows of X differ in length: pass a rectangular table, with None in missing cells."
        ) from None


def check_dtype(kind: str, dtype: Any, name: Any = None) -> None:
    """Refuse a dtype (of the whole table, or of the column `name`) that holds no real numbers."""
    if kind in "biuf":
        return
    where = "X" if name is None else f"Column {name!r}"
    if kind == "c":
        raise InputError(
            f"Complex data not supported: {where} has dtype {dtype}; pass the real and the "
            "imaginary part as two columns."
        )
    if kind in "mM":
        advice = "turn dates and durations into numbers first, such as days since a date"
    else:
        advice = "drop it or encode it as numbers first"
    raise InputError(f"{where} has dtype {dtype}, which holds no numbers: {advice}.")


def check_numbers(cells: NDArray[np.object_], names: Sequence[Any] | None) -> NDArray[np.float64]:
    """Turn a 2-D array of Python objects into floats; None, NaN and pandas.NA become NaN."""
    types = set(map(type, cells.ravel()))
    # An NA refuses float(), and NumPy parses "1.5" without a word: so look at the types first.
    na_types = {kind for kind in types if kind.__name__ in ("NoneType", "NAType")}
    if all(issubclass(kind, _NUMBERS) for kind in types - na_types):
        known = np.array([type(cell) not in na_types for cell in cells.flat]).reshape(cells.shape)
        numbers = np.full(cells.shape, np.nan)
        try:
            numbers[known] = cells[known].astype(np.float64)
        except OverflowError:  # an integer beyond the range of a float
            raise InputError(
                f"X holds an integer beyond the range of a float (above {np.finfo(float).max:.1e})."
            ) from None
        return numbers
    offends = [type(cell) not in na_types and not isinstance(cell, _NUMBERS) for cell in cells.flat]
    row, column = _first(np.reshape(offends, cells.shape))
    value = repr(cells[row, column])
    raise CellTypeError(
        f"The cell at {_cell(row, column, names)} holds {value[:60]}: the argument must be a table "
        "without strings or other objects, holding numbers and None alone."
    )


def check_finite(values: NDArray[np.floating], names: Sequence[Any] | None = None) -> None:
    """Refuse infinite cells; NaN is missing and passes."""
    # fmax and fmin skip NaN and need no array of n x F booleans.
    extremes = np.fmax.reduce(values, axis=None), np.fmin.reduce(values, axis=None)
    if np.isinf(extremes).any():
        row, column = _first(np.isinf(values))
        raise InputError(
            f"The cell at {_cell(row, column, names)} is infinite ({values[row, column]}): pass "
            "NaN if it is missing, or a finite number."
        )


def check_missing_mask(
    missing_mask: Any, values: NDArray[np.floating], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return the mask as a 2-D array; refuse one that calls a NaN cell known."""
    mask = np.asarray(missing_mask)
    if mask.dtype != bool:
        raise InputError(
            f"missing_mask has dtype {mask.dtype} but must be boolean, True where X is missing."
        )
    if mask.shape != shape:
        raise InputError(f"missing_mask has shape {mask.shape} but X has shape {shape}.")
    mask = mask.reshape(values.shape)
    disagree = np.isnan(values) & ~mask
    if disagree.any():
        row, column = _first(disagree)
        raise InputError(
            f"The cell at {_cell(row, column)} is NaN but missing_mask calls it known: the mask "
            "must be True where a cell is missing (is it inverted?)."
        )
    return mask


def check_row_count(n_rows: int, n_nodes: int) -> None:
    """Refuse a table without ids whose rows cannot be the nodes of the graph."""
    if n_rows != n_nodes:
        raise InputError(
            f"X has {n_rows} row(s) but the graph has {n_nodes} node(s): pass one row per node, or "
            "give the graph ids and X a pandas index to pass some of them."
        )


def check_row_ids(labels: Any, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Refuse labels that name a node twice, or one the graph does not have (node -1)."""
    unknown = np.flatnonzero(nodes < 0)
    if unknown.size:
        raise InputError(
            f"Row label {labels[unknown[0]]!r} is no node of the graph ({unknown.size} such "
            "label(s)): set the index of X to node ids, or pass X.to_numpy() to go by position."
        )
    if labels.has_duplicates:
        label = labels[labels.duplicated()][0]
        raise InputError(f"Row label {label!r} occurs more than once: pass one row per node.")
    return nodes


def check_row_numbers(labels: Any, n_nodes: int) -> NDArray[np.intp] | None:
    """Nodes of labelled rows when node ids are row numbers; None for all rows in order.

    Labels that are no row numbers say nothing, so that only the order is left to go by.
    """
    numbers = labels.to_numpy(dtype=np.intp) if labels.dtype.kind in "iu" else np.array([-1])
    if labels.has_duplicates or numbers.min() < 0 or numbers.max() >= n_nodes:
        check_row_count(len(labels), n_nodes)
        return None
    if numbers.size < n_nodes:
        return numbers
    if (numbers[1:] < numbers[:-1]).any():
        raise InputError(
            "The index of X holds the numbers of all nodes in another order, so rows could go by "
            "label or by position: pass X.sort_index() or X.reset_index(drop=True) to say which."
        )
    return None


def check_columns_left(n_columns: int) -> None:
    """Refuse to drop every column."""
    if n_columns == 0:
        raise InputError(
            "X has no known cell at all, so keep_empty_features=False would drop every column: "
            "pass some known cells, or keep_empty_features=True."
        )


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse a parameter that is none of the words (or switches) it may be."""
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        raise InputError(f"{name} is {value!r} but must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a switch that is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r} but must be True or False.")


# -- graphs --

MOST_NODES = 2**31 - 1  # neighbours are stored as int32

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def _named(node: Any) -> str:
    """An id as its owner would type it, within reason."""
    if isinstance(node, np.generic):
        return str(node) if node.dtype.kind in "mM" else _short.repr(node.item())
    return _short.repr(node)


def _ends(number: int, source: Any, target: Any, ids: Any = None) -> str:
    """Both ends of one edge: ``from 'a' to 'b'``."""
    ends = source[number], target[number]
    u, v = (_named(end if ids is None else ids[end]) for end in ends)
    return f"from {u} to {v}"


def _first_outside(low: int, high: int, *columns: NDArray[Any]) -> int:
    """Position of the first entry of any column that is not in low <= entry < high."""
    return int(np.argmax(np.logical_or.reduce([(c < low) | (c >= high) for c in columns])))


def check_node_count(n_nodes: Any) -> int:
    """Return the number of nodes; refuse one that is no number of nodes."""
    try:
        count = operator.index(n_nodes)
    except TypeError:
        raise InputError(f"n_nodes is {n_nodes!r} but must be a whole number.") from None
    if not 0 <= count <= MOST_NODES:
        raise InputError(f"n_nodes is {count} but must lie between 0 and {MOST_NODES}.")
    return count


def check_nodes_or_count(nodes: Any, n_nodes: Any) -> None:
    """Refuse two descriptions of the nodes at once."""
    if nodes is not None and n_nodes is not None:
        raise InputError(
            "Pass nodes (edges name ids) or n_nodes (edges name row numbers), not both."
        )


def check_sequence(values: Any) -> None:
    """Refuse what holds no ids or edges."""
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise InputError(f"{_short.repr(values)} is not a list of edges, ids or weights.")


def check_strided(tensor: Any) -> None:
    """Refuse a sparse tensor where a list of values is wanted."""
    if str(tensor.layout) != "torch.strided":
        raise InputError(
            f"A tensor of layout {tensor.layout} is not a list of edges, ids or weights: pass its "
            "indices, or data.adj_t through Graph.from_pyg."
        )


def check_column(values: NDArray[Any], role: str) -> None:
    """Refuse anything but one id per edge or node."""
    if values.ndim != 1:
        raise InputError(f"The {role} ids have shape {values.shape} but must be one column.")


def check_pairs_shape(shape: tuple[int, ...]) -> None:
    """Refuse an array that is not two rows or two columns of ids."""
    if len(shape) != 2 or 2 not in shape:
        raise InputError(
            f"The edges have shape {shape} but must be two rows [2, n_edges] or two columns "
            "[n_edges, 2] of ids; pass weights as weight=."
        )


def check_pairs(edges: Sequence[Any]) -> None:
    """Refuse a list whose items are not pairs."""
    for number, edge in enumerate(edges):
        if isinstance(edge, (str, bytes)) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise InputError(
                f"Edge {number} is {_named(edge)} but must be a pair of ids: pass two lists as "
                "from_edges(source, target), and weights as weight=."
            )


def check_ends(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Refuse edges of which some have one end."""
    if source.size != target.size:
        raise InputError(
            f"There are {source.size} source(s) but {target.size} target(s): an edge has one each."
        )


def check_missing_ids(missing: NDArray[np.bool_], role: str) -> None:
    """Refuse None, NaN and the like as ids."""
    if missing.any():
        number = int(np.argmax(missing))
        if role == "node":
            raise InputError(f"Node {number} has no id (None or NaN): every node needs one.")
        raise InputError(
            f"Edge {number} has no {role} (None or NaN): name the node or leave out the edge."
        )


def check_hashable(ids: Iterable[Any]) -> None:
    """Refuse ids that Python cannot look up."""
    for node in ids:
        try:
            hash(node)
        except TypeError:
            raise InputError(
                f"{_named(node)} cannot be a node id, because it can change: use numbers, text, "
                "dates or tuples of these."
            ) from None


def check_numbered(source: NDArray[Any], target: NDArray[Any], n_nodes: int) -> None:
    """Refuse ids that cannot be row numbers."""
    for role, ids in (("source", source), ("target", target)):
        if ids.dtype.kind != "i":
            other = (i for i, node in enumerate(ids.tolist()) if type(node) is not int)
            number = next(other, 0)
            raise InputError(
                f"n_nodes={n_nodes} says that nodes go by row number, but the {role} of edge "
                f"{number} is {_named(ids[number])}: pass nodes= with the ids in row order instead."
            )


def check_edge_range(
    extremes: tuple[int, int], source: NDArray[Any], target: NDArray[Any], n_nodes: int
) -> None:
    """Refuse row numbers outside the table; `extremes` are the smallest and the largest."""
    if extremes[0] >= 0 and extremes[1] < n_nodes:
        return
    number = _first_outside(0, n_nodes, source, target)
    node = next(int(end[number]) for end in (source, target) if not 0 <= end[number] < n_nodes)
    raise InputError(
        f"Edge {number}, {_ends(number, source, target)}, names node {node}, but there are "
        f"{n_nodes} nodes, numbered from 0."
    )


def check_id_count(ids: NDArray[Any], n_nodes: int) -> None:
    """Refuse ids that are not one per node."""
    if ids.size != n_nodes:
        raise InputError(f"There are {ids.size} id(s) but {n_nodes} node(s): pass one per node.")


def check_distinct_ids(ids: NDArray[Any], codes: NDArray[np.integer]) -> None:
    """Refuse ids of which two are the same, that is, have the same code."""
    if ids.size and np.bincount(codes).max() > 1:
        _, firsts = np.unique(codes, return_index=True)
        second = int(np.setdiff1d(np.arange(codes.size), firsts)[0])
        first = int(np.argmax(codes == codes[second]))
        raise InputError(
            f"The node id {_named(ids[first])} occurs twice, at positions {first} and {second}: "
            "ids must be unique."
        )


def check_known_ids(
    row: NDArray[np.integer],
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    distinct: NDArray[Any],
    nodes: NDArray[Any],
) -> None:
    """Refuse edges that name ids (positions in `distinct`) without a row (-1)."""
    number = _first_outside(0, nodes.size, row[source], row[target])
    end = source[number] if row[source[number]] < 0 else target[number]
    node = distinct[end].item() if isinstance(distinct[end], np.generic) else distinct[end]
    twin = next((twin for twin in nodes.tolist() if str(twin) == str(node)), None)
    if twin is not None:
        raise InputError(
            f"Edge {number} names node {_named(node)} ({type(node).__name__}), but nodes holds "
            f"{_named(twin)} ({type(twin).__name__}): make both the same type."
        )
    raise InputError(
        f"Edge {number} names node {_named(distinct[end])}, which is not among the {nodes.size} "
        "nodes: correct or drop the edge, or pass unknown='add' to add such nodes."
    )


def check_edge_weights(weights: NDArray[Any], n_edges: int) -> NDArray[np.float64]:
    """Return one float per edge."""
    if weights.shape not in ((n_edges,), (n_edges, 1)):
        raise InputError(
            f"The weights have shape {weights.shape} but there are {n_edges} edge(s): pass one "
            "number per edge."
        )
    weights = weights.reshape(n_edges)
    if weights.dtype == object:
        for number, weight in enumerate(weights):
            if not isinstance(weight, _NUMBERS):
                raise InputError(
                    f"The weight of edge {number} is {_named(weight)}, which is no number."
                )
        weights = weights.astype(np.float64)
    if weights.dtype.kind not in "biuf":
        raise InputError(f"The weights have dtype {weights.dtype}, which holds no numbers.")
    return np.ascontiguousarray(weights, dtype=np.float64)


def check_weight_range(
    weights: NDArray[np.float64], source: NDArray[Any], target: NDArray[Any], ids: Any
) -> None:
    """Refuse negative, infinite and NaN weights."""
    # NaN fails the first comparison; neither needs an array of the size of the edges.
    if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):
        number = int(np.argmin((weights >= 0) & (weights < np.inf)))
        raise InputError(
            f"Edge {number}, {_ends(number, source, target, ids)}, has weight {weights[number]}: "
            "weights must be finite and not negative."
        )


def check_weight_total(weights: NDArray[np.float64]) -> None:
    """Refuse weights so large that a degree could be infinite."""
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise InputError(
            "The weights add up to more than a float can hold: divide all of them by the largest."
        )


def check_edge_attribute(edges: Sequence[tuple[Any, Any, Any]], weight: str) -> None:
    """Refuse edges (u, v, value) without a value."""
    for u, v, value in edges:
        if value is None:
            raise InputError(
                f"The edge from {_named(u)} to {_named(v)} has no attribute {weight!r}: give every "
                "edge one, or pass weight=None."
            )


def check_attribute(name: Any, names: Sequence[Any], holder: str) -> None:
    """Refuse the name of a column or attribute that is not there."""
    if name not in names:
        known = ", ".join(map(repr, names)) or "none"
        raise InputError(f"The {holder} have no {name!r}; they have: {known}.")


def check_edge_columns(names: Sequence[Any], source: Any, target: Any) -> tuple[Any, Any]:
    """Return the two columns that hold the ends of the edges, unless one has to guess."""
    if source is not None and target is not None:
        return source, target
    if source is not None or target is not None:
        raise InputError("Name both the source and the target column, or neither.")
    if "source" in names and "target" in names:
        return "source", "target"
    if len(names) != 2:
        raise InputError(
            f"The edge table has {len(names)} column(s) ({', '.join(map(repr, names))}): say which "
            "hold the ends of an edge, as in from_table(table, 'source', 'target')."
        )
    return names[0], names[1]


def check_edge_index(edge_index: Any, n_nodes: Any) -> None:
    """Refuse PyG data without edges, or edges without a number of nodes."""
    if edge_index is None:
        raise InputError("The data have neither edge_index nor adj_t, hence no edges.")
    if n_nodes is None:
        raise InputError(
            "An edge_index does not tell how many nodes there are: pass n_nodes as well."
        )


def check_csr_layout(adjacency: Any) -> None:
    """Refuse a tensor other than compressed sparse rows."""
    if str(adjacency.layout) != "torch.sparse_csr":
        raise InputError(
            f"adj_t has layout {adjacency.layout}: pass adj_t.to_sparse_csr(), or edge_index."
        )


def check_weight_attribute(data: Any, name: str) -> Any:
    """Return the attribute of that name; refuse data without it."""
    values = getattr(data, name, None)
    if values is None:
        raise InputError(f"{type(data).__name__} has no attribute {name!r} to take weights from.")
    return values


def check_sparse(A: Any, is_sparse: bool) -> None:
    """Refuse a matrix that is not one of SciPy's sparse ones."""
    if not is_sparse:
        raise InputError(
            f"from_scipy reads SciPy sparse matrices, not {type(A).__name__}: pass "
            "scipy.sparse.csr_array(A)."
        )


def check_square(shape: tuple[int, ...]) -> int:
    """Return the number of nodes of an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"The matrix has shape {shape} but must be square, one row and one column per node."
        )
    return check_node_count(shape[0])


def check_matrix_dtype(dtype: np.dtype[Any]) -> None:
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
    if indices.size and not (indices.min() >= 0 and indices.max() < n_columns):
        entry = _first_outside(0, n_columns, indices)
        raise InputError(
            f"indices[{entry}] is {indices[entry]} but must lie between 0 and {n_columns - 1}."
        )


def check_value_count(n_values: int, n_indices: int) -> None:
    """Refuse a matrix without exactly one value per entry."""
    if n_values != n_indices:
        raise InputError(
            f"There are {n_values} values but {n_indices} indices: both must be equal."
        )


def check_coordinates(
    row: NDArray[Any], column: NDArray[Any], values: NDArray[Any], n_nodes: int
) -> None:
    """Refuse entries outside a square matrix."""
    if not row.shape == column.shape == values.shape:
        raise InputError(
            f"The matrix has {row.size} row numbers, {column.size} column numbers and "
            f"{values.size} values: all must be equal."
        )
    if row.size and (min(row.min(), column.min()) < 0 or max(row.max(), column.max()) >= n_nodes):
        entry = _first_outside(0, n_nodes, row, column)
        raise InputError(
            f"Entry {entry} is in row {row[entry]}, column {column[entry]} of a matrix of "
            f"{n_nodes} rows and columns, numbered from 0."
        )


def check_one_way(
    number: int, source: NDArray[Any], target: NDArray[Any], ids: Any, directed: str
) -> None:
    """Refuse, or say, that an edge is not the same in both directions."""
    sentence = f"The edge {_ends(number, source, target, ids)} is not listed alike the other way"
    if directed == "refuse":
        raise InputError(
            f"{sentence}, and only undirected graphs are accepted here: list both directions, or "
            "pass directed='symmetrize' to the constructor."
        )
    warnings.warn(
        f"{sentence}: every edge was taken both ways, the weights of a pair merged into one.",
        SymmetrizedWarning,
        stacklevel=_caller_level(),
    )


def _caller_level() -> int:
    """The stacklevel, seen from a function here, of the first caller outside graphfill."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    return level


def check_unambiguous(shape: tuple[int, ...]) -> None:
    """Refuse an array that may be edges or a matrix, or is neither."""
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


def not_a_graph(graph: Any) -> InputError:
    """What to raise for something that `Graph.of` cannot read."""
    return InputError(
        f"{type(graph).__name__} cannot be read as a graph: pass a graphfill, NetworkX or igraph "
        "graph, a PyG Data, a SciPy sparse matrix, a table of edges, an array [2, n_edges], a list "
        "of pairs, or a square NumPy matrix of more than 2 rows."
    )


def check_edge_count(n_listed: int) -> None:
    """Refuse more edges than one graph in memory can place."""
    if n_listed >= 2**32:
        raise InputError(
            f"{n_listed} edges are listed but one graph in memory takes at most {2**32 - 1}: "
            "list each edge once, or cut the graph into parts."
        )


# -- parameters --


def check_number(name: str, value: Any, *, low: float, integer: bool = False) -> None:
    """Refuse a parameter that is not a finite number from ``low`` on."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value < np.inf:
        kind = "a whole number" if integer else "a number"
        raise InputError(f"{name} is {value!r} but must be {kind} of at least {low}.")


def check_start(start: NDArray[np.floating], values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the start as a matrix like ``values``; refuse another shape or a NaN."""
    if start.shape != values.shape:
        raise InputError(f"start has shape {start.shape} but X has shape {values.shape}.")
    gap = np.isnan(start) & np.isnan(values)
    if gap.any():
        row, column = _first(gap)
        raise InputError(
            f"start is NaN at {_cell(row, column)}, where X is missing too: give it a number."
        )
    return np.ascontiguousarray(start, dtype=values.dtype)
