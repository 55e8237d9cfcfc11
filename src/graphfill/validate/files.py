"""Refusals of files, for what they hold or where they lie."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import InputError
from .wording import meaning_missing, option, shown, switch, typed

_FOREIGN = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "a spreadsheet"),
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".npy", ".pt"), "a pickle, which may run code"),
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz"), "an archive"),
    **dict.fromkeys((".dta", ".sav", ".sas7bdat", ".rds", ".rdata", ".h5", ".hdf5"), "not read"),
}
_MAGIC = {
    b"PK\x03\x04": "a spreadsheet or an archive: export it as CSV or Parquet",
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


def check_ending(path: Any, ending: str, endings: dict[str, str], compression: str | None) -> str:
    """The format that belongs to an ending; refuse those that belong to none."""
    if ending in _FOREIGN:
        what = _FOREIGN[ending]
        raise InputError(f"{path} is {what}: export it as CSV or Parquet.")
    if ending == ".json":
        raise InputError(f'{path} is JSON: write one object a line, and name it ".jsonl".')
    if ending not in endings:
        known = " ".join(endings)
        raise InputError(
            f'The ending of {path} tells no format: use one of {known} (text also with ".gz").'
        )
    if compression is not None and endings[ending] in ("parquet", "arrow"):
        raise InputError(f"{path} is compressed inside and out: unpack it, and read that.")
    return endings[ending]


def unreadable(path: Any, error: Exception) -> InputError:
    """A file that is not there, may not be read, or is broken."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"There is no file {path}.")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{path} is a folder, not a file.")
    if isinstance(error, PermissionError):
        return InputError(f"{path} may not be read: ask its owner for the permission.")
    reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
    return InputError(f"{path} cannot be read, and may be cut off or broken ({reason}).")


def check_no_other_format(path: Any, start: bytes) -> None:
    """Refuse a text file that is none, by its first bytes."""
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path} is no text but {what}.")


def binary_file(path: Any, line: int) -> InputError:
    """A NUL byte in a text."""
    return InputError(
        f"{path} is no text, or not in the encoding assumed (a NUL byte in line {line}): name its "
        f"encoding with {option('encoding')}, such as utf-16-le, or export it as CSV again."
    )


def undecodable(path: Any, line: int, byte: bytes, encoding: str) -> InputError:
    """A byte that means nothing in an encoding."""
    return InputError(
        f"{path}, line {line} has the byte 0x{byte.hex()}, which is no {encoding}: name the file's "
        f"encoding with {option('encoding')}, such as latin-1."
    )


def check_encoding(encoding: str | None) -> None:
    """Refuse an encoding that Python does not know."""
    if encoding is not None:
        try:
            "".encode(encoding)
        except LookupError:
            raise InputError(
                f"{encoding!r} is no encoding that Python knows: try utf-8, cp1252 or utf-16."
            ) from None


def check_separator(separator: str) -> None:
    """Refuse a separator that is no single character, or means something else."""
    if len(separator) != 1 or separator in '"\r\n' or not separator.isascii():
        raise InputError(
            f"separator is {separator!r} but must be one ASCII character, such as ; or a tab."
        )


def check_kind(name: str, kind: str | None, kinds: Sequence[str]) -> None:
    """Refuse a type that no column can have."""
    if kind is not None and kind not in kinds and not (kind.startswith("date:") and kind[5:]):
        known = ", ".join([*kinds, "date:FORMAT"])
        raise InputError(f"The type of column {name!r} is {kind!r} but must be one of {known}.")


def too_large(path: Any, limit: int) -> InputError:
    """A file that would not fit into memory, perhaps by design."""
    return InputError(
        f"{path} unfolds to more than {limit / 1e9:.3g} GB, the memory that reading may take: pass "
        f"a higher {option('memory_limit')}, or a smaller file."
    )


def check_not_empty(path: Any, text: str, edges: bool) -> None:
    """Refuse a file without a header, or without an edge."""
    if not text.strip():
        first = "every line must name two nodes" if edges else "the first line must name columns"
        raise InputError(f"{path} is empty: {first}.")


def check_some_rows(path: Any, some: bool, edges: bool) -> None:
    """Refuse a file that ends after its header."""
    if not some:
        what = "rows: there is nothing to fill"
        if edges:
            what = "edges: every line must name two nodes"
        raise InputError(f"{path} has a header but no {what}.")


def check_some_lines(path: Any, some: bool) -> None:
    """Refuse an empty file of JSON lines."""
    if not some:
        raise InputError(f"{path} is empty: there is nothing to fill.")


