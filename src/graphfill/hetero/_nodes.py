"""Node types: their rows one after another, and which columns they have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, shown
from ..graph import check_attribute, check_distinct_ids, check_node_count, is_table
from ..graph._ids import as_ids, factorize
from ..solve._matrix import Container, open_matrix
from ._scales import Scale, scales_by_type

Channel = tuple[str, Any]  # a column's name, or the types that share it and its position


class Table(NamedTuple):
    """A user's table of one node type, and its ids."""

    frame: Any
    ids: NDArray[Any]


class Block(NamedTuple):
    """Columns that the same types have, to be filled at once."""

    channels: list[Channel]
    kinds: list[str]
    X: NDArray[np.floating]  # [all nodes, channels]; NaN where a type lacks the channel or cell
    scales: dict[str, Scale]  # what X was standardised by, by node type; empty where it was not


@dataclass
class NodeTypes:
    """All nodes, type after type."""

    sizes: dict[str, int]  # rows of each type
    opened: dict[str, Container]  # the features of each type that has some
    channels: dict[str, list[Channel]]  # types that share a channel share information
    tables: dict[str, Table] = field(default_factory=dict)  # with ids; empty where rows have none
    # The types that each type without features takes its columns from.
    models: dict[str, list[str]] = field(default_factory=dict)
    standardized: bool = False  # whether each type's columns have a scale of their own
    first: dict[str, int] = field(init=False)  # where the rows of each type begin among all nodes

    def __post_init__(self) -> None:
        starts = np.cumsum([0, *self.sizes.values()])
        self.first = {kind: int(start) for kind, start in zip(self.sizes, starts, strict=False)}

    @property
    def n_nodes(self) -> int:
        return sum(self.sizes.values())

    def rows(self, kind: str) -> slice:
        return slice(self.first[kind], self.first[kind] + self.sizes[kind])

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
        parts = {kind: self._given(kind, channels) for kind in kinds if kind in self.opened}
        models = {kind: self.models[kind] for kind in kinds if kind not in parts}
        scales = scales_by_type(parts, models) if self.standardized else {}
        X = np.full((self.n_nodes, len(channels)), np.nan, dtype=np.result_type(*parts.values()))
        for kind, values in parts.items():
            X[self.rows(kind)] = scales[kind].scores(values) if scales else values
        return Block(channels, kinds, X, scales)

    def _given(self, kind: str, channels: Sequence[Channel]) -> NDArray[np.floating]:
        return self.opened[kind].values[:, self.places(kind, channels)]

    def values(self, kind: str, block: Block, filled: NDArray[np.floating]) -> NDArray[np.floating]:
        """What was filled for one type's cells, in their own units; known ones bit for bit."""
        if kind not in block.scales:
            return filled
        restored = block.scales[kind].values(filled)
        if kind in self.opened:
            given = self._given(kind, block.channels)
            restored = np.where(np.isnan(given), restored, given)
        return restored

    def places(self, kind: str, channels: Sequence[Channel]) -> NDArray[np.intp]:
        """Where these channels stand among the columns of a type."""
        place = {channel: column for column, channel in enumerate(self.channels[kind])}
        return np.array([place[channel] for channel in channels], dtype=np.intp)

    def rebuild(self, kind: str, filled: NDArray[np.floating]) -> Any:
        """The filled features of one type as the kind of object that came in."""
        columns: Any = self.opened[kind].rebuild(filled) if kind in self.opened else filled
        if not self.channels[kind]:  # it only passed information on
            return self.tables[kind].frame if kind in self.tables else self.sizes[kind]
        if kind not in self.tables:
            return columns
        import narwhals as nw

        frame = nw.from_native(self.tables[kind].frame, eager_only=True)
        if kind in self.opened:
            features = nw.from_native(columns, eager_only=True)
        else:
            names = [name for _, name in self.channels[kind]]
            by_name = dict(zip(names, np.ascontiguousarray(filled.T), strict=True))
            features = nw.from_dict(by_name, backend=frame.implementation)
        return frame.with_columns(*features.iter_columns()).to_native()


def listed(names: Collection[Any]) -> str:
    """Names as a sentence has them."""
    return ", ".join(map(repr, names)) or "none"


def check_mapping(role: str, value: Any, example: str) -> None:
    """Refuse what is no dict by type."""
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{role} is {shown(value)} but must be a dict such as {example}.")


