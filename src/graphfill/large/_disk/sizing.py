"""How a limit on memory is shared out between the graph, the nodes and some columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...solve._memory import readable
from .. import _refuse_disk
from .amounts import LANES, TEXT_COPIES, VALUE_BYTES, Amounts, tile_widths
from .graph_file import EDGE_BYTES, SORT_BYTES
from .parquet import EDGES_AT_ONCE

TOGETHER = 64  # channels that are enough for one block
# Reading edges in chunks: what one takes, and the reader. Of this a share may not be used again
# for what follows.
CHUNK_BYTES, READER_BYTES = 150, 25_000_000
LIKELY, AT_WORST = 0.0, 0.1
MARGIN_BYTES = 20_000_000  # of a limit, left alone
SAFETY = 1.15  # by which an estimate may be too low, where a limit has to be kept


@dataclass(frozen=True)
class Sizing(Amounts):
    """What a fill takes, and how it is kept within a limit."""

    @property
    def in_memory_bytes(self) -> int:
        """The smallest limit within which both files are read whole."""
        # Under a limit, a quarter of it is for channels and as much for what they are filled with.
        narrow = 2 * self.in_memory_peak(1)
        return int(SAFETY * min(self.in_memory_peak(1 << 62), narrow)) + MARGIN_BYTES

    def chunk_edges(self, limit: int) -> int:
        """How many edges are read at once under a limit."""
        room = max(limit - self.fixed_bytes, 0)
        return min(self.n_edges, int(np.clip(room // (4 * EDGE_BYTES), 1 << 12, EDGES_AT_ONCE)))

    def linking_bytes(self, limit: int) -> int:
        """What reading and sorting the edges takes beyond what is fixed, under a limit."""
        room = max(limit - self.fixed_bytes, 0)
        at_once = self.chunk_edges(limit)
        copies = TEXT_COPIES if self.text_ids else 1.0
        reader = min(READER_BYTES, 200 * self.n_edges)
        dealing = reader + int(at_once * (CHUNK_BYTES + copies * self.end_bytes))
        entries = min(2 * self.n_edges, room // (4 * SORT_BYTES))
        return max(dealing, entries * SORT_BYTES * (1 + self.weighted))

    @property
    def writing_bytes(self) -> int:
        """A group of rows, all its columns, and the writer."""
        return self.writer_bytes + int(self.group_rows * self.row_bytes)

    @property
    def least_bytes(self) -> int:
        """The smallest limit that can be kept: one column at a time, of one channel."""
        needed = max(self._least_room(), self.writing_bytes, self.survey_bytes)
        least = needed + self.fixed_bytes + MARGIN_BYTES
        low = least
        for _ in range(60):  # what linking leaves behind grows with the limit, but by less
            low = max(low, least + int(AT_WORST * self.linking_bytes(low)))
        return low

    def _least_room(self) -> int:
        widest = max(map(self.column_bytes, self.columns), default=0)
        return widest + max((self._least_left([name]) for name in self.columns), default=0)

    def _least_left(self, group: Sequence[str]) -> int:
        """What must be left for the channels of some columns, however few are solved at once.

        Up to a quarter of what is left is for channels, and as much for what they are filled with.
        """
        both = 2 * VALUE_BYTES * self.n_nodes
        narrow = self.solving_bytes(1, alone=True) - both
        return narrow + min(both * max(self._channels(group), 1), narrow)

    def _channels(self, group: Sequence[str]) -> int:
        return sum(self.columns[name].channels for name in group)

    def groups(self, limit: int) -> tuple[list[list[str]], int]:
        """Columns to work on together, and the memory that is left to solve them in."""
        if limit < self.least_bytes:
            raise _refuse_disk.limit_too_low_for_files(
                readable(limit), readable(self.least_bytes), self.n_nodes, len(self.columns)
            )
        # The mapped graph needs no room of its own: where there is some, it is copied in another
        # order, and else read again at each step.
        room = limit - self.fixed_bytes - MARGIN_BYTES
        room -= int(AT_WORST * self.linking_bytes(limit))
        for groups in (self._cut(room), [[name] for name in self.columns] or [[]]):
            left = room - max(sum(map(self.column_bytes, group)) for group in groups)
            if left >= max(map(self._least_left, groups)):
                break
        return groups, left

    def _cut(self, room: int) -> list[list[str]]:
        """Columns in order, as many together as there is room for; whole tiles where there is."""
        groups: list[list[str]] = []
        names = list(self.columns)
        while names or not groups:
            taken = fitting = whole = 0
            for count, name in enumerate(names, start=1):
                taken += self.column_bytes(name)
                channels = self._channels(names[:count])
                needed = taken + self.solving_bytes(min(channels, TOGETHER), roomy=True)
                if count > 1 and needed > room:
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
        linking = self.linking_bytes(limit)
        held = self.fixed_bytes + int(LIKELY * linking)
        mapped = min(self.graph_bytes, max(limit - held, 0))
        return max(
            self.fixed_bytes + linking,
            held + mapped + max(self._group_bytes(group, left) for group in groups),
            held + mapped + self.writing_bytes,
        )

    def _group_bytes(self, group: Sequence[str], left: int) -> int:
        """What a group of columns takes at its most."""
        work = sum(map(self.column_bytes, group))
        solving = self.solving_bytes(self.together(self._channels(group), left))
        return work + max(self.survey_bytes, min(solving, left))
