"""The demo's files, and how well its fill did on the truth that was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .. import io
from ..io import no_folder
from ..table._result import TableResult
from ._town import Town

HIDDEN = 1 / 3  # of the town's cells
# What the demo writes, and how each begins: no other file is replaced.
DEMO_FILES = {
    **dict.fromkeys(
        ("people.csv", "truth.csv", "filled.csv"), "person,age,income,city,profession,newsletter"
    ),
    "friends.csv": "person,friend",
    "report.html": "<!doctype html>",
}


def write_town(folder: Path, town: Town, hidden: dict[str, np.ndarray]) -> tuple[Path, Path]:
    """people.csv with its blanks, friends.csv, and truth.csv without."""
    import pyarrow as pa

    truth = pa.table(town.people)
    seen = {
        name: pa.array(cells, mask=hidden[name]) if name in hidden else cells
        for name, cells in town.people.items()
    }
    ends = town.people["person"][town.friends]
    tables = {
        "people": pa.table(seen),
        "friends": pa.table({"person": ends[:, 0], "friend": ends[:, 1]}),
        "truth": truth,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise no_folder(folder, error) from None
    for name, table in tables.items():
        made = io.Sheet(folder / name, "arrow", table)
        io.write_table(folder / f"{name}.csv", table, like=made, changed={}, overwrite=True)
    return folder / "people.csv", folder / "friends.csv"


def town_scores(
    town: Town, hidden: dict[str, np.ndarray], result: TableResult
) -> list[dict[str, Any]]:
    """Per column: the error of the fill on the hidden cells, and that of the column's mean."""
    scores = []
    for name, cells in hidden.items():
        truth = town.people[name]
        filled = np.array(result.table.column(name).to_pylist())
        known, lost = truth[~cells], truth[cells]
        if truth.dtype.kind in "if":
            ours = float(np.abs(filled[cells] - lost).mean())
            plain = float(np.abs(known.mean() - lost).mean())
            measure = "mean error"
        else:
            values, counts = np.unique(known, return_counts=True)
            ours = float(np.mean(filled[cells] != lost))
            plain = float(np.mean(values[counts.argmax()] != lost))
            measure = "share wrong"
        scores.append({"column": name, "measure": measure, "graphfill": ours, "mean": plain})
    return scores
