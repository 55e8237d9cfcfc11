"""A column of ids, of any type, and numbers in place of them.

Ids are compared as what they are: 7 and "7" are two ids. Columns of a file without types (CSV)
are whatever the other side is: their text is at hand and used where the types would differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..graph import check_hashable

if TYPE_CHECKING:
    import narwhals as nw

Array = NDArray[Any]


class Ids:
    """A column of ids as an Arrow array, or as Python objects where Arrow has no one type for it.

    `text` is how the ids stood in a file without types, None elsewhere. Blanks around those are
    left out, and `trimmed` says whether there were any.
    """

    def __init__(self, values: Any, text: Any = None) -> None:
        import pyarrow.compute as pc

        self.values, self.kind = _as_arrow(values)
        self.text = text
        self.trimmed = False
        if text is not None:
            self.text = pc.utf8_trim_whitespace(text)
            if self.kind == "text":
                whole, self.values = self.values, pc.utf8_trim_whitespace(self.values)
                self.trimmed = not self.values.equals(whole)

    def __len__(self) -> int:
        return len(self.values)

    def as_text(self) -> Ids:
        """The same ids as text: as in the file, or written out."""
        import pyarrow as pa

        if self.text is not None:
            return Ids(self.text)
        if self.kind == "objects":
            return Ids(pa.array([str(value) for value in self.values]))
        try:
            return Ids(self.values.cast(pa.large_string()))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # durations, bytes
            words = [None if value is None else str(value) for value in self.values.to_pylist()]
            return Ids(pa.array(words, pa.large_string()))

    def missing(self) -> int | None:
        """The first row without an id."""
        if self.kind == "objects":
            rows = (i for i, value in enumerate(self.values) if value is None or value != value)
            return next(rows, None)
        if not self.values.null_count:
            return None
        return int(np.argmax(self.values.is_null().to_numpy(zero_copy_only=False)))

    def __getitem__(self, row: int) -> Any:
        value = self.values[row]
        return value.as_py() if hasattr(value, "as_py") else value

    def sample(self, size: int) -> Ids:
        rows = np.unique(np.linspace(0, len(self) - 1, min(size, len(self))).astype(np.int64))
        return self.take(rows)

    def take(self, rows: Array) -> Ids:
        text = None if self.text is None else self.text.take(rows)
        return Ids(self.values[rows] if self.kind == "objects" else self.values.take(rows), text)

    def numpy(self) -> Array:
        objects = self.kind == "objects"
        return np.asarray(self.values if objects else self.values.to_numpy(zero_copy_only=False))

    def objects(self) -> list[Any]:
        """The ids as Python objects, which compare across types."""
        return list(self.values.tolist())


def _as_arrow(values: Any) -> tuple[Any, str]:
    """An Arrow array and its kind of id: "whole numbers", "text", another type, or "objects"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if hasattr(values, "to_arrow"):
            values = values.to_arrow()
        array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        objects = values.to_numpy() if hasattr(values, "to_numpy") else values
        return np.fromiter(iter(objects), dtype=object, count=len(objects)), "objects"
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_floating(kind):
        array = pc.if_else(pc.is_nan(array), None, array)
        whole = pc.all(pc.equal(pc.floor(array), array)).as_py() is not False
        if whole and (pc.max(pc.abs(array)).as_py() or 0) <= 2**53:
            return array.cast(pa.int64()), "whole numbers"
        return array, "numbers"
    if pa.types.is_integer(kind):
        with_sign = kind != pa.uint64() or (pc.max(array).as_py() or 0) < 2**63
        return array.cast(pa.int64()) if with_sign else array, "whole numbers"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return array.cast(pa.large_string()), "text"
    if pa.types.is_null(kind):
        return array.cast(pa.large_string()), "text"
    return array, str(kind)


def alike(*columns: Ids) -> list[Ids]:
    """The columns as one kind if they are, or can be because some came without types."""
    kinds = {ids.kind for ids in columns if len(ids)}
    if len(kinds) > 1 and any(ids.text is not None for ids in columns):
        return [ids.as_text() for ids in columns]
    return list(columns)


def numbered(*columns: Ids) -> list[Array]:
    """Whole numbers in place of ids, equal where the ids are."""
    import pyarrow as pa

    kinds = {ids.kind for ids in columns if len(ids)}
    if kinds <= {"whole numbers"}:
        return [ids.numpy().astype(np.int64, copy=False) for ids in columns]
    if len(kinds) == 1 and "objects" not in kinds:
        values = pa.concat_arrays([ids.values for ids in columns if len(ids)])
        codes = values.dictionary_encode().indices.to_numpy()
        return np.split(codes, np.cumsum([len(ids) for ids in columns])[:-1])
    code: dict[Any, int] = {}
    for ids in columns:
        check_hashable(ids.numpy())
    return [
        np.fromiter((code.setdefault(v, len(code)) for v in ids.objects()), np.int64, len(ids))
        for ids in columns
    ]


