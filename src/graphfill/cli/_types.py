"""What the value of an option may be: a text in, the value out, or what is wrong with it."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from typing import Any


def name_list(text: str) -> list[str]:
    """Names between commas, in quotes where they hold one: 'age,"city, state"'."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in names] or [""]


def column_kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    from ..io import KINDS

    base, _, form = kind.partition(":")
    marked = base in ("number", "integer") and form in (".", ",")
    if not name or not (kind in KINDS or marked or (base == "date" and form)):
        raise argparse.ArgumentTypeError(
            f"{text!r} must be NAME=KIND with KIND one of {', '.join(KINDS)} or date:FORMAT"
        )
    return name, kind


def separator(text: str) -> str:
    """A tab is hard to type in a shell."""
    return "\t" if text in ("\\t", "tab") else text


def _number(
    what: str, allowed: Callable[[Any], bool], convert: Callable[[str], Any] = float
) -> Callable[[str], Any]:
    """How to read a number that is `allowed`; `what` says which are."""

    def read(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = float("nan")
        if not (allowed(value) and value < float("inf")):
            raise argparse.ArgumentTypeError(f"{text!r} must be {what}")
        return value

    return read


count = _number("a whole number of at least 1", lambda n: n >= 1, int)
port = _number("a whole number from 1 to 65535", lambda n: 1 <= n <= 65535, int)
seed = _number("a whole number of at least 0", lambda n: n >= 0, int)
crowd = _number("a whole number of at least 50", lambda n: n >= 50, int)  # fewer tell nothing
positive = _number("a positive number", lambda x: x >= 1e-300)
not_negative = _number("a number of at least 0", lambda x: x >= 0)
hidden_share = _number("a share from 0 to 1, such as 0.9", lambda x: 0 <= x <= 1)
level = _number("a share between 0 and 1, such as 0.9", lambda x: 0 < x < 1)
_reliance = _number("held-out, or a number from 0 to 1", lambda x: 0 <= x <= 1)


def key(text: str) -> tuple[str, str, str]:
    """A file, its column, and the file whose rows that names ("" for the table).

    >>> key("orders.csv:customer"), key("orders.csv:product=products.csv")
    (('orders.csv', 'customer', ''), ('orders.csv', 'product', 'products.csv'))
    """
    path, _, rest = text.rpartition(":")
    column, equals, other = rest.partition("=")
    if not (path and column) or (equals and not other):
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a file and its column, such as orders.csv:customer"
        )
    return path, column, other


def reliance(text: str) -> Any:
    return text if text == "held-out" else _reliance(text)


def size(text: str) -> str:
    from ..errors import InputError
    from ..solve._memory import parse_bytes

    try:
        parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f'{text!r} is no size; write for example "4GB"') from error
    return text
