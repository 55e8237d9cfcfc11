"""Several completions of a table, each in the types of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import Graph
from ..trust import ColumnFill, FillOptions
from ..trust._draws import Draws
from ._column import Column
from ._distribution import distribution

if TYPE_CHECKING:
    import narwhals as nw


class TableDraws:
    """Completions of a filled table, made one at a time.

    A cell that the fill left missing stays missing in all of them.
    """

    def __init__(
        self,
        table: nw.DataFrame[Any],
        columns: Mapping[str, Column],
        fills: Mapping[str, ColumnFill],
        graph: Graph,
        options: FillOptions,
        count: bool = False,
    ) -> None:
        self.table, self.columns, self.fills = table, columns, fills
        self.n_draws, self.leave = options.draws, options.unreached == "nan"
        self.count = count
        self.shares: dict[str, list[float]] = {}  # of the values of the last one, where counted
        self._draws = Draws(columns, fills, graph, options)

    def table_of(self, number: int) -> Any:
        """A completion, numbered from 0."""
        import narwhals as nw

        rebuilt = []
        self.shares = {}
        for name, levels in self._draws.draw(number).items():
            column = self.columns[name]
            drawn = column.hide(np.zeros(len(column.missing), dtype=bool))  # not filled yet
            drawn.decode_levels(levels)
            if self.leave:
                drawn.leave_missing(self.fills[name].unreached)
            if self.count:
                known = column.levels()[~column.missing]
                self.shares[name] = distribution(drawn, known, drawn.filled_levels())["filled"]
            rebuilt.append(drawn.rebuild())
        return nw.to_native(self.table.with_columns(*rebuilt))
