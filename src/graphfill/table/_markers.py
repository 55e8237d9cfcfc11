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
    """Numbers such as -999 that probably mean missing: nines, repeated, far from all others.

    >>> far_values(np.array([31.0, 25, 40, -999, -999]), Reading())
    {'-999': -999.0}
    """
    exempt = {number for number in map(as_number, reading.values) if number is not None}
    found = {}
    for value in dict.fromkeys((float(known.min()), float(known.max()))) if known.size else ():
        others = known[known != value]
        nines = abs(value) >= 99 and set(f"{abs(value):.15g}") == {"9"}
        if not nines or value in exempt or not 2 < others.size < known.size - 1:
            continue
        alone = value < 0 <= others.min()
        if alone or np.abs(others - value).min() > np.ptp(others):
            found[f"{value:.15g}"] = value
    return found