def order_by_id(ids: Ids) -> Array | None:
    """The rows in the order of their ids, of any type; None where they are in it already.

    Tables are filled in this order, so that the order of the rows has no part in the result.

    Examples
    --------
    >>> order_by_id(Ids(["b", "a", "c"])).tolist()
    [1, 0, 2]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if ids.kind == "objects":
        words = [(type(value).__name__, str(value)) for value in ids.values]
        order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.intp)
    else:
        try:
            order = pc.sort_indices(ids.values).to_numpy().astype(np.intp)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # durations, say
            order = pc.sort_indices(ids.as_text().values).to_numpy().astype(np.intp)
    return None if np.array_equal(order, np.arange(len(order))) else order


def first_duplicate(nodes: Array) -> tuple[int, int] | None:
    """The first two rows with the same id, by where the second of them stands."""
    order = np.argsort(nodes, kind="stable")
    repeated = np.flatnonzero(nodes[order][1:] == nodes[order][:-1])
    if not repeated.size:
        return None
    at = repeated[np.argmin(order[repeated + 1])]
    return int(order[at]), int(order[at + 1])


def share_found(ends: Ids, ids: Ids) -> float:
    """The share of the ends that are among the ids."""
    import pyarrow.compute as pc

    ends, ids = alike(ends, ids)
    if not len(ends) or not len(ids):
        return 0.0
    if "objects" in (ids.kind, ends.kind):
        try:
            known = set(ids.objects())
            return sum(end in known for end in ends.objects()) / len(ends)
        except TypeError:  # lists and the like
            return 0.0
    if ids.kind != ends.kind:
        return 0.0
    # The ends are few, the ids may be many: those that are ends come first.
    named = ids.values.filter(pc.is_in(ids.values, value_set=ends.values, skip_nulls=True))
    return (pc.sum(pc.is_in(ends.values, value_set=named)).as_py() or 0) / len(ends)


def count_named(ids: Ids, *ends: Ids) -> int:
    """How many of the ids are among some ends."""
    import pyarrow.compute as pc

    ids, *others = alike(ids, *ends)
    if any("objects" in (ids.kind, some.kind) for some in others):
        try:
            known = set().union(*(some.objects() for some in others))
            return sum(one in known for one in ids.objects())
        except TypeError:
            return 0
    named = np.zeros(len(ids), dtype=bool)
    for some in others:
        if some.kind == ids.kind:
            found = pc.is_in(ids.values, value_set=some.values, skip_nulls=True)
            named |= found.to_numpy(zero_copy_only=False)
    return int(np.count_nonzero(named))


def distinct(ids: Ids) -> bool:
    """Whether every row has an id of its own."""
    import pyarrow.compute as pc

    if ids.kind == "objects":
        return len(set(ids.values)) == len(ids)
    return not ids.values.null_count and pc.count_distinct(ids.values).as_py() == len(ids)


def other_spelling(ids: Ids, ends: Ids) -> tuple[str, str, int] | None:
    """An id and the end of an edge that differ in case or blanks alone, and how many such ends.

    Ends that are spelled as some id are left aside.
    """
    import pyarrow.compute as pc

    if ids.kind != "text" or ends.kind != "text":
        return None
    others = pc.unique(ends.values.filter(pc.invert(pc.is_in(ends.values, ids.values)))).drop_null()
    place = pc.index_in(_folded(others), value_set=_folded(ids.values))
    found = place.drop_null()
    if not len(found):
        return None
    first = pc.index(pc.is_valid(place), True).as_py()
    return ids[found[0].as_py()], others[first].as_py(), len(found)


def _folded(texts: Any) -> Any:
    import pyarrow.compute as pc

    blanks = pc.replace_substring_regex(texts, r"[\s\x{a0}]+", " ")
    return pc.utf8_lower(pc.utf8_trim_whitespace(blanks))


def read_ids(frame: nw.DataFrame[Any], name: Any, texts: Mapping[str, Any], holder: str) -> Ids:
    """A column of ids, with its text where that is at hand."""
    column = frame.get_column(name)
    check_not_nested(column.dtype.is_nested(), name, holder)
    return Ids(column, texts.get(name))


def check_not_nested(nested: bool, name: Any, holder: str) -> None:
    """Refuse lists and structs as ids."""
    if nested:
        raise InputError(
            f"Column {name!r} of {holder} holds lists or structs, which cannot be ids: name "
            "another column."
        )
