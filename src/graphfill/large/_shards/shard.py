"""One shard as a worker holds it: its rows of the graph, its tiles of the matrix, its passes.

And the answer, put together from all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError, check_choice
from ...solve import keep_range
from .checking import forged, shard_fault
from .manifest import NAME, Manifest, newest, no_shards, open_manifest
from .plan import Outcome, make_plan
from .storage import map_arrays, map_file

Array = np.ndarray
Cache = dict[str, tuple[int, list[Array]]]  # the version of an array, and its blocks

HELD = 64  # shards that a worker keeps open
CACHE_BYTES = 1 << 30  # of arrays that a worker keeps from step to step, for all its shards
_held: dict[tuple[tuple[str, int, int], int], Shard] = {}


class Shard:
    """The arrays of one shard, mapped from its file, and where its tiles lie.

    A *block* is one tile of an array: the shard's rows of it, and room for its halo after them.
    """

    def __init__(self, manifest: Manifest, number: int):
        if kernels.implementation != manifest.kernels:
            raise InputError(
                f"This worker runs graphfill's {kernels.implementation} kernels but the shards "
                f"were cut with the {manifest.kernels} ones, which round otherwise: install "
                "graphfill alike on all machines."
            )
        self.manifest, self.number = manifest, number
        arrays = map_arrays(manifest.folder, manifest.shards[number])
        path = manifest.folder / manifest.shards[number]["file"]
        try:
            fault = shard_fault(manifest, number, arrays)
        except KeyError as error:
            fault = f"it has no {error}"
        if fault:
            raise forged(path, fault)
        self.X, self.label, self.nodes = arrays["X"], arrays["label"], arrays.get("nodes")
        self.diagonal, self.scale = arrays["diagonal"], arrays["scale"]
        self.to_z, self.from_z = arrays["to_z"], arrays["from_z"]
        self.halo_diagonal = arrays["halo_diagonal"]
        self._halo, starts = arrays["halo"], arrays["halo_starts"].tolist()
        self.n_rows, self.n_halo = len(self.X), len(self._halo)
        self.dtype = np.dtype(manifest.dtype)
        self._owners = [
            (owner, starts[owner], starts[owner + 1])
            for owner in range(manifest.n_shards)
            if starts[owner + 1] > starts[owner]
        ]
        # Sums per block of rows: a total over all shards is added block by block in the order of
        # the rows, so it does not depend on where they were cut (up to rounding, on SciPy's
        # kernels). One thread: what runs side by side are shards.
        graph = arrays["indptr"], arrays["indices"], arrays.get("weights")
        self.passes = kernels.Passes(*graph, 1, manifest.block_rows)
        no_entries = np.zeros(self.n_halo + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), None
        self.halo_passes = kernels.Passes(*no_entries, 1)
        self.cache: Cache = {}
        self.files: dict[tuple[str, int, int], Array] = {}

    @cached_property
    def known(self) -> list[Array]:
        """Which cells of each tile are known, as the kernels have it."""
        return [self.packed(tile)[1] for tile in range(len(self.manifest.tiles))]

    def packed(self, tile: int) -> tuple[Array, Array]:
        """The known values of a tile, zeros elsewhere, in z-space; and which are known."""
        start, stop, width = self.manifest.tiles[tile]
        return kernels.pack(self.X, slice(start, stop), None, self.to_z, width)

    def block(self, tile: int, *, halo: bool = True) -> Array:
        """Room for one tile."""
        rows = self.n_rows + (self.n_halo if halo else 0)
        return kernels.empty_tile(rows, self.manifest.tiles[tile][2], self.dtype)

    def lanes(self, tile: int) -> slice:
        """The tile's part of an array over all lanes."""
        first = sum(width for *_, width in self.manifest.tiles[:tile])
        return slice(first, first + self.manifest.tiles[tile][2])

    def stored(self, name: str, version: int, tile: int, owner: int | None = None) -> Array:
        """One tile of an array as its owner (by default this shard) wrote it, mapped."""
        owner = self.number if owner is None else owner
        manifest, lanes = self.manifest, self.lanes(tile)
        rows = manifest.bounds[owner + 1] - manifest.bounds[owner]
        key = name, version, owner
        if key not in self.files:
            path = manifest.state_path(name, version, owner)
            self.files[key] = map_file(path, manifest.state_bytes(owner)).view(self.dtype)
        part = self.files[key][rows * lanes.start : rows * lanes.stop]
        return part.reshape(rows, -1)

    def gather(self, name: str, version: int, tile: int, block: Array) -> None:
        """Read a tile's halo rows from the files of their owners."""
        for owner, start, stop in self._owners:
            source = self.stored(name, version, tile, owner)
            target = block[self.n_rows + start : self.n_rows + stop]
            # "clip" lets NumPy write straight to the target; the cut made sure of the range.
            np.take(source, self._halo[start:stop], axis=0, out=target, mode="clip")

    def keep(self, arrays: Cache) -> None:
        """Keep arrays for the next step, if there is room for them."""
        others = sum(shard.kept_bytes for shard in _held.values() if shard is not self)
        self.cache = arrays
        if others + self.kept_bytes > CACHE_BYTES:
            self.cache = {}

    @property
    def kept_bytes(self) -> int:
        return sum(block.nbytes for _, blocks in self.cache.values() for block in blocks)


