"""How a column writes its numbers: $1,200.00 or 16,3 % or (12 km) or 3 1/2 or 12*.

A cell is cut into what stands before its number, the number, what stands after it, and marks such
as footnotes, which are read over. One style holds for a column: one decimal mark, one mark between
thousands, one unit. What could be read in two ways is a question, and nobody's guess.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MOST_DIGITS = 15  # that a float holds
NEARLY = 0.9  # of the numbers of a column have its unit, where the others have none
LONGEST_UNIT = 24
FEWEST_ALIKE = 3  # numbers with one unknown word after them, which is then a unit
DENOMINATORS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64)
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
# Units that may touch their number: 3.5kg. Another word has to stand apart from it.
_UNITS = """km m dm cm mm nm um µm μm mi mile miles yd yds ft in inch ha ac acre acres kg g mg µg μg
ug t lb lbs oz st l L ml mL cl dl hl gal ms s sec secs min mins h hr hrs d day days wk wks
week weeks mo month months y yr yrs year years K C F °C °F °K ° deg W kW MW GW Wh kWh MWh
GWh TWh J kJ MJ GJ cal kcal V kV mV A mA Ah mAh Hz kHz MHz GHz Pa hPa kPa MPa bar mbar psi
N Nm kN dB B kB KB MB GB TB KiB MiB GiB bit bits bp bps kbps Mbps Gbps rpm px pt pts pp pc
pcs x k M bn mn mio Mio mrd Mrd tn % ‰ pct mol mmol mmHg sqft sqm sqkm mph kph kn kt kts
mpg ppm ppb lx lm cd Bq Sv mSv µSv"""
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
_CELL = (
    rf"^(?P<before>(?P<open>\(?){_BLANK}(?P<sign>[+{MINUS}]?){_BLANK}"
    rf"(?P<about>(?:~|\x{{2248}}|c\.|ca\.?|approx\.)?){_BLANK}(?P<prefix>(?:{_CURRENCY})?)"
    rf"{_BLANK}(?P<inner>[+({MINUS}]?){_BLANK})(?P<body>{_BODY})"
    rf"(?P<after>{_BLANK}(?P<unit>(?:{_CURRENCY}|{_POWERED}(?: {_POWERED})?)?){_BLANK}"
    rf"(?P<trail>[{MINUS}]?){_BLANK}(?P<close>\)?))(?P<note>{NOTE})$"
)
_MONEY = re.compile(f"(?:{_CURRENCY})\\Z")
_POINTED = re.compile(
    r"[A-Z]{0,3}[$\u00a3\u00a5\u20b9]|USD|GBP|INR|JPY|CNY|AUD|CAD|Rs\.?|dollars?|pounds?"
)
_ZERO = rf"^(?:{_CURRENCY}){_BLANK}[\x{{2014}}{MINUS}]{{1,2}}$"  # as accountants write it
_FRACTION = rf"/|{_GLYPH}"


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


@dataclass(frozen=True)
class Numbers:
    """What the cells of a column are: numbers in one style, other words, or a question."""

    is_number: NDArray[np.bool_]
    values: NDArray[np.float64]  # NaN where a cell is no number
    style: NumberStyle = NumberStyle()
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
    parts = pc.extract_regex(cells, _CELL)
    table = {field.name: pc.struct_field(parts, field.name) for field in parts.type}
    is_number = _filled(pc.is_valid(parts)) & ~_unbalanced(table)
    if not is_number.any():
        return Numbers(is_number, np.full(len(cells), np.nan))
    unit, units, marked = _units(table, is_number)
    bodies = table["body"]
    if not is_number.any():
        return Numbers(is_number, np.full(len(cells), np.nan))
    if decimal is None and any(map(_POINTED.fullmatch, unit)):  # money with commas for thousands
        decimal = "."
    decimal, group, question = _marks(bodies, is_number, decimal)
    if question == MIXED:
        return Numbers(is_number, np.where(is_number, 0.0, np.nan), question=question)
    values, is_number, denominators = _values(bodies, is_number, decimal, group)
    if _labels(table, bodies, is_number, group, unit):
        is_number[:] = False
    values[_negative(table)] *= -1
    zero = _filled(pc.match_substring_regex(cells, _ZERO)) & ~is_number
    values[zero], is_number = 0.0, is_number | zero
    values[~is_number] = np.nan
    unit_question = _unit_question(units, unit, int(is_number.sum()))
    style = _style(table, bodies, is_number & ~zero, decimal, group, unit)
    if denominators:
        style, values = _with_denominators(style, denominators, values, bodies, is_number)
        question = question or ("" if style.denominators else _odd_fractions(denominators))
    return Numbers(is_number, values, style, marked, question or unit_question)


def _filled(mask: Any) -> NDArray[np.bool_]:
    return np.array(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), dtype=bool)


def _is(column: Any, *words: str) -> NDArray[np.bool_]:
    return _filled(pc.is_in(column, value_set=pa.array(words, column.type)))


def _negative(table: dict[str, Any]) -> NDArray[np.bool_]:
    """Cells with a minus before, within or behind, or in parentheses."""
    found = _is(table["close"], ")")
    for name in ("sign", "inner", "trail"):
        found = found | _is(table[name], *MINUS)
    return np.asarray(found)


def _unbalanced(table: dict[str, Any]) -> NDArray[np.bool_]:
    """Cells with half of a pair of parentheses, or with two signs."""
    opened = _is(table["open"], "(").astype(int) + _is(table["inner"], "(")
    signs = opened.copy()
    for name in ("sign", "inner", "trail"):
        signs += _is(table[name], *MINUS, "+")
    return np.asarray((opened != _is(table["close"], ")")) | (signs > 1))


# -- units --


def _units(
    table: dict[str, Any], is_number: NDArray[np.bool_]
) -> tuple[tuple[str, str], Counter[tuple[str, str]], int]:
    """The unit before and after most numbers, all units by cells, and how many cells have marks."""
    pairs = zip(table["prefix"].to_pylist(), table["unit"].to_pylist(), strict=True)
    apart_rows = _filled(pc.match_substring_regex(table["after"], rf"^[{BLANKS}]"))
    counts: Counter[tuple[str, str]] = Counter()
    flags: Counter[str] = Counter()
    apart: Counter[str] = Counter()
    for row, (prefix, unit) in enumerate(pairs):
        if not is_number[row]:
            continue
        if unit and not _is_known(unit):
            if not apart_rows[row]:
                is_number[row] = False
                continue
            apart[unit] += 1
        if len(unit) == 1 and unit.islower():
            flags[unit] += 1
        counts[prefix, unit] += 1
    if not counts:
        return ("", ""), counts, 0
    # Letters behind a few numbers are marks of a statistical office: 12.3 e, 14 p.
    total, marked = counts.total(), 0
    for (prefix, unit), n in list(counts.items()):
        if unit in flags and flags[unit] < total / 2 and counts[prefix, ""]:
            counts[prefix, ""] += n
            marked += n
            del counts[prefix, unit]
    marked += int((_filled(pc.not_equal(table["note"], "")) & is_number).sum())
    marked += int((_filled(pc.not_equal(table["about"], "")) & is_number).sum())
    letters = {unit for _, unit in counts if len(unit) == 1 and unit.isalpha()} - set("kKMBT")
    if len(letters) > 1 and not apart_rows.any():
        is_number[:] = False  # 12A, 13B: no units, but parts of a label
    best = max(counts, key=lambda pair: (pair != ("", ""), counts[pair]))
    if apart and (len(best[1]) > LONGEST_UNIT or counts[best] < FEWEST_ALIKE):
        words = pc.is_in(table["unit"], value_set=pa.array(list(apart), table["unit"].type))
        is_number &= ~_filled(words)
    return best, counts, marked


@cache
def _is_known(unit: str) -> bool:
    """Whether a word is a unit wherever it stands: km, kg/m\u00b3, EUR."""
    known = set(_UNITS.split())
    words = unit.replace("/", " ").split()
    simple = (unit, *(word.rstrip("\u00b2\u00b323") for word in words))
    return unit in known or bool(_MONEY.match(unit)) or all(one in known for one in simple[1:])


def _unit_question(units: Counter[tuple[str, str]], unit: tuple[str, str], n_numbers: int) -> str:
    """Why the numbers of a column may not measure one thing, as a clause."""
    different = {_singular(pair) for pair in units if pair != ("", "")}
    if len(different) > 1:
        shown = sorted(" ".join(filter(None, pair)) for pair in units if pair != ("", ""))
        return f"its numbers have several units ({', '.join(map(repr, shown[:4]))})"
    without = units.get(("", ""), 0)
    if different and without and any(mark in "".join(unit) for mark in "%\u2030"):
        return f"some of its numbers have a {unit[1]!r} and {without:,} have none"
    if different and without > n_numbers - without:
        return f"{n_numbers - without:,} of its numbers have a unit and {without:,} have none"
    return ""


def _singular(pair: tuple[str, str]) -> tuple[str, str]:
    """A unit without what tells its plural, and without regard to case."""
    first, last = (word.casefold().rstrip(".") for word in pair)
    return first, last.removesuffix("s") if len(last) > 2 else last


# -- decimal marks and thousands --


def _settles(mark: str, other: str) -> str:
    """The form of a number in which `mark` can only be the decimal mark."""
    d, g = re.escape(mark), re.escape(other)
    return (
        rf"^[^.,]*{d}(?:[0-9]{{0,2}}|[0-9]{{4,}})(?:[eE].*)?$|^0?{d}|^[0-9]{{4,}}{d}|{g}.*{d}"
        rf"|^[^.,]*{d}[0-9]*[eE]|^[0-9]{{1,3}}(?:{g}[0-9]{{2,3}}){{2,}}$"
        rf"|[{GROUPS}][0-9]{{3}}{d}"
    )


POINT, COMMA = _settles(".", ","), _settles(",", ".")
MIXED = "it writes decimals with points and with commas"
DOUBTFUL = r"^[1-9][0-9]{0,2}[.,][0-9]{3}$"


def settled_decimal(cells: pa.ChunkedArray) -> str | None:
    """The decimal mark that the numbers among some cells show beyond doubt, if they do."""
    parts = pc.extract_regex(cells, _CELL)
    bodies = pc.struct_field(parts, "body")
    found = [
        mark
        for mark, pattern in ((".", POINT), (",", COMMA))
        if pc.any(pc.match_substring_regex(bodies, pattern)).as_py()
    ]
    return found[0] if len(found) == 1 else None


def without_notes(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells without footnotes and the like at their end.

    >>> without_notes(pa.chunked_array([["2020-03-04*", "2020-03-05 (est.)"]])).to_pylist()
    ['2020-03-04', '2020-03-05']
    """
    return pc.replace_substring_regex(cells, f"{NOTE}$", "")


