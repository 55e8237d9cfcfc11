"""Refusals of files, for what they hold or where they lie."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from ..errors import InputError, line_or_row, meaning_missing, option, parameter, shown, typed


def check_is_file(path: Any) -> None:
    """Refuse a pipe or a device, which can be read but once, or never ends."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(
            f"{path} is a device or a pipe, not a file: save what comes out of it, and name that."
        )


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


def binary_file(path: Any, line: int, edges: bool) -> InputError:
    """A NUL byte in a text."""
    return InputError(
        f"{path} is no text, or not in the encoding assumed (a NUL byte in line {line}): name its "
        f"encoding with {option('encoding', edges)}, such as utf-16-le, or export it as CSV again."
    )


def undecodable(path: Any, line: int, byte: bytes, encoding: str, edges: bool) -> InputError:
    """A byte that means nothing in an encoding."""
    return InputError(
        f"{path}, line {line} has the byte 0x{byte.hex()}, which is no {encoding}: name the file's "
        f"encoding with {option('encoding', edges)}, such as latin-1."
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


def check_separator(separator: str, edges: bool) -> None:
    """Refuse a separator that is no single character, or means something else."""
    if len(separator) != 1 or separator in '"\r\n' or not separator.isascii():
        raise InputError(
            f"{parameter('separator', edges)} is {separator!r} but must be one ASCII character, "
            "such as ; or a tab."
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


def check_some_lines(path: Any, some: bool, edges: bool) -> None:
    """Refuse an empty file of JSON lines."""
    if not some:
        what = "every line must name two nodes" if edges else "there is nothing to fill"
        raise InputError(f"{path} is empty: {what}.")


def check_header(
    path: Any, names: Sequence[str], line: int | None, unnamed_first: bool = False
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


def cell_is_no(where: str, line: int | str, name: str, value: Any, kind: str) -> InputError:
    """A cell that is not of the type its column was said to have."""
    return InputError(
        f"{where}, {line_or_row(line)} has {shown(value)} in column {name!r}, which is no {kind}: "
        f"correct it, or pass {meaning_missing(str(value))} if it means missing."
    )


def check_date_form(name: str, form: str) -> None:
    """Refuse a form of dates that no date can be told from."""
    letters = re.findall("%(.)", form, re.DOTALL)
    known = all(letter in "YymdBbhejHIMSpTRDFfzZ%aAntUW" for letter in letters)
    year = any(letter in "YyDF" for letter in letters)
    day = any(letter in "dejDF" for letter in letters)
    if form.count("%%") * 2 + sum(letter != "%" for letter in letters) != form.count("%"):
        known = False  # a single % at the end
    if not (known and year and day):
        raise InputError(
            f"The form {form!r} of the dates in column {name!r} must have a day, a month and a "
            f"year, such as {typed(name, 'date:%d/%m/%Y')}."
        )


def no_dates(
    where: str, line: int | str, name: str, value: Any, kind: str, note: str | None
) -> InputError:
    """A column said to hold dates in which none can be read."""
    remedy = f"name its form, such as {typed(name, 'date:%d/%m/%Y')}"
    if kind == "time":
        remedy = f"write all of them like 17:30, or pass {typed(name, 'leave')}"
    why = f"not every cell is a {kind} of one form"
    if note:
        why = "day and month cannot be told apart"
    return InputError(
        f"Column {name!r} of {where} cannot be read as {kind}s, since {why} "
        f"({line_or_row(line)} has {shown(value)}): {remedy}."
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
            f"tab or a blank, or name the separator with {option('separator', edges=True)}."
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
