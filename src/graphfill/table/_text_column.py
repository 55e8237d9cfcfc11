"""Columns of text: numbers and dates in the style of their column, or words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, meaning_missing, named, place, typed
from ..io import AMONG_NUMBERS, PERHAPS, SURELY
from ._arrow import Cells
from ._categorical import Category
from ._codes import is_free
from ._column import Column, LeftAlone
from ._markers import Reading
from ._numeric import Number, Whole

if TYPE_CHECKING:
    from ..io._numbers import Numbers

Mask = NDArray[np.bool_]

YES_AND_NO = {"true", "false", "t", "f", "yes", "no", "y", "n"}
PEEK = 200  # cells that tell at once that a column holds no numbers
NEARLY, LEAST = 0.9, 0.5  # of the known cells are numbers: then the others are asked about
MOST_WORDS = 3  # the different ones, where fewer than nearly all cells are numbers
MOST_SHOWN = 3
MOST_CHANNELS = 5_000_000_000  # known cells times values; propagating these takes some ten minutes


def open_text(cells: Cells, kind: str | None, missing: Mask, reading: Reading) -> Column | None:
    """The column as what its text says; None if it cannot be of the kind that was asked for."""
    kind, _, mark = (kind or "").partition(":")
    if kind == "boolean":
        return open_words(cells, missing, reading) if _says_yes_or_no(cells, missing) else None
    texts = _known(cells, missing)
    if kind in ("", "number", "integer"):
        column = _open_numbers(cells, texts, kind, mark, missing, reading)
        if column is not None:
            return column
    if kind in ("", "date", "time"):
        column = _open_dates(cells, texts, missing, reading)
        if column is not None:
            return column
    return None if kind else open_words(cells, missing, reading)


def _known(cells: Cells, missing: Mask) -> Any:
    """The texts without blanks around them, null where missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = cells.twin
    if missing.any():
        texts = pc.if_else(pa.array(~missing), texts, pa.scalar(None, texts.type))
    return pc.utf8_trim_whitespace(texts)


