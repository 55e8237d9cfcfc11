"""What each way to fill two files would take: in memory, from disk, in shards; and the best."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import InputError, option
from ...kernels._threads import available
from ...solve._memory import readable
from ...table._options import TableOptions
from .._disk.sizing import LANES, VALUE_BYTES, default_limit
from .._shards.layout import block_rows, check_shard_count
from . import cost
from .cost import Cluster, Pace, Work
from .sample import Halo, Sample, estimate_halo, take_sample
from .speeds import Speeds, measure_speeds

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


def plan_fill(
    table: str | Path,
    edges: str | Path,
    options: TableOptions,
    machines: Machines,
) -> Numbers:
    """Look at two Parquet files, try the machine, and say what each way would take."""
    sample = take_sample(table, edges, options)
    speeds = measure_speeds(sample, Path(table).resolve().parent)
    sizing, solver = sample.sizing, options.fill.propagation.solver
    work = Work(
        n_nodes=sizing.n_nodes,
        n_edges=sizing.n_edges,
        channels=sizing.channels(sizing.columns),
        solver=solver,
        iterations=cost.n_iterations(solver, options.fill.propagation.n_iter),
        rounds=2 if options.fill.reliance == "held-out" else 1,
        weighted=sizing.weighted,
    )
    limit = machines.memory_limit or default_limit()
    ways = Ways(sample, speeds, work, machines, limit)
    plan = {
        "rows": sample.inputs.table.n_rows,
        "outside": sample.n_outside,
        "edges": sizing.n_edges,
        "columns": len(sizing.columns),
        "channels": work.channels,
        "solver": solver,
        "iterations": work.iterations,
        "rounds": work.rounds,
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
        sizing, speeds, cells = self.sample.sizing, self.speeds, self._n_cells()
        peak = least = sizing.in_memory_peak(self.machines.memory_limit)
        if self.machines.memory_limit is not None:
            least = sizing.in_memory_bytes
        parts = {
            "start": START_SECONDS,
            "read": cells * speeds.read_cell + self.work.n_edges * speeds.read_edge,
            "link": (self.work.n_nodes + self.work.entries) * speeds.link,
            **self._filling([(self.work.channels, LANES)]),
            "write": cells * speeds.write_cell,
        }
        return {"bytes": peak, "fits": least <= self.limit, **_total(parts)}

    def from_disk(self) -> Numbers:
        sizing, speeds, cells = self.sample.sizing, self.speeds, self._n_cells()
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
            "read": cells * speeds.read_cell,
            **self._filling(blocks),
            "write": cells * (speeds.write_cell + speeds.read_cell),
        }
        # Both directions of every edge, as read and then sorted; and the filled columns.
        unsorted = 2 * sizing.n_edges * (8 + 8 * sizing.weighted)
        filled = sum(size.cell_bytes for size in sizing.columns.values()) * sizing.n_nodes
        return {
            "least_bytes": least,
            "fits": True,
            "bytes": sizing.from_disk_peak(self.limit),
            "groups": len(groups),
            "disk_bytes": int(sizing.graph_bytes + max(unsorted, filled)),
            **_total(parts),
        }

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
        shards, halo, shard, worker = self._shards(block, workers)
        pace = Pace(speeds.entry_alone, speeds.row_alone)
        cluster = Cluster(workers, shards, pace, speeds.write_byte)
        each = cost.sharded_iteration_seconds(work, cluster, halo.rows)
        cutting = (sizing.graph_bytes + 4 * VALUE_BYTES * work.n_nodes * work.channels) * 2
        cell = speeds.cell + speeds.read_cell + speeds.write_cell
        parts = {
            "start": 2 * START_SECONDS,
            "sort": self._sorting(max(self.limit, sizing.least_bytes)),
            "survey": len(sizing.columns) * speeds.survey,
            "cells": self._n_cells() * cell,
            "cut": work.rounds * cutting * speeds.write_byte,
            "solve": work.rounds * work.iterations * each,
        }
        room = self.machines.worker_memory
        return {
            "shards": shards,
            "workers": workers,
            "crossing": halo.crossing,
            "halo_rows": halo.rows,
            "shard_bytes": shard,
            "worker_bytes": worker,
            "driver_bytes": driver,
            "moved_bytes": cost.moved_bytes(work, shards, halo.rows),
            "iteration_seconds": each,
            "fits": sizing.least_bytes <= self.limit and (room is None or worker <= room),
            **_total(parts),
        }

    def _shards(self, block: Work, workers: int) -> tuple[int, Halo, int, int]:
        """How many shards, what each reads of the others, and the bytes of a shard and a worker.

        Four per worker, or more until a worker can hold its share; no more than rows allow.
        """
        # Shards are cut between blocks of rows.
        most = max(1, -(-block.n_nodes // block_rows(block.n_nodes)))
        asked, room = self.machines.shards, self.machines.worker_memory
        if asked:
            check_shard_count(asked, block.n_nodes)
        shards = asked or min(cost.SHARDS_PER_WORKER * workers, most)
        while True:
            halo = estimate_halo(self.sample.ends, block.n_nodes, block.n_edges, shards)
            shard, worker = cost.shard_bytes(block, shards, workers, halo.rows)
            if room is None or worker <= room or (not asked and shards == most):
                return shards, halo, shard, worker
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
        each = sum(cost.iteration_seconds(replace(work, channels=c), pace, n) for c, n in blocks)
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
