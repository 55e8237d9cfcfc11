r"""Columns solved as channels: as many together as the memory allows.

A propagated value p (measured from the column's mean) is not shrunk: where neighbours agree
little, it is farther from the truth t than the mean is. The reliance c that minimises
sum (t - c p)^2 over held-out cells is

.. math:: c = \sum t p / \sum p^2

Its standard error is subtracted, so that noise is not relied upon, and it is kept within [0, 1]:
1 is what the graph says, 0 the column's mean (or most frequent value). Filled in is
mean + c (what the graph says - mean).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GraphfillWarning
from ..graph import Graph
from ..solve import FieldSystem, PropagationOptions, Result, neighbor_mean, propagate_with
from ._column import FillableColumn, Floats, Rows
from ._folds import number_of

Tick = Callable[[float], None]
Solve = Callable[..., Result]

BLOCK_BYTES = 1 << 30  # of channels that are solved together, unless the limit is lower
WIDE = 256  # channels beyond which a block need not be larger than a quarter of that
MOST_FITTED = 1000  # channels of a column that its reliance is fitted on, evenly drawn
SHARE_HELD_OUT = 0.2  # of the known cells
NONE_HELD: Mapping[str, float] = {}
FEWEST_HELD_OUT = 20  # with fewer there is nothing to fit: the graph is relied on fully


@dataclass(frozen=True)
class Recipe:
    """How columns are filled without a learner.

    Attributes
    ----------
    method : "mean", "neighbors" or "propagation"
    propagation : how to propagate; its memory limit holds for any method
    reliance : "held-out", or how far to go from the mean towards what the graph says
    seed : for what is held out
    solve : what propagates, as `propagate_with`
    """

    method: str
    propagation: PropagationOptions
    reliance: float | str = "held-out"
    seed: int = 0
    solve: Solve = propagate_with

    def fill(self, X: Floats, graph: Graph, tick: Tick, solved: Solved) -> Floats:
        """The filled channels; 0 stands for the column's mean."""
        if self.method == "mean":
            tick(1.0)
            return np.nan_to_num(X, copy=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphfillWarning)  # the summary says it by column
            if self.method == "neighbors":
                tick(1.0)
                return np.asarray(neighbor_mean(X, graph)[0], np.float64)
            options = within_limit(self.propagation, X)
            result = self.solve(X, graph, options, progress=tick)
        solved.add(result)
        return np.asarray(result.X)


def within_limit(options: PropagationOptions, X: NDArray[Any]) -> PropagationOptions:
    """The options with what a limit on memory leaves beside the channels."""
    if options.memory_limit is None:
        return options
    return replace(options, memory_limit=max(1, options.memory_limit - X.nbytes))


@dataclass
class HeldOut:
    """Known cells of one column that were hidden, and how well they were filled.

    Channels of a category come in turn: sums over them are kept per cell.
    """

    rows: Rows
    products: Floats = field(init=False)  # sum over channels of t p
    filled_squares: Floats = field(init=False)  # of p^2
    true_squares: Floats = field(init=False)  # of t^2

    def __post_init__(self) -> None:
        self.products, self.filled_squares, self.true_squares = (
            np.zeros(len(self.rows)) for _ in range(3)
        )

    def add(self, truth: NDArray[np.floating], filled: NDArray[np.floating]) -> None:
        """Some channels of the held-out cells: [cells, channels], truth and what was filled in."""
        self.products += (truth * filled).sum(axis=1)
        self.filled_squares += (filled**2).sum(axis=1)
        self.true_squares += (truth**2).sum(axis=1)

    @property
    def reliance(self) -> float:
        """Between 0, the column's mean, and 1, what the graph says."""
        total = float(self.filled_squares.sum())
        if total == 0.0:
            return 0.0
        slope = float(self.products.sum()) / total
        error = float(np.sqrt(np.sum((self.products - slope * self.filled_squares) ** 2))) / total
        return float(np.clip(slope - error, 0.0, 1.0))

    @property
    def explained(self) -> float:
        """Share of the held-out cells' variance that the fill explains, 0 for the mean."""
        total = float(self.true_squares.sum())
        if total == 0.0:
            return 0.0
        c = self.reliance
        return float((2 * c * self.products.sum() - c**2 * self.filled_squares.sum()) / total)


@dataclass
class Solved:
    """The worst of all channels, as in `Result`; and what was held out, by column."""

    n_iter: int = 0
    residual: float = 0.0
    converged: bool | None = None
    held_out: dict[str, HeldOut] = field(default_factory=dict)

    def add(self, result: Result | Solved | FieldSystem) -> None:
        self.n_iter = max(self.n_iter, result.n_iter)
        self.residual = max(self.residual, result.residual)
        if result.converged is not None:
            self.converged = result.converged and self.converged is not False

    def merge(self, other: Solved) -> None:
        """The worst of both."""
        self.add(other)
        self.held_out |= other.held_out


