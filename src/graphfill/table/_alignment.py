"""Rows and edges brought together: the graph of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph, is_table
from . import _refuse_tables
from ._edge_ends import ends_in_graph, ends_in_table
from ._id_column import alike, first_duplicate, numbered
from ._id_search import find_ids
from ._naming import Naming

if TYPE_CHECKING:
    import narwhals as nw


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
    originals: Mapping[str, Any] | None = None,
    edge_originals: Mapping[str, Any] | None = None,
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
    originals, edge_originals : columns as they stood, texts that mean missing included
    by_position : whether rows may go by number where no column holds ids
    """
    naming = naming or Naming()
    guesses: list[str] = []
    texts, edge_texts = texts or {}, edge_texts or {}
    _refuse_tables.check_has_rows(len(frame), naming.table)
    numbered_rows = None
    if is_table(edges) and not isinstance(edges, Graph):
        listed, weights, (source, target) = ends_in_table(
            edges, source, target, weight, naming, edge_texts, guesses
        )
    else:
        listed, weights, numbered_rows = ends_in_graph(edges, weight)
    for role, name, ends in zip(("source", "target"), (source, target), listed, strict=True):
        row = ends.missing()
        if row is not None:
            marker = _marker(edge_originals, name, row)
            raise _refuse_tables.edge_without_end(naming.edges, naming.edge_row(row), role, marker)

    guessed = id is None
    name, own = find_ids(frame, id, listed, texts, naming, guesses, by_position, numbered_rows)
    for holder, ids in ((naming.table, [own]), (naming.edges, listed)):
        if any(column.trimmed for column in ids):
            guesses.append(f"Blanks around the ids in {holder} are left out.")
    row = own.missing()
    if row is not None:
        marker = _marker(originals, name, row)
        raise _refuse_tables.row_without_id(naming.table, naming.row(row), name, guessed, marker)
    own, *both = alike(own, *listed)
    nodes, first, second = numbered(own, *both)
    twice = first_duplicate(nodes)
    if twice is not None:
        rows = naming.row(twice[0]), naming.row(twice[1])
        raise _refuse_tables.id_occurs_twice(naming.table, name, own[twice[1]], *rows, guessed)
    graph = Graph.from_edges(first, second, weight=weights, nodes=nodes, unknown="add")
    n_rows = len(nodes)
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[:n_rows] == 0))
    if len(first) and n_unlinked == n_rows and not np.isin(nodes, [first, second]).any():
        raise _refuse_tables.no_id_matches(
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


def _marker(originals: Mapping[str, Any] | None, name: Any, row: int) -> str | None:
    """The text that counts as missing in a cell, if there is one."""
    column = (originals or {}).get(name)
    cell = None if column is None else column[row].as_py()
    return cell.strip() or None if isinstance(cell, str) else None
