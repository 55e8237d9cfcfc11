"""Arrow files and streams from strangers: what they claim is checked before it is believed.

pyarrow trusts the lengths and offsets of a file: it makes room for what a packed buffer claims to
hold, and would read outside its memory. So every message's claims are added up before any is
unpacked, and what was read is validated before anything else looks at it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ._path import open_or_refuse
from ._sheet import CELL_BYTES, Options, check_width

FILE, OLD_FEATHER = b"ARROW1", b"FEA1"


@dataclass(frozen=True)
class Claim:
    """What the header of a batch says that the batch holds."""

    rows: int
    unpacked: int  # bytes
    codec: str | None


def read_arrow(path: Path, options: Options) -> tuple[pa.Table, list[int], str | None, bool]:
    """The table, the rows of each batch, how these are packed, and whether it is a stream."""
    options.check_size(path, path.stat().st_size)
    with open_or_refuse(path) as file:
        data = file.read()
    if data.startswith(OLD_FEATHER):
        raise InputError(
            f"{path} is a Feather file of version 1, which was given up in 2020: write it again "
            "with a newer library, or export it as Parquet."
        )
    stream = not data.startswith(FILE)
    schema, n_batches = _footer(data, stream)
    check_width(path, len(schema))
    claims = list(_claims(data, stream))
    rows = sum(claim.rows for claim in claims)
    unpacked = sum(claim.unpacked for claim in claims)
    options.check_size(path, max(unpacked, rows * len(schema) * CELL_BYTES))
    batches = []
    # A file is a stream between two marks: its footer, which could tell otherwise, is not followed.
    reader = pa.ipc.open_stream(pa.BufferReader(pa.py_buffer(data)[0 if stream else 8 :]))
    for batch in reader:
        batch.validate(full=True)
        batches.append(batch)
        options.progress(sum(map(len, batches)), max(rows, 1))
    if not stream and (len(batches) != n_batches or not reader.schema.equals(schema)):
        raise pa.ArrowInvalid(f"the footer lists {n_batches} batches but there are {len(batches)}")
    table = pa.Table.from_batches(batches, reader.schema)
    codec = claims[0].codec if claims else None
    return table, [batch.num_rows for batch in batches], codec, stream


def _footer(data: bytes, stream: bool) -> tuple[pa.Schema, int]:
    """The schema, and how many batches the end of a file lists."""
    if stream:
        return pa.ipc.open_stream(data).schema, 0
    reader = pa.ipc.open_file(data)
    return reader.schema, reader.num_record_batches


def _claims(data: bytes, stream: bool) -> Iterator[Claim]:
    """The claims of each batch, of rows and of dictionaries alike."""
    whole = pa.BufferReader(pa.py_buffer(data)[0 if stream else 8 :])
    for message in pa.ipc.MessageReader.open_stream(whole):
        if message.type in ("record batch", "dictionary"):
            try:
                yield _claim(message)
            except struct.error:
                raise pa.ArrowInvalid("a message is cut off") from None


def _claim(message: Any) -> Claim:
    """What one message claims; its header is a flatbuffer.

    That is a tree of tables, each of which begins with the distance back to the list of its fields'
    places. Of a packed batch, every buffer begins with its length once unpacked.
    """
    header, body = memoryview(message.metadata), message.body

    def number(kind: str, at: int, source: Any = header) -> int:
        if at < 0:
            raise struct.error
        return int(struct.unpack_from(kind, source, at)[0])

    def place(table: int, field: int) -> int:
        fields = table - number("<i", table)
        entry = 4 + 2 * field
        offset = number("<H", fields + entry) if entry < number("<H", fields) else 0
        return table + offset if offset else 0

    def follow(at: int) -> int:
        return at + number("<I", at)

    def structs(field: int) -> range:
        """Where each of the 16 bytes of a field's structs begins."""
        at = place(batch, field)
        start = follow(at) if at else 0
        length = number("<I", start) if at else 0
        if length * 16 > len(header):
            raise struct.error
        return range(start + 4, start + 4 + 16 * length, 16)

    batch = follow(place(follow(0), 2))
    if message.type == "dictionary":
        batch = follow(place(batch, 1))
    at = place(batch, 0)
    lengths = [number("<q", node) for node in structs(1)]
    rows = number("<q", at) if at else 0
    if rows < 0 or min(lengths, default=0) < 0:
        raise pa.ArrowInvalid("a batch has a negative number of rows")
    buffers = [(number("<q", entry), number("<q", entry + 8)) for entry in structs(2)]
    packed = place(batch, 3)
    unpacked, codec = sum(length for _, length in buffers), None
    if packed:
        codec_at = place(follow(packed), 0)
        codec = "zstd" if codec_at and header[codec_at] == 1 else "lz4"
        sizes = [number("<q", start, body) for start, length in buffers if length]
        lengths_of = [length for _, length in buffers if length]
        # -1 says that a buffer is not packed, since that would not make it smaller.
        unpacked = sum(
            length if size == -1 else size for size, length in zip(sizes, lengths_of, strict=True)
        )
        if min(sizes, default=0) < -1:
            raise pa.ArrowInvalid("a buffer has a negative length")
    return Claim(rows if message.type == "record batch" else 0, unpacked, codec)


def spread(column: pa.ChunkedArray) -> int:
    """The bytes of a column whose cells share their values, once each cell has its own.

    >>> spread(pa.chunked_array([pa.array(["York", "Bath", "York"]).dictionary_encode()]))
    12
    """
    return sum(_spread(part) for chunk in column.chunks for part in leaves(chunk))


def leaves(cells: pa.Array) -> Iterator[pa.Array]:
    """What lists and structs are made of; any other array is its own leaf."""
    types = pa.types
    if types.is_struct(cells.type):
        parts = [cells.field(number) for number in range(cells.type.num_fields)]
    elif any(
        is_list(cells.type)
        for is_list in (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_map)
    ):
        parts = [cells.flatten()]
    else:
        yield cells
        return
    for part in parts:
        yield from leaves(part)


def _spread(cells: pa.Array) -> int:
    kind, types = cells.type, pa.types
    if types.is_dictionary(kind):
        lengths = _lengths(cells.dictionary)
        return 0 if lengths is None else pc.sum(pc.take(lengths, cells.indices)).as_py() or 0
    if types.is_run_end_encoded(kind):
        runs = np.diff(cells.run_ends.to_numpy().astype(np.int64), prepend=0)
        lengths = _lengths(cells.values)
        return 0 if lengths is None else int(runs @ pc.fill_null(lengths, 0).to_numpy())
    name = str(kind)  # older versions of pyarrow know no views
    if name.startswith(("list_view", "large_list_view")):
        return (pc.sum(pc.list_value_length(cells)).as_py() or 0) * CELL_BYTES
    if name not in ("string_view", "binary_view"):
        return 0
    views = np.frombuffer(cells.buffers()[1], np.int32)[::4]  # each begins with its length
    here = views[cells.offset : cells.offset + len(cells)].astype(np.int64)
    return int(here.sum(where=cells.is_valid().to_numpy(zero_copy_only=False)))


def _lengths(values: pa.Array) -> pa.Array | None:
    """The length of each text; None of what has a fixed one."""
    try:
        return pc.binary_length(values).cast(pa.int64())
    except pa.ArrowNotImplementedError:
        return None
