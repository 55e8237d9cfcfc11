"""Tables of any library as parts of a run: one array per column, and what type it has."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

NOTHING = "-"  # a missing cell among texts
LEFT_OUT = ("seconds", "residual")  # of a summary: timings and rounding


def parts_of(table: Any) -> dict[str, Any]:
    """The columns of a pandas, polars or pyarrow table, and their types as text."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    if isinstance(table, pd.DataFrame):
        columns = {str(name): table[name].tolist() for name in table.columns}
        types = [f"{name}: {dtype}" for name, dtype in table.dtypes.items()]
        types.append(f"index: {table.index[:5].tolist()}")
    elif isinstance(table, pl.DataFrame):
        columns = table.to_dict(as_series=False)
        types = [f"{name}: {dtype}" for name, dtype in table.schema.items()]
    elif isinstance(table, pa.Table):
        columns = table.to_pydict()
        types = [f"{field.name}: {field.type}" for field in table.schema]
    else:
        raise TypeError(f"no table: {type(table)}")
    parts = {name: as_array(cells) for name, cells in columns.items()}
    return parts | {"types": "\n".join(types)}


def as_array(cells: list[Any]) -> np.ndarray:
    """Integers, booleans and floats as such, NaN where missing; all else as text."""
    known = [cell for cell in cells if not is_missing(cell)]
    if known and all(isinstance(cell, (float, np.floating)) for cell in known):
        return np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float64)
    if len(known) == len(cells) and known:
        for kind, dtype in ((bool, np.bool_), (int, np.int64)):
            if all(type(cell) is kind for cell in known):
                return np.array(cells, dtype=dtype)
    return np.array([NOTHING if is_missing(cell) else str(cell) for cell in cells], dtype=str)


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, (float, np.floating)) and bool(np.isnan(cell))


def in_words(summary: dict[str, Any]) -> str:
    """A summary as JSON, a line for each entry, without what no two runs have alike."""
    kept = {name: value for name, value in summary.items() if name not in LEFT_OUT}
    lines: list[str] = []
    for name, value in kept.items():
        listed = value if isinstance(value, list) and value else [value]
        lines += [f"{name}: {json.dumps(_plain(one))}" for one in listed]
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, other objects as text, fractions to eight digits."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.8g}")
    return value if isinstance(value, (int, str, bool, type(None))) else str(value)
