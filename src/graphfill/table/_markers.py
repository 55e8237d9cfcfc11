"""Words and numbers that stand for a missing cell, or may: none is ever filled in unasked.

In a column of numbers or dates every known word of this kind is a missing cell. In a column of
words a dash is one too, and what may be a value (none, unknown) is kept where it stands, and is no
class: it informs no other cell and is filled in nowhere. The same goes for -999 far from all other
numbers. A note says which, and how to say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import as_number

NINES = [sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (-1, 1)]


@dataclass(frozen=True)
class Reading:
    """How the text of columns is to be read, as far as their cells do not show it.

    Attributes
    ----------
    values : what is a value although it often means missing
    from_text : whether columns came without types, so that what still is text is no number to
        the reader of plain ones
    decimal : the decimal mark that the rest of the table shows; called only where it matters
    """

    values: Sequence[Any] = ()
    from_text: bool = False
    decimal: Callable[[], str | None] = lambda: None

    def takes(self, word: str) -> bool:
        """Whether the user said that a word is a value."""
        return word.strip().casefold() in {str(v).strip().casefold() for v in self.values}

    def is_marker(self, word: Any, words: frozenset[str]) -> bool:
        """Whether a cell is one of the words, and the user did not say that it is a value."""
        return isinstance(word, str) and word.strip().lower() in words and not self.takes(word)


def far_values(known: NDArray[np.float64], reading: Reading) -> dict[str, float]:
    """Numbers such as -999 that probably mean missing: nines, far from all others.

    Two digits have to come twice. A negative one is far where no other number is negative.

    >>> far_values(np.array([31.0, 25, 40, -999, -999]), Reading())
    {'-999': -999.0}
    """
    exempt = {number for number in map(as_number, reading.values) if number is not None}
    others = known[~np.isin(known, NINES)]
    found: dict[str, float] = {}
    for value in NINES:
        count = np.count_nonzero(known == value)
        if value in exempt or count < (2 if abs(value) < 999 else 1):
            continue
        negative = value <= -99 and not (others < 0).any()
        far = others.size > 2 and np.abs(others - value).min() > np.ptp(others)
        if negative or far:
            found[f"{value:.15g}"] = value
    return found
