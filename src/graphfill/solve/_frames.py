"""Data frames and series as float matrices, and back: a dtype for every column."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Container, check_dtype, check_numbers, check_shape, narrowed, working_dtype


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
        check_shape(X.shape)
        self.shape, self.row_ids = X.shape, X.index
        self._name = X.name if X.ndim == 1 else None
        self._frame = frame = X.to_frame() if X.ndim == 1 else X
        self.feature_names = list(frame.columns)
        self._dtypes = list(frame.dtypes)
        is_object = np.array([isinstance(dtype, np.dtypes.ObjectDType) for dtype in self._dtypes])
        for j in np.flatnonzero(~is_object):
            check_dtype(self._dtypes[j].kind, self._dtypes[j], self.feature_names[j])
        working = working_dtype(self._dtypes)
        if is_object.any():
            names = [self.feature_names[j] for j in np.flatnonzero(is_object)]
            cells = frame.loc[:, is_object].to_numpy(dtype=object)
            values = np.empty(frame.shape, dtype=working)
            values[:, is_object] = check_numbers(cells, names)
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
        return bool(self._dtypes[j].kind == "f")

    def _cells_at(self, j: int, rows: NDArray[np.intp]) -> list[Any]:
        return list(self._frame.iloc[rows, j].tolist())

    def _encode(self, cells: NDArray[np.floating], name: Any, j: int | None) -> Any:
        pandas = sys.modules["pandas"]
        dtype = cells.dtype if j is None else self._dtypes[j]
        if isinstance(dtype, np.dtype):
            return narrowed(cells, dtype if dtype.kind == "f" else float)
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
        check_shape(table.shape)
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
                check_dtype("M" if dtype.is_temporal() else "O", dtype, column.name)
            # A cast may refuse integers that no float holds exactly; to_numpy rounds them.
            floats = column if dtype.is_integer() else column.cast(narwhals.Float64)
            values[:, j] = floats.to_numpy()
        self._keep(values)

    def _column(self, j: int) -> Any:
        return self._frame[:, j]

    def _is_float(self, j: int) -> bool:
        return bool(self._frame[:, j].dtype.is_float())

    def _cells_at(self, j: int, rows: NDArray[np.intp]) -> list[Any]:
        return list(self._frame[:, j][rows.tolist()].to_list())

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
