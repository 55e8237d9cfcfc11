"""Arrays and tensors as float matrices, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import _refuse_matrices


def narrowed(cells: NDArray[np.floating], dtype: Any) -> NDArray[np.floating]:
    """Cells in the type they came in; what that cannot hold is refused."""
    with np.errstate(over="ignore"):
        same = cells.astype(dtype, copy=False)
    if same.itemsize < cells.itemsize:
        _refuse_matrices.check_narrowed(same)
    return same


def working_dtype(dtypes: Sequence[Any]) -> type[np.floating]:
    """float32 when nothing wider came in, float64 otherwise."""
    held = [getattr(dtype, "subtype", dtype) for dtype in dtypes]  # of sparse columns in pandas
    narrow = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in held)
    return np.float32 if narrow else np.float64


class Container:
    """A NumPy array, or anything NumPy can make one of; also the interface of the other kinds.

    Attributes
    ----------
    values : ndarray of shape (n, F), float32 or float64, C-contiguous, read-only
        The cells, NaN where missing.
    shape : tuple of int
        The shape of the input; 1-D input is one column of `values`.
    feature_names : list or None
        The input's column names; None when the kind has none.
    row_ids : pandas.Index or None
        The input's row labels; None when the kind has none.
    """

    kind = "numpy"
    feature_names: list[Any] | None = None
    row_ids: Any = None

    def __init__(self, X: Any) -> None:
        array = _refuse_matrices.check_rectangular(X)
        _refuse_matrices.check_shape(array.shape, type(X).__name__)
        self.shape = array.shape
        self._source = array
        cells = array.reshape(len(array), -1)
        if array.dtype.kind == "U" and not isinstance(X, np.ndarray):
            # NumPy made text of all cells because one is text: go back to see which.
            cells = np.asarray(X, dtype=object).reshape(len(array), -1)
        if cells.dtype == object:
            self._keep(_refuse_matrices.check_numbers(cells, None))
        else:
            _refuse_matrices.check_dtype(cells.dtype.kind, cells.dtype)
            self._keep(cells.astype(working_dtype([cells.dtype]), copy=False))
        self._masked = isinstance(X, np.ma.MaskedArray)
        if self._masked:
            self.hide(np.ma.getmaskarray(X).reshape(self.values.shape))

    def _keep(self, values: NDArray[np.floating]) -> None:
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
            if rows.size:
                name = j if self.feature_names is None else repr(self.feature_names[j])
                cells = self._cells_at(j, rows)
                _refuse_matrices.check_whole_numbers(cells, self.values[rows, j], rows, name)

    def _integer_columns(self) -> Iterable[int]:
        """Columns that may hold integers and come back as floats."""
        return range(self.values.shape[1]) if self._source.dtype.kind in "iuO" else ()

    def _cells_at(self, j: int, rows: NDArray[np.intp]) -> list[Any]:
        """Cells of a column as they came in."""
        return self._source.reshape(self.values.shape)[rows, j].tolist()

    @property
    def missing_mask(self) -> NDArray[np.bool_]:
        """True where a cell is missing; shape (n, F)."""
        return np.isnan(self.values)

    def rebuild(
        self,
        filled: NDArray[np.floating],
        *,
        columns: Iterable[int] | None = None,
        names: Iterable[str] = (),
    ) -> Any:
        """Give a filled matrix the kind, the dtypes and the labels of the input.

        Floats come back in the dtype they came in. Integers and booleans come back as float64;
        in tables that have a dtype per column, a column with nothing missing comes back as it was.

        Parameters
        ----------
        filled : ndarray of shape (n, len(columns) + len(names))
            The filled matrix; it may be handed out without a copy.
        columns : iterable of int, optional
            Which columns of the input `filled` starts with; all of them by default.
        names : iterable of str
            Names of the new columns that follow them.

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
