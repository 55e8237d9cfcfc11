"""``graphfill plan``: the numbers, and what to do by them."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..kernels._threads import available
from ..large import _refuse_planning
from ..large._estimate.calibration import Speeds, calibrate
from ..large._estimate.cost import (
    LANES,
    START_SECONDS,
    VALUE_BYTES,
    Cluster,
    Pace,
    Work,
    iteration_seconds,
    moved_bytes,
    n_iterations,
    sharded_iteration_seconds,
)
from ..large._estimate.halo import estimate_halo
from ..large._estimate.outline import Outline, outline
from ..large._estimate.shard_bytes import shard_bytes
from ..large._shards.layout import block_rows, check_shard_count
from ..solve._memory import parse_bytes, readable
from ._large import MOST_OF_MEMORY, SHARDS_PER_WORKER, machine_bytes
from ._plan_words import in_words

__all__ = ["in_words", "plan"]

LONG = 3600.0  # seconds on one machine after which several are advised

Said = dict[str, Any]


def plan(options: argparse.Namespace) -> Said:
    """Look the files over, try the machine, and say what each way would take."""
    seen = outline(options)
    folder = Path(options.table).resolve().parent
    speeds = calibrate(seen, folder)
    limit = parse_bytes(options.memory_limit) or int(MOST_OF_MEMORY * machine_bytes())
    sizing = seen.sizing
    work = Work(
        n_nodes=sizing.n_nodes,
        n_edges=sizing.n_edges,
        channels=sizing.channels,
        solver=options.solver,
        iterations=n_iterations(options.solver, options.steps),
        rounds=2 if options.reliance == "held-out" else 1,
    )
    said: Said = {
        "rows": seen.table.n_rows,
        "outside": seen.n_outside,
        "edges": sizing.n_edges,
        "columns": len(sizing.columns),
        "channels": sizing.channels,
        "solver": options.solver,
        "iterations": work.iterations,
        "rounds": work.rounds,
        "graph_bytes": sizing.graph_bytes + 8 * (sizing.n_nodes + 1),
        "limit": limit,
        "limit_named": options.memory_limit is not None,
        "in_memory": _in_memory(seen, work, speeds, options, limit),
        "from_disk": _from_disk(seen, work, speeds, limit),
        "shards": _in_shards(seen, work, speeds, options, limit),
        "notes": seen.guesses,
        "speeds": asdict(speeds),
    }
    said["advice"] = _advice(said, options)
    said["command"] = _command(options, said)
    return said


def _in_memory(
    seen: Outline, work: Work, speeds: Speeds, options: argparse.Namespace, limit: int
) -> Said:
    sizing = seen.sizing
    named = limit if options.memory_limit is not None else None
    peak = sizing.in_memory_peak(named)
    parts = {
        "start": START_SECONDS,
        "read": _cells(seen) * speeds.read_cell + work.n_edges * speeds.read_edge,
        "link": (work.n_nodes + work.entries) * speeds.link,
        **_filling(seen, work, speeds, [(work.channels, LANES)]),
        "write": _cells(seen) * speeds.write_cell,
    }
    fits = (sizing.in_memory_bytes if named else peak) <= limit
    return {"bytes": peak, "fits": fits, "seconds": sum(parts.values()), "parts": parts}


def _from_disk(seen: Outline, work: Work, speeds: Speeds, limit: int) -> Said:
    sizing = seen.sizing
    least = sizing.least_bytes
    said: Said = {"least_bytes": least, "fits": least <= limit}
    if not said["fits"]:
        return said
    groups, left = sizing.groups(limit)
    blocks = []  # channels that are solved together, and the width of their tiles
    for group in groups:
        channels = sum(sizing.columns[name].channels for name in group)
        together = sizing.together(channels, left)
        lanes = min(sizing.lanes(together, left), max(together, 1))
        blocks += [(channels, lanes)] if channels else []
    parts = {
        "start": START_SECONDS,
        "sort": _sorting(seen, speeds, limit),
        "read": _cells(seen) * speeds.read_cell,
        **_filling(seen, work, speeds, blocks),
        "write": _cells(seen) * (speeds.write_cell + speeds.read_cell),
    }
    cells = sum(size.cell_bytes for size in sizing.columns.values()) * sizing.n_nodes
    # Both directions of every edge, dealt out and then sorted; and the filled columns.
    dealt = 2 * work.n_edges * (8 + 8 * sizing.weighted)
    disk = int(max(dealt + sizing.graph_bytes, sizing.graph_bytes + cells))
    said |= {"bytes": sizing.from_disk_peak(limit), "groups": len(groups)}
    return said | {"disk_bytes": disk, "seconds": sum(parts.values()), "parts": parts}


def _in_shards(
    seen: Outline, work: Work, speeds: Speeds, options: argparse.Namespace, limit: int
) -> Said | None:
    if work.solver == "chebyshev":
        return None
    sizing = seen.sizing
    workers = options.workers or available()
    room = parse_bytes(options.worker_memory)
    # The process that cuts solves a block of channels at a time, as many as it has memory for.
    channels, driver = work.channels, sizing.least_bytes
    if driver <= limit:
        groups, left = sizing.groups(limit)
        widest = max(sum(sizing.columns[name].channels for name in group) for group in groups)
        channels, driver = sizing.together(widest, left), sizing.from_disk_peak(limit)
    if options.shards:
        check_shard_count(options.shards, work.n_nodes)
    shards = options.shards or _enough_shards(seen, work, workers, room, channels)
    halo = estimate_halo(seen.ends, work.n_nodes, work.n_edges, shards)
    shard, worker = shard_bytes(work, shards, workers, halo.rows, channels, sizing.weighted)
    if room is not None and options.shards:
        said = readable(room), readable(worker)
        _refuse_planning.check_worker_memory(room, worker, said, shards)
    cluster = Cluster(
        workers, shards, Pace(speeds.entry_alone, speeds.row_alone), speeds.write_byte
    )
    each = sharded_iteration_seconds(work, cluster, halo.rows)
    cutting = (sizing.graph_bytes + 4 * VALUE_BYTES * work.n_nodes * work.channels) * 2
    parts = {
        "start": 2 * START_SECONDS,
        "sort": _sorting(seen, speeds, max(limit, sizing.least_bytes)),
        "survey": len(sizing.columns) * speeds.survey,
        "cells": _cells(seen) * (speeds.cell + speeds.read_cell + speeds.write_cell),
        "cut": work.rounds * cutting * speeds.write_byte,
        "solve": work.rounds * work.iterations * each,
    }
    return {
        "shards": shards,
        "workers": workers,
        "crossing": halo.crossing,
        "halo_rows": halo.rows,
        "shard_bytes": shard,
        "worker_bytes": worker,
        "driver_bytes": driver,
        "moved_bytes": moved_bytes(work, shards, halo.rows),
        "iteration_seconds": each,
        "fits": sizing.least_bytes <= limit and (room is None or worker <= room),
        "seconds": sum(parts.values()),
        "parts": parts,
    }


def _enough_shards(seen: Outline, work: Work, workers: int, room: int | None, channels: int) -> int:
    """Four per worker, or more until a worker can hold its share; no more than rows allow."""
    most = _most_shards(work)
    shards = min(SHARDS_PER_WORKER * workers, most)
    while room is not None and shards < most:
        halo = estimate_halo(seen.ends, work.n_nodes, work.n_edges, shards)
        weighted = seen.sizing.weighted
        if shard_bytes(work, shards, workers, halo.rows, channels, weighted)[1] <= room:
            break
        shards = min(2 * shards, most)
    return shards


def _most_shards(work: Work) -> int:
    """Shards are cut between blocks of rows."""
    return max(1, -(-work.n_nodes // block_rows(work.n_nodes)))


def _filling(
    seen: Outline, work: Work, speeds: Speeds, blocks: list[tuple[int, int]]
) -> dict[str, float]:
    """What is done to columns whose channels are solved in such blocks."""
    pace = Pace(speeds.entry, speeds.row)
    each = sum(
        iteration_seconds(replace(work, channels=channels), pace, lanes)
        for channels, lanes in blocks
    )
    lacking = sum(size.channels > 0 for size in seen.sizing.columns.values())
    return {
        "survey": lacking * speeds.survey,
        "cells": lacking * seen.table.n_rows * speeds.cell,
        "solve": work.rounds * (work.iterations + 2) * each,
    }


def _sorting(seen: Outline, speeds: Speeds, limit: int) -> float:
    n_edges = seen.sizing.n_edges
    chunks = -(-n_edges // max(seen.sizing.chunk_edges(limit), 1))
    return n_edges * speeds.sort_edge + chunks * speeds.sort_chunk


def _cells(seen: Outline) -> int:
    return seen.table.n_rows * len(seen.table.names)


def _advice(said: Said, options: argparse.Namespace) -> str:
    """The way to go: the simplest that fits; shards where asked for or one machine takes long."""
    shards = said["shards"]
    single = "in memory" if said["in_memory"]["fits"] else "from disk"
    fits = said["in_memory"]["fits"] or said["from_disk"]["fits"]
    if shards is not None and shards["fits"]:
        alone = said["in_memory" if single == "in memory" else "from_disk"]
        many = options.workers is not None and options.workers > available()
        if not fits or (many and shards["seconds"] < min(LONG, 0.5 * alone["seconds"])):
            return "shards"
        if many and alone["seconds"] > LONG and shards["seconds"] < alone["seconds"]:
            return "shards"
    return single if fits else "no"


def _command(options: argparse.Namespace, said: Said) -> str | None:
    """What to type."""
    if said["advice"] == "no":
        return None
    words = ["graphfill", "impute", options.table, options.edges, "-o", "filled.parquet"]
    for name in ("id", "source", "target", "weight"):
        if getattr(options, name) is not None:
            words += [f"--{name}", getattr(options, name)]
    for name in ("columns", "exclude"):
        if getattr(options, name):
            words += [f"--{name}", ",".join(map(_quoted, getattr(options, name)))]
    if options.solver != "exact":
        words += ["--solver", options.solver, "--steps", str(options.steps)]
    if options.reliance != "held-out":
        words += ["--reliance", f"{options.reliance:g}"]
    if said["limit_named"]:
        words += ["--memory-limit", options.memory_limit]
    elif said["advice"] == "from disk":
        words += ["--memory-limit", str(said["limit"])]
    if said["advice"] == "shards":
        local = said["shards"]["workers"] <= available()
        words += ["--engine", "local" if local else "dask"]
        words += ["--workers", str(said["shards"]["workers"])] if local else []
        words += [] if local else ["--scheduler", "tcp://HOST:8786"]
        words += ["--shards", str(said["shards"]["shards"]), "--folder", "shards"]
    return shlex.join(words)


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
