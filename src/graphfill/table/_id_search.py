"""The search for the ids of a table's rows: the column, the index or the row numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from . import _refuse_tables
from ._edge_ends import NumberedRows
from ._id_candidate import most_alike
from ._id_column import Ids, distinct, read_ids
from ._naming import Naming

if TYPE_CHECKING:
    import narwhals as nw

INDEX = "the index"
ROW_NUMBER = "the row number"


def find_ids(
    frame: nw.DataFrame[Any],
    name: Any,
    ends: tuple[Ids, Ids],
    texts: Mapping[str, Any],
    naming: Naming,
    guesses: list[str],
    by_position: bool,
    numbered_rows: NumberedRows | None,
) -> tuple[Any, Ids]:
    """What holds the ids (None: the order of the rows) and the ids; a guess is said, or refused."""
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if name is not None:
        if name not in frame.columns and index is not None and name in (INDEX, index.name):
            return INDEX, Ids(index)
        if name == ROW_NUMBER and by_position and name not in frame.columns:
            return None, Ids(np.arange(len(frame)))
        _refuse_tables.check_column_name(name, frame.columns, naming.table)
        return name, read_ids(frame, name, texts, naming.table)

    labelled = index is not None and not _is_range(index)
    # What sorting and filtering leave of row numbers is no name: a column that fits as well wins.
    leftover = (
        index is not None and labelled and index.name is None and Ids(index).kind == "whole numbers"
    )
    candidates: list[tuple[Any, Ids]] = [(INDEX, Ids(index))] if labelled and not leftover else []
    floats = []
    for column in frame.iter_columns():
        if column.name == "":  # the numbers of rows, in files of pandas and R
            continue
        if column.dtype.is_float():
            floats.append(column)
        elif not column.dtype.is_nested():
            candidates.append((column.name, Ids(column, texts.get(column.name))))
    if leftover:
        candidates.append((INDEX, Ids(index)))
    if numbered_rows is not None and numbered_rows.n_nodes == len(frame):
        return _in_order(candidates, numbered_rows, len(frame), naming, guesses)
    best = most_alike(candidates, ends)
    if best is None or not best.elected(ends):  # whole numbers may stand as 1.0, 2.0
        whole = ((c.name, Ids(c, texts.get(c.name))) for c in floats)
        other = most_alike(((n, ids) for n, ids in whole if ids.kind == "whole numbers"), ends)
        best = max((one for one in (best, other) if one), key=lambda one: one.score, default=None)
    if best is not None and best.worth_naming(ends):
        if best.name != INDEX or leftover:
            guesses.append(guessed_column(best.name, naming.table))
        return best.name, best.ids
    n_rows = len(frame)
    if by_position and all(_row_numbers(end, n_rows) for end in ends):
        guesses.append(
            "Edges name rows by number, counted from 0, since no column holds the ends of edges "
            f"(name one with {errors.option('id')})."
        )
        return None, Ids(np.arange(n_rows))
    example = candidates[0] if candidates else (None, Ids(np.arange(n_rows)))
    raise _refuse_tables.no_id_column(
        naming.table,
        example[0],
        example[1][0],
        naming.edges,
        ends[0][0] if len(ends[0]) else None,
        None if best is None else (best.name, best.n_named(ends), n_rows),
    )


def guessed_column(name: Any, holder: str) -> str:
    """The sentence for a column that was taken for the ids."""
    where = INDEX if name == INDEX else f"column {name!r}"
    return (
        f"Rows go by {where} of {holder}, whose values are the ends of edges (name another "
        f"with {errors.option('id')})."
    )


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
        raise _refuse_tables.rows_or_ids(naming.table, numbers[0][0], n_rows)
    guesses.append(
        "Rows are taken in the order of the graph's nodes, which have no ids (name a column of "
        f"ids with {errors.option('id')})."
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
