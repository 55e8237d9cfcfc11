"""The two ends of every edge as ids, from a table of edges or from a graph object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_column_name, named, option, spelled
from ..graph import Graph, as_array
from ._id_column import Ids, read_ids
from ._matrices import edges_of_matrix
from ._options import Naming, Source, TableOptions

if TYPE_CHECKING:
    import narwhals as nw

# Pairs of names that edge tables commonly give to the two ends of an edge.
END_NAMES = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("head", "tail"),
    ("node1", "node2"), ("id1", "id2"), ("source_id", "target_id"), ("from_id", "to_id"),
)  # fmt: skip


WEIGHT_NAMES = ("weight", "weights")  # what edges commonly call how much each of them counts


@dataclass(frozen=True)
class NumberedRows:
    """A graph whose nodes have no ids but 0, 1, 2, ...

    `surely` is whether those can be nothing but numbers of rows, as in a matrix; in a list of
    pairs they may as well be ids that happen to be such numbers.
    """

    n_nodes: int
    surely: bool


def ends_in_table(
    edges: Any, options: TableOptions, source: Source, guesses: list[str]
) -> tuple[tuple[Ids, Ids], Any, tuple[Any, Any]]:
    """The ends, the weights or None, and the names of the two columns."""
    import narwhals as nw

    naming = source.naming
    table = nw.from_native(edges)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    names = list(table.columns)
    if options.source is options.target is options.weight is None:
        found = edges_of_matrix(table, naming, guesses)
        if found is not None:
            return *found, (None, None)
    for name in (options.source, options.target, options.weight):
        if name is not None:
            check_column_name(name, names, naming.edges)
    check_two_ends_named(options.source, options.target, naming.edges)
    ends = options.source, options.target
    if options.source is None:
        ends = guess_ends(names, naming, guesses)
    if options.weight is None:
        guesses += _unused_weights([name for name in names if name not in ends], naming.edges)
    first, second = (read_ids(table, name, source.edge_texts, naming.edges) for name in ends)
    weights = None
    if options.weight is not None:
        weights = checked_weights(table.get_column(options.weight), naming)
        if options.weight_means == "distance":
            weights = near_counts_more(as_array(weights).astype(np.float64))
    return (first, second), weights, ends


def _unused_weights(names: Iterable[Any], holder: str) -> list[str]:
    """A note on the first name that weights commonly have, of edges whose weights are not named."""
    found = next((name for name in names if str(name).lower() in WEIGHT_NAMES), None)
    if found is None:
        return []
    how = spelled(f"weight={found!r}", f"--weight {found}")
    means = spelled("weight_means='distance'", "--weight-means distance")
    return [
        f"{found!r} of {holder} is not used, so that all edges count the same: {how} makes those "
        f"with a high value count more ({means} if it is a distance)."
    ]


def check_two_ends_named(source: Any, target: Any, holder: str) -> None:
    """Refuse one end without the other, and one column for both."""
    if (source is None) != (target is None):
        named_end, other = ("source", "target") if target is None else ("target", "source")
        raise InputError(
            f"Of the two ends of an edge in {holder}, {option(named_end)} names one: name the "
            f"other with {option(other)}, or neither."
        )
    if source is not None and source == target:
        raise InputError(
            f"Column {source!r} of {holder} cannot hold both ends of an edge: name two columns "
            f"with {option('source')} and {option('target')}."
        )


def guess_ends(names: list[Any], naming: Naming, guesses: list[str]) -> tuple[Any, Any]:
    """The columns with the ends: by their names, or the first two, which is said."""
    names = [name for name in names if name != ""]
    lower = {str(name).lower(): name for name in names}
    for u, v in END_NAMES:
        if u in lower and v in lower:
            return lower[u], lower[v]
    if len(names) < 2:
        raise InputError(
            f"There is one column in {naming.edges} ({', '.join(map(repr, names))}) but an edge "
            "has two ends: add the column with the other end."
        )
    if len(names) > 2:
        guesses.append(
            f"Edges run from {names[0]!r} to {names[1]!r}, the first two of the {len(names)} "
            f"columns of {naming.edges} (name them with {option('source')} and "
            f"{option('target')}, and weights with {option('weight')})."
        )
    return names[0], names[1]


def checked_weights(column: nw.Series[Any], naming: Naming) -> Any:
    """The column as its library has it, once every weight was seen to be one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = column.to_arrow()
    bad = pc.is_null(cells, nan_is_null=True)
    if column.dtype.is_numeric():
        numbers = pc.cast(cells, pa.float64(), safe=False)
        fine = pc.and_(pc.greater_equal(numbers, 0), pc.less(numbers, np.inf))
        bad = pc.or_(bad, pc.invert(pc.fill_null(fine, False)))
    elif column.dtype.is_temporal() or column.dtype.is_nested():
        bad = pc.or_(bad, pc.is_valid(cells))
    elif pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        bad = pa.array([not _is_number(cell) for cell in cells.to_pylist()])
        if not pc.any(bad).as_py():  # numbers, such as 007, that were left as text
            bad = pc.is_valid(cells)
    row = pc.index(bad, pa.scalar(True)).as_py()
    if row >= 0:
        where = f"column {column.name!r} of {naming.edges}, {naming.edge_row(row)}"
        weight = cells[row].as_py()
        if weight is None or weight != weight:
            raise InputError(f"There is no weight in {where}: give the edge one, or drop it.")
        raise InputError(
            f"The weight in {where} is {named(weight)}: weights must be finite numbers, and not "
            "negative."
        )
    return column.to_native()


