"""Names of files: the formats that they say, and files that are not what their name says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InputError

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
