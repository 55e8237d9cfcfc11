"""Tables and edge lists, read and written: a file differs from its input in filled cells only.

Output files are refused before any work is done, and written whole or not at all.
"""

from __future__ import annotations

import errno
import os
import platform
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, switch
from ._path import (
    EDGE_ENDINGS,
    TABLE_ENDINGS,
    PathLike,
    check_is_file,
    check_unchanged,
    split_name,
    split_sheet,
    version_of,
)
from ._sheet import Options, Output, Progress, Sheet, no_progress

if TYPE_CHECKING:
    import pyarrow as pa

_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"  # whose processes have the numbers
MODULES = {
    "csv": "._csv.tables",
    "json": "._json_lines",
    **dict.fromkeys(("parquet", "arrow"), "._columnar"),
    **dict.fromkeys(("xlsx", "ods"), "._spreadsheet"),
    "statistics": "._statistics",
}
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def read_table(path: PathLike, **options: Any) -> Sheet:
    """Read a table of any known format, by the file's ending.

    The options are those of :class:`Options`.

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
    return _read(Path(path), TABLE_ENDINGS, **options)


def read_edges(path: PathLike, *, header: bool | None = None, **options: Any) -> Sheet:
    """Read a list of edges, one a row: as :func:`read_table`, and the looser forms of text.

    Text may be separated by blanks, may have no header (its columns are then "source", "target",
    "column_3", ...), and lines that begin with # or % are comments.
    """
    return _read(Path(path), EDGE_ENDINGS, **options, edges=True, header=header)


def _read(path: Path, endings: dict[str, str], **options: Any) -> Sheet:
    format = split_name(path, endings)[0]
    file, _ = split_sheet(path)
    check_is_file(file)
    version = version_of(file)
    sheet: Sheet = _module(format).read(path, Options(**options))
    check_unchanged(file, version)
    sheet.version = version
    return sheet


def _module(format: str) -> Any:
    """The module that reads and writes a format, imported when needed: it imports pyarrow."""
    return import_module(MODULES[format], __package__)


def check_output(path: PathLike, *, inputs: Sequence[PathLike], overwrite: bool = False) -> None:
    """Refuse, before any work is done, an output that could not or should not be written."""
    split_name(Path(path), output=True)
    check_written_here(path, inputs, overwrite)


def write_table(
    path: PathLike,
    filled: pa.Table,
    *,
    like: Sheet,
    changed: Mapping[str, NDArray[np.bool_]],
    overwrite: bool = False,
    progress: Progress = no_progress,
    formula_safe: bool = False,
) -> None:
    """Write a filled table in the format that its ending tells, whole or not at all.

    The arguments are those of :class:`Output`; `overwrite` says whether an existing file may be
    replaced, which the input never is.
    """
    output = Output(Path(path), filled, like, changed, progress, formula_safe)
    check_output(output.path, inputs=[like.path], overwrite=overwrite)
    names, input_names = filled.column_names, like.table.column_names
    if filled.num_rows != like.table.num_rows or names[: len(input_names)] != input_names:
        raise InputError(
            f"The filled table has {filled.num_rows} row(s) of the columns {names} but the input "
            f"has {like.table.num_rows} row(s) of {input_names}: pass the input's rows and columns "
            "in order."
        )
    format = split_name(output.path, output=True)[0]
    with replacing(path, like.path) as file:
        if _is_a_copy(output):
            with open(like.path, "rb") as source:
                if version_of(source.fileno()) == like.version:
                    shutil.copyfileobj(source, file)
                    return
        if format != "csv" and not format == "json" == like.format:
            output = replace(output, table=merge(filled, like, changed))
        _module(format).write(file, output)


def _is_a_copy(output: Output) -> bool:
    """Whether nothing is filled or added, and the format stays: then every byte does."""
    like = output.like
    added = output.table.num_columns > like.table.num_columns
    some = added or any(marks.any() for marks in output.changed.values())
    if some or output.formula_safe:
        return False
    in_memory = not (like.path.suffix and like.path.is_file())
    return not in_memory and split_name(output.path) == split_name(like.path, EDGE_ENDINGS)


def merge(filled: pa.Table, like: Sheet, changed: Mapping[str, NDArray[np.bool_]]) -> pa.Table:
    """The columns as read, with the filled cells in place and new columns after them."""
    import pyarrow as pa

    from ._columns import put

    # The texts of a CSV file are not kept in another format; a typed file keeps its NaN and texts.
    typed = like.format in ("parquet", "arrow")
    columns, fields = [], []
    for field in filled.schema:
        name = field.name
        column = filled[name]
        if like.has(name):
            values, column = column, like.table[name]
            if typed:
                column = like.originals.get(name, column)
            field = like.table.schema.field(name).with_type(column.type)
            marks = changed.get(name)
            if marks is not None and marks.any():
                values = values.filter(marks)
                if column.type != like.table[name].type:  # dates that stand as text in a typed file
                    values = like.text_formats[name].format(values)
                column = put(column, marks, values)
        columns.append(column)
        fields.append(field)
    return pa.table(columns, pa.schema(fields, like.table.schema.metadata))


@contextmanager
def replacing(path: PathLike, *like: PathLike) -> Iterator[BinaryIO]:
    """Write a file aside, and give it its name once it is complete and on disk.

    Whatever happens inside, an interrupt included, the name holds either what it held before or
    the whole new file; a link is written through, and an existing file's permissions are kept. A
    new one may be read by those alone who may read all files that it is made `like`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as file:
    ...         before = len(os.listdir(folder)), Path(folder, "a.txt").exists()
    ...     before, os.listdir(folder)
    ((1, False), ['a.txt'])
    """
    final = Path(os.path.realpath(path))
    # Names may have 255 bytes, and this one is longer than the one it stands for.
    start = f".{final.name[:50]}.{_MACHINE}-"
    _remove_left(final.parent, start)
    aside = final.with_name(f"{start}{os.getpid()}-{secrets.token_hex(8)}.part")
    try:
        mode = 0o666
        for source in like:
            mode &= os.stat(source).st_mode if os.path.exists(source) else mode
        # A name that nobody could guess, and that must be new: no link can stand in its place.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(aside, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if final.exists():
            shutil.copymode(final, aside)
        os.replace(aside, final)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise refusal(path, error) from error
        raise
    sync_folder(final.parent)


def _remove_left(folder: Path, start: str) -> None:
    """Remove what processes of this machine that were killed have left aside under such names."""
    if os.name != "posix":  # elsewhere, asking for a process could end it
        return
    with suppress(OSError):
        for name in os.listdir(folder):
            process = name.removeprefix(start).partition("-")[0]
            if not (name.startswith(start) and name.endswith(".part") and process.isdecimal()):
                continue
            try:
                os.kill(int(process), 0)
            except (ProcessLookupError, OverflowError):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))
            except OSError:  # another user's, and alive
                pass


def sync_folder(folder: Path) -> None:
    """Make new names last through a power cut, where folders can be opened (not on Windows)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refusal(path: Any, error: OSError) -> InputError:
    """Why a file could not be written: no room, or another reason."""
    if error.errno not in FULL:
        return unwritable(path, error)
    return InputError(
        f"There is no room left to write {path} (disk full, or a limit on the size of files): "
        "nothing of it was written; free some space, or name a file elsewhere."
    )


