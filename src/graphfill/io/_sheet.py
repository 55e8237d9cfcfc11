"""Files of the user: their formats, how one is to be read, what it held, what is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_choice, option

if TYPE_CHECKING:
    import pyarrow as pa

    from ._csv.dialect import Dialect
    from ._text import TextFormat

PathLike = str | os.PathLike[str]

COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ"}  # and their first bytes
TABLE_ENDINGS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
    **{".xlsx": "xlsx", ".ods": "ods", ".dta": "statistics", ".sav": "statistics"},
}
READ_ONLY = {".dta": "a file of Stata", ".sav": "a file of SPSS"}
WORKBOOKS = (".xlsx", ".ods")
EDGE_ENDINGS = TABLE_ENDINGS | dict.fromkeys((".edges", ".edgelist", ".el"), "csv")

_EXPORT = "export it as CSV or Parquet"
_PICKLE = ("a pickle, which may run code", _EXPORT)
_PROGRAM = ("a file of another program", _EXPORT)
_FOREIGN = {
    **dict.fromkeys((".xls", ".xlsm", ".xlsb"), ("a spreadsheet", "save it as .xlsx or CSV")),
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".npy", ".pt"), _PICKLE),
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz"), ("an archive", "unpack it first")),
    **dict.fromkeys((".zst", ".lz4", ".br"), ("compressed in another way than .gz", "unpack it")),
    **dict.fromkeys((".sas7bdat", ".rds", ".rdata", ".h5", ".hdf5"), _PROGRAM),
    ".json": ("JSON", 'write one object a line, and name it ".jsonl"'),
}
_MAGIC = {
    b"PK\x03\x04": f"a spreadsheet or an archive: {_EXPORT}",
    b"\xd0\xcf\x11\xe0": f"a spreadsheet: {_EXPORT}",
    b"PAR1": 'a Parquet file: give it the ending ".parquet"',
    b"ARROW1": 'an Arrow file: give it the ending ".arrow"',
    **{start: f'compressed: add "{end}" to its name' for end, start in COMPRESSIONS.items()},
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), f"a pickle: {_EXPORT}"),
}

KINDS = ("number", "integer", "boolean", "category", "date", "time", "duration", "leave")
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")
# Words that stand for a missing cell, without blanks around them and in small letters. "Surely" is
# for those that are the name of nothing, "perhaps" for those that are some people's answer, and
# "among numbers" for all that are no value where the other cells are numbers or dates.
_SURELY = """- -- --- – — − . .. ... … ? ?? ??? * ** : n/a (n/a) n.a. n/d n.d. k.a. #n/a #n/d #nv
#div/0! #value! #wert! #ref! #name? #num! #null! <na> nan null (null) [null] \\n"""
_PERHAPS = """na none nil missing unknown unk unbekannt inconnu desconocido blank empty undefined
tba tbd n/k (blank) (none) (unknown) (missing) [unknown]"""
_CODES = "s c x z d (s) (c) (x) (z) (d) (na)"  # of statistical offices: suppressed, and the like
SURELY = frozenset([*_SURELY.split(), "not available", "no data", "n. a.", "k. a."])
PERHAPS = frozenset([*_PERHAPS.split(), "", "not applicable", "not known", "not stated"])
PERHAPS |= {"not reported", "not recorded", "keine angabe"}
AMONG_NUMBERS = SURELY | PERHAPS | frozenset(_CODES.split())
SMALL = 32 << 20  # bytes that any file may unfold to
MOST_TIMES = 200  # what it may unfold to by itself, as a multiple of its size
CELL_BYTES = 8  # that a cell takes at least where it is filled, however little in its file
MOST_COLUMNS = 100_000
NESTED = {b"graphfill": b"json"}  # marks a column whose text is JSON of lists or objects
Progress = Callable[[int, "int | None"], None]  # bytes done, bytes in all if known


def no_progress(done: int, total: int | None) -> None:
    """Tell nobody."""


