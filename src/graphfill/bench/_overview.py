"""Rows of the record as a Markdown table: mean ± standard error over runs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

HEADER = ("set", "method", "model", "mask", "missing", "runs", "accuracy %", "reconstruction error")
_VERSION = re.compile("@[0-9a-f]{8}$")


def overview(rows: Iterable[Mapping[str, Any]]) -> str:
    """One line per set, method, model, mask and rate, in the order of the rows.

    The version of a user's own file or function (after an @) is left out.

    Examples
    --------
    >>> row = {"set": "cora", "method": "fp", "model": "gcn", "mask": "uniform", "rate": 0.99,
    ...        "split": "paper", "setting": "{}", "test_accuracy": 78.0, "reconstruction": 0.9}
    >>> print(overview([row, row | {"test_accuracy": 79.0}]))
    | set  | method | model | mask    | missing | runs |   accuracy % | reconstruction error |
    |------|--------|-------|---------|--------:|-----:|-------------:|---------------------:|
    | cora | fp     | gcn   | uniform |    99 % |    2 | 78.50 ± 0.50 |        0.900 ± 0.000 |
    """
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = tuple(row[name] for name in ("set", "method", "model", "mask", "rate"))
        groups.setdefault(key, []).append(row)
    lines = [
        (
            _VERSION.sub("", name),
            _VERSION.sub("", method),
            model or "",
            mask,
            f"{100 * rate:g} %",
            str(len(members)),
            _mean(members, "test_accuracy", 2),
            _mean(members, "reconstruction", 3),
        )
        for (name, method, model, mask, rate), members in groups.items()
    ]
    return _markdown(HEADER, lines)


def _mean(rows: Sequence[Mapping[str, Any]], column: str, digits: int) -> str:
    values = [float(row[column]) for row in rows if row[column] is not None]
    if not values:
        return ""
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return f"{mean:.{digits}f}"
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def _markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns of one width; from the fifth on they are figures, to the right."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    left = 4

    def drawn(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width + 2) if place < left else "-" * (width + 1) + ":"
        for place, width in enumerate(widths)
    ]
    return "\n".join([drawn(header), f"|{'|'.join(rule)}|", *map(drawn, lines)])
