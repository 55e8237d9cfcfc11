"""Files of Stata and SPSS, read by pyreadstat: codes as the labels that they stand for."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import check_column_name
from ._path import needs_extra, unreadable
from ._sheet import CELL_BYTES, Options, Sheet, check_header, check_some_rows
from ._spreadsheet import _array

SAID = b"said"  # in the stream's metadata: notes, or why the file is refused
LABEL = b"label"  # in a field's metadata: what the file calls the column


def read(path: Path, options: Options) -> Sheet:
    """A table whose labelled columns hold labels, if each of their codes has one."""
    if find_spec("pyreadstat") is None:
        raise needs_extra(path, "stata", "pyreadstat")
    start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import write; write()"
    asked = [str(path), str(options.most(path, 8))]
    done = subprocess.run([sys.executable, "-c", start, *asked], capture_output=True)
    try:
        table = pa.ipc.open_stream(done.stdout).read_all()
        table.validate(full=True)
    except pa.ArrowException as error:
        reason = (
            RuntimeError(f"its reader crashed: {done.returncode}") if done.returncode else error
        )
        raise unreadable(path, reason) from None
    said = json.loads((table.schema.metadata or {}).get(SAID, b"{}"))
    if "size" in said:
        options.check_size(path, said["size"], times=8)
    if "error" in said:
        raise unreadable(path, RuntimeError(said["error"]))
    check_header(path, table.column_names)
    check_some_rows(path, len(table) > 0, options.edges)
    for name in options.types:
        check_column_name(name, table.column_names, path.name)
    format = path.suffix.lower()[1:]
    return Sheet(path, format, table.replace_schema_metadata(), notes=said["notes"])


def write() -> None:
    """Write a file as an Arrow stream, to be run in a process of its own: the reader of such files
    crashes on some that are broken. Takes the path and the most that its cells may take, in bytes.
    """
    path, most = Path(sys.argv[1]), int(sys.argv[2])
    if sys.platform != "win32":
        import resource

        seconds = 30 + path.stat().st_size // 1_000_000
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    table, said = pa.table({}), dict[str, Any]()
    try:
        table, said = _tabled(path, most)
    except Exception as error:  # pyreadstat has an error of its own for each kind of damage
        said["error"] = str(error) or type(error).__name__
    table = table.replace_schema_metadata({SAID: json.dumps(said)})
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def _tabled(path: Path, most: int) -> tuple[pa.Table, dict[str, Any]]:
    """The file as a table with notes; nothing but its size if that is too large."""
    import pyreadstat

    reader = pyreadstat.read_dta if path.suffix.lower() == ".dta" else pyreadstat.read_sav
    _, meta = reader(str(path), metadataonly=True)
    size = max(meta.number_rows or 0, 0) * (meta.number_columns or 0) * CELL_BYTES
    if size > most:
        return pa.table({}), {"size": size}
    columns, meta = reader(str(path), output_format="dict")
    notes: list[str] = []
    fields, arrays = [], []
    for name, values in columns.items():
        labels = meta.variable_value_labels.get(name)
        array = _column(list(values), labels, f"Column {name!r} of {path.name}", notes)
        label = meta.column_names_to_labels.get(name)
        metadata = {LABEL: label.encode()} if label else None
        fields.append(pa.field(name, array.type, metadata=metadata))
        arrays.append(array)
    return pa.table(arrays, pa.schema(fields)), {"notes": notes}


def _column(values: list[Any], labels: Any, what: str, notes: list[str]) -> pa.Array:
    values = [None if value is None or value != value or value == "" else value for value in values]
    if labels:
        used = {value for value in values if value is not None}
        if used <= set(labels):
            return pa.array([None if value is None else str(labels[value]) for value in values])
        special = ", ".join(f"{code:g} ({text})" for code, text in list(labels.items())[:4]
                            if isinstance(code, int | float))  # fmt: skip
        notes.append(
            f"{what} has labels for some of its numbers alone, which stay numbers: {special}."
        )
    kinds = {type(value) for value in values if value is not None}
    array = _array(values, kinds)
    if array is None:
        array = pa.array([None if value is None else str(value) for value in values])
    return array
