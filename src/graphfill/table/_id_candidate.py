"""A column that may hold the ids of the rows, judged by the ends of edges that it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ._id_column import Ids, count_named, distinct, share_found

SAMPLE = 1000  # ends of edges that are looked up
ENOUGH = 0.5  # of the ends of edges, or of the rows, have to be found: fewer may be chance


@dataclass(frozen=True)
class Candidate:
    """A column that may hold the ids.

    Attributes
    ----------
    share : float
        Of the ends of edges that were looked up on one side, those that it holds.
    distinct : bool
        Whether every row has a value of its own.
    """

    name: Any
    ids: Ids
    share: float
    distinct: bool

    @property
    def score(self) -> tuple[bool, bool, float]:
        return self.share >= ENOUGH, self.distinct, self.share

    def n_named(self, ends: tuple[Ids, Ids]) -> int:
        """How many of its rows are ends of edges."""
        return count_named(self.ids, *ends)

    def elected(self, ends: tuple[Ids, Ids]) -> bool:
        """Whether rows can go by it: one value a row, and few matches are no accident."""
        return self.distinct and self.worth_naming(ends)

    def worth_naming(self, ends: tuple[Ids, Ids]) -> bool:
        """Whether it holds the ids; if some occur twice or are missing, that is the mistake."""
        if self.share >= ENOUGH:
            return True
        return self.distinct and self.n_named(ends) >= ENOUGH * len(self.ids)


def most_alike(candidates: Iterable[tuple[Any, Ids]], ends: tuple[Ids, Ids]) -> Candidate | None:
    """The column that holds most ends of edges; one without duplicates before others."""
    asked = ends[0].sample(SAMPLE), ends[1].sample(SAMPLE)
    best = None
    for name, ids in candidates:
        share = max(share_found(end, ids) for end in asked)
        if not share:
            continue
        found = Candidate(name, ids, share, distinct(ids))
        if best is None or found.score > best.score:
            best = found
    return best
