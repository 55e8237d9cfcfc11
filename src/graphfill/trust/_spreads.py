r"""How unsure a field is of single cells, from what is known of their rows.

A run that holds out a part of every column hides more of a row than is missing of it, so that
held-out cells of columns that inform each other are predicted less well than missing ones will be.
What that is worth, a field says: with u the missing cells of row i, of degree d, a cell given the
known ones of its row and all other rows has the variance

.. math:: s_{ij}^2 = \bigl((\Omega + d_i \Theta)_{uu}^{-1}\bigr)_{jj}

in standardised units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..solve import FieldGraph
from ._assessment import Assessment
from ._column import Floats, Rows
from ._runs import Run

if TYPE_CHECKING:
    from ._auto import TableAssessment


def add_spreads(table: TableAssessment, assessments: Mapping[str, Assessment]) -> None:
    """Add to the assessments of numbers how unsure the field was of each cell."""
    numbers = {name: one for name, one in assessments.items() if not one.target.n_classes}
    if not numbers or not table.fields:
        return
    view = table.views[next(iter(numbers))]
    held_out: dict[str, list[Floats]] = {name: [] for name in numbers}
    for k, run in enumerate(view.singles):
        folds = {name: one.folds[k] for name, one in numbers.items()}
        for name, spread in spreads(run, table.fields[-1], table.graph, folds).items():
            held_out[name].append(spread)
    missing = {name: one.target.missing for name, one in numbers.items()}
    final = spreads(view.final, table.fields[-1], table.graph, missing)
    for name, one in numbers.items():
        one.spread = np.concatenate(held_out[name]), final[name]


def spreads(
    run: Run, method: str, graph: FieldGraph, rows: Mapping[str, Rows]
) -> dict[str, Floats]:
    """The standard deviation s of some hidden or missing cells by column, 1 where none varies."""
    found = {}
    for block, model in run.fields[method]:
        names = [name for name in block.places if name in rows]
        if not names:
            continue
        variances = np.ones((graph.n_nodes, len(model.varying)))
        if model.coupling is not None:
            system = model.system(block.encode(graph.n_nodes), graph)
            variances[:, model.varying] = system.variances()
        for name in names:
            found[name] = np.sqrt(variances[rows[name], block.places[name].start])
    return found
