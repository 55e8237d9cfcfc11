"""Refusals of what a column is said to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InputError, cell, check_choice, named, place


def check_column_kind(name: Any, kind: Any, kinds: Sequence[str]) -> None:
    """Refuse a kind that is none."""
    check_choice(f"The kind of column {name!r}", kind, kinds)


def kind_cannot_apply(name: Any, kind: str | None, held: str) -> InputError:
    """A kind that the cells of a column cannot be."""
    return InputError(
        f"Column {name!r} cannot be taken as {kind!r}, for it is {held}: leave its kind to "
        f"graphfill, or convert the column first."
    )


def mixed_column(name: Any, one: Sequence[Any], two: Sequence[Any]) -> InputError:
    """A column whose cells are of two kinds; each is (plural, row, value)."""
    return InputError(
        f"Column {name!r} {mixture(one, two)}, make all cells one kind, or leave the column out."
    )


def mixture(one: Sequence[Any], two: Sequence[Any]) -> str:
    """The same within a sentence."""
    shown = " and ".join(
        f"{kind} ({place(row)}: {named(value)})" for kind, row, value in (one, two)
    )
    word = next((value for kind, _, value in (one, two) if kind == "text"), two[2])
    return f"mixes {shown}: name {named(word)} as missing if it stands for a missing cell"


def infinite_cell(name: Any, row: int, value: float) -> InputError:
    """An infinite cell, next to which no mean exists."""
    return InputError(
        f"The cell at {cell(row, repr(name))} is infinite ({value}): name it as missing, or "
        "give it a finite number."
    )


def not_a_number(name: Any, row: int, value: Any) -> InputError:
    """A cell of text that was said to be a number."""
    return InputError(
        f"Column {name!r} cannot be taken as numbers, for {place(row)} holds {named(value)}: name "
        "it as missing if it stands for a missing cell, or take the column as a category."
    )


def not_an_integer(name: Any, row: int, value: float) -> InputError:
    """A cell that was said to be an integer."""
    return InputError(
        f"Column {name!r} cannot be taken as integers, for {place(row)} holds {value}: take it as "
        "a number."
    )


def not_a_boolean(name: Any, row: int, value: Any) -> InputError:
    """A number that is neither true nor false."""
    return InputError(
        f"Column {name!r} cannot be taken as boolean, for {place(row)} holds {named(value)}, which "
        "is neither 0 nor 1: take it as a category or a number."
    )
