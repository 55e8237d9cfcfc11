"""Adjacency matrices that come as tables: a row and a column for every node, weights as cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, named
from ._id_column import Ids
from ._options import Naming

if TYPE_CHECKING:
    import narwhals as nw

LEAST = 3  # nodes: fewer could be a list of edges


def edges_of_matrix(
    table: nw.DataFrame[Any], naming: Naming, guesses: list[str]
) -> tuple[tuple[Ids, Ids], Any] | None:
    """The ends and the weights of the cells other than 0; None if the table is no matrix.

    It is one where the columns have the names of the rows: those of the index in pandas, or of the
    first column. A pair whose two cells differ has their mean.
    """
    import narwhals as nw
    import pyarrow as pa

    names = list(table.columns)
    index = nw.maybe_get_index(table)
    if index is not None and len(names) >= LEAST and list(index) == names:
        nodes: Any = index
    else:
        nodes, names = _in_first_column(table), names[1:]
        if nodes is None:
            return None
    columns = [table.get_column(name) for name in names]
    for column in columns:
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            return None
    A = np.column_stack([np.asarray(column.to_numpy(), dtype=np.float64) for column in columns])
    A = np.where(np.isnan(A), 0.0, A)
    bad = (A < 0) | np.isinf(A)
    if bad.any():
        row, at = (int(k) for k in np.unravel_index(int(np.argmax(bad)), A.shape))
        raise InputError(
            f"The cell of {named(names[at])} in {naming.edge_row(row)} of "
            f"{naming.edges}, an adjacency matrix, is {A[row, at]:g}: weights must be finite, "
            "and not negative."
        )
    source, target = np.nonzero(A)
    ids = pa.array(list(nodes)) if not hasattr(nodes, "to_arrow") else nodes.to_arrow()
    ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    weights = A[source, target]
    pairs = len(np.unique(np.sort(np.column_stack([source, target])[source != target], 1), axis=0))
    weighted = bool((weights != 1.0).any())
    mirrored = np.allclose(A, A.T)
    guesses.append(
        f"An adjacency matrix of {len(A):,} nodes with {pairs:,} edges is read from {naming.edges}"
        + (", their cells as weights" if weighted else "")
        + ("." if mirrored else "; of two cells of a pair that differ the mean counts.")
    )
    if not mirrored:  # one cell of a pair may be 0: the mean of both is meant
        A = (A + A.T) / 2.0
        source, target = np.nonzero(A)
        weights = A[source, target]
    ends = ids.take(pa.array(source)), ids.take(pa.array(target))
    return (Ids(ends[0], _text(ends[0])), Ids(ends[1], _text(ends[1]))), (
        weights if weighted or not mirrored else None
    )


def _text(ids: Any) -> Any:
    """The ids as text, by which those of a file can be compared."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(ids, pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None


def _in_first_column(table: nw.DataFrame[Any]) -> Any:
    """The first column, if it holds the names of the others in their order."""
    names = [str(name).strip() for name in table.columns]
    if len(names) <= LEAST or len(table) != len(names) - 1:
        return None
    first = table.get_column(table.columns[0])
    if first.dtype.is_float() or first.dtype.is_nested():
        return None
    same = [str(cell).strip() for cell in first.to_list()] == names[1:]
    return first if same else None
