"""What is added to a table beside a filled column: its bounds, or its probabilities and sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..trust import ColumnFill
from ..trust._class_sets import ClassSets
from ..trust._intervals import Interval
from ._column import Column

if TYPE_CHECKING:
    import narwhals as nw

SEPARATOR = " | "  # between the classes of a set


def bound_columns(column: Column, fill: ColumnFill, left: NDArray[Any]) -> list[nw.Series[Any]]:
    """The columns to add.

    A known cell is its own bound, has probability 1, and is alone in its set. A filled one of a
    column that could not be assessed has none of these, nor has a cell that was `left` missing.
    """
    if isinstance(fill.bounds, Interval):
        assert fill.predictions is not None
        return _interval_columns(column, fill.bounds, fill.predictions, left[column.missing])
    if isinstance(fill.bounds, ClassSets):
        return _set_columns(column, fill.bounds, left)
    return _empty_columns(column)


def _interval_columns(
    column: Column, bounds: Interval, predictions: NDArray[Any], left: NDArray[Any]
) -> list[nw.Series[Any]]:
    # The whole numbers within an interval are those within its rounded bounds.
    margin = 0.499 / column.unit if column.whole else 0.0
    value = predictions[:, 0]
    low = np.minimum(bounds.low + margin, value)
    high = np.maximum(bounds.high - margin, value)
    added = []
    for levels, word in ((low, "low"), (high, "high")):
        # A bound that is not known stays missing.
        unknown = np.isinf(levels) | left
        added.append(column.rebuilt_with(np.where(unknown, np.nan, levels), word))
    return added


def _set_columns(column: Column, bounds: ClassSets, left: NDArray[Any]) -> list[nw.Series[Any]]:
    probability = np.ones(len(column.missing))
    probability[column.missing] = bounds.probability
    chances = [None if cell else chance for chance, cell in zip(probability, left, strict=True)]
    names = np.array(
        [str(value) for value in column.named(np.arange(column.n_classes, dtype=np.float64))],
        dtype=object,
    )
    words = np.empty(len(column.missing), dtype=object)
    words[~column.missing] = names[column.levels()[~column.missing].astype(np.intp)]
    words[column.missing] = _joined(bounds.sets, names)
    words[left] = None
    return _class_columns(column, chances, words.tolist())


def _joined(sets: NDArray[np.bool_], names: NDArray[Any]) -> NDArray[Any]:
    """The names in each set, in one word; each different set is put together once.

    Examples
    --------
    >>> names = np.array(["a", "b"], dtype=object)
    >>> _joined(np.array([[True, True], [False, True]]), names).tolist()
    ['a | b', 'b']
    """
    if not len(sets):
        return np.empty(0, dtype=object)
    packed = np.packbits(sets, axis=1)
    codes = packed.view(f"V{packed.shape[1]}")[:, 0]
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    different = [SEPARATOR.join(names[cells]) for cells in sets[first]]
    return np.array(different, dtype=object)[which]


def _empty_columns(column: Column) -> list[nw.Series[Any]]:
    """The same columns, null where a cell was filled."""
    if column.n_classes:
        names = [str(v) for v in column.named(np.arange(column.n_classes, dtype=np.float64))]
        levels = column.levels()
        words = [None if k != k else names[int(k)] for k in levels]
        return _class_columns(column, [None if k != k else 1.0 for k in levels], words)
    nothing = np.full(np.count_nonzero(column.missing), np.nan)
    return [column.rebuilt_with(nothing, "low"), column.rebuilt_with(nothing, "high")]


def _class_columns(column: Column, chances: list[Any], words: list[Any]) -> list[nw.Series[Any]]:
    import narwhals as nw

    backend = column.rebuild().implementation
    return [
        nw.new_series(f"{column.name}_{word}", column.in_rows(values), dtype, backend=backend)
        for word, values, dtype in (
            ("probability", chances, nw.Float64),
            ("set", words, nw.String),
        )
    ]