@dataclass(frozen=True)
class Block:
    """Channels solved together: which of which columns, and where each lies."""

    parts: list[tuple[int, slice, range]]  # number of the column, place in the block, channels
    width: int

    def encode(self, columns: Sequence[Any], n_nodes: int) -> Floats:
        """[nodes, width], NaN where missing; nodes beyond the table's rows have no cells."""
        X = np.full((n_nodes, self.width), np.nan)
        for number, at, channels in self.parts:
            column = columns[number]
            column.encode(channels, X[: len(column.missing), at])
        return X


def fill_channels(
    columns: Sequence[Any],
    graph: Graph,
    recipe: Recipe,
    *,
    progress: Tick = lambda share: None,
    reliances: Mapping[str, float] = NONE_HELD,
) -> Solved:
    """Fill columns, whose rows are the first nodes of the graph, all by one recipe.

    Parameters
    ----------
    columns : `FillableColumn` or `Recorded`, several of one name perhaps
    reliances : those held from a fit, by column, where the recipe has them fitted
    """
    solved = Solved()
    limit = recipe.propagation.memory_limit
    blocks = list(_blocks(columns, graph.n_nodes, limit))
    fitted = list(_blocks(columns, graph.n_nodes, limit, MOST_FITTED))
    held_out: list[HeldOut | None] = [None] * len(columns)
    if recipe.reliance == "held-out" and recipe.method != "mean":
        held_out = [
            None if column.name in reliances else _hold_out(column, recipe.seed)
            for column in columns
        ]
    fits = any(held is not None for held in held_out)
    n_blocks = len(blocks) + fits * len(fitted)
    tick: Tick = lambda share: progress(share / n_blocks)  # noqa: E731
    if fits:
        for block in fitted:
            X = block.encode(columns, graph.n_nodes)
            truths = []
            for number, at, _ in block.parts:
                held = held_out[number]
                rows = held.rows if held else np.empty(0, np.intp)
                truths.append(X[rows, at])
                X[rows, at] = np.nan
            filled = recipe.fill(X, graph, tick, solved)
            for (number, at, _), truth in zip(block.parts, truths, strict=True):
                held = held_out[number]
                if held is not None:
                    held.add(truth, filled[held.rows, at])
    for block in blocks:
        filled = recipe.fill(block.encode(columns, graph.n_nodes), graph, tick, solved)
        for number, at, channels in block.parts:
            cells = filled[np.flatnonzero(columns[number].missing), at]
            held = held_out[number]
            if held is not None:
                cells *= held.reliance
            elif not isinstance(recipe.reliance, str):
                cells *= recipe.reliance
            else:
                cells *= reliances.get(columns[number].name, 1.0)
            columns[number].decode(channels, cells)
    solved.held_out = {
        column.name: held for column, held in zip(columns, held_out, strict=True) if held
    }
    return solved


def _hold_out(column: FillableColumn, seed: int) -> HeldOut | None:
    """Draw the cells to hold out of a column, if it has enough of them."""
    known = np.flatnonzero(~column.missing)
    size = int(SHARE_HELD_OUT * len(known))
    if size < FEWEST_HELD_OUT:
        return None
    rng = np.random.default_rng([seed, 3, number_of(column.name)])
    return HeldOut(np.sort(rng.choice(known, size, replace=False)))


def _blocks(
    columns: Sequence[Any], n_nodes: int, memory_limit: int | None, most: int | None = None
) -> Iterator[Block]:
    """Cut all channels, or at most about so many of each column, into blocks that fit."""
    counts = [column.n_channels for column in columns]
    channels = [(k, channel) for k, n in enumerate(counts) for channel in
                range(0, n, max(1, n // (most or n or 1)))]  # fmt: skip
    enough = max(BLOCK_BYTES // 4, 8 * n_nodes * WIDE)
    budget = min(BLOCK_BYTES, enough) if memory_limit is None else memory_limit // 4
    width = max(1, budget // (8 * n_nodes))
    if width >= 16:
        width -= width % 16  # whole tiles
    for start in range(0, len(channels), width):
        parts: list[tuple[int, slice, range]] = []
        for at, (number, channel) in enumerate(channels[start : start + width]):
            if parts and parts[-1][0] == number and parts[-1][2].stop == channel:
                _, where, those = parts[-1]
                parts[-1] = number, slice(where.start, at + 1), range(those.start, channel + 1)
            else:
                parts.append((number, slice(at, at + 1), range(channel, channel + 1)))
        yield Block(parts, min(width, len(channels) - start))
