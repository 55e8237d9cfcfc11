"""``graphfill plan``: what a fill will take, as numbers and in words, and what to type."""

from __future__ import annotations

import argparse
import shlex
import tempfile
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..kernels._threads import available
from ..large._estimate.linked import plan_linked
from ..large._estimate.plan import Machines, plan_fill
from ..report._text import text_table
from ..solve._memory import parse_bytes, readable
from ._options import table_options

__all__ = ["in_words", "plan"]

Numbers = dict[str, Any]


def plan(options: argparse.Namespace) -> Numbers:
    """The numbers of each way to fill, which way to go, and the command for it."""
    machines = Machines(
        memory_limit=parse_bytes(options.memory_limit),
        shards=options.shards,
        workers=options.workers,
        worker_memory=parse_bytes(options.worker_memory),
    )
    chosen = table_options(options)
    if options.edges is not None and not chosen.links:
        numbers = plan_fill(options.table, options.edges, chosen, machines)
    elif options.edges is None and chosen.links:
        with tempfile.TemporaryDirectory(prefix="graphfill-") as folder:
            numbers = plan_linked(options.table, chosen, Path(folder), machines)
    else:
        raise InputError(
            "A plan is for links that are read or for links that are made: name EDGES, or what "
            "links the rows (--near, --same, --time, --like)."
        )
    numbers["links_made"] = options.edges is None
    return numbers | {"command": _command(options, numbers)}


def _command(options: argparse.Namespace, numbers: Numbers) -> str | None:
    """What to type."""
    if numbers["advice"] == "no":
        return None
    words = ["graphfill", "impute", options.table]
    making, weight = _making(options), []
    if options.edges is not None:
        words.append(options.edges)
    elif numbers["advice"] == "in memory":
        words += making
    else:  # beyond memory, links are read
        words.append("links.parquet")
        weight = ["--weight", "weight"] if options.near or options.time or options.like else []
    words += ["-o", "filled.parquet", *weight]
    for name in ("id", "source", "target", "weight", "weight_means"):
        if getattr(options, name) is not None:
            words += [f"--{name.replace('_', '-')}", getattr(options, name)]
    for name in ("columns", "exclude"):
        listed = [f'"{n}"' if "," in n else n for n in getattr(options, name) or ()]
        words += [f"--{name}", ",".join(listed)] if listed else []
    if options.solver != "exact":
        words += ["--solver", options.solver, "--steps", str(options.steps)]
    if options.reliance != "held-out":
        words += ["--reliance", f"{options.reliance:g}"]
    if numbers["limit_named"]:
        words += ["--memory-limit", options.memory_limit]
    elif numbers["advice"] == "from disk":
        words += ["--memory-limit", str(numbers["limit"])]
    if numbers["advice"] == "shards":
        workers, shards = numbers["shards"]["workers"], numbers["shards"]["shards"]
        if workers <= available():
            words += ["--engine", "local", "--workers", str(workers)]
        else:
            words += ["--engine", "dask", "--scheduler", "tcp://HOST:8786"]
        words += ["--shards", str(shards), "--folder", "shards"]
    return shlex.join(words)


def _making(options: argparse.Namespace) -> list[str]:
    """The options that make links, as typed."""
    words: list[str] = []
    for name in ("near", "same", "like"):
        listed = [f'"{n}"' if "," in n else n for n in getattr(options, name) or ()]
        words += [f"--{name}", ",".join(listed)] if listed else []
    words += ["--time", options.time] if options.time is not None else []
    words += ["--nearest", str(options.nearest)] if options.nearest is not None else []
    return words + [f"--{name}" for name in ("plane", "join") if getattr(options, name)]


# -- in words --


def in_words(numbers: Numbers) -> str:
    """The plan as text, from the same numbers as the JSON."""
    n = numbers
    outside = f", {n['outside']:,} more nodes that only edges name" if n["outside"] else ""
    times = "twice (the reliance is fitted)" if n["rounds"] == 2 else "once"
    counted = "assumed" if n["solver"] == "exact" else "asked for"
    lines = [
        f"{n['rows']:,} rows{outside}, {n['edges']:,} edges, {n['columns']:,} columns "
        f"({n['channels']:,} channels); the sorted graph takes {readable(n['graph_bytes'])}.",
        f"Each channel is solved {times}, {n['iterations']} iterations {counted}.",
        "",
        *text_table(("", "memory", "time", "fits"), _rows(n)),
        "",
    ]
    if n["from_disk"]["fits"]:
        needed = readable(n["from_disk"]["disk_bytes"])
        lines.append(f"From disk, {needed} are needed beside the output meanwhile.")
    lines += [_shards(n["shards"]), "", *_advice(n)]
    if n["notes"]:
        lines += ["", "Notes:", *(f"  - {note}" for note in n["notes"])]
    return "\n".join(lines)


def _rows(numbers: Numbers) -> list[tuple[str, str, str, str]]:
    """A row for each way: its name, memory and time, and whether it fits."""
    memory, disk, shards = numbers["in_memory"], numbers["from_disk"], numbers["shards"]
    ways = [("in memory", memory, readable(memory["bytes"]))]
    if disk["fits"]:
        name = f"from disk, {disk['groups']} group(s) of columns"
        ways.append((name, disk, readable(disk["bytes"])))
    else:
        ways.append(("from disk", disk, readable(disk["least_bytes"])))
    if shards is not None:
        name = f"{shards['shards']} shards, {shards['workers']} worker(s)"
        ways.append((name, shards, f"{readable(shards['worker_bytes'])} a worker"))
    no = f"no ({readable(numbers['limit'])})"
    rows = []
    for name, way, size in ways:
        time = duration(way["seconds"]) if "seconds" in way else ""
        rows.append((name, size, time, "yes" if way["fits"] else no))
    return rows


def _shards(shards: Numbers | None) -> str:
    if shards is None:
        return "Shards take --solver exact or diffusion."
    return (
        f"Of {shards['shards']} shards, each takes {readable(shards['shard_bytes'])} and reads "
        f"{shards['halo_rows']:,} rows of others ({shards['crossing']:.0%} of the edges cross); "
        f"{readable(shards['moved_bytes'])} move per iteration of "
        f"{duration(shards['iteration_seconds'])}. The process that cuts them takes "
        f"{readable(shards['driver_bytes'])}."
    )


def _advice(numbers: Numbers) -> list[str]:
    advice = numbers["advice"]
    if advice == "no":
        return [
            f"No: {readable(numbers['limit'])} cannot be kept, for one column at a time takes "
            f"{readable(numbers['from_disk']['least_bytes'])}. Raise the limit, or take a machine "
            "with more memory."
        ]
    if numbers["links_made"] and advice != "in memory":
        return [
            "The links take memory to make: write them first where there is enough of it "
            "(graphfill check ... --keep-links links.parquet), then:",
            f"  {numbers['command']}",
        ]
    way = f"One machine, {advice}"
    if advice == "shards":
        way = f"{numbers['shards']['shards']} shards"
    return [f"{way}:", f"  {numbers['command']}"]


def duration(seconds: float) -> str:
    """
    >>> duration(0.42), duration(95), duration(9000)
    ('0.42 s', '95 s', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 99.5 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
