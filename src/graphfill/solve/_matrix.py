"""What came in, and how to give the same kind back.

:func:`open_matrix` reads any table of numbers as one float matrix with NaN in the missing cells;
:meth:`Container.rebuild` turns the filled matrix into the kind of object that came in. No library
of tables or tensors is imported for it: its objects can only arrive after its import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, cell, first_cell
from ..graph import Graph
from ._arrays import Container as Container
from ._arrays import Floats, TensorContainer


def open_matrix(X: Any, *, missing_mask: Any = None) -> Container:
    """Read a table of numbers as a float matrix, remembering what it was.

    A cell is missing where it is NaN, None or null, or where `missing_mask` is True.

    Floats keep their width (float16 and bfloat16 are computed in float32); integers, booleans and
    objects that are numbers or None are computed in float64. The container's ``values`` share
    memory with `X` where the layout allows, and are read-only: the input is never changed.

    Examples
    --------
    >>> opened = open_matrix([[1, None], [2, 3]])
    >>> opened.values
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    check_dense(X)
    container = _container_class(X)(X)
    if missing_mask is not None:
        if _is_tensor(missing_mask):
            missing_mask = missing_mask.numpy(force=True)
        container.hide(check_missing_mask(missing_mask, container.values, container.shape))
    check_finite(container.values, container.feature_names)
    container.check_whole_numbers()
    return container


def _container_class(X: Any) -> type[Container]:
    if isinstance(X, (np.ndarray, list, tuple)):
        return Container
    if _is_tensor(X):
        return TensorContainer
    from narwhals import dependencies

    from ._frames import NarwhalsContainer, PandasContainer

    if dependencies.is_pandas_dataframe(X) or dependencies.is_pandas_series(X):
        return PandasContainer
    if dependencies.is_into_dataframe(X) or dependencies.is_into_series(X):
        return NarwhalsContainer
    return Container


def _is_tensor(X: Any) -> bool:
    torch = sys.modules.get("torch")  # no tensor without torch, and no import of torch for it
    return torch is not None and isinstance(X, torch.Tensor)


def check_dense(X: Any) -> None:
    """Refuse SciPy and torch sparse matrices."""
    sparse = sys.modules.get("scipy.sparse")  # no sparse matrix without it
    if (sparse is not None and sparse.issparse(X)) or "sparse" in str(getattr(X, "layout", "")):
        raise InputError(
            "Sparse X cannot tell a missing cell from a zero: pass a dense array with NaN in the "
            "missing cells (X.toarray() if its zeros are known values)."
        )


def check_finite(values: Floats, names: Sequence[Any] | None = None) -> None:
    """Refuse infinite cells; NaN is missing and passes."""
    # fmax and fmin skip NaN and need no array of n x F booleans.
    extremes = np.fmax.reduce(values, axis=None), np.fmin.reduce(values, axis=None)
    if np.isinf(extremes).any():
        row, column = first_cell(np.isinf(values))
        raise InputError(
            f"The cell at {cell(row, column, names)} is infinite ({values[row, column]}): pass "
            "NaN if it is missing, or a finite number."
        )


def check_missing_mask(
    missing_mask: Any, values: Floats, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return the mask as a 2-D array; refuse one that calls a NaN cell known."""
    mask = np.asarray(missing_mask)
    if mask.dtype != bool:
        raise InputError(
            f"missing_mask has dtype {mask.dtype} but must be boolean, True where X is missing."
        )
    if mask.shape != shape:
        raise InputError(f"missing_mask has shape {mask.shape} but X has shape {shape}.")
    mask = mask.reshape(values.shape)
    disagree = np.isnan(values) & ~mask
    if disagree.any():
        row, column = first_cell(disagree)
        raise InputError(
            f"The cell at {cell(row, column)} is NaN but missing_mask calls it known: the mask "
            "must be True where a cell is missing (is it inverted?)."
        )
    return mask


def check_magnitudes(largest: Floats, dtype: np.dtype, names: Sequence[Any] | None = None) -> None:
    """Refuse columns whose largest number is of a size that cannot be added up, or squared."""
    limit = 2.0 ** (100 if dtype == np.float32 else 300)
    offends = (largest > limit) | ((largest < 1.0 / limit) & (largest > 0))
    if offends.any():
        column = int(np.argmax(offends))
        raise InputError(
            f"Column {column if names is None else names[column]!r} holds numbers of up to "
            f"{largest[column]:.1e}, which {dtype} cannot compute with: divide it by that first, "
            "and multiply the result."
        )


def graph_of_rows(graph: Any, n_rows: int) -> Graph:
    """The graph, with one node per row of X."""
    if hasattr(graph, "tocsr"):  # before room is made for all nodes that a matrix claims
        check_row_count(n_rows, graph.shape[0])
    rows = Graph.of(graph, n_nodes=n_rows)
    check_row_count(n_rows, rows.n_nodes)
    return rows


def check_row_count(n_rows: int, n_nodes: int) -> None:
    """Refuse a table without ids whose rows cannot be the nodes of the graph."""
    if n_rows != n_nodes:
        raise InputError(
            f"X has {n_rows} row(s) but the graph has {n_nodes} node(s): pass one row per node, or "
            "give the graph ids and X a pandas index to pass some of them."
        )
