"""What a worker does between two barriers, for one shard.

Each step reads versions of arrays from the shards' files, writes new versions aside, and
returns sums; run twice, it writes the same bits. What it keeps in memory for the next step only
saves reading: nothing depends on it.

On disk are z (the iterate) and, for conjugate gradients, r and p (residual and direction);
q = L p is computed again where it was lost.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from .job import Done, Job
from .manifest import barrier_path, load_barrier
from .shard import Shard, open_shard
from .storage import verify, writing

Array = np.ndarray


def step(job: Job) -> Done:
    """Do one job; the function that engines map."""
    shard = open_shard(job.folder, job.shard)
    try:
        return STEPS[job.step](shard, job)
    finally:
        shard.let_go()


def check(shard: Shard, job: Job) -> Done:
    """Compare every file of the shard that the run will read with its checksum."""
    manifest = shard.manifest
    entry = manifest.shards[shard.number]
    verify(manifest.folder / entry["file"], entry["size"], entry["crc32"])
    barrier = load_barrier(manifest, job.version)
    if barrier is not None:
        for name, version in barrier.versions.items():
            path = manifest.state_path(name, version, shard.number)
            back = barrier_path(manifest, barrier.number)
            crc32 = barrier.checksums[name][shard.number]
            verify(path, manifest.state_bytes(shard.number), crc32, back)
    return Done()


def centre(shard: Shard, job: Job) -> Done:
    """Sums of the known cells, each times its weight, and of the weights."""
    totals, weights = [], []
    for tile in range(len(shard.manifest.tiles)):
        z, known = shard.packed(tile)
        weight = np.ones_like(shard.diagonal) if "plain" in job.lanes else shard.diagonal
        totals.append(shard.passes.known_sums(weight, known, z, z.shape[1]))
        weights.append(shard.passes.known_sums(weight, known, None, z.shape[1]))
    return Done(sums=np.hstack(totals), more=np.hstack(weights))


def begin(shard: Shard, job: Job) -> Done:
    """z = the known values minus the shift, 0 elsewhere; returns the squares' sums."""

    def work(tile: int) -> tuple[dict[str, Array], Array]:
        z = shard.block(tile)
        own, known = z[: shard.n_rows], shard.known[tile]
        own[...] = shard.packed(tile)[0]
        shift = np.ascontiguousarray(job.lanes["shift"][shard.lanes(tile)])
        if shift.any():
            shard.passes.shift_known(shard.diagonal, known, own, -shift)
        return {"z": z}, shard.passes.squares(shard.diagonal, known, own)

    return _write(shard, job, ("z",), work)


def diffuse(shard: Shard, job: Job) -> Done:
    """z <- scale A z at unknown cells; returns the residual's sums if they are asked for."""
    version = job.reads["z"]
    cached = _cached(shard, "z", version)
    spare = _cached(shard, "spare", version)

    def work(tile: int) -> tuple[dict[str, Array], Array | None]:
        z = cached[tile] if cached else _read(shard, "z", version, tile)
        shard.gather("z", version, tile, z)
        if spare:
            new = spare[tile]  # its known cells are there since it was made
        else:
            new = shard.block(tile)
            new[: shard.n_rows] = z[: shard.n_rows]
        out, known, passes = new[: shard.n_rows], shard.known[tile], shard.passes
        sums = None
        if "measured" in job.lanes:
            sums = passes.diffuse_measured(shard.scale, known, z, out)
        else:
            passes.diffuse(shard.scale, known, z, out)
        return {"z": new, "spare": z}, sums

    return _write(shard, job, ("z",), work)


def residual(shard: Shard, job: Job) -> Done:
    """r = A z - diagonal z at unknown cells; returns the sums of r^2 / diagonal."""
    version = job.reads["z"]
    cached = _cached(shard, "z", version)

    def work(tile: int) -> tuple[dict[str, Array], Array]:
        z = cached[tile] if cached else _read(shard, "z", version, tile)
        shard.gather("z", version, tile, z)
        r = shard.block(tile)
        out = r[: shard.n_rows]
        sums = shard.passes.residual(shard.diagonal, shard.known[tile], z, out)
        return {"r": r}, sums

    return _write(shard, job, ("r",), work, keep=("z", "p"))


