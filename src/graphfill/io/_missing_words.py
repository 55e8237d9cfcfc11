"""Words and numbers that stand for a missing cell."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A")
# Words that stand for a missing cell, without blanks around them and in small letters. "Surely" is
# for those that are the name of nothing, "perhaps" for those that are some people's answer, and
# "among numbers" for all that are no value where the other cells are numbers or dates.
_SURELY = """- -- --- – — − . .. ... … ? ?? ??? * ** : n/a (n/a) n.a. n/d n.d. k.a. #n/a #n/d #nv
#div/0! #value! #wert! #ref! #name? #num! #null! <na> nan null (null) [null] \\n"""
_PERHAPS = """na none nil missing unknown unk unbekannt inconnu desconocido blank empty undefined
tba tbd n/k (blank) (none) (unknown) (missing) [unknown]"""
_CODES = "s c x z d (s) (c) (x) (z) (d) (na)"  # of statistical offices: suppressed, and the like
SURELY = frozenset([*_SURELY.split(), "not available", "no data", "n. a.", "k. a."])
PERHAPS = frozenset([*_PERHAPS.split(), "", "not applicable", "not known", "not stated"])
PERHAPS |= {"not reported", "not recorded", "keine angabe"}
AMONG_NUMBERS = SURELY | PERHAPS | frozenset(_CODES.split())


def as_number(marker: Any) -> Decimal | None:
    """A marker read as a number, or None."""
    if isinstance(marker, (bool, np.bool_)):
        return None
    try:
        number = Decimal(str(marker).strip())
    except ArithmeticError:
        return None
    return None if number.is_nan() else number
