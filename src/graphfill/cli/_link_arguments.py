"""The options that link rows without a list of edges. Light to import."""

from __future__ import annotations

import argparse
from typing import Any

from ._types import count, name_list


def add_links(parser: argparse.ArgumentParser, keep: bool = True) -> list[argparse.Action]:
    """Add them; returns those that name files. `keep`: whether links may be written too."""
    add = parser.add_argument_group("links from the table's own columns").add_argument
    listed: dict[str, Any] = {"type": name_list, "metavar": "A,B"}
    add("--near", **listed, help="latitude and longitude, or plane coordinates: link the nearest")
    add("--same", **listed, default=[], help="link rows that share a cell: a household, a firm")
    add(
        "--time", metavar="NAME",
        help="link to the next in time, of each place that --near or --same names",
    )  # fmt: skip
    add("--like", **listed, default=[], help="link the rows most alike in these columns")
    add("--plane", action="store_true", default=None, help="--near names plane coordinates")
    add("--join", action="store_true", help="join groups of places that no link connects")
    add("--nearest", type=count, metavar="N", help="neighbours by --near and --like (chosen)")
    if not keep:
        return []
    return [add("--keep-links", metavar="FILE", help="write the links too: CSV or Parquet")]
