"""How a column writes its numbers: $1,200.00 or 16,3 % or (12 km) or 3 1/2.

One style holds for a column: one decimal mark, one mark between thousands, one unit.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._number_parts import (
    BLANKS,
    BREAK,
    FRACTION,
    GLYPHS,
    MINUS,
    count_texts,
    filled,
    is_negative,
    is_one_of,
    joined,
)

DENOMINATORS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64)


@dataclass(frozen=True)
class NumberStyle:
    """One way of writing numbers, learnt from the cells of a column by :func:`read_numbers`."""

    decimal: str = "."
    group: str = ""  # between thousands
    shortest: int = 4  # digits that a whole part has at least where it is grouped
    pairs: bool = False  # above the thousands, two digits a group: 1,20,000
    decimals: tuple[int, int] = (0, 0)  # the fewest and the most
    denominators: tuple[int, ...] = ()  # of fractions
    glyphs: bool = False  # fractions are single letters
    around: tuple[str, str] = ("", "")  # what stands before and after a number
    around_negative: tuple[str, str] = ("-", "")

    @property
    def plain(self) -> bool:
        """Whether the plainest reader would read the cells as the same numbers."""
        bare = not (self.group or self.denominators) and self.decimal == "."
        return bare and self.around == ("", "") and self.around_negative == ("-", "")

    @property
    def whole(self) -> bool:
        return self.decimals[1] == 0 and not self.denominators

    def write(self, values: Any) -> pa.Array:
        """Numbers as text, null where null.

        >>> style = NumberStyle(group=",", decimals=(2, 2), around=("$", ""))
        >>> style.write(pa.array([1234.5, None])).to_pylist()
        ['$1,234.50', None]
        """
        return pa.array(
            [None if v is None else self._text(v) for v in values.to_pylist()], "string"
        )

    def _text(self, value: float) -> str:
        if self.denominators:
            text, negative = self._fraction(value)
        else:
            fewest, most = self.decimals
            text = f"{abs(value):.{most}f}"
            negative = value < 0 and text.strip("0.") != ""
            whole, _, digits = text.partition(".")
            digits = digits[:fewest] + digits[fewest:].rstrip("0")
            text = self._grouped(whole) + (self.decimal + digits if digits else "")
        before, after = self.around_negative if negative else self.around
        return f"{before}{text}{after}"

    def _grouped(self, whole: str) -> str:
        if not self.group or len(whole) < self.shortest:
            return whole
        head, tail = whole[:-3], whole[-3:]
        size = 2 if self.pairs else 3
        first = len(head) % size
        parts = [head[:first], *(head[i : i + size] for i in range(first, len(head), size)), tail]
        return self.group.join(filter(None, parts))

    def _fraction(self, value: float) -> tuple[str, bool]:
        near = (Fraction(round(abs(value) * d), d) for d in self.denominators)
        best = min(near, key=lambda one: (abs(float(one) - abs(value)), one.denominator))
        whole, part = divmod(best, 1)
        if not part:
            text = str(whole)
        elif self.glyphs and part in GLYPHS.values():
            glyph = next(letter for letter, held in GLYPHS.items() if held == part)
            text = f"{whole or ''}{glyph}"
        else:
            text = f"{whole} {part}" if whole else str(part)
        return text, value < 0 and best != 0


def style_of(
    table: dict[str, Any],
    bodies: Any,
    is_number: NDArray[np.bool_],
    decimal: str,
    group: str,
    unit: tuple[str, str],
) -> NumberStyle:
    """What most cells look like."""
    # Rows without the unit, with a mark of a statistical office, or about right: no model.
    model = is_number & is_one_of(table["prefix"], unit[0]) & is_one_of(table["unit"], unit[1])
    negative = pa.array(is_negative(table)).cast("string")
    after = pc.utf8_rtrim(table["after"], characters=BLANKS)
    keys = joined(table["before"], after, negative).filter(
        pa.array(model & is_one_of(table["about"], ""))
    )
    usual: Counter[tuple[str, str]] = Counter()
    usual_negative: Counter[tuple[str, str]] = Counter()
    for key, n in count_texts(keys).items():
        start, end, sign = key.split(BREAK)
        (usual_negative if sign == "true" else usual)[start, end] += n
    fraction = filled(pc.match_substring_regex(bodies, FRACTION))
    plain = bodies.filter(pa.array(is_number & ~fraction))
    plain = pc.replace_substring_regex(plain, "[eE].*", "")
    mark = pc.find_substring(plain, decimal)
    digits = pc.subtract(pc.subtract(pc.binary_length(plain), mark), 1)
    decimals = pc.min_max(pc.if_else(pc.less(mark, 0), 0, digits)).as_py()
    wholes = pc.replace_substring_regex(plain, rf"{re.escape(decimal)}.*$", "")
    grouped = wholes.filter(pc.match_substring_regex(wholes, f"[0-9]{re.escape(group)}[0-9]"))
    bare = wholes.filter(pc.match_substring_regex(wholes, "^[0-9]{4,}$"))
    longest = pc.max(pc.utf8_length(bare)).as_py() or 0
    if not group or (len(bare) > len(grouped) and longest > 4):
        grouped = grouped[:0]  # thousands are set apart in some cells only, or in none
    in_pairs = pc.any(pc.match_substring_regex(grouped, "[^0-9][0-9]{2}[^0-9][0-9]{3}")).as_py()
    around = usual.most_common(1)[0][0] if usual else ("", "")
    if usual_negative:
        around_negative = usual_negative.most_common(1)[0][0]
        if not usual:
            around = tuple(part.strip(f"{MINUS}()") for part in around_negative)  # type: ignore[assignment]
    else:
        sign = around[0].lstrip("+")
        around_negative = (f"-{sign}", around[1])
    return NumberStyle(
        decimal=decimal,
        group=group if len(grouped) else "",
        shortest=5 if longest == 4 else 4,
        pairs=in_pairs is True,
        decimals=(decimals["min"] or 0, decimals["max"] or 0),
        around=around,
        around_negative=around_negative,
    )