def check_header(path: Any, names: Sequence[str], line: int | None) -> None:
    """Refuse columns without a name, and two with the same."""
    where = path if line is None else f"{path}, line {line}"
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not name:
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


def check_cell_count(path: Any, line: int, n_cells: int, n_names: int, header: bool) -> None:
    """Refuse a row that is longer or shorter than the header."""
    if n_cells != n_names:
        other = "the header" if header else "the first line"
        cells = "cell" if n_cells == 1 else "cells"
        raise InputError(
            f"{path}, line {line} has {n_cells} {cells} but {other} has {n_names}: put quotes "
            "around cells that hold a separator, or add what is missing."
        )


def check_quote_closed(path: Any, line: int) -> None:
    """Refuse a quote that nothing closes; line 0 is none."""
    if line:
        raise InputError(
            f"{path}, line {line} opens a quote that is never closed: close it, or double it "
            "inside a quoted cell if it is part of the text."
        )


def cell_is_no(where: str, line: int, name: str, value: Any, kind: str) -> InputError:
    """A cell that is not of the type its column was said to have."""
    return InputError(
        f"{where}, line {line} has {shown(value)} in column {name!r}, which is no {kind}: "
        f"correct it, or pass {meaning_missing(str(value))} if it means missing."
    )


def no_dates(
    where: str, line: int, name: str, value: Any, kind: str, note: str | None
) -> InputError:
    """A column said to hold dates in which none can be read."""
    form = "date:%d/%m/%Y" if kind == "date" else "leave"
    why = f"not every cell is a {kind} of one form"
    if note:
        why = "day and month cannot be told apart"
    return InputError(
        f"Column {name!r} of {where} cannot be read as {kind}s, since {why} (line {line} has "
        f"{shown(value)}): name its form, such as {typed(name, form)}."
    )


def json_line(path: Any, line: int, what: str) -> InputError:
    """A line that is no JSON object, or no sound one."""
    return InputError(f"{path}, line {line} {what}: every line must be one JSON object.")


def twin_keys(path: Any, line: int, name: str) -> InputError:
    """An object that says one thing twice."""
    return InputError(f"{path}, line {line} has the key {name!r} twice: keep one of them.")


def check_two_ends(path: Any, n_columns: int) -> None:
    """Refuse edges with one end."""
    if n_columns < 2:
        raise InputError(
            f"{path} has {n_columns} column but an edge has two ends: separate them by a comma, a "
            f"tab or a blank, or name the separator with {option('separator')}."
        )


def mixed_types(
    path: Any, name: str, first: tuple[str, int], second: tuple[str, int]
) -> InputError:
    """A column that holds values of two types."""
    return InputError(
        f"Column {name!r} of {path} has {first[0]} in line {first[1]} but {second[0]} in line "
        f"{second[1]}: write all of its values alike."
    )


def large_integer(path: Any, name: str, line: int) -> InputError:
    """An integer beyond 64 bits in JSON."""
    return InputError(
        f"{path}, line {line} has an integer beyond 64 bits in column {name!r}: write it as text."
    )


def check_written_here(path: Any, inputs: Iterable[Any], overwrite: bool) -> None:
    """Refuse an output that would overwrite an input, or anything without leave."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder: name a file in it.")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise InputError(f"There is no folder {folder} to write {path} to: make it first.")
    if os.path.exists(path):
        for own in inputs:
            if os.path.exists(own) and os.path.samefile(path, own):
                raise InputError(
                    f"The output {path} is the same file as the input {own}: name another file."
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


def unwritable(path: Any, error: OSError) -> InputError:
    """A file that cannot be written."""
    return InputError(f"{path} cannot be written ({error.strerror}): name a file elsewhere.")


def disk_full(path: Any) -> InputError:
    """No room for the output."""
    return InputError(
        f"There is no room left to write {path} (disk full, or a limit on the size of files): "
        "nothing was written; free some space, or name a file elsewhere."
    )


def unencodable(path: Any, text: str, encoding: str) -> InputError:
    """A character that the file's encoding does not have."""
    return InputError(
        f"{path} cannot hold {text!r} in its encoding {encoding}: save the input as UTF-8 first."
    )


def check_filled(n_rows: int, n_input: int, names: Sequence[str], own: Sequence[str]) -> None:
    """Refuse to write a table that is not the input with some cells filled."""
    if n_rows != n_input or list(names[: len(own)]) != list(own):
        raise InputError(
            f"The filled table has {n_rows} row(s) of the columns {list(names)} but the input has "
            f"{n_input} row(s) of {list(own)}: pass the input's rows and columns in order."
        )
