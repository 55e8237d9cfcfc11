"""Node types: their rows one after another, and which columns they have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph import (
    as_ids,
    check_attribute,
    check_distinct_ids,
    check_node_count,
    factorize,
    is_table,
)
from ..solve._matrix import Container, open_matrix
from . import _refuse_types
from ._scales import Scale, own_scales

Channel = tuple[str, Any]  # a column's name, or the types that share it and its position


class Table(NamedTuple):
    """A user's table of one node type without its id column, and the ids."""

    frame: Any
    id: Any
    ids: NDArray[Any]


class Block(NamedTuple):
    """Columns that the same types have, to be filled at once.

    Attributes
    ----------
    X : array [all nodes, channels]
        NaN where a type lacks the channel or the cell.
    scales : dict by node type
        What X was standardised by; empty where it was not.
    """

    channels: list[Channel]
    kinds: list[str]
    X: NDArray[np.floating]
    scales: dict[str, Scale]


@dataclass
class NodeTypes:
    """All nodes, type after type.

    Attributes
    ----------
    sizes, first : rows of each type, and where they begin among all nodes
    opened : the features of each type that has some
    channels : the channels of each type; types that share a channel share information
    tables : the tables with ids, by type; empty where rows go by number
    models : the types that each type without features takes after
    standardized : whether each type's columns are propagated on a scale of their own
    """

    sizes: dict[str, int]
    opened: dict[str, Container]
    channels: dict[str, list[Channel]]
    tables: dict[str, Table] = field(default_factory=dict)
    models: dict[str, list[str]] = field(default_factory=dict)
    standardized: bool = False
    first: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        starts = np.cumsum([0, *self.sizes.values()])
        self.first = {kind: int(start) for kind, start in zip(self.sizes, starts, strict=False)}

    @property
    def n_nodes(self) -> int:
        return sum(self.sizes.values())

    def rows(self, kind: str) -> slice:
        return slice(self.first[kind], self.first[kind] + self.sizes[kind])

    def rows_of(self, kind: str, ends: Any, role: str) -> tuple[NDArray[Any], int | None]:
        """Row numbers of one end of some edges, and the first end without a row."""
        listed = as_ids(ends, role)
        if kind not in self.tables:
            return listed, None
        own = self.tables[kind].ids
        distinct, (codes, wanted) = factorize(own, listed)
        row = np.full(len(distinct), -1, dtype=np.int64)
        row[codes] = np.arange(len(own))
        found = row[wanted]
        return found, int(np.argmin(found)) if (found < 0).any() else None

    def blocks(self) -> Iterator[Block]:
        """All columns of all types, in pieces to be filled at once."""
        owners: dict[Channel, list[str]] = {}
        for kind, channels in self.channels.items():
            for channel in channels:
                owners.setdefault(channel, []).append(kind)
        together: dict[tuple[str, ...], list[Channel]] = {}
        for channel, kinds in owners.items():
            together.setdefault(tuple(kinds), []).append(channel)
        for kinds_of_block, channels in together.items():
            yield self._block(channels, list(kinds_of_block))

    def _block(self, channels: list[Channel], kinds: list[str]) -> Block:
        parts = {
            kind: self.opened[kind].values[:, self.places(kind, channels)]
            for kind in kinds
            if kind in self.opened
        }
        bare = {kind: self.models[kind] for kind in kinds if kind not in parts}
        scales = own_scales(parts, bare) if self.standardized else {}
        X = np.full((self.n_nodes, len(channels)), np.nan, dtype=np.result_type(*parts.values()))
        for kind, values in parts.items():
            X[self.rows(kind)] = scales[kind].scores(values) if scales else values
        return Block(channels, kinds, X, scales)

    def values(self, kind: str, block: Block, filled: NDArray[np.floating]) -> NDArray[np.floating]:
        """What was filled for one type's cells, in their own units; known ones bit for bit."""
        if kind not in block.scales:
            return filled
        restored = block.scales[kind].values(filled)
        if kind in self.opened:
            given = self.opened[kind].values[:, self.places(kind, block.channels)]
            restored = np.where(np.isnan(given), restored, given)
        return restored

    def places(self, kind: str, channels: Sequence[Channel]) -> NDArray[np.intp]:
        """Where these channels stand among the columns of a type."""
        place = {channel: column for column, channel in enumerate(self.channels[kind])}
        return np.array([place[channel] for channel in channels], dtype=np.intp)

    def rebuild(self, kind: str, filled: NDArray[np.floating]) -> Any:
        """The filled features of one type as the kind of object that came in."""
        names = [channel[1] for channel in self.channels[kind]]
        if kind in self.opened:
            whole = self.opened[kind].rebuild(filled)
        elif kind not in self.tables:
            return filled
        else:
            whole = None
        if kind not in self.tables:
            return whole
        import narwhals as nw

        table = self.tables[kind]
        frame = nw.from_native(table.frame, eager_only=True)
        if whole is not None:
            columns = [nw.from_native(whole, eager_only=True).get_column(name) for name in names]
        else:
            columns = [
                nw.new_series(
                    name, np.ascontiguousarray(filled[:, k]), backend=frame.implementation
                )
                for k, name in enumerate(names)
            ]
            if nw.dependencies.is_pandas_dataframe(table.frame):
                index = table.frame.index
                columns = [
                    nw.from_native(c.to_native().set_axis(index), series_only=True) for c in columns
                ]
        return frame.with_columns(*columns).to_native()


