"""The cells of one column of any dataframe: read as Arrow, and written back in the dtype they had.

Arrow is the one language in which pandas, polars and pyarrow columns can all be read quickly.
What is read there is only ever used for computing: :func:`take_rows` and :func:`put_values` give
back the column itself, in its own library, with no cell touched but those that are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _objects as objects

if TYPE_CHECKING:
    import narwhals as nw

TEXT_TYPES = ("string", "large_string", "string_view")


@dataclass
class Cells:
    """What one column holds.

    Attributes
    ----------
    series : narwhals.Series
        The column itself.
    twin : pyarrow.ChunkedArray
        The same cells, null where missing; numbers or codes where the column holds what Arrow
        has no type for.
    family : str
        "number", "integer", "boolean", "text", "date", "time", "duration", "mixed", or "" for
        what cannot be filled.
    reason : str
        For the family "", what the column holds.
    note : str
        What was guessed, as the end of a sentence about the column.
    categorical : bool
        Whether the dtype says that values are classes.
    values : sequence or None
        What the codes in `twin` stand for, when they are codes.
    mixture : tuple or None
        For the family "mixed", two kinds of cells with the row and the value of an example.
    write : callable or None
        Of cells read from text: how values of the type of `twin` are written as such text.
    read_as : str or None
        An example of that text, if plain numbers would look different.
    order : ndarray of int or None
        Which row of `series` each cell of `twin` is; None where they are in the same order.
    """

    series: nw.Series[Any]
    twin: Any
    family: str
    reason: str = ""
    categorical: bool = False
    note: str = ""
    values: Sequence[Any] | None = None
    mixture: tuple[objects.Example, objects.Example] | None = None
    write: Callable[[Any], Any] | None = None
    read_as: str | None = None
    order: NDArray[np.intp] | None = None

    def in_order(self, order: NDArray[np.intp]) -> Cells:
        """The same column, its cells read in another order of the rows."""
        return replace(self, twin=self.twin.take(order), order=order)

    def put(self, rows: NDArray[np.intp], values: Any) -> nw.Series[Any]:
        """The column with an Arrow array of the type of `twin` in some of its cells."""
        return put_values(self.series, rows, values if self.write is None else self.write(values))

    def rows(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows of `series` that some cells are."""
        return places if self.order is None else self.order[places]

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """True where a cell is null, None, NaN or NaT."""
        import pyarrow.compute as pc

        is_null = pc.is_null(self.twin, nan_is_null=self.family == "number" and self.is_float)
        return np.asarray(is_null.to_numpy(zero_copy_only=False))

    @property
    def is_float(self) -> bool:
        """Whether numbers are floats; if not, they are decimals."""
        import pyarrow as pa

        return bool(pa.types.is_floating(self.twin.type))

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """Numbers as float64, NaN where null."""
        import pyarrow as pa

        return np.asarray(self.twin.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)

    @cached_property
    def ticks(self) -> NDArray[Any]:
        """Integers, or moments as the integers they are stored as, in 64 bits; 0 where null."""
        return _ticks(self.twin)

    @cached_property
    def local_ticks(self) -> NDArray[Any] | None:
        """The ticks that clocks in the column's time zone would show; None without a zone."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_timestamp(self.twin.type) or self.twin.type.tz is None:
            return None
        try:
            return _ticks(pc.local_timestamp(self.twin))
        except pa.ArrowInvalid:  # a zone, or a whole machine, without a time zone database
            return None

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Equal numbers for equal cells, from 0 on in order of appearance; -1 where null."""
        return _codes(self.twin)


def _ticks(twin: Any) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    unsigned = pa.types.is_uint64(twin.type)
    if twin.type.bit_width == 32 and pa.types.is_temporal(twin.type):
        twin = twin.cast(pa.int32())
    ticks = twin.cast(pa.uint64() if unsigned else pa.int64())
    return np.asarray(pc.fill_null(ticks, 0).to_numpy())


