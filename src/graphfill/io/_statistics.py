"""Files of Stata and SPSS, read by pyreadstat: codes as the labels that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError, check_column_name
from ._sheet import (
    CELL_BYTES,
    Options,
    Sheet,
    check_header,
    check_some_rows,
    needs_extra,
    unreadable,
)
from ._spreadsheet import _array

LABEL = b"label"  # in a field's metadata: what the file calls the column


def read(path: Path, options: Options) -> Sheet:
    """A table whose labelled columns hold labels, if each of their codes has one."""
    try:
        import pyreadstat
    except ImportError:
        raise needs_extra(path, "stata", "pyreadstat") from None
    reader = pyreadstat.read_dta if path.suffix.lower() == ".dta" else pyreadstat.read_sav
    try:
        _, meta = reader(str(path), metadataonly=True)
        size = max(meta.number_rows or 0, 0) * (meta.number_columns or 0) * CELL_BYTES
        options.check_size(path, size, times=8)
        columns, meta = reader(str(path), output_format="dict")
    except InputError:
        raise
    except Exception as error:  # pyreadstat has an error of its own for each kind of damage
        raise unreadable(path, error) from None
    check_header(path, list(columns))
    check_some_rows(path, any(len(values) for values in columns.values()), options.edges)
    for name in options.types:
        check_column_name(name, list(columns), path.name)
    sheet = Sheet(path, path.suffix.lower()[1:], pa.table({}))
    fields, arrays = [], []
    for name, values in columns.items():
        array = _column(list(values), meta.variable_value_labels.get(name), name, sheet)
        label = meta.column_names_to_labels.get(name)
        metadata = {LABEL: label.encode()} if label else None
        fields.append(pa.field(name, array.type, metadata=metadata))
        arrays.append(array)
    sheet.table = pa.table(arrays, pa.schema(fields))
    return sheet


def _column(values: list[Any], labels: Any, name: str, sheet: Sheet) -> pa.Array:
    values = [None if value is None or value != value or value == "" else value for value in values]
    if labels:
        used = {value for value in values if value is not None}
        if used <= set(labels):
            return pa.array([None if value is None else str(labels[value]) for value in values])
        special = ", ".join(f"{code:g} ({text})" for code, text in list(labels.items())[:4]
                            if isinstance(code, int | float))  # fmt: skip
        sheet.notes.append(
            f"Column {name!r} of {sheet.path.name} has labels for some of its numbers alone, which "
            f"stay numbers: {special}."
        )
    kinds = {type(value) for value in values if value is not None}
    array = _array(values, kinds)
    if array is None:
        array = pa.array([None if value is None else str(value) for value in values])
    return array
