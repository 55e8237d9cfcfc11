r"""Several tables whose rows name each other's, each filled with what the others say.

A key, such as the column `customer` of a table of orders, links a row to the row that it names. All
rows of all tables are nodes, and each key is a relation of its own, whose strength is chosen for
every table on hidden cells. Besides, a row has the cells of the rows that it names beside its own,
and the means and most frequent words of those that name it: known cells only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_column_name, named, spelled
from ..links import Links, relation_of, union
from ._alignment import id_occurs_twice
from ._frames import in_memory
from ._id_column import Ids, alike, first_duplicate, numbered, order_by_id, read_ids
from ._id_search import find_ids
from ._impute import impute
from ._joined import of_children, of_parents
from ._options import Naming, Source
from ._result import TableResult
from ._rows_alone import order_by_cells

if TYPE_CHECKING:
    import narwhals as nw

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Key:
    """A column of one table that names rows of another.

    Attributes
    ----------
    table, column, other : names
    parent : [rows of the table], the row of the other that each names, -1 where there is none
    """

    table: str
    column: Any
    other: str
    parent: Rows

    def __str__(self) -> str:
        return f"{self.column!r} of {self.table}"


@dataclass
class Tables:
    """The tables by name, with the keys between them.

    Attributes
    ----------
    frames : as narwhals has them
    texts : by table, the text of columns that came without types
    ids : by table, the column that keys name; guessed if it is not given
    notes : what was guessed, in sentences
    """

    frames: dict[str, nw.DataFrame[Any]]
    texts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, table: str, column: Any, other: str) -> None:
        """Look up the rows that a column names."""
        for name in (table, other):
            if name not in self.frames:
                raise InputError(
                    f"There is no table {name!r} for the key {column!r}: the tables are "
                    f"{', '.join(map(repr, self.frames))}."
                )
        frame, texts = self.frames[table], self.texts.get(table, {})
        check_column_name(column, frame.columns, table)
        key = read_ids(frame, column, texts, table)
        known = np.flatnonzero(~_missing(key))
        holder = f"column {column!r} of {table}"
        naming = Naming(table=other, edges=holder)
        source = Source(naming=naming, texts=self.texts.get(other, {}), by_position=False)
        named_rows = key.take(known)
        try:
            id, ids = find_ids(
                self.frames[other], self.ids.get(other), (named_rows, named_rows), source, [], None
            )
        except InputError:
            raise self._no_rows(holder, named_rows, other) from None
        self.ids[other] = id
        rows = np.flatnonzero(~_missing(ids))
        codes, wanted = numbered(*alike(ids.take(rows), named_rows))
        twice = first_duplicate(codes)
        if twice is not None:
            first, second = (f"row {rows[at]}" for at in twice)
            raise id_occurs_twice(other, id, ids[int(rows[twice[1]])], first, second)
        order = np.argsort(codes, kind="stable")
        place = np.minimum(np.searchsorted(codes[order], wanted), len(codes) - 1)
        found = codes[order][place] == wanted
        if not found.any():
            raise self._no_rows(holder, named_rows, other)
        if not found.all():
            self.notes.append(
                f"{np.count_nonzero(~found):,} cell(s) of {holder} name no row of {other}."
            )
        parent = np.full(len(frame), -1, dtype=np.int64)
        parent[known[found]] = rows[order[place[found]]]
        self.keys.append(Key(table, column, other, parent))

    def _no_rows(self, holder: str, key: Ids, other: str) -> InputError:
        shown = f" (such as {named(key[0])})" if len(key) else ""
        of_ids = spelled("ids={" + repr(other) + ": column}", "an id in each row")
        return InputError(
            f"No column of {other} holds the cells of {holder}{shown}: name the table whose rows "
            f"they name, and see that it has {of_ids}."
        )

    def links(self, table: str) -> Links:
        """All keys as relations, for one table: its rows are the first nodes."""
        others = [name for name in sorted(self.frames) if name != table]
        n_rows, start = len(self.frames[table]), {table: 0}
        place, own = {table: np.arange(n_rows)}, []  # type: tuple[dict[str, Rows], list[str]]
        for name in others:
            start[name], size = n_rows + len(own), len(self.frames[name])
            order, place[name] = self._order(name), np.arange(size)
            if order is not None:
                place[name][order] = np.arange(size)
            own += [f"{name}: {row}" for row in range(size)]
        relations = []
        for key in self.keys:
            rows = np.flatnonzero(key.parent >= 0)
            ends = (start[key.table] + place[key.table][rows],
                    start[key.other] + place[key.other][key.parent[rows]])  # fmt: skip
            relation = relation_of(f"by {key}", ends, None, n_rows, own)
            relations.append(replace(relation, shared=True))
        strengths = [1.0] * len(relations)
        graph = union(relations, strengths)
        return Links(graph, n_rows, tuple(relations), tuple(strengths), _open=True)

    def _order(self, table: str) -> NDArray[Any] | None:
        """The rows in an order that does not depend on how they stand."""
        frame, id = self.frames[table], self.ids.get(table)
        if id is None:
            return order_by_cells(frame)
        return order_by_id(read_ids(frame, id, self.texts.get(table, {}), table))

    def extra(self, table: str) -> dict[str, Any]:
        """What other tables say of each row, as Arrow columns by new names."""
        found: dict[str, Any] = {}
        for key in self.keys:
            if key.table == key.other:  # the cells of its own columns would tell hidden ones
                continue
            if key.table == table:
                other = self._arrow(key.other)
                found |= of_parents(other, self._told(key.other), key.parent, str(key.column))
            elif key.other == table:
                child, n_rows = self._arrow(key.table), len(self.frames[table])
                word = key.table if self._pairs(key) == 1 else f"{key.table} ({key.column})"
                found |= of_children(child, self._told(key.table), key.parent, n_rows, word)
        taken = set(self.frames[table].columns)
        return {name: column for name, column in found.items() if name not in taken}

    def key_columns(self, table: str) -> list[Any]:
        return list(dict.fromkeys(key.column for key in self.keys if key.table == table))

    def _told(self, table: str) -> list[str]:
        """The columns of a table that say something of its rows to others."""
        keys = {self.ids.get(table), *self.key_columns(table)}
        return [name for name in self.frames[table].columns if name not in keys]

    def _pairs(self, key: Key) -> int:
        return sum((one.table, one.other) == (key.table, key.other) for one in self.keys)

    def _arrow(self, table: str) -> Any:
        return self.frames[table].to_arrow()


def _missing(ids: Ids) -> NDArray[np.bool_]:
    if ids.kind == "objects":
        return np.array([value is None or value != value for value in ids.values], dtype=bool)
    return np.asarray(ids.values.is_null().to_numpy(zero_copy_only=False), dtype=bool)


def beside(frame: nw.DataFrame[Any], extra: Mapping[str, Any]) -> Any:
    """The table with Arrow columns behind its own, of the library that it came in."""
    import narwhals as nw
    import pyarrow as pa

    if not extra:
        return frame.to_native()
    more = nw.DataFrame.from_arrow(pa.table(dict(extra)), backend=frame.implementation)
    index = nw.maybe_get_index(frame)
    if index is not None:
        more = nw.maybe_set_index(more, index=nw.new_series("", list(index), backend="pandas"))
    return nw.concat([frame, more], how="horizontal").to_native()


def without(result: TableResult, extra: Mapping[str, Any]) -> TableResult:
    """The result of the table's own columns alone."""
    import narwhals as nw

    if extra:
        frame = nw.from_native(result.table, eager_only=True)
        result.table = frame.drop(list(extra)).to_native()
        result.columns = [one for one in result.columns if one.name not in extra]
    return result


