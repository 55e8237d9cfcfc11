"""`result.plot`: pictures of a fill by matplotlib, an optional package."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, check_column_name
from ..report import _plots as draw
from ._pictures import DRAWN_LINKS, DRAWN_NODES, Filled, Pictures


class Plot:
    """Pictures of a fill, those of the report; each method returns the axes it drew on.

    They need matplotlib (``pip install "graphfill[plot]"``) and draw on new axes unless `ax` names
    some.
    """

    __module__ = "graphfill"

    def __init__(self, result: Filled) -> None:
        self._pictures = Pictures(result)

    def missing(self, *, ax: Any = None) -> Any:
        """Which cells were missing: a strip per column, from the first row to the last."""
        return draw.missing(self._something(self._pictures.missing()), draw.axes(ax))

    def together(self, *, ax: Any = None) -> Any:
        """Which columns were missing in the same rows, and in how many."""
        return draw.together(self._something(self._pictures.together(), 2), draw.axes(ax))

    def known_and_filled(self, column: Any, *, ax: Any = None) -> Any:
        """How known and filled cells of a column are spread, and those of draws."""
        self._check(column)
        if column not in self._pictures.result.filled:
            raise InputError(f"Column {column!r} has no filled cells: name one that has.")
        return draw.known_and_filled(self._pictures.known_and_filled(column), column, draw.axes(ax))

    def map(self, column: Any = None, *, ax: Any = None) -> Any:
        """The rows on a map, or a small graph, by the state of their cell in a column.

        By default of the column with the most missing cells. Columns of latitude and longitude are
        recognised by their names (lat, longitude, stop_lon) and ranges.
        """
        if column is not None:
            self._check(column)
        given = self._pictures.points(column)
        if not given:
            raise InputError(
                "There is nothing to draw a map of: no two columns are named and range as latitude "
                f"and longitude do, and the graph is not one of at most {DRAWN_NODES} nodes and "
                f"{DRAWN_LINKS:,} links."
            )
        return draw.points(given, next(iter(given["states"])), draw.axes(ax))

    def scatter(self, first: Any = None, second: Any = None, *, ax: Any = None) -> Any:
        """Two columns of numbers against each other, rows with filled cells marked.

        By default the two columns that are related the most.
        """
        for column in (first, second):
            if column is not None:
                self._check(column)
                if self._pictures.kinds[column] not in ("number", "integer"):
                    raise InputError(
                        f"Column {column!r} is no column of numbers "
                        f"({self._pictures.kinds[column]}): a scatter needs two."
                    )
        given = self._pictures.scatter(first, second)
        if not given:
            raise InputError("No two columns of numbers are related: name the two to draw.")
        return draw.scatter(given, draw.axes(ax))

    def _check(self, column: Any) -> None:
        check_column_name(column, list(self._pictures.kinds), "the table")

    @staticmethod
    def _something(given: dict[str, Any], columns: int = 1) -> dict[str, Any]:
        if not given or not given.get("patterns", True):
            count = "No column has" if columns == 1 else "Fewer than two columns have"
            raise InputError(f"{count} missing cells: there is nothing to draw.")
        return given
