"""One shard as a worker holds it: its rows of the graph, its tiles of the matrix, its passes."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from ... import kernels
from ...errors import InputError
from .manifest import NAME, Manifest, no_shards, open_manifest
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
        self._files: dict[tuple[str, int, int], Array] = {}

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
        if key not in self._files:
            path = manifest.state_path(name, version, owner)
            self._files[key] = map_file(path, manifest.state_bytes(owner)).view(self.dtype)
        part = self._files[key][rows * lanes.start : rows * lanes.stop]
        return part.reshape(rows, -1)

    def gather(self, name: str, version: int, tile: int, block: Array) -> None:
        """Read a tile's halo rows from the files of their owners."""
        for owner, start, stop in self._owners:
            source = self.stored(name, version, tile, owner)
            target = block[self.n_rows + start : self.n_rows + stop]
            # "clip" lets NumPy write straight to the target; the cut made sure of the range.
            np.take(source, self._halo[start:stop], axis=0, out=target, mode="clip")

    def close_files(self) -> None:
        """Close the files of a step: deleted ones would still take up the disk."""
        self._files.clear()

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