def _codes(twin: Any) -> NDArray[np.intp]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(twin.type):
        twin = twin.cast(pa.string())  # not every width of decimals can be told apart
    if pa.types.is_float16(twin.type):
        twin = twin.cast(pa.float32())  # which older versions of pyarrow can encode
    parts = twin.dictionary_encode().unify_dictionaries().chunks
    codes = [pc.fill_null(part.indices, -1).to_numpy() for part in parts]
    return np.concatenate(codes).astype(np.intp) if codes else np.empty(0, np.intp)


# -- reading --


def read(series: nw.Series[Any], markers: Sequence[Any] = ()) -> Cells:
    """Read a column; `markers` are needed to see what kind a column of Python objects is."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        return _read_pandas(series, native, markers)
    if series.implementation.is_polars():
        import polars as pl

        if native.dtype == pl.Object:
            return _unfillable(series, "Python objects")
        if str(native.dtype) in ("Int128", "UInt128"):  # which older versions do not name
            narrow = native.cast(pl.Int64, strict=False)
            if narrow.null_count() > native.null_count():
                return _unfillable(series, "integers beyond 64 bits")
            native = narrow
        return _from_arrow(series, native.to_arrow())
    # In chunks as they are: as one array, text may be more than Arrow can address.
    return _from_arrow(series, native if series.implementation.is_pyarrow() else series.to_arrow())


def _from_arrow(series: nw.Series[Any], array: Any) -> Cells:
    import pyarrow as pa
    import pyarrow.types as of

    twin = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    categorical = of.is_dictionary(twin.type)
    if categorical:
        twin = twin.cast(twin.type.value_type)
    kind = twin.type
    if str(kind) in TEXT_TYPES:
        return Cells(series, twin.cast(pa.large_string()), "text", categorical=categorical)
    tests = {
        "boolean": of.is_boolean,
        "integer": of.is_integer,
        "number": lambda kind: of.is_floating(kind) or of.is_decimal(kind),
        "date": lambda kind: of.is_date(kind) or of.is_timestamp(kind),
        "time": of.is_time,
        "duration": of.is_duration,
    }
    for family, test in tests.items():
        if test(kind):
            return Cells(series, twin, family, categorical=categorical)
    if of.is_null(kind):
        return Cells(series, twin, "", "no known cell")
    if of.is_nested(kind):
        return _unfillable(series, f"nested ({series.dtype})", twin)
    if "binary" in str(kind):
        return _unfillable(series, "binary", twin)
    dtype = getattr(series.to_native(), "dtype", kind)
    return _unfillable(series, f"of the type {dtype}", twin)


def _unfillable(series: nw.Series[Any], reason: str, twin: Any = None) -> Cells:
    import pyarrow as pa

    is_null = (series.is_null() if twin is None else twin.is_null()).to_numpy()
    placeholder = pa.array(np.zeros(len(is_null), dtype=np.int8), mask=np.asarray(is_null, bool))
    return Cells(series, pa.chunked_array([placeholder]), "", reason)


def _read_pandas(series: nw.Series[Any], native: Any, markers: Sequence[Any]) -> Cells:
    import pyarrow as pa

    dtype = native.dtype
    word = type(dtype).__name__
    if word == "CategoricalDtype":  # its categories may be anything, intervals for example
        codes = native.cat.codes.to_numpy()
        twin = pa.chunked_array([pa.array(codes, mask=codes < 0)])
        values = list(native.cat.categories)
        return Cells(series, twin, "integer", categorical=True, values=values)
    if word == "PeriodDtype":
        twin = pa.chunked_array([pa.array(native.array.asi8, mask=native.isna().to_numpy())])
        return Cells(series, twin, "date")
    if word == "SparseDtype":
        native = native.sparse.to_dense()
    if _is_object(dtype):
        found = objects.read(native.to_numpy(), native.isna().to_numpy(), markers)
        cells = _from_arrow(series, found.twin)
        if found.family is not None:
            cells.family = found.family
        cells.reason, cells.values = found.reason or cells.reason, found.values
        cells.mixture, cells.note = found.mixture, found.note
        return cells
    if dtype.kind == "f" and getattr(dtype, "itemsize", 0) > 8:
        native = native.astype(np.float64)
    try:
        return _from_arrow(series, pa.array(native, from_pandas=True))
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        if word == "DatetimeTZDtype":  # a zone that has no name
            return _from_arrow(series, pa.array(native.dt.tz_convert("UTC"), from_pandas=True))
        return _unfillable(series, f"of the type {dtype}")


def _is_object(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


# -- writing --


def take_rows(series: nw.Series[Any], rows: NDArray[np.intp]) -> nw.Series[Any]:
    """The column whose cell i is the cell ``rows[i]`` of `series`; index and name are kept."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        return _wrap(series, _pandas_series(series, native.array.take(rows)))
    if series.implementation.is_polars():
        return _wrap(series, native.gather(rows))
    return _wrap(series, _take_arrow(native, rows))


