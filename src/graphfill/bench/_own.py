"""A graph of the user's own: a table of nodes with a list of edges, or one file of arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..errors import InputError, check_column_name, option
from ._arrays import read_arrays
from ._problem import Dataset


@dataclass(frozen=True)
class ArrayFile:
    """An ``.npz`` file of the user's; `read_arrays` says what it holds."""

    path: str

    @property
    def name(self) -> str:
        """The file's, and eight letters that change with what is in it."""
        return _versioned(self.path, hashlib.sha256(self._content()).hexdigest())

    def load(self) -> Dataset:
        """The set of the arrays."""
        return read_arrays(Path(self.path).name, self._content(), Path(self.path))

    def _content(self) -> bytes:
        io.check_is_file(Path(self.path))
        return Path(self.path).read_bytes()


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
        return _versioned(self.nodes, digest)

    def load(self) -> Dataset:
        """The set of a table of nodes and a list of edges, read as ``graphfill impute`` reads them.

        Numbers (scaled to mean 0 and deviation 1, those that an experiment hides included) and
        categories (an indicator per value) become channels; what is empty in the table is missing
        in every experiment. Rows without a label, and nodes that only the edges name, are part of
        the graph and of no split. `label` is the column with the classes, `id` the one that edges
        name, which is guessed if not given.
        """
        import narwhals as nw

        from ..table._alignment import align
        from ..table._columns import open_column
        from ..table._inspect import open_columns
        from ..table._options import Naming, Source, TableOptions

        table, links = io.read_table(self.nodes), io.read_edges(self.edges)
        naming = Naming(table=table.path.name, edges=links.path.name)
        frame = nw.from_native(table.table, eager_only=True)
        check_column_name(self.label, frame.columns, naming.table)
        options = TableOptions(id=self.id, exclude=[self.label])
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
        cells = np.repeat(np.arange(len(features)), [column.n_channels for column in features])
        X = np.full((n_nodes, cells.size), np.nan, np.float32)
        for number, column in enumerate(features):
            channels = np.empty((n_rows, column.n_channels))
            column.encode(range(column.n_channels), channels)
            X[:n_rows, cells == number] = channels
        classes = open_column(frame.get_column(self.label), kind="category")
        if alignment.order is not None:
            classes = classes.in_order(alignment.order)
        y: NDArray[np.int64] = np.full(n_nodes, -1, dtype=np.int64)
        y[:n_rows] = np.nan_to_num(classes.levels(), nan=-1).astype(np.int64)
        if classes.n_classes < 2:
            raise InputError(
                f"Column {self.label!r} has {classes.n_classes} class(es) in {int((y >= 0).sum())} "
                "labelled row(s) but there is nothing to learn below 2: name another with "
                f"{option('label')}."
            )
        return Dataset(naming.table, alignment.graph, X, y, cells=cells)


def _versioned(path: str, digest: str) -> str:
    return f"{Path(path).name}@{digest[:8]}"


Own = ArrayFile | Files
