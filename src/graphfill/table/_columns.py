"""One column of a user's table, opened: its kind by its dtype, its cells, or the user's word.

``_arrow`` reads and writes columns of any library, ``_numeric`` and ``_categorical`` turn cells
into float channels and back; here one of them is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, cell, check_choice, named, place
from ..io import AMONG_NUMBERS, KINDS, as_number
from ._arrow import Cells, read
from ._categorical import Boolean
from ._column import Column, LeftAlone
from ._markers import Reading, far_values
from ._numeric import Number, Whole
from ._objects import equals_marker
from ._text_column import open_text, open_words

if TYPE_CHECKING:
    import narwhals as nw


FEWEST_WHOLE = 20  # known cells, all of them whole numbers: then it is no chance
LEAST_DEVIATION = (1 / 12 / 0.02) ** 0.5  # of these: rounding adds an error of at most 2 % of it


def open_column(
    series: nw.Series[Any],
    *,
    kind: str | None = None,
    missing: Sequence[Any] = (),
    asked: bool = False,
    left_alone: str | None = None,
    reading: Reading | None = None,
) -> Column:
    """Read one column of a dataframe, remembering how to give it back.

    Parameters
    ----------
    series : narwhals.Series
        Of pandas, polars or pyarrow; it is never changed.
    kind : str, optional
        "number", "integer", "boolean", "category", "date", "time", "duration" or "leave"; by
        default the dtype decides, or for a column of Python objects or text, its cells. With
        "number:," the comma is the decimal mark.
    missing : sequence, optional
        Values that mark a cell as missing, beside null, None, NaN and NaT. A text cell is
        compared with the marker as text, a number with the marker as a number.
    asked : bool
        Whether the column was named as one to fill: then a mixture is refused, not left alone.
    left_alone : str, optional
        Why it is not to be filled, whatever its cells are.
    reading : Reading, optional
        What its text may mean.

    Examples
    --------
    >>> import narwhals as nw, polars as pl
    >>> column = open_column(nw.from_native(pl.Series("age", [30, None, 40]), series_only=True))
    >>> column.kind, column.missing.tolist()
    ('integer', [False, True, False])
    >>> channel = np.empty((3, 1))
    >>> column.encode(range(1), channel)
    >>> channel.ravel().tolist()
    [-1.0, nan, 1.0]
    >>> column.decode(range(1), np.array([[0.25]]))
    >>> column.rebuild().to_list()
    [30, 36, 40]
    """
    reading = reading or Reading()
    if kind is not None:
        base, _, mark = kind.partition(":")
        both = base in ("number", "integer") and mark in (".", ",")
        check_choice(f"The kind of column {series.name!r}", base if both else kind, KINDS)
    cells, taken = read(series, missing), {}  # type: tuple[Cells, dict[str, int]]
    if cells.mixture is not None and kind in (None, "number", "integer"):
        taken = _words_among_numbers(series, reading)
        cells = read(series, [*missing, *taken]) if taken else cells
        missing = [*missing, *taken]
    is_missing = cells.missing | _marked(cells, missing) if missing else cells.missing
    if kind == "leave":
        return LeftAlone(cells, "as you asked", is_missing)
    if left_alone is not None:
        return _unless_asked(kind, LeftAlone(cells, left_alone, is_missing))
    column = _choose(cells, kind, is_missing, asked, reading)
    column.taken = column.taken or taken
    return _without_far_values(column, reading)


def _words_among_numbers(series: nw.Series[Any], reading: Reading) -> dict[str, int]:
    """The texts in a column of Python objects, if all of them mean that a number is missing."""
    counts: dict[str, int] = {}
    for value in series.to_native():
        if isinstance(value, str):
            counts[value] = counts.get(value, 0) + 1
            if not reading.is_marker(value, AMONG_NUMBERS):
                return {}
    return counts


def _without_far_values(column: Column, reading: Reading) -> Column:
    """The column, with numbers such as -999 kept where they stand, and informing no other."""
    if not isinstance(column, Number) or column.kind not in ("number", "integer"):
        return column
    far = far_values(column.known_values(), reading)
    if not far:
        return column
    numbers = column.numbers()
    kept = ~column.missing & np.isin(numbers, list(far.values()))
    words = {word: int((numbers[kept] == value).sum()) for word, value in far.items()}
    if (column.missing | kept).all():
        column = column.as_(LeftAlone, "no known cell", ())
        column.kept = words
        return column
    return column.keeping(kept, words)


def _choose(
    cells: Cells, kind: str | None, missing: NDArray[np.bool_], asked: bool, reading: Reading
) -> Column:
    if missing.all():
        return LeftAlone(cells, "no known cell", missing)
    if kind == "category":
        if cells.family == "" and cells.values is None:
            raise _kind_cannot_apply(cells.series.name, kind, cells.reason)
        return open_words(cells, missing, reading, kind)
    if cells.family == "":
        return _unless_asked(kind, LeftAlone(cells, cells.reason, missing))
    if cells.mixture is not None:
        if kind is not None or (asked and missing.any()):
            raise mixed_column(cells.series.name, *cells.mixture)
        mixed = f"is left alone, for it {_mixture(*cells.mixture)}"
        note = f"Column {cells.series.name!r} {mixed}, or make all cells one kind."
        return LeftAlone(cells, "mixed", missing, (note,) if missing.any() else ())
    if cells.categorical:
        return _unless_asked(kind, open_words(cells, missing, reading))
    if cells.family == "text":
        column = open_text(cells, kind, missing, reading)
        if column is None:
            raise _kind_cannot_apply(cells.series.name, kind, "text")
        return column
    kind = kind and kind.partition(":")[0]  # a number has no decimal mark
    if cells.family == "boolean":
        return _unless_asked(kind, Boolean(cells, "boolean", missing))
    if kind == "boolean" and cells.family in ("number", "integer"):
        return _open_zeros_and_ones(cells, missing)
    if cells.family == "number":
        return _open_numbers(cells, kind, missing)
    if cells.family == "integer":
        kind = None if kind == "number" else kind  # the dtype holds nothing but integers anyway
    return _unless_asked(kind, Whole(cells, cells.family, missing))


def _unless_asked(kind: str | None, column: Column) -> Column:
    """The column, unless the user asked for a kind that it is not."""
    if kind not in (None, column.kind):
        held = column.reason or f"a column of kind {column.kind!r}"
        raise _kind_cannot_apply(column.name, kind, held)
    return column


# -- numbers --


def _open_numbers(cells: Cells, kind: str | None, missing: NDArray[np.bool_]) -> Column:
    if kind not in (None, "number", "integer"):
        raise _kind_cannot_apply(cells.series.name, kind, "a column of kind 'number'")
    values = cells.floats
    infinite = np.isinf(values) & ~missing
    if infinite.any():
        if missing.any() or kind is not None:
            row = int(np.argmax(infinite))
            raise InputError(
                f"The cell at {cell(row, repr(cells.series.name))} is infinite ({values[row]}): "
                "name it as missing, or give it a finite number."
            )
        return LeftAlone(cells, "infinite values", missing)
    if kind == "integer":
        broken = ~missing & (values != np.rint(values))
        if broken.any():
            row = int(np.argmax(broken))
            raise InputError(
                f"Column {cells.series.name!r} cannot be taken as integers, for {place(row)} holds "
                f"{float(values[row])}: take it as a number."
            )
    if kind is None and _are_integers(cells, missing):
        column = Number(cells, "integer", missing)
        column.whole_by_guess = True
        return column
    return Number(cells, kind or "number", missing)


def _are_integers(cells: Cells, missing: NDArray[np.bool_]) -> bool:
    """Whether floats are integers that pandas stores so for want of a missing one.

    Other libraries have that; a few whole numbers may be so by chance. Where they vary by a step
    or two (flags, marks), rounding would lose much of what a fill says: 0.2 and 0.4 are both 0.
    """
    native = cells.series.to_native()
    if not cells.series.implementation.is_pandas_like() or not missing.any():
        return False
    known = cells.floats[~missing]
    in_numpy = isinstance(native.dtype, np.dtype) and native.dtype.kind == "f"
    if not in_numpy or known.size < FEWEST_WHOLE or (known % 1).any():
        return False
    size = float(np.abs(known).max())
    return size > 0 and size * float(np.std(known / size)) >= LEAST_DEVIATION


def _open_zeros_and_ones(cells: Cells, missing: NDArray[np.bool_]) -> Column:
    values = cells.floats
    other = ~missing & (values != 0) & (values != 1)
    if other.any():
        row = int(np.argmax(other))
        raise InputError(
            f"Column {cells.series.name!r} cannot be taken as boolean, for {place(row)} holds "
            f"{named(cells.twin[row].as_py())}, which is neither 0 nor 1: take it as a category or "
            "a number."
        )
    return Boolean(cells, "boolean", missing)


# -- markers --


def _marked(cells: Cells, markers: Sequence[Any]) -> NDArray[np.bool_]:
    """True where a cell is one of the user's markers for a missing cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    marked = np.zeros(len(cells.twin), dtype=bool)
    if cells.values is not None:
        codes = [code for code, value in enumerate(cells.values) if equals_marker(value, markers)]
        return np.isin(cells.ticks, codes) & ~cells.missing
    if cells.family == "text":
        words = pa.array([str(marker) for marker in markers], cells.twin.type)
        return np.asarray(pc.is_in(cells.twin, value_set=words).to_numpy())
    if cells.family in ("number", "integer"):
        for number in map(as_number, markers):
            if number is not None and cells.family == "number":
                marked |= cells.floats == _in_precision(number, cells)
            elif number is not None and abs(number) < 2**64 and number == int(number):
                info = np.iinfo(cells.ticks.dtype)
                if info.min <= int(number) <= info.max:
                    marked |= cells.ticks == int(number)
    elif pa.types.is_temporal(cells.twin.type):
        for marker in markers:
            try:
                moment = pa.array([str(marker)]).cast(cells.twin.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
            marked |= np.asarray(pc.equal(cells.twin, moment[0]).fill_null(False).to_numpy())
    return marked & ~cells.missing


def _in_precision(number: Decimal, cells: Cells) -> float:
    """A number as the column would hold it: no float32 equals the float64 -99.9."""
    if not cells.is_float:
        return float(number)
    with np.errstate(over="ignore"):
        return float(np.dtype(cells.twin.type.to_pandas_dtype()).type(float(number)))


# -- refusals --


def _kind_cannot_apply(name: Any, kind: str | None, held: str) -> InputError:
    """A kind that the cells of a column cannot be."""
    return InputError(
        f"Column {name!r} cannot be taken as {kind!r}, for it is {held}: leave its kind to "
        f"graphfill, or convert the column first."
    )


def mixed_column(name: Any, one: Sequence[Any], two: Sequence[Any]) -> InputError:
    """A column whose cells are of two kinds; each is (plural, row, value)."""
    return InputError(
        f"Column {name!r} {_mixture(one, two)}, make all cells one kind, or leave the column out."
    )


def _mixture(one: Sequence[Any], two: Sequence[Any]) -> str:
    """The same within a sentence."""
    shown = " and ".join(
        f"{kind} ({place(row)}: {named(value)})" for kind, row, value in (one, two)
    )
    word = next((value for kind, _, value in (one, two) if kind == "text"), two[2])
    return f"mixes {shown}: name {named(word)} as missing if it stands for a missing cell"