def split_name(
    path: Path, endings: dict[str, str] = TABLE_ENDINGS, *, output: bool = False
) -> tuple[str, str, str | None]:
    """Format, ending and ending of the compression of a file, by its name.

    >>> split_name(Path("people.csv.gz"))
    ('csv', '.csv', '.gz')
    """
    path = path if output else split_sheet(path)[0]
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    ending = suffixes[-1] if suffixes else ""
    if os.path.isdir(path):
        raise InputError(
            f"{path} is a folder{': name a file in it' if output else ', not a file'}."
        )
    if ending in _FOREIGN or (output and ending in READ_ONLY):
        what, remedy = _FOREIGN.get(ending) or (f"{READ_ONLY[ending]}, which is read alone", "")
        if output:
            remedy = 'give the output the ending ".csv", ".parquet" or ".jsonl"'
        raise InputError(f"{path} is {what}: {remedy}.")
    if ending not in endings:
        known = " ".join(one for one in endings if not (output and one in READ_ONLY))
        raise InputError(
            f'The ending of {path} tells no format: use one of {known} (text also with ".gz").'
        )
    if compression is not None and endings[ending] not in ("csv", "json"):
        remedy = "leave the last ending off" if output else "unpack it, and read that"
        raise InputError(f"{path} is compressed inside and out: {remedy}.")
    return endings[ending], ending, compression


def split_sheet(path: PathLike) -> tuple[Path, str | None]:
    """A file and the sheet that is named behind it.

    >>> split_sheet("towns.xlsx#May")
    (PosixPath('towns.xlsx'), 'May')
    """
    text = os.fspath(path)
    for ending in WORKBOOKS:
        at = text.lower().find(f"{ending}#")
        if at >= 0 and not os.path.exists(text):
            at += len(ending)
            return Path(text[:at]), text[at + 1 :]
    return Path(text), None


def needs_extra(path: Any, extra: str, package: str) -> InputError:
    """A file whose reader is not installed."""
    return InputError(
        f"{path} takes the package {package}: install graphfill[{extra}], or export the table as "
        "CSV."
    )


def check_is_file(path: PathLike) -> None:
    """Refuse a pipe or a device, which can be read only once, or never ends."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(
            f"{path} is a device or a pipe, not a file: save what comes out of it, and name that."
        )


def version_of(path: PathLike | int) -> tuple[int, ...] | None:
    """What changes when a file is replaced or written to; None if there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, *times


def check_unchanged(path: PathLike, version: tuple[int, ...] | None) -> None:
    """Refuse a file that is another one than when it was opened: what was read may be of both."""
    if version_of(path) != version:
        raise InputError(
            f"{path} was replaced or changed while it was read: wait until it is complete, and run "
            "this again."
        )


def open_or_refuse(path: Path) -> BinaryIO:
    """Open a file for reading, or say in a sentence why it cannot be."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Any, error: Exception) -> InputError:
    """A file that is not there, may not be read, or is broken."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"There is no file {path}.")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{path} is a folder, not a file.")
    if isinstance(error, PermissionError):
        return InputError(f"{path} may not be read: ask its owner for the permission.")
    reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return InputError(
        f"{path} cannot be read, and may be cut off or broken ({reason}): copy or export it again."
    )


def machine_memory() -> int:
    """Bytes of memory of this machine; 16 GB where it does not say, as on Windows."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 16 << 30


def other_format(start: bytes) -> str | None:
    """What a file is by its first bytes, if it is of a known other format, and what to do."""
    return next((what for magic, what in _MAGIC.items() if start.startswith(magic)), None)


def check_columnar(path: Path, format: str) -> None:
    """Refuse a file that is neither Parquet nor Arrow, by its first bytes."""
    with open_or_refuse(path) as file:
        start = file.read(8)
    magics = {"parquet": (b"PAR1",), "arrow": (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")}
    if start.startswith(magics[format]):
        return
    name = {"parquet": "a Parquet", "arrow": "an Arrow"}[format]
    if not start:
        raise InputError(f"{path} is empty, hence not {name} file: export it again.")
    other = other_format(start)
    if other is not None:
        raise InputError(f"{path} is not {name} file but {other}.")
    if format == "parquet" or start.isascii():
        raise InputError(
            f"{path} is not {name} file: if it is text, give it the ending of its format, such as "
            '".csv".'
        )


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


def as_number(marker: Any) -> Decimal | None:
    """A marker read as a number, or None."""
    if isinstance(marker, (bool, np.bool_)):
        return None
    try:
        number = Decimal(str(marker).strip())
    except ArithmeticError:
        return None
    return None if number.is_nan() else number
