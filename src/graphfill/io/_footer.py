"""How many values a Parquet file says that its columns hold, read from its footer.

A list of any length is one row, so that rows do not bound values. pyarrow tells a column's values
as well, but ends the process where the record of the column is broken.

The footer is a Thrift structure in the compact protocol: a struct is a sequence of fields, each
with the distance of its number from the one before and its type; integers are zigzag varints.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa

STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
ROW_GROUPS, COLUMNS, META_DATA, NUM_VALUES = 4, 1, 3, 5  # numbers of fields in the format
DEEPEST = 12


class Footer:
    """The bytes of a footer, and how far they have been read.

    >>> Footer(bytes([0x15, 0x06, 0x28, 0x01, 0x61, 0])).fields()  # 3, and a text
    {1: 3, 3: None}
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def _integer(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def fields(self, depth: int = 0) -> dict[int, Any]:
        """A struct: what its fields hold, by number; texts are passed over."""
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != STOP:
            number = number + (head >> 4) if head >> 4 else self._integer()
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise IndexError
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in INTEGERS:
            return self._integer()
        if kind == STRUCT:
            return self.fields(depth + 1)
        if kind in (LIST, SET):
            head = self._byte()
            size, inner = head >> 4, head & 15
            size = self._varint() if size == 15 else size
            if size > len(self._data) - self._at:
                raise IndexError
            in_list = BYTE if inner in (TRUE, FALSE) else inner
            return [self._value(in_list, depth + 1) for _ in range(size)]
        if kind not in (BYTE, DOUBLE, BINARY):
            raise IndexError
        length = {BYTE: 1, DOUBLE: 8}.get(kind) or self._varint()
        self._at += length
        return None


def values_of_columns(path: Path) -> list[list[int]]:
    """By group of rows, how many values each column claims."""
    with open(path, "rb") as file:
        file.seek(-8, 2)
        (length,) = struct.unpack("<I", file.read(4))
        file.seek(-8 - length, 2)
        footer = Footer(file.read(length))
    try:
        groups = footer.fields()[ROW_GROUPS]
        return [
            [max(column[META_DATA][NUM_VALUES], 0) for column in group[COLUMNS]] for group in groups
        ]
    except (IndexError, KeyError, TypeError):
        raise pa.ArrowInvalid("its footer is broken") from None
