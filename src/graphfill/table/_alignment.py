"""Rows and edges brought together: the graph of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, named, option, parameter
from ..graph import Graph, is_table
from ..links import Links, reordered
from ..trust import Layout
from ._edge_ends import ends_in_graph, ends_in_table
from ._id_column import (
    Ids,
    alike,
    first_duplicate,
    numbered,
    order_by_id,
    other_spelling,
)
from ._id_search import find_ids, id_holder, ids_spelled_otherwise
from ._options import Naming, Source, TableOptions
from ._rows_alone import ids_of_rows, order_by_cells

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Alignment:
    """The graph whose first `n_rows` nodes are the table's rows, in the order of their ids.

    Attributes
    ----------
    graph : Graph
        Nodes that only edges name come after the rows.
    n_rows, n_outside, n_unlinked : int
        Rows; nodes that the table lacks; rows that no edge names.
    id, source, target : what holds the ids; None where that has no name
    guesses : sentences that say what was guessed
    order : the row that each of the first nodes is; None where node k is row k
    """

    graph: Graph
    n_rows: int
    n_outside: int
    n_unlinked: int
    id: Any
    source: Any
    target: Any
    guesses: list[str] = field(default_factory=list)
    order: NDArray[np.intp] | None = None
    outside: Callable[[], list[Any]] = list  # the ids of the nodes that are no rows
    links: Links | None = None  # those that were made
    alone: bool = False  # nothing was to link the rows
    together: NDArray[np.int64] | None = None  # by node: rows whose cells are hidden together
    layout: Layout | None = None  # of rows that are series of several places

    def in_rows(self, cells: NDArray[Any]) -> NDArray[Any]:
        """What is known of the first nodes, by row."""
        if self.order is None:
            return cells
        placed = np.empty_like(cells)
        placed[self.order] = cells
        return placed


def align(frame: nw.DataFrame[Any], edges: Any, options: TableOptions, source: Source) -> Alignment:
    """Find the ids of the rows and the ends of the edges, and make the graph of them.

    The column of ids is guessed by looking up ends of edges, those of the ends by their names or
    as the first two. Edges count equally unless a weight is named.
    """
    naming, guesses = source.naming, []  # type: tuple[Naming, list[str]]
    if not len(frame):
        raise InputError(f"There is no row in {naming.table}: there is nothing to fill.")
    if edges is None:
        return align_rows(frame, options, source)
    if isinstance(edges, Links):
        return _align_links(frame, edges, options, source)
    numbered_rows = None
    names = options.source, options.target
    if is_table(edges) and not isinstance(edges, Graph):
        ends, weights, names = ends_in_table(edges, options, source, guesses)
    else:
        ends, weights, numbered_rows = ends_in_graph(edges, options, naming, guesses)
    for role, name, column in zip(("source", "target"), names, ends, strict=True):
        row = column.missing()
        if row is not None:
            marker = _marker(source.edge_originals, name, row)
            raise edge_without_end(naming.edges, naming.edge_row(row), role, marker)
    id, ids = find_ids(frame, options.id, ends, source, guesses, numbered_rows)
    for holder, columns in ((naming.table, [ids]), (naming.edges, ends)):
        if any(column.trimmed for column in columns):
            guesses.append(f"Blanks around the ids in {holder} are left out.")
    guessed = options.id is None
    row = ids.missing()
    if row is not None:
        marker = _marker(source.originals, id, row)
        raise row_without_id(naming.table, naming.row(row), id, guessed, marker)
    ids, *both = alike(ids, *ends)
    nodes, first, second = numbered(ids, *both)
    twice = first_duplicate(nodes)
    if twice is not None:
        rows = naming.row(twice[0]), naming.row(twice[1])
        raise id_occurs_twice(naming.table, id, ids[twice[1]], *rows, guessed)
    order = None if id is None else order_by_id(ids)
    in_order = nodes if order is None else nodes[order]
    graph = Graph.from_edges(first, second, weight=weights, nodes=in_order, unknown="add")
    n_rows = len(nodes)
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[:n_rows] == 0))
    n_outside = graph.n_nodes - n_rows
    some_named = n_unlinked < n_rows or bool(np.isin(nodes, [first, second]).any())
    if n_outside and n_unlinked:
        guesses += _spelled_otherwise(naming, id, ids, both, some_named)
    if len(first) and not some_named:
        raise no_id_matches(naming, id, ids, both[0])

    def outside() -> list[Any]:
        others = np.concatenate([first, second])
        codes, where = np.unique(others, return_index=True)
        where = where[~np.isin(codes, nodes)]
        named_ids = [*both[0].objects(), *both[1].objects()]
        by_code = {int(others[at]): named_ids[at] for at in where.tolist()}
        added = graph.ids[n_rows:] if graph.ids is not None else range(n_rows, graph.n_nodes)
        return [by_code[int(code)] for code in added]

    return Alignment(graph, n_rows, n_outside, n_unlinked, id, *names, guesses, order, outside)


def _spelled_otherwise(
    naming: Naming, id: Any, ids: Ids, ends: Sequence[Ids], some_named: bool
) -> list[str]:
    """A sentence on ids that edges write otherwise; refused if they name no id as it stands."""
    spelling = next(filter(None, (other_spelling(ids, end) for end in ends)), None)
    if spelling is None:
        return []
    one, other, count = spelling
    if not some_named:
        raise ids_spelled_otherwise(id, naming, one, other)
    return [
        f"{count:,} node(s) of {naming.edges} are ids of {naming.table} but for case or blanks "
        f"({named(other)} and {named(one)}) and count as others: write them alike if they are the "
        "same."
    ]


def align_rows(frame: nw.DataFrame[Any], options: TableOptions, source: Source) -> Alignment:
    """Rows without edges, in the order of their ids, or of their cells where they have none."""
    naming, guesses = source.naming, []  # type: tuple[Naming, list[str]]
    for name in ("source", "target", "weight"):
        if getattr(options, name) is not None:
            raise InputError(
                f"{parameter(name)} names a column of the edges, but there are none: pass edges, "
                "or leave it out."
            )
    id, ids = ids_of_rows(frame, options.id, source, guesses)
    if ids is None:
        order = order_by_cells(frame)
    else:
        row = ids.missing()
        if row is not None:
            marker = _marker(source.originals, id, row)
            raise row_without_id(naming.table, naming.row(row), id, False, marker)
        (nodes,) = numbered(ids)
        twice = first_duplicate(nodes)
        if twice is not None:
            rows = naming.row(twice[0]), naming.row(twice[1])
            raise id_occurs_twice(naming.table, id, ids[twice[1]], *rows)
        order = order_by_id(ids)
    n_rows = len(frame)
    empty = np.empty(0, dtype=np.int64)
    graph = Graph.from_edges(empty, empty, n_nodes=n_rows)
    return Alignment(graph, n_rows, 0, n_rows, id, None, None, guesses, order, alone=True)


def _align_links(
    frame: nw.DataFrame[Any], links: Links, options: TableOptions, source: Source
) -> Alignment:
    """Links that were made of the same rows."""
    if links.n_rows != len(frame):
        raise InputError(
            f"The links are those of {links.n_rows:,} rows, but {source.naming.table} has "
            f"{len(frame):,}: make them of this table."
        )
    alone = align_rows(frame, options, source)
    graph = links.graph
    if alone.order is not None:
        graph = reordered(graph, alone.order)
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[: len(frame)] == 0))
    guesses = [*alone.guesses, *links.notes]
    return replace(
        alone, graph=graph, n_unlinked=n_unlinked, guesses=guesses, links=links, alone=False
    )


def _marker(originals: Mapping[str, Any], name: Any, row: int) -> str | None:
    """The text that counts as missing in a cell, if there is one."""
    column = originals.get(name)
    cell = None if column is None else column[row].as_py()
    return cell.strip() or None if isinstance(cell, str) else None


# -- refusals --


def edge_without_end(holder: str, row: str, role: str, marker: str | None = None) -> InputError:
    """An edge that names one node only; `marker`: what stands there and means missing."""
    if marker is None:
        return InputError(f"There is no {role} in {holder}, {row}: name the node or drop the edge.")
    return InputError(
        f"The {role} in {holder}, {row} is {named(marker)}, which counts as missing: pass "
        f"{option('missing', edges=True)} '' if it is an id, or drop the edge."
    )


def row_without_id(
    holder: str, row: str, name: Any, guessed: bool = False, marker: str | None = None
) -> InputError:
    """A row that no edge can name; `marker`: what stands there and means missing."""
    other = f", or name another column with {option('id')}" if guessed else ""
    if marker is not None:
        return InputError(
            f"The id in {_ids_in(name, holder, guessed)}, {row} is {named(marker)}, which counts "
            f"as missing: pass {option('missing')} '' if it is an id{other}."
        )
    return InputError(
        f"There is no id in {_ids_in(name, holder, guessed)}, {row}: every row needs one{other}."
    )


def id_occurs_twice(
    holder: str, name: Any, node: Any, first: str, second: str, guessed: bool = False
) -> InputError:
    """Two rows for one node."""
    return InputError(
        f"The id {named(node)} occurs twice in {_ids_in(name, holder, guessed)}, in {first} and "
        f"in {second}: keep one row per id, or name another column with {option('id')}."
    )


def _ids_in(name: Any, holder: str, guessed: bool) -> str:
    """Where the ids are, and whether anybody said so."""
    return f"{id_holder(name)} of {holder}{' (guessed to hold the ids)' if guessed else ''}"


def no_id_matches(naming: Naming, name: Any, ids: Ids, ends: Ids) -> InputError:
    """Ids and ends of edges that have nothing in common."""
    where, id, end = id_holder(name), named(ids[0]), named(ends[0])
    if ids.kind != ends.kind:
        return InputError(
            f"The ids in {where} of {naming.table} are {ids.kind} (such as {id}) but the ends "
            f"in {naming.edges} are {ends.kind} (such as {end}), so that none match: make both "
            "the same type."
        )
    return InputError(
        f"No id in {where} of {naming.table} (such as {id}) is named in {naming.edges} (such as "
        f"{end}): name the right columns with {option('id')}, {option('source')} and "
        f"{option('target')}."
    )
