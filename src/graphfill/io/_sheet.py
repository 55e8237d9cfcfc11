"""What a file held, and what is needed to write it back with nothing but its blanks changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from ._csv.dialect import Dialect
    from ._text import TextFormat

NESTED = {b"graphfill": b"json"}  # marks a column whose text is JSON of lists or objects
Progress = Callable[[int, "int | None"], None]  # bytes done, bytes in all if known


@dataclass
class Sheet:
    """A file that was read.

    Attributes
    ----------
    path : Path
    format : {"csv", "parquet", "arrow", "json"}
    table : pyarrow.Table
        Typed columns; missing cells are null.
    texts : dict of name to pyarrow.ChunkedArray
        The text of every cell as it stood in the file, null where missing: of every column of a
        CSV file, of columns of dates in JSON lines.
    text_formats : dict of name to TextFormat
        How a filled value is written so that it looks like its column.
    dialect : Dialect or None
        Separator, quotes, encoding and so on of a CSV file.
    notes : list of str
        Every guess, as a sentence.
    originals : dict of name to pyarrow.ChunkedArray
        Columns of the file that hold a missing cell in another form than null: texts with "NA",
        floats with NaN. An unfilled cell is written back as it stood.
    source : Any
        What the format's own module needs to write such a file again.
    """

    path: Path
    format: str
    table: pa.Table
    texts: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False)
    text_formats: dict[str, TextFormat] = field(default_factory=dict)
    dialect: Dialect | None = None
    notes: list[str] = field(default_factory=list)
    originals: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False)
    source: Any = field(default=None, repr=False)
    locate: Callable[[int], int] = field(default=lambda row: row + 1, repr=False)

    @property
    def left_alone(self) -> dict[str, str]:
        """Columns that are not to be filled, and why."""
        nested = {field.name: "nested" for field in self.table.schema if field.metadata == NESTED}
        return nested | {name: "no name" for name in self.table.column_names if name == ""}

    def line_of(self, row: int) -> int:
        """The line a row stands on, from 1 (CSV, JSON lines); else its number from 1."""
        return self.locate(row)