def open_shard(folder: str | Path, number: int) -> Shard:
    """A shard, from those this process has open if its folder is still the same."""
    path = Path(folder) / NAME
    try:
        status = path.stat()
    except OSError:
        raise no_shards(Path(folder)) from None
    cut = str(path), status.st_ino, status.st_mtime_ns
    if any(held != cut for held, _ in _held):
        _held.clear()  # of another cut: its files may be gone, and would still take up the disk
    if (cut, number) not in _held:
        manifest = next((shard.manifest for shard in _held.values()), None)
        while len(_held) >= HELD:
            del _held[next(iter(_held))]
        _held[cut, number] = Shard(manifest or open_manifest(folder), number)
    return _held[cut, number]


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
    bits = map_arrays(manifest.folder, manifest.reached).get("bits", np.empty(0))
    if bits.dtype != np.uint8 or bits.shape != (manifest.n_components, -(-manifest.n_columns // 8)):
        raise forged(manifest.folder / manifest.reached["file"], "its bits are others")
    reached = np.unpackbits(bits, axis=1, count=manifest.n_columns).astype(bool)
    fill = np.full(manifest.n_columns, np.nan if unreached == "nan" else 0.0)
    if unreached == "mean":
        fill = np.array(manifest.means)

    outcome, label = plan.outcome(), np.empty(manifest.n_rows, dtype=np.int32)
    X = np.empty((manifest.n_rows, manifest.n_columns), dtype=manifest.dtype)
    low, high = (np.full(manifest.n_columns, np.nan, manifest.dtype) for _ in range(2))
    for number in range(manifest.n_shards):
        barrier.verify(manifest, "z", number)
        manifest.verify(manifest.shards[number])
        shard = open_shard(manifest.folder, number)
        start = manifest.bounds[number]
        rows = slice(start, start + shard.n_rows) if shard.nodes is None else shard.nodes
        label[rows] = shard.label
        X[rows] = _filled(shard, barrier.versions["z"], outcome, fill, reached)
        low = np.fmin(low, np.fmin.reduce(shard.X, axis=0))
        high = np.fmax(high, np.fmax.reduce(shard.X, axis=0))
    if manifest.keeps_range:
        for number in range(manifest.n_shards):
            _keep_range(X, open_shard(manifest.folder, number), low, high, reached)
    used = np.concatenate([np.arange(width) < hi - lo for lo, hi, width in manifest.tiles])
    return Joined(X, outcome.n_iter[used], outcome.residual[used], label, reached)


def _keep_range(X: Array, shard: Shard, low: Array, high: Array, reached: Array) -> None:
    start = shard.manifest.bounds[shard.number]
    rows = slice(start, start + shard.n_rows) if shard.nodes is None else shard.nodes
    part = X[rows]
    keep_range(part, shard.X, low, high, lambda lo, hi: reached[shard.label[lo:hi]])
    X[rows] = part


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
