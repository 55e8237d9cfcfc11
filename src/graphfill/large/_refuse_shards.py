"""Refusals of graphs cut into shards, of their files, and of the engines that run them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError, option, parameter, shown, switch


def check_shard_count(n_shards: int, n_most: int, n_rows: int) -> None:
    """Refuse more shards than there are blocks of rows to cut between."""
    if n_shards > n_most:
        raise InputError(
            f"n_shards is {n_shards} but {n_rows} row(s) can be cut into {n_most} at most: pass "
            "fewer shards."
        )


def check_empty_folder(folder: Path) -> None:
    """Refuse to cut into a folder that holds something."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists and is no empty folder: name another, or empty it to cut again."
        )


def no_shards(folder: Path) -> InputError:
    """A folder that no graph was cut into, or not to the end."""
    return InputError(
        f"{folder} holds no manifest.json, so no graph was cut into it, or not to the end: cut it "
        "again, into an empty folder."
    )


def check_shard_file(path: Path, size: int | None, wanted: int) -> None:
    """Refuse a file that is gone (size None) or of another length than it was written with."""
    if size is None:
        raise InputError(
            f"{path} is missing, though the manifest lists it: restore it, or cut the graph again "
            "into an empty folder."
        )
    if size != wanted:
        raise InputError(
            f"{path} has {size} bytes but was written with {wanted}: restore it, or cut the graph "
            "again into an empty folder."
        )


def check_checksum(path: Path, found: int, wanted: int, earlier: Path | None) -> None:
    """Refuse a file whose bytes changed; `earlier` is what to delete to go one iteration back."""
    if found != wanted:
        remedy = "restore it, or cut the graph again into an empty folder"
        if earlier is not None:
            remedy = f"restore it, or delete {earlier} to go on from the iteration before"
        raise InputError(
            f"{path} has the checksum {found:08x} but was written with {wanted:08x}: {remedy}."
        )


def broken_manifest(path: Path, reason: str) -> InputError:
    """A manifest that is no JSON, or not the one that was written."""
    remedy = "cut the graph again into an empty folder"
    if path.name != "manifest.json":
        remedy = "delete it to go on from the iteration before"
    return InputError(
        f"{path} is no manifest as it was written ({reason}): restore it, or {remedy}."
    )


def check_same_inputs(folder: Path, cut: dict[str, Any], given: dict[str, Any]) -> None:
    """Refuse to go on in a folder that another graph, another X or other options were cut into."""
    for name, value in given.items():
        if cut.get(name) != value:
            change = f"{name} is {value!r} but was {cut.get(name)!r}"
            if name in ("graph", "X"):
                digests = str(value)[:12], str(cut.get(name))[:12]
                change = f"{name} has the checksum {digests[0]}... but had {digests[1]}..."
            raise InputError(
                f"{folder} was cut from other inputs ({change}): pass what it was cut from to go "
                "on, or name an empty folder to start anew."
            )


def check_same_kernels(here: str, cut: str) -> None:
    """Refuse a worker whose arithmetic rounds otherwise."""
    if here != cut:
        raise InputError(
            f"This worker runs graphfill's {here} kernels but the shards were cut with the {cut} "
            "ones, which round otherwise: install graphfill alike on all machines."
        )


def not_finished(folder: Path, done: str) -> InputError:
    """An answer that is asked for too early."""
    return InputError(
        f"The run in {folder} has come to {done} and not to its end: call run(folder) first."
    )


def already_running(folder: Path) -> InputError:
    """A folder that another driver works in."""
    return InputError(f"Another run works in {folder}: wait for its end, or name another folder.")


def check_stored_graph(path: Path, n_nodes: int, problem: str) -> None:
    """Refuse arrays on disk that are no compressed sparse rows."""
    if problem:
        raise InputError(
            f"{path} is no graph of {n_nodes} node(s) in compressed sparse rows ({problem}): write "
            "int64 indptr, int32 indices that ascend in each row, and each edge in both its rows."
        )


def unknown_engine(engine: Any, names: Sequence[str]) -> InputError:
    """What cannot map jobs."""
    return InputError(
        f"engine is {shown(engine)} but must be one of {', '.join(map(repr, names))}, or have a "
        "method map(function, jobs)."
    )


def missing_engine(name: str, package: str) -> InputError:
    """An engine whose package is not installed."""
    return InputError(
        f'engine="{name}" needs the package {package}: pip install "graphfill[{name}]".'
    )


def shard_worker_died(job: Any, times: int, detail: str) -> InputError:
    """A job that ends every worker it is given to."""
    return InputError(
        f"The worker of {job} died {times} times ({detail}): is there memory enough for a shard? "
        "Cut the graph into more shards, or start fewer workers; what is done is kept."
    )


def check_sharded_solver(solver: str) -> None:
    """Refuse a solver that works in one piece only."""
    if solver not in ("diffusion", "exact"):
        raise InputError(
            f"{parameter('solver')} {solver} works in one piece, not in shards: choose diffusion "
            "or exact."
        )


def check_sharded_method(method: str, asked: Sequence[str]) -> None:
    """Refuse what looks at all columns at once, where a few are in memory at a time."""
    if method in ("hybrid", "auto"):
        raise InputError(
            f"{parameter('method')} {method} looks at all columns at once, which needs them in "
            "memory: choose propagation, neighbors or mean, or a higher limit."
        )
    if asked:
        raise InputError(
            f"{switch(asked[0])} looks at all columns at once, which needs them in memory: leave "
            "it out, or choose a higher limit."
        )


def check_engine_options(engine: str | None, given: dict[str, Any]) -> None:
    """Refuse options of an engine where none is named."""
    for name, value in given.items():
        if engine is None and value is not None:
            raise InputError(
                f"{parameter(name)} is for an engine: name it with {option('engine')}, or leave it "
                "out."
            )
