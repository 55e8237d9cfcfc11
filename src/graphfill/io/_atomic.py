"""Output files: refused before any work is done, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InputError, switch

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


def sync_folder(folder: Path) -> None:
    """Make new names last through a power cut, where folders can be opened (not on Windows)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refusal(path: Any, error: OSError) -> InputError:
    """Why a file could not be written: no room, or another reason."""
    if error.errno not in FULL:
        return unwritable(path, error)
    return InputError(
        f"There is no room left to write {path} (disk full, or a limit on the size of files): "
        "nothing was written; free some space, or name a file elsewhere."
    )


def unwritable(path: Any, error: OSError) -> InputError:
    """A file that cannot be written, whatever the reason."""
    return InputError(f"{path} cannot be written ({error.strerror}): name a file elsewhere.")


def check_written_here(path: Any, inputs: Iterable[Any], overwrite: bool) -> None:
    """Refuse an output that would replace an input, or any file without permission."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        folder = os.path.dirname(path)
        raise InputError(f"{folder} is not a folder: {path} cannot be written to it.") from None
    except OSError as error:  # a name too long
        raise unwritable(path, error) from None
    final = os.path.realpath(path)
    if os.path.islink(final):
        raise InputError(f"{path} is a link that leads in a circle: name a file.")
    folder = os.path.dirname(final)
    if not os.path.isdir(folder):
        shown_folder = os.path.dirname(path) or folder
        raise InputError(f"There is no folder {shown_folder} to write {path} to: make it first.")
    if os.path.exists(path):
        for source in inputs:
            if os.path.exists(source) and os.path.samefile(path, source):
                raise InputError(
                    f"The output {path} is the same file as the input {source}: name another file."
                )
        if not overwrite:
            raise InputError(
                f"{path} exists already: name another file, or pass {switch('overwrite')} "
                "to replace it."
            )
        if not os.path.isfile(path):
            raise InputError(f"{path} is a device or a pipe, not a file: name a file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"The folder {folder} may not be written to: name a file elsewhere.")
