"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from . import _refuse_outputs

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file aside, and give it its name once it is complete and on disk.

    Whatever happens inside, an interrupt included, the name holds either what it held before or
    the whole new file; a link is written through, and an existing file's permissions are kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as file:
    ...         before = os.path.exists(file.name), Path(folder, "a.txt").exists()
    ...     before, os.listdir(folder)
    ((True, False), ['a.txt'])
    """
    final = Path(os.path.realpath(path))
    # Names may have 255 bytes, and this one is longer than the one it stands for.
    aside = final.with_name(f".{final.name[:50]}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if final.exists():
            shutil.copymode(final, aside)
        os.replace(aside, final)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise refusal(path, error) from error
        raise
    sync_folder(final.parent)


def refusal(path: str | os.PathLike[str], error: OSError) -> Exception:
    """Why a file could not be written."""
    if error.errno in FULL:
        return _refuse_outputs.disk_full(path)
    return _refuse_outputs.unwritable(path, error)


def sync_folder(folder: Path) -> None:
    """Make new names last through a power cut, where folders can be opened (not on Windows)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
