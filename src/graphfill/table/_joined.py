"""What the rows of other tables say of a row: its parents' cells, and those of its children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

MOST_COLUMNS = 30  # of another table
MOST_CLASSES = 50  # of a column of words whose most frequent one is looked for


def of_parents(table: Any, names: Sequence[str], parent: Rows, key: str) -> dict[str, Any]:
    """Cells of the row that each row names (-1: none), by the names of new columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> shops = pa.table({"city": ["Rome", "Bath"]})
    >>> of_parents(shops, ["city"], np.array([1, -1, 0]), "shop")["shop: city"].to_pylist()
    ['Bath', None, 'Rome']
    """
    import pyarrow as pa

    at = pa.array(parent, mask=parent < 0)
    return {f"{key}: {name}": table.column(name).take(at) for name in names[:MOST_COLUMNS]}


def of_children(
    table: Any, names: Sequence[str], parent: Rows, n_rows: int, child: str
) -> dict[str, Any]:
    """How many rows name each row, the mean of their numbers and their most frequent words.

    Examples
    --------
    >>> import pyarrow as pa
    >>> orders = pa.table({"price": [1.0, 3.0, 5.0]})
    >>> found = of_children(orders, ["price"], np.array([0, 0, 1]), 3, "orders")
    >>> [column.to_pylist() for column in found.values()]
    [[2, 1, 0], [2.0, 5.0, None]]
    """
    import pyarrow as pa

    named = parent >= 0
    found = {f"{child}: rows": pa.array(np.bincount(parent[named], minlength=n_rows))}
    for name, cells in _summable(table, names[:MOST_COLUMNS]):
        if isinstance(cells, np.ndarray):
            known = named & ~np.isnan(cells)
            count = np.bincount(parent[known], minlength=n_rows)
            total = np.bincount(parent[known], weights=cells[known], minlength=n_rows)
            mean = pa.array(total / np.maximum(count, 1), mask=count == 0)
            found[f"{child}: mean {name}"] = mean
        else:
            found[f"{child}: most frequent {name}"] = _most_frequent(cells, parent, n_rows)
    return found


def _summable(table: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Columns of numbers as floats, and those of few different words as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        column, kind = table.column(name), table.schema.field(name).type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            if pa.types.is_boolean(kind):
                column = pc.cast(column, pa.int8())
            yield name, pc.cast(column, pa.float64(), safe=False).to_numpy()
        elif pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) or kind == pa.string():
            if pa.types.is_dictionary(kind):
                column = pc.cast(column, kind.value_type)
            if 1 < pc.count_distinct(column).as_py() <= MOST_CLASSES:
                yield name, column


def _most_frequent(cells: Any, parent: Rows, n_rows: int) -> Any:
    """The word that most children of each row hold; of several the first in the alphabet."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.unique(cells).drop_null()
    words = words.take(pc.sort_indices(words))
    code = pc.fill_null(pc.index_in(cells, value_set=words), -1).to_numpy().astype(np.int64)
    known = (parent >= 0) & (code >= 0)
    counts = np.bincount(parent[known] * len(words) + code[known], minlength=n_rows * len(words))
    counts = counts.reshape(n_rows, len(words))
    return words.take(pa.array(counts.argmax(axis=1), mask=counts.sum(axis=1) == 0))
