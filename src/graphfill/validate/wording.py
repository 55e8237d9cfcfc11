"""How sentences name options, places, cells and values."""

from __future__ import annotations

import datetime
import reprlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

_on_command_line = False
_place: Callable[[int], str] = "row {}".format
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


@contextmanager
def command_line() -> Iterator[None]:
    """Within this, sentences name options as they are typed in a shell."""
    global _on_command_line
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def option(name: str, edges: bool = False) -> str:
    """An option as its user writes it: ``id=`` in Python, ``--id`` on the command line.

    There, the edges' own way to be read has a name of its own: ``--edge-encoding``.
    """
    if not _on_command_line:
        return f"{name}="
    return f"--{'edge-' if edges else ''}{name.replace('_', '-')}"


def parameter(name: str, edges: bool = False) -> str:
    """The same as the subject of a sentence: ``id`` in Python."""
    return option(name, edges).rstrip("=")


def switch(name: str) -> str:
    """The same for what is on or off."""
    return option(name) if _on_command_line else f"{name}=True"


def meaning_missing(*values: str) -> str:
    """How a user says that texts mean missing."""
    if not _on_command_line:
        return f"missing={list(values)!r}"
    listed = ",".join(f'"{value}"' if "," in value else value for value in values)
    return f"--missing{'=' if listed[:1] == '-' else ' '}{shlex.quote(listed)}"


def typed(name: str, kind: str) -> str:
    """How a user names the type of a column."""
    return f"--type {name}={kind}" if _on_command_line else f"types={{{name!r}: {kind!r}}}"


@contextmanager
def places(place: Callable[[int], str]) -> Iterator[None]:
    """Within this, rows are named so: by line of a file, say, and not by number."""
    global _place
    before, _place = _place, place
    try:
        yield
    finally:
        _place = before


def place(row: int) -> str:
    """A row as its owner finds it."""
    return _place(row)


def line_or_row(line: int | str) -> str:
    """Where a cell stands in its file: "line 3", or as it is said already."""
    return line if isinstance(line, str) else f"line {line}"


def cell(row: int, column: Any, names: Sequence[Any] | None = None) -> str:
    """One cell as its owner would look it up."""
    return f"{place(row)}, column {column if names is None else repr(names[column])}"


def named(node: Any) -> str:
    """An id or value as its owner would type it, within reason."""
    if isinstance(node, np.generic):
        return str(node) if node.dtype.kind in "mM" else _short.repr(node.item())
    if isinstance(node, (datetime.date, datetime.time, datetime.timedelta)):
        return str(node)
    return _short.repr(node)


def shown(value: Any) -> str:
    """Any object, shortened."""
    return _short.repr(value)


def first_cell(cells: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the first True cell in reading order."""
    row, column = np.unravel_index(int(np.argmax(cells)), cells.shape)
    return int(row), int(column)