def impute_tables(
    tables: Mapping[str, Any],
    keys: Mapping[tuple[str, Any], str],
    *,
    ids: Mapping[str, Any] | None = None,
    return_result: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Fill several tables, one of whose columns name rows of another.

    Each table is filled as :func:`impute` fills one: by links between all rows of all tables, each
    key a relation whose strength is chosen on held-out cells, and by the cells of the rows that a
    row names, or that name it. Keys are not filled.

    Parameters
    ----------
    tables : tables by name
    keys : mapping from (table, column) to the table whose rows the column names
    ids : mapping from table to the column that keys name, optional
        By default the column that holds the cells of the key.
    return_result : bool
        Return a :class:`TableResult` for each table.
    **options
        Of :func:`impute`, for every table: method, effort, intervals, mark, seed and so on.

    Returns
    -------
    dict
        The filled tables by name.

    Examples
    --------
    >>> import warnings
    >>> import polars as pl
    >>> warnings.simplefilter("ignore")
    >>> people = pl.DataFrame({"name": ["ann", "bob"], "home": ["hill", "hill"], "tax": [5, None]})
    >>> homes = pl.DataFrame({"street": ["hill"], "rooms": [3]})
    >>> both = {"people": people, "homes": homes}
    >>> impute_tables(both, {("people", "home"): "homes"})["people"]["tax"].to_list()
    [5, 5]
    """
    import narwhals as nw

    if not keys:
        raise InputError(
            "No key says how the tables are linked: pass keys={('orders', 'customer'): 'customers'}"
            ", or fill each table by itself."
        )
    frames = {
        name: nw.from_native(in_memory(table)[0], eager_only=True) for name, table in tables.items()
    }
    found = Tables(frames, ids=dict(ids or {}))
    for (table, column), other in keys.items():
        found.add(table, column, other)
    filled = {}
    for name, frame in frames.items():
        extra = found.extra(name)
        exclude = [*options.get("exclude", ()), *found.key_columns(name), *extra]
        exclude = [one for one in dict.fromkeys(exclude) if one in frame.columns or one in extra]
        result = impute(
            beside(frame, extra),
            found.links(name),
            id=found.ids.get(name),
            return_result=True,
            **options | {"exclude": exclude},
        )
        result = without(result, extra)
        filled[name] = result if return_result else result.table
    return filled
