"""Two Parquet files to fill from: which columns link them, which are filled, how large all is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError, option
from ...solve._options import PropagationOptions
from ...table import _refuse_tables
from ...table._id_candidate import SAMPLE, most_alike
from ...table._id_column import Ids
from ...table._id_search import guessed_column
from ...table._naming import Naming
from .parquet import EdgeFile, Name, TableFile
from .sizing import Sizing

IMPUTING = PropagationOptions(normalization="rw", solver="exact")


@dataclass(frozen=True)
class LinkNames:
    """The columns that link rows, as in :func:`graphfill.impute`: the table's ids; the edges'."""

    id: Name = None
    source: Name = None
    target: Name = None
    weight: Name = None


@dataclass(frozen=True)
class FileOptions:
    """How a table is filled from file to file; each option as in :func:`graphfill.impute`."""

    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[Any] = ()
    method: str = "propagation"
    reliance: float | str = "held-out"
    unreached: str = "mean"
    mark: bool = False
    seed: int = 0
    propagation: PropagationOptions = IMPUTING


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
        own, other = (ids[0], ids.kind), (ends[0], ends.kind)
        table, edges = self.table.path.name, self.edges.path.name
        return _refuse_tables.no_id_matches(table, self.id, *own, edges, *other)


def open_inputs(
    table: str | Path, edges: str | Path, names: LinkNames, options: FileOptions
) -> Inputs:
    """Open both files; refuse columns that are not there, or cannot be filled."""
    rows = TableFile(Path(table), dict(options.types))
    pairs = EdgeFile(Path(edges), names.source, names.target, names.weight)
    for name in [*(options.columns or ()), *options.exclude]:
        _refuse_tables.check_column_name(name, rows.names, rows.path.name)
    id, guesses = _find_ids(rows, pairs, names.id)
    _refuse_tables.check_not_the_ids(id, options.columns)
    _refuse_tables.check_in_one_list(options.columns, options.exclude)
    sizing = Sizing.of(rows, pairs, id, _wanted(rows, id, options), options.propagation.solver)
    return Inputs(rows, pairs, id, guesses, sizing)


def least_in_memory(
    table: str | Path, edges: str | Path, names: LinkNames, options: FileOptions
) -> int:
    """The smallest limit on memory within which both files are read whole; ids are not sought."""
    rows = TableFile(Path(table))
    pairs = EdgeFile(Path(edges), names.source, names.target, names.weight)
    if names.id is not None:
        _refuse_tables.check_column_name(names.id, rows.names, rows.path.name)
    wanted, solver = _wanted(rows, names.id, options), options.propagation.solver
    return Sizing.of(rows, pairs, names.id or rows.names[0], wanted, solver).in_memory_bytes


def _wanted(rows: TableFile, id: str | None, options: FileOptions) -> list[str]:
    """The columns to fill, in the order of the table."""
    some = rows.names if options.columns is None else options.columns
    return [name for name in rows.names if name in some and name not in (id, *options.exclude)]


def _find_ids(rows: TableFile, edges: EdgeFile, name: str | None) -> tuple[str, list[str]]:
    """The column of the table that holds the ids, and the guesses made so far."""
    import pyarrow as pa

    if name is not None:
        _refuse_tables.check_column_name(name, rows.names, rows.path.name)
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
        nearest = None if best is None else (best.name, best.n_named(ends), rows.n_rows)
        raise _refuse_tables.no_id_column(
            rows.path.name, None, None, edges.path.name, ends[0][0], nearest
        )
    return best.name, [*edges.guesses, guessed_column(best.name, rows.path.name)]
