"""Cells of text read as the numbers they are: $1,200.00, 16,3 %, (12 km), 3 1/2, 12*.

A cell is cut into parts (`_number_parts`); marks such as footnotes are read over. What could be
read in two ways is a question, and nobody's guess.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._number_marks import MIXED, marks_of
from ._number_parts import (
    BLANKS,
    CELL,
    FRACTION,
    GLYPHS,
    MINUS,
    NOTE,
    POINTED,
    ZERO,
    filled,
    is_negative,
    is_one_of,
)
from ._number_style import DENOMINATORS, NumberStyle, style_of
from ._number_units import unit_question, units_of

MOST_DIGITS = 15  # that a float holds


@dataclass(frozen=True)
class Numbers:
    """What the cells of a column are: numbers in one style, other words, or a question."""

    is_number: NDArray[np.bool_]
    values: NDArray[np.float64]  # NaN where a cell is no number
    style: NumberStyle = field(default_factory=NumberStyle)
    marked: int = 0  # cells with a footnote or the like
    question: str = ""  # why the style is not clear, as a clause

    @property
    def count(self) -> int:
        return int(self.is_number.sum())


def read_numbers(cells: pa.ChunkedArray, decimal: str | None = None) -> Numbers:
    """Read the known cells of a column, blanks around them left out, null where missing.

    Parameters
    ----------
    decimal : the decimal mark, if the rest of the file tells it

    Examples
    --------
    >>> read_numbers(pa.chunked_array([["1.200,50 €", "-3 €", "pending"]])).values.tolist()
    [1200.5, -3.0, nan]
    """
    parts = pc.extract_regex(cells, CELL)
    table = {field.name: pc.struct_field(parts, field.name) for field in parts.type}
    is_number = filled(pc.is_valid(parts)) & ~_unbalanced(table)
    if not is_number.any():
        return Numbers(is_number, np.full(len(cells), np.nan))
    unit, units, marked = units_of(table, is_number)
    bodies = table["body"]
    if not is_number.any():
        return Numbers(is_number, np.full(len(cells), np.nan))
    if decimal is None and any(map(POINTED.fullmatch, unit)):  # money with commas for thousands
        decimal = "."
    decimal, group, question = marks_of(bodies, is_number, decimal)
    if question == MIXED:
        return Numbers(is_number, np.where(is_number, 0.0, np.nan), question=question)
    values, is_number, denominators = _values(bodies, is_number, decimal, group)
    if _labels(table, bodies, is_number, group, unit):
        is_number[:] = False
    values[is_negative(table)] *= -1
    zero = filled(pc.match_substring_regex(cells, ZERO)) & ~is_number
    values[zero], is_number = 0.0, is_number | zero
    values[~is_number] = np.nan
    in_units = unit_question(units, unit, int(is_number.sum()))
    style = style_of(table, bodies, is_number & ~zero, decimal, group, unit)
    if denominators:
        style, values = _with_denominators(style, denominators, values, bodies, is_number)
        question = question or ("" if style.denominators else _odd_fractions(denominators))
    return Numbers(is_number, values, style, marked, question or in_units)


def without_notes(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells without footnotes and the like at their end.

    >>> without_notes(pa.chunked_array([["2020-03-04*", "2020-03-05 (est.)"]])).to_pylist()
    ['2020-03-04', '2020-03-05']
    """
    return pc.replace_substring_regex(cells, f"{NOTE}$", "")


def _unbalanced(table: dict[str, Any]) -> NDArray[np.bool_]:
    """Cells with half of a pair of parentheses, or with two signs."""
    opened = is_one_of(table["open"], "(").astype(int) + is_one_of(table["inner"], "(")
    signs = opened.copy()
    for name in ("sign", "inner", "trail"):
        signs += is_one_of(table[name], *MINUS, "+")
    return np.asarray((opened != is_one_of(table["close"], ")")) | (signs > 1))


