"""The record of runs: one Parquet file, a row each, that several processes may add to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import InputError, option
from ..io import replacing, unwritable

Row = dict[str, Any]
Key = tuple[Any, ...]

# What tells runs apart; then what came of them. Texts of JSON: setting, details, versions.
KEY = ("set", "method", "model", "mask", "rate", "split", "setting", "run")
COLUMNS = {
    "set": "string", "method": "string", "model": "string", "mask": "string", "rate": "float64",
    "split": "string", "setting": "string", "run": "int64", "seed": "int64",
    "test_accuracy": "float64", "val_accuracy": "float64", "n_epochs": "int64",
    "best_epoch": "int64", "fill_seconds": "float64", "train_seconds": "float64",
    "reconstruction": "float64", "details": "string", "n_missing": "int64",
    "mask_checksum": "string", "seconds": "float64", "when": "string", "versions": "string",
}  # fmt: skip


def key_of(row: Mapping[str, Any]) -> Key:
    """What tells a row from all others, in the order of `KEY`.

    >>> key_of({"set": "cora", "method": "fp", "model": "gcn", "mask": "uniform", "rate": 0.99,
    ...         "split": "paper", "setting": "{}", "run": 3, "seconds": 1.5})
    ('cora', 'fp', 'gcn', 'uniform', 0.99, 'paper', '{}', 3)
    """
    values = {name: row[name] for name in KEY}
    values["rate"] = round(float(row["rate"]), 6)
    values["model"] = row["model"] or None
    return tuple(values.values())


class Results:
    """The rows of a file, which need not exist yet.

    A row with the key of an earlier one replaces it. The file is written aside and renamed, under
    a lock: whoever reads sees all rows of some moment, and of two who add, neither loses any.

    >>> import tempfile
    >>> run = {"set": "cora", "method": "fp", "model": "gcn", "mask": "uniform", "rate": 0.99,
    ...        "split": "paper", "setting": "{}", "run": 0, "test_accuracy": 78.2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Results(Path(folder, "runs.parquet"))
    ...     results.add([run, run | {"run": 1}])
    ...     len(results), results.has(key_of(run)), results.rows()[1]["test_accuracy"]
    (2, True, 78.2)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._read: tuple[tuple[int, int, int], list[Row], set[Key]] | None = None

    @property
    def unfinished(self) -> Path:
        """The folder beside it for what long runs have come to so far."""
        return self.path.absolute().with_suffix(".unfinished")

    def rows(self) -> list[Row]:
        """All rows, in the order they were added; cells without a value are None."""
        return [dict(row) for row in self._load()[0]]

    def has(self, key: Key) -> bool:
        """Whether there is a row of this key."""
        return key in self._load()[1]

    def __len__(self) -> int:
        return len(self._load()[0])

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows to whatever the file holds by now."""
        new = {key_of(row): {name: row.get(name) for name in COLUMNS} for row in rows}
        if not new:
            return
        try:
            self.path.absolute().parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.path, error) from None
        with locked(self.path):
            held = {key_of(row): row for row in self._load()[0]}
            self._write(list((held | new).values()))

    def merge(self, other: str | os.PathLike[str]) -> None:
        """Add the rows of another file, as after runs on two machines."""
        if not os.path.isfile(other):
            raise _unreadable(other, "no such file")
        self.add(Results(other).rows())

    def _load(self) -> tuple[list[Row], set[Key]]:
        """Rows and keys; the file is read again only if it is another than the last time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from ..io._columnar import check_parquet, checked
        from ..io._sheet import Options

        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return [], set()
        state = status.st_ino, status.st_mtime_ns, status.st_size
        if self._read is None or self._read[0] != state:
            try:
                with pq.ParquetFile(self.path) as file:
                    check_parquet(self.path, file, Options())
                    rows = checked(file.read()).to_pylist()
                keys = {key_of(row) for row in rows}
            except KeyError as error:
                raise _unreadable(self.path, f"no column {error}") from None
            except (pa.ArrowException, OSError, TypeError, ValueError) as error:
                reason = str(error).partition(".")[0]
                raise _unreadable(self.path, reason) from None
            self._read = state, rows, keys
        return self._read[1], self._read[2]

    def _write(self, rows: list[Row]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
        with replacing(self.path) as file:
            pq.write_table(pa.Table.from_pylist(rows, schema), file)


def _unreadable(path: object, reason: str) -> InputError:
    return InputError(
        f"{path} is not a record of runs ({reason}): name another file with {option('results')}."
    )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time is within this; the lock of one that dies is free again."""
    final = Path(os.path.realpath(path))
    name = final.with_name(f".{final.name}.lock")
    while True:
        handle = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        _lock(handle)
        with suppress(FileNotFoundError):
            # The process that held it removed it at the end: then this locks nothing.
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
