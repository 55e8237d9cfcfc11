"""What to say of a table without links: that there are none, and which columns could give some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import spelled
from ..links import find_coordinates

if TYPE_CHECKING:
    import narwhals as nw

PLANE = (("y", "x"), ("northing", "easting"))  # names of two columns of plane coordinates
KEY_ENDINGS = ("id", "key", "code", "no", "nr", "number")
KEY_NAMES = ("household", "family", "firm", "company", "school", "station", "site", "group")
FEWEST_ROWS, ROWS_PER_KEY = 20, 2.0


def unlinked_notes(frame: nw.DataFrame[Any], id: Any, holder: str) -> list[str]:
    """Sentences on a table whose rows nothing links."""
    notes = [
        f"Nothing links the rows of {holder}: each blank is filled from its own row's other "
        "columns, or from its column."
    ]
    pair = _coordinates(frame, id)
    if pair is not None:
        how = spelled(f"near={pair!r}", f"--near {pair[0]},{pair[1]}")
        notes.append(f"Columns {pair[0]!r} and {pair[1]!r} look like coordinates: {how} links "
                     "near rows.")  # fmt: skip
    for name in frame.columns:
        if name != id and name not in (pair or ()) and _looks_like_key(frame, name):
            how = spelled(f"same={name!r}", f"--same {name}")
            notes.append(f"Several rows share a value of column {name!r}: {how} links them.")
    return notes


def _coordinates(frame: nw.DataFrame[Any], id: Any) -> tuple[Any, Any] | None:
    """Two columns of numbers whose names say that they are places."""
    numbers = {
        str(name).strip(): name
        for name in frame.columns
        if name != id and frame.get_column(name).dtype.is_numeric()
    }

    def values(name: str) -> Any:
        cells = frame.get_column(numbers[name]).to_arrow().cast("float64")
        return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=np.float64)

    pair = find_coordinates(list(numbers), values)
    lower = {name.lower(): name for name in numbers}
    for first, second in PLANE:
        if pair is None and first in lower and second in lower:
            pair = lower[first], lower[second]
    return None if pair is None else (numbers[pair[0]], numbers[pair[1]])


def _looks_like_key(frame: nw.DataFrame[Any], name: Any) -> bool:
    """Whether a column has the name of a key, and values that several rows share."""
    words = str(name).replace("_", " ").replace("-", " ").lower().split()
    if not words or not (words[-1] in KEY_ENDINGS or words[0] in KEY_NAMES):
        return False
    column = frame.get_column(name)
    if len(frame) < FEWEST_ROWS or column.dtype.is_float() or column.dtype.is_nested():
        return False
    known = column.drop_nulls()
    values = known.n_unique() if len(known) else 0
    return 1 < values <= len(known) / ROWS_PER_KEY
