"""What a worker does between two barriers, for one shard.

Each step reads versions of arrays from the shards' files, writes new versions, and returns sums;
run twice, it writes the same bits. What it keeps in memory for the next step only saves reading:
nothing depends on it.

On disk are z (the iterate) and, for conjugate gradients, r and p (residual and direction);
q = L p is computed again where it was lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from .manifest import load_barrier
from .shard import Cache, Shard, open_shard
from .storage import writing

Array = np.ndarray
Blocks = tuple[dict[str, Array], Array | None]  # blocks by name, and sums


@dataclass(frozen=True)
class Job:
    """One step of one shard, sent to a worker: small."""

    folder: str
    shard: int
    step: str
    version: int  # of the arrays it writes
    reads: dict[str, int] = field(default_factory=dict)  # the version of each array it reads
    lanes: dict[str, Array] = field(default_factory=dict)  # numbers per column

    def __str__(self) -> str:
        return f"{self.step}, version {self.version}, shard {self.shard} of {self.folder}"


@dataclass(frozen=True)
class Done:
    """What a step returns: checksums of what it wrote, and sums per block of rows."""

    checksums: dict[str, int] = field(default_factory=dict)
    sums: Array | None = None
    more: Array | None = None


def step(job: Job) -> Done:
    """Do one job; the function that engines map."""
    shard = open_shard(job.folder, job.shard)
    try:
        if job.step in TILE_STEPS:
            return _each_tile(shard, job, *TILE_STEPS[job.step])
        return {"check": check, "centre": centre}[job.step](shard, job)
    finally:
        shard.files.clear()  # deleted ones would still take up the disk


def check(shard: Shard, job: Job) -> Done:
    """Compare every file of the shard that the run will read with its checksum."""
    manifest, number = shard.manifest, shard.number
    manifest.verify(manifest.shards[number])
    barrier = load_barrier(manifest, job.version)
    if barrier is not None:
        for name in barrier.versions:
            barrier.verify(manifest, name, number)
    return Done()


def centre(shard: Shard, job: Job) -> Done:
    """Sums of the known cells, each times its weight, and of the weights."""
    totals, weights = [], []
    weight = np.ones_like(shard.diagonal) if "plain" in job.lanes else shard.diagonal
    for tile in range(len(shard.manifest.tiles)):
        z, known = shard.packed(tile)
        totals.append(shard.passes.known_sums(weight, known, z, z.shape[1]))
        weights.append(shard.passes.known_sums(weight, known, None, z.shape[1]))
    return Done(sums=np.hstack(totals), more=np.hstack(weights))


class Tile:
    """One tile of a shard in one step: the arrays that the job reads, from memory or files."""

    def __init__(self, shard: Shard, job: Job, number: int, cache: Cache):
        self.shard, self.job, self.number = shard, job, number
        self.known = shard.known[number]
        self._cache = cache

    def kept(self, name: str, version: int | None) -> Array | None:
        """The block of an array, if this process has this version of it in memory."""
        kept_version, blocks = self._cache.get(name, (None, []))
        return blocks[self.number] if blocks and kept_version == version else None

    def read(self, name: str, *, halo: bool = False) -> Array:
        """The block of an array; zeros where it has not been written yet."""
        version, shard = self.job.reads.get(name), self.shard
        block = self.kept(name, version)
        if block is None:
            block = shard.block(self.number)
            if version is None:
                block.fill(0)
            else:
                block[: shard.n_rows] = shard.stored(name, version, self.number)
        if halo and version is not None:
            shard.gather(name, version, self.number, block)
        return block

    def lanes(self, name: str) -> Array:
        """Numbers per column of the tile."""
        return np.ascontiguousarray(self.job.lanes[name][self.shard.lanes(self.number)])


def begin(tile: Tile) -> Blocks:
    """z = the known values minus the shift, 0 elsewhere; returns the squares' sums."""
    shard, shift = tile.shard, tile.lanes("shift")
    z = shard.block(tile.number)
    own = z[: shard.n_rows]
    own[...] = shard.packed(tile.number)[0]
    if shift.any():
        shard.passes.shift_known(shard.diagonal, tile.known, own, -shift)
    return {"z": z}, shard.passes.squares(shard.diagonal, tile.known, own)


def diffuse(tile: Tile) -> Blocks:
    """z <- scale A z at unknown cells; returns the residual's sums if they are asked for."""
    shard, z = tile.shard, tile.read("z", halo=True)
    new = tile.kept("spare", tile.job.reads["z"])  # its known cells are there since it was made
    if new is None:
        new = shard.block(tile.number)
        new[: shard.n_rows] = z[: shard.n_rows]
    arguments, sums = (shard.scale, tile.known, z, new[: shard.n_rows]), None
    if "measured" in tile.job.lanes:
        sums = shard.passes.diffuse_measured(*arguments)
    else:
        shard.passes.diffuse(*arguments)
    return {"z": new, "spare": z}, sums


