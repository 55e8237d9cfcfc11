"""Arrays and tensors as float matrices, and back."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, cell, first_cell
from ..graph import NUMBERS

Floats = NDArray[np.floating]


class CellTypeError(InputError, TypeError):
    """A cell holds something that is no number; also a TypeError, as NumPy has it."""


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
        floats = np.full(cells.shape, np.nan)
        try:
            floats[known] = cells[known].astype(np.float64)
        except OverflowError:  # an integer beyond the range of a float
            raise InputError(
                f"X holds an integer beyond the range of a float (above {np.finfo(float).max:.1e})."
            ) from None
        return floats
    offends = [type(cell) not in na_types and not isinstance(cell, NUMBERS) for cell in cells.flat]
    row, column = first_cell(np.reshape(offends, cells.shape))
    value = repr(cells[row, column])
    raise CellTypeError(
        f"The cell at {cell(row, column, names)} holds {value[:60]}: the argument must be a table "
        "without strings or other objects, holding numbers and None alone."
    )


def narrowed(cells: Floats, dtype: Any) -> Floats:
    """Cells in the type they came in; what that cannot hold is refused."""
    with np.errstate(over="ignore"):
        same = cells.astype(dtype, copy=False)
    if same.itemsize < cells.itemsize:
        check_narrowed(same)
    return same


def check_narrowed(narrowed: Floats) -> None:
    """Refuse filled values that the type of the input has no number for."""
    if np.isinf(narrowed).any():
        raise InputError(
            f"A filled value is beyond the range of {narrowed.dtype}: pass X in a wider type, or "
            'normalization="rw", whose fills are no larger than the known values.'
        )


def working_dtype(dtypes: Sequence[Any]) -> type[np.floating]:
    """float32 when nothing wider came in, float64 otherwise."""
    held = [getattr(dtype, "subtype", dtype) for dtype in dtypes]  # of sparse columns in pandas
    narrow = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in held)
    return np.float32 if narrow else np.float64


class Container:
    """A NumPy array, or anything NumPy can make one of; also the interface of the other kinds.

    ``values`` is a float32 or float64 matrix, C-contiguous and read-only, NaN where missing; 1-D
    input is one column of it. Column names and row labels are None when the kind has none.
    """

    kind = "numpy"
    feature_names: list[Any] | None = None
    row_ids: Any = None

    def __init__(self, X: Any) -> None:
        try:
            array = np.asarray(X)
        except ValueError:
            raise InputError(
                "The rows of X differ in length: pass a rectangular table, with None in missing "
                "cells."
            ) from None
        check_shape(array.shape, type(X).__name__)
        self.shape = array.shape
        self._source = array
        cells = array.reshape(len(array), -1)
        if array.dtype.kind == "U" and not isinstance(X, np.ndarray):
            # NumPy made text of all cells because one is text: go back to see which.
            cells = np.asarray(X, dtype=object).reshape(len(array), -1)
        if cells.dtype == object:
            self._keep(check_numbers(cells, None))
        else:
            check_dtype(cells.dtype.kind, cells.dtype)
            self._keep(cells.astype(working_dtype([cells.dtype]), copy=False))
        self._masked = isinstance(X, np.ma.MaskedArray)
        if self._masked:
            self.hide(np.ma.getmaskarray(X).reshape(self.values.shape))

    def _keep(self, values: Floats) -> None:
        """Take the matrix, read-only: it may be the user's own memory."""
        self.values = np.ascontiguousarray(values).view()
        self.values.setflags(write=False)

    def hide(self, missing_mask: NDArray[np.bool_]) -> None:
        """Make further cells missing, whatever they hold."""
        if (missing_mask & ~self.missing_mask).any():
            self._keep(np.where(missing_mask, self.values.dtype.type(np.nan), self.values))

    def check_whole_numbers(self) -> None:
        """Refuse integers that would come back as other numbers, no float being equal to them."""
        for j in self._integer_columns():
            rows = np.flatnonzero(np.abs(self.values[:, j]) >= 2.0**53)
            given = self._cells_at(j, rows) if rows.size else []
            for row, whole in zip(rows.tolist(), given, strict=True):
                rounded = int(self.values[row, j])
                if isinstance(whole, numbers.Integral) and int(whole) != rounded:
                    raise InputError(
                        f"The cell at {cell(row, j, self.feature_names)} holds {int(whole)}, which "
                        "no float holds exactly (they do up to 2**53): subtract a whole number "
                        "from the column first, or call graphfill.impute, which keeps integers."
                    )

    def _integer_columns(self) -> Iterable[int]:
        """Columns that may hold integers and come back as floats."""
        return range(self.values.shape[1]) if self._source.dtype.kind in "iuO" else ()

    def _cells_at(self, j: int, rows: NDArray[np.intp]) -> list[Any]:
        """Cells of a column as they came in."""
        return list(self._source.reshape(self.values.shape)[rows, j].tolist())

    @property
    def missing_mask(self) -> NDArray[np.bool_]:
        """True where a cell is missing; shape (n, F)."""
        return np.isnan(self.values)

    def rebuild(
        self, filled: Floats, *, columns: Iterable[int] | None = None, names: Iterable[str] = ()
    ) -> Any:
        """Give a filled matrix the kind, the dtypes and the labels of the input.

        Floats come back in the dtype they came in. Integers and booleans come back as float64;
        in tables that have a dtype per column, a column with nothing missing comes back as it was.

        `filled`, which may be handed out without a copy, starts with these `columns` of the input
        (all of them by default), and goes on with new columns of these `names`.

        Examples
        --------
        >>> opened = Container(np.array([1.0, np.nan], dtype=np.float16))
        >>> opened.rebuild(np.array([[1.0], [2.0]]))
        array([1., 2.], dtype=float16)
        """
        kept = range(self.values.shape[1]) if columns is None else [int(j) for j in columns]
        return self._restore(filled, kept, list(names))

    def _restore(self, filled: NDArray[Any], kept: Sequence[int], names: list[str]) -> Any:
        source = self._source
        array = narrowed(filled, source.dtype if source.dtype.kind == "f" else float)
        if array.itemsize > 8:  # extended precision was rounded on the way in: undo that
            cells = source.reshape(self.values.shape)[:, kept]
            np.copyto(array[:, : len(kept)], cells, where=~self.missing_mask[:, kept])
        if len(self.shape) == 1 and array.shape[1] == 1:
            array = array[:, 0]
        return np.ma.asarray(array) if self._masked else array


class TensorContainer(Container):
    """A torch tensor: same dtype and device back; gradients are not tracked."""

    kind = "torch"

    def __init__(self, X: Any) -> None:
        # NumPy has no bfloat16, and half widths are computed in float32 anyway.
        half = X.is_floating_point() and X.element_size() < 4
        super().__init__((X.float() if half else X).numpy(force=True))
        self._tensor = X

    def _restore(self, filled: NDArray[Any], kept: Sequence[int], names: list[str]) -> Any:
        array = np.ascontiguousarray(super()._restore(filled, kept, names))
        tensor = sys.modules["torch"].from_numpy(array)
        dtype = self._tensor.dtype if self._tensor.is_floating_point() else tensor.dtype
        if dtype is sys.modules["torch"].float16:
            narrowed(array, np.float16)
        return tensor.to(device=self._tensor.device, dtype=dtype)
