r"""What each way to fill two files would take: in memory, from disk, in shards; and the best.

One iteration of c channels on n nodes and m entries, cut into S shards that W workers step, takes

.. math:: (m\,t_e + (n + S h)\,t_r)\,c / W + (S h + k n)\,8 c / W B + b (\beta_0 + \beta_1 S)

seconds, with h the halo rows of a shard, k the arrays that are written down (1 for diffusion, 3
for conjugate gradients), B the bytes that a worker moves per second, and b the barriers (1 or 2).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import InputError, option
from ...kernels._threads import available
from ...solve._memory import readable
from ...table._options import TableOptions
from .._disk.sizing import LANES, VALUE_BYTES, default_limit
from .._engines.engine import SHARDS_PER_WORKER
from .._shards.cutting import check_shard_count, count_blocks
from .._shards.shard import CACHE_BYTES
from .sample import Sample, estimate_halo, take_sample
from .speeds import Pace, Speeds, measure_speeds

CACHE_LINE = 8  # values
EXPECTED_ITERATIONS = 25  # of the exact solver: 15 to 40 on most graphs, 150 on roads
CHEBYSHEV_SHARE = 0.7  # products that stand for so many steps
PASSES_OVER_ROWS = {"exact": 3.0, "diffusion": 1.0, "chebyshev": 2.0}
ARRAYS_WRITTEN = {"exact": 3, "diffusion": 1}
BARRIERS = {"exact": 2, "diffusion": 1}
WORKER_BYTES = 110_000_000  # Python with the libraries that a worker uses
ROW_BYTES = 60  # of a row beside its values: degree, factors, component, end of its entries
START_SECONDS = 1.1  # Python and its libraries
LONG = 3600.0  # seconds on one machine after which several are advised

Numbers = dict[str, Any]


@dataclass(frozen=True)
class Machines:
    """What may be used; None leaves it to the plan."""

    memory_limit: int | None = None  # bytes of the process that fills
    shards: int | None = None
    workers: int | None = None
    worker_memory: int | None = None  # bytes of each


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


@dataclass(frozen=True)
class Cluster:
    """Who does it; times are in seconds."""

    workers: int
    shards: int
    pace: Pace  # of one worker
    move_byte: float  # to or from the folder of shards, or over the network, per worker
    barrier: float = 0.01  # assumed
    per_shard: float = 0.004  # of a barrier: assumed


def padded(channels: int, lanes: int) -> int:
    """Lanes of all tiles: a last one is as wide as the next power of two.

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
    return padded(work.channels, lanes) * (waste * 2 * work.n_edges * pace.entry + rows)


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
    entries = 2 * work.n_edges // shards * (4 + VALUE_BYTES * work.weighted)
    mapped = entries + rows * (work.channels * VALUE_BYTES + ROW_BYTES)
    share = -(-shards // workers)
    kept = min(share * stepping, CACHE_BYTES)
    return stepping + mapped, WORKER_BYTES + max(kept, stepping) + share * mapped


def plan_fill(
    table: str | Path, edges: str | Path, options: TableOptions, machines: Machines
) -> Numbers:
    """Look at two Parquet files, try the machine, and say what each way would take."""
    sample = take_sample(table, edges, options)
    speeds = measure_speeds(sample, Path(table).resolve().parent)
    sizing, solver, steps = sample.sizing, options.fill.propagation.solver, EXPECTED_ITERATIONS
    if solver != "exact":
        steps = options.fill.propagation.n_iter
    if solver == "chebyshev":
        steps = max(1, round(CHEBYSHEV_SHARE * steps))
    channels, rounds = sizing.channels(sizing.columns), 1 + (options.fill.reliance == "held-out")
    work = Work(sizing.n_nodes, sizing.n_edges, channels, solver, steps, rounds, sizing.weighted)
    limit = machines.memory_limit or default_limit()
    ways = Ways(sample, speeds, work, machines, limit)
    plan = {
        "rows": sample.inputs.table.n_rows,
        "outside": sample.n_outside,
        "edges": sizing.n_edges,
        "columns": len(sizing.columns),
        "channels": channels,
        "solver": solver,
        "iterations": steps,
        "rounds": rounds,
        "graph_bytes": sizing.graph_bytes + 8 * (sizing.n_nodes + 1),
        "limit": limit,
        "limit_named": machines.memory_limit is not None,
        "in_memory": ways.in_memory(),
        "from_disk": ways.from_disk(),
        "shards": ways.in_shards(),
        "notes": sample.inputs.guesses,
        "speeds": asdict(speeds),
    }
    return plan | {"advice": _advice(plan, machines.workers)}


@dataclass(frozen=True)
class Ways:
    """The ways to fill, each with its memory and its time, part by part."""

    sample: Sample
    speeds: Speeds
    work: Work
    machines: Machines
    limit: int

    def in_memory(self) -> Numbers:
        sizing, speeds, work = self.sample.sizing, self.speeds, self.work
        peak = least = sizing.in_memory_peak(self.machines.memory_limit)
        if self.machines.memory_limit is not None:
            least = sizing.in_memory_bytes
        parts = {
            "start": START_SECONDS,
            "read": self._n_cells * speeds.read_cell + work.n_edges * speeds.read_edge,
            "link": (work.n_nodes + 2 * work.n_edges) * speeds.link,
            **self._filling([(work.channels, LANES)]),
            "write": self._n_cells * speeds.write_cell,
        }
        return {"bytes": peak, "fits": least <= self.limit, **_total(parts)}

    def from_disk(self) -> Numbers:
        sizing, speeds = self.sample.sizing, self.speeds
        least = sizing.least_bytes
        if least > self.limit:
            return {"least_bytes": least, "fits": False}
        groups, left = sizing.groups(self.limit)
        blocks = []  # channels that are solved together, and the width of their tiles
        for channels in filter(None, map(sizing.channels, groups)):
            together = sizing.together(channels, left)
            blocks.append((channels, min(sizing.lanes(together, left), together)))
        parts = {
            "start": START_SECONDS,
            "sort": self._sorting(self.limit),
            "read": self._n_cells * speeds.read_cell,
            **self._filling(blocks),
            "write": self._n_cells * (speeds.write_cell + speeds.read_cell),
        }
        # Both directions of every edge, as read and then sorted; and the filled columns.
        unsorted = 2 * sizing.n_edges * (8 + 8 * sizing.weighted)
        filled = sum(size.cell_bytes for size in sizing.columns.values()) * sizing.n_nodes
        disk = int(sizing.graph_bytes + max(unsorted, filled))
        peak = sizing.from_disk_peak(self.limit)
        return {
            "least_bytes": least, "fits": True, "bytes": peak, "groups": len(groups),
            "disk_bytes": disk, **_total(parts),
        }  # fmt: skip

    def in_shards(self) -> Numbers | None:
        if self.work.solver == "chebyshev":
            return None
        sizing, speeds, work = self.sample.sizing, self.speeds, self.work
        # The process that cuts solves a block of channels at a time, as many as it has memory for.
        block, driver = work, sizing.least_bytes
        if driver <= self.limit:
            groups, left = sizing.groups(self.limit)
            widest = max(map(sizing.channels, groups))
            block = replace(work, channels=sizing.together(widest, left))
            driver = sizing.from_disk_peak(self.limit)
        workers = self.machines.workers or available()
        numbers = self._shards(block, workers)
        shards, halo_rows = numbers["shards"], numbers["halo_rows"]
        pace = Pace(speeds.entry_alone, speeds.row_alone)
        cluster = Cluster(workers, shards, pace, speeds.write_byte)
        each = sharded_iteration_seconds(work, cluster, halo_rows)
        cutting = (sizing.graph_bytes + 4 * VALUE_BYTES * work.n_nodes * work.channels) * 2
        cell = speeds.cell + speeds.read_cell + speeds.write_cell
        parts = {
            "start": 2 * START_SECONDS,
            "sort": self._sorting(max(self.limit, sizing.least_bytes)),
            "survey": len(sizing.columns) * speeds.survey,
            "cells": self._n_cells * cell,
            "cut": work.rounds * cutting * speeds.write_byte,
            "solve": work.rounds * work.iterations * each,
        }
        room, moved = self.machines.worker_memory, moved_bytes(work, shards, halo_rows)
        numbers |= {"driver_bytes": driver, "moved_bytes": moved, "iteration_seconds": each}
        fits = sizing.least_bytes <= self.limit and (
            room is None or numbers["worker_bytes"] <= room
        )
        return numbers | {"fits": fits, **_total(parts)}

    def _shards(self, block: Work, workers: int) -> Numbers:
        """How many shards, what each reads of the others, and the bytes of a shard and a worker.

        Four per worker, or more until a worker can hold its share; no more than rows allow.
        """
        most = count_blocks(block.n_nodes)
        asked, room = self.machines.shards, self.machines.worker_memory
        if asked:
            check_shard_count(asked, block.n_nodes)
        shards = asked or min(SHARDS_PER_WORKER * workers, most)
        while True:
            halo = estimate_halo(self.sample.ends, block.n_nodes, block.n_edges, shards)
            shard, worker = shard_bytes(block, shards, workers, halo.rows)
            if room is None or worker <= room or (not asked and shards == most):
                return {
                    "shards": shards, "workers": workers, "crossing": halo.crossing,
                    "halo_rows": halo.rows, "shard_bytes": shard, "worker_bytes": worker,
                }  # fmt: skip
            if asked:
                raise InputError(
                    f"{option('worker_memory').rstrip('=')} {readable(room)} cannot hold one of "
                    f"{shards:,} shard(s), which takes {readable(worker)}: name more "
                    f"{option('shards').rstrip('=')}."
                )
            shards = min(2 * shards, most)

    def _filling(self, blocks: list[tuple[int, int]]) -> dict[str, float]:
        """The time of what is done to columns whose channels are solved in such blocks."""
        speeds, work = self.speeds, self.work
        pace = Pace(speeds.entry, speeds.row)
        each = sum(iteration_seconds(replace(work, channels=c), pace, n) for c, n in blocks)
        lacking = sum(size.channels > 0 for size in self.sample.sizing.columns.values())
        return {
            "survey": lacking * speeds.survey,
            "cells": lacking * self.sample.inputs.table.n_rows * speeds.cell,
            "solve": work.rounds * (work.iterations + 2) * each,
        }

    def _sorting(self, limit: int) -> float:
        sizing = self.sample.sizing
        chunks = -(-sizing.n_edges // max(sizing.chunk_edges(limit), 1))
        return sizing.n_edges * self.speeds.sort_edge + chunks * self.speeds.sort_chunk

    @property
    def _n_cells(self) -> int:
        table = self.sample.inputs.table
        return table.n_rows * len(table.names)


def _total(parts: dict[str, float]) -> Numbers:
    return {"seconds": sum(parts.values()), "parts": parts}


def _advice(plan: Numbers, workers: int | None) -> str:
    """The way to go: the simplest that fits; shards where asked for or one machine takes long."""
    single = "in memory" if plan["in_memory"]["fits"] else "from disk"
    alone, shards = plan[single.replace(" ", "_")], plan["shards"]
    many = workers is not None and workers > available()
    if many and shards is not None and shards["fits"]:  # so does one machine, from disk at least
        least = alone["seconds"] if alone["seconds"] > LONG else 0.5 * alone["seconds"]
        if shards["seconds"] < least:
            return "shards"
    return single if alone["fits"] else "no"
