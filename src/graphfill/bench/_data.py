"""The sets: the paper's five graphs, OGB's two, the graphs of graded homophily; and your own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import io
from ..errors import InputError, check_column_name, option
from ..graph._components import graph_components
from ..graph._graph import Graph
from ._problem import Dataset, Split, check_name
from ._sources import fetch

LARGEST_COMPONENT = ("cora", "citeseer", "photo", "computers")  # alone is used, as in the paper


def load(name: str) -> Dataset:
    """A set as the paper has it: from the folder that GRAPHFILL_DATA names, else downloaded."""
    check_name("set", name)
    raw = fetch(name)
    graph = Graph.from_edges(raw.edges[0], raw.edges[1], n_nodes=len(raw.y))
    official = None if raw.parts is None else Split(*(np.sort(part) for part in raw.parts))
    whole = Dataset(name, graph, raw.X, raw.y, official)
    return largest_component(whole) if name in LARGEST_COMPONENT else whole


def largest_component(dataset: Dataset) -> Dataset:
    """The set without nodes outside its largest connected component, rows in the same order.

    >>> graph = Graph.from_edges([0, 2, 3], [1, 3, 4])
    >>> largest_component(Dataset("two", graph, None, np.array([0, 0, 1, 1, 0]))).y
    array([1, 1, 0])
    """
    graph = dataset.graph
    label = graph_components(graph)[1]
    rows = np.flatnonzero(label == np.bincount(label).argmax())
    number = np.full(graph.n_nodes, -1, dtype=np.int64)
    number[rows] = np.arange(rows.size)
    source = np.repeat(number, np.diff(graph.indptr))
    target = number[graph.indices]
    once = (source >= 0) & (source <= target)
    weight = None if graph.weights is None else graph.weights[once]
    smaller = Graph.from_edges(source[once], target[once], weight=weight, n_nodes=rows.size)
    official = None
    if dataset.official is not None:
        parts = (dataset.official.train, dataset.official.val, dataset.official.test)
        official = Split(*(number[part][number[part] >= 0] for part in parts))
    X: Any = dataset.X
    if X is not None:
        X = sparse.csr_array(X)[rows] if sparse.issparse(X) else X[rows]
    return Dataset(dataset.name, smaller, X, dataset.y[rows], official, dataset.cells)


@dataclass(frozen=True)
class Files:
    """A graph of the user's in files: a table of nodes, a list of edges, the column to predict."""

    nodes: str
    edges: str
    label: str
    id: str | None = None

    @property
    def name(self) -> str:
        """The table's, and eight letters that change with what is read: no old row is its own."""
        io.check_is_file(Path(self.nodes))
        io.check_is_file(Path(self.edges))
        content = [Path(path).read_bytes() for path in (self.nodes, self.edges)]
        digests = [hashlib.sha256(part).hexdigest() for part in content]
        digest = hashlib.sha256(repr((digests, self.label, self.id)).encode()).hexdigest()
        return f"{Path(self.nodes).name}@{digest[:8]}"

    def load(self) -> Dataset:
        return load_files(self.nodes, self.edges, self.label, self.id)


def load_files(nodes: Any, edges: Any, label: str, id: str | None = None) -> Dataset:
    """A set from a table of nodes and a list of edges, read as ``graphfill impute`` reads them.

    Numbers (scaled to mean 0 and deviation 1, those that an experiment hides included) and
    categories (an indicator per value) become channels; what is empty in the table is missing in
    every experiment. Rows without a label, and nodes that only the edges name, are part of the
    graph and of no split. `label` is the column with the classes, `id` the one that edges name,
    which is guessed if not given.
    """
    import narwhals as nw

    from ..table._alignment import align
    from ..table._columns import open_column
    from ..table._inspect import open_columns
    from ..table._options import Naming, Source, TableOptions

    table, links = io.read_table(nodes), io.read_edges(edges)
    naming = Naming(table=table.path.name, edges=links.path.name)
    frame = nw.from_native(table.table, eager_only=True)
    check_column_name(label, frame.columns, naming.table)
    options = TableOptions(id=id, exclude=[label])
    source = Source(naming=naming, texts=table.texts, edge_texts=links.texts, by_position=False)
    alignment = align(frame, links.table, options, source)
    opened = open_columns(frame, alignment, options, source)
    features = [column for column in opened.values() if column.n_channels]
    if not features:
        raise InputError(
            f"There is no column of numbers or categories in {naming.table} beside its ids and "
            "labels: add one, for there is nothing to hide and fill."
        )
    n_rows, n_nodes = alignment.n_rows, alignment.graph.n_nodes
    X = np.full((n_nodes, sum(column.n_channels for column in features)), np.nan, np.float32)
    start = 0
    for column in features:
        channels = np.empty((n_rows, column.n_channels))
        column.encode(range(column.n_channels), channels)
        X[:n_rows, start : start + column.n_channels] = channels
        start += column.n_channels
    classes = open_column(frame.get_column(label), kind="category")
    if alignment.order is not None:
        classes = classes.in_order(alignment.order)
    y: NDArray[np.int64] = np.full(n_nodes, -1, dtype=np.int64)
    y[:n_rows] = np.nan_to_num(classes.levels(), nan=-1).astype(np.int64)
    if classes.n_classes < 2:
        raise InputError(
            f"Column {label!r} has {classes.n_classes} class(es) in {int((y >= 0).sum())} labelled "
            f"row(s) but there is nothing to learn below 2: name another with {option('label')}."
        )
    cells = np.repeat(np.arange(len(features)), [column.n_channels for column in features])
    return Dataset(naming.table, alignment.graph, X, y, cells=cells)
