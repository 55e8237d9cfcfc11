"""The decimal mark of a column of numbers and its mark between thousands, or what is in doubt."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._number_parts import CELL, FRACTION, GROUPS

MIXED = "it writes decimals with points and with commas"
DOUBTFUL = r"^[1-9][0-9]{0,2}[.,][0-9]{3}$"


def _settles(mark: str, other: str) -> str:
    """The form of a number in which `mark` can only be the decimal mark."""
    d, g = re.escape(mark), re.escape(other)
    return (
        rf"^[^.,]*{d}(?:[0-9]{{0,2}}|[0-9]{{4,}})(?:[eE].*)?$|^0?{d}|^[0-9]{{4,}}{d}|{g}.*{d}"
        rf"|^[^.,]*{d}[0-9]*[eE]|^[0-9]{{1,3}}(?:{g}[0-9]{{2,3}}){{2,}}$"
        rf"|[{GROUPS}][0-9]{{3}}{d}"
    )


POINT, COMMA = _settles(".", ","), _settles(",", ".")


def settled_decimal(cells: pa.ChunkedArray) -> str | None:
    """The decimal mark that the numbers among some cells show beyond doubt, if they do."""
    parts = pc.extract_regex(cells, CELL)
    bodies = pc.struct_field(parts, "body")
    found = [
        mark
        for mark, pattern in ((".", POINT), (",", COMMA))
        if pc.any(pc.match_substring_regex(bodies, pattern)).as_py()
    ]
    return found[0] if len(found) == 1 else None


def marks_of(
    bodies: Any, is_number: NDArray[np.bool_], decimal: str | None
) -> tuple[str, str, str]:
    """The decimal mark, the mark between thousands, and what is in doubt, as a clause."""
    known = bodies.filter(pa.array(is_number))
    plain = known.filter(pc.invert(pc.match_substring_regex(known, FRACTION)))
    point, comma = (
        pc.any(pc.match_substring_regex(plain, pattern)).as_py() or False
        for pattern in (POINT, COMMA)
    )
    letters = set("".join(pc.unique(pc.replace_substring_regex(plain, "[0-9]", "")).to_pylist()))
    groups = [letter for letter in GROUPS if letter in letters]
    doubtful = plain.filter(pc.match_substring_regex(plain, DOUBTFUL))
    question = ""
    if point and comma:
        question = MIXED
    elif not point and not comma and len(doubtful):
        text = doubtful[0].as_py()
        both = {".", ","} <= set("".join(pc.unique(doubtful).to_pylist()))
        if decimal is None or both:
            whole, parted = re.sub("[.,]", "", text), float(text.replace(",", "."))
            question = f'"{text}" may be {whole} or {parted:g}'
    mark = "." if point else "," if comma else decimal or "."
    other = "," if mark == "." else "."
    if groups:
        group = groups[0] if len(groups) == 1 else max(groups, key="".join(plain.to_pylist()).count)
    else:
        group = other if other in letters else ""
    return mark, group, question
