"""Node ids of any type: read as arrays, told apart, and numbered."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _refuse_graphs

Array = NDArray[Any]


def as_array(values: Any) -> Array:
    """Any array, series, tensor or sequence as a NumPy array that shares its memory if it can."""
    if hasattr(values, "detach"):  # a tensor, perhaps on a GPU or with a gradient
        _refuse_graphs.check_strided(values)
        values = values.detach().cpu()
        return (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    # NumPy would turn [1, "a"] into ["1", "a"], and drop the end of "a\0": keep the objects.
    _refuse_graphs.check_sequence(values)
    return np.fromiter(values, dtype=object)


def as_ids(values: Any, role: str) -> Array:
    """A column of ids as int32, int64, float, text, dates or, failing these, Python objects.

    Whole floats become integers: a column of integers that once held a NaN is one of floats.
    """
    ids = as_array(values)
    _refuse_graphs.check_column(ids, role)
    if ids.size == 0:
        return np.empty(0, dtype=np.int64)
    if ids.dtype.kind not in "biufUSmM":
        ids = _as_objects(ids)
        types = set(map(type, ids))
        if all(issubclass(t, (int, np.integer)) and t is not bool for t in types):
            with suppress(OverflowError):
                return ids.astype(np.int64)
        if all(issubclass(t, (float, np.floating)) for t in types):
            ids = ids.astype(np.float64)
        elif types <= {str, bytes, int, tuple}:  # never missing
            return ids
    if ids.dtype.kind in "fmMO":
        _refuse_graphs.check_missing_ids(_is_missing(ids), role)
    if ids.dtype.kind == "f":
        ids = ids.astype(np.float64, copy=False)
        if np.all((np.trunc(ids) == ids) & (np.abs(ids) <= 2**53)):
            return ids.astype(np.int64)
    if ids.dtype.kind in "iu" and ids.dtype not in (np.int32, np.int64):
        fits = int(ids.max()) <= np.iinfo(np.int64).max
        return ids.astype(np.int64) if fits else _as_objects(ids)
    return ids


def _as_objects(ids: Array) -> Array:
    if ids.dtype == object:
        return ids
    # tolist turns a datetime64[ns] into an integer.
    return np.fromiter(ids if ids.dtype.kind in "mM" else ids.tolist(), object, count=ids.size)


def _is_missing(ids: Array) -> Array:
    if ids.dtype.kind == "f":
        return np.isnan(ids)
    if ids.dtype.kind in "mM":
        return np.isnat(ids)

    def missing(value: Any) -> bool:
        try:
            return value is None or bool(value != value)
        except (TypeError, ValueError):  # pandas.NA is neither equal to itself nor not
            return type(value).__name__ == "NAType"

    return np.fromiter(map(missing, ids), dtype=bool, count=ids.size)


def factorize(*columns: Array) -> tuple[Array, list[Array]]:
    """Distinct ids, sorted if they can be, and each column as positions among them."""
    filled = [column for column in columns if column.size]
    kinds = {column.dtype.kind for column in filled}
    if not filled:
        return np.empty(0, dtype=np.int64), list(columns)
    if kinds == {"i"}:
        low = min(int(column.min()) for column in filled)
        span = max(int(column.max()) for column in filled) - low + 1
        # A table over the whole span beats sorting unless it is mostly holes.
        if span <= 4 * sum(column.size for column in filled):
            return _factorize_by_table(columns, low, span)
    if len(kinds) == 1 and kinds != {"O"}:
        distinct, codes = np.unique(np.concatenate(filled), return_inverse=True)
        ends = np.cumsum([column.size for column in columns])
        return distinct, np.split(codes, ends[:-1])
    return _factorize_objects([_as_objects(column) for column in columns])


def _factorize_by_table(columns: Iterable[Array], low: int, span: int) -> tuple[Array, list[Array]]:
    codes = [np.subtract(column, low, dtype=np.int64) if low else column for column in columns]
    present = np.zeros(span, dtype=bool)
    for column in codes:
        present[column] = True
    distinct = np.flatnonzero(present) + low
    if distinct.size < span:
        code = np.cumsum(present) - 1
        codes = [code[column] for column in codes]
    return distinct, codes


def _factorize_objects(columns: list[Array]) -> tuple[Array, list[Array]]:
    distinct: Iterable[Any]
    try:
        distinct = dict.fromkeys(chain.from_iterable(columns))
    except TypeError:
        _refuse_graphs.check_hashable(chain.from_iterable(columns))
        raise
    with suppress(TypeError):  # ids of several types have no order but that of appearance
        distinct = sorted(distinct)
    code = {node: number for number, node in enumerate(distinct)}
    codes = [
        np.fromiter(map(code.__getitem__, column), np.int64, count=column.size)
        for column in columns
    ]
    return np.fromiter(code, dtype=object, count=len(code)), codes


def unless_numbers(ids: Array) -> Array | None:
    """None for the ids 0, 1, 2, ..., which say no more than the row number does."""
    return None if ids.dtype.kind == "i" and np.array_equal(ids, np.arange(ids.size)) else ids


def row_ids(ids: Any, n_nodes: int) -> Array | None:
    """The ids of n_nodes rows, all different."""
    if ids is None:
        return None
    nodes = as_ids(ids, "node")
    _refuse_graphs.check_id_count(nodes, n_nodes)
    distinct, (own,) = factorize(nodes)
    _refuse_graphs.check_distinct_ids(nodes, own)
    return unless_numbers(distinct[own])