def _marks(bodies: Any, is_number: NDArray[np.bool_], decimal: str | None) -> tuple[str, str, str]:
    """The decimal mark, the mark between thousands, and what is in doubt, as a clause."""
    known = bodies.filter(pa.array(is_number))
    plain = known.filter(pc.invert(pc.match_substring_regex(known, _FRACTION)))
    point, comma = (
        pc.any(pc.match_substring_regex(plain, pattern)).as_py() or False
        for pattern in (POINT, COMMA)
    )
    letters = set("".join(plain.to_pylist()))
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
    fraction = _filled(pc.match_substring_regex(bodies, _FRACTION)) & is_number
    is_number = is_number & (_filled(pc.match_substring_regex(bodies, "|".join(forms))) | fraction)
    texts = pc.if_else(pa.array(is_number & ~fraction), bodies, None)
    if group:
        texts = pc.replace_substring_regex(texts, g, "")
    long = _filled(pc.match_substring_regex(texts, rf"^[0-9]{{{MOST_DIGITS + 1},}}$"))
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
    whole = not pc.any(pc.match_substring_regex(known, f"[.,]|{_FRACTION}")).as_py()
    digits = pc.utf8_length(pc.replace_substring_regex(known, "[^0-9]", ""))
    alike = pc.min_max(digits).as_py()
    if whole and group and alike["min"] == alike["max"] and alike["min"] > 6 and len(known) > 2:
        return True
    return whole and bool(_is(table["sign"].filter(keep), "+").all())


