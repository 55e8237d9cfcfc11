"""What is read of two Parquet files to plan by, and what a sample of edges tells of them all."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...table._id_column import Ids
from ...table._options import TableOptions
from .._disk import EdgeFile, Inputs, Numbering, Sizing, open_inputs
from .._disk.parquet import open_parquet

Array = NDArray[Any]

SAMPLE_EDGES = 1 << 19
SAMPLE_GROUPS = 16  # places of the file that the sample is taken from
MOST_ID_BYTES = 1 << 30  # beyond this, ids are not read, and edges are taken to be scattered
PARQUET = (".parquet", ".pq")
SAMPLED_SHARDS = 8  # whose halo is estimated


@dataclass(frozen=True)
class Sample:
    """Two files, and some of their edges.

    The nodes of its sizing include those that only edges name, as far as the sample tells.
    """

    inputs: Inputs
    n_outside: int  # nodes that only edges name
    ends: Array  # int64 [2, sample]: rows that sampled edges link, by their number
    numbering: Numbering | None  # of the table's ids, if they were read
    read_seconds: float  # per edge

    @property
    def sizing(self) -> Sizing:
        return self.inputs.sizing


def take_sample(table: str | Path, edges: str | Path, options: TableOptions) -> Sample:
    """Open two files, which must be Parquet, and read some of their edges."""
    for path in (Path(table), Path(edges)):
        if not path.name.lower().endswith(PARQUET):
            raise InputError(
                f"{path.name} is no Parquet file, and only those say how large they are without "
                "being read: convert it to plan with it (graphfill impute reads it as it is)."
            )
    inputs = open_inputs(table, edges, options)
    n_rows, n_edges, sizing = inputs.table.n_rows, inputs.edges.n_edges, inputs.sizing
    began = time.perf_counter()
    source, target = _read(inputs.edges)
    n_read = len(source)
    seconds = (time.perf_counter() - began) / max(n_read, 1)
    if n_rows * sizing.id_bytes > MOST_ID_BYTES:
        guess = "Ids were not read: edges are taken to be scattered."
        inputs = replace(inputs, guesses=[*inputs.guesses, guess])
        scattered = np.random.default_rng(0).integers(0, n_rows, (2, n_read))
        return Sample(inputs, 0, scattered, None, seconds)
    both = Ids(source), Ids(target)
    numbering = Numbering(Ids(inputs.table.arrow([inputs.id])[inputs.id]))
    inputs.check_alike(numbering.ids, *both)
    ends = np.stack([numbering.rows(end) for end in both]).astype(np.int64)
    if n_read == n_edges and n_read and (ends < 0).all():
        raise inputs.no_match(numbering.ids, both[0])
    n_outside = _number_outside(both, ends, n_rows, n_edges)
    inputs = replace(inputs, sizing=replace(sizing, n_nodes=n_rows + n_outside))
    return Sample(inputs, n_outside, ends, numbering, seconds)


def _read(edges: EdgeFile) -> tuple[Any, Any]:
    """Both ends of some edges, from places all over the file."""
    import pyarrow as pa

    names = [edges.source, edges.target]
    with open_parquet(edges.path) as file:
        n_groups = file.metadata.num_row_groups
        places = np.unique(np.linspace(0, n_groups - 1, min(n_groups, SAMPLE_GROUPS)).astype(int))
        size = -(-SAMPLE_EDGES // max(len(places), 1))
        batches = []
        for place in places.tolist():
            group = file.iter_batches(size, row_groups=[place], columns=list(set(names)))
            batches += [batch for batch in [next(group, None)] if batch]
        whole = pa.Table.from_batches(batches) if batches else file.schema_arrow.empty_table()
    return whole[names[0]], whole[names[1]]


def _number_outside(both: tuple[Ids, Ids], ends: Array, n_rows: int, n_edges: int) -> int:
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


def expected_distinct(times_seen: Array, n_draws: float) -> int:
    r"""Different things among `n_draws`, given how often each was seen in a sample of them.

    With d seen, f_1 of them once and f_2 twice in m draws, about
    :math:`f_0 = f_1^2 / 2 f_2` were missed (Chao's estimate), and so many more draws find

    .. math:: d + f_0 (1 - (1 - f_1 / (m f_0 + f_1))^{n - m})

    >>> expected_distinct(np.array([1, 1, 2, 2]), 6)
    4
    >>> expected_distinct(np.array([1, 1, 1, 1]), 8)
    8
    """
    d, m = len(times_seen), float(times_seen.sum())
    more = max(n_draws - m, 0.0)
    once, twice = (float(np.count_nonzero(times_seen == k)) for k in (1, 2))
    if not once or not more:
        return d
    if not twice:  # nothing came back: as far as can be told, nothing ever will
        return int(d + more * once / m)
    missed = once**2 / (2 * twice)
    new = missed * -np.expm1(more * np.log1p(-once / (m * missed + once)))
    return int(d + min(new, more))


class Halo(NamedTuple):
    """What shards need of each other."""

    crossing: float  # share of the entries that lead from one shard to another
    rows: int  # different ones that a shard reads of the others, on average


def estimate_halo(ends: Array, n_nodes: int, n_edges: int, n_shards: int) -> Halo:
    """From sampled edges, rows being cut in the order they have.

    >>> path = np.stack([np.arange(99), np.arange(1, 100)])
    >>> estimate_halo(path, 100, 99, 4).rows
    1
    """
    if n_shards <= 1 or not ends.size:
        return Halo(0.0, 0)
    # Ranges of rows with about as many rows and entries each.
    grid = np.linspace(0, n_nodes, 4096)
    below = np.searchsorted(np.sort(ends.ravel()), grid) / ends.size
    work = grid + 2 * n_edges * below
    bounds = np.interp(work[-1] * np.arange(1, n_shards) / n_shards, work, grid)
    shard = np.searchsorted(bounds, ends, side="right")
    across = shard[0] != shard[1]
    scale = n_edges / ends.shape[1]
    n_rows = []
    for place in np.unique(np.linspace(0, n_shards - 1, min(n_shards, SAMPLED_SHARDS)).astype(int)):
        # Edges lead out of the shard in either direction.
        read = ends[::-1][(shard == place) & across]
        times = np.unique(read, return_counts=True)[1]
        rows = expected_distinct(times, len(read) * scale) if len(read) else 0
        n_rows.append(min(rows, n_nodes - n_nodes // n_shards))
    return Halo(float(across.mean()), int(np.mean(n_rows)))
