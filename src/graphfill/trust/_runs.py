"""One run over a whole table: some cells of all columns hidden, every method's word on them.

Hiding cells of all columns at once, a handful of runs score every method on every column. What a
run says about a hidden cell is made without its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..solve import FIELD_TOLERANCE, FieldGraph, FieldModel, solve_field
from ._channels import Recipe, Solved, fill_channels
from ._column import FillableColumn, Floats, Mask, Recorded, Rows, renumbered
from ._kept import Kept
from ._ranks import RankScale

MOST_FIELD_CLASSES = 20  # of a column, the most frequent: each is a channel of the field
MOST_FIELD_CHANNELS = 200  # solved together; a wider table is cut into blocks of columns
# The last completes the table for trees.
FIELDS = ("field", "field-log", "field-rank")


@dataclass
class Run:
    """What each method predicts, with some cells hidden.

    Attributes
    ----------
    columns : the columns with those cells hidden
    predictions : by method and column, [missing, width], of the hidden and the missing cells
    completed : [rows, channels]
        The table as a field on the scale of ranks fills it; and where each column's channels are.
    fields : by method, the blocks of columns and what was learnt of each
    """

    columns: dict[str, FillableColumn]
    predictions: dict[str, dict[str, Floats]] = field(default_factory=dict)
    completed: Floats | None = None
    solved: Solved = field(default_factory=Solved)
    places: dict[str, slice] = field(default_factory=dict)
    fields: dict[str, list[tuple[FieldBlock, FieldModel]]] = field(default_factory=dict)

    def at(self, method: str, name: str, rows: Rows, n_classes: int) -> Floats:
        """The predictions of some rows, classes numbered as before they were hidden."""
        column = self.columns[name]
        place = np.searchsorted(np.flatnonzero(column.missing), rows)
        return renumbered(column, self.predictions[method][name][place], n_classes)

    @property
    def width(self) -> int:
        """Channels of the completed table."""
        assert self.completed is not None
        return int(self.completed.shape[1])

    def other_channels(self, name: str, rows: Rows) -> Floats:
        """What the run knows or guesses of the other columns of some rows."""
        assert self.completed is not None
        own, cells = self.places.get(name, slice(0, 0)), self.completed.take(rows, axis=0)
        return np.concatenate([cells[:, : own.start], cells[:, own.stop :]], axis=1)


def run_methods(
    columns: Mapping[str, FillableColumn],
    hidden: Mapping[str, Mask],
    graph: FieldGraph,
    recipes: Mapping[str, Recipe],
    fields: Sequence[str],
    *,
    seed: int = 0,
    rounds: int = 4,
    tolerance: float = FIELD_TOLERANCE,
    tick: Callable[[float], None] = lambda share: None,
    kept: Kept | None = None,
) -> Run:
    """Hide cells and let every recipe and field predict them, as well as what is missing anyway.

    `tolerance` is that of the fields. `kept` holds the fields, or takes those that are fitted.
    """
    run = Run({name: column.hide(hidden[name]) for name, column in columns.items()})
    part = 1.0 / (len(recipes) + 4 * len(fields))  # a field takes about four times as long
    for method, recipe in recipes.items():
        recorded = [Recorded(column) for column in run.columns.values()]
        fill_channels(recorded, graph.links, recipe, progress=lambda done: tick(part * done))
        run.predictions[method] = {column.name: column.predictions for column in recorded}
    for method in fields:
        tick_field = lambda done: tick(4 * part * done)  # noqa: E731
        _run_field(run, method, columns, graph, seed, rounds, tolerance, tick_field, kept)
    return run


def _run_field(
    run: Run,
    method: str,
    columns: Mapping[str, FillableColumn],
    graph: FieldGraph,
    seed: int,
    rounds: int,
    tolerance: float,
    tick: Callable[[float], None],
    kept: Kept | None,
) -> None:
    """Let a field predict what is hidden or missing, and complete the table for trees."""
    blocks = _blocks(run.columns)
    run.predictions[method] = {}
    completed = []
    by_channel = method != "field-rank"  # fields that err in different ways blend well
    part: Callable[[float], None] = lambda done: tick(done / len(blocks))  # noqa: E731
    for number, names in enumerate(blocks):
        some = {name: run.columns[name] for name in names}
        block = FieldBlock(some, method, kept)
        X = block.encode(graph.n_nodes)
        if kept is None:
            filled = solve_field(
                X, graph, tolerance=tolerance, seed=seed, rounds=rounds, by_channel=by_channel,
                tick=part,
            )  # fmt: skip
        else:
            key = f"{method} {number}"
            filled = kept.fill_field(key, X, graph, seed, rounds, by_channel, tolerance, part)
        run.solved.add(filled.system)
        run.fields.setdefault(method, []).append((block, filled.model))
        run.predictions[method] |= block.decode(filled.X)
        completed += [block.completed(name, filled.X, columns[name]) for name in names]
    ends = np.cumsum([channels.shape[1] for channels in completed]).tolist()
    run.places = {
        name: slice(end - channels.shape[1], end)
        for name, end, channels in zip(run.columns, ends, completed, strict=True)
    }
    run.completed = np.column_stack(completed)


def _blocks(columns: Mapping[str, FillableColumn]) -> list[list[str]]:
    """Names of columns, in blocks whose channels can be solved together."""
    blocks: list[list[str]] = [[]]
    width = 0
    for name, column in columns.items():
        size = len(field_channels(column))
        if blocks[-1] and width + size > MOST_FIELD_CHANNELS:
            blocks.append([])
            width = 0
        blocks[-1].append(name)
        width += size
    return blocks


def field_channels(column: FillableColumn) -> range:
    """The channels of a column that a field sees; of classes all but the first, which follows."""
    if column.n_channels == 1:
        return range(1)
    return range(1, min(column.n_channels, MOST_FIELD_CLASSES + 1))


class FieldBlock:
    """Columns side by side as channels of one field: numbers by value, logarithm or rank."""

    def __init__(
        self, columns: Mapping[str, FillableColumn], method: str, kept: Kept | None = None
    ) -> None:
        self.columns, self.method, self._kept = columns, method, kept or Kept()
        self.n_rows = len(next(iter(columns.values())).missing)
        self.places: dict[str, slice] = {}
        self._scales: dict[str, RankScale] = {}
        self.width = 0
        for name, column in columns.items():
            size = len(field_channels(column))
            self.places[name] = slice(self.width, self.width + size)
            self.width += size

    def encode(self, n_nodes: int) -> Floats:
        """[nodes, width], NaN where missing."""
        X = np.full((n_nodes, self.width), np.nan)
        for name, column in self.columns.items():
            cells = X[: self.n_rows, self.places[name]]
            column.encode(field_channels(column), cells)
            if self.method != "field" and not column.n_classes:
                scale = partial(self._scale, column, cells[~column.missing, 0])
                self._scales[name] = self._kept.scale(self.method, name, scale)
                cells[:, 0] = self._scales[name].scores(cells[:, 0])
        return X

    def _scale(self, column: FillableColumn, known: Floats) -> RankScale:
        if self.method == "field-rank":
            return RankScale(known)
        return RankScale.by_logarithm(known, column.levels()[~column.missing])

    def completed(self, name: str, filled: Floats, whole: FillableColumn) -> Floats:
        """[rows, channels] of a column, classes in the order they have with nothing hidden."""
        column = self.columns[name]
        cells = filled[: self.n_rows, self.places[name]]
        if column.parent_classes is None or whole.n_channels == 1:
            return cells
        out = np.zeros((self.n_rows, whole.n_channels))
        out[:, column.parent_classes[list(field_channels(column))]] = cells
        return out[:, list(field_channels(whole))]

    def decode(self, filled: Floats) -> dict[str, Floats]:
        """By column, the levels or probabilities of its missing cells."""
        predictions = {}
        for name, column in self.columns.items():
            cells = filled[np.flatnonzero(column.missing), self.places[name]]
            if name in self._scales:
                cells = self._scales[name].values(cells)
            if column.n_channels > 1:
                others = cells
                cells = np.zeros((len(others), column.n_channels))
                cells[:, 1 : 1 + others.shape[1]] = others
                cells[:, 0] = -others.sum(axis=1)
            predicted = column.predicted(range(column.n_channels), cells)
            predictions[name] = _as_probabilities(predicted) if column.n_classes else predicted
        return predictions


def _as_probabilities(predicted: Floats) -> Floats:
    """Within 0 and 1, summing to 1."""
    clipped = np.clip(predicted, 1e-6, 1.0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))
