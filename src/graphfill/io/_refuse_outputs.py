"""Refusals of outputs, before and while they are written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError, option, switch


def check_report_name(path: Any) -> None:
    """Refuse a report whose name says that it is something else."""
    if not str(path).lower().endswith((".html", ".htm")):
        raise InputError(f'The report {path} is a web page: give it the ending ".html".')


def check_written_here(path: Any, inputs: Iterable[Any], overwrite: bool) -> None:
    """Refuse an output that would overwrite an input, or anything without leave."""
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


def unprintable(error: OSError, output: str | None) -> InputError:
    """A summary that goes nowhere."""
    rest = "" if output is None else f", but {output} is written"
    return InputError(f"The summary cannot be printed ({error.strerror}){rest}.")


def check_demo_folder(folder: Path, begins: Mapping[str, str]) -> None:
    """Refuse to replace files that no demo wrote; `begins` is the first line of those it writes."""
    for name, begin in begins.items():
        try:
            start = (folder / name).read_bytes()[: len(begin) + 1]
        except OSError:
            continue
        if start.rstrip() != begin.encode():
            raise InputError(
                f"{folder / name} was not written by a demo, which would replace it: name another "
                f"folder with {option('folder')}."
            )


def no_folder(folder: Path, error: OSError) -> InputError:
    """A folder that cannot be made."""
    return InputError(
        f"The folder {folder} cannot be made ({error.strerror}): name another with "
        f"{option('folder')}."
    )


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
