"""Rows without edges: their ids, if a column holds some, and an order that is theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import check_column_name, option
from ._id_column import Ids, distinct, read_ids
from ._id_search import INDEX, ROW_NUMBER
from ._options import Source

if TYPE_CHECKING:
    import narwhals as nw

ID_NAMES = ("id", "key", "code", "name", "index", "no", "nr", "number")


def ids_of_rows(
    frame: nw.DataFrame[Any], name: Any, source: Source, guesses: list[str]
) -> tuple[Any, Ids | None]:
    """The column (or index) that holds ids, as named or by its name; None: rows have none."""
    import narwhals as nw

    texts, holder = source.texts, source.naming.table
    index = nw.maybe_get_index(frame)
    if name is not None:
        if name not in frame.columns and index is not None and name in (INDEX, index.name):
            return INDEX, Ids(index)
        if name == ROW_NUMBER and source.by_position and name not in frame.columns:
            return None, None
        check_column_name(name, frame.columns, holder)
        return name, read_ids(frame, name, texts, holder)
    for number, column in enumerate(frame.iter_columns()):
        if not (_says_id(column.name) or (number == 0 and column.dtype == nw.String)):
            continue
        if column.dtype.is_nested() or column.dtype.is_float():
            continue
        ids = Ids(column, texts.get(column.name))
        if ids.kind in ("text", "whole numbers") and distinct(ids):
            guesses.append(
                f"Rows go by column {column.name!r} of {holder}, whose values all differ (name "
                f"another with {option('id')})."
            )
            return column.name, ids
    return None, None


def _says_id(name: Any) -> bool:
    """
    >>> _says_id("Person ID"), _says_id("user_id"), _says_id("fluid")
    (True, True, False)
    """
    words = str(name).replace("_", " ").replace("-", " ").lower().split()
    return bool(words) and (words[-1] in ID_NAMES or str(name).endswith("Id"))


def order_by_cells(frame: nw.DataFrame[Any]) -> NDArray[np.intp] | None:
    """The rows in the order of their cells, column after column by name; None: as they are.

    Two tables with the same rows in another order are thereby filled alike.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    code = np.zeros(len(frame), dtype=np.int64)
    for name in sorted(frame.columns, key=str):
        array = frame.get_column(name).to_arrow()
        kind = array.type
        if pa.types.is_dictionary(kind):
            array = pc.cast(array, kind.value_type)
        try:
            rank = pc.rank(array, sort_keys="ascending", tiebreaker="dense").to_numpy()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # nested, mixed
            continue
        largest = int(rank.max(initial=0)) + 1
        new = code * largest + rank.astype(np.int64)
        code = np.unique(new, return_inverse=True)[1].astype(np.int64)
        if code.max(initial=0) == len(frame) - 1:
            break
    order = np.argsort(code, kind="stable")
    return None if np.array_equal(order, np.arange(len(order))) else order
