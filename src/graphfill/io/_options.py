"""What a caller may say about a file instead of leaving it to be guessed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ._sheet import Progress

MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")


@dataclass(frozen=True)
class Options:
    """The options of :func:`graphfill.io.read_table`, and whether edges are read."""

    missing: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    memory_limit: int | None = None
    progress: Progress | None = None
    edges: bool = False
    header: bool | None = True

    @property
    def markers(self) -> list[str]:
        """The texts that mean missing, besides the empty one.

        >>> "NA" in Options(missing=["?"]).markers, Options(missing=["", "?"]).markers
        (True, ['?'])
        """
        own = self.own_markers
        if "" in (text.strip() for text in self.missing or ()):  # the empty one alone
            return own
        return [*MISSING, *(text for text in own if text not in MISSING)]

    @property
    def own_markers(self) -> list[str]:
        """Those that the caller named: all there are where a format has a null of its own."""
        return [text.strip() for text in self.missing or () if text.strip()]

    @property
    def limit(self) -> int:
        """The most bytes a file may unfold to: half of the machine's memory if not said."""
        if self.memory_limit is not None:
            return self.memory_limit
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, ValueError, OSError):  # not on Windows
            return 8 << 30

    def report(self, done: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(done, total)
