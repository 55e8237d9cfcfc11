"""The sentences that a user reads about a table: what was guessed, and what to look at twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import meaning_missing, meaning_value, typed
from ..report import listed
from ..trust import HARDLY, LEARNT, ColumnFill
from ._alignment import Alignment
from ._column import Column
from ._numeric import Number, Whole
from ._options import Source, TableOptions
from ._result import ColumnSummary

FEWEST_ROWS = 20  # with fewer nobody expects a column to be judged
MOST_SHOWN = 4  # columns in one sentence
FEW_STEPS = 100  # between the least and the largest: in wider columns decimals are a trifle


def notes_on(
    alignment: Alignment,
    summaries: dict[str, ColumnSummary],
    opened: dict[str, Column],
    source: Source,
) -> list[str]:
    """All sentences but those on scores that could not be had."""
    notes, naming = list(alignment.guesses), source.naming
    if alignment.n_outside:
        notes.append(
            f"{alignment.n_outside:,} node(s) named by {naming.edges} are not in {naming.table}: "
            "they pass information on but are not added."
        )
    if alignment.n_unlinked and not alignment.alone:
        notes.append(f"{alignment.n_unlinked:,} row(s) of {naming.table} have no edge.")
    for summary in summaries.values():
        about = opened[summary.name].notes if summary.name in opened else ()
        if summary.n_filled or summary.note:
            notes += about
        if summary.note and summary.n_missing and not about:
            notes.append(
                f"Column {summary.name!r} is left alone with {summary.n_missing:,} missing "
                f"cell(s): {summary.note}."
            )
        if summary.verdict == "not from this graph":  # nothing was held out
            notes.append(
                f"Neighbours hardly agree in column {summary.name!r}: the graph says next to "
                "nothing about its missing cells."
            )
        if "highest_level" in summary.details:
            details = summary.details
            notes.append(
                f"Column {summary.name!r} has {details['n_held_out']:,} known cells to learn from, "
                f"which bound {100 * details['highest_level']:.3g} % of the truths at most, not "
                f"{100 * details['interval_level']:.3g} %: its bounds are left empty."
            )
    filled = [summary.name for summary in summaries.values() if summary.n_filled]
    return [
        *notes,
        *_read_otherwise(opened),
        *_markers(opened),
        *_whole_numbers(opened, filled),
        *_all_equal(opened, filled),
        *_hardly_filled(summaries),
    ]


def _hardly_filled(summaries: Mapping[str, ColumnSummary]) -> list[str]:
    """A sentence on the columns that nothing could predict."""
    names = [repr(name) for name, one in summaries.items() if one.verdict == HARDLY]
    if not names:
        return []
    them = "it" if len(names) == 1 else "them"
    return [
        f"Hidden known cells of {'column' if len(names) == 1 else 'columns'} {listed(names)} came "
        f"out hardly better than by the column's mean or most frequent value: do not take what is "
        f"filled into {them} for facts."
    ]


def few_known_notes(
    columns: Mapping[str, Column],
    summaries: Mapping[str, ColumnSummary],
    fills: Mapping[str, ColumnFill],
    options: TableOptions,
) -> list[str]:
    """Sentences on columns that are not scored for want of known cells.

    Unless scores were asked for, those of which the links say something need none.
    """
    from ..trust._assessment import FEWEST_KNOWN, FEWEST_TOGETHER

    together, level = options.fill.method in LEARNT, options.fill.intervals
    fewest = FEWEST_TOGETHER if together else FEWEST_KNOWN
    known = {
        name: int((~columns[name].missing).sum())
        for name, fill in fills.items()
        if fill.assessment is None
    }
    few = {name: size for name, size in known.items() if size < fewest}
    if options.fill.scores or level is not None:
        instead = ", and is left to propagation" if together else ""
        return [
            f"Column {name!r} has {size} known cell(s), fewer than the {fewest} that scores and "
            f"intervals take: it gets neither{instead}."
            for name, size in few.items()
        ]
    names = [
        repr(name) for name in few
        if summaries[name].links == "unknown" and not columns[name].all_equal
    ]  # fmt: skip
    if not names or not together or columns[next(iter(few))].missing.size < FEWEST_ROWS:
        return []
    have, them = ("has", "it is") if len(names) == 1 else ("have", "they are")
    return [
        f"{_columns(names)} {have} fewer than {fewest} known cells: {them} filled from the links "
        "alone, and how well cannot be said."
    ]


def _columns(names: Sequence[str]) -> str:
    """The columns of these names, as a sentence begins with them."""
    return f"Column{'' if len(names) == 1 else 's'} {listed(names)}"


def _all_equal(columns: Mapping[str, Column], filled: Sequence[str]) -> list[str]:
    """A sentence on columns that know one value alone."""
    names = [repr(name) for name in filled if columns[name].all_equal]
    if not names or columns[filled[0]].missing.size < FEWEST_ROWS:
        return []
    return [
        f"{_columns(names)} {'has' if len(names) == 1 else 'have'} one known value alone, which "
        "every filled cell got: nothing tells where another would be."
    ]


def _whole_numbers(columns: Mapping[str, Column], filled: Sequence[str]) -> list[str]:
    """Sentences on columns of whole numbers whose type has room for decimals."""
    rounded, between = [], []
    for name in filled:
        column = columns[name]
        if isinstance(column, Number) and column.whole_by_guess:
            rounded.append(name)
        elif isinstance(column, Number) and not isinstance(column, Whole) and not column.whole:
            known = column.known_values()
            if 0 < np.ptp(known) < FEW_STEPS and not (known % 1).any():
                between.append(name)
    return [
        f"{_columns([repr(name) for name in names])} {'holds' if len(names) == 1 else 'hold'} "
        f"whole numbers, {then} pass {typed(names[0], kind)} {end}."
        for names, then, kind, end in (
            (rounded, "and so do filled cells:", "number", "to fill in decimals"),
            (between, "but filled cells may lie between:", "integer", "to round them"),
        )
        if names
    ]


def _read_otherwise(columns: Mapping[str, Column]) -> list[str]:
    """A sentence on text that is read as numbers."""
    read = {name: column.read_as for name, column in columns.items() if column.read_as}
    if not read:
        return []
    cells = [f'{name!r} ("{example}")' for name, example in list(read.items())[:MOST_SHOWN]]
    cells += [f"{len(read) - MOST_SHOWN} more"] if len(read) > MOST_SHOWN else []
    one = len(read) == 1
    return [
        f"The text of column{'' if one else 's'} {listed(cells)} is read as numbers; pass "
        f"{typed(next(iter(read)), 'category')} to keep it as words."
    ]


def _markers(columns: Mapping[str, Column]) -> list[str]:
    """Sentences on words that count as missing, and on what may mean that and is kept."""
    taken: dict[str, dict[str, int]] = {}
    kept: dict[str, dict[str, int]] = {}
    for name, column in columns.items():
        for found, words in ((taken, column.taken), (kept, column.kept)):
            for word, size in words.items():
                found.setdefault(word, {})[name] = size
    notes = [
        f'"{word}" counts as missing in {_where(held)}: pass {meaning_value(word)} if it is a '
        "value."
        for word, held in taken.items()
    ]
    return notes + [
        f'"{word}" in {_where(held)} may mean missing: it is kept where it stands and filled in '
        f"nowhere; pass {meaning_missing(word)} to fill these cells, or {meaning_value(word)} if "
        "it is a value."
        for word, held in kept.items()
    ]


def _where(held: Mapping[str, int]) -> str:
    """The columns that hold a word, and in how many cells."""
    names = [repr(name) for name in held]
    names = names[:MOST_SHOWN] + ([f"{len(names) - MOST_SHOWN} more"] if names[MOST_SHOWN:] else [])
    size = sum(held.values())
    word = "column" if len(held) == 1 else "columns"
    return f"{word} {listed(names)} ({size:,} {'cell' if size == 1 else 'cells'})"
