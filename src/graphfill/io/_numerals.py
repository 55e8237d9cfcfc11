"""Numbers as text writes them, and words that stand among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

INTEGER = r"^-?(?:0|[1-9][0-9]*)$"
NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
LENIENT = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
INFINITE = r"^[+-]?(?i:inf|infinity)$"

NEARLY = 0.9  # of the known cells are numbers: then the others are worth a note
LEAST = 0.5  # the same where the others are a few words
MOST_WORDS = 3
SAMPLE = 1000  # cells that tell at once that a column is no such one


def with_point(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """The cells with a point for a decimal mark."""
    import pyarrow.compute as pc

    if decimal == ".":
        return cells
    # A point in a file with decimal commas groups thousands, or is a slip: no number either way.
    return pc.replace_substring(pc.replace_substring(cells, ".", "?"), decimal, ".")


def is_number(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """True where a cell is written as a number; null where missing."""
    import pyarrow.compute as pc

    return pc.match_substring_regex(with_point(cells, decimal), f"{NUMBER}|{INFINITE}")


def stray_words(cells: pa.ChunkedArray, decimal: str = ".") -> dict[str, int]:
    """The words in a column that is one of numbers but for them, and how often each occurs.

    They rather mean that a cell is missing: at most `MOST_WORDS` different ones, without a digit,
    and repeated, unless they are few. Empty if there are none, or the column is no such one.

    >>> import pyarrow as pa
    >>> stray_words(pa.chunked_array([["31", "?", "25", "?", None]]))
    {'?': 2}
    >>> stray_words(pa.chunked_array([["31", "12b", "25", "12b", None]]))
    {}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(cells)
    some = is_number(cells[:SAMPLE], decimal)
    if (pc.sum(some).as_py() or 0) < LEAST / 2 * pc.count(some).as_py():
        return {}
    numeric = is_number(cells, decimal)
    n_known, n_numbers = pc.count(numeric).as_py(), pc.sum(numeric).as_py() or 0
    if n_numbers == n_known or n_numbers < LEAST * n_known:
        return {}
    others = pc.value_counts(cells.filter(pc.equal(numeric, pa.scalar(False))))
    if len(others) > MOST_WORDS:
        return {}
    words = {pair["values"]: pair["counts"] for pair in others.to_pylist()}
    repeated = min(words.values()) > 1 or n_numbers >= NEARLY * n_known
    return words if repeated and not any(map(_has_digit, words)) else {}


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)
