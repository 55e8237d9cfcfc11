"""The unit of a column of numbers: $, %, km, kg/m³; and whether all measure one thing."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ._number_parts import BLANKS, BREAK, MONEY, count_texts, filled, is_one_of, joined

NEARLY = 0.9  # of the numbers of a column have its unit, where the others have none
LONGEST_UNIT = 24
FEWEST_ALIKE = 3  # numbers with one unknown word after them, which is then a unit
# Units that may touch their number: 3.5kg. Another word has to stand apart from it.
UNITS = """km m dm cm mm nm um µm μm mi mile miles yd yds ft in inch ha ac acre acres kg g mg µg μg
ug t lb lbs oz st l L ml mL cl dl hl gal ms s sec secs min mins h hr hrs d day days wk wks
week weeks mo month months y yr yrs year years K C F °C °F °K ° deg W kW MW GW Wh kWh MWh
GWh TWh J kJ MJ GJ cal kcal V kV mV A mA Ah mAh Hz kHz MHz GHz Pa hPa kPa MPa bar mbar psi
N Nm kN dB B kB KB MB GB TB KiB MiB GiB bit bits bp bps kbps Mbps Gbps rpm px pt pts pp pc
pcs x k M bn mn mio Mio mrd Mrd tn % ‰ pct mol mmol mmHg sqft sqm sqkm mph kph kn kt kts
mpg ppm ppb lx lm cd Bq Sv mSv µSv"""


def units_of(
    table: dict[str, Any], is_number: NDArray[np.bool_]
) -> tuple[tuple[str, str], Counter[tuple[str, str]], int]:
    """The unit before and after most numbers, all units by cells, and how many cells have marks."""
    apart_rows = filled(pc.match_substring_regex(table["after"], rf"^[{BLANKS}]"))
    keys = joined(table["prefix"], table["unit"], pa.array(apart_rows).cast("string"))
    counts: Counter[tuple[str, str]] = Counter()
    flags: Counter[str] = Counter()
    apart, touching = [], []
    for key, n in count_texts(keys.filter(pa.array(is_number))).items():
        prefix, unit, stands_apart = key.split(BREAK)
        if unit and not _is_known(unit):
            if stands_apart == "false":
                touching.append(key)
                continue
            apart.append(unit)
        if len(unit) == 1 and unit.islower():
            flags[unit] += n
        counts[prefix, unit] += n
    is_number &= ~is_one_of(keys, *touching)
    if not counts:
        return ("", ""), counts, 0
    # Letters behind a few numbers are marks of a statistical office: 12.3 e, 14 p.
    total, marked = counts.total(), 0
    for (prefix, unit), n in list(counts.items()):
        if unit in flags and flags[unit] < total / 2 and counts[prefix, ""]:
            counts[prefix, ""] += n
            marked += n
            del counts[prefix, unit]
    marked += int((filled(pc.not_equal(table["note"], "")) & is_number).sum())
    marked += int((filled(pc.not_equal(table["about"], "")) & is_number).sum())
    letters = {unit for _, unit in counts if len(unit) == 1 and unit.isalpha()} - set("kKMBT")
    if len(letters) > 1 and not apart_rows.any():
        is_number[:] = False  # 12A, 13B: no units, but parts of a label
    best = max(counts, key=lambda pair: (pair != ("", ""), counts[pair], pair))
    if apart and (len(best[1]) > LONGEST_UNIT or counts[best] < FEWEST_ALIKE):
        is_number &= ~is_one_of(table["unit"], *apart)
    return best, counts, marked


@cache
def _is_known(unit: str) -> bool:
    """Whether a word is a unit wherever it stands: km, kg/m\u00b3, EUR."""
    known = set(UNITS.split())
    words = unit.replace("/", " ").split()
    simple = (unit, *(word.rstrip("\u00b2\u00b323") for word in words))
    return unit in known or bool(MONEY.match(unit)) or all(one in known for one in simple[1:])


def unit_question(units: Counter[tuple[str, str]], unit: tuple[str, str], n_numbers: int) -> str:
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
