"""What messages call the user's two tables, and the places in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Naming:
    """What messages call the two tables and the places in them."""

    table: str = "the table"
    edges: str = "the edges"
    row: Callable[[int], str] = "row {}".format
    edge_row: Callable[[int], str] = "row {}".format
    cell_row: Callable[[int], str] | None = None  # where the table is not mentioned besides
