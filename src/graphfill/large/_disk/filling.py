"""Fill a Parquet table from Parquet edges, column group by column group."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from ...io import merge
from ...io._atomic import replacing
from ...io._columnar import parquet_writer
from ...solve._memory import give_back, parse_bytes
from ...solve._propagate import Result, propagate
from ...table import _refuse_tables
from ...table._alignment import Alignment
from ...table._fill import fill_table
from ...table._id_candidate import SAMPLE, most_alike
from ...table._id_column import Ids, first_duplicate, numbered
from ...table._id_search import guessed_column
from ...table._naming import Naming
from ...table._result import ColumnSummary, TableResult
from .. import _refuse_disk
from .graph_file import store_graph
from .numbering import Numbering
from .parquet import EdgeFile, TableFile
from .sizing import Sizing

if TYPE_CHECKING:
    import pyarrow as pa

Tick = Callable[[float], None]

METHODS = ("propagation", "neighbors", "mean")  # one column at a time
BUILDING = 0.1  # of the progress


def fill_file(
    table: str | Path,
    edges: str | Path,
    output: str | Path,
    *,
    memory_limit: int | float | str,
    id: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    missing: Sequence[Any] = (),
    method: str = "propagation",
    solver: str = "exact",
    mark: bool = False,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: Tick | None = None,
    propagate: Callable[..., Result] = propagate,
    **options: Any,
) -> TableResult:
    """Fill the missing cells of a Parquet file, in memory that is limited.

    Every cell comes out as :func:`graphfill.impute` would fill it, within rounding: which columns
    are solved together depends on the limit.

    Parameters
    ----------
    table, edges, output : paths of Parquet files
    memory_limit : int or str
        Bytes that this process may use in all, its libraries included; refused before any work
        is done if they cannot be kept. What the system keeps of files that were read does not
        count, for it is given up when memory is needed.
    id, source, target, weight, columns, exclude, types, missing, seed
        As in :func:`graphfill.impute`.
    method : {"propagation", "neighbors", "mean"}
        The others look at all columns at once.
    folder : path, optional
        Where the sorted edges and the filled columns are kept in the meantime; a new folder
        beside the output by default.
    propagate, options
        What solves the channels, and its options.

    Returns
    -------
    TableResult
        Without the table, which is in the file, and the cells.
    """
    errors.check_choice("method", method, METHODS)
    limit = parse_bytes(memory_limit)
    assert limit is not None
    began = time.perf_counter()
    tell = progress or (lambda share: None)
    kinds = dict(types or {})
    pairs = EdgeFile(Path(edges), source, target, weight)
    rows = TableFile(Path(table), kinds)
    for name in [*(columns or ()), *exclude]:
        _refuse_tables.check_column_name(name, rows.names, rows.path.name)
    own, guesses = find_ids(rows, pairs, id)
    _refuse_tables.check_not_the_ids(own, columns)
    _refuse_tables.check_in_one_list(columns, exclude)
    wanted = [
        name
        for name in rows.names
        if name != own and name not in exclude and (columns is None or name in columns)
    ]
    sizing = Sizing.of(rows, pairs, own, wanted, solver)
    sizing.groups(limit)
    with ExitStack() as stack:
        place = Path(folder) if folder is not None else Path(output).resolve().parent
        place = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix=".graphfill-", dir=place))
        )
        alignment = _link(
            rows,
            pairs,
            own,
            id is None,
            place,
            limit - sizing.fixed_bytes,
            lambda s: tell(BUILDING * s),
        )
        alignment.guesses.extend(guesses)
        give_back()
        linked = time.perf_counter()
        # Edges may name more nodes than the table has rows.
        sizing = replace(sizing, n_nodes=alignment.graph.n_nodes)
        groups, left = sizing.groups(limit)
        kept = Kept(place, rows)
        results = []
        for group in groups:
            sheet = rows.sheet([own, *group])
            result = fill_table(
                sheet.table,
                None,
                columns=group,
                types={name: kind.partition(":")[0] for name, kind in kinds.items()
                       if name in group},
                missing=missing,
                method=method,
                solver=solver,
                mark=mark,
                seed=seed,
                naming=_naming(rows, pairs),
                alignment=alignment,
                memory_limit=left,
                progress=_part(tell, (1 - BUILDING) * len(group) / max(len(wanted), 1)),
                propagate=propagate,
                **options,
            )  # fmt: skip
            kept.add(merge(result.table, sheet, result.filled).drop_columns([own]))
            result.table, result.filled, result.unreached = None, {}, {}
            results.append(result)
            del sheet
            give_back()
        filled = time.perf_counter()
        with replacing(output) as file:
            kept.write(file)
    total = _total(results, rows.names)
    done = time.perf_counter()
    total.seconds = {
        "link": linked - began,
        "fill": filled - linked,
        "write": done - filled,
        "total": done - began,
    }
    return total


def _part(tell: Tick, share: float) -> Tick:
    return lambda done: tell(share * done)


def _naming(rows: TableFile, edges: EdgeFile) -> Naming:
    return Naming(
        table=rows.path.name,
        edges=edges.path.name,
        row=lambda row: f"row {row + 1}",
        edge_row=edges.naming.edge_row,
        cell_row=lambda row: f"{rows.path.name}, row {row + 1}",
    )


def find_ids(rows: TableFile, edges: EdgeFile, name: str | None) -> tuple[str, list[str]]:
    """The column of the table that holds the ids, and the guesses made so far."""
    import pyarrow as pa

    if name is not None:
        _refuse_tables.check_column_name(name, rows.names, rows.path.name)
        return name, edges.guesses
    first = next(edges.chunks(), None)
    if first is None:
        raise _refuse_disk.no_edges_to_guess_by(edges.path.name)
    ends = first[0].sample(SAMPLE), first[1].sample(SAMPLE)
    del first

    def candidates() -> Iterator[tuple[str, Ids]]:
        for field in rows.schema:
            if not (pa.types.is_floating(field.type) or field.type.num_fields):
                yield field.name, Ids(rows.arrow([field.name])[field.name])

    best = most_alike(candidates(), ends)
    if best is None or not best.worth_naming(ends):
        found = None if best is None else (best.name, best.n_named(ends), rows.n_rows)
        raise _refuse_tables.no_id_column(
            rows.path.name, None, None, edges.path.name, ends[0][0], found
        )
    return best.name, [*edges.guesses, guessed_column(best.name, rows.path.name)]


def _link(
    rows: TableFile,
    edges: EdgeFile,
    id: str,
    guessed: bool,
    folder: Path,
    budget: int,
    tell: Tick,
) -> Alignment:
    """The graph of the rows, sorted into a folder."""
    ids = Ids(rows.arrow([id])[id])
    row = ids.missing()
    if row is not None:
        raise _refuse_tables.row_without_id(rows.path.name, f"row {row + 1}", id, guessed)
    (numbers,) = numbered(ids)
    twice = first_duplicate(numbers)
    if twice is not None:
        places = (f"row {twice[0] + 1}", f"row {twice[1] + 1}")
        raise _refuse_tables.id_occurs_twice(rows.path.name, id, ids[twice[1]], *places, guessed)
    del numbers
    graph, nodes = store_graph(edges, Numbering(ids), folder, budget=budget // 2, progress=tell)
    n_rows = rows.n_rows
    n_unlinked = int(np.count_nonzero(np.diff(graph.indptr)[:n_rows] == 0))
    if edges.n_edges and n_unlinked == n_rows and nodes.n_nodes > n_rows:
        end = next(edges.chunks())[0]
        raise _refuse_tables.no_id_matches(
            rows.path.name, id, ids[0], ids.kind, edges.path.name, end[0], end.kind
        )
    return Alignment(
        graph, n_rows, nodes.n_nodes - n_rows, n_unlinked, id, edges.source, edges.target
    )


@dataclass
class Kept:
    """Filled columns laid aside, to be written row group by row group in the end."""

    folder: Path
    rows: TableFile

    def __post_init__(self) -> None:
        self._files: list[Path] = []
        self._fields: dict[str, Any] = {}

    def add(self, columns: pa.Table) -> None:
        """Lay some columns aside, cut into the groups of rows of the input."""
        import pyarrow as pa

        path = self.folder / f"columns-{len(self._files):04d}.arrow"
        columns = columns.unify_dictionaries()
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, columns.schema) as writer:
            start = 0
            for n_rows in filter(None, self.rows.grouping.rows):
                group = columns.slice(start, n_rows).combine_chunks()
                writer.write_table(group, max_chunksize=n_rows)
                start += n_rows
        self._files.append(path)
        self._fields |= {field.name: field for field in columns.schema}

    def write(self, file: Any) -> None:
        """The columns of the input in order, new ones behind them."""
        import pyarrow as pa

        names = self.rows.names
        rest = [name for name in names if name not in self._fields]
        order = [*names, *(name for name in self._fields if name not in names)]
        fields = [
            self._fields[name] if name in self._fields else self.rows.schema.field(name)
            for name in order
        ]
        schema = pa.schema(fields, self.rows.schema.metadata)
        maps = [pa.memory_map(str(path)) for path in self._files]
        readers = [pa.ipc.open_file(source) for source in maps]
        groups = (g for g in self.rows.row_groups(rest) if g.num_rows)
        with parquet_writer(file, schema, self.rows.grouping) as writer:
            for number, group in enumerate(groups):
                parts = {name: group[name] for name in rest}
                for reader in readers:
                    batch = reader.get_batch(number)
                    parts |= {name: batch.column(name) for name in batch.schema.names}
                cut = pa.table([parts[name] for name in order], schema=schema)
                writer.write_table(cut, row_group_size=cut.num_rows)
        for source in maps:
            source.close()


def _total(results: list[TableResult], names: list[str]) -> TableResult:
    """What was done to all groups of columns, as if it had been one."""
    first = results[0]
    by_name = {column.name: column for result in results for column in result.columns}
    first.columns = [
        by_name.get(name, ColumnSummary(name, "left alone", 0, note="not asked for"))
        for name in names
    ]
    first.notes = list(dict.fromkeys(note for result in results for note in result.notes))
    first.n_iter = max(result.n_iter for result in results)
    first.residual = max(result.residual for result in results)
    told = [result.converged for result in results if result.converged is not None]
    first.converged = all(told) if told else None
    return first