def unwritable(path: Any, error: OSError) -> InputError:
    """A file that cannot be written, whatever the reason."""
    return InputError(f"{path} cannot be written ({error.strerror}): name a file elsewhere.")


def check_written_here(path: Any, inputs: Iterable[Any], overwrite: bool) -> None:
    """Refuse an output that would replace an input, or any file without permission."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        folder = os.path.dirname(path)
        raise InputError(f"{folder} is not a folder: {path} cannot be written to it.") from None
    except OSError as error:  # a name too long
        raise unwritable(path, error) from None
    final = os.path.realpath(path)
    if os.path.islink(final):
        raise InputError(f"{path} is a link that leads in a circle: name a file.")
    folder = os.path.dirname(final)
    if not os.path.isdir(folder):
        shown_folder = os.path.dirname(path) or folder
        raise InputError(f"There is no folder {shown_folder} to write {path} to: make it first.")
    if os.path.exists(path):
        for source in inputs:
            source = split_sheet(source)[0]
            if os.path.exists(source) and os.path.samefile(path, source):
                raise InputError(
                    f"The output {path} is the same file as the input {source}: name another file."
                )
        if not overwrite:
            raise InputError(
                f"{path} exists already: name another file, or pass {switch('overwrite')} "
                "to replace it."
            )
        if not os.path.isfile(path):
            raise InputError(f"{path} is a device or a pipe, not a file: name a file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"The folder {folder} may not be written to: name a file elsewhere.")
