"""Refusals of tables with ids, and of the edges between their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import InputError, named, option, switch
from ..errors import check_column_name as check_column_name


def check_table(table: Any, holder: str) -> None:
    """Refuse what is no table in memory, or has two columns of one name."""
    from narwhals import dependencies

    if isinstance(table, dict) or not dependencies.is_into_dataframe(table):
        raise InputError(
            f"The table is a {type(table).__name__} but must be a pandas, polars or pyarrow table: "
            "use propagate for arrays, collect a lazy frame, or make a data frame of it."
        )
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The column name {twice!r} occurs twice in {holder}: rename one.")


def check_not_the_ids(id: Any, columns: Sequence[Any] | None) -> None:
    """Refuse to fill the column that holds the ids."""
    if columns is not None and id in columns:
        raise InputError(
            f"Column {id!r} holds the ids, which cannot be filled: leave it out of "
            f"{option('columns')}."
        )


def check_in_one_list(columns: Sequence[Any] | None, exclude: Sequence[Any]) -> None:
    """Refuse a column that is to be filled and to be left alone."""
    for name in columns or ():
        if name in exclude:
            raise InputError(
                f"Column {name!r} is named both in {option('columns')} and in {option('exclude')}: "
                "name it in one of them."
            )


def check_reliance(reliance: Any) -> None:
    """Refuse a reliance on the graph that is no share."""
    number = isinstance(reliance, (int, float)) and not isinstance(reliance, bool)
    if reliance != "held-out" and not (number and 0 <= reliance <= 1):
        raise InputError(
            f"{option('reliance')} is {reliance!r} but must be 'held-out' or a number from 0 to 1."
        )


def check_level(level: Any) -> None:
    """Refuse a level of intervals that is no share."""
    number = isinstance(level, (int, float)) and not isinstance(level, bool)
    if level is not None and not (number and 0 < level < 1):
        raise InputError(
            f"{option('intervals')} is {level!r} but must be a share between 0 and 1, such as 0.9."
        )


def check_free_name(name: str, names: Sequence[Any]) -> None:
    """Refuse a name for a new column that is taken."""
    if name in names:
        raise InputError(
            f"The table already has a column {name!r}, a name that {switch('mark')} or "
            f"{option('intervals')} gives to a new one: rename it."
        )


def check_something_known(some: bool, columns: Iterable[Any], holder: str) -> None:
    """Refuse a table in which all that is missing is missing whole."""
    if some or not all(column.missing.size and column.missing.all() for column in columns):
        return
    names = [repr(column.name) for column in columns]
    if names:
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
        word = "column" if len(names) == 1 else "columns"
        raise InputError(
            f"Every cell of {holder} in {word} {listed} is missing: there is nothing to infer from."
        )


def check_has_rows(n_rows: int, holder: str) -> None:
    """Refuse a table without rows."""
    if n_rows == 0:
        raise InputError(f"There is no row in {holder}: there is nothing to fill.")


def check_no_weight_name(weight: Any) -> None:
    """Refuse the name of a weight where edges are no table."""
    if weight is not None:
        raise InputError(
            f"weight={weight!r} names a column or attribute, but the edges are neither a table "
            "nor a NetworkX or igraph graph: make a Graph with weights first."
        )


def too_few_edge_columns(holder: str, names: Sequence[Any]) -> InputError:
    """A table of edges with fewer than two columns."""
    return InputError(
        f"There is one column in {holder} ({', '.join(map(repr, names))}) but an edge has two "
        "ends: add the column with the other end."
    )


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


def check_not_nested(nested: bool, name: Any, holder: str) -> None:
    """Refuse lists and structs as ids."""
    if nested:
        raise InputError(
            f"Column {name!r} of {holder} holds lists or structs, which cannot be ids: name "
            "another column."
        )


def bad_weight(holder: str, row: str, name: Any, weight: Any) -> InputError:
    """A weight that is missing, no number, negative or infinite."""
    if weight is None or weight != weight:
        return InputError(
            f"There is no weight in column {name!r} of {holder}, {row}: give the edge one, or "
            "drop it."
        )
    return InputError(
        f"The weight in column {name!r} of {holder}, {row} is {named(weight)}: weights must be "
        "finite numbers, and not negative."
    )


def edge_without_end(holder: str, row: str, role: str, marker: str | None = None) -> InputError:
    """An edge that names one node only; `marker`: what stands there and means missing."""
    if marker is not None:
        return InputError(
            f"The {role} in {holder}, {row} is {named(marker)}, which counts as missing: pass "
            f"{option('missing', edges=True)} '' if it is an id, or drop the edge."
        )
    return InputError(f"There is no {role} in {holder}, {row}: name the node or drop the edge.")


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
    where = "the index" if name == "the index" else f"column {name!r}"
    return f"{where} of {holder}{' (guessed to hold the ids)' if guessed else ''}"


def rows_or_ids(holder: str, name: Any, n_rows: int) -> InputError:
    """A graph of the numbers 0, 1, 2, ..., which may be rows in order or the values of a column."""
    where = "the index" if name == "the index" else f"column {name!r}"
    return InputError(
        f"The nodes of the graph are the numbers 0 to {n_rows - 1}, which {where} of {holder} "
        f"holds in another order: pass {option('id')}{name!r} if it holds their ids, or "
        f"{option('id')}'the row number' if they are the rows in order."
    )


def no_id_matches(
    holder: str, name: Any, own: Any, own_kind: str, edges: str, end: Any, end_kind: str
) -> InputError:
    """Ids and ends of edges that have nothing in common."""
    where = "the index" if name == "the index" else f"column {name!r}"
    if own_kind != end_kind:
        return InputError(
            f"The ids in {where} of {holder} are {own_kind} (such as {named(own)}) but the ends "
            f"in {edges} are {end_kind} (such as {named(end)}), so that none match: make both "
            "the same type."
        )
    return InputError(
        f"No id in {where} of {holder} (such as {named(own)}) is named in {edges} (such as "
        f"{named(end)}): name the right columns with {option('id')}, {option('source')} and "
        f"{option('target')}."
    )


def no_id_column(
    holder: str,
    name: Any,
    own: Any,
    edges: str,
    end: Any,
    best: tuple[Any, int, int] | None = None,
) -> InputError:
    """A table none of whose columns holds what edges name; the best, how many match, and rows."""
    if end is None:
        return InputError(
            f"There is no edge in {edges}, so that the column with the ids cannot be told: name it "
            f"with {option('id')}."
        )
    seen = "" if name is None else f" (such as {named(own)} in column {name!r})"
    nearest = ""
    if best is not None:
        where = "the index" if best[0] == "the index" else f"column {best[0]!r}"
        nearest = f", {where} coming nearest with {best[1]:,} of {best[2]:,} rows"
    return InputError(
        f"No column of {holder}{seen} holds the ids that {edges} names (such as {named(end)})"
        f"{nearest}: name it with {option('id')}, or check that both sides spell ids alike."
    )
