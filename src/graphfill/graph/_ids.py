"""Node ids of any type: read as arrays, compared, and numbered."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, named, shown

Array = NDArray[Any]

MOST_NODES = 2**31 - 1  # neighbours are stored as int32


def check_node_count(n_nodes: Any) -> int:
    """Return the number of nodes; refuse one that is no number of nodes."""
    try:
        count = operator.index(n_nodes)
    except TypeError:
        raise InputError(f"n_nodes is {n_nodes!r} but must be a whole number.") from None
    if not 0 <= count <= MOST_NODES:
        raise InputError(f"n_nodes is {count} but must lie between 0 and {MOST_NODES}.")
    return count


def check_sequence(values: Any) -> None:
    """Refuse what holds no ids or edges."""
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise InputError(f"{shown(values)} is not a list of edges, ids or weights.")


def check_hashable(ids: Iterable[Any]) -> None:
    """Refuse ids that Python cannot look up."""
    for node in ids:
        try:
            hash(node)
        except TypeError:
            raise InputError(
                f"{named(node)} cannot be a node id, because it can change: use numbers, text, "
                "dates or tuples of these."
            ) from None


def check_distinct_ids(ids: Array, codes: NDArray[np.integer[Any]]) -> None:
    """Refuse ids of which two are the same, that is, have the same code."""
    if ids.size and np.bincount(codes).max() > 1:
        _, firsts = np.unique(codes, return_index=True)
        second = int(np.setdiff1d(np.arange(codes.size), firsts)[0])
        first = int(np.argmax(codes == codes[second]))
        raise InputError(
            f"The node id {named(ids[first])} occurs twice, at positions {first} and {second}: "
            "ids must be unique."
        )


def is_table(value: Any) -> bool:
    # Asking the class: asking a lazy frame would resolve its schema.
    return hasattr(type(value), "columns")


def as_array(values: Any) -> Array:
    """Any array, series, tensor or sequence as a NumPy array that shares its memory if it can."""
    if hasattr(values, "detach"):  # a tensor, perhaps on a GPU or with a gradient
        if str(values.layout) != "torch.strided":
            raise InputError(
                f"A tensor of layout {values.layout} is not a list of edges, ids or weights: pass "
                "its indices, or data.adj_t through Graph.from_pyg."
            )
        values = values.detach().cpu()
        return np.asarray(values.float() if str(values.dtype) == "torch.bfloat16" else values)
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    # NumPy would turn [1, "a"] into ["1", "a"], and drop the end of "a\0": keep the objects.
    check_sequence(values)
    return np.fromiter(values, dtype=object)


def as_ids(values: Any, role: str) -> Array:
    """A column of ids as int32, int64, float, text, dates or, failing these, Python objects.

    Whole floats become integers: a column of integers that once held a NaN is one of floats.
    """
    ids = as_array(values)
    if ids.ndim != 1:
        raise InputError(f"The {role} ids have shape {ids.shape} but must be one column.")
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
        missing = _is_missing(ids)
        if missing.any():
            number = int(np.argmax(missing))
            if role == "node":
                raise InputError(f"Node {number} has no id (None or NaN): every node needs one.")
            raise InputError(
                f"Edge {number} has no {role} (None or NaN): name the node or leave out the edge."
            )
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
            codes = [np.subtract(c, low, dtype=np.int64) if low else c for c in columns]
            present = np.zeros(span, dtype=bool)
            for column in codes:
                present[column] = True
            distinct = np.flatnonzero(present) + low
            if distinct.size < span:
                code = np.cumsum(present) - 1
                codes = [code[column] for column in codes]
            return distinct, codes
    if len(kinds) == 1 and kinds != {"O"}:
        distinct, inverse = np.unique(np.concatenate(filled), return_inverse=True)
        ends = np.cumsum([column.size for column in columns])
        return distinct, np.split(inverse, ends[:-1])
    return _factorize_objects([_as_objects(column) for column in columns])


def _factorize_objects(columns: list[Array]) -> tuple[Array, list[Array]]:
    distinct: Iterable[Any]
    try:
        distinct = dict.fromkeys(chain.from_iterable(columns))
    except TypeError:
        check_hashable(chain.from_iterable(columns))
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
    if nodes.size != n_nodes:
        raise InputError(f"There are {nodes.size} id(s) but {n_nodes} node(s): pass one per node.")
    distinct, (codes,) = factorize(nodes)
    check_distinct_ids(nodes, codes)
    return unless_numbers(distinct[codes])
