"""The cost model at sizes that nobody here can run: 1 and 100 billion edges, in shards.

`python benchmarks/plan.py --model` prints it.
"""

from __future__ import annotations

import math

from graphfill.cli._plan import duration
from graphfill.large._estimate.plan import (
    Cluster,
    Pace,
    Work,
    moved_bytes,
    shard_bytes,
    sharded_iteration_seconds,
)
from graphfill.solve._memory import readable
from harness import table

# Assumed of every worker: one core, its share of a 10 Gbit/s network, a Dask scheduler.
PACE = Pace(entry=1.5e-9, row=1.5e-9)
MOVE_BYTE = 1 / 300e6
BARRIER, PER_SHARD = 0.1, 0.001
STEPS, COLUMNS = 40, 16
CROSSING = {"a fifth": 0.2, "nearly all": 1.0}
SIZES = {  # edges: nodes, workers, shards
    1_000_000_000: (50_000_000, 64, 256),
    100_000_000_000: (1_000_000_000, 2048, 8192),
}


def halo_rows(n_nodes: int, n_edges: int, n_shards: int, crossing: float) -> int:
    """Different rows among so many draws from the other shards, any of them as likely."""
    others = n_nodes - n_nodes / n_shards
    draws = crossing * 2 * n_edges / n_shards
    return int(-others * math.expm1(-draws / others))


def rows() -> list[dict]:
    """One per size and locality."""
    made = []
    for n_edges, (n_nodes, workers, shards) in SIZES.items():
        work = Work(n_nodes, n_edges, COLUMNS, "diffusion", STEPS)
        cluster = Cluster(workers, shards, PACE, MOVE_BYTE, BARRIER, PER_SHARD)
        for name, crossing in CROSSING.items():
            halo = halo_rows(n_nodes, n_edges, shards, crossing)
            shard, worker = shard_bytes(work, shards, workers, halo)
            each = sharded_iteration_seconds(work, cluster, halo)
            made.append(
                {
                    "edges": f"{n_edges:,}", "nodes": f"{n_nodes:,}", "workers": f"{workers:,}",
                    "shards": f"{shards:,}", "locality": name, "halo": f"{halo:,}",
                    "shard": readable(shard), "worker": readable(worker),
                    "moved": large(moved_bytes(work, shards, halo)), "each": duration(each),
                    "all": duration(STEPS * each),
                }
            )  # fmt: skip
    return made


def large(size: float) -> str:
    return f"{size / 1e12:.3g} TB" if size >= 1e12 else readable(size)


def print_model() -> None:
    heads = {
        "edges": "edges", "nodes": "nodes", "workers": "workers", "shards": "shards",
        "locality": "edges that leave their shard", "halo": "halo rows of a shard",
        "shard": "a shard", "worker": "a worker", "moved": "moved per step",
        "each": "a step", "all": f"{STEPS} steps",
    }  # fmt: skip
    print(
        f"{COLUMNS} columns of float64, {STEPS} steps of diffusion. Assumed of a worker: "
        f"{PACE.entry * 1e9:g} ns per entry and column, {1 / MOVE_BYTE / 1e6:.0f} MB/s to and from "
        f"the others; of a barrier {BARRIER:g} s and {PER_SHARD * 1000:g} ms per shard.\n"
    )
    print(table(rows(), heads))