def _is_number(cell: str | None) -> bool:
    try:
        return cell is not None and float(cell) == float(cell)
    except ValueError:
        return False


def near_counts_more(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that fall with the distance: its inverse, in units of the median.

    Of distances below a thousandth of the median, 0 among them, all count alike.

    Examples
    --------
    >>> near_counts_more(np.array([2.0, 4.0, 1.0, 0.0, 8.0])).tolist()
    [1.0, 0.5, 2.0, 1000.0, 0.25]
    """
    median = float(np.median(distances)) or 1.0
    return median / np.maximum(distances, median / 1000.0)


def ends_in_graph(
    edges: Any, options: TableOptions, naming: Naming, guesses: list[str]
) -> tuple[tuple[Ids, Ids], Any, NumberedRows | None]:
    """Each edge of a graph object once, as ids; and its nodes if those are but numbers."""
    weight = options.weight
    if weight is None:
        guesses += _unused_weights(_edge_attributes(edges), naming.edges)
    if weight is not None and hasattr(edges, "adjacency"):
        graph = Graph.from_networkx(edges, weight)
    elif weight is not None and hasattr(edges, "vcount"):
        graph = Graph.from_igraph(edges, weight)
    else:
        if weight is not None:
            raise InputError(
                f"weight={weight!r} names a column or attribute, but the edges are neither a table "
                "nor a NetworkX or igraph graph: make a Graph with weights first."
            )
        graph = Graph.of(edges)
    row = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    once = row <= graph.indices
    weights = None if graph.weights is None else graph.weights[once]
    if weights is not None and options.weight_means == "distance":
        weights = near_counts_more(weights)
    ends = [row[once], graph.indices[once]]
    if graph.ids is not None:
        ends = [graph.ids[end] for end in ends]
        return (Ids(ends[0]), Ids(ends[1])), weights, None
    return (Ids(ends[0]), Ids(ends[1])), weights, NumberedRows(graph.n_nodes, _by_rows(edges))


def _edge_attributes(edges: Any) -> list[str]:
    """What the edges of a NetworkX or igraph graph have beside their ends."""
    if hasattr(edges, "vcount"):
        return list(edges.es.attributes())
    if hasattr(edges, "adjacency") and not isinstance(edges, Graph):
        return list(next(iter(edges.edges(data=True)), ({},))[-1])
    return []


def _by_rows(edges: Any) -> bool:
    """Whether nodes without ids can only be rows: those of a matrix, of PyG or of igraph."""
    if any(hasattr(edges, name) for name in ("tocsr", "edge_index", "adj_t", "vcount")):
        return True
    shape = tuple(getattr(edges, "shape", ()))  # [2, edges] as PyG has them; [edges, 2] may be ids
    return len(shape) == 2 and shape[1] != 2
