"""Files of arrays that appear whole or not at all, with a checksum each.

The checksum is zlib's CRC-32: it finds every flipped bit and cut tail that an ailing disk
leaves, comes with Python, and keeps up with the disk (1.7 GB/s where SHA-256 made 0.8), which
matters for files that are written once per iteration. It is no guard against forgery.
"""

from __future__ import annotations

import mmap
import os
import uuid
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from ...io._atomic import refusal, sync_folder
from .. import _refuse_shards

Array = np.ndarray
ALIGNED = 64
EARLY = 1 << 18  # numbers that are worth forcing to disk by themselves


class Writer:
    """A file being written aside: its length and checksum so far."""

    def __init__(self, file: FileIO, durable: bool):
        self._file, self._durable, self.size, self.crc32 = file, durable, 0, 0
        self._forced: list[Future[None]] = []

    def write(self, data: Any) -> None:
        """Append the bytes of an array, or bytes."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self.size += len(view)
        self.crc32 = zlib.crc32(view, self.crc32)
        while len(view):  # a nearly full disk takes a part first, and refuses the rest
            view = view[self._file.write(view) or 0 :]
        if self._durable and len(data) >= EARLY:
            # On its way to the disk while the next part is computed.
            self._forced.append(_clerk().submit(os.fsync, self._file.fileno()))

    def wait(self) -> None:
        """Until what was sent to the disk early is there."""
        for part in self._forced:
            part.result()
        self._forced = []


@cache
def _clerk() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="graphfill-disk")


# A forked child has none of its parent's threads: a pool kept across the fork would hang.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_clerk.cache_clear)


@contextmanager
def writing(path: Path, durable: bool = True, *, named: bool = True) -> Iterator[Writer]:
    """Write a file aside, and give it its name once it is complete (and, if durable, on disk).

    That its name is on disk too is left to the caller, for many files at once, unless `named`.

    Two writers of one name do not meet: each has a name of its own aside, also when they run on
    machines that share the folder.
    """
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(aside, "wb", buffering=0) as raw:
            writer = Writer(raw, durable)
            try:
                yield writer
            finally:
                writer.wait()  # or it would find the file closed
            if durable:
                os.fsync(raw.fileno())
        os.replace(aside, path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise refusal(path, error) from error
        raise
    if durable and named:
        sync_folder(path.parent)


def write_arrays(path: Path, arrays: Mapping[str, Array], durable: bool = True) -> dict[str, Any]:
    """Write arrays one after another; returns what a manifest says of the file."""
    table = {}
    with writing(path, durable) as file:
        for name, array in arrays.items():
            file.write(bytes(-file.size % ALIGNED))
            table[name] = [array.dtype.str, list(array.shape), file.size]
            file.write(np.ascontiguousarray(array).reshape(-1))
    return {"file": path.name, "size": file.size, "crc32": file.crc32, "arrays": table}


def map_arrays(folder: Path, entry: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of a file, mapped into memory and read-only; its length is checked."""
    whole = map_file(folder / entry["file"], entry["size"])
    arrays = {}
    for name, (dtype, shape, offset) in entry["arrays"].items():
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        arrays[name] = whole[offset : offset + size].view(dtype).reshape(shape)
    return arrays


def map_file(path: Path, size: int) -> Array:
    """The bytes of a file of this length, mapped into memory; refused if gone or of another."""
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno()).st_size
            _refuse_shards.check_shard_file(path, found, size)
            if not size:
                return np.empty(0, dtype=np.uint8)
            # A plain map: numpy.memmap takes several times as long to open and to slice.
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileNotFoundError:
        _refuse_shards.check_shard_file(path, None, size)
        raise


def verify(path: Path, size: int, crc32: int, earlier: Path | None = None) -> None:
    """Refuse a file that is not, byte for byte, the one that was written."""
    found, whole = 0, map_file(path, size)
    for start in range(0, size, 1 << 24):
        found = zlib.crc32(whole[start : start + (1 << 24)].data, found)
    _refuse_shards.check_checksum(path, found, crc32, earlier)


def remove(path: Path) -> None:
    """Delete a file, if it is there."""
    with suppress(FileNotFoundError):
        path.unlink()