def _values(
    bodies: Any, is_number: NDArray[np.bool_], decimal: str, group: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_], Counter[int]]:
    """The numbers, which cells are numbers indeed, and the denominators of fractions."""
    d, blanks = re.escape(decimal), group in BLANKS and group != ""
    g = f"[{BLANKS}]" if blanks else re.escape(group)
    tail = rf"(?:{d}[0-9]*)?(?:[eE][+-]?[0-9]+)?"
    forms = [rf"^(?:0|[1-9][0-9]*){tail}$", rf"^{d}[0-9]+(?:[eE][+-]?[0-9]+)?$"]
    if group:
        forms += [rf"^[1-9][0-9]{{0,2}}(?:{g}[0-9]{{3}})+{tail}$"]
        forms += [rf"^[1-9][0-9]?(?:{g}[0-9]{{2}})+{g}[0-9]{{3}}{tail}$"]
    fraction = filled(pc.match_substring_regex(bodies, FRACTION)) & is_number
    is_number = is_number & (filled(pc.match_substring_regex(bodies, "|".join(forms))) | fraction)
    texts = pc.if_else(pa.array(is_number & ~fraction), bodies, None)
    if group:
        texts = pc.replace_substring_regex(texts, g, "")
    long = filled(pc.match_substring_regex(texts, rf"^[0-9]{{{MOST_DIGITS + 1},}}$"))
    is_number = is_number & ~long
    if decimal != ".":
        texts = pc.replace_substring(texts, decimal, ".")
    values = np.array(texts.cast("float64").to_numpy(), dtype=np.float64)
    denominators: Counter[int] = Counter()
    for row in np.flatnonzero(fraction):
        value = _of_fraction(bodies[int(row)].as_py(), decimal)
        if value is None:
            is_number[row] = False
        else:
            values[row] = float(value[0])
            denominators[value[1]] += 1
    return values, is_number, denominators


def _of_fraction(text: str, decimal: str) -> tuple[Fraction, int] | None:
    """A fraction and its denominator as written."""
    if text[-1] in GLYPHS:
        part = GLYPHS[text[-1]]
        return Fraction(text[:-1].strip() or 0) + part, part.denominator
    whole, _, written = text.replace("\u00a0", " ").rpartition(" ")
    above, _, below = written.partition("/")
    if int(below) == 0:
        return None
    top = Fraction(above.replace(decimal, ".")) if re.fullmatch(r"\d+([.,]\d+)?", above) else None
    return None if top is None else (Fraction(whole or 0) + top / int(below), int(below))


def _with_denominators(
    style: NumberStyle,
    denominators: Counter[int],
    values: NDArray[np.float64],
    bodies: Any,
    is_number: NDArray[np.bool_],
) -> tuple[NumberStyle, NDArray[np.float64]]:
    """The style of fractions; 4/5 beside 5/5 counts points out of five."""
    texts = [text for text in bodies.filter(pa.array(is_number)).to_pylist() if text]
    below = max(denominators)
    out_of = [re.fullmatch(rf"([0-9]+(?:[.,][0-9]+)?)/{below}", text) for text in texts]
    reducible = any(m and np.gcd(int(float(m[1].replace(",", "."))), below) > 1 for m in out_of)
    if all(out_of) and (reducible or below not in DENOMINATORS):
        digits = [m[1].replace(",", ".").partition(".")[2] for m in out_of if m]
        decimals = min(map(len, digits)), max(map(len, digits))
        around, negative = (
            (before, f"/{below}{after}") for before, after in (style.around, style.around_negative)
        )
        style = replace(style, around=around, around_negative=negative, decimals=decimals)
        return style, values * below
    if set(denominators) <= set(DENOMINATORS):
        glyphs = any(text[-1] in GLYPHS for text in texts)
        used = tuple(sorted(denominators))
        return replace(style, denominators=used, glyphs=glyphs), values
    return style, values


def _odd_fractions(denominators: Counter[int]) -> str:
    odd = sorted(set(denominators) - set(DENOMINATORS))
    return f"its fractions have denominators such as {odd[0]}" if odd else ""


def _labels(
    table: dict[str, Any],
    bodies: Any,
    is_number: NDArray[np.bool_],
    group: str,
    unit: tuple[str, str],
) -> bool:
    """Whether the cells are rather labels: telephone numbers, or codes with a plus."""
    keep = pa.array(is_number)
    known = bodies.filter(keep)
    if unit != ("", "") or not len(known):
        return False
    whole = not pc.any(pc.match_substring_regex(known, f"[.,]|{FRACTION}")).as_py()
    digits = pc.utf8_length(pc.replace_substring_regex(known, "[^0-9]", ""))
    alike = pc.min_max(digits).as_py()
    if whole and group and alike["min"] == alike["max"] and alike["min"] > 6 and len(known) > 2:
        return True
    return whole and bool(is_one_of(table["sign"].filter(keep), "+").all())
