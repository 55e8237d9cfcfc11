"""Columns that rows are linked by, read as numbers, moments or keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_column_name, named, option, place, spelled, typed
from ._degrees import degrees

if TYPE_CHECKING:
    import narwhals as nw

Floats = NDArray[np.float64]
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def frame_of(table: Any) -> nw.DataFrame[Any]:
    """A table of any library; refused if it is none."""
    import narwhals as nw
    from narwhals import dependencies

    if isinstance(table, nw.DataFrame):
        return table
    if isinstance(table, dict) or not dependencies.is_into_dataframe(table):
        raise InputError(
            f"Rows to link are a pandas, polars or pyarrow table, not a {type(table).__name__}: "
            "make a data frame of it."
        )
    return nw.from_native(table, eager_only=True)


def arrow_column(frame: nw.DataFrame[Any], name: Any, role: str, holder: str = "the table") -> Any:
    """A column as one Arrow array; `role` is the option that named it."""
    import pyarrow as pa

    check_column_name(name, frame.columns, holder)
    array = frame.get_column(name).to_arrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_nested(array.type):
        raise InputError(
            f"Column {name!r} of {holder} holds lists or structs, by which {option(role)} cannot "
            "link rows: name another column."
        )
    return array


def numbers(frame: nw.DataFrame[Any], name: Any, role: str, holder: str) -> Floats:
    """A column of numbers, NaN where missing; infinite ones are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = arrow_column(frame, name, role, holder)
    kind = array.type
    if role == "near" and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return _angles(array, name, holder)
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not number and not pa.types.is_null(kind):
        raise InputError(
            f"Column {name!r} of {holder} holds {kind}, not numbers: {option(role)} takes columns "
            f"of numbers (pass {typed(str(name), 'number')} if that is what it holds)."
        )
    values = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    values = np.array(values, dtype=np.float64)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise InputError(
            f"Column {name!r} of {holder} is infinite in {place(row)}: correct that cell, or "
            "empty it."
        )
    return values


def _angles(array: Any, name: Any, holder: str) -> Floats:
    """Text such as 48°12'30"N as degrees; refused if a cell is none."""
    cells = array.to_pylist()
    known = {cell: degrees(cell) for cell in set(cells) if cell is not None and cell.strip()}
    wrong = next((row for row, cell in enumerate(cells) if known.get(cell, 0.0) is None), None)
    if wrong is not None:
        raise InputError(
            f"Column {name!r} of {holder} holds {named(cells[wrong])} in {place(wrong)}, which is "
            f"no coordinate such as 48.2 or 48°12'30\"N: correct or empty that cell."
        )
    found = [known.get(cell) for cell in cells]
    return np.array([np.nan if angle is None else angle for angle in found])


def moments(frame: nw.DataFrame[Any], name: Any, holder: str) -> Floats:
    """A column of dates, times or numbers, as seconds (or as it counts); NaN where missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = arrow_column(frame, name, "time", holder)
    kind = array.type
    if pa.types.is_date(kind):
        array, factor = pc.cast(array, pa.date32()), 86400.0
    elif pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        factor = SECONDS[kind.unit]
    else:
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == "string_view":
            texts = [text for text in array[:100].to_pylist() if text]
            shown = f" such as {named(texts[0])}" if texts else ""
            half = bool(texts) and texts[0].rstrip().upper().endswith("M")
            form = "%m/%d/%Y %I:%M %p" if half else "%d/%m/%Y %H:%M"
            how = spelled("such as pandas.to_datetime", f"such as {typed(name, 'date:' + form)}")
            raise InputError(
                f"Column {name!r} of {holder} holds text{shown}, not moments: say how they are "
                f"written, or make dates of it, before {option('time')} takes it ({how})."
            )
        return numbers(frame, name, "time", holder)
    size = pa.int32() if array.type.bit_width == 32 else pa.int64()
    ticks = pc.cast(array, size)
    missing = np.asarray(ticks.is_null())
    values = pc.fill_null(ticks, 0).to_numpy(zero_copy_only=False).astype(np.float64) * factor
    values[missing] = np.nan
    return np.asarray(values)


def keys(
    frame: nw.DataFrame[Any], name: Any, holder: str, role: str = "same"
) -> tuple[NDArray[np.int64], Any]:
    """A number for each cell, equal where the cells are (-1 where missing), and the values.

    Blanks around a text are left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = arrow_column(frame, name, role, holder)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), None, array)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = pc.utf8_trim_whitespace(array)
        array = pc.if_else(pc.equal(array, ""), pa.scalar(None, array.type), array)
    values = pc.unique(array.drop_null())
    values = values.take(pc.sort_indices(values)) if len(values) else values
    places = pc.fill_null(pc.index_in(array, value_set=values), -1) if len(values) else None
    if places is None:
        return np.full(len(array), -1, dtype=np.int64), values
    return places.to_numpy(zero_copy_only=False).astype(np.int64), values
