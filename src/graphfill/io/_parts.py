"""A file of one JSON record and some arrays: a zip without compression, and nothing to unpickle."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ._path import PathLike, check_is_file, unreadable
from ._tables import replacing

RECORD = "record.json"
TYPES = ("<f8", "<i8", "<i4", "|b1")  # of arrays


def write_parts(
    path: PathLike, record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *like: PathLike
) -> None:
    """Write the file aside, and give it its name once it is complete, as private as others."""
    with replacing(path, *like) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as parts:
        parts.writestr(_entry(RECORD), json.dumps(record, allow_nan=False))
        for name, array in arrays.items():
            cells = io.BytesIO()
            np.lib.format.write_array(cells, np.ascontiguousarray(array), allow_pickle=False)
            parts.writestr(_entry(f"{name}.npy"), cells.getvalue())


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # so that equal contents are equal files


def read_parts(path: str | os.PathLike[str]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The record and the arrays, after a look at every size that the file declares."""
    check_is_file(path)
    try:
        room = os.path.getsize(path)
        with zipfile.ZipFile(path) as parts:
            for part in parts.infolist():
                if part.compress_type != zipfile.ZIP_STORED or part.file_size > room:
                    raise InputError(
                        f"The part {part.filename!r} of {path} is compressed or larger than the "
                        "file: save the imputer again."
                    )
                room -= part.file_size
            names = parts.namelist()
            if RECORD not in names:
                raise _damaged(path, f"its part {RECORD!r} is missing")
            record = json.loads(parts.read(RECORD))
            arrays = {
                name.removesuffix(".npy"): _array(parts.read(name), path, name)
                for name in names
                if name.endswith(".npy")
            }
    except (zipfile.BadZipFile, EOFError, ValueError, OSError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        if isinstance(error, OSError):
            raise unreadable(path, error) from error
        raise _damaged(path, "it is cut short or was changed") from error
    return record, arrays


def _array(data: bytes, path: Any, name: str) -> NDArray[Any]:
    """An array whose header agrees with the bytes that follow it."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise _damaged(path, f"its part {name!r} is of another version")
    shape, column_major, dtype = np.lib.format.read_array_header_1_0(file)
    size = dtype.itemsize
    for length in shape:
        size *= length
    left = data[file.tell() :]
    if dtype.str not in TYPES or column_major or size != len(left):
        raise _damaged(path, f"its part {name!r} is not the array that it declares")
    return np.frombuffer(left, dtype).reshape(shape).copy()


def _damaged(path: Any, why: str) -> InputError:
    return InputError(f"{path} is no imputer that graphfill saved, or {why}: save it again.")
