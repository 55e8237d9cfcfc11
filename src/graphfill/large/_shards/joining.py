"""The answer, put together from the shards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ... import errors, kernels
from ...io._atomic import refusal, sync_folder
from .. import _refuse_shards
from .manifest import Manifest, barrier_path, newest, open_manifest
from .plan import Outcome, make_plan
from .shard import Shard, open_shard
from .storage import map_arrays, verify

Array = np.ndarray


@dataclass(frozen=True)
class Joined:
    """The filled matrix, the solver's last words per column, and what was reached.

    Attributes
    ----------
    X : ndarray, or a read-only ``numpy.memmap`` of the file asked for
    n_iter, residual : [columns]
    label : [nodes], the component of each
    reached : bool [components, columns]
    """

    X: Array
    n_iter: Array
    residual: Array
    label: Array
    reached: Array


def join(
    folder: str | Path, output: str | Path | None = None, *, unreached: str = "zero"
) -> Joined:
    """Put the filled matrix together, rows in the order of the nodes.

    Known cells have the bits they had. Every file is compared with its checksum first.

    Parameters
    ----------
    folder : path
        Where :func:`~graphfill.large._engines.run` has come to its end.
    output : path, optional
        Write a .npy file, and return it memory-mapped: one shard is in memory at a time.
    unreached : {"zero", "mean", "nan"}
        What to put where no known cell of the column is connected to the node.
    """
    errors.check_choice("unreached", unreached, ("zero", "mean", "nan"))
    manifest = open_manifest(folder)
    barrier = newest(manifest)
    plan = make_plan(manifest, None if barrier is None else barrier.state)
    if barrier is None or not plan.done:
        raise _refuse_shards.not_finished(manifest.folder, plan.where())
    entry = manifest.reached
    verify(manifest.folder / entry["file"], entry["size"], entry["crc32"])
    bits = map_arrays(manifest.folder, entry)["bits"]
    reached = np.unpackbits(bits, axis=1, count=manifest.n_columns).astype(bool)
    fill = np.full(manifest.n_columns, np.nan if unreached == "nan" else 0.0)
    if unreached == "mean":
        fill = np.array(manifest.means)

    outcome, version = plan.outcome(), barrier.versions["z"]
    label = np.empty(manifest.n_rows, dtype=np.int32)
    X, aside = _room(manifest, output)
    try:
        for number in range(manifest.n_shards):
            path = manifest.state_path("z", version, number)
            back = barrier_path(manifest, barrier.number)
            verify(path, manifest.state_bytes(number), barrier.checksums["z"][number], back)
            entry = manifest.shards[number]
            verify(manifest.folder / entry["file"], entry["size"], entry["crc32"])
            shard = open_shard(manifest.folder, number)
            start = manifest.bounds[number]
            rows = slice(start, start + shard.n_rows) if shard.nodes is None else shard.nodes
            label[rows] = shard.label
            X[rows] = _filled(shard, version, outcome, fill, reached)
        if aside is not None:
            X = _named(X, aside, Path(output))  # type: ignore[arg-type]
    except BaseException:
        if aside is not None:
            aside.unlink(missing_ok=True)
        raise
    lanes = _columns(manifest)
    return Joined(X, outcome.n_iter[lanes], outcome.residual[lanes], label, reached)


def _filled(shard: Shard, version: int, outcome: Outcome, fill: Array, reached: Array) -> Array:
    """One shard's rows of X with their missing cells filled."""
    out = np.array(shard.X)
    found, local = np.unique(shard.label, return_inverse=True)
    known_here = reached[found]
    local = local.astype(np.int32)
    for tile, (start, stop, width) in enumerate(shard.manifest.tiles):
        columns, lanes = slice(start, stop), shard.lanes(tile)
        padded = np.zeros(width)
        padded[: stop - start] = fill[columns]
        component = handle = None
        if not known_here[:, columns].all():
            # What the kernels take for "known" of components is made as that of rows is.
            lacks = np.where(known_here, 0.0, np.nan).astype(out.dtype)
            ones = np.ones(len(found), dtype=out.dtype)
            component, (_, handle) = local, kernels.pack(lacks, columns, None, ones, width)
        z = np.ascontiguousarray(shard.stored("z", version, tile))
        kernels.unpack(
            out,
            columns,
            None,
            shard.from_z,
            z,
            shard.known[tile],
            shift=np.ascontiguousarray(outcome.shift[lanes]),
            fill=padded,
            component=component,
            reached=handle,
        )
    return out


def _columns(manifest: Manifest) -> Array:
    """The lane of each column."""
    ends = np.cumsum([0, *(width for *_, width in manifest.tiles)])
    return np.concatenate(
        [e + np.arange(b - a) for e, (a, b, _) in zip(ends[:-1], manifest.tiles, strict=True)]
    )


def _room(manifest: Manifest, output: str | Path | None) -> tuple[Array, Path | None]:
    shape, dtype = (manifest.n_rows, manifest.n_columns), manifest.dtype
    if output is None:
        return np.empty(shape, dtype=dtype), None
    aside = Path(output).with_name(f".{Path(output).name}.part")
    try:
        X = np.lib.format.open_memmap(aside, mode="w+", dtype=dtype, shape=shape)
        with open(aside, "r+b") as file:
            # A full disk is a refusal here, and would be a crash when a page is written.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, aside.stat().st_size)
        return X, aside
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise refusal(Path(output), error) from error


def _named(X: Array, aside: Path, output: Path) -> Array:
    """Give the finished file its name, and map it."""
    X.flush()  # type: ignore[attr-defined]
    aside.replace(output)
    sync_folder(output.parent)
    return np.load(output, mmap_mode="r")
