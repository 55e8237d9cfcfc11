"""Two Parquet files to fill from: which columns link them, which are filled, how large all is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError, check_column_name, option
from ...table._alignment import no_id_matches
from ...table._id_column import Ids
from ...table._id_search import SAMPLE, guessed_column, most_alike, no_id_column
from ...table._inspect import check_not_the_ids
from ...table._options import Naming, TableOptions
from .parquet import EdgeFile, TableFile
from .sizing import Sizing


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
