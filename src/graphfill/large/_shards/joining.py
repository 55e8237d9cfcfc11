"""The answer, put together from the shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError, check_choice
from .manifest import newest, open_manifest
from .plan import Outcome, make_plan
from .shard import Shard, open_shard
from .storage import map_arrays

Array = np.ndarray


@dataclass(frozen=True)
class Joined:
    """The filled matrix, how the solver ended, and what was reached."""

    X: Array
    n_iter: Array  # per column, as the next
    residual: Array
    label: Array  # the component of each node
    reached: Array  # bool [components, columns]


def join(folder: str | Path, *, unreached: str = "zero") -> Joined:
    """Put the filled matrix together, rows in the order of the nodes.

    Known cells have the bits they had. Every file is compared with its checksum first. The run in
    `folder` must have come to its end. `unreached` ("zero", "mean" or "nan") is what is put where
    no known cell of the column is connected to the node.
    """
    check_choice("unreached", unreached, ("zero", "mean", "nan"))
    manifest = open_manifest(folder)
    barrier = newest(manifest)
    plan = make_plan(manifest, None if barrier is None else barrier.state)
    if barrier is None or not plan.done:
        raise InputError(
            f"The run in {manifest.folder} has come to {plan.where()} and not to its end: call "
            "run(folder) first."
        )
    manifest.verify(manifest.reached)
    bits = map_arrays(manifest.folder, manifest.reached)["bits"]
    reached = np.unpackbits(bits, axis=1, count=manifest.n_columns).astype(bool)
    fill = np.full(manifest.n_columns, np.nan if unreached == "nan" else 0.0)
    if unreached == "mean":
        fill = np.array(manifest.means)

    outcome, label = plan.outcome(), np.empty(manifest.n_rows, dtype=np.int32)
    X = np.empty((manifest.n_rows, manifest.n_columns), dtype=manifest.dtype)
    for number in range(manifest.n_shards):
        barrier.verify(manifest, "z", number)
        manifest.verify(manifest.shards[number])
        shard = open_shard(manifest.folder, number)
        start = manifest.bounds[number]
        rows = slice(start, start + shard.n_rows) if shard.nodes is None else shard.nodes
        label[rows] = shard.label
        X[rows] = _filled(shard, barrier.versions["z"], outcome, fill, reached)
    used = np.concatenate([np.arange(width) < hi - lo for lo, hi, width in manifest.tiles])
    return Joined(X, outcome.n_iter[used], outcome.residual[used], label, reached)


def _filled(shard: Shard, version: int, outcome: Outcome, fill: Array, reached: Array) -> Array:
    """One shard's rows of X with their missing cells filled."""
    out = np.array(shard.X)
    components, component = np.unique(shard.label, return_inverse=True)
    known_here = reached[components]
    for tile, (start, stop, width) in enumerate(shard.manifest.tiles):
        columns = slice(start, stop)
        options: dict[str, Any] = {"shift": np.ascontiguousarray(outcome.shift[shard.lanes(tile)])}
        options["fill"] = np.zeros(width)
        options["fill"][: stop - start] = fill[columns]
        if not known_here[:, columns].all():
            # What the kernels take for "known" of components is made as that of rows is.
            lacks = np.where(known_here, 0.0, np.nan).astype(out.dtype)
            ones = np.ones(len(components), dtype=out.dtype)
            options["reached"] = kernels.pack(lacks, columns, None, ones, width)[1]
            options["component"] = component.astype(np.int32)
        z = np.ascontiguousarray(shard.stored("z", version, tile))
        kernels.unpack(out, columns, None, shard.from_z, z, shard.known[tile], **options)
    return out
