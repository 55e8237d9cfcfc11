"""Links as users make them by themselves: of one kind, with settings of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import io
from ..errors import InputError, check_column_name, named
from ..graph import Graph
from ._cells import frame_of
from ._options import LinkOptions
from ._relation import Relation, own_nodes, union
from ._request import REACH, Request, open_request


@dataclass(frozen=True, eq=False)
class Links:
    """Links between the rows of a table, to be passed to :func:`graphfill.impute` as edges.

    Attributes
    ----------
    graph : Graph
        Its first `n_rows` nodes are the rows in order; others stand for a place or a key.
    n_rows : int
    relations, strengths : the links of each kind, and how much each counts
    notes : what was made, in sentences
    """

    __module__ = "graphfill.links"

    graph: Graph
    n_rows: int
    relations: tuple[Relation, ...]
    strengths: tuple[float, ...]
    notes: tuple[str, ...] = ()
    _ids: Any = field(default=None)  # of the rows, as Arrow; None: their numbers
    _open: bool = False  # whether the strengths are yet to be chosen, on hidden cells

    def __repr__(self) -> str:
        kinds = ", ".join(one.name for one in self.relations)
        return f"<Links: {self.graph.n_edges:,} links between {self.n_rows:,} rows, {kinds}>"

    def table(self) -> Any:
        """The links as a PyArrow table: source, target and, where they differ, weight.

        Rows go by their ids, and by their numbers where the table has none; what is no row has a
        name of its own, such as "household=12".
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        graph = self.graph
        row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        once = row <= graph.indices
        ids = pa.array(np.arange(self.n_rows)) if self._ids is None else self._ids
        own = own_nodes(self.relations)
        if own:
            texts = pc.cast(ids, pa.string()).to_pylist()
            taken = set(texts)
            ids = pa.array([*texts, *(_free(name, taken) for name in own)])
        ends = {"source": ids.take(pa.array(row[once])),
                "target": ids.take(pa.array(graph.indices[once]))}  # fmt: skip
        if graph.weights is not None:
            ends["weight"] = pa.array(graph.weights[once])
        return pa.table(ends)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        inputs: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        """Write them as a file of edges, CSV or Parquet by its ending, but over no input."""
        import pyarrow.csv
        import pyarrow.parquet

        format = io.split_name(Path(path), output=True)[0]
        if format not in ("csv", "parquet"):
            raise InputError(
                f'Links are kept as CSV or Parquet: give {path} the ending ".csv" or ".parquet".'
            )
        io.check_written_here(path, inputs, overwrite)
        write = pyarrow.csv.write_csv if format == "csv" else pyarrow.parquet.write_table
        with io.replacing(path, *inputs) as file:
            write(self.table(), file)


def _free(name: str, taken: set[str]) -> str:
    """A name that no row has."""
    while name in taken:
        name += "'"
    return name


def linked(
    request: Request, settings: dict[str, Any], strengths: Sequence[float] | None = None
) -> tuple[Graph, list[Relation], list[float]]:
    """The graph of some settings."""
    relations = request.relations(settings)
    strengths = [1.0] * len(relations) if strengths is None else list(strengths)
    return union(relations, strengths), relations, strengths


def near(
    table: Any,
    latitude: Any,
    longitude: Any,
    *,
    k: int = 16,
    scale: float = 0.2,
    plane: bool | None = None,
    join: bool = False,
    id: Any = None,
) -> Links:
    """Link every row to the rows at its k nearest places.

    Nearest on the globe (great circle), or in a plane. A link at distance d weighs
    exp(-d / (scale * h)), with h the distance to the k-th nearest. Places that are as near as the
    k-th are linked too. Rows at one place are linked through a node for the place. Rows without
    coordinates get no link.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or another that narwhals reads
    latitude, longitude : names of columns of numbers, in degrees, or of plane coordinates
    k : int
    scale : float
        How far weights reach, as a share of the distance to the k-th nearest place.
    plane : bool, optional
        Whether the coordinates are those of a plane; by default they are if they lie beyond 90 or
        360 degrees.
    join : bool
        Link groups of places that have no link between them by the shortest.
    id : name of a column, optional
        What rows are called where the links are written down.

    Examples
    --------
    >>> import polars as pl
    >>> towns = pl.DataFrame({"lat": [48.0, 48.1, 50.0], "lon": [11.0, 11.0, 8.0]})
    >>> near(towns, "lat", "lon", k=1).table().to_pydict()["target"]
    [1, 2]
    """
    options = LinkOptions(near=(latitude, longitude), plane=plane, join=join, nearest=k)
    return _links(table, options, {"near": (k, scale)}, id)