def _marks(texts: Any, words: frozenset[str], reading: Reading) -> tuple[Mask, dict[str, int]]:
    """Which cells are one of the words, and how often each is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marked = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(sorted(words), texts.type))
    found = {p["values"]: p["counts"] for p in pc.value_counts(texts.filter(marked)).to_pylist()}
    found = {word: n for word, n in sorted(found.items()) if not reading.takes(word)}
    if reading.values:
        marked = pc.is_in(texts, value_set=pa.array(list(found), texts.type))
    return np.array(marked.to_numpy(zero_copy_only=False), dtype=bool), found


# -- words --


def open_words(cells: Cells, missing: Mask, reading: Reading, kind: str | None = None) -> Column:
    """Classes, unless too few cells share one; words that mean missing are none."""
    if cells.family == "text":
        texts = _known(cells, missing)
        empty, taken = _marks(texts, SURELY, reading)
        kept, words = _marks(texts, PERHAPS, reading)
        every, marks = _marks(texts, AMONG_NUMBERS, reading)
        if (missing | every).all() and any(len(word) != 1 for word in marks):  # all are codes
            kept, words = every & ~empty, {w: n for w, n in marks.items() if w not in taken}
    else:
        empty, taken = _coded(cells, missing, SURELY, reading)
        kept, words = _coded(cells, missing, PERHAPS, reading)
    missing = missing | empty
    gaps = missing | kept
    if gaps.all():
        return _with_markers(LeftAlone(cells, "no known cell", missing), taken, words, None)
    if kind is None and not cells.categorical:
        counts = np.bincount(cells.codes[~gaps])
        n_known, n_values = int(np.count_nonzero(~gaps)), int(np.count_nonzero(counts))
        if is_free(n_values, n_known, int(counts.max())):
            reason = f"free text ({n_values:,} different values in {n_known:,} known cells)"
            return LeftAlone(cells, reason, missing)
        if n_values * n_known > MOST_CHANNELS:
            reason = (
                f"{n_values:,} different values in {n_known:,} known cells would take very long; "
                f"pass {typed(cells.series.name, 'category')} to fill it"
            )
            return LeftAlone(cells, reason, missing)
    return _with_markers(Category(cells, "category", gaps), taken, words, kept)


def _coded(
    cells: Cells, missing: Mask, words: frozenset[str], reading: Reading
) -> tuple[Mask, dict[str, int]]:
    """The same of cells that are numbers which stand for values."""
    found = {
        code: value
        for code, value in enumerate(cells.values or ())
        if reading.is_marker(value, words)
    }
    if not found:
        return np.zeros(missing.size, dtype=bool), {}
    marked = np.isin(cells.ticks, list(found)) & ~missing
    return marked, {v: n for c, v in found.items() if (n := int((cells.ticks[marked] == c).sum()))}


def _with_markers(
    column: Column, taken: dict[str, int], words: dict[str, int], kept: Mask | None
) -> Column:
    """The column, which remembers what it takes as missing and what it keeps."""
    column.taken, column.kept = taken, words
    if kept is not None:
        column.unseen = kept
    return column


# -- numbers --


def _open_numbers(
    cells: Cells, texts: Any, kind: str, mark: str, missing: Mask, reading: Reading
) -> Column | None:
    """Numbers, or a question about them; None if the text is something else."""
    from ..io._numbers import read_numbers

    if not kind and not _promising(texts, reading):
        return None
    marked, taken = _marks(texts, AMONG_NUMBERS, reading)
    numbers = read_numbers(_without(texts, marked), mark or None)
    if numbers.question and not mark:
        numbers = read_numbers(_without(texts, marked), reading.decimal())
    known = ~(missing | marked)
    others = known & ~numbers.is_number
    zeros = others & _dashes(texts) if others.any() else others  # as values, since the user says so
    if zeros.any():
        numbers.values[zeros], others = 0.0, others & ~zeros
    if kind:
        _read_plainly(texts, numbers, others)
        if others.any():
            raise no_number(cells.series.name, others, texts)
    elif not (known & ~others).any():
        return None
    elif others.any():
        words = _strays(texts, others, numbers.count, int(known.sum()))
        return _ask(cells, missing, *_among_numbers(cells, others, words)) if words else None
    elif _plain(numbers) and not (taken or reading.from_text):
        return None  # a column of a type: text because its owner wants it so
    if numbers.question:
        return _ask(cells, missing, *_doubt(cells, numbers, kind), refuse=bool(kind))
    return _as_numbers(cells, numbers, kind, missing | marked, taken)


def _plain(numbers: Numbers) -> bool:
    """Whether the plainest reader would read the same numbers."""
    return numbers.style.plain and not numbers.marked and not numbers.question


def _promising(texts: Any, reading: Reading) -> bool:
    """Whether half of the first known cells are numbers, those that mean missing aside."""
    from ..io._numbers import read_numbers

    some = texts.drop_null()[:PEEK]
    marked, _ = _marks(some, AMONG_NUMBERS, reading)
    size = len(some) - int(marked.sum())
    return not size or read_numbers(some).count >= LEAST / 2 * size


def _without(texts: Any, cells: Mask) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not cells.any():
        return texts
    return pc.if_else(pa.array(~cells), texts, pa.scalar(None, texts.type))


def _dashes(texts: Any) -> Mask:
    import pyarrow.compute as pc

    found = pc.match_substring_regex(texts, r"^[-\x{2013}\x{2014}\x{2212}]{1,3}$")
    return np.asarray(pc.fill_null(found, False).to_numpy(zero_copy_only=False), dtype=bool)


def _read_plainly(texts: Any, numbers: Numbers, others: Mask) -> None:
    """Read 007 and the like, since the user says that it is a number."""
    for row in np.flatnonzero(others):
        try:
            numbers.values[row] = float(texts[int(row)].as_py())
        except ValueError:
            return
        others[row] = False


def _as_numbers(
    cells: Cells, numbers: Numbers, kind: str, missing: Mask, taken: dict[str, int]
) -> Column:
    """A column of numbers whose filled cells are written as the known ones are."""
    import pyarrow as pa

    style, values = numbers.style, numbers.values
    if missing.all():
        return LeftAlone(cells, "no known cell", missing)
    whole = style.whole and not kind and bool((np.abs(values[~missing]) < 2**53).all())
    if whole:
        twin = pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)
    else:
        twin = pa.array(values, mask=missing)
    typed_cells = Cells(
        cells.series, pa.chunked_array([twin]), "integer" if whole else "number", write=style.write
    )
    typed_cells.read_as = None if style.plain else _example(cells, missing)
    if kind == "integer":
        broken = ~missing & (values != np.rint(values))
        if broken.any():
            row = int(np.argmax(broken))
            raise InputError(
                f"Column {cells.series.name!r} cannot be taken as integers, for {place(row)} holds "
                f"{float(values[row])}: take it as a number."
            )
    if whole:
        return _with_markers(Whole(typed_cells, "integer", missing), taken, {}, None)
    return _with_markers(Number(typed_cells, kind or "number", missing), taken, {}, None)


def _example(cells: Cells, missing: Mask) -> str:
    """The longest of the first known cells, which shows most of the style."""
    import pyarrow as pa

    return str(max(cells.twin.filter(pa.array(~missing))[:PEEK].to_pylist(), key=len)).strip()


def _strays(texts: Any, others: Mask, n_numbers: int, n_known: int) -> dict[str, int]:
    """The cells that keep a column from being one of numbers, if they are few."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.value_counts(texts.filter(pa.array(others))).to_pylist()
    words = {pair["values"]: pair["counts"] for pair in found}
    if n_numbers >= NEARLY * n_known:
        return words
    has_digit = any(letter.isdigit() for word in words for letter in word)
    few = n_numbers >= LEAST * n_known and len(words) <= MOST_WORDS
    return words if few and not has_digit and min(words.values()) > 1 else {}


