"""The links of a table written down as files, so that a fill by them can be planned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ... import io
from ...links import LinkOptions, Links, open_request, union
from ...table._options import TableOptions
from .plan import Machines, Numbers, plan_fill


def plan_linked(table: str | Path, options: TableOptions, folder: Path, machines: Machines) -> Any:
    """What a fill takes by links that are made of the table, with the usual number of them.

    The table and its links are written into the folder, rows by number.
    """
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert options.links is not None
    path = Path(table)
    io.check_columnar(path, "parquet")
    whole = pq.read_table(path)
    links = _usual_links(nw.from_native(whole, eager_only=True), options.links, path.name)
    id = "row" if options.id is None else options.id
    while options.id is None and id in whole.column_names:
        id += "_"
    numbers = pa.array(np.arange(len(whole)))
    columns = [name for name in whole.column_names if name != id]
    rows, edges = folder / "rows.parquet", folder / "links.parquet"
    pq.write_table(whole.select(columns).add_column(0, id, numbers), rows)
    pq.write_table(links, edges)
    weight = "weight" if "weight" in links.column_names else None
    exclude = [*options.exclude, *(name for name in options.links.columns if name != id)]
    options = replace(
        options, links=None, id=id, source="source", target="target", weight=weight,
        weight_means=None, exclude=exclude,
    )  # fmt: skip
    plan: Numbers = plan_fill(rows, edges, options, machines)
    return plan


def _usual_links(frame: Any, options: LinkOptions, holder: str) -> Any:
    """The links as a table whose ends are numbers: rows first, then what is no row."""
    request = open_request(frame, options, holder)
    relations = request.relations(request.usual)
    strengths = [1.0] * len(relations)
    bare = tuple(replace(one, own=()) for one in relations)
    graph = union(relations, strengths)
    return Links(graph, graph.n_nodes, bare, tuple(strengths)).table()
