"""Fill the missing node attributes of a NetworkX or igraph graph."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GraphfillWarning, InputError, check_flag, named
from ..graph import Graph
from . import _objects as objects
from ._columns import mixed_column
from ._impute import impute

if TYPE_CHECKING:
    import pyarrow as pa


def impute_graph(
    G: Any,
    *,
    attributes: Sequence[Any] | None = None,
    inplace: bool = False,
    weight: str | None = None,
    return_result: bool = False,
    **options: Any,
) -> Any:
    """Fill the missing node attributes of a graph from the nodes linked to theirs.

    As :func:`impute` does for the columns of a table: an attribute is missing where it is None or
    NaN, or where a node does not have it. Known values stay the objects they are; a filled
    integer is an integer, a filled text one that was seen.

    Parameters
    ----------
    G : NetworkX graph of any class, or igraph graph
        A directed graph is taken as undirected, parallel edges as one.
    attributes : names of node attributes, optional
        By default all but igraph's "name"; what holds lists or other objects is left alone, and a
        warning says so.
    inplace : bool
        Fill `G` itself, not a copy of it.
    weight : name of an edge attribute, optional
        Edges count equally unless it is named.
    return_result : bool
        Return a :class:`TableResult`, whose ``table`` is the filled graph.
    **options
        Of :func:`impute`; what `mark` and `intervals` add becomes node attributes.

    Returns
    -------
    graph of the class of `G`: a copy, or `G` itself

    Examples
    --------
    >>> import networkx as nx
    >>> friends = nx.path_graph(["ann", "bob", "cat"])
    >>> nx.set_node_attributes(friends, {"ann": 30, "cat": 40}, "age")
    >>> impute_graph(friends).nodes["bob"]
    {'age': 35}
    """
    import pyarrow as pa

    _check_options(options)
    check_flag("inplace", inplace)
    nodes = _nodes_of(G)
    held = nodes.attributes()
    if attributes is not None:
        attributes = [attributes] if isinstance(attributes, str) else list(attributes)
        _check_node_attributes(attributes, held)
    wanted = nodes.usual(held) if attributes is None else attributes
    markers = options.get("missing", ())
    columns, left = {}, []
    names = _column_names(wanted)
    for name, attribute in names.items():
        column = _column(attribute, nodes.values(attribute), markers, asked=attributes is not None)
        if isinstance(column, str):
            left.append(f"Attribute {attribute!r} is left alone: it holds {column}.")
        else:
            columns[name] = column
    if not columns:
        raise InputError(
            "No node of the graph has an attribute that can be filled: set some on the nodes whose "
            "values are known."
        )
    id = _free_name("node", columns)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        edges, weights = _edges(nodes.graph(weight))
        result = impute(
            pa.table({id: np.arange(len(nodes)), **columns}),
            edges,
            id=id,
            weight=weights,
            return_result=True,
            **options,
        )
    for sentence in left:
        warnings.warn(sentence, GraphfillWarning, stacklevel=2)
    for warning in caught:  # said again, at the line that called this
        warnings.warn(str(warning.message), warning.category, stacklevel=2)
    result.notes += left

    target = nodes if inplace else _nodes_of(G.copy())
    for name in result.table.column_names:
        if name in columns:
            cells = result.filled.get(name)
            rows = [] if cells is None else np.flatnonzero(cells).tolist()
        else:
            rows = [] if name == id else list(range(len(nodes)))
        filled = result.table[name]
        target.put(names.get(name, name), ((row, filled[row].as_py()) for row in rows))
    result.table = target.owner
    return result if return_result else target.owner


class _NetworkxNodes:
    """The nodes of a NetworkX graph in order, and what they hold."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self._held = [data for _, data in owner.nodes(data=True)]

    def __len__(self) -> int:
        return len(self._held)

    def attributes(self) -> list[Any]:
        return list(dict.fromkeys(name for data in self._held for name in data))

    def usual(self, attributes: list[Any]) -> list[Any]:
        return attributes

    def values(self, attribute: Any) -> list[Any]:
        return [data.get(attribute) for data in self._held]

    def graph(self, weight: str | None) -> Graph:
        return Graph.from_networkx(self.owner, weight)

    def put(self, attribute: Any, cells: Iterable[tuple[int, Any]]) -> None:
        for row, value in cells:
            self._held[row][attribute] = value


