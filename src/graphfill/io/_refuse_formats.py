"""Refusals of files that are of another format than graphfill reads, or than their name says."""

from __future__ import annotations

import os
from typing import Any

from ..errors import InputError

_EXPORT = "export it as CSV or Parquet"
_FOREIGN = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), ("a spreadsheet", _EXPORT)),
    **dict.fromkeys(
        (".pkl", ".pickle", ".joblib", ".npy", ".pt"), ("a pickle, which may run code", _EXPORT)
    ),
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz"), ("an archive", "unpack it first")),
    **dict.fromkeys((".zst", ".lz4", ".br"), ("compressed in another way than .gz", "unpack it")),
    **dict.fromkeys(
        (".dta", ".sav", ".sas7bdat", ".rds", ".rdata", ".h5", ".hdf5"),
        ("a file of another program", _EXPORT),
    ),
    ".json": ("JSON", 'write one object a line, and name it ".jsonl"'),
}
_MAGIC = {
    b"PK\x03\x04": "a spreadsheet or an archive: export it as CSV or Parquet",
    b"\xd0\xcf\x11\xe0": "a spreadsheet: export it as CSV or Parquet",
    b"PAR1": 'a Parquet file: give it the ending ".parquet"',
    b"ARROW1": 'an Arrow file: give it the ending ".arrow"',
    b"\x1f\x8b": 'compressed: add ".gz" to its name',
    b"BZh": 'compressed: add ".bz2" to its name',
    b"\xfd7zXZ": 'compressed: add ".xz" to its name',
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it",
    b"\x80\x02": "a pickle: export it as CSV or Parquet",
    b"\x80\x03": "a pickle: export it as CSV or Parquet",
    b"\x80\x04": "a pickle: export it as CSV or Parquet",
    b"\x80\x05": "a pickle: export it as CSV or Parquet",
}


def check_ending(
    path: Any, ending: str, endings: dict[str, str], compression: str | None, output: bool
) -> str:
    """The format that belongs to an ending; refuse those that belong to none."""
    if os.path.isdir(path):
        raise InputError(
            f"{path} is a folder{': name a file in it' if output else ', not a file'}."
        )
    if ending in _FOREIGN:
        what, remedy = _FOREIGN[ending]
        if output:
            remedy = 'give the output the ending ".csv", ".parquet" or ".jsonl"'
        raise InputError(f"{path} is {what}: {remedy}.")
    if ending not in endings:
        known = " ".join(endings)
        raise InputError(
            f'The ending of {path} tells no format: use one of {known} (text also with ".gz").'
        )
    if compression is not None and endings[ending] in ("parquet", "arrow"):
        remedy = "leave the last ending off" if output else "unpack it, and read that"
        raise InputError(f"{path} is compressed inside and out: {remedy}.")
    return endings[ending]


def check_no_other_format(path: Any, start: bytes) -> None:
    """Refuse a text file that is none, by its first bytes."""
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path} is no text but {what}.")


def check_no_markup(path: Any, text: str) -> None:
    """Refuse a table of text that is JSON or a web page, by its first characters."""
    start = text[:100].lstrip().lower()
    if start.startswith(('{"', '[{"')):
        raise InputError(
            f'{path} looks like JSON: write one object a line, and give it the ending ".jsonl".'
        )
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise InputError(f"{path} is a web page or XML, not a table: export it as CSV or Parquet.")


def check_columnar(path: Any, start: bytes, format: str) -> None:
    """Refuse a file that is neither Parquet nor Arrow, by its first bytes."""
    own = {"parquet": (b"PAR1",), "arrow": (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")}
    if start.startswith(own[format]):
        return
    name = {"parquet": "a Parquet", "arrow": "an Arrow"}[format]
    if not start:
        raise InputError(f"{path} is empty, hence not {name} file: export it again.")
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path} is not {name} file but {what}.")
    if format == "parquet" or start.isascii():
        raise InputError(
            f"{path} is not {name} file: if it is text, give it the ending of its format, such as "
            '".csv".'
        )


def not_compressed(path: Any, ending: str) -> InputError:
    """A plain file whose name says otherwise."""
    return InputError(
        f'{path} is not compressed as its name says: take "{ending}" off its name, or copy or '
        "export it again."
    )
