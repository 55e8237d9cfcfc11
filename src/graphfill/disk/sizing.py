"""How a limit on memory is shared out between the graph, the nodes and some columns at a time."""

from __future__ import annotations

from dataclasses import dataclass

from .. import validate
from ..memory import BLOCKS, Footprint, readable
from .parquet import EdgeFile, TableFile

BASE_BYTES = 220 << 20  # Python with the libraries that are used
NODE_BYTES = 56  # ids, their table, degrees, components, ends of rows
CELL_BYTES = 24  # of a column at work, beside its own values, of which there are four copies
COPIES = 4
VALUE_BYTES = 8  # of a channel
EDGE_COPIES = 56  # per edge that is read whole and made part of a graph


@dataclass(frozen=True)
class Sizing:
    """What decides how much memory a fill from file to file takes.

    Attributes
    ----------
    n_nodes, n_edges : int
        Nodes known so far, and edges as listed, each of which becomes two entries at most.
    id_bytes : float
        Per node.
    cell_bytes : dict of name to float
        What a cell of each column that may be filled takes when it is read.
    weighted : bool
    solver : str
    """

    n_nodes: int
    n_edges: int
    id_bytes: float
    cell_bytes: dict[str, float]
    weighted: bool
    solver: str

    @classmethod
    def of(
        cls, table: TableFile, edges: EdgeFile, id: str, names: list[str], solver: str
    ) -> Sizing:
        """From what the files say of themselves."""
        sizes = table.cell_bytes()
        return cls(
            table.n_rows,
            edges.n_edges,
            sizes[id],
            {name: sizes[name] for name in names},
            edges.weight is not None,
            solver,
        )

    @property
    def graph_bytes(self) -> int:
        """The sorted rows on disk, which are mapped: memory holds them as far as there is room."""
        return self.n_edges * 2 * (4 + 8 * self.weighted)

    @property
    def in_memory_bytes(self) -> int:
        """The same fill by reading both files whole."""
        columns = sum(map(self.column_bytes, self.cell_bytes))
        width = int(min(len(self.cell_bytes), max(16, (1 << 30) // (8 * max(self.n_nodes, 1)))))
        reading = self.n_edges * EDGE_COPIES
        solving = self.graph_bytes * 2 + self.solving_bytes(width)
        return self.fixed_bytes + columns + max(reading, solving)

    @property
    def fixed_bytes(self) -> int:
        """What is there all the time."""
        return BASE_BYTES + int(self.n_nodes * (NODE_BYTES + 2 * self.id_bytes))

    def column_bytes(self, name: str) -> int:
        """One column at work, its channels apart."""
        return int(self.n_nodes * (COPIES * self.cell_bytes[name] + CELL_BYTES))

    def solving_bytes(self, width: int) -> int:
        """So many channels and what their solver takes, in tiles of that width at most."""
        footprint = Footprint(
            n_rows=self.n_nodes,
            n_columns=width,
            itemsize=VALUE_BYTES,
            entries=2 * self.n_edges,
            blocks=BLOCKS[self.solver],
            graph_copies=0,
            weighted=self.weighted,
        )
        return footprint.total_bytes(min(width, 16)) + VALUE_BYTES * self.n_nodes * width

    @property
    def least_bytes(self) -> int:
        """The smallest limit that can be kept: one column at a time, of one channel."""
        widest = max(map(self.column_bytes, self.cell_bytes), default=0)
        return self.fixed_bytes + widest + self.solving_bytes(1)

    def groups(self, limit: int) -> tuple[list[list[str]], int]:
        """Columns to work on together, and the memory that is left to solve them in."""
        if limit < self.least_bytes:
            raise validate.limit_too_low_for_files(
                readable(limit), readable(self.least_bytes), self.n_nodes, len(self.cell_bytes)
            )
        room = limit - self.fixed_bytes
        # Rows that are not in memory are read again at each step: leave room for them if there is.
        if room - self.graph_bytes >= self.least_bytes - self.fixed_bytes:
            room -= self.graph_bytes
        widest = max(map(self.column_bytes, self.cell_bytes), default=0)
        share = max(min(room // 3, room - self.solving_bytes(1)), widest)
        groups: list[list[str]] = [[]]
        taken = 0
        for name in self.cell_bytes:
            size = self.column_bytes(name)
            if groups[-1] and taken + size > share:
                groups.append([])
                taken = 0
            groups[-1].append(name)
            taken += size
        return groups, room - share
