"""How fast this machine is at what a fill does: the real code on samples, for a few seconds."""

from __future__ import annotations

import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...kernels._threads import available
from .edge_trial import link_speed, sort_speed
from .kernel_trial import kernel_speed
from .outline import Outline
from .table_trial import table_speeds
from .timing import timed

WRITTEN = 1 << 24  # bytes


@dataclass(frozen=True)
class Speeds:
    """Seconds per unit of work.

    Attributes
    ----------
    entry, row : float
        Per entry of the graph (per row of a tile) and lane, in a pass by all threads.
    entry_alone, row_alone : float
        By one thread.
    read_edge : float
    link : float
        Per id, in the table or at an end of an edge, until the graph is in memory.
    sort_edge, sort_chunk : float
        To sort an edge into a file; and per chunk of them.
    read_cell, cell, write_cell : float
        To read a cell; to make channels of it and back; to write it.
    survey : float
        Per column: do neighbours agree in it?
    write_byte : float
        To write a byte to the disk, checksum included, and have it there.
    """

    entry: float
    row: float
    entry_alone: float
    row_alone: float
    read_edge: float
    link: float
    sort_edge: float
    sort_chunk: float
    read_cell: float
    cell: float
    write_cell: float
    survey: float
    write_byte: float


def calibrate(seen: Outline, folder: Path) -> Speeds:
    """Try everything once; `folder` is where the disk is tried."""
    entry, row = kernel_speed(seen, available())
    alone = (entry, row) if available() == 1 else kernel_speed(seen, 1)
    read_cell, cell, write_cell, survey = table_speeds(seen)
    with tempfile.TemporaryDirectory(prefix=".graphfill-", dir=folder) as place:
        sort_edge, sort_chunk = sort_speed(seen, Path(place))
        write_byte = disk_speed(Path(place))
    return Speeds(
        entry=entry,
        row=row,
        entry_alone=alone[0],
        row_alone=alone[1],
        read_edge=seen.read_seconds,
        link=link_speed(seen),
        sort_edge=sort_edge,
        sort_chunk=sort_chunk,
        read_cell=read_cell,
        cell=cell,
        write_cell=write_cell,
        survey=survey,
        write_byte=write_byte,
    )


def disk_speed(folder: Path) -> float:
    """Seconds per byte that is summed up, written and forced to disk."""
    data = np.random.default_rng(0).bytes(WRITTEN)

    def write() -> None:
        with open(folder / "trial.bin", "wb", buffering=0) as file:
            zlib.crc32(data)
            file.write(data)
            os.fsync(file.fileno())

    return timed(write)[0] / WRITTEN
