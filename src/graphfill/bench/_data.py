"""The sets: the paper's five graphs, OGB's two, the graphs of graded homophily; and your own.

They come from the folder GRAPHFILL_DATA names, else from PyG's and OGB's downloads. Files of the
folder are known by their SHA-256 and hold no pickles. Downloads are kept in GRAPHFILL_CACHE, or
~/.cache/graphfill.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import io
from ..errors import InputError, check_column_name, option
from ..graph._components import graph_components
from ..graph._graph import Graph
from ._problem import CATALOGUE, Dataset, Split, check_name
from ._results import locked

LARGEST_COMPONENT = ("cora", "citeseer", "photo", "computers")  # alone is used, as in the paper
OGB = {  # where from, and the folder of the split
    "arxiv": ("https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip", "time"),
    "products": ("https://snap.stanford.edu/ogb/data/nodeproppred/products.zip", "sales_ranking"),
}
PLANETOID = ("cora", "citeseer", "pubmed")


def load(name: str) -> Dataset:
    """A set as the paper has it: from the folder that GRAPHFILL_DATA names, else downloaded."""
    check_name("set", name)
    whole = fetch(name)
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


# -- where the sets come from --


def _dataset(name: str, edges: Any, X: Any, y: Any, parts: Any = None) -> Dataset:
    """A set as it came: ends of edges [2, E], features or None, classes, the official split."""
    graph = Graph.from_edges(edges[0], edges[1], n_nodes=len(y))
    return Dataset(name, graph, X, y, None if parts is None else Split(*map(np.sort, parts)))


def fetch(name: str) -> Dataset:
    """A set from the user's folder if it is there, else downloaded or from an earlier download."""
    folder, file = os.environ.get("GRAPHFILL_DATA"), CATALOGUE["files"].get(name)
    if folder and file and (path := Path(folder, file)).exists():
        return read_arrays(name, path)
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with locked(cache_folder() / name):  # of several runs that need it, one downloads it
            return read_ogb(name) if name in OGB else _from_pyg(name)
    except (ImportError, OSError) as error:  # a URLError is an OSError
        source = OGB[name][0].rpartition("/")[2] if name in OGB else None
        hint = f"; {source} may also be put into {cache_folder() / 'ogb'}" if source else ""
        raise _no_data(name, f"{error}{hint}") from None


def _no_data(name: str, reason: str) -> InputError:
    """A set that is neither in the user's folder nor can be downloaded."""
    file = CATALOGUE["files"].get(name)
    if file is None:
        return InputError(
            f"The set {name!r} is not here and cannot be downloaded ({reason}): connect to the "
            "network first."
        )
    where = "has none" if os.environ.get("GRAPHFILL_DATA") else "is not set"
    return InputError(
        f"The set {name!r} is not here: put {file} into the folder that GRAPHFILL_DATA names "
        f"(which {where}), or have it downloaded, which failed ({reason})."
    )


def read_arrays(name: str, path: Path) -> Dataset:
    """A file of the user's folder: the very bytes that were checked are read, and no pickle."""
    content = path.read_bytes()
    actual, digest = hashlib.sha256(content).hexdigest(), CATALOGUE["sha256"][name]
    if actual != digest:  # not the file that the published figures were computed from
        raise InputError(
            f"{path} is not the file that is known by its name (its SHA-256 begins with "
            f"{actual[:12]}, not {digest[:12]}): get it again, or remove it so that it is "
            "downloaded."
        )
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        held = {key: arrays[key] for key in arrays.files}
    edges = held["edge_index"] if "edge_index" in held else held["arcs"]
    parts = None
    if "train_idx" in held:
        parts = tuple(held[f"{part}_idx"].astype(np.int64) for part in ("train", "val", "test"))
    return _dataset(name, edges, _features(held), held["y"].astype(np.int64), parts)