# -- the style --


def _style(
    table: dict[str, Any],
    bodies: Any,
    is_number: NDArray[np.bool_],
    decimal: str,
    group: str,
    unit: tuple[str, str],
) -> NumberStyle:
    """What most cells look like."""
    keep = pa.array(is_number)
    texts = bodies.filter(keep).to_pylist()
    before, after = (table[name].filter(keep).to_pylist() for name in ("before", "after"))
    pairs = zip(table["prefix"].filter(keep).to_pylist(), table["unit"].filter(keep).to_pylist(),
                table["about"].filter(keep).to_pylist(), strict=True)  # fmt: skip
    negative = _negative(table)[is_number]
    usual: Counter[tuple[str, str]] = Counter()
    usual_negative: Counter[tuple[str, str]] = Counter()
    for row, (prefix, word, about) in enumerate(pairs):
        # Rows without the unit, with a mark of a statistical office, or about right: no model.
        if (prefix, word) == unit and not about:
            around = before[row], after[row].rstrip(BLANKS)
            (usual_negative if negative[row] else usual)[around] += 1
    plain = [text for text in texts if not re.search(_FRACTION, text)]
    digits = [
        len(text.lower().partition("e")[0].partition(decimal)[2]) if decimal in text else 0
        for text in plain
    ]
    wholes = [text.partition(decimal)[0] for text in plain]
    grouped = [whole for whole in wholes if group and re.search(rf"[0-9]{re.escape(group)}", whole)]
    bare = [len(whole) for whole in wholes if whole.isdigit() and len(whole) > 3]
    if grouped and len(bare) > len(grouped) and max(bare) > 4:
        grouped = []  # thousands are set apart in some cells only
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
        group=group if grouped else "",
        shortest=5 if grouped and bare and max(bare) == 4 else 4,
        pairs=any(re.search(r"[^0-9][0-9]{2}[^0-9][0-9]{3}", whole) for whole in grouped),
        decimals=(min(digits, default=0), max(digits, default=0)),
        around=around,
        around_negative=around_negative,
    )
