"""Files of arrays that appear whole or not at all, with a checksum each.

The checksum is zlib's CRC-32: it finds every flipped bit and cut tail that a failing disk
leaves, comes with Python, and keeps up with the disk (1.7 GB/s where SHA-256 made 0.8), which
matters for files that are written once per iteration. It does not protect against forgery.
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

from ...errors import InputError
from ...io import refusal, sync_folder

Array = np.ndarray
ALIGNED = 64
EARLY = 1 << 18  # numbers that are worth forcing to disk by themselves
RESTORE = "restore it, or cut the graph again into an empty folder"


class Writer:
    """A file that is being written: its length and checksum so far."""

    def __init__(self, file: FileIO, durable: bool):
        self._file, self._durable, self.size, self.crc32 = file, durable, 0, 0
        self.forced: list[Future[None]] = []

    def write(self, data: Any) -> None:
        """Append the bytes of an array, or bytes."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self.size += len(view)
        self.crc32 = zlib.crc32(view, self.crc32)
        while len(view):  # a nearly full disk takes a part first, and refuses the rest
            view = view[self._file.write(view) or 0 :]
        if self._durable and len(data) >= EARLY:
            # On its way to the disk while the next part is computed.
            self.forced.append(_disk_thread().submit(os.fsync, self._file.fileno()))


@cache
def _disk_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="graphfill-disk")


# A forked child has none of its parent's threads: a pool kept across the fork would hang.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disk_thread.cache_clear)


@contextmanager
def writing(path: Path, durable: bool = True, *, sync_name: bool = True) -> Iterator[Writer]:
    """Write a file under another name, and rename it once it is complete (if durable, on disk).

    Two writers of one file do not meet: the other name is unique, also among machines that share
    the folder. Without `sync_name` the caller syncs the folder, for many files at once.
    """
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(partial, "wb", buffering=0) as raw:
            writer = Writer(raw, durable)
            try:
                yield writer
            finally:
                for early in writer.forced:  # or they would find the file closed
                    early.result()
            if durable:
                os.fsync(raw.fileno())
        os.replace(partial, path)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError):
            raise refusal(path, error) from error
        raise
    if durable and sync_name:
        sync_folder(path.parent)


def write_arrays(path: Path, arrays: Mapping[str, Array], durable: bool) -> dict[str, Any]:
    """Write arrays one after another; returns the file's entry in the manifest."""
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
    try:
        for name, (dtype, shape, offset) in entry["arrays"].items():
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            arrays[name] = whole[offset : offset + size].view(dtype).reshape(shape)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{folder / entry['file']} does not hold what the manifest lists ({error}): {RESTORE}."
        ) from None
    return arrays


def map_file(path: Path, size: int) -> Array:
    """The bytes of a file, mapped into memory; refused if it is missing or of another length."""
    try:
        with open(path, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            if length != size:
                raise InputError(
                    f"{path} has {length} bytes but was written with {size}: {RESTORE}."
                )
            if not size:
                return np.empty(0, dtype=np.uint8)
            # A plain map: numpy.memmap takes several times as long to open and to slice.
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileNotFoundError:
        raise InputError(f"{path} is missing, though the manifest lists it: {RESTORE}.") from None


def verify(path: Path, size: int, crc32: int, remedy: str = RESTORE) -> None:
    """Refuse a file that is not, byte for byte, the one that was written."""
    actual, whole = 0, map_file(path, size)
    for start in range(0, size, 1 << 24):
        actual = zlib.crc32(whole[start : start + (1 << 24)].data, actual)
    if actual != crc32:
        raise InputError(
            f"{path} has the checksum {actual:08x} but was written with {crc32:08x}: {remedy}."
        )