# -- dates --


def _open_dates(cells: Cells, texts: Any, missing: Mask, reading: Reading) -> Column | None:
    """Dates and times, footnotes and the like read over; None if the text is something else."""
    from ..io._numbers import without_notes
    from ..io._text import parse_dates

    some = texts.drop_null()[:PEEK]
    some = _without(some, _marks(some, AMONG_NUMBERS, reading)[0]).drop_null()
    if len(some):
        peeked, _, doubt = parse_dates(without_notes(some).cast("string"))
        if peeked is None and doubt is None:
            return None
    marked, taken = _marks(texts, AMONG_NUMBERS, reading)
    clean = without_notes(_without(texts, marked))
    if (missing | marked).all():
        return None
    twin, moment, _ = parse_dates(clean.cast("string"))
    if twin is None or moment is None:
        return None
    family = "time" if str(twin.type).startswith("time") else "date"
    typed_cells = Cells(cells.series, twin, family, write=moment.format)
    return _with_markers(Whole(typed_cells, family, missing | marked), taken, {}, None)


# -- what is asked --


def _ask(
    cells: Cells, missing: Mask, reason: str, why: str, remedy: str, refuse: bool = False
) -> Column:
    """Left alone, and why; refused where the user named the kind."""
    name = repr(cells.series.name)
    if refuse:
        raise InputError(f"Column {name} cannot be taken as numbers, for {why}: {remedy}.")
    return LeftAlone(
        cells, reason, missing, (f"Column {name} is left alone, for {why}: {remedy}.",)
    )


def _doubt(cells: Cells, numbers: Numbers, kind: str) -> tuple[str, str, str]:
    """Numbers that can be read in two ways."""
    name, why = cells.series.name, numbers.question
    if "may be" not in why:
        return why, why, f"write all of them alike, or pass {typed(name, 'category')}"
    point, comma = (typed(name, f"{kind or 'number'}:{mark}") for mark in ".,")
    return why, why, f"pass {comma} or {point} for its decimal mark"


def _among_numbers(cells: Cells, others: Mask, words: dict[str, int]) -> tuple[str, str, str]:
    """Neither a number nor a class to fill in: the user has to say which."""
    listed = ", ".join(f'"{word}"' for word in list(words)[:MOST_SHOWN])
    listed += f" and {len(words) - MOST_SHOWN} more" if len(words) > MOST_SHOWN else ""
    count, first = int(np.count_nonzero(others)), place(int(np.argmax(others)))
    held = f"{count:,} cell{'s, the first' if count > 1 else ''} in {first}"
    return (
        f"numbers but for {listed}",
        f"its cells are numbers but for {listed} ({held})",
        (
            f"pass {meaning_missing(*list(words)[:MOST_SHOWN])} if that means missing, or "
            f"{typed(cells.series.name, 'category')} if it is a value"
        ),
    )


def _says_yes_or_no(cells: Cells, missing: Mask) -> bool:
    """Whether a text is a boolean by other words, which are kept."""
    import pyarrow.compute as pc

    words = {word.lower() for word in pc.unique(_known(cells, missing).drop_null()).to_pylist()}
    return words <= YES_AND_NO


def no_number(name: Any, others: Mask, texts: Any) -> InputError:
    """A cell that is no number, in a column that the user calls one."""
    row = int(np.argmax(others))
    return InputError(
        f"Column {name!r} cannot be taken as numbers, for {place(row)} holds "
        f"{named(texts[row].as_py())}: name it as missing if it stands for a missing cell, or take "
        "the column as a category."
    )
