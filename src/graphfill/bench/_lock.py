"""A file that only one process at a time is at work on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time is within this; the lock of one that dies is free again."""
    final = Path(os.path.realpath(path))
    name = final.with_name(f".{final.name}.lock")
    while True:
        handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        _lock(handle)
        with suppress(FileNotFoundError):
            # Whoever held it removed it at the end: then this is a lock on nothing.
            if os.stat(name).st_ino == os.fstat(handle).st_ino:
                break
        os.close(handle)
    try:
        yield
    finally:
        with suppress(OSError):  # where an open file cannot be removed, it stays
            os.unlink(name)
        os.close(handle)


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)
