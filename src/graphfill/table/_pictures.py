"""What pictures of a fill show, as plain numbers: counted where rows are many, or a sample of them.

Of every cell of a column it is known whether it was known, filled, filled but uncertain, or is
still missing: a letter of `STATES` each.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..graph import node_places
from ..links import find_coordinates, flat
from ._alignment import Alignment
from ._column import Column, Floats
from ._columns import open_column
from ._distribution import distribution
from ._frames import in_memory
from ._markers import Reading

if TYPE_CHECKING:
    import narwhals as nw

Mask = NDArray[np.bool_]

STATES = "kfum"  # known, filled, uncertain, missing
OUTSIDE = "."  # a node that is no row
NUMBERS = ("number", "integer")  # kinds
FEWEST_MOMENTS, MOMENTS = 8, 150
MOST_OPEN = 4  # columns, at a time
SPANS = 60  # of rows, in the pattern of what is missing
MOST_COLUMNS = 20
MOST_COMBINED = 10  # columns, in what goes missing together
MOST_PATTERNS = 7
POINTS = 1000
DRAWN_NODES, DRAWN_LINKS = 300, 1500
COMPARED = 5000  # rows, to find the most related columns
FEWEST_RELATED, LEAST_RELATED = 20, 0.2


class Filled(Protocol):
    """What pictures need of a `TableResult`."""

    table: Any
    columns: Any
    filled: dict[str, Mask]
    unreached: dict[str, Mask]
    alignment: Alignment
    settings: dict[str, Any]
    _uncertain: dict[str, Mask]
    _markers: Sequence[Any]
    _reading: Reading | None


class Pictures:
    """The columns of a result as pictures show them, in the order of the table's rows."""

    def __init__(self, result: Filled) -> None:
        import narwhals as nw

        self.result = result
        table, _ = in_memory(result.table)
        self.frame: nw.DataFrame[Any] = nw.from_native(table, eager_only=True)
        self.n = len(self.frame)
        self.kinds = {column.name: column.kind for column in result.columns}
        self.seed = int(result.settings.get("seed") or 0)
        by_missing = sorted(result.columns, key=lambda column: -column.n_missing)
        self.gaps = [column.name for column in by_missing if column.n_missing]
        self._columns: dict[str, Column] = {}  # the last few, since they may be large
        self._were_missing: dict[str, Mask] = {}

    def summary(self) -> dict[str, Any]:
        """Everything that the page draws of the whole table."""
        parts = {
            "missing": self.missing(),
            "together": self.together(),
            "points": self.points(),
            "series": self.series(),
            "scatter": self.scatter(),
        }
        return {name: part for name, part in parts.items() if part}

    def column(self, name: str) -> Column:
        """A column with its filled cells, taken for what it was when it was filled."""
        if name not in self._columns:
            kind = "leave" if self.kinds[name] in ("left alone", "id") else self.kinds[name]
            self._open(name, kind=kind, missing=self.result._markers)
        return self._columns[name]

    def _open(self, name: str, **how: Any) -> None:
        while len(self._columns) >= MOST_OPEN:
            del self._columns[next(iter(self._columns))]
        column, reading = self.frame.get_column(name), self.result._reading
        self._columns[name] = open_column(column, reading=reading, **how)

    def was_missing(self, name: str) -> Mask:
        if name not in self._were_missing:
            still, filled = self.column(name).missing, self.result.filled.get(name)
            self._were_missing[name] = still if filled is None else still | filled
        return self._were_missing[name]

    def states(self, name: str) -> NDArray[np.uint8]:
        """The place in `STATES` of each cell."""
        states = np.zeros(self.n, dtype=np.uint8)
        states[self.was_missing(name)] = 1
        for uncertain in (self.result._uncertain.get(name), self.result.unreached.get(name)):
            if uncertain is not None:
                states[uncertain & (states == 1)] = 2
        states[self.column(name).missing] = 3
        return states

    def missing(self) -> dict[str, Any]:
        """The share that is missing of each column, in equal spans of rows."""
        names = self.gaps[:MOST_COLUMNS]
        if not names:
            return {}
        starts = np.linspace(0, self.n, min(SPANS, self.n) + 1).astype(np.intp)
        masks = [self.was_missing(name) for name in names]
        counts = [np.add.reduceat(mask.astype(np.intp), starts[:-1]) for mask in masks]
        return {
            "rows": self.n,
            "columns": names,
            "total": [float(mask.mean()) for mask in masks],
            "shares": [(count / np.diff(starts)).round(4).tolist() for count in counts],
            "left_out": len(self.gaps) - len(names),
        }

    def together(self) -> dict[str, Any]:
        """How many rows miss which columns at once, the most frequent combinations first."""
        names = self.gaps[:MOST_COMBINED]
        if len(names) < 2:
            return {}
        masks = np.stack([self.was_missing(name) for name in names])
        code = (masks * (1 << np.arange(len(names)))[:, None]).sum(axis=0)
        patterns, rows = np.unique(code, return_counts=True)
        order = [at for at in np.argsort(-rows, kind="stable") if patterns[at]]
        return {
            "rows": self.n,
            "columns": names,
            "complete": int(rows[patterns == 0].sum()),
            "patterns": [
                {
                    "columns": [j for j in range(len(names)) if patterns[at] >> j & 1],
                    "rows": int(rows[at]),
                }
                for at in order[:MOST_PATTERNS]
            ],
            "others": int(sum(rows[at] for at in order[MOST_PATTERNS:])),
            "left_out": len(self.gaps) - len(names),
            "pair": self._pair(names, masks),
        }

    def _pair(self, names: Sequence[str], masks: Mask) -> dict[str, Any] | None:
        """The two columns that miss the same rows more often than chance, in standard errors."""
        counts = masks.sum(axis=1)
        best = None
        for i in range(len(names)):
            for j in range(i):
                both = int(np.count_nonzero(masks[i] & masks[j]))
                chance = float(counts[i] * counts[j] / self.n)
                beyond = (both - chance) / np.sqrt(max(chance, 1.0))
                if beyond > 4.0 and both > 1.2 * chance and (best is None or beyond > best[0]):
                    best = beyond, {"columns": [names[j], names[i]], "rows": both, "chance": chance}
        return None if best is None else best[1]

    # -- places --

    @cached_property
    def coordinates(self) -> tuple[str, str] | None:
        """The columns of latitude and longitude."""
        return find_coordinates(list(self.kinds), self._coordinate)

    def _coordinate(self, name: str) -> Floats:
        """Every cell of a column of numbers, also of one that was not to be filled."""
        if self._any(name).kind not in NUMBERS:
            return np.full(self.n, np.nan)
        return self._floats(name, np.arange(self.n))

    def _any(self, name: str) -> Column:
        """A column for what it is, even if it was not to be filled."""
        if self.kinds.get(name) in ("left alone", "id", None):
            with suppress(InputError):  # what cannot be read is left alone here too
                self._open(name)
        return self.column(name)

    def points(self, only: str | None = None) -> dict[str, Any]:
        """The rows on a map, or as nodes of a small graph, and the state of their cells.

        Of the columns with the most missing cells, or of one.
        """
        names = self.gaps[:MOST_COLUMNS] if only is None else [only]
        if not names or self.n < 2:
            return {}
        graph, links = self.result.alignment.graph, np.empty((0, 2), dtype=np.int64)
        if self.coordinates is not None:
            x, y = flat(*map(self._coordinate, self.coordinates))
            rows = self._sample(np.flatnonzero(np.isfinite(x) & np.isfinite(y)))
            x, y, kind = x[rows], y[rows], "map"
        elif graph.n_nodes <= DRAWN_NODES and 0 < graph.n_edges <= DRAWN_LINKS:
            order = self.result.alignment.order
            rows, kind = np.arange(self.n) if order is None else order, "graph"
            x, y = node_places(graph, self.seed).T
            ends = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr)), graph.indices
            links = np.stack(ends, axis=1)[ends[0] < ends[1]].astype(np.int64)
        else:
            return {}
        letters = np.array(list(STATES))
        return {
            "kind": kind,
            "rows": self.n,
            "coordinates": list(self.coordinates or ()),
            "x": x.round(5).tolist(),
            "y": y.round(5).tolist(),
            "links": links.tolist(),
            "states": {
                name: "".join(letters[self.states(name)[rows]]).ljust(len(x), OUTSIDE)
                for name in names
            },
        }

    # -- times --

    def series(self, column: str | None = None) -> dict[str, Any]:
        """A column of numbers over time, of one place if a time has several rows.

        Shown are the place and the stretch of at most `MOMENTS` rows with the most filled cells;
        bounds of filled cells where intervals were asked for.
        """
        columns = [name for name in self.gaps if self.kinds[name] in NUMBERS]
        columns = [name for name in columns if name in self.result.filled]
        name = column if column is not None else next(iter(columns), None)
        dtypes = self.frame.schema
        dated = (n for n in self.kinds if self.kinds[n] == "date" or dtypes[n].is_temporal())
        time = next((n for n in dated if n != name and self._any(n).kind == "date"), None)
        if name is None or time is None:
            return {}
        moments, present = self._any(time).levels(), np.isfinite(self.column(name).levels())
        filled = self.result.filled.get(name, np.zeros(self.n, dtype=bool))
        group, codes = self._places(moments, time)
        if codes is None:
            return {}
        most = np.bincount(codes[present], filled[present] + 1e-9, codes.max() + 1).argmax()
        rows = np.flatnonzero(present & np.isfinite(moments) & (codes == most))
        rows = rows[np.argsort(moments[rows], kind="stable")]
        if len(rows) < FEWEST_MOMENTS:
            return {}
        counts = np.concatenate([[0], np.cumsum(filled[rows])])
        start = int(np.argmax(counts[MOMENTS:] - counts[:-MOMENTS])) if len(rows) > MOMENTS else 0
        rows = rows[start : start + MOMENTS]
        bounds = {end: self._bound(f"{name}_{end}", filled, rows) for end in ("low", "high")}
        ends = self._any(time).named(moments[rows[[0, -1]]])
        return {
            "column": name,
            "time": time,
            "place": None if group is None else str(self.frame.get_column(group)[int(rows[0])]),
            "ends": [end.isoformat() if hasattr(end, "isoformat") else str(end) for end in ends],
            "x": (moments[rows] - moments[rows[0]]).tolist(),
            "y": self._floats(name, rows).tolist(),
            "states": "".join(np.array(list(STATES))[self.states(name)[rows]]),
            **bounds,
        }

    def _places(self, moments: Floats, time: str) -> tuple[str | None, NDArray[np.intp] | None]:
        """The column that tells rows of one time apart, and its values as numbers from 0 on."""
        if len(np.unique(moments)) == self.n:
            return None, np.zeros(self.n, dtype=np.intp)
        _, times = np.unique(moments, return_inverse=True)
        several = ("category", "integer", "left alone")
        candidates = [n for n, kind in self.kinds.items() if kind in several and n != time]
        for name in candidates[:MOST_COLUMNS]:
            column = self._any(name)
            if column.kind in ("category", "integer") and not column.missing.any():
                codes = np.unique(column.levels(), return_inverse=True)[1]
                if len(np.unique(codes.astype(np.int64) * self.n + times)) == self.n:
                    return name, codes
        return None, None

    def _bound(self, name: str, filled: Mask, rows: NDArray[np.intp]) -> list[float | None]:
        """The bound of each filled cell that has one."""
        if name not in self.frame.columns or name in self.kinds:
            return [None] * len(rows)
        self._any(name)
        values = np.where(filled[rows], self._floats(name, rows), np.nan)
        return [None if value != value else value for value in values.tolist()]

    # -- two columns --

    def related(self) -> tuple[str, str] | None:
        """The two columns of numbers whose ranks go together the most; one has filled cells."""
        from scipy.stats import rankdata

        numbers = [
            name
            for name in [*self.gaps, *(n for n in self.kinds if n not in self.gaps)]
            if self.kinds[name] in NUMBERS and name not in (self.coordinates or ())
        ][:MOST_COLUMNS]
        rows = self._sample(np.arange(self.n), COMPARED)
        known = {}
        for name in numbers:
            values = self.column(name).levels()[rows]
            known[name] = np.where(self.was_missing(name)[rows], np.nan, values)
        best: tuple[float, tuple[str, str]] | None = None
        for place, second in enumerate(numbers):
            for first in numbers[:place]:
                if not {first, second} & self.result.filled.keys():
                    continue
                both = np.isfinite(known[first]) & np.isfinite(known[second])
                if np.count_nonzero(both) < FEWEST_RELATED:
                    continue
                a, b = (rankdata(known[name][both]) for name in (first, second))
                spread = a.std() * b.std()
                alike = abs(((a - a.mean()) * (b - b.mean())).mean()) / spread if spread else 0.0
                if alike >= LEAST_RELATED and (best is None or alike > best[0] + 1e-9):
                    best = alike, (second, first)
        return None if best is None else best[1]

    def scatter(self, first: str | None = None, second: str | None = None) -> dict[str, Any]:
        """Two columns of numbers: a sample of rows, and whether a cell of the two was filled."""
        pair = self.related() if first is None or second is None else (first, second)
        if pair is None:
            return {}
        levels = [self.column(name).levels() for name in pair]
        present = np.flatnonzero(np.isfinite(levels[0]) & np.isfinite(levels[1]))
        rows = self._sample(present)
        states = np.maximum(*(self.states(name)[rows] for name in pair))
        return {
            "columns": list(pair),
            "rows": len(present),
            "x": self._floats(pair[0], rows).tolist(),
            "y": self._floats(pair[1], rows).tolist(),
            "states": "".join(np.array(list(STATES))[states]),
        }

    # -- one column --

    def known_and_filled(self, name: str) -> dict[str, Any]:
        """Shares of the known and of the filled cells, and of those of draws if there are any."""
        for summary in self.result.columns:
            if summary.name == name and "distribution" in summary.details:
                return dict(summary.details["distribution"])
        column, missing = self.column(name), self.was_missing(name)
        levels, filled = column.levels(), self.result.filled[name]
        return distribution(column, levels[~missing], levels[filled])

    def _floats(self, name: str, rows: NDArray[np.intp]) -> Floats:
        """Cells of a column of numbers in its own units; NaN where missing."""
        column = self.column(name)
        levels = column.levels()[rows]
        values = np.full(len(rows), np.nan)
        there = np.isfinite(levels)
        values[there] = np.array(column.named(levels[there]), dtype=np.float64)
        return values

    def _sample(self, rows: NDArray[np.intp], most: int = POINTS) -> NDArray[np.intp]:
        """Some rows, in their order."""
        if len(rows) <= most:
            return rows
        return np.sort(np.random.default_rng(self.seed).choice(rows, most, replace=False))
