"""Fill a Parquet table from Parquet edges, column group by column group."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, check_choice, check_column_name, option
from ...io import check_unchanged, merge, replacing, version_of
from ...solve import propagate_with
from ...solve._memory import give_back, parse_bytes
from ...table._alignment import Alignment, id_occurs_twice, no_id_matches, row_without_id
from ...table._fill import fill_table
from ...table._id_column import Ids, first_duplicate, numbered, order_by_id
from ...table._id_search import SAMPLE, guessed_column, most_alike, no_id_column
from ...table._inspect import check_not_the_ids
from ...table._options import Naming, Source, TableOptions, plain_kinds
from ...table._result import ColumnSummary, TableResult
from ...trust import Solve
from .graph_file import Numbering, Tick, store_graph
from .parquet import SAMPLE_ROWS, EdgeFile, TableFile
from .sizing import Sizing

if TYPE_CHECKING:
    import pyarrow as pa

METHODS = ("propagation", "neighbors", "mean")  # one column at a time
LINKING = 0.1  # of the progress


@dataclass(frozen=True)
class Inputs:
    """Two files, opened, with the guesses made about them, a sentence each."""

    table: TableFile
    edges: EdgeFile
    id: str
    guesses: list[str]
    sizing: Sizing

    @property
    def naming(self) -> Naming:
        name = self.table.path.name
        return Naming(name, self.edges.path.name, cell_row=lambda row: f"{name}, row {row + 1}")

    def check_alike(self, ids: Ids, *both: Ids) -> None:
        """Refuse ends of edges of another kind than the ids: numbers, say, and not text."""
        for ends in both:
            if len(ends) and ends.kind != ids.kind:
                raise self.no_match(ids, ends)

    def no_match(self, ids: Ids, ends: Ids) -> InputError:
        """The refusal of ids and ends of edges that have nothing in common."""
        return no_id_matches(self.naming, self.id, ids, ends)


def open_inputs(table: str | Path, edges: str | Path, options: TableOptions) -> Inputs:
    """Open both files; refuse columns that are not there, or cannot be filled."""
    rows = TableFile(Path(table), dict(options.types))
    pairs = EdgeFile(Path(edges), options.source, options.target, options.weight)
    for name in [*(options.columns or ()), *options.exclude]:
        check_column_name(name, rows.names, rows.path.name)
    id, guesses = _find_ids(rows, pairs, options.id)
    check_not_the_ids(id, options.columns)
    sizing = Sizing.of(rows, pairs, id, _wanted(rows, id, options), options.fill.propagation.solver)
    return Inputs(rows, pairs, id, guesses, sizing)


def least_in_memory(table: str | Path, edges: str | Path, options: TableOptions) -> int:
    """The smallest limit on memory within which both files are read whole; ids are not sought."""
    rows = TableFile(Path(table))
    pairs = EdgeFile(Path(edges), options.source, options.target, options.weight)
    if options.id is not None:
        check_column_name(options.id, rows.names, rows.path.name)
    wanted, solver = _wanted(rows, options.id, options), options.fill.propagation.solver
    return Sizing.of(rows, pairs, options.id or rows.names[0], wanted, solver).in_memory_bytes


def _wanted(rows: TableFile, id: str | None, options: TableOptions) -> list[str]:
    """The columns to fill, in the order of the table."""
    some = rows.names if options.columns is None else options.columns
    return [name for name in rows.names if name in some and name not in (id, *options.exclude)]


def _find_ids(rows: TableFile, edges: EdgeFile, name: str | None) -> tuple[str, list[str]]:
    """The column of the table that holds the ids, and the guesses made so far."""
    import pyarrow as pa

    if name is not None:
        check_column_name(name, rows.names, rows.path.name)
        return name, edges.guesses
    first = next(edges.chunks(), None)
    if first is None:
        raise InputError(
            f"{edges.path.name} lists no edge to guess the ids by: name them with {option('id')}."
        )
    ends = first[0].sample(SAMPLE), first[1].sample(SAMPLE)
    del first

    def candidates() -> Iterator[tuple[str, Ids]]:
        for name, kind in zip(rows.names, rows.schema.types, strict=True):
            if not (pa.types.is_floating(kind) or kind.num_fields):
                yield name, Ids(rows.arrow([name])[name])

    best = most_alike(candidates(), ends)
    if best is None or not best.worth_naming(ends):
        raise no_id_column(Naming(rows.path.name, edges.path.name), ends, best)
    return best.name, [*edges.guesses, guessed_column(best.name, rows.path.name)]


def fill_file(
    table: str | Path,
    edges: str | Path,
    output: str | Path,
    *,
    memory_limit: int | float | str,
    options: TableOptions,
    solve: Solve = propagate_with,
    progress: Tick | None = None,
) -> TableResult:
    """Fill the missing cells of a Parquet file, in memory that is limited.

    Every cell comes out as :func:`graphfill.impute` would fill it, within rounding: which columns
    are solved together depends on the limit.

    The sorted edges and the filled columns are kept beside the output in the meantime. The
    `memory_limit` is in bytes, of all that this process uses, its libraries included; it is
    refused before any work is done if it cannot be kept. What the system keeps of files that were
    read does not count, for it is given up when memory is needed. `solve` propagates channels as
    ``propagate_with`` does, and `progress` is called with the share of the work done since its
    last call. The result lacks the table, which is in the file, and the cells.
    """
    check_choice("method", options.fill.method, METHODS)
    limit = parse_bytes(memory_limit)
    assert limit is not None
    times = [time.perf_counter()]
    tick = progress or (lambda share: None)
    versions = {path: version_of(path) for path in (table, edges)}
    inputs = open_inputs(table, edges, options)
    inputs.sizing.groups(limit)  # refuses a limit that cannot be kept
    beside = Path(output).resolve().parent
    with tempfile.TemporaryDirectory(prefix=".graphfill-", dir=beside) as name:
        folder, room = Path(name), limit - inputs.sizing.fixed_bytes
        alignment = _link(inputs, options.id is None, folder, room, lambda s: tick(LINKING * s))
        give_back()
        times.append(time.perf_counter())
        # Edges may name more nodes than the table has rows.
        sizing = replace(inputs.sizing, n_nodes=alignment.graph.n_nodes)
        groups, left = sizing.groups(limit)
        columns = FilledColumns(folder, inputs.table)
        share = (1 - LINKING) / max(len(sizing.columns), 1)  # of the progress, per column

        def fill(group: list[str]) -> TableResult:
            sheet = inputs.table.sheet([inputs.id, *group])
            result = fill_table(
                sheet.table, None, _for_group(options, group, left),
                source=Source(naming=inputs.naming), alignment=alignment, solve=solve,
                progress=lambda done: tick(share * len(group) * done),
            )  # fmt: skip
            filled = merge(result.table, sheet, result.filled)
            columns.add(filled.drop_columns([inputs.id]))
            result.table, result.filled, result.unreached = None, {}, {}
            result._influences = {}
            return result

        results = []
        for group in groups:
            results.append(fill(group))
            give_back()
        times.append(time.perf_counter())
        with replacing(output, table) as file:
            columns.write(file)
            for path, version in versions.items():
                check_unchanged(path, version)
    times.append(time.perf_counter())
    total = _total(results, inputs.table.names)
    link, filling, write = np.diff(times).tolist()
    total.seconds = {"link": link, "fill": filling, "write": write, "total": times[-1] - times[0]}
    return total


def _for_group(options: TableOptions, group: Sequence[str], limit: int) -> TableOptions:
    """The options for a group of columns, within what memory is left."""
    propagation = replace(options.fill.propagation, memory_limit=limit)
    types = {name: kind for name, kind in options.types.items() if name in group}
    fill = replace(options.fill, propagation=propagation)
    return replace(options, columns=group, exclude=(), types=plain_kinds(types), fill=fill)


def _link(inputs: Inputs, guessed: bool, folder: Path, room: int, tick: Tick) -> Alignment:
    """The graph of the rows, sorted into a folder; `guessed`: nobody named the column of ids."""
    table, edges, id = inputs.table, inputs.edges, inputs.id
    ids = Ids(table.arrow([id])[id])
    row = ids.missing()
    if row is not None:
        raise row_without_id(table.path.name, f"row {row + 1}", id, guessed)
    twice = first_duplicate(numbered(ids)[0])
    if twice is not None:
        places = (f"row {twice[0] + 1}", f"row {twice[1] + 1}")
        raise id_occurs_twice(table.path.name, id, ids[twice[1]], *places, guessed)
    for source, target, _ in islice(edges.chunks(SAMPLE_ROWS), 1):
        inputs.check_alike(ids, source, target)
    order = order_by_id(ids)
    numbering = Numbering(ids if order is None else ids.take(order))
    graph = store_graph(edges, numbering, folder, budget=room // 2, progress=tick)
    n_rows, n_outside = table.n_rows, graph.n_nodes - table.n_rows
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[:n_rows] == 0))
    if edges.n_edges and n_unlinked == n_rows and n_outside:
        raise inputs.no_match(ids, next(edges.chunks())[0])
    ends = edges.source, edges.target
    return Alignment(graph, n_rows, n_outside, n_unlinked, id, *ends, list(inputs.guesses), order)


class FilledColumns:
    """Filled columns kept in a folder, to be written row group by row group in the end."""

    def __init__(self, folder: Path, table: TableFile):
        self.folder, self.table = folder, table
        self._files: list[Path] = []
        self._fields: dict[str, Any] = {}

    def add(self, columns: pa.Table) -> None:
        """Keep some columns, cut into the groups of rows of the input."""
        import pyarrow as pa

        path = self.folder / f"columns-{len(self._files):04d}.arrow"
        columns = columns.unify_dictionaries()
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, columns.schema) as writer:
            start = 0
            for n_rows in filter(None, self.table.grouping.rows):
                group = columns.slice(start, n_rows).combine_chunks()
                writer.write_table(group, max_chunksize=n_rows)
                start += n_rows
        self._files.append(path)
        self._fields |= {field.name: field for field in columns.schema}

    def write(self, file: Any) -> None:
        """The columns of the input in order, new ones behind them."""
        import pyarrow as pa

        from ...io._columnar import parquet_writer

        fields = {field.name: field for field in self.table.schema} | self._fields
        schema = pa.schema(list(fields.values()), self.table.schema.metadata)
        rest = [name for name in fields if name not in self._fields]
        with ExitStack() as stack:
            maps = [stack.enter_context(pa.memory_map(str(path))) for path in self._files]
            readers = [pa.ipc.open_file(source) for source in maps]
            writer = stack.enter_context(parquet_writer(file, schema, self.table.grouping))
            groups = (group for group in self.table.row_groups(rest) if group.num_rows)
            for number, group in enumerate(groups):
                parts = {name: group[name] for name in rest}
                for reader in readers:
                    batch = reader.get_batch(number)
                    parts |= {name: batch.column(name) for name in batch.schema.names}
                whole = pa.table([parts[name] for name in fields], schema=schema)
                writer.write_table(whole, row_group_size=whole.num_rows)


def _total(results: list[TableResult], names: list[str]) -> TableResult:
    """What was done to all groups of columns, as if it had been one."""
    total = results[0]
    by_name = {column.name: column for result in results for column in result.columns}
    total.columns = [
        by_name.get(name, ColumnSummary(name, "left alone", 0, note="not asked for"))
        for name in names
    ]
    total.notes = list(dict.fromkeys(note for result in results for note in result.notes))
    total.n_iter = max(result.n_iter for result in results)
    total.residual = max(result.residual for result in results)
    converged = [result.converged for result in results if result.converged is not None]
    total.converged = all(converged) if converged else None
    return total
