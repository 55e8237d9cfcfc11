r"""How cells differ from their mean, together: draws from the coupled field.

Missing cells of one row, and of neighbours, err together. A field fitted to the table on the scale
of ranks (``solve._field``) says how: each draw is one more solve of its equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import scipy.special

from ..graph import Graph
from ..solve import FieldGraph, FilledField, solve_field
from ._assessment import MOST_CLASSES
from ._column import FillableColumn, Floats, Rows
from ._draw_scales import ValueScale
from ._limits import field_fits
from ._options import FillOptions
from ._ranks import RankScale
from ._runs import FieldBlock, _blocks

TOLERANCE = 0.05  # of a draw, in standard deviations of a cell given all others
SPREAD_DRAWS = 8  # from which the variance of single cells is estimated
USUAL_DRAWS = 24  # that what is usual in a column counts as


class Deviates:
    """Draws of all columns that a field can hold, by the name of the column."""

    def __init__(
        self,
        columns: Mapping[str, FillableColumn],
        scales: Mapping[str, ValueScale | RankScale],
        graph: Graph,
        options: FillOptions,
    ) -> None:
        self.graph, self.seed = FieldGraph(graph, options.propagation.n_threads), options.seed
        self.blocks: list[tuple[FieldBlock, FilledField]] = []
        held = {
            name: columns[name]
            for name in sorted(columns, key=str)
            if columns[name].n_classes <= MOST_CLASSES and not columns[name].missing.all()
        }
        if not held or not field_fits(held, graph, options.propagation.memory_limit):
            return
        for names in _blocks(held):
            block = FieldBlock({name: held[name] for name in names}, method="field")
            X = block.encode(graph.n_nodes)
            for name in scales.keys() & set(names):
                X[: block.n_rows, block.places[name].start] = scales[name].scores(
                    held[name].levels()
                )
            filled = solve_field(X, self.graph, seed=self.seed)
            self.blocks.append((block, filled))

    def draw(self, key: Sequence[int]) -> dict[str, Floats]:
        """[rows, channels] by column, 0 at known cells.

        A column that does not vary, or is not in the field, has none.
        """
        drawn = {}
        for number, (block, filled) in enumerate(self.blocks):
            rng = np.random.default_rng([self.seed, 11, *key, number])
            deviation = np.zeros((self.graph.n_nodes, block.width))
            if filled.model.varying.any():
                deviation[:, filled.model.varying] = filled.system.deviation(
                    filled.system.noise(rng), None, TOLERANCE
                )
            for name, place in block.places.items():
                if filled.model.varying[place].all():
                    drawn[name] = deviation[: block.n_rows, place]
        return drawn

    def names(self) -> set[str]:
        """The columns that are drawn."""
        return {
            name
            for block, filled in self.blocks
            for name, place in block.places.items()
            if filled.model.varying[place].all()
        }

    @cached_property
    def _spread(self) -> dict[str, Floats]:
        """The variance of each cell's first channel.

        That given all other rows, times what neighbours that are missing too add: by a few draws
        of the cell, and by those of all cells of its column, which count as more draws.
        """
        squares: dict[str, Floats] = {}
        for number in range(SPREAD_DRAWS):
            for name, deviation in self.draw([1, number]).items():
                squares[name] = squares.get(name, 0.0) + deviation[:, 0] ** 2
        spread = {}
        for block, filled in self.blocks:
            given = np.ones((self.graph.n_nodes, block.width))
            if filled.model.varying.any():
                given[:, filled.model.varying] = filled.system.variances()
            for name in block.places.keys() & squares.keys():
                alone = given[: block.n_rows, block.places[name].start]
                lost = alone > 0
                ratio = squares[name][lost] / alone[lost]
                usual = ratio.sum() / (SPREAD_DRAWS * max(1, len(ratio)))
                spread[name] = np.ones(block.n_rows)
                spread[name][lost] = (
                    alone[lost] * (ratio + USUAL_DRAWS * usual) / (SPREAD_DRAWS + USUAL_DRAWS)
                )
        return spread

    def uniform(self, name: str, deviation: Floats, rows: Rows) -> Floats:
        """Deviations of some missing cells as numbers that are uniform on [0, 1] for each cell."""
        variance = np.maximum(self._spread[name][rows], 1e-300)
        return np.asarray(scipy.special.ndtr(deviation[rows, 0] / np.sqrt(variance)))
