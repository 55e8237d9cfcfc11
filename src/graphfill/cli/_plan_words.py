"""A plan in words, drawn from the same numbers as the JSON."""

from __future__ import annotations

from typing import Any

from ..report._text import text_table
from ..solve._memory import readable

Said = dict[str, Any]


def in_words(said: Said) -> str:
    """What `graphfill plan` found."""
    outside = f", {said['outside']:,} more nodes that only edges name" if said["outside"] else ""
    times = "twice (the reliance is fitted)" if said["rounds"] == 2 else "once"
    counted = "assumed" if said["solver"] == "exact" else "asked for"
    lines = [
        f"{said['rows']:,} rows{outside}, {said['edges']:,} edges, {said['columns']:,} columns "
        f"({said['channels']:,} channels); the sorted graph takes {readable(said['graph_bytes'])}.",
        f"Each channel is solved {times}, {said['iterations']} iterations {counted}.",
        "",
        *text_table(("", "memory", "time", "fits"), _rows(said)),
        "",
        *_disk(said),
        *_shards(said),
        *_advice(said),
    ]
    if said["notes"]:
        lines += ["", "Notes:", *(f"  - {note}" for note in said["notes"])]
    return "\n".join(lines)


def _rows(said: Said) -> list[tuple[str, str, str, str]]:
    memory, disk, shards = said["in_memory"], said["from_disk"], said["shards"]
    rows = [
        (
            "in memory",
            readable(memory["bytes"]),
            duration(memory["seconds"]),
            _fits(memory, said),
        )
    ]
    if disk["fits"]:
        name = f"from disk, {disk['groups']} group(s) of columns"
        rows.append((name, readable(disk["bytes"]), duration(disk["seconds"]), _fits(disk, said)))
    else:
        rows.append(("from disk", readable(disk["least_bytes"]), "", _fits(disk, said)))
    if shards is not None:
        name = f"{shards['shards']} shards, {shards['workers']} worker(s)"
        memory_said = f"{readable(shards['worker_bytes'])} a worker"
        rows.append((name, memory_said, duration(shards["seconds"]), _fits(shards, said)))
    return rows


def _fits(way: Said, said: Said) -> str:
    return "yes" if way["fits"] else f"no ({readable(said['limit'])})"


def _disk(said: Said) -> list[str]:
    disk = said["from_disk"]
    if not disk["fits"]:
        return []
    return [f"From disk, {readable(disk['disk_bytes'])} are needed beside the output meanwhile."]


def _shards(said: Said) -> list[str]:
    shards = said["shards"]
    if shards is None:
        return ["Shards take --solver exact or diffusion.", ""]
    return [
        f"Of {shards['shards']} shards, each takes {readable(shards['shard_bytes'])} and reads "
        f"{shards['halo_rows']:,} rows of others ({shards['crossing']:.0%} of the edges cross); "
        f"{readable(shards['moved_bytes'])} move per iteration of "
        f"{duration(shards['iteration_seconds'])}. The process that cuts them takes "
        f"{readable(shards['driver_bytes'])}.",
        "",
    ]


def _advice(said: Said) -> list[str]:
    if said["advice"] == "no":
        return [
            f"No: {readable(said['limit'])} cannot be kept, for one column at a time takes "
            f"{readable(said['from_disk']['least_bytes'])}. Raise the limit, or take a machine "
            "with more memory."
        ]
    how = {
        "in memory": "One machine, in memory:",
        "from disk": "One machine, from disk:",
        "shards": f"{said['shards'] and said['shards']['shards']} shards:",
    }
    return [how[said["advice"]], f"  {said['command']}"]


def duration(seconds: float) -> str:
    """
    >>> duration(0.42), duration(95), duration(9000)
    ('0.42 s', '95 s', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 99.5 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
