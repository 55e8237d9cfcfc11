"""A number in a cell, cut into parts: what stands before it, the number, what stands after, marks.

The patterns are RE2's, as Arrow matches them.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

GLYPHS = dict(zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", map(Fraction, (
    "1/2", "1/3", "2/3", "1/4", "3/4", "1/5", "2/5", "3/5", "4/5", "1/6", "5/6", "1/8", "3/8",
    "5/8", "7/8")), strict=True))  # fmt: skip
BLANKS = " \t\u00a0\u2009\u202f\u2007"
GROUPS = "'\u2019_" + BLANKS  # between thousands, besides the point and the comma
MINUS = "\u2212\u2013-"  # the last one ends a class of letters
_CODES = """AED ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KES
KRW MAD MXN MYR NGN NOK NZD PEN PHP PKR PLN RON RSD RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"""
_WORDS = "euros? dollars? pounds? Rs\\.? Fr\\.? sFr\\.? kr\\.? z\u0142 K\u010d Ft lei R RM DM"
_SYMBOLS = "[$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba\u20aa\u20ab\u0e3f\u20b4\u20a6\u20b1\u20a1]"
_CURRENCY = "|".join([f"[A-Z]{{0,3}}{_SYMBOLS}", *_CODES.split(), *_WORDS.split()])
_BLANK = f"[{BLANKS}]*"
_WORD = r"[A-Za-z\x{b0}\x{b5}\x{c0}-\x{24f}\x{3bc}%\x{2030}][^\s0-9()\[\]*,;:<>=]*[\x{b2}\x{b3}23]?"
_POWERED = rf"(?:{_WORD}(?:/[0-9]*{_WORD})?)"
_GLYPH = f"[{''.join(GLYPHS)}]"
_BODY = (
    rf"[0-9]+[ \x{{a0}}][0-9]+/[0-9]+|[0-9]+(?:[.,][0-9]+)?/[0-9]+|[0-9]*[ ]?{_GLYPH}"
    rf"|(?:[0-9](?:[.,{GROUPS}]?[0-9])*[.,]?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
)
NOTE = (
    rf"(?:{_BLANK}(?:\*{{1,3}}|[\x{{2020}}\x{{2021}}\x{{a7}}#\x{{aa}}]"
    r"|[\x{b9}\x{b2}\x{b3}\x{2070}\x{2074}-\x{2079}]+|\[[^\[\]]{1,12}\]"
    r"|\([A-Za-z][^()]{0,24}\)|\([0-9]{1,2}\)))*"
)
CELL = (
    rf"^(?P<before>(?P<open>\(?){_BLANK}(?P<sign>[+{MINUS}]?){_BLANK}"
    rf"(?P<about>(?:~|\x{{2248}}|c\.|ca\.?|approx\.)?){_BLANK}(?P<prefix>(?:{_CURRENCY})?)"
    rf"{_BLANK}(?P<inner>[+({MINUS}]?){_BLANK})(?P<body>{_BODY})"
    rf"(?P<after>{_BLANK}(?P<unit>(?:{_CURRENCY}|{_POWERED}(?: {_POWERED})?)?){_BLANK}"
    rf"(?P<trail>[{MINUS}]?){_BLANK}(?P<close>\)?))(?P<note>{NOTE})$"
)
MONEY = re.compile(f"(?:{_CURRENCY})\\Z")
POINTED = re.compile(
    r"[A-Z]{0,3}[$\u00a3\u00a5\u20b9]|USD|GBP|INR|JPY|CNY|AUD|CAD|Rs\.?|dollars?|pounds?"
)
ZERO = rf"^(?:{_CURRENCY}){_BLANK}[\x{{2014}}{MINUS}]{{1,2}}$"  # as accountants write it
BREAK = "\0"  # between texts that are counted together
FRACTION = rf"/|{_GLYPH}"


def filled(mask: Any) -> NDArray[np.bool_]:
    return np.array(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), dtype=bool)


def is_one_of(column: Any, *words: str) -> NDArray[np.bool_]:
    return filled(pc.is_in(column, value_set=pa.array(words, column.type)))


def joined(*columns: Any) -> Any:
    """Several columns as one, to count what comes together."""
    texts = [pc.cast(column, pa.large_string()) for column in columns]
    return pc.binary_join_element_wise(*texts, pa.scalar(BREAK, pa.large_string()))


def count_texts(cells: Any) -> dict[str, int]:
    """How often each text comes, in the order of the texts: ties go the same way in any order."""
    pairs = pc.value_counts(cells.drop_null()).to_pylist()
    return {pair["values"]: pair["counts"] for pair in sorted(pairs, key=lambda p: p["values"])}


def is_negative(table: dict[str, Any]) -> NDArray[np.bool_]:
    """Cells with a minus before, within or behind, or in parentheses."""
    found = is_one_of(table["close"], ")")
    for name in ("sign", "inner", "trail"):
        found = found | is_one_of(table[name], *MINUS)
    return np.asarray(found)
