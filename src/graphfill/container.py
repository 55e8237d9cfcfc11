"""What came in, and how to give the same kind back.

:func:`open_matrix` reads any table of numbers as one float matrix with NaN in the missing cells;
:meth:`Container.rebuild` turns the filled matrix into the kind of object that came in. No library
of tables or tensors is imported for it: its objects can only arrive after its import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import validate


def open_matrix(X: Any, *, missing_mask: Any = None) -> Container:
    """Read a table of numbers as a float matrix, remembering what it was.

    A cell is missing where it is NaN, None or null, or where `missing_mask` is True.

    Parameters
    ----------
    X : array-like, torch.Tensor, or a dataframe or series of pandas, polars or pyarrow
        One row per node. Floats keep their width (float16 and bfloat16 are computed in float32);
        integers, booleans and objects that are numbers or None are computed in float64.
    missing_mask : array-like of bool of the shape of X, optional
        True where a cell is missing, whatever number it holds.

    Returns
    -------
    Container
        Its ``values`` share memory with `X` where the layout allows, and are read-only: the
        input is never changed.

    Examples
    --------
    >>> opened = open_matrix([[1, None], [2, 3]])
    >>> opened.values
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    validate.check_dense(X)
    container = _container_class(X)(X)
    if missing_mask is not None:
        if _is_tensor(missing_mask):
            missing_mask = missing_mask.numpy(force=True)
        mask = validate.check_missing_mask(missing_mask, container.values, container.shape)
        container.hide(mask)
    validate.check_finite(container.values, container.feature_names)
    container.check_whole_numbers()
    return container


def _container_class(X: Any) -> type[Container]:
    if isinstance(X, (np.ndarray, list, tuple)):
        return Container
    if _is_tensor(X):
        return TensorContainer
    from narwhals import dependencies

    if dependencies.is_pandas_dataframe(X) or dependencies.is_pandas_series(X):
        return PandasContainer
    if dependencies.is_into_dataframe(X) or dependencies.is_into_series(X):
        return NarwhalsContainer
    return Container


def _is_tensor(X: Any) -> bool:
    torch = sys.modules.get("torch")  # no tensor without torch, and no import of torch for it
    return torch is not None and isinstance(X, torch.Tensor)


def _narrowed(cells: NDArray[np.floating], dtype: Any) -> NDArray[np.floating]:
    """Cells in the type they came in; what that cannot hold is refused."""
    with np.errstate(over="ignore"):
        narrowed = cells.astype(dtype, copy=False)
    if narrowed.itemsize < cells.itemsize:
        validate.check_narrowed(narrowed)
    return narrowed


