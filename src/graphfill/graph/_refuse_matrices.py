"""Refusals of matrices, masks and tables of numbers."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, cell, first_cell

NUMBERS = (numbers.Real, Decimal, np.bool_)  # what a cell of an object array may hold


class CellTypeError(InputError, TypeError):
    """A cell holds something that is no number; also a TypeError, as NumPy has it."""


def check_dense(X: Any) -> None:
    """Refuse SciPy and torch sparse matrices."""
    sparse = sys.modules.get("scipy.sparse")  # no sparse matrix without it
    if (sparse is not None and sparse.issparse(X)) or "sparse" in str(getattr(X, "layout", "")):
        raise InputError(
            "Sparse X cannot tell a missing cell from a zero: pass a dense array with NaN in the "
            "missing cells (X.toarray() if its zeros are known values)."
        )


def check_shape(shape: tuple[int, ...], kind: str = "array") -> None:
    """Refuse tables that are not one- or two-dimensional, or have no cells."""
    if len(shape) not in (1, 2):
        raise InputError(
            f"X is a {kind} of {len(shape)} dimension(s) (shape={shape}) but must be a table, one "
            "row per node and one column per feature."
        )
    if shape[0] == 0:
        raise InputError(f"X has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    if len(shape) == 2 and shape[1] == 0:
        raise InputError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def check_two_dimensional(ndim: int) -> None:
    """Refuse a single column or row where estimators need a table."""
    if ndim != 2:
        raise InputError(
            f"X has {ndim} dimension(s) but an imputer needs two. Reshape your data: "
            "X.reshape(-1, 1) (or .to_frame()) makes it one column, X.reshape(1, -1) one row."
        )


def check_rectangular(rows: Any) -> NDArray[Any]:
    """Turn nested sequences into an array, or refuse rows of different lengths."""
    try:
        return np.asarray(rows)
    except ValueError:
        raise InputError(
            "The rows of X differ in length: pass a rectangular table, with None in missing cells."
        ) from None


def check_dtype(kind: str, dtype: Any, name: Any = None) -> None:
    """Refuse a dtype (of the whole table, or of the column `name`) that holds no real numbers."""
    if kind in "biuf":
        return
    where = "X" if name is None else f"Column {name!r}"
    if kind == "c":
        raise InputError(
            f"Complex data not supported: {where} has dtype {dtype}; pass the real and the "
            "imaginary part as two columns."
        )
    if kind in "mM":
        advice = "turn dates and durations into numbers first, such as days since a date"
    else:
        advice = "drop it or encode it as numbers first"
    raise InputError(f"{where} has dtype {dtype}, which holds no numbers: {advice}.")


def check_numbers(cells: NDArray[np.object_], names: Sequence[Any] | None) -> NDArray[np.float64]:
    """Turn a 2-D array of Python objects into floats; None, NaN and pandas.NA become NaN."""
    types = set(map(type, cells.ravel()))
    # An NA refuses float(), and NumPy parses "1.5" without a word: so look at the types first.
    na_types = {kind for kind in types if kind.__name__ in ("NoneType", "NAType")}
    if all(issubclass(kind, NUMBERS) for kind in types - na_types):
        known = np.array([type(cell) not in na_types for cell in cells.flat]).reshape(cells.shape)
        numbers = np.full(cells.shape, np.nan)
        try:
            numbers[known] = cells[known].astype(np.float64)
        except OverflowError:  # an integer beyond the range of a float
            raise InputError(
                f"X holds an integer beyond the range of a float (above {np.finfo(float).max:.1e})."
            ) from None
        return numbers
    offends = [type(cell) not in na_types and not isinstance(cell, NUMBERS) for cell in cells.flat]
    row, column = first_cell(np.reshape(offends, cells.shape))
    value = repr(cells[row, column])
    raise CellTypeError(
        f"The cell at {cell(row, column, names)} holds {value[:60]}: the argument must be a table "
        "without strings or other objects, holding numbers and None alone."
    )


def check_finite(values: NDArray[np.floating], names: Sequence[Any] | None = None) -> None:
    """Refuse infinite cells; NaN is missing and passes."""
    # fmax and fmin skip NaN and need no array of n x F booleans.
    extremes = np.fmax.reduce(values, axis=None), np.fmin.reduce(values, axis=None)
    if np.isinf(extremes).any():
        row, column = first_cell(np.isinf(values))
        raise InputError(
            f"The cell at {cell(row, column, names)} is infinite ({values[row, column]}): pass "
            "NaN if it is missing, or a finite number."
        )


def check_whole_numbers(
    cells: Sequence[Any], floats: NDArray[np.floating], rows: NDArray[np.intp], column: Any
) -> None:
    """Refuse integers that are another number as a float; `rows` are those of the cells."""
    for given, rounded, row in zip(cells, floats.tolist(), rows.tolist(), strict=True):
        if isinstance(given, numbers.Integral) and int(given) != int(rounded):
            raise InputError(
                f"The cell at {cell(row, column)} holds {int(given)}, which no float holds exactly "
                "(they do up to 2**53): subtract a whole number from the column first, or call "
                "graphfill.impute, which keeps integers."
            )


def check_narrowed(narrowed: NDArray[np.floating]) -> None:
    """Refuse filled values that the type of the input has no number for."""
    if np.isinf(narrowed).any():
        raise InputError(
            f"A filled value is beyond the range of {narrowed.dtype}: pass X in a wider type, or "
            'normalization="rw", whose fills are no larger than the known values.'
        )


def check_magnitudes(
    largest: NDArray[np.floating], dtype: np.dtype, names: Sequence[Any] | None = None
) -> None:
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


def check_missing_mask(
    missing_mask: Any, values: NDArray[np.floating], shape: tuple[int, ...]
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


def check_row_count(n_rows: int, n_nodes: int) -> None:
    """Refuse a table without ids whose rows cannot be the nodes of the graph."""
    if n_rows != n_nodes:
        raise InputError(
            f"X has {n_rows} row(s) but the graph has {n_nodes} node(s): pass one row per node, or "
            "give the graph ids and X a pandas index to pass some of them."
        )


def check_row_ids(labels: Any, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Refuse labels that name a node twice, or one the graph does not have (node -1)."""
    unknown = np.flatnonzero(nodes < 0)
    if unknown.size:
        raise InputError(
            f"Row label {labels[unknown[0]]!r} is no node of the graph ({unknown.size} such "
            "label(s)): set the index of X to node ids, or pass X.to_numpy() to go by position."
        )
    if labels.has_duplicates:
        label = labels[labels.duplicated()][0]
        raise InputError(f"Row label {label!r} occurs more than once: pass one row per node.")
    return nodes


