"""Rows linked to those whose columns are most like theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, option
from ._cells import arrow_column, keys, moments
from ._near import nearest_places, placed_relation
from ._places import Places
from ._relation import Relation

Floats = NDArray[np.float64]

MOST_CLASSES = 100  # of a column: more are names, by which no row is like another


def features(frame: Any, names: Sequence[Any], holder: str) -> Floats:
    """Columns as numbers of one scale, [rows, features]; NaN in rows that lack all of them.

    Numbers, dates and times have mean 0 and variance 1; of a category each value is a column of
    its own, as far apart from the others as two numbers that differ by two standard deviations.
    A missing cell stands at the mean.
    """
    import pyarrow as pa

    parts = []
    for name in names:
        array = arrow_column(frame, name, "like", holder)
        kind = array.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            parts.append(_standardised(array, name, holder))
            continue
        if pa.types.is_temporal(kind):
            parts.append(_scaled(moments(frame, name, holder), name, holder))
            continue
        codes, values = keys(frame, name, holder, "like")
        if not 2 <= len(values) <= MOST_CLASSES:
            raise InputError(
                f"Column {name!r} of {holder} has {len(values):,} different values, and no rows "
                f"are alike by fewer than 2 or more than {MOST_CLASSES} names: link rows that "
                f"share a name with {option('same')}, or leave it out of {option('like')}."
            )
        marks = np.equal(codes[:, None], np.arange(len(values))).astype(np.float64)
        marks[codes < 0] = np.nan
        parts.append(marks * np.sqrt(2.0))
    X = np.column_stack(parts)
    lacks_all = np.isnan(X).all(axis=1)
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    X[lacks_all] = np.nan
    return X


def _standardised(array: Any, name: Any, holder: str) -> Floats:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _scaled(np.array(cells, dtype=np.float64), name, holder)


def _scaled(cells: Floats, name: Any, holder: str) -> Floats:
    known = cells[np.isfinite(cells)]
    spread = float(known.std()) if known.size else 0.0
    if spread == 0.0:
        raise InputError(
            f"Column {name!r} of {holder} has no two different numbers, so that all rows are alike "
            f"by it: leave it out of {option('like')}."
        )
    return np.asarray(np.where(np.isfinite(cells), (cells - known.mean()) / spread, np.nan))


def like_relation(X: Floats, names: Sequence[Any], k: int, scale: float) -> Relation:
    """Rows linked to the k rows nearest to them by the features."""
    known = ~np.isnan(X).any(axis=1)
    at, codes = np.unique(X[known] + 0.0, axis=0, return_inverse=True)
    places = np.full(len(X), -1, dtype=np.int64)
    places[known] = codes.ravel()
    points = Places(at, places, plane=True)
    pairs = nearest_places(points, k, scale)
    listed = ", ".join(repr(name) for name in names)
    return placed_relation(points, pairs, f"by likeness in {listed}", "alike")