class _IgraphNodes:
    """The same of an igraph graph, whose vertices have all attributes or none."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __len__(self) -> int:
        return int(self.owner.vcount())

    def attributes(self) -> list[Any]:
        return list(self.owner.vs.attributes())

    def usual(self, attributes: list[Any]) -> list[Any]:
        return [name for name in attributes if name != "name"]

    def values(self, attribute: Any) -> list[Any]:
        return list(self.owner.vs[attribute])

    def graph(self, weight: str | None) -> Graph:
        return Graph.from_igraph(self.owner, weight)

    def put(self, attribute: Any, cells: Iterable[tuple[int, Any]]) -> None:
        for row, value in cells:
            self.owner.vs[row][attribute] = value


def _nodes_of(G: Any) -> _NetworkxNodes | _IgraphNodes:
    if hasattr(G, "vcount"):
        return _IgraphNodes(G)
    if hasattr(G, "adjacency") and hasattr(G, "nodes"):
        return _NetworkxNodes(G)
    raise InputError(
        f"impute_graph fills the node attributes of a NetworkX or igraph graph, not of a "
        f"{type(G).__name__}: use impute for a table and its edges."
    )


def _check_node_attributes(wanted: Sequence[Any], held: Sequence[Any]) -> None:
    """Refuse the name of an attribute that no node has."""
    for name in wanted:
        if name not in held:
            near = difflib.get_close_matches(str(name), [str(other) for other in held], 1, 0.5)
            more = f" and {len(held) - 8} more" if len(held) > 8 else ""
            listed = ", ".join(map(repr, list(held)[:8])) + more if held else "none at all"
            some = f"did you mean {near[0]!r}?" if near else f"they have {listed}."
            raise InputError(f"No node has the attribute {named(name)}; {some}")


def _check_options(options: Mapping[str, Any]) -> None:
    """Refuse options of `impute` that mean nothing where a graph holds table and edges."""
    if options.get("draws"):
        raise InputError(
            "draws= makes tables, which a graph is not: take its node attributes as a table, and "
            "pass that to impute."
        )
    for name in ("id", "source", "target", "columns", "exclude"):
        if name in options:
            instead = "attributes= names what is filled" if name in ("columns", "exclude") else ""
            raise InputError(
                f"{name}= is an option for tables: a graph knows its nodes and edges"
                f"{'; ' + instead if instead else ''}."
            )


def _column(
    attribute: Any, values: list[Any], markers: Sequence[Any], *, asked: bool
) -> pa.Array | str:
    """The values as Arrow, or why they cannot be filled."""
    cells = objects.as_array(values)
    missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    found = objects.read(cells, missing, markers)
    if found.mixture is not None:
        if asked:
            raise mixed_column(attribute, *found.mixture)
        one, two = found.mixture
        return f"{one.plural} and {two.plural}"
    return found.reason if found.family == "" else found.twin


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _column_names(attributes: Sequence[Any]) -> Mapping[str, Any]:
    """A text for each attribute, which NetworkX lets be anything: 1 and "1" are two."""
    names: dict[str, Any] = {}
    for attribute in attributes:
        name = attribute if isinstance(attribute, str) else str(attribute)
        names[name if name not in names else repr(attribute)] = attribute
    return names


def _free_name(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _edges(graph: Graph) -> tuple[pa.Table, str | None]:
    """Each edge once, by row number, and the name of the column of weights, if any."""
    import pyarrow as pa

    rows: NDArray[np.int64] = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    once = rows <= graph.indices
    columns = {"source": rows[once], "target": graph.indices[once].astype(np.int64)}
    if graph.weights is None:
        return pa.table(columns), None
    return pa.table({**columns, "weight": graph.weights[once]}), "weight"