def residual(tile: Tile) -> Blocks:
    """r = A z - diagonal z at unknown cells; returns the sums of r^2 / diagonal."""
    shard, z = tile.shard, tile.read("z", halo=True)
    r = shard.block(tile.number)
    return {"r": r}, shard.passes.residual(shard.diagonal, tile.known, z, r[: shard.n_rows])


def direction(tile: Tile) -> Blocks:
    """z += alpha p; p = gamma r / diagonal + beta p; q = L p; returns the sums of p q.

    Halo rows of p are computed here as their owners do it, so that one barrier serves both.
    """
    shard, known = tile.shard, tile.known
    lanes = [tile.lanes(name) for name in ("alpha", "beta", "gamma")]
    p_is_kept = tile.kept("p", tile.job.reads.get("p")) is not None
    z, r, p = tile.read("z"), tile.read("r", halo=True), tile.read("p", halo=not p_is_kept)
    n = shard.n_rows
    shard.passes.step_direction(shard.diagonal, known, r[:n], p[:n], z[:n], *lanes)
    if shard.n_halo:
        scratch = np.zeros_like(z[n:])
        unknown = np.zeros((shard.n_halo, known.shape[1]), dtype=known.dtype)
        halo = r[n:], p[n:], scratch
        shard.halo_passes.step_direction(shard.halo_diagonal, unknown, *halo, *lanes)
    q = shard.block(tile.number, halo=False)
    return {"z": z, "p": p, "q": q}, shard.passes.laplacian(shard.diagonal, known, p, q)


def step_residual(tile: Tile) -> Blocks:
    """r -= alpha q, q = L p; returns the sums of r^2 / diagonal."""
    shard, r = tile.shard, tile.read("r")
    q = tile.kept("q", tile.job.reads["p"])
    if q is None:
        q = shard.block(tile.number, halo=False)
        shard.passes.laplacian(shard.diagonal, tile.known, tile.read("p", halo=True), q)
    own, alpha = r[: shard.n_rows], tile.lanes("alpha")
    return {"r": r}, shard.passes.step_residual(shard.diagonal, tile.known, q, own, alpha)


def finish(tile: Tile) -> Blocks:
    """z += alpha p, the last of a search; returns the sums of diagonal z^2."""
    shard, alpha, block = tile.shard, tile.lanes("alpha"), tile.read("z")
    z, p, none = block[: shard.n_rows], tile.read("p")[: shard.n_rows], np.zeros(len(alpha))
    shard.passes.step_direction(shard.diagonal, tile.known, p, p.copy(), z, alpha, none, none)
    return {"z": block}, shard.passes.squares(shard.diagonal, tile.known, z)


# What a step does with each tile, the arrays it writes, and those it reads and leaves unchanged.
TILE_STEPS: dict[str, tuple[Callable[[Tile], Blocks], tuple[str, ...], tuple[str, ...]]] = {
    "begin": (begin, ("z",), ()),
    "diffuse": (diffuse, ("z",), ()),
    "residual": (residual, ("r",), ("z", "p")),
    "direction": (direction, ("z", "p"), ("r",)),
    "step_residual": (step_residual, ("r",), ("z", "p")),
    "finish": (finish, ("z",), ("p",)),
}


def _each_tile(
    shard: Shard,
    job: Job,
    work: Callable[[Tile], Blocks],
    writes: tuple[str, ...],
    unchanged: tuple[str, ...],
) -> Done:
    """Do the work tile by tile, write arrays as they come, and keep them for the next step."""
    manifest, cache = shard.manifest, shard.cache
    shard.cache = {}  # should this fail half way, nothing half done is kept
    sums: list[Array] = []
    new: dict[str, list[Array]] = defaultdict(list)
    with ExitStack() as stack:
        files = {}
        for name in writes:
            path = manifest.state_path(name, job.version, shard.number)
            files[name] = stack.enter_context(writing(path, manifest.durable, sync_name=False))
        for number in range(len(manifest.tiles)):
            blocks, total = work(Tile(shard, job, number, cache))
            if total is not None:
                sums.append(total)
            for name, block in blocks.items():
                new[name].append(block)
            for name, file in files.items():
                file.write(blocks[name][: shard.n_rows].reshape(-1))
    kept = {name: value for name, value in cache.items() if name in unchanged}
    shard.keep(kept | {name: (job.version, blocks) for name, blocks in new.items()})
    checksums = {name: file.crc32 for name, file in files.items()}
    return Done(checksums, np.hstack(sums) if sums else None)
