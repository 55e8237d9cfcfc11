"""What the value of an option may be: a text in, the value out, or what is wrong with it."""

from __future__ import annotations

import argparse
import csv
from typing import Any


def name_list(text: str) -> list[str]:
    """Names between commas, in quotes where they hold one: 'age,"city, state"'."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in names] or [""]


def column_kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    kinds = ("number", "integer", "boolean", "category", "date", "time", "duration", "leave")
    known = kind in kinds or (kind.startswith("date:") and kind != "date:")
    if not (name and known):
        raise argparse.ArgumentTypeError(
            f"{text!r} must be NAME=KIND with KIND one of {', '.join(kinds)} or date:FORMAT"
        )
    return name, kind


def separator(text: str) -> str:
    """A tab is hard to type in a shell."""
    return "\t" if text in ("\\t", "tab") else text


def _number(text: str, low: float, what: str, convert: type = float) -> Any:
    try:
        value = convert(text)
    except ValueError:
        value = None
    if value is None or not low <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} must be {what}")
    return value


def count(text: str) -> Any:
    return _number(text, 1, "a whole number of at least 1", int)


def seed(text: str) -> Any:
    return _number(text, 0, "a whole number of at least 0", int)


def crowd(text: str) -> Any:
    return _number(text, 50, "a whole number of at least 50", int)  # fewer tell nothing


def positive(text: str) -> Any:
    return _number(text, 1e-300, "a positive number")


def not_negative(text: str) -> Any:
    return _number(text, 0, "a number of at least 0")


def reliance(text: str) -> Any:
    if text == "held-out":
        return text
    value = _number(text, 0, "held-out, or a number from 0 to 1")
    if value > 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be held-out, or a number from 0 to 1")
    return value


def hidden_share(text: str) -> Any:
    value = _number(text, 0, "a share of cells from 0 to below 1, such as 0.9")
    if value >= 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a share from 0 to below 1, such as 0.9")
    return value


def level(text: str) -> Any:
    value = _number(text, 0, "a share between 0 and 1, such as 0.9")
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a share between 0 and 1, such as 0.9")
    return value


def size(text: str) -> str:
    from ..errors import InputError
    from ..solve._memory import parse_bytes

    try:
        parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f'{text!r} is no size; write for example "4GB"') from error
    return text
