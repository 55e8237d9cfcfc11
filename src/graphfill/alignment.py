"""Rows and edges brought together: which column holds the ids, and the graph of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import validate
from .edges import is_table
from .graph import Graph
from .id_column import Ids, alike, distinct, first_duplicate, matches, numbered

if TYPE_CHECKING:
    import narwhals as nw

SAMPLE = 1000  # ends of edges that are looked up when the id column has to be guessed
# Pairs of names that edge tables commonly give to the two ends of an edge.
END_NAMES = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("head", "tail"),
    ("node1", "node2"), ("id1", "id2"), ("source_id", "target_id"), ("from_id", "to_id"),
)  # fmt: skip
INDEX = "the index"


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
    if is_table(edges) and not isinstance(edges, Graph):
        listed, weights, (source, target) = _from_table(
            edges, source, target, weight, naming, edge_texts, guesses
        )
    else:
        listed, weights = _from_graph(edges, weight)
    for role, ends in zip(("source", "target"), listed, strict=True):
        row = ends.missing()
        if row is not None:
            raise validate.edge_without_end(naming.edges, naming.edge_row(row), role)

    name, own = _find_ids(frame, id, listed, texts, naming, guesses, by_position)
    for holder, ids in ((naming.table, [own]), (naming.edges, listed)):
        if any(column.trimmed for column in ids):
            guesses.append(f"Blanks around the ids in {holder} are left out.")
    row = own.missing()
    if row is not None:
        raise validate.row_without_id(naming.table, naming.row(row), name)
    own, *both = alike(own, *listed)
    nodes, first, second = numbered(own, *both)
    twice = first_duplicate(nodes)
    if twice is not None:
        rows = naming.row(twice[0]), naming.row(twice[1])
        raise validate.id_occurs_twice(naming.table, name, own[twice[1]], *rows)
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


def _from_graph(edges: Any, weight: Any) -> tuple[tuple[Ids, Ids], Any]:
    """Each edge of a graph object once, as ids."""
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
    return (Ids(ends[0]), Ids(ends[1])), weights


# -- the rows' ids --


def _find_ids(
    frame: nw.DataFrame[Any],
    name: Any,
    ends: tuple[Ids, Ids],
    texts: Mapping[str, Any],
    naming: Naming,
    guesses: list[str],
    by_position: bool,
) -> tuple[Any, Ids]:
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if name is not None:
        if name not in frame.columns and index is not None and name in (INDEX, index.name):
            return INDEX, Ids(index)
        validate.check_column_name(name, frame.columns, naming.table)
        return name, _ids(frame, name, texts, naming.table)

    labelled = index is not None and not _is_range(index)
    candidates: list[tuple[Any, Ids]] = [(INDEX, Ids(index))] if labelled else []
    floats = []
    for column in frame.iter_columns():
        if column.dtype.is_float():
            floats.append(column)
        elif not column.dtype.is_nested():
            candidates.append((column.name, Ids(column, texts.get(column.name))))
    best, score = most_alike(candidates, ends)
    if not score[0]:  # whole numbers may stand as 1.0, 2.0
        whole = [(c.name, Ids(c, texts.get(c.name))) for c in floats]
        whole = [(name, ids) for name, ids in whole if ids.kind == "whole numbers"]
        other, other_score = most_alike(whole, ends)
        best = other if other_score > score else best
    if best is not None:
        if best[0] != INDEX:
            guesses.append(
                f"Rows go by column {best[0]!r} of {naming.table}, whose values are the ends of "
                f"edges (name another with {validate.option('id')})."
            )
        return best
    n_rows = len(frame)
    if by_position and all(_row_numbers(end, n_rows) for end in ends):
        guesses.append(
            "Edges name rows by number, counted from 0, since no column holds the ends of edges "
            f"(name one with {validate.option('id')})."
        )
        return None, Ids(np.arange(n_rows))
    example = candidates[0] if candidates else (None, Ids(np.arange(n_rows)))
    raise validate.no_id_column(
        naming.table, example[0], example[1][0], naming.edges, ends[0][0] if len(ends[0]) else None
    )


def most_alike(
    candidates: Iterable[tuple[Any, Ids]], ends: tuple[Ids, Ids]
) -> tuple[tuple[Any, Ids] | None, tuple[bool, int]]:
    """The column most of whose values are ends of edges; one without duplicates before others."""
    asked = ends[0].sample(SAMPLE), ends[1].sample(SAMPLE)
    best, score = None, (False, 0)
    for candidate, ids in candidates:
        found = max(matches(ids, end) for end in asked)
        if found and (distinct(ids), found) > score:
            best, score = (candidate, ids), (distinct(ids), found)
    return best, score


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
