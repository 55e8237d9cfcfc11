"""What is read of two Parquet files to plan by: their counts, and a sample of their rows."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ... import errors
from ...table import _refuse_tables
from ...table._id_column import Ids
from .. import _refuse_planning
from .._disk import EdgeFile, Numbering, Sizing, TableFile
from .._disk.filling import find_ids
from .._disk.parquet import open_parquet
from .distinct import expected_distinct

Array = np.ndarray

SAMPLE_EDGES = 1 << 19
SAMPLE_GROUPS = 16  # places of the file that the sample is taken from
MOST_ID_BYTES = 1 << 30  # beyond this, ids are not read, and edges are taken to be scattered
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Outline:
    """Two files, looked over.

    Attributes
    ----------
    table : TableFile
    edges : EdgeFile
    id : str
    sizing : Sizing
        Its nodes include those that only edges name, as far as the sample tells.
    n_outside : int
        How many these are.
    ends : int64 array [2, sample]
        Rows that sampled edges link, by their number.
    numbering : Numbering or None
        Of the table's ids, if they were read.
    read_seconds : float
        Per edge that was read.
    guesses : list of str
        What was guessed, a sentence each.
    """

    table: TableFile
    edges: EdgeFile
    id: str
    sizing: Sizing
    n_outside: int
    ends: Array
    numbering: Numbering | None
    read_seconds: float
    guesses: list[str]


def outline(options: argparse.Namespace) -> Outline:
    """Look over the files that the options name."""
    for path in (options.table, options.edges):
        _refuse_planning.check_planned_file(Path(path), PARQUET)
    table = TableFile(Path(options.table))
    edges = EdgeFile(Path(options.edges), options.source, options.target, options.weight)
    for name in [*(options.columns or ()), *options.exclude]:
        _refuse_tables.check_column_name(name, table.names, table.path.name)
    own, guesses = find_ids(table, edges, options.id)
    _refuse_tables.check_not_the_ids(own, options.columns)
    _refuse_tables.check_in_one_list(options.columns, options.exclude)
    wanted = [
        name
        for name in table.names
        if name != own
        and name not in options.exclude
        and (options.columns is None or name in options.columns)
    ]
    sizing = Sizing.of(table, edges, own, wanted, options.solver)
    numbering = None
    began = time.perf_counter()
    source, target = _sample(edges)
    seconds = (time.perf_counter() - began) / max(len(source), 1)
    n_outside = 0
    ends: Array
    if table.n_rows * sizing.id_bytes <= MOST_ID_BYTES:
        numbering = Numbering(Ids(table.arrow([own])[own]))
        both = [Ids(source), Ids(target)]
        _check_alike(numbering.ids, both, own, table, edges)
        ends = np.stack([numbering.rows(end) for end in both]).astype(np.int64)
        if len(source) == edges.n_edges and len(source) and (ends < 0).all():
            raise _no_match(numbering.ids, both[0], own, table, edges)
        n_outside = _number_outside(both, ends, table.n_rows, edges.n_edges)
    else:
        guesses = [*guesses, "Ids were not read: edges are taken to be scattered."]
        ends = np.random.default_rng(0).integers(0, table.n_rows, (2, len(source)))
    sizing = replace(sizing, n_nodes=sizing.n_nodes + n_outside)
    return Outline(table, edges, own, sizing, n_outside, ends, numbering, seconds, guesses)


def _sample(edges: EdgeFile) -> tuple[Any, Any]:
    """Both ends of some edges, from places all over the file."""
    import pyarrow as pa

    names = [edges.source, edges.target]
    parts = []
    with open_parquet(edges.path) as file:
        n_groups = file.metadata.num_row_groups
        places = np.unique(np.linspace(0, n_groups - 1, min(n_groups, SAMPLE_GROUPS)).astype(int))
        size = -(-SAMPLE_EDGES // max(len(places), 1))
        for place in places:
            batches = file.iter_batches(size, row_groups=[int(place)], columns=list(set(names)))
            parts += [pa.Table.from_batches([batch]) for batch in [next(batches, None)] if batch]
        schema = file.schema_arrow
    whole = pa.concat_tables(parts) if parts else schema.empty_table()
    return whole[names[0]], whole[names[1]]


def _check_alike(ids: Ids, both: list[Ids], own: str, table: TableFile, edges: EdgeFile) -> None:
    """Refuse ends of another kind than the ids: numbers, say, and not text."""
    for ends in both:
        if len(ends) and ends.kind != ids.kind:
            raise _no_match(ids, ends, own, table, edges)


def _no_match(
    ids: Ids, ends: Ids, own: str, table: TableFile, edges: EdgeFile
) -> errors.InputError:
    return _refuse_tables.no_id_matches(
        table.path.name, own, ids[0], ids.kind, edges.path.name, ends[0], ends.kind
    )


def _number_outside(both: list[Ids], ends: Array, n_rows: int, n_edges: int) -> int:
    """About how many nodes only edges name; those seen are numbered after the table's rows."""
    import pyarrow as pa

    unknown = ends < 0
    listed = [end.values.filter(pa.array(row)) for end, row in zip(both, unknown, strict=True)]
    seen = pa.concat_arrays(listed).dictionary_encode()
    if not len(seen):
        return 0
    times = np.bincount(seen.indices.to_numpy())
    total = expected_distinct(times, len(seen) * n_edges / ends.shape[1])
    rank = np.arange(len(times))
    if both[0].kind == "whole numbers":  # these come in order
        rank[np.argsort(seen.dictionary.to_numpy())] = np.arange(len(times))
    ends[unknown] = n_rows + rank[seen.indices.to_numpy()] * total // len(times)
    return total
