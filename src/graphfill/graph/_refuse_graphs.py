"""Refusals of edges, ids and weights."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, SymmetrizedWarning, named, shown
from ._refuse_matrices import NUMBERS

MOST_NODES = 2**31 - 1  # neighbours are stored as int32


def _ends(number: int, source: Any, target: Any, ids: Any = None) -> str:
    """Both ends of one edge: ``from 'a' to 'b'``."""
    ends = source[number], target[number]
    u, v = (named(end if ids is None else ids[end]) for end in ends)
    return f"from {u} to {v}"


def first_outside(low: int, high: int, *columns: NDArray[Any]) -> int:
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
        raise InputError(f"{shown(values)} is not a list of edges, ids or weights.")


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
                f"Edge {number} is {named(edge)} but must be a pair of ids: pass two lists as "
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
                f"{named(node)} cannot be a node id, because it can change: use numbers, text, "
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
                f"{number} is {named(ids[number])}: pass nodes= with the ids in row order instead."
            )


def check_edge_range(
    extremes: tuple[int, int], source: NDArray[Any], target: NDArray[Any], n_nodes: int
) -> None:
    """Refuse row numbers outside the table; `extremes` are the smallest and the largest."""
    if extremes[0] >= 0 and extremes[1] < n_nodes:
        return
    number = first_outside(0, n_nodes, source, target)
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
            f"The node id {named(ids[first])} occurs twice, at positions {first} and {second}: "
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
    number = first_outside(0, nodes.size, row[source], row[target])
    end = source[number] if row[source[number]] < 0 else target[number]
    node = distinct[end].item() if isinstance(distinct[end], np.generic) else distinct[end]
    twin = next((twin for twin in nodes.tolist() if str(twin) == str(node)), None)
    if twin is not None:
        raise InputError(
            f"Edge {number} names node {named(node)} ({type(node).__name__}), but nodes holds "
            f"{named(twin)} ({type(twin).__name__}): make both the same type."
        )
    raise InputError(
        f"Edge {number} names node {named(distinct[end])}, which is not among the {nodes.size} "
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
            if not isinstance(weight, NUMBERS):
                raise InputError(
                    f"The weight of edge {number} is {named(weight)}, which is no number."
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


def check_weight_span(decades: float, holds: bool) -> None:
    """Refuse weights so far apart that the smallest would be computed as zero."""
    if not holds:
        raise InputError(
            f"The weights span {decades:.0f} decades, more than can be computed with at once: "
            "leave out the weakest edges, or take the logarithm or a root of all weights."
        )


def check_edge_attribute(edges: Sequence[tuple[Any, Any, Any]], weight: str) -> None:
    """Refuse edges (u, v, value) without a value."""
    for u, v, value in edges:
        if value is None:
            raise InputError(
                f"The edge from {named(u)} to {named(v)} has no attribute {weight!r}: give every "
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
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("graphfill."):
        level, frame = level + 1, frame.f_back
    return level


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
