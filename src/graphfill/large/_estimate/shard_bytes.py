"""How much memory shards take, and the workers that step them."""

from __future__ import annotations

from .._shards.shard import CACHE_BYTES
from .cost import LANES, VALUE_BYTES, Work, padded

WORKER_BYTES = 110_000_000  # Python with the libraries that a worker uses
ROW_BYTES = 60  # of a row beside its values: degree, factors, component, end of its entries


def shard_bytes(
    work: Work, shards: int, workers: int, halo_rows: int, channels: int, weighted: bool
) -> tuple[int, int]:
    """What one shard takes at work, and what a worker does that steps its share of them.

    A step of diffusion holds two arrays of rows and halo; conjugate gradients three, and one of
    rows alone. A worker keeps those of its shards from step to step as far as it has room.
    """
    rows, lanes = -(-work.n_nodes // shards), padded(channels, LANES)
    arrays = 3 * (rows + halo_rows) + rows if work.solver == "exact" else 2 * (rows + halo_rows)
    stepping = arrays * lanes * VALUE_BYTES
    entries = work.entries // shards * (4 + VALUE_BYTES * weighted)
    mapped = entries + rows * (channels * VALUE_BYTES + ROW_BYTES)
    share = -(-shards // workers)
    kept = min(share * stepping, CACHE_BYTES)
    return stepping + mapped, WORKER_BYTES + max(kept, stepping) + share * mapped
