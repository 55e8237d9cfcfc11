"""The sets that have names: the paper's, OGB's two, graphs whose neighbours differ, dense ones.

They come from the folder GRAPHFILL_DATA names, else from PyG's and OGB's downloads. Files of the
folder are known by their SHA-256 and hold no pickles. Downloads are kept in GRAPHFILL_CACHE, or
~/.cache/graphfill.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import io
from ..errors import InputError
from ..graph._components import graph_components
from ..graph._graph import Graph
from ._arrays import make_dataset, read_arrays, splits_of
from ._problem import CATALOGUE, Dataset, Split, check_name
from ._results import locked

LARGEST_COMPONENT = ("cora", "citeseer", "photo", "computers")  # alone is used, as in the paper
OGB = {  # where from, and the folder of the split
    "arxiv": ("https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip", "time"),
    "products": ("https://snap.stanford.edu/ogb/data/nodeproppred/products.zip", "sales_ranking"),
}
PLANETOID = ("cora", "citeseer", "pubmed")
FOLDER_ALONE = ("chameleon", "electric", "twitch-de", "debian")  # no download has these


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
    official = tuple(
        Split(*(number[part][number[part] >= 0] for part in (split.train, split.val, split.test)))
        for split in dataset.official
    )
    X: Any = dataset.X
    if X is not None:
        X = sparse.csr_array(X)[rows] if sparse.issparse(X) else X[rows]
    return Dataset(dataset.name, smaller, X, dataset.y[rows], official, dataset.cells)


# -- where the sets come from --


def fetch(name: str) -> Dataset:
    """A set from the user's folder if it is there, else downloaded or from an earlier download."""
    folder, file = os.environ.get("GRAPHFILL_DATA"), CATALOGUE["files"].get(name)
    if folder and file and (path := Path(folder, file)).exists():
        return read_checked(name, path)
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with locked(cache_folder() / name):  # of several runs that need it, one downloads it
            return read_ogb(name) if name in OGB else _from_pyg(name)
    except (ImportError, OSError) as error:  # a URLError is an OSError
        source = OGB[name][0].rpartition("/")[2] if name in OGB else None
        hint = f"; {source} may also be put into {cache_folder() / 'ogb'}" if source else ""
        raise _no_data(name, f"{error}{hint}") from None


def read_checked(name: str, path: Path) -> Dataset:
    """A file of the user's folder: the very bytes that were checked are read, and no pickle."""
    content = path.read_bytes()
    actual, digest = hashlib.sha256(content).hexdigest(), CATALOGUE["sha256"][name]
    if actual != digest:  # not the file that the published figures were computed from
        raise InputError(
            f"{path} is not the file that is known by its name (its SHA-256 begins with "
            f"{actual[:12]}, not {digest[:12]}): get it again, or remove it so that it is "
            "downloaded."
        )
    return read_arrays(name, content, path)


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


# -- downloads --


def cache_folder() -> Path:
    """Where downloads are kept."""
    return Path(os.environ.get("GRAPHFILL_CACHE") or Path.home() / ".cache" / "graphfill")


def _from_pyg(name: str) -> Dataset:
    from torch_geometric import datasets

    root, title = str(cache_folder() / "pyg" / name), CATALOGUE["titles"].get(name)
    if name.startswith("mixhop-"):
        data = datasets.MixHopSyntheticDataset(root, homophily=float(name.removeprefix("mixhop-")))
    elif name in FOLDER_ALONE:
        raise OSError("it is offered nowhere in this form")
    elif name == "actor":
        data = datasets.Actor(root)
    elif name == "minesweeper":
        data = datasets.HeterophilousGraphDataset(root, "Minesweeper")
    else:
        data = (datasets.Planetoid if name in PLANETOID else datasets.Amazon)(root, title)
    graph = data[0]
    masks = [getattr(graph, f"{part}_mask", None) for part in ("train", "val", "test")]
    given = [mask.numpy().reshape(len(mask), -1).T for mask in masks if mask is not None]
    parts = splits_of(*given) if given else ()
    X = graph.x.numpy()
    if np.count_nonzero(X) < 0.1 * X.size:
        X = sparse.csr_array(X)
    return make_dataset(name, graph.edge_index.numpy(), X, graph.y.numpy(), parts)


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
    return make_dataset(name, edges, X, y, (Split(*map(np.sort, parts)),))


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
