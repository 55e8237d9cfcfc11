"""How a file is to be read, what it held, and what is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_choice, option
from ._missing_words import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

    from ._csv.dialect import Dialect
    from ._text import TextFormat

KINDS = ("number", "integer", "boolean", "category", "date", "time", "duration", "leave")
SMALL = 32 << 20  # bytes that any file may unfold to
MOST_TIMES = 200  # what it may unfold to by itself, as a multiple of its size
CELL_BYTES = 8  # that a cell takes at least where it is filled, however little in its file
MOST_COLUMNS = 100_000
NESTED = {b"graphfill": b"json"}  # marks a column whose text is JSON of lists or objects
Progress = Callable[[int, "int | None"], None]  # bytes done, bytes in all if known


def no_progress(done: int, total: int | None) -> None:
    """Tell nobody."""


def machine_memory() -> int:
    """Bytes of memory of this machine; 16 GB where it does not say, as on Windows."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 16 << 30


@dataclass(frozen=True)
class Options:
    """How a file is to be read, as far as that is not left to be guessed."""

    # Texts that mean missing, beside the empty cell and, in CSV, NA, NaN, null and the like; with
    # an empty text among them, those are words.
    missing: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # of columns: KINDS, "date:%d/%m/%Y"
    separator: str | None = None  # of a text file; guessed from its beginning by default
    decimal: str | None = None
    encoding: str | None = None
    # The most memory that reading a file may take; by default half of the machine's, and a file may
    # not unfold to more than MOST_TIMES its size.
    memory_limit: int | None = None
    progress: Progress = no_progress  # called with the bytes read so far and in all
    edges: bool = False  # whether edges are read, which may be written in more ways than a table
    values: Sequence[str] = ()  # texts that do not mean missing, although they often do
    header: bool | None = True  # whether the first line names columns; None guesses, with a note

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
        named, values = self.named_markers, {text.strip() for text in self.values}
        if "" in (text.strip() for text in self.missing or ()):  # the empty one alone
            return named
        usual = [text for text in MISSING if text not in values]
        return [*usual, *(text for text in named if text not in usual)]

    @property
    def named_markers(self) -> list[str]:
        """Those that the caller named: all there are in a format that can write null."""
        return [text.strip() for text in self.missing or () if text.strip()]

    def most(self, path: Path, times: int = 1) -> int:
        """The most bytes that a file may unfold to, each of which takes so many in memory."""
        if self.memory_limit is not None:
            return self.memory_limit // times
        by_itself = max(SMALL, MOST_TIMES * path.stat().st_size)
        return min(machine_memory() // 2 // times, by_itself)

    def check_size(self, path: Path, size: int, times: int = 1) -> None:
        """Refuse a file that would not fit into memory, perhaps by design."""
        limit = self.most(path, times)
        if size > limit:
            limit = self.memory_limit or limit
            raise InputError(
                f"{path} unfolds to more than {limit / 1e9:.3g} GB, the memory that reading may "
                f"take: pass a higher {option('memory_limit')}, or a smaller file."
            )


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
    version: tuple[int, ...] | None = None  # of the file, as `version_of` tells it
    # The line a row stands on, from 1 (CSV, JSON lines); else its number from 1.
    line_of: Callable[[int], int] = field(default=lambda row: row + 1, repr=False)

    @property
    def left_alone(self) -> dict[str, str]:
        """Columns that are not to be filled, and why."""
        nested = {field.name: "nested" for field in self.table.schema if field.metadata == NESTED}
        return nested | {name: "no name" for name in self.table.column_names if name == ""}

    @property
    def decimal(self) -> str | None:
        """The decimal mark of the file, where that is known."""
        return self.dialect.decimal if self.dialect is not None and self.dialect.settled else None

    def has(self, name: str) -> bool:
        """Whether the file has such a column: in a table of many, a list of names is slow."""
        return int(self.table.schema.get_field_index(name)) >= 0

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
    progress: Progress  # called with the amount written so far and in all
    formula_safe: bool = False  # in text files, "'" before what a spreadsheet would compute


def check_header(
    path: Path, names: Sequence[str], line: int | None = None, unnamed_first: bool = False
) -> None:
    """Refuse columns without a name, unless the first may be, and two with the same."""
    where = path if line is None else f"{path}, line {line}"
    check_width(path, len(names))
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


def check_width(path: Path, n_columns: int) -> None:
    """Refuse a file of so many columns that naming them all would take the memory."""
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"{path} has {n_columns} columns but at most {MOST_COLUMNS} can be read: leave some "
            "out."
        )


def check_some_rows(path: Path, some: bool, edges: bool) -> None:
    """Refuse a file that ends after its header."""
    if not some:
        nothing, edge = "rows: there is nothing to fill", "edges: every line must name two nodes"
        raise InputError(f"{path} has a header but no {edge if edges else nothing}.")
