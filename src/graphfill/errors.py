"""What graphfill raises and warns with, and how its sentences are worded.

A refusal is raised beside what it checks, as an :class:`InputError` with one sentence that names
what is wrong, where, and what to do. The helpers below name options, places, cells and values in
one way; whether options are named as in Python or as in a shell, and how rows are named, is held
per thread and per task, so that calls that overlap do not change each other's wording.
"""

from __future__ import annotations

import datetime
import difflib
import reprlib
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_COMPARED = 1000  # names, in search of one that was nearly meant
LONGEST = 1000  # characters of a refusal, however long the names in it


def printable(text: str, keep: str = "") -> str:
    r"""A text without letters that a terminal would obey, which are written as escapes.

    >>> printable("age\x1b[2J")
    'age\\x1b[2J'
    """
    if text.isprintable():
        return text
    escaped = (c.encode("unicode_escape").decode() for c in text)
    return "".join(
        c if c.isprintable() or c in keep else e for c, e in zip(text, escaped, strict=True)
    )


class InputError(ValueError):
    """The input cannot be used; the message says why and what to do."""

    def __init__(self, sentence: str = "") -> None:
        if len(sentence) > LONGEST:
            sentence = f"{sentence[: LONGEST // 2]} [...] {sentence[-LONGEST // 3 :]}"
        super().__init__(printable(sentence))


class GraphfillWarning(UserWarning):
    """Something the user should know about a result that was still produced."""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(printable(sentence))


class ConvergenceWarning(GraphfillWarning):
    """The answer may be farther from the limit than the tolerance asked for."""


class UnreachedWarning(GraphfillWarning):
    """Some missing cells cannot be inferred from the graph."""


class SymmetrizedWarning(GraphfillWarning):
    """Directed or asymmetric edges were made undirected."""


# Named as users import them: graphfill.InputError.
for _public in (InputError, GraphfillWarning, *GraphfillWarning.__subclasses__()):
    _public.__module__ = "graphfill"


_on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)
_place: ContextVar[Callable[[int], str]] = ContextVar("place", default="row {}".format)
_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


@contextmanager
def command_line() -> Iterator[None]:
    """Within this, sentences name options as they are typed in a shell."""
    token = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(token)


def option(name: str, edges: bool = False) -> str:
    """An option as its user writes it: ``id=`` in Python, ``--id`` on the command line.

    There, the edges' own way to be read has a name of its own: ``--edge-encoding``.
    """
    if not _on_command_line.get():
        return f"{name}="
    return f"--{'edge-' if edges else ''}{name.replace('_', '-')}"


def parameter(name: str, edges: bool = False) -> str:
    """The same as the subject of a sentence: ``id`` in Python."""
    return option(name, edges).rstrip("=")


def switch(name: str) -> str:
    """The same for what is on or off."""
    return option(name) if _on_command_line.get() else f"{name}=True"


def spelled(python: str, shell: str) -> str:
    """What a user does, as it is done in Python or on the command line."""
    return shell if _on_command_line.get() else python


def meaning_missing(*values: str) -> str:
    """How a user says that texts mean missing."""
    if not _on_command_line.get():
        return f"missing={list(values)!r}"
    listed = ",".join(f'"{value}"' if "," in value else value for value in values)
    return f"--missing{'=' if listed[:1] == '-' else ' '}{shlex.quote(listed)}"


def meaning_value(*values: str) -> str:
    """How a user says that texts are values, although they often mean missing."""
    name = "value" if _on_command_line.get() else "values"
    return meaning_missing(*values).replace("missing", name, 1)


def typed(name: str, kind: str) -> str:
    """How a user names the type of a column."""
    return f"--type {name}={kind}" if _on_command_line.get() else f"types={{{name!r}: {kind!r}}}"


@contextmanager
def places(place: Callable[[int], str]) -> Iterator[None]:
    """Within this, rows are named so: by line of a file, say, and not by number."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def place(row: int) -> str:
    """A row as its owner finds it."""
    return _place.get()(row)


def cell(row: int, column: Any, names: Sequence[Any] | None = None) -> str:
    """One cell as its owner would look it up."""
    return f"{place(row)}, column {column if names is None else repr(names[column])}"


def named(node: Any) -> str:
    """An id or value as its owner would type it, within reason."""
    if isinstance(node, np.generic):
        kind: Any = node.dtype
        if kind.kind not in "mM":
            return _short.repr(node.item())
        # A number of no unit has no date to be written as.
        return str(node if np.datetime_data(kind)[0] != "generic" else node.astype(np.int64))
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


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse a parameter that is none of the words (or switches) it may be."""
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        raise InputError(f"{name} is {value!r} but must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a switch that is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r} but must be True or False.")


def check_number(name: str, value: Any, *, low: float, integer: bool = False) -> None:
    """Refuse a parameter that is not a finite number from ``low`` on."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value < np.inf:
        kind = "a whole number" if integer else "a number"
        raise InputError(f"{name} is {value!r} but must be {kind} of at least {low}.")


def check_column_name(name: Any, names: Sequence[Any], holder: str) -> None:
    """Refuse the name of a column that is not there, with the nearest that is."""
    if name in names:
        return
    comparable = [str(other) for other in names[:MOST_COMPARED] if len(str(other)) <= 100]
    near = difflib.get_close_matches(str(name)[:100], comparable, 1, 0.5)
    if near:
        raise InputError(f"There is no column {name!r} in {holder}; did you mean {near[0]!r}?")
    some = ", ".join(shown(other) for other in list(names)[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    raise InputError(f"There is no column {name!r} in {holder}, which has {some}{more}.")


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn at the line that called into graphfill, through however much of other libraries."""
    level, frame = 1, sys._getframe()
    inside = ("graphfill.", "sklearn.", "torch_geometric.")
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
