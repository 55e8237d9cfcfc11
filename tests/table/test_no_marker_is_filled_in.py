"""Five hundred generated tables: whatever stands for a missing cell, no blank is filled with it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphfill as gf

MARKERS = (
    "n/a", "N/A", "NA", "-", "--", "unknown", "Unknown", ".", "..", "?", "none", "None", "null",
    "nil", "missing", "#N/A", "#DIV/0!", "*", "", "not available", "(blank)",
)  # fmt: skip
NUMBERS = (-999, 9999, -9999, 99999)
CODES = ("s", "c", "x", "(X)")  # of statistical offices, among numbers
WAYS = {
    "words": lambda draw, n: draw.choice(["Rome", "Bath", "York", "Oslo"], n),
    "yes or no": lambda draw, n: draw.choice(["yes", "no"], n),
    "integers": lambda draw, n: [str(v) for v in draw.integers(0, 90, n)],
    "decimals": lambda draw, n: [f"{v:.2f}" for v in draw.random(n) * 9],
    "money": lambda draw, n: [f"${v:,.2f}" for v in draw.random(n) * 9000],
    "percent": lambda draw, n: [f"{v:.1f} %".replace(".", ",") for v in draw.random(n) * 100],
    "units": lambda draw, n: [f"{v} km" for v in draw.integers(0, 900, n)],
    "dates": lambda draw, n: [f"2020-0{1 + v % 9}-1{v % 7}" for v in draw.integers(0, 90, n)],
    "numbers": lambda draw, n: draw.integers(0, 90, n).astype(float),
}


def generated(seed):
    """A table whose blanks and markers are known, and a graph of its rows."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(12, 40))
    columns = {}
    for way in draw.choice(list(WAYS), 3, replace=False):
        cells = np.array(WAYS[way](draw, n), dtype=object)
        words = NUMBERS if way == "numbers" else MARKERS
        if way not in ("words", "yes or no", "numbers"):
            words += CODES
        used = draw.choice(np.array(words, dtype=object), draw.integers(1, 3))
        marked = draw.random(n) < draw.choice([0.1, 0.3, 0.6])
        cells[marked] = draw.choice(used, int(marked.sum()))
        blank = draw.random(n) < 0.25
        columns[str(way)] = cells, blank
    ids = [f"n{i}" for i in range(n)]
    ends = draw.integers(0, n, (2, 2 * n))
    edges = pd.DataFrame({"a": np.take(ids, ends[0]), "b": np.take(ids, ends[1])})
    return ids, columns, edges[edges["a"] != edges["b"]]


def is_marker(cell):
    if isinstance(cell, float):
        return cell in NUMBERS
    return cell in MARKERS + CODES


@pytest.mark.parametrize("block", range(10))
def test_no_marker_is_filled_in(block):
    for seed in range(50 * block, 50 * (block + 1)):
        ids, columns, edges = generated(seed)
        table = pd.DataFrame({"id": ids} | {
            name: pd.Series(cells).mask(blank) for name, (cells, blank) in columns.items()
        })  # fmt: skip
        if "numbers" in table:
            table["numbers"] = table["numbers"].astype(float)
        if seed % 2:
            table = pl.from_pandas(table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            filled = gf.impute(table, edges, id="id", method="neighbors")
        for name, (cells, blank) in columns.items():
            values = filled[name].to_list()
            new = [v for v, hole in zip(values, blank, strict=True) if hole and v is not None]
            assert not any(map(is_marker, new)), (seed, name, new)
            known = [
                (value, cell)
                for value, cell, hole in zip(values, cells, blank, strict=True)
                if not hole and not is_marker(cell)
            ]
            assert all(value == cell for value, cell in known), (seed, name)
