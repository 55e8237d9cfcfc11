r"""Whole numbers that are labels: zones, postal codes, classes. They are not averaged.

A column is taken for codes by its name, or by what its values and the links show together: few
values with wide gaps between them, and linked rows whose values are equal far more often than
near. With r the rank of a value among the different ones, a quantity that varies smoothly along the
links has

.. math:: P(r_i = r_j) \cdot \mathrm{median}(|r_i - r_j| : r_i \ne r_j) \le 1

(0.27 for normal differences, 0.32 for Cauchy's, at most 1 where neighbours are equal or next to
each other). Years, ages, counts and ratings have no wide gaps: links never make codes of them.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ..errors import typed
from ..graph import Graph
from ..trust import agreement, linked_pairs
from ._categorical import Category
from ._column import Column, LeftAlone
from ._numeric import Number

# The last word of a name, whatever the values; some may be the first as well.
CODES = """cbsa cip code cusip cz ean fips geoid gtin icd id isbn isic msa nace naics nuts
objectid phone plz postal sic sku ssn telephone uid upc userid uuid zip zoneid"""
FIRST = "code fips id"
# The last word, where values repeat.
CLASSES = """cat category class cluster ethnicity gender group kind label nationality race religion
sex status type typology zone"""
# The whole name, where values repeat.
PLACES = """canton country county department district industry municipality occupation precinct
profession province region sector state tract ward"""
# With one of these anywhere a name is that of a quantity; with one of the others, unless it ends
# as a code: an area is one, an area code is not.
COUNTS = "by count counts lines max mean median min n no num number of per rate sum total"
QUANTITIES = """age amount area average avg changes cost days degree density distance error
frequency height hours income index length level pct percent percentage points pop population price
probability rank rating ratio revenue salary score share size std time value weight width year"""
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

FEW_VALUES = 20  # up to here, text that repeats itself is a category
FEWEST_KNOWN = 100  # to judge by values and links
LEAST_REPEATS = 3  # cells per value
LEAST_GAP = 10  # the median of the gaps between values, in units of what divides them all
LEAST_EQUAL = 0.3  # agreement of linked rows as classes
LEAST_APART = 1.5  # the product above


def recognize_code(column: Column, graph: Graph | None) -> Column:
    """The column itself, or as a category if its numbers look like codes; its notes say so.

    Without a graph the links are not looked at, and may be such as to make it one.
    """
    if not isinstance(column, Number) or column.kind not in ("number", "integer"):
        return column
    known = column.known_values()
    if known.size < 3 or known.min() < 0 or (known[:100] % 1).any() or (known % 1).any():
        return column
    values = np.unique(known)
    if values.size < 2:
        return column
    if names_code(str(column.name), repeats=2 * values.size <= known.size):
        why = "by its name"
    elif _gapped(values, known.size) and _equal_or_far(column, values, graph):
        why = "for linked rows have equal values or distant ones"
    else:
        return column
    if is_free(values.size, known.size):
        note = (
            f"Column {column.name!r} is left alone, for it looks like an id, {why}: pass "
            f"{typed(column.name, 'number')} to average it."
        )
        reason = f"ids ({values.size:,} different values in {known.size:,} known cells)"
        return column.as_(LeftAlone, reason, (note,))
    note = (
        f"Column {column.name!r} looks like a code, {why}: missing cells get one of its values; "
        f"pass {typed(column.name, 'number')} to average it."
    )
    return column.as_(Category, "category", (note,))


def is_free(n_values: int, n_known: int, n_most: int = 0) -> bool:
    """Whether too few cells share a value to choose one for another cell.

    A column where `n_most` cells have the most frequent value is not free if they are a quarter.
    """
    if n_values == n_known >= 3:
        return True
    return n_values > FEW_VALUES and n_values > n_known / 2 and n_most < n_known / 4


def names_code(name: str, repeats: bool) -> bool:
    """Whether a name is that of a code; `repeats`: whether cells share values.

    Examples
    --------
    >>> names_code("zoneId", repeats=False), names_code("lines_of_code", repeats=True)
    (True, False)
    """
    words = [word.lower() for word in WORDS.findall(name)]
    if not words or not set(words).isdisjoint(COUNTS.split()):
        return False
    first, last = words[0], words[-1]
    if last in CODES.split() or last.endswith(("code", "fips")):
        return True
    if not set(words).isdisjoint(QUANTITIES.split()):
        return False
    if first in FIRST.split():
        return True
    is_place = len(words) == 1 and last in PLACES.split()
    is_class = first == "cat" or last in CLASSES.split() or last.endswith("class")
    return repeats and (is_place or is_class)


def _gapped(values: NDArray[np.float64], n_known: int) -> bool:
    """Whether many cells share few values, which are far apart."""
    if n_known < FEWEST_KNOWN or LEAST_REPEATS * values.size > n_known or values[-1] >= 2**53:
        return False
    gaps = np.diff(values).astype(np.int64)
    return bool(np.median(gaps) >= LEAST_GAP * np.gcd.reduce(gaps))


def _equal_or_far(column: Number, values: NDArray[np.float64], graph: Graph | None) -> bool:
    """Whether linked rows are equal more often than the others' distances let expect."""
    if graph is None:
        return True
    ranks = np.full(graph.n_nodes, np.nan)
    ranks[: column.missing.size][~column.missing] = np.searchsorted(values, column.known_values())
    u, v = linked_pairs(graph, np.random.default_rng(0))
    apart = np.abs(ranks[u] - ranks[v])
    apart = apart[~np.isnan(apart)]
    if not (apart > 0).any() or np.mean(apart == 0) * np.median(apart[apart > 0]) < LEAST_APART:
        return False
    return agreement(graph, ranks, classes=True).value >= LEAST_EQUAL
