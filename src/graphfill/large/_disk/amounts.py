"""How much memory the parts of a fill take, from file to file.

The constants were fitted to measured peaks (resident memory of the whole process, stage by
stage); ``benchmarks/plan.py`` compares the estimates with new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ... import kernels
from ...graph._ordering import CACHE_BYTES
from ...kernels._threads import available
from ...solve._memory import BLOCKS, Footprint
from ...solve._plan import SMALL_BYTES
from ...trust._channels import BLOCK_BYTES
from .parquet import EdgeFile, TableFile
from .sampling import ColumnSize, column_sizes, end_bytes

BASE_BYTES = 145_000_000  # Python with the libraries that are used
NODE_BYTES = 60  # ends of rows, components, numbers in place of ids
SURVEY_BYTES = 30_000_000  # pairs of neighbours that are compared, at most
WRITER_BYTES = 45_000_000  # of a Parquet file that is being written, at most
WORK_BYTES = 17  # of a cell at work beside itself: its float, whether it is missing
MISSING_BYTES = 16  # of a missing cell beyond that: its row, what it is filled with
VALUE_BYTES = 8  # of a channel
LANES = 16  # of a tile at most: two cache lines
# Reading edges whole: per edge beside its own bytes, and per node; more where ends are texts.
LINK_BYTES, LINK_NODE_BYTES = 53, 130
TEXT_COPIES, TEXT_NODE_COPIES = 2.75, 15.0


@dataclass(frozen=True)
class Amounts:
    """What decides how much memory a fill from file to file takes.

    Attributes
    ----------
    n_nodes, n_edges : int
        Nodes known so far, and edges as listed, each of which becomes two entries at most.
    id_bytes, end_bytes : float
        Of a node's id; of both ends of an edge and its weight.
    columns : dict of name to ColumnSize
        Those that may be filled.
    row_bytes : float
        Of a row of the whole table.
    group_rows : int
        Rows of the table's largest row group.
    weighted, text_ids : bool
    solver : str
    """

    n_nodes: int
    n_edges: int
    id_bytes: float
    end_bytes: float
    columns: dict[str, ColumnSize]
    row_bytes: float
    group_rows: int
    weighted: bool
    text_ids: bool
    solver: str

    @classmethod
    def of(cls, table: TableFile, edges: EdgeFile, id: str, names: list[str], solver: str) -> Self:
        """From what the files say of themselves, and their first rows."""
        columns = column_sizes(table, names)
        sizes = table.cell_bytes() | {name: size.cell_bytes for name, size in columns.items()}
        ends, text_ids = end_bytes(edges)
        return cls(
            n_nodes=table.n_rows,
            n_edges=edges.n_edges,
            id_bytes=sizes[id],
            end_bytes=ends,
            columns=columns,
            row_bytes=sum(sizes.values()),
            group_rows=max(table.grouping.rows, default=0),
            weighted=edges.weight is not None,
            text_ids=text_ids,
            solver=solver,
        )

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
    def channels(self) -> int:
        """Of all columns."""
        return sum(size.channels for size in self.columns.values())

    def column_bytes(self, name: str) -> int:
        """One column at work, its channels apart."""
        size = self.columns[name]
        copies = 1 + size.has_nan
        each = copies * size.cell_bytes + WORK_BYTES + MISSING_BYTES * size.missing
        return int(self.n_nodes * each)

    def solving_bytes(self, channels: int, *, alone: bool = False, roomy: bool = False) -> int:
        """So many channels, what they are filled with, and what their solver takes.

        Parameters
        ----------
        alone : bool
            Channels of one column: its missing rows may be solved on a graph of their own.
        roomy : bool
            There is room for the graph in another order.
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
        return Footprint(
            n_rows=self.n_nodes,
            n_columns=channels,
            itemsize=VALUE_BYTES,
            entries=2 * self.n_edges,
            blocks=BLOCKS[self.solver] * (available() if small else 1) + 2 * alone,
            graph_copies=copies,
            weighted=self.weighted,
        )

    # -- both files read whole --

    def in_memory_peak(self, limit: int | None = None) -> int:
        """The most that a fill takes which reads both files whole."""
        together = self.together(self.channels, 4 * BLOCK_BYTES if limit is None else limit)
        held = self._held_bytes()
        roomy = self.n_nodes * LANES * VALUE_BYTES > CACHE_BYTES
        return max(
            self._read_bytes() + self._linked_bytes() + int(self.n_nodes * self.row_bytes),
            held + self.survey_bytes,
            held + self.solving_bytes(together, roomy=roomy),
            held + self.writer_bytes + int(self.n_nodes * self.row_bytes),
        )

    def _read_bytes(self) -> int:
        """Columns that are not filled, which are read all the same."""
        left = self.row_bytes - sum(size.cell_bytes for size in self.columns.values())
        return BASE_BYTES + int(self.n_nodes * (left + self.id_bytes))

    def _linked_bytes(self) -> int:
        """What it takes to make a graph of edges that were read whole."""
        copies = TEXT_COPIES if self.text_ids else 1.0
        per_node = LINK_NODE_BYTES + self.text_ids * TEXT_NODE_COPIES * self.id_bytes
        per_edge = LINK_BYTES * (1 + self.weighted / 2) + copies * self.end_bytes
        return int(self.n_nodes * per_node + self.n_edges * per_edge)

    def _held_bytes(self) -> int:
        """What is there while channels are solved: the columns, the edges and the graph."""
        work = sum(map(self.column_bytes, self.columns))
        held = self._read_bytes() + work + self.graph_bytes + int(self.n_edges * self.end_bytes)
        # Texts that ids were compared as are given back late.
        return held + (self._linked_bytes() if self.text_ids else self.n_nodes * NODE_BYTES) // 2

    @property
    def survey_bytes(self) -> int:
        return min(SURVEY_BYTES, 200 * self.n_edges)

    @property
    def writer_bytes(self) -> int:
        return min(WRITER_BYTES, 250 * self.group_rows)

    def together(self, channels: int, left: int) -> int:
        """How many of some channels are solved at once in the memory that is left."""
        return min(channels, max(1, left // (4 * VALUE_BYTES * max(self.n_nodes, 1))))


def tile_widths() -> list[int]:
    """How many channels tiles may hold."""
    return kernels.tile_widths(np.dtype(np.float64))