def read_nodes(
    features: Mapping[str, Any], *, shared: Any = None, id: Any = None, standardized: bool = False
) -> NodeTypes:
    """Open the features of each type; channels of types without features are left out yet."""
    _refuse_types.check_mapping("features", features, "{'paper': X, 'author': 7167}")
    sizes: dict[str, int] = {}
    opened: dict[str, Container] = {}
    names: dict[str, list[Any]] = {}
    tables: dict[str, Table] = {}
    for kind, given in features.items():
        own_id = id.get(kind) if isinstance(id, Mapping) else id
        if own_id is not None and is_table(given):
            tables[kind], given = _split_ids(given, own_id)
            sizes[kind] = len(tables[kind].ids)
            if given is None:
                continue
        elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
            sizes[kind] = check_node_count(given)
            continue
        labels = None
        if isinstance(given, tuple) and len(given) == 2 and hasattr(given[0], "shape"):
            given, labels = given[0], list(given[1])
        opened[kind] = one = open_matrix(given)
        labels = one.feature_names if labels is None else labels
        if labels is not None:
            _refuse_types.check_name_count(kind, len(labels), one.values.shape[1])
            _refuse_types.check_distinct_names(kind, labels)
            names[kind] = labels
        sizes[kind] = len(one.values)
    if tables:
        _refuse_types.check_id_columns([kind for kind in sizes if kind not in tables])
    _refuse_types.check_no_features(opened)
    channels = _channels(opened, names, shared)
    return NodeTypes(sizes, opened, channels, tables, standardized=standardized)


def _channels(
    opened: Mapping[str, Container], names: Mapping[str, list[Any]], shared: Any
) -> dict[str, list[Channel]]:
    widths = {kind: one.values.shape[1] for kind, one in opened.items() if kind not in names}
    _refuse_types.check_shared(shared, widths)
    channels: dict[str, list[Channel]] = {}
    for kind, one in opened.items():
        width = one.values.shape[1]
        if kind in names:
            channels[kind] = [("", name) for name in names[kind]]
            continue
        owner = kind
        if shared == "same_width":
            owner = f"types of {width} columns"
        elif shared is not None and kind in shared:
            owner = "shared"
        # A number as the name of a user's column is another channel than a position.
        channels[kind] = [(owner, position) for position in range(width)]
    return channels


def give_columns(
    nodes: NodeTypes, neighbours: Mapping[str, Collection[str]], like: Mapping[str, str] | None
) -> None:
    """Give each type without features the columns of the types it is linked to."""
    bare = [kind for kind in nodes.sizes if kind not in nodes.opened]
    like = like or {}
    _refuse_types.check_like(like, bare, nodes.opened)
    for kind in bare:
        if kind in like:
            nodes.channels[kind] = list(nodes.channels[like[kind]])
            nodes.models[kind] = [like[kind]]
            continue
        models = [other for other in nodes.opened if other in neighbours[kind]]
        distinct = {tuple(nodes.channels[other]) for other in models}
        union = list(dict.fromkeys(c for other in models for c in nodes.channels[other]))
        by_name = all(channel[0] == "" for channel in union)
        if not models or (len(distinct) > 1 and not by_name):
            raise _refuse_types.columns_unclear(kind, models)
        nodes.channels[kind] = union
        nodes.models[kind] = models


def _split_ids(table: Any, id: Any) -> tuple[Table, Any]:
    """The ids of a table and its other columns; None if there are none."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    check_attribute(id, frame.columns, "columns of the features")
    ids = as_ids(frame.get_column(id).to_native(), "node")
    _, (codes,) = factorize(ids)
    check_distinct_ids(ids, codes)
    others = frame.drop(id)
    return Table(table, id, ids), others.to_native() if others.columns else None
