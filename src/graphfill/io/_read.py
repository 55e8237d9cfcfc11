"""Read tables and edge lists, by the format that their ending tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import _columnar as columnar
from . import _json_lines as json_lines
from ._csv import reader as delimited
from ._files import EDGE_ENDINGS, TABLE_ENDINGS, PathLike, check_is_file, split_name
from ._sheet import Options, Sheet


def read_table(path: PathLike, **options: Any) -> Sheet:
    """Read a table of CSV, Parquet, Arrow or JSON lines, told apart by the file's ending.

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
    check_is_file(path)
    if format == "csv":
        return delimited.read(path, Options(**options))
    if format == "json":
        return json_lines.read(path, Options(**options))
    return columnar.read(path, format, Options(**options))
