"""Rows and edges brought together: which column holds the ids, and the graph of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import validate
from .edges import is_table
from .graph import Graph
from .id_candidate import most_alike
from .id_column import Ids, alike, distinct, first_duplicate, numbered

if TYPE_CHECKING:
    import narwhals as nw

# Pairs of names that edge tables commonly give to the two ends of an edge.
END_NAMES = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("head", "tail"),
    ("node1", "node2"), ("id1", "id2"), ("source_id", "target_id"), ("from_id", "to_id"),
)  # fmt: skip
INDEX = "the index"
ROW_NUMBER = "the row number"


@dataclass(frozen=True)
class Naming:
    """What messages call the two tables and the places in them."""

    table: str = "the table"
    edges: str = "the edges"
    row: Callable[[int], str] = "row {}".format
    edge_row: Callable[[int], str] = "row {}".format
    cell_row: Callable[[int], str] | None = None  # where the table is not mentioned besides


@dataclass(frozen=True)
class Alignment:
    """The graph whose first `n_rows` nodes are the table's rows, in order.

    Attributes
    ----------
    graph : Graph
        Nodes that only edges name come after the rows.
    n_rows, n_outside, n_unlinked : int
        Rows; nodes that the table lacks; rows that no edge names.
    id, source, target : what holds the ids; None where that has no name
    guesses : sentences that say what was guessed
    """

    graph: Graph
    n_rows: int
    n_outside: int
    n_unlinked: int
    id: Any
    source: Any
    target: Any
    guesses: list[str] = field(default_factory=list)


def align(
    frame: nw.DataFrame[Any],
    edges: Any,
    *,
    id: Any = None,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    naming: Naming | None = None,
    texts: Mapping[str, Any] | None = None,
    edge_texts: Mapping[str, Any] | None = None,
    by_position: bool = True,
) -> Alignment:
    """Find the ids of the rows and the ends of the edges, and make the graph of them.

    Parameters
    ----------
    frame : narwhals DataFrame
    edges : a table of edges, or anything ``Graph.of`` recognises
    id, source, target, weight : names of columns
        `id` is guessed by looking up ends of edges, `source` and `target` by their names or as
        the first two columns. Edges count equally unless `weight` is named.
    naming : what messages call the tables and their rows
    texts, edge_texts : the text of columns that came without types
    by_position : whether rows may go by number where no column holds ids
    """
    naming = naming or Naming()
    guesses: list[str] = []
    texts, edge_texts = texts or {}, edge_texts or {}
    validate.check_has_rows(len(frame), naming.table)
    numbered_rows = None
    if is_table(edges) and not isinstance(edges, Graph):
        listed, weights, (source, target) = _from_table(
            edges, source, target, weight, naming, edge_texts, guesses
        )
    else:
        listed, weights, numbered_rows = _from_graph(edges, weight)
    for role, ends in zip(("source", "target"), listed, strict=True):
        row = ends.missing()
        if row is not None:
            raise validate.edge_without_end(naming.edges, naming.edge_row(row), role)

    guessed = id is None
    name, own = _find_ids(frame, id, listed, texts, naming, guesses, by_position, numbered_rows)
    for holder, ids in ((naming.table, [own]), (naming.edges, listed)):
        if any(column.trimmed for column in ids):
            guesses.append(f"Blanks around the ids in {holder} are left out.")
    row = own.missing()
    if row is not None:
        raise validate.row_without_id(naming.table, naming.row(row), name, guessed)
    own, *both = alike(own, *listed)
    nodes, first, second = numbered(own, *both)
    twice = first_duplicate(nodes)
    if twice is not None:
        rows = naming.row(twice[0]), naming.row(twice[1])
        raise validate.id_occurs_twice(naming.table, name, own[twice[1]], *rows, guessed)
    graph = Graph.from_edges(first, second, weight=weights, nodes=nodes, unknown="add")
    n_rows = len(nodes)
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[:n_rows] == 0))
    if len(first) and n_unlinked == n_rows and not np.isin(nodes, [first, second]).any():
        raise validate.no_id_matches(
            naming.table, name, own[0], own.kind, naming.edges, both[0][0], both[0].kind
        )
    return Alignment(
        graph,
        n_rows,
        graph.n_nodes - n_rows,
        n_unlinked,
        name,
        source,
        target,
        guesses,
    )


# -- edges --


def _from_table(
    edges: Any,
    source: Any,
    target: Any,
    weight: Any,
    naming: Naming,
    texts: Mapping[str, Any],
    guesses: list[str],
) -> tuple[tuple[Ids, Ids], Any, tuple[Any, Any]]:
    import narwhals as nw

    table = nw.from_native(edges)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    names = list(table.columns)
    for name in (source, target, weight):
        if name is not None:
            validate.check_column_name(name, names, naming.edges)
    validate.check_two_ends_named(source, target, naming.edges)
    if source is None:
        source, target = guess_ends(names, naming, guesses)
    ends = tuple(_ids(table, name, texts, naming.edges) for name in (source, target))
    weights = None if weight is None else checked_weights(table.get_column(weight), naming)
    return (ends[0], ends[1]), weights, (source, target)


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
        where = naming.edges, naming.edge_row(row)
        raise validate.bad_weight(*where, column.name, cells[row].as_py())
    return column.to_native()


def _is_number(cell: str | None) -> bool:
    try:
        return cell is not None and float(cell) == float(cell)
    except ValueError:
        return False


def _ids(frame: nw.DataFrame[Any], name: Any, texts: Mapping[str, Any], holder: str) -> Ids:
    column = frame.get_column(name)
    validate.check_not_nested(column.dtype.is_nested(), name, holder)
    return Ids(column, texts.get(name))


def guess_ends(names: list[Any], naming: Naming, guesses: list[str]) -> tuple[Any, Any]:
    names = [name for name in names if name != ""]
    lower = {str(name).lower(): name for name in names}
    for u, v in END_NAMES:
        if u in lower and v in lower:
            return lower[u], lower[v]
    if len(names) < 2:
        raise validate.too_few_edge_columns(naming.edges, names)
    if len(names) > 2:
        guesses.append(
            f"Edges run from {names[0]!r} to {names[1]!r}, the first two of the {len(names)} "
            f"columns of {naming.edges} (name them with {validate.option('source')} and "
            f"{validate.option('target')}, and weights with {validate.option('weight')})."
        )
    return names[0], names[1]


def _from_graph(edges: Any, weight: Any) -> tuple[tuple[Ids, Ids], Any, NumberedRows | None]:
    """Each edge of a graph object once, as ids; and its nodes if those are but numbers."""
    if weight is not None and hasattr(edges, "adjacency"):
        graph = Graph.from_networkx(edges, weight)
    elif weight is not None and hasattr(edges, "vcount"):
        graph = Graph.from_igraph(edges, weight)
    else:
        validate.check_no_weight_name(weight)
        graph = Graph.of(edges)
    row = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    once = row <= graph.indices
    weights = None if graph.weights is None else graph.weights[once]
    ends = [row[once], graph.indices[once]]
    if graph.ids is not None:
        ends = [graph.ids[end] for end in ends]
        return (Ids(ends[0]), Ids(ends[1])), weights, None
    return (Ids(ends[0]), Ids(ends[1])), weights, NumberedRows(graph.n_nodes, _by_rows(edges))


def _by_rows(edges: Any) -> bool:
    """Whether nodes without ids can only be rows: those of a matrix, of PyG or of igraph."""
    if any(hasattr(edges, name) for name in ("tocsr", "edge_index", "adj_t", "vcount")):
        return True
    shape = tuple(getattr(edges, "shape", ()))  # [2, edges] as PyG has them; [edges, 2] may be ids
    return len(shape) == 2 and shape[1] != 2


# -- the rows' ids --


def _find_ids(
    frame: nw.DataFrame[Any],
    name: Any,
    ends: tuple[Ids, Ids],
    texts: Mapping[str, Any],
    naming: Naming,
    guesses: list[str],
    by_position: bool,
    numbered_rows: NumberedRows | None,
) -> tuple[Any, Ids]:
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if name is not None:
        if name not in frame.columns and index is not None and name in (INDEX, index.name):
            return INDEX, Ids(index)
        if name == ROW_NUMBER and by_position and name not in frame.columns:
            return None, Ids(np.arange(len(frame)))
        validate.check_column_name(name, frame.columns, naming.table)
        return name, _ids(frame, name, texts, naming.table)

    labelled = index is not None and not _is_range(index)
    candidates: list[tuple[Any, Ids]] = [(INDEX, Ids(index))] if labelled else []
    floats = []
    for column in frame.iter_columns():
        if column.name == "":  # the numbers of rows, in files of pandas and R
            continue
        if column.dtype.is_float():
            floats.append(column)
        elif not column.dtype.is_nested():
            candidates.append((column.name, Ids(column, texts.get(column.name))))
    if numbered_rows is not None and numbered_rows.n_nodes == len(frame):
        return _in_order(candidates, numbered_rows, len(frame), naming, guesses)
    best = most_alike(candidates, ends)
    if best is None or not best.elected(ends):  # whole numbers may stand as 1.0, 2.0
        whole = ((c.name, Ids(c, texts.get(c.name))) for c in floats)
        other = most_alike(((n, ids) for n, ids in whole if ids.kind == "whole numbers"), ends)
        best = max((one for one in (best, other) if one), key=lambda one: one.score, default=None)
    if best is not None and best.worth_naming(ends):
        if best.name != INDEX:
            guesses.append(guessed_column(best.name, naming.table))
        return best.name, best.ids
    n_rows = len(frame)
    if by_position and all(_row_numbers(end, n_rows) for end in ends):
        guesses.append(
            "Edges name rows by number, counted from 0, since no column holds the ends of edges "
            f"(name one with {validate.option('id')})."
        )
        return None, Ids(np.arange(n_rows))
    example = candidates[0] if candidates else (None, Ids(np.arange(n_rows)))
    raise validate.no_id_column(
        naming.table,
        example[0],
        example[1][0],
        naming.edges,
        ends[0][0] if len(ends[0]) else None,
        None if best is None else (best.name, best.n_named(ends), n_rows),
    )


def guessed_column(name: Any, holder: str) -> str:
    return (
        f"Rows go by column {name!r} of {holder}, whose values are the ends of edges (name another "
        f"with {validate.option('id')})."
    )


@dataclass(frozen=True)
class NumberedRows:
    """A graph whose nodes have no ids but 0, 1, 2, ...

    `surely` is whether those can be nothing but numbers of rows, as in a matrix; in a list of
    pairs they may as well be ids that happen to be such numbers.
    """

    n_nodes: int
    surely: bool


def _in_order(
    candidates: Iterable[tuple[Any, Ids]],
    nodes: NumberedRows,
    n_rows: int,
    naming: Naming,
    guesses: list[str],
) -> tuple[Any, Ids]:
    """Row k is node k, unless a column says otherwise as plainly."""
    order = np.arange(n_rows)
    numbers = [
        (name, ids)
        for name, ids in candidates
        if ids.kind == "whole numbers" and _row_numbers(ids, n_rows) and distinct(ids)
    ]
    for name, ids in numbers:
        if np.array_equal(ids.numpy(), order):
            if name != INDEX:
                guesses.append(guessed_column(name, naming.table))
            return name, ids
    if numbers and not nodes.surely:
        raise validate.rows_or_ids(naming.table, numbers[0][0], n_rows)
    guesses.append(
        "Rows are taken in the order of the graph's nodes, which have no ids (name a column of "
        f"ids with {validate.option('id')})."
    )
    return None, Ids(order)


def _is_range(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.name is None


def _row_numbers(ends: Ids, n_rows: int) -> bool:
    import pyarrow.compute as pc

    if not len(ends):
        return True
    if ends.kind != "whole numbers":
        return False
    extremes = pc.min_max(ends.values)
    return extremes["min"].as_py() >= 0 and extremes["max"].as_py() < n_rows
