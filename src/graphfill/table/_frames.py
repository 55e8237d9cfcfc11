"""Tables of any library in, and the same kind of table out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._xarray import from_xarray, is_xarray

if TYPE_CHECKING:
    import narwhals as nw


def in_memory(table: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A table that can be looked at, and how another is made of the kind that came.

    A relation of DuckDB is fetched; the filled one is of DuckDB's default connection, since a
    relation does not tell its own. An array of xarray is taken as a table of its coordinates.
    """
    if is_xarray(table):
        return from_xarray(table)
    if type(table).__name__ != "DuckDBPyRelation":
        return table, lambda filled: filled
    import duckdb

    fetch = getattr(table, "to_arrow_table", None) or table.fetch_arrow_table
    return fetch(), duckdb.from_arrow


def with_columns(frame: nw.DataFrame[Any], series: Sequence[nw.Series[Any]]) -> Any:
    """The table with some columns replaced, and new ones behind them."""
    native = frame.to_native()
    if frame.implementation.is_pandas_like() and type(native).__name__ != "DataFrame":
        # GeoPandas and its like keep what they know of a table only through their own methods.
        filled = native.copy(deep=False)
        for one in series:
            filled[one.name] = one.to_native()
        return filled
    if not frame.implementation.is_pyarrow():
        return frame.with_columns(*series).to_native()
    import pyarrow as pa

    # One by one, each would take a copy of all others.
    columns = dict(zip(native.column_names, native.columns, strict=True))
    fields = {field.name: field for field in native.schema}
    for one in series:
        columns[one.name] = one.to_native()
        fields[one.name] = pa.field(one.name, columns[one.name].type)
    schema = pa.schema(list(fields.values()), native.schema.metadata)
    return pa.table(list(columns.values()), schema)
