r"""Rows linked by places, keys, moments or alike columns; how strongly is chosen on held-out cells.

Known cells are hidden, filled by propagation along the links of some settings, and compared. Each
setting is tried in turn beside the best so far, and another is taken if it is better by more than
a standard error; then the strengths s of the kinds of links in

.. math:: A = \sum_r s_r A_r

are tripled, cut to a third or set to nothing in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import check_column_name, places, spelled
from ..graph import Graph
from ..links import LinkOptions, Links, Relation, Request, open_request, union
from ..report import listed
from ..solve import PropagationOptions
from ..trust import Layout, Recipe, fill_channels
from ..trust._column import Recorded, Target, mask_of
from ..trust._folds import draw_folds, number_of
from ..trust._scores import losses
from ._alignment import Alignment
from ._arrow import take_rows
from ._column import Column
from ._id_search import INDEX
from ._options import Source, TableOptions

if TYPE_CHECKING:
    import narwhals as nw

Floats = NDArray[np.float64]

FEWEST = 20  # known cells of a column on which settings are compared
MOST_COLUMNS, MOST_CELLS = 12, 5_000_000  # compared on; and the channels' cells of one of them
FEW_CELLS = 50_000  # up to which all cells are hidden in turn, and not a fifth of them alone
FOLDS = 5
STRONGER, MOST = 3.0, 100.0  # by which a strength is tried to be larger or smaller, and at most
LEAST_GAIN = 0.002  # of the costs: less is not worth another setting
PASSES = 2
TOLERANCE = 1e-3


def linked(
    frame: nw.DataFrame[Any],
    alignment: Alignment,
    columns: Mapping[str, Column],
    options: TableOptions,
    source: Source,
) -> Alignment:
    """The rows with the links that were asked for, beside the edges that they have."""
    asked = options.links or LinkOptions()
    order, naming, ids = alignment.order, source.naming, _ids(frame, alignment)
    names = dict.fromkeys(asked.columns)
    if order is not None and names:
        for name in names:
            check_column_name(name, frame.columns, naming.table)
        frame = frame.select(*(take_rows(frame.get_column(name), order) for name in names))
    with places(lambda row: naming.row(row if order is None else int(order[row]))):
        request = open_request(frame, asked, naming.table)
    given: list[Relation] = []
    if alignment.links is not None:
        given = [one.in_order(order) for one in alignment.links.relations]
    elif alignment.graph.n_edges:
        own = alignment.outside()
        given = [Relation(f"of {naming.edges}", alignment.graph, alignment.n_rows, own)]
    choice = _Choice(request, given, _compared(columns), options.fill.seed)
    graph, relations, strengths = choice.best()
    notes = _notes(relations, strengths, choice, naming.table)
    kept = [number for number, strength in enumerate(strengths) if strength > 0]
    if len(kept) < len(relations):
        relations = [relations[number] for number in kept]
        strengths = [strengths[number] for number in kept]
        graph = union(relations, strengths)
    made = Links(graph, alignment.n_rows, tuple(relations), tuple(strengths), tuple(notes), ids)
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[: alignment.n_rows] == 0))
    return replace(
        alignment,
        graph=graph,
        alone=False,
        n_unlinked=n_unlinked,
        guesses=[*alignment.guesses, *notes],
        links=made,
        together=request.hidden_together(_missing(columns, alignment.n_rows)),
        layout=_layout(request),
    )


def _layout(request: Request) -> Layout | None:
    """Of series of several places: where each row stands among moments and places."""
    series = request.series
    return None if series is None else Layout.of(series.order, series.place, series.moment)


def _ids(frame: nw.DataFrame[Any], alignment: Alignment) -> Any:
    """The ids of the rows in the graph's order, as Arrow has them; None: rows have none."""
    import narwhals as nw
    import pyarrow as pa

    id, order = alignment.id, alignment.order
    if id is None:
        return None if order is None else pa.array(order)
    ids = pa.array(nw.maybe_get_index(frame)) if id == INDEX and INDEX not in frame.columns else (
        frame.get_column(id).to_arrow())  # fmt: skip
    ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    return ids if order is None else ids.take(pa.array(order))


def _missing(columns: Mapping[str, Column], n_rows: int) -> NDArray[np.bool_]:
    missing = [one.missing for one in columns.values() if one.n_channels and one.missing.any()]
    return np.column_stack(missing) if missing else np.zeros((n_rows, 1), dtype=bool)


def _compared(columns: Mapping[str, Column]) -> list[Column]:
    """The columns that settings are compared on: those with most missing cells."""
    fit = [
        one for one in columns.values()
        if 0 < one.n_channels * len(one.missing) <= MOST_CELLS
        and one.missing.any() and not one.all_equal
        and np.count_nonzero(~one.missing) >= FEWEST
    ]  # fmt: skip
    return sorted(fit, key=lambda one: (-int(one.missing.sum()), str(one.name)))[:MOST_COLUMNS]


