"""Latitudes and longitudes as people write them: 48°12'30"N, 11 34.5 E, -33:52:10, N 48.2°."""

from __future__ import annotations

import re

_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_CELL = re.compile(
    rf"""\s*(?P<sign>[-\u2212+])?\s*(?P<before>[NSEWnsew])?\s*(?P<degrees>{_NUMBER})
    (?:\s*[\u00b0\u00ba:]|deg\b|d|\s)?\s*
    (?:(?P<minutes>{_NUMBER})(?:\s*'(?!')|\s*[\u2032\u2019:]|min\b|m|\s)?\s*)?
    (?:(?P<seconds>{_NUMBER})(?:\s*["\u2033\u201d]|\s*''|sec\b|s\b)?\s*)?
    (?P<after>[NSEWnsew])?\s*""",
    re.VERBOSE,
)


def degrees(text: str) -> float | None:
    """The degrees that a cell says; None where it is no such angle.

    Examples
    --------
    >>> [degrees(text) for text in ('48\u00b030\\'36"N', "S 33 52.5", "-0:30:00", "12 Elm")]
    [48.51, -33.875, -0.5, None]
    """
    found = _CELL.fullmatch(text)
    if found is None or (found["before"] and found["after"]):
        return None
    parts = [float((found[name] or "0").replace(",", ".")) for name in
             ("degrees", "minutes", "seconds")]  # fmt: skip
    if max(parts[1:]) > 60 or parts[0] > 360:
        return None
    side = (found["before"] or found["after"] or "").upper()
    size = parts[0] + parts[1] / 60 + parts[2] / 3600
    negative = side in ("S", "W") or found["sign"] in ("-", "\u2212")
    return -size if negative else size
