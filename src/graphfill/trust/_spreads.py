r"""How unsure a field is of single cells, from what is known of their rows.

A run that holds out a part of every column hides more of a row than is missing of it, so that
held-out cells of columns that inform each other are predicted less well than missing ones will be.
What that is worth, a field says: the standard deviation of a cell given what is known of its
row and, about, of its neighbours (`FieldSystem.variances`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._assessment import Assessment
from ._column import Floats, Rows
from ._runs import Run

if TYPE_CHECKING:
    from ._auto import TableAssessment


def add_spreads(table: TableAssessment, assessments: Mapping[str, Assessment]) -> None:
    """Add to the assessments of numbers how unsure the field was of each cell, and its rows."""
    numbers = {name: one for name, one in assessments.items() if not one.target.n_classes}
    if not numbers or not table.fields:
        return
    view = table.views[next(iter(numbers))]
    held_out: dict[str, list[Floats]] = {name: [] for name in numbers}
    for k, run in enumerate(view.singles):
        folds = {name: one.folds[k] for name, one in numbers.items()}
        for name, spread in spreads(run, view.final, table, folds).items():
            held_out[name].append(spread)
    every = [name for name, column in view.final.columns.items() if not column.n_classes]
    runs = [completed(run, table.fields[-1], every) for run in (*view.singles, view.final)]
    missing = {name: one.target.missing for name, one in numbers.items()}
    final = spreads(view.final, view.final, table, missing)
    for name, one in numbers.items():
        one.spread = np.concatenate(held_out[name]), final[name]
        one.completed = every, runs


def completed(run: Run, method: str, names: Sequence[str]) -> Floats:
    """[rows, columns]: columns of numbers, missing and hidden cells as a method fills them."""
    columns = []
    for name in names:
        levels = run.columns[name].levels().copy()
        levels[run.columns[name].missing] = run.predictions[method][name][:, 0]
        columns.append(levels)
    return np.column_stack(columns)


def spreads(
    run: Run, final: Run, table: TableAssessment, rows: Mapping[str, Rows]
) -> dict[str, Floats]:
    """The standard deviation of some hidden or missing cells by column, 1 where none varies.

    The field is that of the last run for all of them: each fit makes too much or too little of
    how well columns repeat each other, by chance.
    """
    found, graph = {}, table.graph
    for block, model in final.fields[table.fields[-1]]:
        names = [name for name in block.places if name in rows]
        if not names:
            continue
        at = np.array([block.places[name].start for name in names])
        varying = np.flatnonzero(model.varying[at])
        spread = np.ones((graph.n_nodes, len(names)))
        if len(varying):
            X = block.encode(graph.n_nodes)
            for name, place in block.places.items():
                X[np.flatnonzero(run.columns[name].missing), place] = np.nan
            channels = (np.cumsum(model.varying) - 1)[at[varying]]
            spread[:, varying] = np.sqrt(model.system(X, graph).variances(channels))
        for name, column in zip(names, spread.T, strict=True):
            found[name] = column[rows[name]]
    return found
