"""Read and write tables and edge lists: the only door to the user's files.

What is written differs from what was read in the filled cells only. The formats themselves are
in :mod:`graphfill.io._formats`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import errors
from . import _columnar as columnar
from . import _formats as formats
from . import _json_lines as json_lines
from . import _refuse_files, _refuse_outputs
from ._atomic import replacing
from ._csv import reader as delimited
from ._csv import writer as delimited_writer
from ._options import Options
from ._sheet import Progress, Sheet

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Sheet", "check_output", "read_edges", "read_table", "replacing", "write_table"]

PathLike = str | os.PathLike[str]


def read_table(
    path: PathLike,
    *,
    missing: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Sheet:
    """Read a table of CSV, Parquet, Arrow or JSON lines, told apart by the file's ending.

    Parameters
    ----------
    path : path
    missing : list of str, optional
        Texts that mean missing, beside the empty cell and, in CSV, NA, NaN, null and the like;
        with an empty text among them, those are words.
    types : dict of name to str, optional
        The type of a column: "number", "integer", "category", "date", "date:%d/%m/%Y", "time",
        "leave".
    separator, decimal, encoding : str, optional
        Of a text file; found out from its beginning if not said.
    memory_limit : int, optional
        The most bytes a file may unfold to; half of the machine's memory if not said.
    progress : callable, optional
        Called with the bytes read so far and in all.

    Returns
    -------
    Sheet

    Notes
    -----
    In CSV, a quoted empty text ``""`` is known in a column of text, and missing in a column of
    numbers or dates and in a file that quotes all of its cells.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("name;age\\nann;30\\nbob;\\n")
    ...     sheet = read_table(path)
    >>> sheet.table.to_pydict(), sheet.notes
    ({'name': ['ann', 'bob'], 'age': [30, None]}, ['people.csv is separated by ";".'])
    """
    options = Options(missing, types or {}, separator, decimal, encoding, memory_limit, progress)
    return _read(Path(path), formats.TABLE_ENDINGS, options)


def read_edges(
    path: PathLike,
    *,
    header: bool | None = None,
    missing: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Sheet:
    """Read a list of edges, one a row: as :func:`read_table`, and the looser forms of text.

    Text may be separated by blanks, may have no header (its columns are then "source", "target",
    "column_3", ...), and lines that begin with # or % are comments.

    Parameters
    ----------
    header : bool, optional
        Whether the first line names the columns; if not said it is guessed, with a note.
    """
    options = Options(
        missing, types or {}, separator, decimal, encoding, memory_limit, progress, True, header
    )
    return _read(Path(path), formats.EDGE_ENDINGS, options)


def _read(path: Path, endings: dict[str, str], options: Options) -> Sheet:
    format, _, compression = formats.split_name(path, endings)
    _refuse_files.check_is_file(path)
    _refuse_files.check_encoding(options.encoding)
    if options.decimal is not None:
        errors.check_choice("decimal", options.decimal, [".", ","])
    if format == "csv":
        return delimited.read(path, compression, options)
    if format == "json":
        return json_lines.read(path, compression, options)
    return columnar.read(path, format, options)


def check_output(path: PathLike, *, inputs: Sequence[PathLike], overwrite: bool = False) -> None:
    """Refuse, before any work is done, an output that could not or should not be written."""
    formats.split_name(Path(path), output=True)
    _refuse_outputs.check_written_here(path, inputs, overwrite)


def write_table(
    path: PathLike,
    filled: pa.Table,
    *,
    like: Sheet,
    changed: Mapping[str, NDArray[np.bool_]],
    overwrite: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a filled table in the format its name speaks of, whole or not at all.

    Parameters
    ----------
    path : path
    filled : pyarrow.Table
        The columns of ``like.table`` in order, and perhaps new ones after them.
    like : Sheet
        What was read: every cell that was not filled is written as it stood.
    changed : dict of name to bool array
        Which cells were filled.
    overwrite : bool
        Whether an existing file may be replaced; the input never is.
    progress : callable, optional
        Called with the amount written so far and in all.
    """
    path = Path(path)
    check_output(path, inputs=[like.path], overwrite=overwrite)
    own = like.table.column_names
    _refuse_outputs.check_filled(filled.num_rows, like.table.num_rows, filled.column_names, own)
    format = formats.split_name(path, output=True)[0]
    settings: dict[str, Any] = {"like": like, "progress": progress}
    with replacing(path) as file:
        if _is_a_copy(path, filled, like, changed):
            with open(like.path, "rb") as source:
                shutil.copyfileobj(source, file)
        elif format == "csv":
            delimited_writer.write(file, path, filled, changed=changed, **settings)
        elif format == "json":
            table = filled if like.format == "json" else merge(filled, like, changed, format)
            json_lines.write(file, path, table, changed=changed, **settings)
        else:
            table = merge(filled, like, changed, format)
            columnar.write(file, path, table, format=format, **settings)