def same(table: Any, *columns: Any, id: Any = None) -> Links:
    """Link rows that share a key, such as a household, through a node for it.

    Parameters
    ----------
    table : as in :func:`near`
    *columns : names of columns
        Rows are linked by each; a missing key links no row.
    id : name of a column, optional
        As in :func:`near`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"name": ["ann", "bob"], "home": ["Hill 1", "Hill 1"]})
    >>> same(people, "home", id="name").table().to_pydict()
    {'source': ['ann', 'bob'], 'target': ['home=Hill 1', 'home=Hill 1']}
    """
    return _links(table, LinkOptions(same=columns), {}, id)


def like(table: Any, *columns: Any, k: int = 16, scale: float = 0.2, id: Any = None) -> Links:
    """Link every row to the k rows that are most like it.

    Numbers are compared by their difference in standard deviations, categories by whether they
    are equal. A missing cell stands at the column's mean.

    Parameters
    ----------
    table, k, scale, id : as in :func:`near`
    *columns : names of columns

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 21, 60], "sex": ["f", "f", "m"]})
    >>> like(people, "age", "sex", k=1).graph.n_edges
    2
    """
    return _links(table, LinkOptions(like=columns, nearest=k), {"like": (k, scale)}, id)


def time(
    table: Any,
    when: Any,
    *,
    place: Any = None,
    near: tuple[Any, Any] | None = None,
    k: int = 16,
    scale: float = 0.2,
    reach: int = 1,
    plane: bool | None = None,
    id: Any = None,
) -> Links:
    """Link the rows of each place along time, and those of one moment across places.

    Parameters
    ----------
    table, k, scale, plane, id : as in :func:`near`
    when : name of a column of dates, times or numbers
    place : name of a column, optional
        Which place a row is of; without it and `near`, the rows are one series.
    near : names of two columns, optional
        Coordinates: rows are then linked to those of near places.
    reach : int
        To how many next rows of its place a row is linked.

    Examples
    --------
    >>> import polars as pl
    >>> days = pl.DataFrame({"day": [1, 2, 3, 5]})
    >>> time(days, "day").table().to_pydict()["weight"]
    [1.0, 1.0, 0.5]
    """
    same = () if place is None else (place,)
    given = {"near": near, "same": same, "time": when, "plane": plane}
    options = LinkOptions(**given, nearest=None if near is None else k)
    return _links(table, options, {"near": (k, scale), "reach": reach}, id)


def _links(table: Any, options: LinkOptions, settings: dict[str, Any], id: Any) -> Links:
    frame = frame_of(table)
    request = open_request(frame, options)
    settings = {"reach": REACH} | settings
    graph, relations, strengths = linked(request, settings)
    notes = tuple(note for one in relations for note in one.notes)
    ids = None if id is None else _ids(frame, id)
    return Links(graph, len(frame), tuple(relations), tuple(strengths), notes, ids)


def _ids(frame: Any, name: Any) -> Any:
    """A column of ids; refused where two are the same or one is missing."""
    import pyarrow.compute as pc

    from ._cells import arrow_column

    check_column_name(name, frame.columns, "the table")
    ids = arrow_column(frame, name, "id")
    if ids.null_count or pc.count_distinct(ids).as_py() < len(ids):
        twice = next((one["values"] for one in pc.value_counts(ids).to_pylist()
                      if one["counts"] > 1), None)  # fmt: skip
        what = "has a row without an id" if twice is None else f"holds {named(twice)} twice"
        raise InputError(f"Column {name!r} {what}, so that links cannot name rows by it.")
    return ids
