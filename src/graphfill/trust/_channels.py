"""Columns solved as channels: as many together as the memory allows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GraphfillWarning
from ..graph._graph import Graph
from ..solve._propagate import Result, propagate
from ..table._columns import Column
from ._reliance import HeldOut, hold_out

Array = NDArray[Any]
Tick = Callable[[float], None]

BLOCK_BYTES = 1 << 30  # of channels that are solved together, unless the limit is lower


@dataclass
class Solved:
    """The worst of all channels, as in `Result`; and what was held out, by column."""

    n_iter: int = 0
    residual: float = 0.0
    converged: bool | None = None
    held_out: dict[str, HeldOut] = field(default_factory=dict)

    def take(self, n_iter: int, residual: float, converged: bool | None) -> None:
        self.n_iter = max(self.n_iter, n_iter)
        self.residual = max(self.residual, residual)
        if converged is not None:
            self.converged = converged and self.converged is not False


@dataclass(frozen=True)
class Block:
    """Channels solved together: which of which columns, and where each lies."""

    parts: list[tuple[Column, slice, range]]
    width: int

    def encode(self, n_nodes: int) -> Array:
        """[nodes, width], NaN where missing; nodes beyond the table's rows have no cells."""
        X = np.full((n_nodes, self.width), np.nan)
        for column, at, channels in self.parts:
            column.encode(channels, X[: len(column.missing), at])
        return X


def fill_channels(
    columns: Sequence[Column],
    graph: Graph,
    *,
    method: str,
    reliance: float | str,
    left_missing: Mapping[str, Array],
    memory_limit: int | None,
    progress: Tick,
    seed: int,
    propagate: Callable[..., Result] = propagate,
    **options: Any,
) -> Solved:
    """Fill the columns, whose rows are the first of the graph.

    Channels are measured from their column's mean, so that what is filled in is
    mean + reliance x (what the graph says - mean), the reliance being given or fitted on cells
    held out (see `reliance`).

    Parameters
    ----------
    left_missing : by column, cells [rows] that are not to be filled
    propagate : what solves them, as :func:`graphfill.propagate`
    options : of `propagate`
    """
    solved = Solved()
    blocks = list(_blocks(columns, graph.n_nodes, memory_limit))
    if reliance == "held-out" and method != "mean":
        solved.held_out = hold_out(columns, seed)
    rounds = 2 if solved.held_out else 1
    tick: Tick = lambda share: progress(share / (rounds * len(blocks)))  # noqa: E731
    if solved.held_out:
        for block in blocks:
            X = block.encode(graph.n_nodes)
            truths = []
            for column, at, _ in block.parts:
                held = solved.held_out.get(column.name)
                rows = held.rows if held else np.empty(0, np.intp)
                truths.append(X[rows, at])
                X[rows, at] = np.nan
            filled = _solve(X, graph, method, tick, memory_limit, propagate, options, solved)
            for (column, at, _), truth in zip(block.parts, truths, strict=True):
                if column.name in solved.held_out:
                    held = solved.held_out[column.name]
                    held.take(truth, filled[held.rows, at])
    for block in blocks:
        X = block.encode(graph.n_nodes)
        filled = _solve(X, graph, method, tick, memory_limit, propagate, options, solved)
        for column, at, channels in block.parts:
            cells = filled[np.flatnonzero(column.missing), at]
            if column.name in solved.held_out:
                cells *= solved.held_out[column.name].reliance
            elif not isinstance(reliance, str):
                cells *= reliance
            if column.name in left_missing:
                cells[left_missing[column.name][column.missing]] = np.nan
            column.decode(channels, cells)
    return solved


def _blocks(columns: Sequence[Column], n_nodes: int, memory_limit: int | None) -> Iterator[Block]:
    """Cut all channels into blocks that fit."""
    channels = [(column, channel) for column in columns for channel in range(column.n_channels)]
    budget = BLOCK_BYTES if memory_limit is None else memory_limit // 4
    width = max(1, budget // (8 * n_nodes))
    if width >= 16:
        width -= width % 16  # whole tiles
    for start in range(0, len(channels), width):
        parts: list[tuple[Column, slice, range]] = []
        for at, (column, channel) in enumerate(channels[start : start + width]):
            if parts and parts[-1][0] is column:
                _, where, those = parts[-1]
                parts[-1] = column, slice(where.start, at + 1), range(those.start, channel + 1)
            else:
                parts.append((column, slice(at, at + 1), range(channel, channel + 1)))
        yield Block(parts, min(width, len(channels) - start))


def _solve(
    X: Array,
    graph: Graph,
    method: str,
    tick: Tick,
    memory_limit: int | None,
    propagate: Callable[..., Result],
    options: dict[str, Any],
    solved: Solved,
) -> Array:
    """The filled channels; 0 stands for the column's mean."""
    if method == "mean":
        tick(1.0)
        return np.nan_to_num(X, copy=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphfillWarning)  # the summary says it by column
        if method == "neighbors":
            from ..imputers import NeighborMeanImputer

            filled = NeighborMeanImputer(graph, unreached="zero").fit_transform(X)
            tick(1.0)
            return filled
        left = None if memory_limit is None else memory_limit - X.nbytes
        result = propagate(X, graph, memory_limit=left, progress=tick, **options)
    solved.take(result.n_iter, result.residual, result.converged)
    return result.X