def _features(held: Mapping[str, NDArray[Any]]) -> Any:
    if "x" in held:
        return held["x"].astype(np.float32)
    if "x_indptr" not in held:
        return None
    columns = held["x_indices"].astype(np.int32)
    values = held.get("x_data", np.ones(columns.size)).astype(np.float32)
    shape = tuple(int(size) for size in held["x_shape"])
    return sparse.csr_array((values, columns, held["x_indptr"].astype(np.int32)), shape=shape)


# -- downloads --


def cache_folder() -> Path:
    """Where downloads are kept."""
    return Path(os.environ.get("GRAPHFILL_CACHE") or Path.home() / ".cache" / "graphfill")


def _from_pyg(name: str) -> Dataset:
    from torch_geometric import datasets

    root, title = str(cache_folder() / "pyg" / name), CATALOGUE["titles"].get(name)
    if name.startswith("mixhop-"):
        data = datasets.MixHopSyntheticDataset(root, homophily=float(name.removeprefix("mixhop-")))
    else:
        data = (datasets.Planetoid if name in PLANETOID else datasets.Amazon)(root, title)
    graph = data[0]
    parts = None
    if name in PLANETOID:
        masks = (graph.train_mask, graph.val_mask, graph.test_mask)
        parts = tuple(np.flatnonzero(mask.numpy()) for mask in masks)
    X = graph.x.numpy()
    if np.count_nonzero(X) < 0.1 * X.size:
        X = sparse.csr_array(X)
    return _dataset(name, graph.edge_index.numpy(), X, graph.y.numpy(), parts)


def read_ogb(name: str) -> Dataset:
    """A set of the Open Graph Benchmark from its archive of plain CSV files."""
    url, split = OGB[name]
    path = cache_folder() / "ogb" / url.rpartition("/")[2]
    if not path.exists():
        _download(url, path)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = tuple(
                _column(archive, f"{name}/split/{split}/{part}.csv.gz", np.int64)[:, 0]
                for part in ("train", "valid", "test")
            )
            edges = _column(archive, f"{name}/raw/edge.csv.gz", np.int32).T
            y = _column(archive, f"{name}/raw/node-label.csv.gz", np.int64)[:, 0]
            X = _column(archive, f"{name}/raw/node-feat.csv.gz", np.float32)
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{path} cannot be read ({error}): remove it so that it is downloaded."
        ) from None
    return _dataset(name, edges, X, y, parts)


def _column(archive: zipfile.ZipFile, member: str, dtype: type) -> NDArray[Any]:
    """A CSV file without a header as an array, its columns converted one at a time."""
    import pyarrow as pa
    from pyarrow import csv

    with archive.open(member) as packed, pa.CompressedInputStream(packed, "gzip") as text:
        table = csv.read_csv(text, csv.ReadOptions(autogenerate_column_names=True))
    array = np.empty((table.num_rows, table.num_columns), dtype=dtype)
    for number, column in enumerate(table.columns):
        array[:, number] = column.to_numpy()
    return array


def _download(url: str, path: Path) -> None:
    """Fetch a file, which appears under its name when it is complete."""
    from urllib.request import urlopen

    from tqdm import tqdm

    path.parent.mkdir(parents=True, exist_ok=True)
    with urlopen(url, timeout=30) as answer, io.replacing(path) as file:
        size = int(answer.headers.get("Content-Length") or 0)
        bar = {"desc": path.name, "unit": "B", "unit_scale": True, "delay": 1.0}
        with tqdm(total=size or None, **bar) as shown:
            for piece in _pieces(answer, url):
                file.write(piece)
                shown.update(len(piece))
        if size and file.tell() != size:
            raise _failed(url, f"it ended after {file.tell()} of {size} bytes")


def _pieces(answer: Any, url: str) -> Iterator[bytes]:
    """What the network sends; where it fails, it is not the file that cannot be written."""
    try:
        yield from iter(lambda: answer.read(1 << 20), b"")
    except OSError as error:
        raise _failed(url, error) from None


def _failed(url: str, reason: object) -> InputError:
    return InputError(f"{url} could not be downloaded ({reason}): nothing is kept; try again.")