def direction(shard: Shard, job: Job) -> Done:
    """z += alpha p; p = gamma r / diagonal + beta p; q = L p; returns the sums of p q.

    Halo rows of p are taken on here as their owners do it, so that one barrier serves both.
    """
    reads = job.reads
    kept = {name: _cached(shard, name, reads[name]) for name in ("z", "r", "p") if name in reads}

    def work(tile: int) -> tuple[dict[str, Array], Array]:
        lanes = [
            np.ascontiguousarray(job.lanes[name][shard.lanes(tile)])
            for name in ("alpha", "beta", "gamma")
        ]
        z, r, p = (_taken(shard, kept, reads, name, tile) for name in ("z", "r", "p"))
        shard.gather("r", reads["r"], tile, r)
        if "p" in reads and not kept["p"]:
            shard.gather("p", reads["p"], tile, p)
        n, known = shard.n_rows, shard.known[tile]
        shard.passes.step_direction(shard.diagonal, known, r[:n], p[:n], z[:n], *lanes)
        if shard.n_halo:
            scratch = np.zeros_like(z[n:])
            bits = np.zeros((shard.n_halo, known.shape[1]), dtype=known.dtype)
            shard.halo_rows.step_direction(shard.halo_diagonal, bits, r[n:], p[n:], scratch, *lanes)
        q = shard.block(tile, halo=False)
        return {"z": z, "p": p, "q": q}, shard.passes.laplacian(shard.diagonal, known, p, q)

    return _write(shard, job, ("z", "p"), work, keep=("r",))


def step_residual(shard: Shard, job: Job) -> Done:
    """r -= alpha q, q = L p; returns the sums of r^2 / diagonal."""
    reads = job.reads
    kept = {name: _cached(shard, name, reads[name]) for name in ("r", "p")}
    products = _cached(shard, "q", reads["p"])

    def work(tile: int) -> tuple[dict[str, Array], Array]:
        alpha = np.ascontiguousarray(job.lanes["alpha"][shard.lanes(tile)])
        r, known = _taken(shard, kept, reads, "r", tile), shard.known[tile]
        if products:
            q = products[tile]
        else:
            p, q = _taken(shard, kept, reads, "p", tile), shard.block(tile, halo=False)
            shard.gather("p", reads["p"], tile, p)
            shard.passes.laplacian(shard.diagonal, known, p, q)
        sums = shard.passes.step_residual(shard.diagonal, known, q, r[: shard.n_rows], alpha)
        return {"r": r}, sums

    return _write(shard, job, ("r",), work, keep=("z", "p"))


def finish(shard: Shard, job: Job) -> Done:
    """z += alpha p, the last of a search; returns the sums of diagonal z^2."""
    reads = job.reads
    kept = {name: _cached(shard, name, reads[name]) for name in ("z", "p")}

    def work(tile: int) -> tuple[dict[str, Array], Array]:
        alpha = np.ascontiguousarray(job.lanes["alpha"][shard.lanes(tile)])
        z, p = (_taken(shard, kept, reads, name, tile) for name in ("z", "p"))
        n, known, none = shard.n_rows, shard.known[tile], np.zeros(len(alpha))
        scratch = p[:n].copy()
        shard.passes.step_direction(shard.diagonal, known, p[:n], scratch, z[:n], alpha, none, none)
        return {"z": z}, shard.passes.squares(shard.diagonal, known, z[:n])

    return _write(shard, job, ("z",), work, keep=("p",))


STEPS: dict[str, Callable[[Shard, Job], Done]] = {
    work.__name__: work
    for work in (check, centre, begin, diffuse, residual, direction, step_residual, finish)
}


def _read(shard: Shard, name: str, version: int, tile: int) -> Array:
    """The shard's own rows of an array, with room for the halo."""
    block = shard.block(tile)
    block[: shard.n_rows] = shard.stored(name, version, tile)
    return block


def _taken(shard: Shard, kept: dict, reads: dict[str, int], name: str, tile: int) -> Array:
    """An array's tile from memory or its file; zeros where it has not been written yet."""
    if name not in reads:
        block = shard.block(tile)
        block.fill(0)
        return block
    return kept[name][tile] if kept[name] else _read(shard, name, reads[name], tile)


def _cached(shard: Shard, name: str, version: int) -> list[Array] | None:
    """The tiles of an array, if this process has this version of it."""
    found = shard.cache.get(name)
    return found[1] if found is not None and found[0] == version else None


def _write(
    shard: Shard,
    job: Job,
    names: tuple[str, ...],
    work: Callable[[int], tuple[dict[str, Array], Array | None]],
    keep: tuple[str, ...] = (),
) -> Done:
    """Do the work tile by tile, write the named arrays as they come, and keep what comes out.

    `keep` are arrays that the work read and left as they were.
    """
    manifest = shard.manifest
    old = dict(shard.cache)
    shard.cache = {}  # should this fail half way, nothing half done is kept
    sums: list[Array] = []
    new: dict[str, list[Array]] = {}
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(
                writing(
                    manifest.state_path(name, job.version, shard.number),
                    manifest.durable,
                    named=False,
                )
            )
            for name in names
        }
        for tile in range(len(manifest.tiles)):
            blocks, total = work(tile)
            if total is not None:
                sums.append(total)
            for name, block in blocks.items():
                new.setdefault(name, []).append(block)
            for name, file in files.items():
                file.write(blocks[name][: shard.n_rows].reshape(-1))
    left = {name: value for name, value in old.items() if name in keep}
    shard.keep(left | {name: (job.version, blocks) for name, blocks in new.items()})
    checksums = {name: file.crc32 for name, file in files.items()}
    return Done(checksums, np.hstack(sums) if sums else None)
