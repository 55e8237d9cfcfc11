"""How a table is filled: aligned with its edges, its columns inspected, filled and rebuilt."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, option, switch
from ..solve import propagate_with
from ..trust import (
    LEARNT,
    ColumnFill,
    Kept,
    Solve,
    differences_note,
    fill_columns,
    fill_verdict,
    unreached_cells,
)
from ._alignment import Alignment, align
from ._column import Column
from ._frames import in_memory, with_columns
from ._hints import unlinked_notes
from ._inspect import (
    informative_columns,
    informing_columns,
    judge_by_propagation,
    open_columns,
    reading_of,
    summarize_columns,
)
from ._keeping import Keeping
from ._notes import few_known_notes, notes_on
from ._options import Source, TableOptions
from ._result import TableResult

if TYPE_CHECKING:
    import narwhals as nw

Tick = Callable[[float], None]

FILLING = 0.4  # of the progress, where cells are hidden in a pattern too


def fill_table(
    table: Any,
    edges: Any,
    options: TableOptions,
    *,
    source: Source | None = None,
    alignment: Alignment | None = None,
    solve: Solve = propagate_with,
    progress: Tick | None = None,
    fill: bool = True,
    keeping: Keeping | None = None,
) -> TableResult:
    """:func:`graphfill.impute` without its warnings, which are the result's notes instead.

    Parameters
    ----------
    source : where the tables come from
    alignment : made already; `edges` are then not looked at
    solve : what propagates channels, as `propagate_with`
    progress : called with the share of the work done since the last call
    fill : False inspects the columns, scores them if asked, and leaves the table as it is
    keeping : takes what is learnt of the table, or holds it from a fit
    """
    import narwhals as nw

    began = time.perf_counter()
    source, in_pieces = source or Source(), alignment is not None
    (table, back), edges = in_memory(table), in_memory(edges)[0]
    _check_table(table, source.naming.table)
    frame = nw.from_native(table, eager_only=True)
    keeping, holder = keeping or Keeping(kept=Kept()), source.naming.table
    options, source, notes = keeping.prepare(options, source, frame.columns)
    alignment = alignment or align(frame, edges, options, source)
    columns = open_columns(frame, alignment, options, source)
    several = alignment.links is not None and alignment.links._open  # tables
    if options.links or several:
        from ._linking import linked as link

        alignment = link(frame, alignment, columns, options, source)
        how = options.fill.along(alignment.together, alignment.layout, several)
        options = replace(options, fill=how)
    linked = time.perf_counter()
    notes += keeping.settle(columns, holder)
    summaries = summarize_columns(columns, frame.columns, alignment, options.fill.seed)
    wanted = [name for name, c in columns.items() if c.n_channels and c.blank.any()]
    if not wanted:
        _check_something_known(list(columns.values()), source.naming.table)
    result = TableResult(table, list(summaries.values()), {}, {}, alignment, [], options.settings())
    result._markers, result._reading = list(options.missing), reading_of(frame, options, source)
    inspected = time.perf_counter()
    fills: dict[str, ColumnFill] = {}
    judged = ""
    if wanted and (fill or options.fill.assessed):
        others = {}
        if options.fill.method in LEARNT:
            others = informing_columns(frame, alignment, options, source)
            keeping.settle(others, holder)
            result.notes += _left_out({**others, **columns}, wanted, alignment, options, keeping)
        filling = _Filling(frame, columns, others, wanted, options, result, solve, progress,
                           keeping.kept)  # fmt: skip
        fills = filling.run(fill)
        if not in_pieces:
            both = {**others, **columns}
            judged = _differences(both, wanted, fills, alignment, options.fill.seed)
    elif wanted:
        for name, cells in unreached_cells([columns[n] for n in wanted], alignment.graph).items():
            summaries[name].n_unreached = int(cells.sum())
        recipe = options.fill.recipes(solve)["propagation"]
        if not alignment.alone:  # without links, there is nothing to judge
            judged = judge_by_propagation(columns, summaries, alignment.graph, recipe)
    result.notes = [*result.notes, *notes, *notes_on(alignment, summaries, columns, source)]
    if alignment.alone:
        result.notes += unlinked_notes(frame, alignment.id, source.naming.table)
    result.notes += [judged] if judged else []
    result.notes += few_known_notes(columns, summaries, fills, options)
    result.table, result._back = back(result.table), back
    done = time.perf_counter()
    result.seconds = {
        "link": linked - began,
        "survey": inspected - linked,
        "fill": done - inspected,
    }
    return result


def _differences(
    columns: Mapping[str, Column],
    wanted: Sequence[str],
    fills: Mapping[str, ColumnFill],
    alignment: Alignment,
    seed: int,
) -> str:
    """A sentence on how missing cells differ from known ones, and what that does to bounds."""
    channelled = {name: column for name, column in columns.items() if column.n_channels}
    vary = [name for name in wanted if not columns[name].all_equal]
    covered = {
        name: one.bounds.coverage
        for name, one in fills.items()
        if one.bounds and one.assessment and one.assessment.alike
    }
    return differences_note(channelled, vary, alignment.graph, seed, covered) if vary else ""


class _Filling:
    """One table being filled; `result` takes what is done."""

    def __init__(
        self,
        frame: nw.DataFrame[Any],
        columns: Mapping[str, Column],
        others: Mapping[str, Column],
        wanted: Sequence[str],
        options: TableOptions,
        result: TableResult,
        solve: Solve,
        progress: Tick | None,
        kept: Kept,
    ) -> None:
        self.frame, self.columns, self.others, self.wanted = frame, columns, others, wanted
        self.options, self.result, self.solve, self.kept = options, result, solve, kept
        self.alignment = result.alignment
        self.summaries = {summary.name: summary for summary in result.columns}
        self.progress = progress or (lambda share: None)

    def run(self, fill: bool) -> dict[str, ColumnFill]:
        """Score and fill; put the filled columns into the table only if `fill`."""
        options, result = self.options.fill, self.result
        both = {**self.others, **self.columns}
        channelled = {name: c for name, c in both.items() if c.n_channels}
        share = FILLING if options.pattern else 1.0
        fills, solved = fill_columns(
            channelled,
            self.wanted,
            self.alignment.graph,
            self._informative,
            options,
            solve=self.solve,
            progress=lambda done: self.progress(share * done),
            kept=self.kept,
        )
        result.n_iter, result.residual = solved.n_iter, solved.residual
        result.converged = solved.converged
        for name, held in solved.held_out.items():
            summary = self.summaries[name]
            summary.reliance, summary.explained = held.reliance, held.explained
        patterns = {}
        if options.pattern:
            from ..trust._hiding import scores_in_pattern

            assessed = [name for name, one in fills.items() if one.assessment is not None]
            patterns = scores_in_pattern(
                channelled,
                assessed,
                self.alignment.graph,
                self._informative(),
                options,
                solve=self.solve,
                progress=lambda done: self.progress((1.0 - share) * done),
            )
        result._influences = {
            name: one.influence for name, one in fills.items() if one.influence is not None
        }
        for name, one in fills.items():
            self._summarize(name, one, patterns.get(name))
        if fill:
            self._rebuild(fills)
            if options.draws:
                self._prepare_draws(channelled, fills)
        if self.options.details:
            from ._details import report_details
            from ._explain import add_reasons

            by_certainty = report_details(
                self.columns, fills, self.alignment, self.summaries, self.frame
            )
            result._add_reasons = partial(add_reasons, by_certainty=by_certainty)
        return fills

    def _prepare_draws(
        self, columns: Mapping[str, Column], fills: Mapping[str, ColumnFill]
    ) -> None:
        import narwhals as nw

        from ._draws import TableDraws

        frame = nw.from_native(self.result.table, eager_only=True)  # not yet as it came
        graph, options = self.alignment.graph, self.options.fill
        self.result._drawing = TableDraws(
            frame, columns, fills, graph, options, count=self.options.details
        )

    def _informative(self) -> dict[str, bool]:
        return informative_columns(
            self.columns, self.summaries, self.alignment, self.options.fill.seed
        )

    def _summarize(self, name: str, fill: ColumnFill, pattern: dict[str, Any] | None) -> None:
        summary, column = self.summaries[name], self.columns[name]
        fill.unreached = fill.unreached & ~column.unseen
        self.result.unreached[name] = column.in_rows(fill.unreached)
        summary.n_unreached = int(fill.unreached.sum())
        if fill.by_learner and self.alignment.alone:
            summary.n_unreached = 0  # no graph is there to reach it
        if summary.n_unreached:
            left = self.options.fill.unreached == "nan"
            summary.unreached_got = "nothing" if left else "columns" if fill.by_learner else "mean"
        level = self.options.fill.intervals
        if fill.bounds is not None and level is not None:
            from ._distribution import uncertain_cells

            uncertain = np.zeros(column.missing.size, dtype=bool)
            uncertain[column.missing] = uncertain_cells(column, fill.bounds, level)
            self.result._uncertain[name] = column.in_rows(uncertain)
        if fill.assessment is not None:
            from ._details import assessment_details

            summary.details |= assessment_details(column, fill, level, pattern)
            summary.explained = None if column.all_equal else fill.assessment.explained
        if summary.explained is not None:
            summary.verdict = fill_verdict(summary.explained)

    def _rebuild(self, fills: Mapping[str, ColumnFill]) -> None:
        """Put what was filled in into the table, and count it."""
        import narwhals as nw

        left_missing = self.options.fill.unreached == "nan"
        rebuilt, added, bounds = [], [], []
        for name in self.wanted:
            column, fill = self.columns[name], fills[name]
            left = fill.unreached if left_missing else fill.unreached & False
            column.leave_missing(left)
            rebuilt.append(column.rebuild())
            filled = self.result.filled[name] = column.in_rows(column.filled_cells)
            summary = self.summaries[name]
            summary.n_filled = int(filled.sum())
            if column.fills_as_usual and summary.explained is None and summary.links != "inferable":
                summary.verdict = "not from this graph"
            if self.options.mark and filled.any():
                backend = self.frame.implementation
                added.append(nw.new_series(f"{name}_filled", filled, nw.Boolean, backend=backend))
            if self.options.fill.intervals is not None and self.options.add_bounds:
                from ._bounds import bound_columns

                bounds += bound_columns(column, fill, left | column.unseen)
        taken = set(self.frame.columns)
        for series in [*added, *bounds]:
            _check_free_name(series.name, taken)
        self.result.table = with_columns(self.frame, [*rebuilt, *added, *bounds])


def _left_out(
    columns: Mapping[str, Column],
    wanted: Sequence[str],
    alignment: Alignment,
    options: TableOptions,
    keeping: Keeping,
) -> list[str]:
    """Sentences on methods that are not compared."""
    from ..trust._limits import left_out

    if keeping.kept.applies:
        return []
    channelled = {name: column for name, column in columns.items() if column.n_channels}
    return left_out(channelled, wanted, alignment.graph, options.fill)


# -- refusals --


def _check_table(table: Any, holder: str) -> None:
    """Refuse what is no table in memory, or has two columns of one name."""
    from narwhals import dependencies

    if isinstance(table, dict) or not dependencies.is_into_dataframe(table):
        raise InputError(
            f"The table is a {type(table).__name__} but must be a pandas, polars or pyarrow table: "
            "use propagate for arrays, collect a lazy frame, or make a data frame of it."
        )
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The column name {twice!r} occurs twice in {holder}: rename one.")


def _check_free_name(name: str, names: Collection[Any]) -> None:
    """Refuse a name for a new column that is taken."""
    if name in names:
        raise InputError(
            f"The table already has a column {name!r}, a name that {switch('mark')} or "
            f"{option('intervals')} gives to a new one: rename it."
        )


def _check_something_known(columns: Sequence[Column], holder: str) -> None:
    """Refuse a table in which all that is missing is missing whole."""
    names = [repr(column.name) for column in columns]
    if names and all(column.missing.size and column.missing.all() for column in columns):
        listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
        word = "column" if len(names) == 1 else "columns"
        raise InputError(
            f"Every cell of {holder} in {word} {listed} is missing: there is nothing to infer from."
        )
