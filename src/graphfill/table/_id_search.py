"""The search for the ids of a table's rows: the column, the index or the row numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, check_column_name, named, option
from ._edge_ends import NumberedRows
from ._id_column import Ids, count_named, distinct, other_spelling, read_ids, share_found
from ._options import Naming, Source

if TYPE_CHECKING:
    import narwhals as nw

SAMPLE = 1000  # ends of edges that are looked up
ENOUGH = 0.5  # of the ends of edges, or of the rows, have to be found: fewer may be chance
INDEX = "the index"
ROW_NUMBER = "the row number"


def id_holder(name: Any) -> str:
    """What holds the ids, as sentences name it."""
    return INDEX if name == INDEX else f"column {name!r}"


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


def find_ids(
    frame: nw.DataFrame[Any],
    name: Any,
    ends: tuple[Ids, Ids],
    source: Source,
    guesses: list[str],
    numbered_rows: NumberedRows | None,
) -> tuple[Any, Ids]:
    """What holds the ids (None: the order of the rows) and the ids; a guess is said, or refused."""
    naming, texts, by_position = source.naming, source.texts, source.by_position
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if name is not None:
        if name not in frame.columns and index is not None and name in (INDEX, index.name):
            return INDEX, Ids(index)
        if name == ROW_NUMBER and by_position and name not in frame.columns:
            return None, Ids(np.arange(len(frame)))
        check_column_name(name, frame.columns, naming.table)
        return name, read_ids(frame, name, texts, naming.table)

    labelled = index is not None and not _is_range(index)
    # What sorting and filtering leave of row numbers is no name: a column that fits as well wins.
    leftover = (
        index is not None and labelled and index.name is None and Ids(index).kind == "whole numbers"
    )
    candidates: list[tuple[Any, Ids]] = [(INDEX, Ids(index))] if labelled and not leftover else []
    floats = []
    for column in frame.iter_columns():
        if column.name == "":  # the numbers of rows, in files of pandas and R
            continue
        if column.dtype.is_float():
            floats.append(column)
        elif not column.dtype.is_nested():
            candidates.append((column.name, Ids(column, texts.get(column.name))))
    if leftover:
        candidates.append((INDEX, Ids(index)))
    if numbered_rows is not None and numbered_rows.n_nodes == len(frame):
        return _in_order(candidates, numbered_rows, len(frame), naming, guesses)
    best = most_alike(candidates, ends)
    if best is None or not best.elected(ends):  # whole numbers may stand as 1.0, 2.0
        whole = ((c.name, Ids(c, texts.get(c.name))) for c in floats)
        other = most_alike(((n, ids) for n, ids in whole if ids.kind == "whole numbers"), ends)
        best = max((one for one in (best, other) if one), key=lambda one: one.score, default=None)
    if best is not None and best.worth_naming(ends):
        if best.name != INDEX or leftover:
            guesses.append(guessed_column(best.name, naming.table))
        return best.name, best.ids
    n_rows = len(frame)
    if by_position and all(_row_numbers(end, n_rows) for end in ends):
        if not len(ends[0]):
            return None, Ids(np.arange(n_rows))
        guesses.append(
            "Edges name rows by number, counted from 0, since no column holds the ends of edges "
            f"(name one with {option('id')})."
        )
        return None, Ids(np.arange(n_rows))
    for column, ids in candidates:
        spelling = next(
            filter(None, (other_spelling(ids, end.sample(SAMPLE)) for end in ends)), None
        )
        if spelling is not None:
            raise ids_spelled_otherwise(column, naming, *spelling[:2])
    example = candidates[0] if candidates else (None, Ids(np.arange(n_rows)))
    raise no_id_column(naming, ends, best, *example)


def ids_spelled_otherwise(name: Any, naming: Naming, id: str, end: str) -> InputError:
    """Ids that edges write with other blanks, or in other letters."""
    return InputError(
        f"No id in {id_holder(name)} of {naming.table} is named in {naming.edges} as it stands, "
        f"but some are in other letters or with other blanks ({named(id)} and {named(end)}): write "
        "them alike."
    )


def no_id_column(
    naming: Naming,
    ends: tuple[Ids, Ids],
    best: Candidate | None,
    name: Any = None,
    ids: Ids | None = None,
) -> InputError:
    """A table none of whose columns holds what edges name; the best, and an example of others."""
    if not len(ends[0]):
        return InputError(
            f"There is no edge in {naming.edges}, so that the column with the ids cannot be told: "
            f"name it with {option('id')}."
        )
    seen = ""
    if name is not None and ids is not None:
        seen = f" (such as {named(ids[0])} in column {name!r})"
    nearest = ""
    if best is not None:
        count = f"{best.n_named(ends):,} of {len(best.ids):,} rows"
        nearest = f", {id_holder(best.name)} coming nearest with {count}"
    return InputError(
        f"No column of {naming.table}{seen} holds the ids in {naming.edges} (such as "
        f"{named(ends[0][0])}){nearest}: name it with {option('id')}, or check that both sides "
        "spell ids alike."
    )


def guessed_column(name: Any, holder: str) -> str:
    """The sentence for a column that was taken for the ids."""
    return (
        f"Rows go by {id_holder(name)} of {holder}, whose values are the ends of edges (name "
        f"another with {option('id')})."
    )


def _in_order(
    candidates: Iterable[tuple[Any, Ids]],
    nodes: NumberedRows,
    n_rows: int,
    naming: Naming,
    guesses: list[str],
) -> tuple[Any, Ids]:
    """Row k is node k, unless a column says otherwise as plainly."""
    order = np.arange(n_rows)
    numbers = [
        (name, ids)
        for name, ids in candidates
        if ids.kind == "whole numbers" and _row_numbers(ids, n_rows) and distinct(ids)
    ]
    for name, ids in numbers:
        if np.array_equal(ids.numpy(), order):
            if name != INDEX:
                guesses.append(guessed_column(name, naming.table))
            return name, ids
    if numbers and not nodes.surely:
        name = numbers[0][0]
        raise InputError(
            f"The nodes of the graph are the numbers 0 to {n_rows - 1}, which {id_holder(name)} of "
            f"{naming.table} holds in another order: pass {option('id')}{name!r} if it holds their "
            f"ids, or {option('id')}'the row number' if they are the rows in order."
        )
    guesses.append(
        "Rows are taken in the order of the graph's nodes, which have no ids (name a column of "
        f"ids with {option('id')})."
    )
    return None, Ids(order)


def _is_range(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.name is None


def _row_numbers(ends: Ids, n_rows: int) -> bool:
    import pyarrow.compute as pc

    if not len(ends):
        return True
    if ends.kind != "whole numbers":
        return False
    extremes = pc.min_max(ends.values)
    return bool(extremes["min"].as_py() >= 0 and extremes["max"].as_py() < n_rows)
