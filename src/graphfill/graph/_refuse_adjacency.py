"""Refusals of sparse matrices, and of arrays that may be one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ._refuse_graphs import check_node_count, first_outside


def check_sparse(A: Any, is_sparse: bool) -> None:
    """Refuse a matrix that is not one of SciPy's sparse ones."""
    if not is_sparse:
        raise InputError(
            f"from_scipy reads SciPy sparse matrices, not {type(A).__name__}: pass "
            "scipy.sparse.csr_array(A)."
        )


def check_square(shape: tuple[int, ...]) -> int:
    """Return the number of nodes of an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"The matrix has shape {shape} but must be square, one row and one column per node."
        )
    return check_node_count(shape[0])


def check_matrix_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse a matrix whose values cannot be weights."""
    if dtype.kind not in "biuf":
        raise InputError(f"The matrix has dtype {dtype}, which holds no real numbers.")


def check_compressed(
    indptr: NDArray[Any], indices: NDArray[Any], n_rows: int, n_columns: int
) -> None:
    """Refuse arrays that are no compressed sparse rows; sorted and unique they need not be."""
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or indptr.size == 0 or indptr[0] != 0:
        raise InputError("indptr must be a column of whole numbers that starts at 0.")
    if indptr.size != n_rows + 1:
        raise InputError(f"indptr has {indptr.size} entries but {n_rows} rows need {n_rows + 1}.")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        row = int(falls[0])
        raise InputError(
            f"indptr falls from {indptr[row]} to {indptr[row + 1]} at row {row}: it must not "
            "decrease."
        )
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise InputError("indices must be a column of whole numbers.")
    if indptr[-1] != indices.size:
        raise InputError(
            f"indptr ends at {indptr[-1]} but there are {indices.size} indices: both must be equal."
        )
    if indices.size and not (indices.min() >= 0 and indices.max() < n_columns):
        entry = first_outside(0, n_columns, indices)
        raise InputError(
            f"indices[{entry}] is {indices[entry]} but must lie between 0 and {n_columns - 1}."
        )


def check_value_count(n_values: int, n_indices: int) -> None:
    """Refuse a matrix without exactly one value per entry."""
    if n_values != n_indices:
        raise InputError(
            f"There are {n_values} values but {n_indices} indices: both must be equal."
        )


def check_coordinates(
    row: NDArray[Any], column: NDArray[Any], values: NDArray[Any], n_nodes: int
) -> None:
    """Refuse entries outside a square matrix."""
    if not row.shape == column.shape == values.shape:
        raise InputError(
            f"The matrix has {row.size} row numbers, {column.size} column numbers and "
            f"{values.size} values: all must be equal."
        )
    if row.size and (min(row.min(), column.min()) < 0 or max(row.max(), column.max()) >= n_nodes):
        entry = first_outside(0, n_nodes, row, column)
        raise InputError(
            f"Entry {entry} is in row {row[entry]}, column {column[entry]} of a matrix of "
            f"{n_nodes} rows and columns, numbered from 0."
        )


def check_unambiguous(shape: tuple[int, ...]) -> None:
    """Refuse an array that may be edges or a matrix, or is neither."""
    if shape == (2, 2):
        raise InputError(
            "A 2 x 2 array may be two edges or the matrix of two nodes: pass it to "
            "Graph.from_edges, or as a sparse matrix to Graph.from_scipy."
        )
    if len(shape) != 2 or (2 not in shape and shape[0] != shape[1]):
        raise InputError(
            f"An array of shape {shape} is no graph: pass edges as [2, n_edges] or [n_edges, 2], "
            "or a square matrix."
        )