def read_nodes(
    features: Mapping[str, Any], *, shared: Any = None, id: Any = None, standardized: bool = False
) -> NodeTypes:
    """Open the features of each type; channels of types without features are left out yet."""
    check_mapping("features", features, "{'paper': X, 'author': 7167}")
    sizes: dict[str, int] = {}
    opened: dict[str, Container] = {}
    names: dict[str, list[Any]] = {}
    tables: dict[str, Table] = {}
    for kind, given in features.items():
        id_column = id.get(kind) if isinstance(id, Mapping) else id
        if id_column is not None and is_table(given):
            tables[kind], given = _split_ids(given, id_column)
            sizes[kind] = len(tables[kind].ids)
            if given is None:
                continue
        elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
            sizes[kind] = check_node_count(given)
            continue
        labels = None
        if isinstance(given, tuple) and len(given) == 2 and hasattr(given[0], "shape"):
            given, labels = given[0], list(given[1])
        opened[kind] = open_matrix(given)
        sizes[kind] = len(opened[kind].values)
        labels = opened[kind].feature_names if labels is None else labels
        if labels is not None:
            _check_names(kind, labels, opened[kind].values.shape[1])
            names[kind] = labels
    without_ids = [kind for kind in sizes if kind not in tables]
    if tables and without_ids:
        raise InputError(
            f"id= names no column of {listed(without_ids)}: give every type of nodes a table with "
            "an id column, or none."
        )
    if not opened:
        raise InputError("No node type has features: there is nothing to propagate.")
    channels = _channels(opened, names, shared)
    return NodeTypes(sizes, opened, channels, tables, standardized=standardized)


def _split_ids(table: Any, id: Any) -> tuple[Table, Any]:
    """The ids of a table and its other columns; None if there are none."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    check_attribute(id, frame.columns, "columns of the features")
    ids = as_ids(frame.get_column(id).to_native(), "node")
    _, (codes,) = factorize(ids)
    check_distinct_ids(ids, codes)
    others = frame.drop(id)
    return Table(table, ids), others.to_native() if others.columns else None


def _check_names(kind: str, names: list[Any], n_columns: int) -> None:
    """Refuse names that are not one per column, or occur twice: columns are matched by them."""
    if len(names) != n_columns:
        raise InputError(
            f"The features of {kind!r} have {n_columns} column(s) but {len(names)} name(s): pass "
            "one name per column."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The features of {kind!r} have two columns {twice!r}: rename one.")


def _channels(
    opened: Mapping[str, Container], names: Mapping[str, list[Any]], shared: Any
) -> dict[str, list[Channel]]:
    """The channels of each type with features: by name, or by the types that share it."""
    widths = {kind: one.values.shape[1] for kind, one in opened.items() if kind not in names}
    by_position: Collection[str] = ()
    if shared is not None and shared != "same_width":
        is_list = isinstance(shared, (list, tuple, set, frozenset)) and len(shared) > 0
        if not is_list or not all(kind in widths for kind in shared):
            raise InputError(
                f"shared is {shown(shared)} but must be 'same_width' or a list of node types with "
                f"features without names: {listed(widths)}."
            )
        by_position = shared
        first, *others = shared
        for kind in others:
            if widths[kind] != widths[first]:
                raise InputError(
                    f"shared names {first!r} with {widths[first]} column(s) and {kind!r} with "
                    f"{widths[kind]}: only types with as many columns can share them."
                )
    channels: dict[str, list[Channel]] = {}
    for kind in opened:
        if kind in names:
            channels[kind] = [("", name) for name in names[kind]]
            continue
        owner = "shared" if kind in by_position else kind
        if shared == "same_width":
            owner = f"types of {widths[kind]} columns"
        # A number as the name of a user's column is another channel than a position.
        channels[kind] = [(owner, position) for position in range(widths[kind])]
    return channels


def give_columns(
    nodes: NodeTypes, neighbours: Mapping[str, Collection[str]], like: Mapping[str, Any] | None
) -> None:
    """Give each type without features the columns of the types it is linked to; or none."""
    bare = [kind for kind in nodes.sizes if kind not in nodes.opened]
    like = like or {}
    for kind, model in like.items():
        if kind not in bare:
            raise InputError(
                f"like= gives columns to {kind!r}, but the node types without features are: "
                f"{listed(bare)}."
            )
        if model is not None and model not in nodes.opened:
            raise InputError(
                f"like= gives {kind!r} the columns of {model!r}, but the node types with features "
                f"are: {listed(nodes.opened)}."
            )
    for kind in bare:
        models = [other for other in nodes.opened if other in neighbours[kind]]
        if kind in like:
            models = [like[kind]]
            if like[kind] is None:
                nodes.channels[kind] = []
                continue
        distinct = {tuple(nodes.channels[other]) for other in models}
        union = list(dict.fromkeys(c for other in models for c in nodes.channels[other]))
        by_name = all(channel[0] == "" for channel in union)
        if not models or (len(distinct) > 1 and not by_name):
            why = f"neighbours with different ones ({listed(models)})"
            if not models:
                why = "no neighbouring type with any"
            raise InputError(
                f"The node type {kind!r} has no features and {why}: say whose columns it gets by "
                f"like={{{kind!r}: ...}}, or that it gets none by None."
            )
        nodes.channels[kind] = union
        nodes.models[kind] = models