def put_values(series: nw.Series[Any], rows: NDArray[np.intp], values: Any) -> nw.Series[Any]:
    """The column with `values`, an Arrow array, in its cells `rows`."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        sparse = type(native.dtype).__name__ == "SparseDtype"
        array = (native.sparse.to_dense() if sparse else native).array.copy()
        array[rows] = _pandas_values(native.dtype, values)
        filled = _pandas_series(series, array)
        return _wrap(series, filled.astype(native.dtype) if sparse else filled)
    source = np.arange(len(native))
    source[rows] = len(native) + np.arange(len(rows))
    if series.implementation.is_polars():
        import polars as pl

        own = pl.Series(native.name, values).cast(native.dtype)
        return _wrap(series, pl.concat([native, own]).gather(source))
    import pyarrow as pa

    own = values.cast(native.type)
    return _wrap(series, _take_arrow(pa.chunked_array([*native.chunks, own], native.type), source))


def _wrap(series: nw.Series[Any], native: Any) -> nw.Series[Any]:
    import narwhals as nw

    wrapped: nw.Series[Any] = nw.from_native(native, series_only=True)
    return wrapped if wrapped.name == series.name else wrapped.alias(series.name)


def _take_arrow(array: Any, rows: NDArray[np.intp]) -> Any:
    import pyarrow as pa

    if str(array.type) == "string_view":  # which Arrow cannot take from
        return array.cast(pa.large_string()).take(pa.array(rows)).cast(array.type)
    return array.take(pa.array(rows))


def _pandas_series(series: nw.Series[Any], array: Any) -> Any:
    native = series.to_native()
    # Unless told the dtype, pandas would look into objects and make dates or text of them.
    dtype = native.dtype if _is_object(native.dtype) else array.dtype
    make = series.__native_namespace__().Series
    filled = make(array, index=native.index, name=native.name, dtype=dtype)
    filled.attrs = dict(native.attrs)
    return filled


def _pandas_values(dtype: Any, values: Any) -> Any:
    """An Arrow array as what can be assigned to a pandas array of this dtype."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(values.cast(dtype.pyarrow_dtype))
    if isinstance(dtype, pd.PeriodDtype):
        return pd.arrays.PeriodArray(values.to_numpy(), dtype=dtype)
    if pa.types.is_timestamp(values.type) or pa.types.is_duration(values.type):
        if _is_object(dtype):
            return objects.as_array(values.to_pylist())
        letter = "M" if pa.types.is_timestamp(values.type) else "m"
        moments = values.cast(pa.int64()).to_numpy().view(f"{letter}8[{values.type.unit}]")
        if isinstance(dtype, pd.DatetimeTZDtype):
            return pd.DatetimeIndex(moments).tz_localize("UTC").tz_convert(dtype.tz).array
        return moments
    if _is_object(dtype) or isinstance(dtype, pd.StringDtype):
        return objects.as_array(values.to_pylist())
    return values.to_numpy(zero_copy_only=False)