class _Choice:
    """Settings and strengths, compared on hidden cells."""

    def __init__(
        self, request: Request, given: Sequence[Relation], columns: Sequence[Column], seed: int
    ) -> None:
        self.request, self.given, self.columns = request, list(given), columns
        propagation = PropagationOptions(normalization="rw", solver="exact", tol=TOLERANCE)
        self.recipe = Recipe("propagation", propagation, reliance=1.0, seed=seed)
        self.targets = {one.name: Target.of(one) for one in columns}
        self.n_tried = 0
        missing = _missing({one.name: one for one in columns}, request.n_rows)
        self.together = request.hidden_together(missing)
        cells = sum(len(target.known) for target in self.targets.values())
        self.n_rounds = FOLDS if cells <= FEW_CELLS else 1
        self.folds = {name: self._folds(target, [seed, 9, number_of(name)])
                      for name, target in self.targets.items()}  # fmt: skip

    def _folds(self, target: Target, key: list[int]) -> list[NDArray[np.intp]]:
        return draw_folds(target.known, FOLDS, key, self.together)[: self.n_rounds]

    def best(self) -> tuple[Graph, list[Relation], list[float]]:
        """The links of the best settings."""
        settings = dict(self.request.usual)
        relations = self._relations(settings)
        strengths = [1.0] * len(relations)
        if self.columns:
            cost = self._cost(relations, strengths)
            for name, others in self.request.rounds():
                start = dict(settings)
                for value in others(start[name]):
                    tried = settings | {name: value}
                    new = self._cost(self._relations(start | {name: value}), strengths)
                    if _better(new, cost):
                        settings, cost = tried, new
            relations = self._relations(settings)
            if len(relations) > 1:
                strengths = self._strengths(relations, strengths, cost)
        self.settings = settings
        return union(relations, strengths), relations, strengths

    def _relations(self, settings: Mapping[str, Any]) -> list[Relation]:
        return [*self.given, *self.request.relations(settings)]

    def _strengths(
        self, relations: Sequence[Relation], strengths: list[float], cost: Floats
    ) -> list[float]:
        """One strength after the other, made larger or smaller as long as that helps."""
        for _ in range(PASSES):
            before = list(strengths)
            for number in range(len(relations)):
                for factor in (0.0, STRONGER, 1.0 / STRONGER):
                    while strengths[number] > 0:
                        tried = list(strengths)
                        tried[number] *= factor
                        if not any(tried) or tried[number] > MOST or 0 < tried[number] < 1 / MOST:
                            break
                        new = self._cost(relations, tried)
                        if not _better(new, cost):
                            break
                        strengths, cost = tried, new
            if strengths == before:
                break
        return strengths

    def _cost(self, relations: Sequence[Relation], strengths: Sequence[float]) -> Floats:
        """What each hidden cell costs."""
        self.n_tried += 1
        graph = union(relations, strengths)
        costs = []
        for number in range(self.n_rounds):
            hidden = {name: folds[number] for name, folds in self.folds.items()}
            n_rows = self.request.n_rows
            recorded = [
                Recorded(one.hide(mask_of(hidden[one.name], n_rows))) for one in self.columns
            ]
            fill_channels(recorded, graph, self.recipe)
            for one in recorded:
                target, rows = self.targets[one.name], hidden[one.name]
                costs.append(losses(target, rows, one.at(rows, target.n_classes)))
        return np.concatenate(costs)


def _better(new: Floats, cost: Floats) -> bool:
    """Whether new costs are lower by more than a standard error, and by more than a trifle."""
    gain = cost - new
    return bool(gain.mean() > max(gain.std() / np.sqrt(len(gain)), LEAST_GAIN * cost.mean()))


def _notes(
    relations: Sequence[Relation], strengths: Sequence[float], choice: _Choice, holder: str
) -> list[str]:
    """What was made, how it was chosen, and how to keep it."""
    made = []
    for one, strength in zip(relations, strengths, strict=True):
        counted = f"{one.graph.n_edges:,} {one.name}"
        if one.own and one not in choice.given:
            counted += f" (through {len(one.own):,} nodes that are no rows)"
        if len(relations) > 1:
            how = f"with strength {strength:.3g}" if strength else "but left out, as no help"
            counted += f" {how}"
        made.append(counted)
    notes = [note for one in relations for note in one.notes]
    parts = [f"Links of {holder}: {listed(made)}"]
    for name, value in choice.settings.items():
        if name == "reach":
            parts.append(f"each to the next {value} in time" if value > 1 else "")
        else:
            word = "places" if name == "near" else "rows"
            parts.append(f"to {value[0]} {word} at most, with weights that fall to a third at "
                         f"{value[1]:.2g} of the way to the last")  # fmt: skip
    if choice.n_tried > 1:
        parts.append(f"chosen among {choice.n_tried} settings on hidden known cells")
    of_tables = any(one.shared for one in relations)  # which links of one table cannot name
    notes.append(f"{'; '.join(filter(None, parts))}." + ("" if of_tables else _how_to_keep()))
    for one in relations:
        if one.n_unlinked:
            notes.append(
                f"{one.n_unlinked:,} row(s) of {holder} lack the cells to be linked {one.name}."
            )
    return notes


def _how_to_keep() -> str:
    return spelled(
        " They can be kept as a file: result.links.save(path).",
        " They can be kept as a file: --keep-links FILE.",
    )