def _is_a_copy(path: Path, filled: pa.Table, like: Sheet, changed: Mapping[str, Any]) -> bool:
    """Whether nothing is filled or added, and the format stays: then every byte does."""
    if filled.num_columns > like.table.num_columns or any(m.any() for m in changed.values()):
        return False
    if not (like.path.suffix and like.path.is_file()):  # made in memory
        return False
    return formats.split_name(path) == formats.split_name(like.path, formats.EDGE_ENDINGS)


def merge(
    filled: pa.Table, like: Sheet, changed: Mapping[str, NDArray[np.bool_]], format: str
) -> pa.Table:
    """The columns as read, with the filled cells in place and new columns behind."""
    import pyarrow as pa

    # The text of a CSV file stays behind with it; a typed file keeps its NaN, and its text.
    typed = like.format in ("parquet", "arrow")
    columns, fields = [], []
    for number, name in enumerate(filled.column_names):
        if name not in like.table.column_names:
            columns.append(filled[name])
            fields.append(filled.schema.field(number))
            continue
        base = like.originals.get(name, like.table[name]) if typed else like.table[name]
        field = like.table.schema.field(number).with_type(base.type)
        marks = changed.get(name)
        if marks is not None and marks.any():
            base = _put(base, filled[name], marks, like, name)
        columns.append(base)
        fields.append(field)
    return pa.table(columns, pa.schema(fields, like.table.schema.metadata))


def _put(
    base: pa.ChunkedArray, filled: Any, marks: NDArray[np.bool_], like: Sheet, name: str
) -> pa.ChunkedArray:
    """A column with the marked cells replaced, of the type it had."""
    import pyarrow as pa
    import pyarrow.compute as pc

    where = pa.array(marks)
    values = filled.filter(where)
    if base.type != like.table[name].type:  # dates that stand as text in a typed file
        values = pa.chunked_array([like.text_formats[name].format(values)])
    if pa.types.is_dictionary(base.type):
        return _put_categories(base, values, where)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    values = values.cast(base.type).combine_chunks()
    whole = base.combine_chunks()
    kind = whole.type
    if pa.types.is_duration(kind):  # which Arrow replaces as the integers they are
        whole, values = whole.cast(pa.int64()), values.cast(pa.int64())
    return pa.chunked_array([pc.replace_with_mask(whole, where, values).cast(kind)])


def _put_categories(base: pa.ChunkedArray, values: Any, where: pa.Array) -> pa.ChunkedArray:
    """The same for categories: their list, its order and the unused ones are kept."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = base.type
    whole = base.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    words = values.cast(kind.value_type).combine_chunks()
    codes = pc.index_in(words, value_set=whole.dictionary).cast(kind.index_type)
    indices = pc.replace_with_mask(whole.indices, where, codes)
    array = pa.DictionaryArray.from_arrays(indices, whole.dictionary, ordered=kind.ordered)
    return pa.chunked_array([array])
