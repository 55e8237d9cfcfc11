"""How much memory the parts of a fill take, from file to file, and how a limit is kept.

The constants were fitted to measured peaks (resident memory of the whole process, stage by
stage); ``benchmarks/plan.py`` compares the estimates with new ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from ... import kernels
from ...errors import InputError, option
from ...graph import CACHE_BYTES
from ...io import machine_memory
from ...kernels._threads import default_threads
from ...solve import SMALL_BYTES
from ...solve._memory import BLOCKS, Footprint, readable
from ...trust._channels import BLOCK_BYTES
from .graph_file import EDGE_BYTES, SORT_BYTES
from .parquet import EDGES_AT_ONCE, ColumnSize, EdgeFile, TableFile

BASE_BYTES = 185_000_000  # Python with the libraries that are used
NODE_BYTES = 60  # ends of rows, components, numbers in place of ids
SURVEY_BYTES = 30_000_000  # pairs of neighbours that are compared, at most
WRITER_BYTES = 45_000_000  # of a Parquet file that is being written, at most
WORK_BYTES = 17  # of a cell at work beside itself: its float, whether it is missing
MISSING_BYTES = 16  # of a missing cell beyond that: its row, what it is filled with
VALUE_BYTES = 8  # of a channel
LANES = 16  # of a tile at most: two cache lines
TOGETHER = 64  # channels that are enough for one block
# Reading edges whole: per edge beside its own bytes, and per node; more where ends are texts.
LINK_BYTES, LINK_NODE_BYTES = 53, 130
TEXT_COPIES, TEXT_NODE_COPIES = 2.75, 15.0
# Reading edges in chunks: per edge of one, and the reader. Under a limit, this share of it is
# taken not to be free again for what follows.
CHUNK_BYTES, READER_BYTES = 150, 25_000_000
NOT_FREED = 0.1
MARGIN_BYTES = 28_000_000  # of a limit, left alone
MOST_OF_MEMORY = 0.75  # where no limit is named
SAFETY = 1.15  # by which an estimate may be too low, where a limit has to be kept


@dataclass(frozen=True)
class Sizing:
    """What decides how much memory a fill from file to file takes, and how a limit is kept."""

    n_nodes: int  # known so far
    n_edges: int  # as listed, each of which becomes two entries at most
    id_bytes: float  # of a node
    end_bytes: float  # of both ends of an edge and its weight
    columns: dict[str, ColumnSize]  # those that may be filled
    row_bytes: float  # of the whole table
    group_rows: int  # of the table's largest row group
    weighted: bool
    text_ids: bool
    solver: str

    @classmethod
    def of(cls, table: TableFile, edges: EdgeFile, id: str, names: list[str], solver: str) -> Self:
        """From what the files say of themselves, and their first rows."""
        columns = table.column_sizes(names)
        sizes = table.cell_bytes() | {name: size.cell_bytes for name, size in columns.items()}
        end_bytes, text_ids = edges.edge_bytes()
        return cls(
            n_nodes=table.n_rows, n_edges=edges.n_edges, id_bytes=sizes[id], end_bytes=end_bytes,
            columns=columns, row_bytes=sum(sizes.values()), text_ids=text_ids, solver=solver,
            group_rows=max(table.grouping.rows, default=0), weighted=edges.weight is not None,
        )  # fmt: skip

    # -- parts --

    @property
    def graph_bytes(self) -> int:
        """The sorted rows on disk, which are mapped: memory holds them as far as there is room."""
        return self.n_edges * 2 * (4 + 8 * self.weighted)

    @property
    def fixed_bytes(self) -> int:
        """What is there all the time."""
        return BASE_BYTES + int(self.n_nodes * (NODE_BYTES + 2 * self.id_bytes))

    @property
    def survey_bytes(self) -> int:
        return min(SURVEY_BYTES, 200 * self.n_edges)

    def writing_bytes(self, n_rows: int) -> int:
        """So many rows of all columns, and what writes them."""
        return min(WRITER_BYTES, 250 * self.group_rows) + int(n_rows * self.row_bytes)

    @property
    def text_copies(self) -> float:
        """How often the ends of edges are in memory while they are read."""
        return TEXT_COPIES if self.text_ids else 1.0

    def channels(self, names: Iterable[str]) -> int:
        """Of some columns."""
        return sum(self.columns[name].channels for name in names)

    def column_bytes(self, names: Iterable[str]) -> int:
        """Some columns at work, without their channels."""
        total = 0
        for size in (self.columns[name] for name in names):
            each = (1 + size.has_nan) * size.cell_bytes + WORK_BYTES + MISSING_BYTES * size.missing
            total += int(self.n_nodes * each)
        return total

    def solving_bytes(self, channels: int, *, alone: bool = False, roomy: bool = False) -> int:
        """So many channels, what they are filled with, and what their solver takes.

        Where they are those of one column `alone`, its missing rows may be solved on a graph of
        their own; `roomy` says that there is room for the graph in another order.
        """
        if not channels:
            return 0
        lanes = min(w for w in tile_widths() if w >= min(channels, LANES))
        footprint = self._footprint(channels, alone, alone + roomy)
        return footprint.total_bytes(lanes) + VALUE_BYTES * self.n_nodes * channels

    def lanes(self, channels: int, left: int) -> int:
        """How wide tiles will be in the memory that is left."""
        footprint = self._footprint(channels, False, 0)
        room = left - VALUE_BYTES * self.n_nodes * channels
        widths = [w for w in tile_widths() if w <= LANES]
        return max((w for w in widths if footprint.total_bytes(w) <= room), default=1)

    def _footprint(self, channels: int, alone: bool, copies: int) -> Footprint:
        small = self.n_nodes * 64 * VALUE_BYTES < SMALL_BYTES  # then every thread has tiles
        blocks = BLOCKS[self.solver] * (default_threads() if small else 1) + 2 * alone
        return Footprint(
            n_rows=self.n_nodes, n_columns=channels, itemsize=VALUE_BYTES, entries=2 * self.n_edges,
            blocks=blocks, graph_copies=copies, weighted=self.weighted,
        )  # fmt: skip

    def together(self, channels: int, left: int) -> int:
        """How many of some channels are solved at once in the memory that is left."""
        return min(channels, max(1, left // (4 * VALUE_BYTES * max(self.n_nodes, 1))))

    # -- both files read whole --

    def in_memory_peak(self, limit: int | None = None) -> int:
        """The most that a fill takes which reads both files whole."""
        unfilled = self.row_bytes - sum(size.cell_bytes for size in self.columns.values())
        read = BASE_BYTES + int(self.n_nodes * (unfilled + self.id_bytes))
        per_node = LINK_NODE_BYTES + self.text_ids * TEXT_NODE_COPIES * self.id_bytes
        per_edge = LINK_BYTES * (1 + self.weighted / 2) + self.text_copies * self.end_bytes
        linked = int(self.n_nodes * per_node + self.n_edges * per_edge)
        # While channels are solved: the columns, the edges and the graph. Texts that ids were
        # compared as are given back late.
        held = read + self.graph_bytes + int(self.n_edges * self.end_bytes)
        held += self.column_bytes(self.columns)
        held += (linked if self.text_ids else self.n_nodes * NODE_BYTES) // 2
        left = 4 * BLOCK_BYTES if limit is None else limit
        together = self.together(self.channels(self.columns), left)
        roomy = self.n_nodes * LANES * VALUE_BYTES > CACHE_BYTES
        return max(
            read + linked + int(self.n_nodes * self.row_bytes),
            held + self.survey_bytes,
            held + self.solving_bytes(together, roomy=roomy),
            held + self.writing_bytes(self.n_nodes),
        )

    @property
    def in_memory_bytes(self) -> int:
        """The smallest limit within which both files are read whole."""
        # Under a limit, a quarter of it is for channels and as much for what they are filled with.
        narrow = 2 * self.in_memory_peak(1)
        return int(SAFETY * min(self.in_memory_peak(1 << 62), narrow)) + MARGIN_BYTES

    # -- from disk, a few columns at a time --

    def chunk_edges(self, limit: int) -> int:
        """How many edges are read at once under a limit."""
        room = max(limit - self.fixed_bytes, 0)
        return min(self.n_edges, int(np.clip(room // (4 * EDGE_BYTES), 1 << 12, EDGES_AT_ONCE)))

    def linking_bytes(self, limit: int) -> int:
        """What reading and sorting the edges takes beyond what is fixed, under a limit."""
        reader = min(READER_BYTES, 200 * self.n_edges)
        per_edge = CHUNK_BYTES + self.text_copies * self.end_bytes
        reading = reader + int(self.chunk_edges(limit) * per_edge)
        room = max(limit - self.fixed_bytes, 0)
        entries = min(2 * self.n_edges, room // (4 * SORT_BYTES))
        return max(reading, entries * SORT_BYTES * (1 + self.weighted))

    @property
    def least_bytes(self) -> int:
        """The smallest limit that can be kept: one column at a time, of one channel."""
        alone = [[name] for name in self.columns]
        solving = max(map(self._least_left, alone), default=0)
        solving += max(map(self.column_bytes, alone), default=0)
        needed = max(solving, self.writing_bytes(self.group_rows), self.survey_bytes)
        least = low = needed + self.fixed_bytes + MARGIN_BYTES
        for _ in range(60):  # what linking does not free grows with the limit, but by less
            low = max(low, least + int(NOT_FREED * self.linking_bytes(low)))
        return low

    def _least_left(self, group: Iterable[str]) -> int:
        """What must be left for the channels of some columns, however few are solved at once.

        Up to a quarter of what is left is for channels, and as much for what they are filled with.
        """
        both = 2 * VALUE_BYTES * self.n_nodes
        narrow = self.solving_bytes(1, alone=True) - both
        return narrow + min(both * max(self.channels(group), 1), narrow)

    def groups(self, limit: int) -> tuple[list[list[str]], int]:
        """Columns to work on together, and the memory that is left to solve them in."""
        if limit < self.least_bytes:
            raise InputError(
                f"{option('memory_limit').rstrip('=')} {readable(limit)} cannot be kept: "
                f"{self.n_nodes:,} node(s) and one of {len(self.columns):,} column(s) at a time "
                f"take {readable(self.least_bytes)}: raise it, or use a machine with more memory."
            )
        # The mapped graph needs no room of its own: where there is some, it is copied in another
        # order, and else read again at each step.
        room = limit - self.fixed_bytes - MARGIN_BYTES
        room -= int(NOT_FREED * self.linking_bytes(limit))
        for groups in (self._cut(room), [[name] for name in self.columns] or [[]]):
            left = room - max(map(self.column_bytes, groups))
            if left >= max(map(self._least_left, groups)):
                break
        return groups, left

    def _cut(self, room: int) -> list[list[str]]:
        """Columns in order, as many together as there is room for; whole tiles where there is."""
        groups: list[list[str]] = []
        names = list(self.columns)
        while names or not groups:
            fitting = whole = taken = channels = 0
            for count, name in enumerate(names, start=1):
                taken += self.column_bytes([name])
                channels += self.channels([name])
                solving = self.solving_bytes(min(channels, TOGETHER), roomy=True)
                if count > 1 and taken + solving > room:
                    break
                fitting = count
                if channels and (channels % LANES == 0 or channels in tile_widths()):
                    whole = count
            else:
                whole = len(names)
            groups.append(names[: whole or fitting])
            names = names[whole or fitting :]
        return groups

    def from_disk_peak(self, limit: int) -> int:
        """The most that a fill takes which reads columns a few at a time, under a limit."""
        groups, left = self.groups(limit)
        held = self.fixed_bytes + min(self.graph_bytes, max(limit - self.fixed_bytes, 0))
        filling = 0
        for group in groups:
            solving = self.solving_bytes(self.together(self.channels(group), left))
            most = max(self.survey_bytes, min(solving, left))
            filling = max(filling, self.column_bytes(group) + most)
        linking = self.fixed_bytes + self.linking_bytes(limit)
        return max(linking, held + filling, held + self.writing_bytes(self.group_rows))


def default_limit() -> int:
    """Most of this machine's memory, where no limit is named."""
    return int(MOST_OF_MEMORY * machine_memory())


def tile_widths() -> list[int]:
    """How many channels tiles may hold."""
    return kernels.tile_widths(np.dtype(np.float64))
