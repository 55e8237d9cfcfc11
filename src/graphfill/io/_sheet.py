"""How a file is to be read, what it held, and what is to be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_choice, option

if TYPE_CHECKING:
    import pyarrow as pa

    from ._csv.dialect import Dialect
    from ._text import TextFormat

MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")
NESTED = {b"graphfill": b"json"}  # marks a column whose text is JSON of lists or objects
Progress = Callable[[int, "int | None"], None]  # bytes done, bytes in all if known


@dataclass(frozen=True)
class Options:
    """How a file is to be read, as far as that is not left to be guessed.

    Attributes
    ----------
    missing : list of str, optional
        Texts that mean missing, beside the empty cell and, in CSV, NA, NaN, null and the like;
        with an empty text among them, those are words.
    types : dict of name to str
        The type of a column: "number", "integer", "category", "date", "date:%d/%m/%Y", "time",
        "leave".
    separator, decimal, encoding : str, optional
        Of a text file; guessed from its beginning by default.
    memory_limit : int, optional
        The most bytes a file may unfold to; half of the machine's memory by default.
    progress : callable, optional
        Called with the bytes read so far and in all.
    edges : bool
        Whether edges are read, which may be written in more ways than a table.
    header : bool, optional
        Whether the first line names the columns; None guesses, with a note.
    """

    missing: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    memory_limit: int | None = None
    progress: Progress | None = None
    edges: bool = False
    header: bool | None = True

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise InputError(
                    f"{self.encoding!r} is no encoding that Python knows: try utf-8, cp1252 or "
                    "utf-16."
                ) from None
        if self.decimal is not None:
            check_choice("decimal", self.decimal, [".", ","])

    @property
    def markers(self) -> list[str]:
        """The texts that mean missing, besides the empty one.

        >>> "NA" in Options(missing=["?"]).markers, Options(missing=["", "?"]).markers
        (True, ['?'])
        """
        named = self.named_markers
        if "" in (text.strip() for text in self.missing or ()):  # the empty one alone
            return named
        return [*MISSING, *(text for text in named if text not in MISSING)]

    @property
    def named_markers(self) -> list[str]:
        """Those that the caller named: all there are in a format that can write null."""
        return [text.strip() for text in self.missing or () if text.strip()]

    def check_size(self, path: Path, size: int) -> None:
        """Refuse a file that would not fit into memory, perhaps by design."""
        limit = self.memory_limit
        if limit is None:
            try:
                limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
            except (AttributeError, ValueError, OSError):  # not on Windows
                limit = 8 << 30
        if size > limit:
            raise InputError(
                f"{path} unfolds to more than {limit / 1e9:.3g} GB, the memory that reading may "
                f"take: pass a higher {option('memory_limit')}, or a smaller file."
            )

    def report(self, done: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(done, total)


@dataclass
class Sheet:
    """A file that was read, with what is needed to write it again with only its blanks changed."""

    path: Path
    format: str  # "csv", "parquet", "arrow" or "json"
    table: pa.Table  # typed columns; missing cells are null
    # The text of every cell as it stood in the file, null where missing: of every column of a CSV
    # file, of columns of dates in JSON lines.
    texts: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False)
    # How a filled value is written so that it looks like its column.
    text_formats: dict[str, TextFormat] = field(default_factory=dict)
    dialect: Dialect | None = None  # separator, quotes, encoding and so on of a CSV file
    notes: list[str] = field(default_factory=list)  # every guess, as a sentence
    # Columns of the file that hold a missing cell in another form than null: texts with "NA",
    # floats with NaN. An unfilled cell is written back as it stood.
    originals: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False)
    # What the module of the format needs to write such a file again.
    source: Any = field(default=None, repr=False)
    # The line a row stands on, from 1 (CSV, JSON lines); else its number from 1.
    line_of: Callable[[int], int] = field(default=lambda row: row + 1, repr=False)

    @property
    def left_alone(self) -> dict[str, str]:
        """Columns that are not to be filled, and why."""
        nested = {field.name: "nested" for field in self.table.schema if field.metadata == NESTED}
        return nested | {name: "no name" for name in self.table.column_names if name == ""}

    def place(self, row: int) -> str:
        """Where a row stands, as sentences name it."""
        return f"{'line' if self.format in ('csv', 'json') else 'row'} {self.line_of(row)}"


@dataclass(frozen=True)
class Output:
    """A filled table that is to be written to a file."""

    path: Path
    table: pa.Table  # the columns of `like.table` in order, and perhaps new ones after them
    like: Sheet  # what was read: every cell that was not filled is written as it stood
    changed: Mapping[str, NDArray[np.bool_]]  # which cells were filled
    progress: Progress | None = None  # called with the amount written so far and in all

    def report(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)


def check_header(
    path: Path, names: Sequence[str], line: int | None = None, unnamed_first: bool = False
) -> None:
    """Refuse columns without a name, unless the first may be, and two with the same."""
    where = path if line is None else f"{path}, line {line}"
    first: dict[str, int] = {}
    if not names:
        raise InputError(
            f"{path} has no columns: export it again, with the columns it should have."
        )
    for position, name in enumerate(names, 1):
        if not name and not (unnamed_first and position == 1 < len(names)):
            raise InputError(
                f"{where} has no name for column {position} of {len(names)}: give it "
                "one, or remove the column."
            )
        if name in first:
            raise InputError(
                f"{where} has the name {name!r} twice, for columns {first[name]} and "
                f"{position}: rename one."
            )
        first[name] = position


def check_some_rows(path: Path, some: bool, edges: bool) -> None:
    """Refuse a file that ends after its header."""
    if not some:
        what = "rows: there is nothing to fill"
        if edges:
            what = "edges: every line must name two nodes"
        raise InputError(f"{path} has a header but no {what}.")
