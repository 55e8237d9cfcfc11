r"""What a fill costs in time, from how much there is to do and how fast that is done; and shards
in memory.

One iteration of c channels on n nodes and m entries, cut into S shards that W workers step, takes

.. math:: (m\,t_e + (n + S h)\,t_r)\,c / W + (S h + k n)\,8 c / W B + b (\beta_0 + \beta_1 S)

seconds, with h the halo rows of a shard, k the arrays that are written down (1 for diffusion, 3
for conjugate gradients), B the bytes that a worker moves per second, and b the barriers (1 or 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .._disk.sizing import LANES, VALUE_BYTES
from .._shards.shard import CACHE_BYTES

CACHE_LINE = 8  # values
EXPECTED_ITERATIONS = 25  # of the exact solver: 15 to 40 on most graphs, 150 on roads
CHEBYSHEV_SHARE = 0.7  # products that stand for so many steps
PASSES_OVER_ROWS = {"exact": 3.0, "diffusion": 1.0, "chebyshev": 2.0}
ARRAYS_WRITTEN = {"exact": 3, "diffusion": 1}
BARRIERS = {"exact": 2, "diffusion": 1}
SHARDS_PER_WORKER = 4
WORKER_BYTES = 110_000_000  # Python with the libraries that a worker uses
ROW_BYTES = 60  # of a row beside its values: degree, factors, component, end of its entries


@dataclass(frozen=True)
class Work:
    """What there is to do."""

    n_nodes: int
    n_edges: int
    channels: int  # floats per node that are solved for
    solver: str
    iterations: int  # of each solve
    rounds: int = 1  # solves of every channel: 2 where the reliance is fitted on cells held out
    weighted: bool = False

    @property
    def entries(self) -> int:
        return 2 * self.n_edges


@dataclass(frozen=True)
class Pace:
    """Seconds per entry and lane, and per row and lane, of one worker."""

    entry: float
    row: float


@dataclass(frozen=True)
class Cluster:
    """Who does it; times are in seconds."""

    workers: int
    shards: int
    pace: Pace  # of one worker
    move_byte: float  # to or from the folder of shards, or over the network, per worker
    barrier: float = 0.01  # assumed
    per_shard: float = 0.004  # of a barrier: assumed


def n_iterations(solver: str, steps: int) -> int:
    """How many passes over the edges each channel will take."""
    if solver == "exact":
        return EXPECTED_ITERATIONS
    return max(1, round(CHEBYSHEV_SHARE * steps)) if solver == "chebyshev" else steps


def padded(channels: int, lanes: int) -> int:
    """Lanes of all tiles: a last one is as wide as the next power of two.

    Examples
    --------
    >>> padded(100, 16), padded(3, 16)
    (100, 4)
    """
    whole, rest = divmod(channels, lanes)
    return whole * lanes + (1 << (rest - 1).bit_length() if rest else 0)


def iteration_seconds(work: Work, pace: Pace, lanes: int) -> float:
    """One iteration of all channels in one process, in tiles of so many lanes."""
    rows = PASSES_OVER_ROWS[work.solver] * work.n_nodes * pace.row
    # Of a tile narrower than a cache line, some reads bring the rest of it for nothing.
    waste = math.sqrt(max(1.0, CACHE_LINE / max(min(lanes, work.channels), 1)))
    return padded(work.channels, lanes) * (waste * work.entries * pace.entry + rows)


def moved_bytes(work: Work, shards: int, halo_rows: int) -> int:
    """Read of other shards and written down, by all in one iteration."""
    rows = shards * halo_rows + ARRAYS_WRITTEN[work.solver] * work.n_nodes
    return rows * VALUE_BYTES * padded(work.channels, LANES)


def sharded_iteration_seconds(work: Work, cluster: Cluster, halo_rows: int) -> float:
    """One iteration of all channels by a cluster."""
    busy = -(-cluster.shards // cluster.workers) / cluster.shards  # share of the slowest worker
    # Halo rows are stepped where they are read as well as where they belong.
    stepped = replace(work, n_nodes=work.n_nodes + cluster.shards * halo_rows)
    computing = iteration_seconds(stepped, cluster.pace, LANES) * busy
    moving = moved_bytes(work, cluster.shards, halo_rows) * busy * cluster.move_byte
    waiting = cluster.barrier + cluster.per_shard * cluster.shards
    return computing + moving + BARRIERS[work.solver] * waiting


def shard_bytes(work: Work, shards: int, workers: int, halo_rows: int) -> tuple[int, int]:
    """What one shard takes at work, and what a worker does that steps its share of them.

    A step of diffusion holds two arrays of rows and halo; conjugate gradients three, and one of
    rows alone. A worker keeps those of its shards from step to step as far as it has room.
    """
    rows, lanes = -(-work.n_nodes // shards), padded(work.channels, LANES)
    arrays = 3 * (rows + halo_rows) + rows if work.solver == "exact" else 2 * (rows + halo_rows)
    stepping = arrays * lanes * VALUE_BYTES
    entries = work.entries // shards * (4 + VALUE_BYTES * work.weighted)
    mapped = entries + rows * (work.channels * VALUE_BYTES + ROW_BYTES)
    share = -(-shards // workers)
    kept = min(share * stepping, CACHE_BYTES)
    return stepping + mapped, WORKER_BYTES + max(kept, stepping) + share * mapped