def _working_dtype(dtypes: Sequence[Any]) -> type[np.floating]:
    """float32 when nothing wider came in, float64 otherwise."""
    narrow = all(dtype.kind == "f" and dtype.itemsize <= 4 for dtype in dtypes)
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
        array = validate.check_rectangular(X)
        validate.check_shape(array.shape, type(X).__name__)
        self.shape = array.shape
        self._source = array
        cells = array.reshape(len(array), -1)
        if array.dtype.kind == "U" and not isinstance(X, np.ndarray):
            # NumPy made text of all cells because one is text: go back to see which.
            cells = np.asarray(X, dtype=object).reshape(len(array), -1)
        if cells.dtype == object:
            self._keep(validate.check_numbers(cells, None))
        else:
            validate.check_dtype(cells.dtype.kind, cells.dtype)
            self._keep(cells.astype(_working_dtype([cells.dtype]), copy=False))
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
                validate.check_whole_numbers(cells, self.values[rows, j], rows, name)

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
        >>> opened = open_matrix(np.array([1.0, np.nan], dtype=np.float16))
        >>> opened.rebuild(np.array([[1.0], [2.0]]))
        array([1., 2.], dtype=float16)
        """
        kept = range(self.values.shape[1]) if columns is None else [int(j) for j in columns]
        return self._restore(filled, kept, list(names))

    def _restore(self, filled: NDArray[Any], kept: Sequence[int], names: list[str]) -> Any:
        source = self._source
        array = _narrowed(filled, source.dtype if source.dtype.kind == "f" else float)
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
            _narrowed(array, np.float16)
        return tensor.to(device=self._tensor.device, dtype=dtype)


class FrameContainer(Container):
    """A table with a dtype per column.

    A subclass knows whether column j `_is_float`, how to take `_column` j of its input untouched,
    how to `_encode` cells as a column in the float dtype nearest to that of input column j (None: a
    new column), and how to `_join` columns into a table named like the `kept` ones of the input
    and then by `names`.
    """

    feature_names: list[Any]
    _column: Callable[[int], Any]
    _is_float: Callable[[int], bool]
    _encode: Callable[[NDArray[Any], Any, int | None], Any]
    _join: Callable[[list[Any], Sequence[int], list[str]], Any]

    def _integer_columns(self) -> Iterable[int]:
        # A column with nothing missing comes back as it was.
        others = (j for j in range(self.values.shape[1]) if not self._is_float(j))
        return (j for j in others if np.isnan(self.values[:, j]).any())

    def _restore(self, filled: NDArray[Any], kept: Sequence[int], names: list[str]) -> Any:
        had_missing = np.asarray(self.missing_mask.any(axis=0))
        filled = np.asfortranarray(filled)  # columns are handed over one by one
        origins = [*kept, *[None] * len(names)]
        labels = [*(self.feature_names[j] for j in kept), *names]
        columns = [
            self._encode(filled[:, k], label, j) if j is None or had_missing[j] else self._column(j)
            for k, (label, j) in enumerate(zip(labels, origins, strict=True))
        ]
        return self._join(columns, kept, names)


class PandasContainer(FrameContainer):
    """A pandas DataFrame or Series; index, column labels and nullable dtypes are kept."""

    kind = "pandas"

    def __init__(self, X: Any) -> None:
        validate.check_shape(X.shape)
        self.shape, self.row_ids = X.shape, X.index
        self._name = X.name if X.ndim == 1 else None
        self._frame = frame = X.to_frame() if X.ndim == 1 else X
        self.feature_names = list(frame.columns)
        self._dtypes = list(frame.dtypes)
        is_object = np.array([isinstance(dtype, np.dtypes.ObjectDType) for dtype in self._dtypes])
        for j in np.flatnonzero(~is_object):
            validate.check_dtype(self._dtypes[j].kind, self._dtypes[j], self.feature_names[j])
        working = _working_dtype(self._dtypes)
        if is_object.any():
            names = [self.feature_names[j] for j in np.flatnonzero(is_object)]
            cells = frame.loc[:, is_object].to_numpy(dtype=object)
            values = np.empty(frame.shape, dtype=working)
            values[:, is_object] = validate.check_numbers(cells, names)
            numeric = frame.loc[:, ~is_object]
            values[:, ~is_object] = numeric.to_numpy(dtype=working, na_value=np.nan)
        elif all(dtype == working for dtype in self._dtypes):
            values = frame.to_numpy()  # a view where pandas holds one block
        else:
            values = frame.to_numpy(dtype=working, na_value=np.nan)
        self._keep(values)

    def _column(self, j: int) -> Any:
        return self._frame.iloc[:, j].array

    def _is_float(self, j: int) -> bool:
        return self._dtypes[j].kind == "f"

    def _cells_at(self, j: int, rows: NDArray[np.intp]) -> list[Any]:
        return self._frame.iloc[rows, j].tolist()

    def _encode(self, cells: NDArray[np.floating], name: Any, j: int | None) -> Any:
        pandas = sys.modules["pandas"]
        dtype = cells.dtype if j is None else self._dtypes[j]
        if isinstance(dtype, np.dtype):
            return _narrowed(cells, dtype if dtype.kind == "f" else float)
        if dtype.kind != "f":
            dtype = "double[pyarrow]" if hasattr(dtype, "pyarrow_dtype") else "Float64"
        return pandas.array(cells, dtype=dtype)

    def _join(self, columns: list[Any], kept: Sequence[int], names: list[str]) -> Any:
        pandas = sys.modules["pandas"]
        # Numbered first and named after, because pandas allows a name to occur twice.
        frame = pandas.DataFrame(dict(enumerate(columns)), index=self._frame.index)
        labels = self._frame.columns[list(kept)]
        frame.columns = labels.append(pandas.Index(names)) if names else labels
        if len(self.shape) == 1 and frame.shape[1] == 1:
            return frame.iloc[:, 0].rename(self._name)
        return frame


class NarwhalsContainer(FrameContainer):
    """A polars DataFrame or Series, a pyarrow Table, or another table that narwhals can read.

    Null and NaN are both missing; a cell that stays missing in a column with nulls stays null.
    """

    def __init__(self, X: Any) -> None:
        import narwhals

        table = narwhals.from_native(X, eager_only=True, allow_series=True)
        validate.check_shape(table.shape)
        self.shape = table.shape
        self._frame = frame = table.to_frame() if len(table.shape) == 1 else table
        self.kind = str(frame.implementation)
        self.feature_names = frame.columns
        narrow = all(dtype == narwhals.Float32 for dtype in frame.schema.values())
        values = np.empty(frame.shape, dtype=np.float32 if narrow else np.float64)
        for j, column in enumerate(frame.iter_columns()):
            dtype = column.dtype
            number = dtype.is_numeric() or dtype == narwhals.Boolean
            if not number and column.null_count() < len(column):  # all null is no dtype of its own
                validate.check_dtype("M" if dtype.is_temporal() else "O", dtype, column.name)
            # A cast may refuse integers that no float holds exactly; to_numpy rounds them.
            floats = column if dtype.is_integer() else column.cast(narwhals.Float64)
            values[:, j] = floats.to_numpy()
        self._keep(values)

    def _column(self, j: int) -> Any:
        return self._frame[:, j]

    def _is_float(self, j: int) -> bool:
        return self._frame[:, j].dtype.is_float()

    def _cells_at(self, j: int, rows: NDArray[np.intp]) -> list[Any]:
        return self._frame[:, j][rows.tolist()].to_list()

    def _encode(self, cells: NDArray[np.floating], name: Any, j: int | None) -> Any:
        import narwhals

        series = narwhals.new_series(name, cells, backend=self._frame.implementation)
        if j is None:
            return series
        column = self._column(j)
        if column.null_count():
            series = series.fill_nan(None)
        return series.cast(column.dtype if column.dtype.is_float() else narwhals.Float64)

    def _join(self, columns: list[Any], kept: Sequence[int], names: list[str]) -> Any:
        if len(self.shape) == 1 and len(columns) == 1:
            return columns[0].to_native()
        frame = self._frame.with_columns(*columns)
        return frame.select([column.name for column in columns]).to_native()