def check_row_numbers(labels: Any, n_nodes: int) -> NDArray[np.intp] | None:
    """Nodes of labelled rows when node ids are row numbers; None for all rows in order.

    Labels that are no row numbers say nothing, so that only the order is left to go by.
    """
    numbers = labels.to_numpy(dtype=np.intp) if labels.dtype.kind in "iu" else np.array([-1])
    if labels.has_duplicates or numbers.min() < 0 or numbers.max() >= n_nodes:
        check_row_count(len(labels), n_nodes)
        return None
    if numbers.size < n_nodes:
        return numbers
    if (numbers[1:] < numbers[:-1]).any():
        raise InputError(
            "The index of X holds the numbers of all nodes in another order, so rows could go by "
            "label or by position: pass X.sort_index() or X.reset_index(drop=True) to say which."
        )
    return None


def check_columns_left(n_columns: int) -> None:
    """Refuse to drop every column."""
    if n_columns == 0:
        raise InputError(
            "X has no known cell at all, so keep_empty_features=False would drop every column: "
            "pass some known cells, or keep_empty_features=True."
        )


def check_start(start: NDArray[np.floating], values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the start as a matrix like ``values``; refuse another shape or a NaN."""
    if start.shape != values.shape:
        raise InputError(f"start has shape {start.shape} but X has shape {values.shape}.")
    gap = np.isnan(start) & np.isnan(values)
    if gap.any():
        row, column = first_cell(gap)
        raise InputError(
            f"start is NaN at {cell(row, column)}, where X is missing too: give it a number."
        )
    return np.ascontiguousarray(start, dtype=values.dtype)
