"""What filling a table did, as numbers and words."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..links import Links
from ..report import of_result
from ..trust import Influence
from ._alignment import Alignment

if TYPE_CHECKING:
    from ._draws import TableDraws
    from ._plot import Plot

Cells = NDArray[np.bool_]


@dataclass
class ColumnSummary:
    """What happened to one column.

    Attributes
    ----------
    name, kind : the column, and what it was taken for
    n_missing, n_filled, n_unreached : cells
    agreement : how much neighbours agree beyond chance; None where that was not asked
    links : what the links say about the column, by the agreement of neighbours: "inferable",
        "weakly", "not from this graph" or "unknown"
    verdict : how well it was filled, by what is `explained`: "well inferred", "fairly well
        inferred", "roughly inferred", "weakly inferred" or "hardly better than the mean"; without
        held-out cells, the same as `links`
    reliance : from 0, filled with the mean, to 1, filled with what the graph says
    explained : share of the variance of held-out cells that the fill explains, or of the mistakes
        of the most frequent value that it avoids; None if untried
    unreached_got : what cells out of the graph's reach got: "mean" (or the most frequent value),
        "columns" (predicted from the row's other columns), "nothing", or "" without such cells
    note : why it was left alone, or nothing
    details : scores of methods, intervals and what else a report shows, as far as asked for
    """

    name: str
    kind: str
    n_missing: int
    n_filled: int = 0
    n_unreached: int = 0
    agreement: float | None = None
    agreement_spread: float | None = None
    links: str = ""
    verdict: str = ""
    reliance: float | None = None
    explained: float | None = None
    unreached_got: str = ""
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(repr=False)
class TableResult:
    """What :func:`impute` did.

    Attributes
    ----------
    table : the filled table, of the kind that came in
    columns : one `ColumnSummary` per column
    filled, unreached : which cells, [rows] of bool per column with missing cells
    alignment : how rows and edges were matched
    notes : what was guessed or left undone, in sentences
    n_iter, residual, converged : as in `Result`; the worst of all columns
    draws : tables like `table`, each with other cells drawn, as many as were asked for
    settings, seconds : to repeat the run, and what it took
    """

    __module__ = "graphfill"

    table: Any
    columns: list[ColumnSummary]
    filled: dict[str, Cells]
    unreached: dict[str, Cells]
    alignment: Alignment
    notes: list[str]
    settings: dict[str, Any]
    n_iter: int = 0
    residual: float = 0.0
    converged: bool | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    draws: list[Any] = field(default_factory=list)
    _drawing: TableDraws | None = None  # what makes them
    _uncertain: dict[str, Cells] = field(default_factory=dict)  # of the filled ones, by bounds
    _markers: Sequence[Any] = ()  # what else means missing in the table
    _influences: dict[str, Influence] = field(default_factory=dict)  # by column, for `explain`
    _add_reasons: Callable[[TableResult], None] | None = None  # to the summaries of the columns

    def __repr__(self) -> str:
        return of_result(self.summary())

    @property
    def links(self) -> Links | None:
        """The links that were made of the table; None where there were edges alone."""
        return self.alignment.links

    @property
    def n_filled(self) -> int:
        return sum(column.n_filled for column in self.columns)

    @property
    def n_missing(self) -> int:
        return sum(column.n_missing for column in self.columns)

    def _drawn(self, number: int) -> Any:
        """A completion of the table, numbered from 0; the filled table where nothing is missing."""
        if self._drawing is None:
            return self.table
        table = self._drawing.table_of(number)
        for column in self.columns:
            if column.name in self._drawing.shares:
                shares = column.details["distribution"].setdefault("drawn", [])
                shares.append(self._drawing.shares[column.name])
        return table

    @property
    def scores(self) -> dict[str, list[dict[str, Any]]]:
        """By column, every method's scores on held-out cells, as far as asked for."""
        scores = {column.name: column.details.get("scores") for column in self.columns}
        return {name: by_method for name, by_method in scores.items() if by_method}

    def report(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write one self-contained page that says what was done and how far to trust it."""
        from ..report import write_report

        write_report(self._report_summary() | self._pictures(), path, overwrite=overwrite)

    @property
    def plot(self) -> Plot:
        """Pictures by matplotlib: ``result.plot.missing()``, ``result.plot.map("age")``, ..."""
        from ._plot import Plot

        return Plot(self)

    def _report_summary(self) -> dict[str, Any]:
        """The summary, with what some cells are made of."""
        if self._add_reasons is not None:
            self._add_reasons(self)
        return self.summary()

    def _pictures(self) -> dict[str, Any]:
        """What a page draws of the whole table, beside the summary."""
        from ._pictures import Pictures

        return {"pictures": Pictures(self).summary()}

    def summary(self) -> dict[str, Any]:
        """All but the cells, as plain numbers and words."""
        graph = self.alignment.graph
        return {
            "rows": self.alignment.n_rows,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "nodes_outside_the_table": self.alignment.n_outside,
            "rows_without_edge": self.alignment.n_unlinked,
            "id": self.alignment.id,
            "source": self.alignment.source,
            "target": self.alignment.target,
            "missing": self.n_missing,
            "filled": self.n_filled,
            "unreached": sum(column.n_unreached for column in self.columns),
            "columns": [_plain(column) for column in self.columns],
            "notes": self.notes,
            "settings": self.settings,
            "n_iter": self.n_iter,
            "residual": self.residual,
            "converged": self.converged,
            "seconds": self.seconds,
        }


def _plain(column: ColumnSummary) -> dict[str, Any]:
    """A summary in which NaN is None, as JSON has it, details beside the rest."""
    summary = asdict(column)
    summary |= summary.pop("details")
    return {key: None if value != value else value for key, value in summary.items()}
